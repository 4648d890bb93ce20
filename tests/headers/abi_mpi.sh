#!/bin/sh
# abi_mpi.sh [LIBRARY_MPI]: the same as abi.sh for heddle/mpi.h, which needs MPI's header and is therefore not compiled:
# the declarations of mpi_N.txt are the header's, and the names in them are what the library exports, where it is built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
include=$here/../../include/heddle
version=$(sed -n 's/^#define HEDDLE_ABI_VERSION //p' "$include/heddle.h")
baseline=$here/mpi_$version.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# One declaration a line, with single spaces.
tr '\n' ' ' < "$include/mpi.h" | grep -o 'HEDDLE_API [^;]*;' | tr -s ' ' > "$work/declared.txt"
diff -u "$baseline" "$work/declared.txt" || { echo "heddle/mpi.h differs from ABI $version as committed"; exit 1; }
[ $# -gt 0 ] || exit 0
sed 's/.*[ *]\(heddle_[a-z_]*\)(.*/\1/' "$baseline" | LC_ALL=C sort > "$work/names.txt"
nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort > "$work/exported.txt"
diff -u "$work/names.txt" "$work/exported.txt" || { echo "libheddle_mpi exports other names"; exit 1; }
