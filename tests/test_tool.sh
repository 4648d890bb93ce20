#!/bin/sh
# test_tool.sh: the heddle tool ($HEDDLE) as a user and a script meet it: what it prints, and that
# what it cannot do is refused with one line and exit status 2.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

bad() # bad MESSAGE: says it, shows what the tool printed, goes on
{
    echo "FAILED: $1"
    sed 's/^/  out: /' "$work/out"
    sed 's/^/  err: /' "$work/err"
    failures=$((failures + 1))
}

tool() # runs the tool; leaves $status and the files out and err
{
    status=0
    "$HEDDLE" "$@" > "$work/out" 2> "$work/err" || status=$?
}

works() # works ARGUMENTS: exit status 0, output, no complaint
{
    tool "$@"
    [ "$status" = 0 ] || bad "'$*' exits $status"
    [ -s "$work/out" ] || bad "'$*' prints nothing"
    [ ! -s "$work/err" ] || bad "'$*' complains"
}

refuses() # refuses ARGUMENTS: exit status 2, one whole line on stderr, nothing on stdout
{
    tool "$@"
    [ "$status" = 2 ] || bad "'$*' exits $status, not 2"
    # A last line without its end is not counted by wc, but by grep.
    [ "$(wc -l < "$work/err") $(grep -c '' "$work/err")" = "1 1" ] ||
        bad "'$*' does not print exactly one line"
    grep -q '^heddle: ..*' "$work/err" || bad "'$*' does not say who refuses"
    [ ! -s "$work/out" ] || bad "'$*' is refused but prints a result"
}

keys="device container instance op n load mops probes roof_mops roof_share bytes_per_entry verified"
keys="$keys bucket hashes filled failed"

bench_json() # bench_json CONTAINER LINES OPS: every line has the keys, once and in order, and is true
{
    container=$1 lines=$2
    works bench "$container" --device cpu --bucket 8 --keys 2^16 --op "$3" --format json --repeat 2
    [ "$(wc -l < "$work/out")" = "$lines" ] || bad "$container: not $lines lines"
    number=0
    while read -r line; do
        number=$((number + 1))
        found=$(echo "$line" | grep -o '"[a-z_]*":' | tr -d '":' | paste -sd' ' -)
        [ "$found" = "$keys" ] || bad "$container: line $number has the keys $found"
    done < "$work/out"
    for want in "\"container\": \"$container\"" '"device": "cpu"' '"n": 65536,' '"verified": true,' \
        '"bucket": 8,' '"hashes": 3,' '"failed": 0}$'; do
        [ "$(grep -c -- "$want" "$work/out")" = "$lines" ] || bad "$container: not all lines have $want"
    done
    if grep -Eq '"(mops|probes|roof_mops|roof_share|bytes_per_entry|filled)": (0\.?0*[,}]|-|nan|inf)' \
        "$work/out"
    then
        bad "$container: a number is not positive"
    fi
    if ! command -v python3 > /dev/null; then return; fi
    python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' < "$work/out" \
        2> "$work/err" || bad "$container: not JSON"
}

works info
grep -q '^cpu' "$work/out" || bad "info does not list the CPU"
grep -q 'tables *[1-9][0-9]* compiled' "$work/out" || bad "info does not count the tables"
for table in cuckoo_k32_b8 cuckoo_k32_v32_b8; do
    grep -qw "$table" "$work/out" || { echo "this build has no $table to measure"; exit 77; }
done
works help
works help bench
works --version

bench_json map 6 build,insert,find,contains,miss,erase
bench_json set 5 build,insert,contains,miss,erase
for op in build insert contains miss erase; do
    [ "$(grep -c "\"op\": \"$op" "$work/out")" = 1 ] || bad "set: no line for $op"
done

works bench map --device cpu --bucket 8 --keys 2^10 --op find --repeat 1 --format csv
[ "$(grep -v '^#' "$work/out" | head -n 1)" = "$(echo "$keys" | tr ' ' ,)" ] || bad "CSV: the head"
works bench map --device cpu --bucket 8 --keys 2^10 --op find --repeat 1

# Lists: every combination of sizes, hashes and loads, and operations with all shares of hits.
works bench map --device cpu --bucket 8 --keys 2^10,2000 --hashes 2,4 --load 0.5,0.6 \
    --op insert,find --hit 100,0 --repeat 1 --format csv
grep -v '^#' "$work/out" | sed 1d > "$work/rows"
[ "$(wc -l < "$work/rows")" = 24 ] || bad "lists: not 24 rows"
[ "$(cut -d, -f4-6,14 "$work/rows" | sort -u | wc -l)" = 24 ] || bad "lists: rows are alike"
[ "$(grep -c ',true,8,[24],0\.[1-6][0-9]*,0$' "$work/rows")" = 24 ] || bad "lists: the last columns"

refuses unknown
refuses bench
refuses bench list
refuses bench map --unknown
refuses bench map --unknown=1
refuses bench map --keys
refuses bench map --keys 0
refuses bench map --keys many
refuses bench map --keys 2^10,many
refuses bench map --load 7
refuses bench map --load 0
refuses bench map --load x
refuses bench map --load nan
refuses bench map --load 0.5,
refuses bench map --op walk
refuses bench map --format xml
refuses bench map --bucket 3
refuses bench map --bucket 8,
refuses bench map --hashes 2,5
refuses bench map --key-bits 16
refuses bench map --device cuda:99
refuses bench map --device tape
refuses bench map --device cpu --keys 2^60 # more than a count may be
refuses bench map --device cpu --keys 2^40 # more than there is memory

# A result that cannot be written is not a success.
if [ -w /dev/full ]; then
    status=0
    "$HEDDLE" info > /dev/full 2> "$work/err" || status=$?
    : > "$work/out"
    [ "$status" = 1 ] || bad "info into a full disk exits $status, not 1"
fi

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
