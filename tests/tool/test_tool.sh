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

works advise --help
works advise map --keys 2^26
grep -q 'cuckoo, load 0.8' "$work/out" || bad "a plain map is not a cuckoo table"
works advise set --keys 1e6 --stable
grep -q ': open' "$work/out" || bad "a stable set is not an open table"
# Stable pairs are for open tables, which are as full as that; docs/design/iceberg.md says the same.
works advise map --keys 1M --stable --memory 8.45M
grep -q ': open, load 0.95, about 8.45 MB$' "$work/out" || bad "a full stable map is not an open table"
refuses advise map --keys 1M --stable --memory 8M
grep -q '8.00 MB of pairs .* a load of 0.95, the highest that open is good for$' "$work/err" || bad "why it is refused"
refuses advise multimap --keys 10M --copies 8 --memory 1M
grep -q 'takes about 660 MB, more than 1.00 MB$' "$work/err" || bad "sizes are not said in words"
works advise map --keys 100M --memory 900M
grep -q 'load 0.89' "$work/out" || bad "memory does not choose the load"
works advise multimap --keys 1M --copies 100 --dynamic
grep -q 'bucket_list' "$work/out" || bad "many copies are not a bucket list"
works advise multimap --keys 1M --copies 100
grep -q 'hashgraph' "$work/out" || bad "a static multimap is not a hashgraph"
works advise counter --keys 1M --dynamic
grep -q ': cuckoo' "$work/out" || bad "a counter is not a cuckoo table, as AUTO is"
works advise set --keys 1M --mixed
grep -q ': slab' "$work/out" || bad "what comes mixed is not for a slab hash"
refuses advise set --keys 1M --mixed --memory 1M
works advise filter --keys 1M
grep -q 'bits_per_key = 16$' "$work/out" || bad "the bits of a filter are not said"
works advise filter --keys 1M --memory 1M
grep -q 'bits_per_key = 8, ' "$work/out" || bad "memory does not choose the bits of a filter"
refuses advise map --keys 100M --memory 700M
refuses advise map
refuses advise tree --keys 5
refuses advise map --keys 0

works info
grep -q '^cpu' "$work/out" || bad "info does not list the CPU"
grep -q 'tables *[1-9][0-9]* compiled' "$work/out" || bad "info does not count the tables"
for table in cuckoo_k32_b8 cuckoo_k32_v32_b8; do
    grep -qw "$table" "$work/out" || { echo "this build has no $table to measure"; exit 77; }
done
works help
works help bench
works --version

bench_json map 7 build,insert,find,contains,miss,erase,append
bench_json set 6 build,insert,contains,miss,erase,append
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

# Schemes and what they take.
if "$HEDDLE" info | grep -qw open_k32_v32_b8; then
    works bench map --device cpu --scheme open --bucket 8 --load 0.95 --keys 2^14 --op build --repeat 1 --format csv
    grep -q '^cpu,map,open_k32_v32_b8,build,16384,0.95,.*,true,8,' "$work/out" || bad "an open table of load 0.95"
fi
if "$HEDDLE" info | grep -qw iceberg_k32_v32_b16; then
    works bench map --device cpu --scheme iceberg --threshold 0.5 --bucket 16 --keys 2^10 --op find \
        --repeat 1 --format csv
    grep -q '^cpu,map,iceberg_k32_v32_b16,find,.*,true,' "$work/out" || bad "an iceberg table"
fi
refuses bench map --device cpu --scheme iceberg --threshold 1.5
refuses bench map --device cpu --scheme iceberg --threshold 0
refuses bench map --device cpu --scheme cuckoo --threshold 0.5 --keys 2^10
refuses bench map --device cpu --scheme glacier

# Sweeps. The rows of CSV in the file rows, and how many of them match.
sweep() # sweep ARGUMENTS: works, and leaves the rows
{
    works bench "$@" --device cpu --repeat 1 --format csv
    grep -v '^#' "$work/out" | sed 1d > "$work/rows"
}
rows() # rows COUNT PATTERN WHAT
{
    [ "$(grep -Ec -- "$2" "$work/rows")" = "$1" ] || bad "$3: not $1 rows like $2"
}
column() # column NUMBER: its values without repetition, in order, in one line
{
    cut -d, -f"$1" "$work/rows" | uniq | paste -sd' ' -
}
same() # same WHAT FOUND WANTED
{
    [ "$2" = "$3" ] || bad "$1: '$2', not '$3'"
}

