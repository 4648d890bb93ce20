#!/bin/sh
# with_tile.sh TILE PROGRAM: runs a test on the CPU with this tile, in small sizes; exits 77 where the
# CPU does not have it. $HEDDLE is the tool.
set -eu
export HEDDLE_TILE="$1" HEDDLE_TEST_DEVICE=cpu HEDDLE_TEST_QUICK=1
# The library falls back to another tile; `info` tells which one it took.
took=$("$HEDDLE" info | sed -n '/^cpu/,/^$/s/^ *features *//p')
[ "$took" = "$1" ] || { echo "no $1 here: the library took $took"; exit 77; }
exec "$2"
