#!/bin/sh
# install.sh BUILD CMAKE CC MPICC: installs BUILD into a fresh prefix, moves it (an installed tree may be
# moved), and builds and runs consumer.c four ways: CMake package and pkg-config, shared and static. With
# libheddle_mpi, MPICC is not empty, and consumer_mpi.c is built both ways.
set -eu
build=$1 cmake=$2 cc=$3 mpicc=${4:-}
here=$(cd "$(dirname "$0")" && pwd)
command -v pkg-config > /dev/null || { echo "no pkg-config"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/first" > "$work/log" || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/prefix"
prefix=$work/prefix

echo "== CMake package"
{
    "$cmake" -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
        -DCONSUMER_MPI="${mpicc:+ON}" &&
    "$cmake" --build "$work/cmake"
} > "$work/log" || { cat "$work/log"; exit 1; }
"$work/cmake/consumer_shared"
"$work/cmake/consumer_static"
[ -z "$mpicc" ] || "$work/cmake/consumer_mpi"

echo "== pkg-config"
pc=$(find "$prefix" -name heddle.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir heddle)
# The flags are lists of words.
# shellcheck disable=SC2046
"$cc" "$here/consumer.c" -o "$work/shared" $(pkg-config --cflags --libs heddle)
LD_LIBRARY_PATH=$libdir "$work/shared"
# Both libraries lie in one folder, where -lheddle is the shared one.
# shellcheck disable=SC2046
"$cc" "$here/consumer.c" -o "$work/static" \
    $(pkg-config --cflags --libs --static heddle | sed 's/-lheddle/-l:libheddle.a/')
"$work/static"
! readelf -d "$work/static" | grep -q libheddle || { echo "not linked statically"; exit 1; }

[ -n "$mpicc" ] || [ -z "$(find "$prefix" -name mpi.h)" ] || { echo "mpi.h without its library"; exit 1; }
[ -n "$mpicc" ] || ! pkg-config --exists heddle_mpi || { echo "heddle_mpi.pc without MPI"; exit 1; }
if [ -n "$mpicc" ]; then
    # shellcheck disable=SC2046
    "$mpicc" "$here/consumer_mpi.c" -o "$work/mpi" $(pkg-config --cflags --libs heddle_mpi)
    LD_LIBRARY_PATH=$libdir "$work/mpi"
    # It finds its library by itself; what it does is for another test.
    tool=$(find "$prefix" -path '*/bin/heddle-mpi')
    [ -x "$tool" ] || { echo "heddle-mpi was not installed"; exit 1; }
    ! ldd "$tool" | grep 'heddle.*not found' || { echo "heddle-mpi does not find its library"; exit 1; }
fi

tool=$(find "$prefix" -path '*/bin/heddle')
[ -x "$tool" ] || { echo "the tool was not installed"; exit 1; }

# The manual pages and completions that the tool makes; sanitizers and other machines have none.
if [ -d "$build/manual" ]; then
    for page in heddle heddle-bench-map heddle-shelf-find heddle-advise; do
        [ -s "$prefix/share/man/man1/$page.1" ] || { echo "no page $page(1) was installed"; exit 1; }
    done
    [ -z "$mpicc" ] || [ -s "$prefix/share/man/man1/heddle-mpi.1" ] || { echo "no page heddle-mpi(1)"; exit 1; }
    [ "$(find "$prefix/share/man/man1" -name '*.1' ! -name heddle-mpi.1 | wc -l)" = "$("$tool" help --list | wc -l)" ] ||
        { echo "other pages than commands"; exit 1; }
    "$tool" help --completion bash | cmp - "$prefix/share/bash-completion/completions/heddle"
    "$tool" help --completion zsh | cmp - "$prefix/share/zsh/site-functions/_heddle"
fi