compiled=$("$HEDDLE" info | grep -ow 'cuckoo_k32_v32_b[0-9]*' | sed 's/.*_b//' | sort -nu | paste -sd' ' -)
buckets=$(echo "$compiled" | wc -w)
sweep --sweep --keys 2^10 --seeds 5
[ "$(grep -v '^#' "$work/out" | head -n 1)" = \
    "$(echo "$keys sweep seeds success_share" | tr ' ' ,)" ] || bad "sweep: the head of CSV"
rows 0 '^[^,]*,set,' "a sweep is of maps"
same "the sweeps" "$(column 17)" "load bucket hashes hit keys success"
rows 40 ',load,,$' "sweep of load"
rows $((buckets * 2 * 5)) ',bucket,,$' "sweep of buckets"
rows 30 ',hashes,,$' "sweep of hashes"
rows 10 ',hit,,$' "sweep of hits"
rows 10 ',keys,,$' "sweep of keys"
rows $((buckets * 3)) ',success,5,(1|0\.[0-9]*)' "sweep of success"
rows $((90 + buckets * 10)) ',true,([0-9]+,){2}0\.[0-9]+,0,[a-z]+,,$' "every row is verified"
grep ',load,,$' "$work/rows" > "$work/some" && mv "$work/some" "$work/rows"
same "loads" "$(column 6)" "0.5 0.6 0.7 0.8 0.85 0.9 0.95 0.99"
rows 8 ',find:50,' "half of the keys are hits"
rows 5 ",0\.5,.*,0\.5000,0,load,,\$" "the filled share"

# Lists that are given take the place of those of the sweep, and of what stays.
sweep --sweep=bucket,keys --keys 2^9,2^10 --load 0.6 --hit 25 --op insert,find
same "sizes" "$(grep ',keys,' "$work/rows" | cut -d, -f5 | uniq | paste -sd' ' -)" "512 1024"
same "loads" "$(column 6)" "0.6"
rows 0 ',build,' "operations"
rows $((4 * (buckets + 1))) ',(insert|find:25),' "both sweeps"
grep ',512,.*,bucket,' "$work/rows" > "$work/some" && mv "$work/some" "$work/rows"
same "buckets" "$(column 13)" "$compiled"
sweep set --sweep=hit --bucket 8 --keys 2^10 --load 0.5
rows 5 '^cpu,set,cuckoo_k32_b8,contains' "sweep of hits in a set"

# What does not fit is counted and no failure of a sweep, but of a plain benchmark.
if echo "$compiled" | grep -qw 1; then
    sweep --sweep=load --bucket 1 --hashes 2 --load 0.2,0.9 --keys 2^12 --op insert,find --hit 100
    rows 2 ',0\.2,.*,true,1,2,0\.[0-9]+,0,load' "what fits"
    rows 2 ',0\.9,.*,false,1,2,0\.[0-9]+,[1-9][0-9]*,load' "what does not fit"
    tool bench map --device cpu --bucket 1 --hashes 2 --load 0.9 --keys 2^12 --op insert --repeat 1
    [ "$status" = 1 ] || bad "keys that do not fit: exit $status, not 1"
    grep -q 'did not fit$' "$work/err" || bad "keys that do not fit are not mentioned"

    # Two hashes and one slot end below a half, buckets of 8 far above.
    sweep --sweep=success --bucket 1,8 --hashes 2 --keys 2^12 --seeds 20
    rows 1 ',success,[0-9]+,0\.[1-4][0-9]*,.*,1,2,,,success,20,1\.0000$' "success of single slots"
    rows 1 ',success,[0-9]+,0\.[89][0-9]*,.*,8,2,,,success,20,1\.0000$' "success of buckets"
    sweep --sweep=success --bucket 1 --hashes 2 --load 0.2,0.9 --keys 2^12 --seeds 20
    rows 1 ',0\.(2000|19[0-9]+),.*,20,(1|0\.[89])' "a load that nearly all seeds reach"
    rows 1 ',0\.(9000|89[0-9]+),.*,20,0\.0000$' "a load that no seed reaches"
fi
works bench --sweep=hit,success --bucket 8 --hashes 3 --keys 2^10 --seeds 3 --repeat 1 --device cpu
grep -q '^sweep of success' "$work/out" || bad "the table of a sweep has no heading"
works bench --sweep=hit,success --bucket 8 --hashes 3 --keys 2^10 --seeds 3 --repeat 1 --device cpu \
    --format json
