#!/usr/bin/env bash
# setup.sh [build|test|check|package|site]: makes sure that what a build (the tests, all tests, packages, the
# web site) needs is there. On Debian and Ubuntu what is missing is named and installed when that needs no
# password; otherwise, and with SETUP=no, the one line to run is printed. nvcc is never installed: it is large,
# and Heddle works without it. What is only wanted (Ninja; for all tests Open MPI, SQLite, zsh, and clang with
# libomp, see thread_sanitizer.sh) does not fail when it cannot be had.
set -euo pipefail
purpose=${1:-build}
CC=${CC:-cc} CXX=${CXX:-c++}

have() { command -v "$1" > /dev/null 2>&1; }
# compiles SOURCE ARGUMENTS...: a C program builds and links
compiles() { printf '%b' "$1" | "$CC" -x c - "${@:2}" -o /dev/null > /dev/null 2>&1; }

missing() # prints "PACKAGE what it is" for everything needed that is not there
{
    if [ "$purpose" = site ]; then
        python3 -m ensurepip --version > /dev/null 2>&1 || echo "python3-venv Python with venv"
        return
    fi
    local plain='int main(void) { return 0; }\n'
    local cmocka='#include <stdarg.h>\n#include <stddef.h>\n#include <setjmp.h>\n#include <stdint.h>\n'
    compiles "#include <stdio.h>\n$plain" || echo "gcc a C compiler"
    compiles "#include <omp.h>\n$plain" -fopenmp ||
        case $("$CC" --version 2> /dev/null) in
            *clang*) echo "libomp-dev OpenMP for clang" ;;
            *) echo "gcc a C compiler with OpenMP" ;;
        esac
    have "$CXX" || echo "g++ a C++ compiler"
    have cmake || echo "cmake CMake 3.22 or later"
    have make || echo "make make"
    if [[ $purpose = test || $purpose = check ]]; then
        have pkg-config || echo "pkg-config pkg-config"
        compiles "$cmocka#include <cmocka.h>\n$plain" -lcmocka || echo "libcmocka-dev cmocka"
    fi
}

wanted() # the same for what is only wanted
{
    [ "$purpose" != site ] || return 0
    local plain='int main(void) { return 0; }\n'
    have ninja || echo "ninja-build Ninja"
    if [ "$purpose" = package ] && have apt-get; then
        have dpkg-shlibdeps || echo "dpkg-dev the tools that make Debian packages"
    fi
    if [[ $purpose = test || $purpose = check ]]; then
        python3 -c 'import ensurepip, venv' 2> /dev/null || echo "python3-venv Python's virtual environments"
    fi
    [[ $purpose = check || $purpose = package ]] || return 0
    have mpicc || echo "libopenmpi-dev Open MPI"
    have mpirun || echo "openmpi-bin Open MPI"
    [ "$purpose" = check ] || return 0
    compiles "#include <sqlite3.h>\n$plain" -lsqlite3 || echo "libsqlite3-dev SQLite"
    have zsh || echo "zsh zsh, whose completions a test tries"
    if ! have clang; then
        echo "clang clang"
        echo "libomp-dev OpenMP for clang"
        return
    fi
    ls /usr/lib/llvm-*/lib/libarcher.so > /dev/null 2>&1 ||
        [ -f "$(llvm-config --libdir 2> /dev/null)/libarcher.so" ] ||
        echo "libomp-dev OpenMP for clang"
    # Its sanitizers are a package of their own, named by the version.
    CC=clang compiles "$plain" -fsanitize=thread ||
        echo "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev the sanitizers of clang"
}

report_nvcc()
{
    [ "$purpose" != site ] || return 0
    if have nvcc || [ -x /usr/local/cuda/bin/nvcc ] || [ -n "${CUDACXX:-}" ]; then return; fi
    echo "setup: no nvcc: the library is built for the CPU alone"
}

packages_of() { cut -d' ' -f1 <<< "$1" | sort -u | paste -sd' '; }

# Whether apt-get can be used; fills as_root.
as_root=()
can_install()
{
    [ "${SETUP:-yes}" != no ] || return 1
    have apt-get || return 1
    [ "$(id -u)" != 0 ] || return 0
    as_root=(sudo -n)
    have sudo && sudo -n true 2> /dev/null
}

# Waits for another apt-get instead of failing.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"; }

updated=
# install PACKAGES LOG: what apt-get says goes to the log.
install()
{
    echo "setup: installing the packages $1 (SETUP=no does without)"
    [ -n "$updated" ] || apt update > "$2" 2>&1 || true
    updated=1
    # Word splitting of the packages is meant.
    # shellcheck disable=SC2086
    apt install -y --no-install-recommends $1 >> "$2" 2>&1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
lacking=$(missing)
if [ -n "$lacking" ]; then
    packages=$(packages_of "$lacking")
    if ! can_install; then
        if have apt-get; then
            echo "setup: please run: sudo apt-get install -y $packages" >&2
        else
            echo "setup: please install, then run this again:" \
                "$(cut -d' ' -f2- <<< "$lacking" | paste -sd,)" >&2
        fi
        exit 1
    fi
    install "$packages" "$log" || { cat "$log" >&2; exit 1; }
    lacking=$(missing)
    [ -z "$lacking" ] || { echo "setup: still missing: $lacking" >&2; exit 1; }
fi

# Twice: which package holds the sanitizers shows only when clang is there.
for _ in 1 2; do
    lacking=$(wanted)
    [ -n "$lacking" ] || break
    packages=$(packages_of "$lacking")
    if ! can_install || ! install "$packages" "$log"; then
        echo "setup: going on without $packages"
        break
    fi
done
report_nvcc
