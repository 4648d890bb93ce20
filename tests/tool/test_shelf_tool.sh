#!/bin/sh
# test_shelf_tool.sh: `heddle shelf` and `heddle bench shelf`: tables from files of numbers, without a program.
: "${HEDDLE:?the path of the tool}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

bad() {
    echo "FAILED: $*"
    failed=1
}
works() {
    "$HEDDLE" "$@" > out 2> err || bad "heddle $*: $(cat err)"
}
# The first argument is what stderr must say.
fails() {
    reason=$1
    shift
    if "$HEDDLE" "$@" > out 2> err; then bad "heddle $* works"; fi
    grep -q "$reason" err || bad "heddle $*: '$(cat err)' does not say '$reason'"
}
says() {
    grep -q "^$1 *$2\$" out || bad "no line '$1 $2' in: $(cat out)"
}
# The numbers of a file of 32 bits, in order.
numbers() {
    od -An -v -tu4 -w4 "$1" | sort
}

# Keys and values of 32 bits; the values are the keys in another order, so that both can be compared.
head -c 80000 /dev/urandom > keys.bin
head -c 80000 /dev/urandom > values.bin
head -c 40000 keys.bin > half.bin
different=$(numbers keys.bin | uniq | wc -l)
options="--device cpu:1 --memory 64Ki"