[ "$(grep -c '"op": "find.*"sweep": "hit"}$' "$work/out")" = 10 ] || bad "JSON: rows of the sweep"
grep -q '"n": [0-9]*, "load": 0\.[0-9]*, "bucket": 8, "hashes": 3, .*"seeds": 3, "success_share": 1' \
    "$work/out" || bad "JSON: the row of success"
if command -v python3 > /dev/null; then
    python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' < "$work/out" \
        2> "$work/err" || bad "a sweep is not JSON"
fi

# Graphs and relations: all rows of CSV, each verified, with the columns that its benchmark has.
relation() # relation ROWS COLUMNS ARGUMENTS
{
    wanted=$1 columns=$2
    shift 2
    sweep "$@"
    same "columns of $*" "$(grep -v '^#' "$work/out" | head -n 1)" \
        "device,bench,$columns,mops,ms,roof_mops,roof_share,verified"
    rows "$wanted" '^cpu,' "$*"
    rows "$wanted" ',true$' "$*, verified"
    for line in command date device heddle; do
        grep -q "^# $line: " "$work/out" || bad "$*: no $line in the head"
    done
}
graph=variant,op,n,copies,distribution,vertices,bins,workspace,passes,key_bits,value_bits,asked,bytes_per_entry
join=kind,op,left,right,copies,distribution,hit,key_bits,row_bits,rows,capacity
group=op,type,n,groups,distribution,key_bits,row_bits,with_keys,at_once
unique=order,ask,n,groups,distribution,key_bits,row_bits
relation 54 $graph graph --keys 5000 --copies 1,7 --distribution uniform,zipf:1.2,equal
same "operations of a graph" "$(column 4 | cut -d' ' -f1-9)" \
    "build find miss count retrieve query intersect erase insert"
relation 4 $graph graph --keys 2^14 --vertices 0.125,4 --key-bits 64 --value-bits 64 --op build,contains
relation 5 $graph graph --keys 5000 --copies 3 --variant regions,ordered,v1,v2 --bins 16,64
rows 1 ',v2,build,5000,3,uniform,1,64,' "bins"
# What v1 lacks is left out, and that is said.
tool bench graph --keys 5000 --variant ordered,v1 --op build,find --device cpu --repeat 1 --format csv
[ "$status $(grep -c ',true$' "$work/out")" = "0 3" ] || bad "v1 beside another build has other than one row"
grep -q 'v1 and v2 have the operation build alone' "$work/err" || bad "rows of v1 are left out in silence"
relation 5 $graph graph --keys 2^18 --workspace 1,0.2 --op build,insert,find
rows 1 ',build,262144,1,uniform,1,0,1,1,' "a build in one pass"
rows 1 ',build,262144,1,uniform,1,0,0\.2,([5-9]|1[0-9]),' "a build in several passes"
rows 1 ',insert,262144,1,uniform,1,0,0\.2,([5-9]|1[0-9]),' "an insertion in several passes"
multimap=scheme,bucket,load,$graph
relation 32 $multimap multimap --keys 5000 --copies 1,7 --distribution uniform,equal
same "operations of a multimap" "$(column 7 | cut -d' ' -f1-8)" \
    "build insert add find miss count retrieve erase"
relation 4 $multimap multimap --keys 5000 --copies 3 --variant regions,direct --op insert,retrieve
relation 8 $multimap multimap --scheme hashgraph --keys 5000 --copies 3
relation 6 $multimap multimap --scheme open,hashgraph --load 0.5,0.7 --vertices 1,2 --variant regions,direct \
    --keys 5000 --copies 3 --op range --distribution zipf:1.2
same "schemes of a multimap" "$(column 3)" "open hashgraph"
rows 6 ',range,5000,3,zipf:1\.2,.*,5000,[0-9.]+,[0-9.]+,[0-9.]+,[0-9.]+,[0-9.]+,true$' "as many queries as rows"
relation 10 $multimap multimap --keys 5000 --copies 3 --distribution sequence,uniform \
    --op build,find,miss,retrieve,range
counter=scheme,bucket,load,vertices,op,n,copies,distribution,key_bits,value_bits,keys,bytes_per_key
relation 40 $counter counter --keys 5000 --copies 1,7 --distribution uniform,zipf:1.2,equal,sequence
same "operations of a counter" "$(column 7 | cut -d' ' -f1-5)" "build insert add find miss"
rows 20 ',5000,7,.*,(1|715|[1-6][0-9][0-9]),[0-9.]+(,[0-9.]+){4},true$' "different keys"
relation 80 $counter counter --scheme hashgraph,open --keys 5000 --copies 1,7 \
    --distribution uniform,zipf:1.2,equal,sequence --op build,add,find,insert,miss --key-bits 64 --value-bits 64
