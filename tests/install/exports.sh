#!/bin/sh
# exports.sh LIBRARY ABI: the library shows heddle_* and nothing else, every function of the public
# headers among them, and its SONAME carries the ABI version.
set -eu
library=$1
soname=libheddle.so.$2
headers=$(dirname "$0")/../../include/heddle

shown=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u)
other=$(echo "$shown" | grep -v '^heddle_' || true)
[ -z "$other" ] || { echo "exported besides heddle_*: $other"; exit 1; }

# mpi.h is that of libheddle_mpi.
declared=$(find "$headers" -name '*.h' ! -name mpi.h -exec cat {} + | tr '\n' ' ' | grep -o 'HEDDLE_API [^(;]*(' | grep -o 'heddle_[a-z0-9_]*(' |
           tr -d '(' | sort -u)
[ -n "$declared" ] || { echo "no declaration found in $headers"; exit 1; }
for name in $declared; do
    echo "$shown" | grep -qx "$name" || { echo "declared, not exported: $name"; exit 1; }
done

readelf -d "$library" | grep -q "SONAME.*\[$soname\]" || { echo "SONAME is not $soname"; exit 1; }
echo "$(echo "$shown" | wc -l) names exported, SONAME $soname"