# A map: found as often as asked, and exported as it was given.
# shellcheck disable=SC2086
{
works shelf build map $options --keys keys.bin --values values.bin --key-bits 32 --value-bits 32
says inserted "$different"
works shelf stats map
says container map
says keys "$different"
[ "$(awk '$1 == "parts" { print $2 }' out)" -gt 5 ] || bad "there are hardly any parts: $(cat out)"
works shelf validate map $options
works shelf find map $options --keys half.bin --values answers.bin --found found.npy
says found 10000
says absent 0
[ "$(wc -c < answers.bin)" = 40000 ] || bad "answers.bin has another size"
[ "$(wc -c < found.npy)" = 10128 ] || bad "found.npy has another size"
[ "$different" != 20000 ] || cmp -n 40000 answers.bin values.bin || bad "other values were found"
works shelf count map $options --keys half.bin --matches matches.bin
[ "$(wc -c < matches.bin)" = 80000 ] || bad "matches.bin has another size"
works shelf export map $options --keys all_keys.bin --values all_values.bin
numbers keys.bin | uniq > expected
numbers all_keys.bin | cmp - expected || bad "other keys were exported"
works shelf insert map $options --keys half.bin --values answers.bin --policy replace
says updated 10000
works shelf erase map $options --keys half.bin --found gone.bin
works shelf find map $options --keys half.bin --found found.bin
says found 0
od -An -v -tu1 -w1 found.bin | grep -q 1 && bad "flags of absent keys are set"

# A set from a NumPy file, which says itself what it holds; by a scheme that every build has.
works shelf export map $options --keys left.npy
works shelf build set $options --keys left.npy --scheme slab
works shelf stats set
says container set
says 'key bits' 32
works shelf build set $options --keys left.npy --scheme slab
works shelf find set $options --keys left.npy
says absent 0

# Answers go to files of their own: not into the shelf, and not over what is no file.
fails "the shelf's own" shelf export map $options --keys map/manifest.heddle
ln -s map/manifest.heddle link.bin
fails "the shelf's own" shelf export map $options --keys link.bin
fails "the shelf's own" shelf find map $options --keys half.bin --found map/found.bin
mkfifo pipe
fails "no regular file" shelf find map $options --keys half.bin --found pipe
[ -p pipe ] || bad "the pipe is gone"
# A failed call removes what it has made. What was there stays, without answers to some of the questions.
echo mine > mine.bin
fails "no regular file" shelf find map $options --keys half.bin --values mine.bin --found pipe
[ -f mine.bin ] && [ ! -s mine.bin ] || bad "a file that was there is gone, or holds answers"
fails "no regular file" shelf find map $options --keys half.bin --values never.bin --found pipe
[ ! -e never.bin ] || bad "a failed call leaves the file that it has made"
ln -s keys.bin to_keys.bin
cp keys.bin keys_before.bin
fails "a symbolic link" shelf find map $options --keys half.bin --found to_keys.bin
[ -L to_keys.bin ] && cmp keys.bin keys_before.bin || bad "a link was followed or removed"
works shelf validate map $options

# What cannot be done, and what it leaves behind.
fails "elements of 8 bits" shelf insert map $options --keys found.npy --values values.bin
head -c 4001 keys.bin > odd.bin
fails "no whole number" shelf find map $options --keys odd.bin --values never.bin
[ ! -e never.bin ] || bad "answers to no question"
fails "has 10000 keys" shelf insert map $options --keys half.bin --values values.bin
fails "takes no --values" shelf insert set $options --keys keys.bin --values values.bin
fails "no shelf" shelf find nowhere --keys keys.bin
fails "No such file" shelf find map --keys nothing.bin
fails "needs --keys" shelf find map
fails "needs --matches" shelf count map --keys keys.bin
fails "no option '--found'" shelf build map --keys keys.bin --found x
fails "no option '--values'" shelf erase map --keys keys.bin --values x
fails "no option '--keys'" shelf stats map --keys keys.bin
fails "memory takes a count like 8Gi, not 'little'" shelf stats map --memory little
fails "no option '--colour'" shelf stats map --colour red
fails "build, insert, find, .*, not 'burn'" shelf burn map
fails "DIRECTORY is missing" shelf build
fails "one argument too many" shelf stats map map
printf x >> map/manifest.heddle
fails "behind its end" shelf stats map
# A shelf that is there is not made anew: what it is like is refused, unless it is so.
works shelf build kept $options --keys half.bin --values half.bin --key-bits 32 --value-bits 32
works shelf stats kept
grep '^keys' out > keys_before
for other in '--container set' '--container counter' '--scheme open' '--key-bits 64' '--value-bits 64' '--seed 7'; do
    fails "the shelf kept is there already: a map by cuckoo, keys of 32 bits, values of 32; leave out ${other%% *}" \
        shelf build kept $options --keys keys.bin --values values.bin $other
done
fails "is there already: a set by slab, keys of 32 bits; leave out --value-bits" \
    shelf build set $options --keys left.npy --value-bits 32
works shelf stats kept
grep '^keys' out | cmp - keys_before || bad "a refused build changes the shelf"
grep -Eq '^files +[0-9.]+ (kB|MB)$' out || bad "sizes have no units: $(cat out)"
grep -q 'e+' out && bad "sizes are no words: $(cat out)"
works shelf build kept $options --keys half.bin --values half.bin --container map --scheme cuckoo --key-bits 32 \
    --value-bits 32
fails "multimaps are made by the schemes open, hashgraph, bucket_list and slab" \
    shelf build other $options --keys half.bin --values half.bin --container multimap --scheme cuckoo
}

# Files of other numbers: what is wrong is said once, and of columns.
npy() { # npy FILE TYPE: ten elements of eight bytes
    head=$(printf "{'descr': %s, 'fortran_order': False, 'shape': (10,), }" "$2")
    { printf '\223NUMPY\001\000\166\000%-117s\n' "$head"; head -c 80 /dev/zero; } > "$1"
}
npy good.npy "'<u8'"
works shelf build eight --device cpu:1 --keys good.npy --scheme slab
says inserted 1
npy real.npy "'<f8'"
fails "^heddle: real.npy holds floats: keys are integers$" shelf build nine --keys real.npy
fails "^heddle: real.npy holds floats: keys are integers$" shelf find eight --keys real.npy --found found_nine.npy
[ "$(grep -o 'real\.npy' err | wc -l)" = 1 ] || bad "the file is named twice: $(cat err)"
works shelf build ten --device cpu:1 --keys good.npy --values real.npy --scheme slab
says inserted 1
npy half.npy "'<f2'"
fails "^heddle: half.npy holds elements of type '<f2'; little-endian u4, i4, f4, u8, i8, f8" shelf build nine --keys half.npy
npy rows.npy "[('a', '<f8'), ('b', '<i4')]"
fails "^heddle: rows.npy is no NumPy file of one column: it has more than a number in a row$" \
    shelf build nine --keys rows.npy