same "schemes of a counter" "$(column 3)" "hashgraph open"
relation 4 $counter counter --scheme cuckoo,hashgraph --load 0.5,0.7 --vertices 1,2 --keys 5000 --op add
relation 5 $counter counter --keys 2^17 --copies 3
relation 24 $join join --keys 3000 --copies 1,3 --kind inner,left,right,full,semi,anti --hit 60
relation 2 $join join --left 700 --right 3000 --copies 3 --distribution sequence --hit 60
relation 3 $join join --left 2000 --right 3000 --distribution uniform,zipf:1,equal --count-only \
    --key-bits 64 --row-bits 64
rows 1 ',equal,100,64,64,6000000,0,' "a product of both sides"
relation 10 $group group --keys 3000 --groups 1,1000,5000 --aggregate count,sum,min,max,mean
for type in u32 i32 f32 u64 i64 f64; do
    relation 5 $group group --keys 3000 --groups 129 --aggregate count,sum,min,max,mean --type $type \
        --with-keys --distribution zipf:1.2
    relation 5 $group group --keys 3000 --groups 129 --aggregate count,sum,min,max,mean --type $type --at-once
done
relation 5 $group group --keys 2000
same "numbers of groups" "$(column 6)" "100 127 128 129 1000"
relation 8 $unique unique --keys 3000 --groups 129,3000 --order unordered,first \
    --distribution uniform,zipf:1.2
relation 2 $unique unique --keys 3000 --groups 7,1700 --distribution sequence --order first
relation 1 $unique unique --keys 3000 --groups 50 --key-bits 64 --row-bits 64
for ask in keys sizes first; do
    relation 4 $unique unique --keys 3000 --groups 50,3000 --order unordered,first --ask $ask
done
mixed=op,n,batch,updates,load,memory_use,key_bits,value_bits,looks
relation 10 $mixed mixed --keys 5000 --batch 700,5000 --updates 100,40,0
same "operations of mixed batches" "$(column 3)" "mixed grow take mixed grow take mixed"
relation 3 $mixed mixed --keys 20000 --batch 20000 --key-bits 64 --value-bits 64 --op mixed --load 0.9
filter=op,n,key_bits,bits_per_key,hashes,megabytes,rate_expected,rate_found,rate_measured
relation 12 $filter filter --keys 5000 --bits-per-key 8,16 --hashes 0,3
same "hashes of a filter" "$(column 7)" "5 8 3"
relation 1 $filter filter --keys 2^17 --key-bits 64 --op miss
works bench join --device cpu --keys 1000 --repeat 1
works bench unique --device cpu --keys 1000 --groups 10 --repeat 1 --no-verify
grep -q ' no$' "$work/out" || bad "a row that is not verified does not say so"
refuses bench mixed --keys 1000 --batch 2000
refuses bench mixed --op find
refuses bench map --updates 20
works bench mixed --device cpu --keys 1000 --batch 100 --repeat 1 --format json
for subject in multimap counter graph join group unique filter; do
    works bench $subject --device cpu --keys 1000 --repeat 1 --format json
    if ! command -v python3 > /dev/null; then continue; fi
    python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' < "$work/out" \
        2> "$work/err" || bad "$subject: not JSON"
