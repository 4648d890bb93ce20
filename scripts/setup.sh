#!/usr/bin/env bash
# setup.sh [build|test]: makes sure that what a build (or the tests) needs is there. On Debian and
# Ubuntu what is missing is installed when that needs no password; otherwise the one line to run is
# printed. nvcc is never installed: it is large, and Heddle works without it.
set -euo pipefail
purpose=${1:-build}
CC=${CC:-cc} CXX=${CXX:-c++}

have() { command -v "$1" > /dev/null 2>&1; }
# compiles SOURCE ARGUMENTS...: a C program builds and links
compiles() { printf '%b' "$1" | "$CC" -x c - "${@:2}" -o /dev/null > /dev/null 2>&1; }

missing() # prints "PACKAGE what it is" for everything that is not there
{
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
    have ninja || echo "ninja-build Ninja"
    if [ "$purpose" = test ]; then
        have pkg-config || echo "pkg-config pkg-config"
        compiles "$cmocka#include <cmocka.h>\n$plain" -lcmocka || echo "libcmocka-dev cmocka"
    fi
}

report_nvcc()
{
    if have nvcc || [ -x /usr/local/cuda/bin/nvcc ] || [ -n "${CUDACXX:-}" ]; then return; fi
    echo "setup: no nvcc: the library is built for the CPU alone"
}

lacking=$(missing)
if [ -z "$lacking" ]; then
    report_nvcc
    exit 0
fi
packages=$(cut -d' ' -f1 <<< "$lacking" | sort -u | tr '\n' ' ')
packages=${packages% }

# give_up LINES: what the user has to do. Ninja is a convenience: CMake builds with make too.
give_up()
{
    [ "$packages" = ninja-build ] && exit 0
    echo "$1" >&2
    exit 1
}

have apt-get ||
    give_up "setup: please install, then run this again: $(cut -d' ' -f2- <<< "$lacking" | paste -sd,)"
as_root=()
if [ "$(id -u)" != 0 ]; then
    { have sudo && sudo -n true 2> /dev/null; } ||
        give_up "setup: please run: sudo apt-get install -y $packages"
    as_root=(sudo -n)
fi
echo "setup: installing $packages"
# Waits for another apt-get instead of failing; its output is shown only when it fails.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"; }
log=$(mktemp)
# Word splitting of $packages is meant.
# shellcheck disable=SC2086
if ! { apt update || true; apt install -y --no-install-recommends $packages; } > "$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    exit 1
fi
rm -f "$log"

lacking=$(missing)
[ -z "$lacking" ] || { echo "setup: still missing: $lacking" >&2; exit 1; }
report_nvcc
