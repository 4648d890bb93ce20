#!/bin/sh
# exports.sh LIBRARY ABI: the library shows heddle_*, every function of the public headers among them, and
# in a symbol version of its own what its tool needs. Its SONAME carries the ABI version.
set -eu
library=$1
soname=libheddle.so.$2
headers=$(dirname "$0")/../../include/heddle

shown=$(nm -D --defined-only "$library" | awk '$2 != "A" && $3 !~ /@HEDDLE_PRIVATE_/ { sub(/@.*/, "", $3); print $3 }' | sort -u)
# What the tool needs besides is private, and says so: src/base/port.h.
private=$(nm -D --defined-only "$library" | awk '$3 ~ /@HEDDLE_PRIVATE_/ { print $3 }')
other=$(echo "$private" | grep -vE '^hd_[a-z_]+@@HEDDLE_PRIVATE_[0-9.]+$' || true)
[ -z "$other" ] || { echo "private, and not as src/base/port.h says: $other"; exit 1; }
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