done
refuses bench graph --load 0.5
refuses bench graph --variant v2 --op query --keys 1000
refuses bench graph --variant v1,v2 --op build,query --keys 1000
refuses bench graph --variant regions,v2 --op query --keys 1000
refuses bench filter --op find
refuses bench filter --hashes 17
refuses bench filter --bits-per-key 0.5
refuses bench filter --load 0.5
refuses bench filter --device cpu --keys 2^40 --key-bits 64
refuses bench map --op add
refuses bench map --hashes 5
refuses bench map --bits-per-key 8
refuses bench graph --vertices 5
refuses bench graph --workspace 0
refuses bench graph --workspace 1.5
refuses bench map --workspace 0.5
refuses bench graph --op walk
refuses bench graph --variant direct
refuses bench multimap --op query
refuses bench multimap --variant v1
refuses bench multimap --vertices 2
refuses bench multimap --scheme hashgraph --load 0.5
refuses bench multimap --scheme cuckoo --keys 100
refuses bench multimap --sweep
refuses bench graph --bins 64
refuses bench graph --variant v2 --bins 2^17
refuses bench graph --variant v1 --key-bits 64
refuses bench map --op intersect
refuses bench graph --sweep
refuses bench counter --sweep
refuses bench counter --op erase
refuses bench counter --op append
refuses bench multimap --op append
refuses bench counter --op range
refuses bench counter --vertices 2
refuses bench counter --scheme hashgraph --load 0.5
refuses bench counter --scheme bucket_list --keys 100
refuses bench counter --variant direct
refuses bench counter --value-bits 0
refuses bench counter --device cpu --keys 2^40 --key-bits 64
refuses bench map --scheme cuckoo,open
refuses bench map --op range
refuses bench map --distribution sequence
refuses bench graph --op range
refuses bench graph --distribution zipf
refuses bench graph --keys 2^33
refuses bench map --copies 2
refuses bench map --op retrieve
refuses bench join --left 100
refuses bench join --left 100 --right 100 --keys 100
refuses bench join --kind outer
refuses bench join --device cpu --keys 2^40
refuses bench group --keys 10 --groups 11
refuses bench group --aggregate median
refuses bench group --type u8
refuses bench group --device cpu --keys 2^33 --groups 10 --row-bits 32
refuses bench group --count-only
refuses bench unique --with-keys
refuses bench unique --order last

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
refuses bench --sweep=
refuses bench --sweep=load,
refuses bench --sweep=erase
refuses bench --sweep load
refuses bench --sweeps
refuses bench --sweep list
refuses bench --sweep --seeds 0
refuses bench --sweep=load --seeds 10
refuses bench map --seeds 10
refuses bench --sweep=hit --op build
refuses bench --sweep --load 0.5,2
refuses bench set --sweep --value-bits 32
refuses bench --sweep=keys --device cpu --keys 2^10,2^40
refuses bench map --device cuda:99
refuses bench map --device tape
refuses bench map --device cpu --keys 2^60 # more than a count may be
refuses bench map --device cpu --keys 2^40 # more than there is memory

works skew cpu 17
[ "$(grep -c 'yes$' "$work/out")" = 4 ] || bad "skew has other than four verified rows"
refuses skew cpu 5
refuses skew cpu 20 more
refuses skew tape

works bench dist --devices cpu:1,cpu:1,cpu:1 --keys 2^16 --repeat 2 --model
[ "$(grep -c 'yes$' "$work/out")" = 2 ] || bad "bench dist has other than two verified rows"
works bench dist --container multimap --keys 2^15 --duplicates 8 --hot 30 --scaling weak --repeat 1 --format csv
works bench dist --container counter --mode independent --keys 2^14 --repeat 1 --single none
works bench dist --op join,group --keys 2^14 --duplicates 4 --repeat 1
[ "$(grep -c 'yes$' "$work/out")" = 2 ] || bad "bench dist has other than a verified join and group-by"
works bench dist --op group --keys 2^14 --hot 50 --repeat 1 --key-bits 64 --value-bits 64 --single none
works help bench dist
dist=device,bench,members,scaling,distribution,copies,op,n,ratio,speedup,partition,reorganise,exchange,work
dist=$dist,imbalance,row_imbalance,mops,ms,verified

dist_sweep() # dist_sweep LINES ARGUMENTS: a head and so many rows, all with 19 fields and verified
{
    lines=$1
    shift
    works bench dist --keys 2^13 --repeat 1 --format csv "$@"
    [ "$(grep -v '^#' "$work/out" | head -n 1)" = "$dist" ] || bad "bench dist $*: another head"
    grep -q '^# command: heddle bench dist --keys 2^13 ' "$work/out" || bad "bench dist $*: no command in the head"
    [ "$(grep -v '^#' "$work/out" | grep -c ',true$')" = "$lines" ] ||
        bad "bench dist $*: not $lines verified rows"
    [ "$(grep -v '^#' "$work/out" | awk -F, 'NF != 19' | wc -l)" = 0 ] || bad "bench dist $*: odd fields"
}

has() # has TEXT TIMES: so many lines of the output before match
{
    [ "$(grep -Ec -- "$1" "$work/out")" = "$2" ] || bad "'$1' is not there $2 times"
}

