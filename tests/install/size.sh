#!/bin/sh
# size.sh LIBRARY STRIP MEGABYTES: without its symbols the library is no larger than that.
set -eu
copy=$(mktemp)
trap 'rm -f "$copy"' EXIT
"$2" -o "$copy" "$1"
bytes=$(wc -c < "$copy")
echo "$bytes bytes without symbols, $3000000 at most"
[ "$bytes" -le "$3000000" ] || { echo "the library has grown: fewer tables, or code that more of them share"; exit 1; }