printf '\223NUMPY\001' > short.npy
fails "^heddle: short.npy is no NumPy file of one column" shelf build nine --keys short.npy
echo 'a text, not numbers of any kind' > text.npy
fails "^heddle: text.npy is named as a NumPy file" shelf build nine --keys text.npy
grep -q 'table' err && bad "a column is called a table: $(cat err)"
[ ! -e nine ] || bad "a shelf without keys was made"

# The bar begins at the left end and ends at the right one, whatever phases a call has.
if script -qec true /dev/null > out 2> err; then
    for call in 'build bar --keys half.bin --values half.bin --scheme slab' 'find bar --keys half.bin --found f.bin' \
        'count bar --keys half.bin --matches m.bin' 'export bar --keys all.bin --values v.bin' 'validate bar' \
        'erase bar --keys half.bin' 'find bar --keys half.bin --found f.bin --memory 64Ki'; do
        script -qec "\"$HEDDLE\" shelf $call --device cpu:1" /dev/null | tr '\r' '\n' |
            sed -nE 's/.*\] +([0-9]+) %.*/\1/p' > out
        [ "$(sed -n 1p out)" -lt 20 ] || bad "the bar of '$call' begins at $(sed -n 1p out) %"
        [ "$(tail -n 1 out)" = 100 ] || bad "the bar of '$call' ends at $(tail -n 1 out) %"
        sort -n -c out 2> err || bad "the bar of '$call' goes back"
    done
fi
works help shelf
works help bench-shelf
works help bench shelf

works bench shelf --keys 2^15 --device cpu:1 --directory "$work"
[ "$(grep -c 'yes$' out)" = 6 ] || bad "bench shelf has other than six verified rows"
works bench shelf --container multimap --copies 5 --keys 2^14 --shares 2,32 --device cpu:1 \
    --directory "$work" --format csv
[ "$(grep -c ',true$' out)" = 4 ] || bad "bench shelf has other than four verified rows"
grep -q '^# command: heddle bench shelf --container multimap ' out || bad "bench shelf has no command in its head"
[ "$(grep -v '^#' out | head -n 1)" = "$(echo device bench share budget op n copies key_bits value_bits ratio \
    parts peak read written spilled sort_ms work_ms deliver_ms mops ms verified | tr ' ' ,)" ] ||
    bad "bench shelf has another head: $(head -n 5 out)"
works bench shelf --keys 2^13 --shares 2 --device cpu:1 --directory "$work" --format json --repeat 3
[ "$(grep -c '^{"device": "cpu:1", "bench": "shelf", "share": 2, .*"verified": true}$' out)" = 2 ] ||
    bad "bench shelf has no two objects: $(cat out)"
works bench shelf --keys 2^13 --shares 2 --device cpu:1 --directory "$work" --no-verify
[ "$(grep -c ' no$' out)" = 2 ] || bad "bench shelf does not say that it has not verified"
fails "keys takes counts" bench shelf --keys 0
fails "shares takes numbers from 1 on" bench shelf --shares 1,x
fails "no option '--nothing'" bench shelf --nothing 1
# Refused before a line is printed.
for wrong in "--scheme cuckoo --container multimap" "--keys 1000 --copies 2000" "--keys 2^31,2^32" "--device cuda:99" \
    "--directory missing"; do
    # shellcheck disable=SC2086
    fails "^heddle: bench: " bench shelf $wrong
    [ ! -s out ] || bad "bench shelf $wrong is refused, but prints: $(cat out)"
done
[ -z "$(find . -maxdepth 1 -name 'heddle_bench*')" ] || bad "bench shelf leaves files behind"
exit $failed
