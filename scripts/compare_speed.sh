#!/usr/bin/env bash
# compare_speed.sh OLD NEW [DEVICE [ROUNDS [LOG2 ...]]]: whether the program NEW (build/heddle) is as fast as the program
# OLD, operation by operation. Both are run in turns on the same machine, ROUNDS times each (7), so that what disturbs the
# machine disturbs both. A row gives the rate of both (median, million a second), the ratio new / old (median of the
# rounds' own ratios) and the smallest and largest of these ratios. Exits with 1 when an operation is slower in every
# round and by more than a twelfth in the median, or when a run of either program fails. LIMIT=SECONDS begins no further
# round after that time.
#
#   make check-speed REF=v0.1.0        builds the reference in build-speed/ and calls this
set -uo pipefail
old=${1:?usage: compare_speed.sh OLD NEW [DEVICE [ROUNDS [LOG2 ...]]]} new=${2:?}
device=${3:-cpu} rounds=${4:-7}
sizes=("${@:5}")
[ ${#sizes[@]} != 0 ] || sizes=(12 16 20 23)
keys=$(printf ',2^%s' "${sizes[@]}") keys=${keys:1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Two members of a cluster: half of a small CPU each, or twice the one GPU.
case $device in cpu*) members=cpu:1,cpu:1 ;; *) members=$device,$device ;; esac

# A benchmark's subject and options, one a line; @ stands for all numbers of keys or rows, % for one after the other.
suite()
{
    cat << END
map --keys @ --load 0.8 --op build,insert,find,miss,erase
map --keys @ --load 0.8 --op build,find,miss --key-bits 64 --value-bits 64
map --keys @ --load 0.8 --op build,find,miss --scheme open --bucket 8
map --keys @ --load 0.8 --op build,find,miss --scheme iceberg --bucket 16
map --keys @ --load 0.6 --op build,find,miss,erase --scheme slab
set --keys @ --load 0.8 --op build,find,miss --bucket 8
counter --keys @ --copies 4
multimap --keys @ --copies 4 --scheme open --bucket 8
multimap --keys @ --copies 4 --scheme hashgraph
multimap --keys @ --copies 4 --scheme bucket_list
graph --keys @ --copies 4
join --keys @
group --keys @
unique --keys @
filter --keys @
mixed --keys % --batch % --op mixed,grow --updates 40
shelf --keys % --shares 4 --directory $work
dist --keys % --op build,find,join,group --devices $members --single none
END
}
# The same with % replaced.
lines()
{
    suite | while read -r line; do
        case $line in
        *%*) for size in "${sizes[@]}"; do echo "${line//%/2^$size}"; done ;;
        *) echo "$line" ;;
        esac
    done
}

broken=0
# measure PROGRAM ROUND SIDE LINE: appends "operation<TAB>round<TAB>rate" lines, of all sizes; sets `broken` when a run failed.
measure()
{
    local where="--device $device"
    case $4 in *--devices*) where= ;; esac
    # Word splitting of the options is meant.
    # shellcheck disable=SC2086
    "$1" bench ${4//@/$keys} $where --repeat 5 --format csv 2> "$work/error" |
        awk -F, -v round="$2" '
            /^#/ { next }
            !seen { for (i = 1; i <= NF; i++) { at[$i] = i; name[i] = $i } seen = 1; next }
            {
                if ($at["verified"] != "true") { print "wrong answer: " $0 > "/dev/stderr"; wrong = 1; next }
                what = ""
                for (i = 2; i <= NF; i++)
                    if (name[i] !~ /mops|ms$|roof|probes|verified|bytes|filled|failed|rate|capacity|hit/ &&
                        name[i] !~ /^(budget|parts|peak|read|written|spilled|looks|memory_use|ratio|speedup)$/ &&
                        name[i] !~ /^(partition|reorganise|exchange|work|imbalance|row_imbalance)$/)
                        what = what " " $i
                print what "\t" round "\t" $at["mops"]
            }
            END { exit wrong }' >> "$work/$3" && return
    # A program that refuses a line, or answers wrongly, is no faster for it.
    echo "$3: bench ${4//@/$keys}: $(cat "$work/error")" >&2
    broken=1
}

# The two programs are beside each other for every line: a shared machine changes its pace within seconds.
for ((round = 1; round <= rounds; round++)); do
    ((SECONDS <= ${LIMIT:-$SECONDS})) || { echo "the time was up after $((round - 1)) rounds" >&2; break; }
    [ ! -t 2 ] || printf '\rround %d of %d' "$round" "$rounds" >&2
    while read -r line; do
        if ((round % 2)); then order="old new"; else order="new old"; fi
        for side in $order; do measure "${!side}" $round $side "$line"; done
    done < <(lines)
done
[ ! -t 2 ] || printf '\r' >&2

echo "operation,old_mops,new_mops,ratio,lowest,highest"
awk -F'\t' -v old_file="$work/old" '
    function median(list, n,    i, j, t) {
        for (i = 2; i <= n; i++) {
            t = list[i]
            for (j = i - 1; j > 0 && list[j] > t; j--) list[j + 1] = list[j]
            list[j + 1] = t
        }
        return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
    }
    FILENAME == old_file { old[$1, $2] = $3; next }
    ($1, $2) in old && old[$1, $2] > 0 {
        if (!($1 in count)) order[++operations] = $1
        n = ++count[$1]
        olds[$1, n] = old[$1, $2]; news[$1, n] = $3; ratios[$1, n] = $3 / old[$1, $2]
    }
    END {
        for (o = 1; o <= operations; o++) {
            what = order[o]; n = count[what]
            for (i = 1; i <= n; i++) { a[i] = olds[what, i]; b[i] = news[what, i]; r[i] = ratios[what, i] }
            ratio = median(r, n)
            text = what; sub(/^ /, "", text)
            printf "%s,%.2f,%.2f,%.3f,%.3f,%.3f\n", text, median(a, n), median(b, n), ratio, r[1], r[n]
            if (ratio < 11 / 12 && r[n] < 1) slower = slower "\n  " text " (" sprintf("%.3f", ratio) ")"
        }
        if (operations == 0) { print "nothing was measured" > "/dev/stderr"; exit 1 }
        if (slower != "") { print "slower in every round:" slower > "/dev/stderr"; exit 1 }
    }' "$work/old" "$work/new" || broken=1
exit "$broken"
