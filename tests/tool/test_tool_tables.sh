#!/bin/sh
# test_tool_tables.sh: the tables of `heddle bench` fit 100 columns whatever is asked for, say their units, and lose no
# row: what is no column stands above the rows.
: "${HEDDLE:?the path of the tool}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
for table in cuckoo_k32_v32_b8 open_k32_v32_b8 open_k32_v32_b16; do
    "$HEDDLE" info | grep -qw $table || { echo "this build has no $table to measure"; exit 77; }
done

bad() {
    echo "FAILED: $*"
    cat "$work/out"
    failed=1
}

# table ROWS ARGUMENTS...: so many rows that are verified, all lines of 100 columns at most
table() {
    rows=$1
    shift
    "$HEDDLE" "$@" > "$work/out" 2> "$work/err" || bad "$*: $(cat "$work/err")"
    [ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || bad "$*: wider than 100 columns"
    [ "$(grep -c ' yes$' "$work/out")" = "$rows" ] || bad "$*: not $rows rows"
    grep -qE '^keys of (32|64) bits(, values of (32|64) bits)?, seed 1, median of [0-9]+ runs?$' "$work/out" || bad "$*: no head"
}
has() {
    grep -qE -- "$1" "$work/out" || bad "no line like '$1'"
}

# Lists of everything that a subject takes: more than 100 columns could hold.
small="--device cpu:2 --keys 2000,5000 --repeat 1"
# shellcheck disable=SC2086
{
table 24 bench map $small --bucket 8 --hashes 2,3 --load 0.5,0.6 --op build,find,miss
has '^operation +keys +load|^operation +load|^operation +slots'
has ' million machine.s +share'
has ' a second million/s of it %'
has '^table: cuckoo_k32_v32_b8, keys: 5000'
table 64 bench multimap $small --scheme open,hashgraph --copies 1,7 --distribution uniform,zipf:1.2 \
    --variant regions --op build,find,retrieve,erase
has '^variant: regions, rows: 2000, load: 0.80, slots a bucket: 16$'
has '^variant: regions, rows: 5000, lists a key: 1$'
table 32 bench graph $small --copies 1,7 --distribution uniform,zipf:1.2 --vertices 0.5,1 --variant regions,ordered \
    --op build
table 32 bench counter $small --scheme cuckoo,hashgraph --copies 1,7 --distribution uniform,zipf:1.2 --op build,find
table 48 bench join $small --copies 1,3 --distribution uniform,sequence --hit 100,60 --kind inner,left,semi \
    --count-only
has '^kind +operation +'
table 16 bench group $small --groups 5,900 --distribution uniform,zipf:1.2 --aggregate sum,mean
table 8 bench unique $small --groups 5,900 --order unordered,first
table 16 bench filter $small --bits-per-key 8,16 --hashes 2,4 --op add,miss
has ' false % +false %'
table 8 bench mixed $small --batch 500,1000 --updates 100,20 --op mixed
table 16 bench dist --devices cpu:1 --keys 2000 --repeat 1 --members 1,2 --scaling strong,weak --copies 1,7 --model
has '^operation +members +million +time vs +speedup'
has '^ +a second +1 table +% +% +% +% +keys % +rows %'
table 16 bench shelf --device cpu:1 --keys 2000,5000 --copies 1,7 --shares 1,2 --directory "$work"
has '^rows: 5000, .*part of a table: 1/2, memory MB: '
has ', 1 thread, '
table 1 bench shelf --device cpu:1 --keys 2000 --shares 2 --op build --repeat 3 --directory "$work"
has '^keys of 32 bits, values of 32 bits, seed 1, median of 3 runs$'
# What does not change stands above, once; keys that are left out have a long last column.
table 1 bench map --device cpu:2 --bucket 8 --keys 2^10 --op find --repeat 1
has '^table: cuckoo_k32_v32_b8, keys: 1024, load: 0.80, slots a bucket: 8, hashes: 3$'
"$HEDDLE" bench map --sweep=load --scheme open --device cpu:2 --bucket 8 --hashes 2 --load 0.97 --keys 2^16 --op insert \
    --repeat 1 > "$work/out"
has ' no: [0-9]+ left out$'
"$HEDDLE" bench dist --keys 2000 --repeat 1 --format json > "$work/out"
[ "$(grep -c '^{"device": "cpu:1+cpu:1", "bench": "dist", .*"verified": true}$' "$work/out")" = 2 ] || bad "dist: JSON"
}
# A set has no values, in the refusal of a table that is not compiled either.
"$HEDDLE" bench set --device cpu:1 --keys 1000 --bucket 1 --op build --repeat 1 > "$work/out" 2> "$work/err" ||
    ! grep -v 'no values' "$work/err" || bad "the refusal of a set speaks of values"
"$HEDDLE" info > "$work/out"
[ "$(awk 'length > 100' "$work/out" | wc -l)" = 0 ] || bad "info is wider than 100 columns"
exit $failed