dist_sweep 24 --members 1,2,3 --devices cpu:1 --scaling strong,weak --duplicates 1,8
has '^cpu:1,dist,[123],strong,uniform,[18],(build|find),8192,' 12
has '^cpu:1,dist,3,weak,uniform,[18],(build|find),24576,' 4
has '^cpu:1,dist,1,.*,1\.0000,([0-9.]+,){4}0\.0000,0\.0000,[0-9.]+,[0-9.]+,true$' 8 # one member: no speedup, no imbalance
# Sets as graphs: those by cuckoo hashing have buckets that builds of few tables lack.
for container in map "set --scheme hashgraph" multimap counter; do
    # shellcheck disable=SC2086
    dist_sweep 18 --container $container --duplicates 1,8,32 --distribution uniform,zipf:1.2,hot
    has ',zipf:1.2,(1|8|32),' 6
    has ',hot:50,(1|8|32),' 6
done
# Half of the rows on one key: its member of four has more than twice the mean, and a multimap gives it no others.
dist_sweep 2 --container counter --members 4 --distribution hot
[ "$(awk -F, '$16 > 1.2' "$work/out" | grep -c true)" = 2 ] || bad "a counter with a hot key is even"
dist_sweep 2 --container multimap --members 4 --distribution hot
[ "$(awk -F, '$16 > 0.9 && $16 < 1.1' "$work/out" | grep -c true)" = 2 ] ||
    bad "a multimap's hot key is not alone on its member"
dist_sweep 4 --op group --distribution uniform,zipf:1.2,hot:30,zipf:0.5 --duplicates 4
dist_sweep 2 --op join --distribution uniform,hot:10 --single none
dist_sweep 4 --members 2,4 --hot 30
has ',hot:30,' 4
dist_sweep 4 --keys 2^12,2^13 --copies 4
has ',(4096|8192),' 4
dist_sweep 4 --members 1,4 --devices cpu:1 --model
has '^# (1 member|4 members) on 1 device, strong, uniform, 1 row a key, 8192 rows$' 2
has '^#   all devices together: copy [0-9.]+ GB/s, single tables ' 2
has '^#   (partition|reorganise|build|all) +([0-9.]+|single) ' 8
has '^#   exchange +0 .* -$' 2 # members that share memory write to each other
has '^#   (8 devices|72 devices|1000 nodes), ' 3
works bench dist --keys 2^14 --repeat 1 --container multimap --key-bits 64 --value-bits 64 --model
has '^  partition +16 ' 1 # keys of 8 bytes, read once more to count bins
has '^  reorganise +32 ' 1
has 'exchange 32 in memory and$' 1
has '^  16 \(P - 1\) / P over the link' 1

says() # says TEXT: the complaint before has it
{
    grep -q -- "$1" "$work/err" || bad "the refusal does not say '$1'"
}

for value in 0 1025 1,0 1,,2 1, two -1 1.5 '' 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1; do
    refuses bench dist --members "$value"
    says 'members takes numbers from 1 to 1024, with'
done
for value in 0 1,0 8, x 1.5 -8 ''; do
    refuses bench dist --copies "$value"
    says 'copies takes counts from 1 on, with'
done
for value in zipf zipf: zipf:0 zipf:11 zipf:x hot: hot:0 hot:100 equal uniform, ''; do
    refuses bench dist --distribution "$value"
    says 'distribution takes uniform, zipf:S'
done
for value in both strong, weak,strange ''; do
    refuses bench dist --scaling "$value"
    says 'scaling takes strong, weak'
done
refuses bench dist --keys 1000 --copies 1,2000
says 'more than all 1000 rows'
refuses bench dist --keys 2^12 --op join --distribution zipf:1.2
says 'too many pairs'
refuses bench dist --keys 2^20 --op join --distribution hot
says 'too many pairs'
refuses bench dist --keys 2^31 --scaling weak
says 'use --key-bits 64'
# What only a later row would have is refused before the first.
refuses bench dist --keys 1000 --members 1,2 --devices cpu:1,tape
refuses bench dist --keys 1000,2^31 --scaling strong,weak
refuses bench dist --keys 1000 --single tape
refuses bench dist --keys 1000 --scheme cuckoo --container multimap
says 'multimaps are made by the schemes'
refuses bench dist --model --single none
says 'single table'
refuses bench dist --model --mode independent
refuses bench dist --model --op join
says 'builds in distributed mode'
refuses bench dist --hot 100
refuses bench dist --op dance
refuses bench dist --devices tape
refuses bench dist --members 3 --devices cpu:1,tape
refuses bench dist --keys 0
refuses bench dist --key-bits 16
refuses bench dist --nothing

# A result that cannot be written is not a success.
if [ -w /dev/full ]; then
    status=0
    "$HEDDLE" info > /dev/full 2> "$work/err" || status=$?
    : > "$work/out"
    [ "$status" = 1 ] || bad "info into a full disk exits $status, not 1"
fi

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
