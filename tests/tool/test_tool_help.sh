#!/bin/sh
# test_tool_help.sh: what `heddle help` says of a command is what the command takes: every option it shows, every word it
# shows of an option, and nothing else. All commands answer --help, -h, --version and -V.
: "${HEDDLE:?the path of the tool}"
header=$(cd "$(dirname "$0")/../../include/heddle" && pwd)/table_options.h
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

bad() {
    echo "FAILED: $*"
    failed=1
}

# refused TEXT ARGUMENTS...: exit status 2 and one line on stderr, which has the text.
refused() {
    text=$1
    shift
    status=0
    "$HEDDLE" "$@" > "$work/out" 2> "$work/err" || status=$?
    [ $status = 2 ] || bad "heddle $* exits $status, not 2"
    [ "$(grep -c '' "$work/err")" = 1 ] || bad "heddle $* says other than one line"
    [ ! -s "$work/out" ] || bad "heddle $* is refused and prints a result"
    grep -qF -- "$text" "$work/err" || bad "heddle $*: '$(cat "$work/err")' does not say '$text'"
}

# Whether the command before complained about the option: then it is no option, or the word no word.
complained() {
    grep -qF -- "$1 takes" "$work/err" || grep -qF -- "'$1'" "$work/err"
}

# The words that help shows of an option, in a list below it or behind the last colon; capitals are made numbers.
words_of() {
    awk -v option="$1" '
        $1 == option || index($1, option "[=") == 1 { inside = 1; text = ""; for (i = 2; i <= NF; i++) text = text " " $i; next }
        inside && /^                        / { text = text " " $0; next }
        inside && /^      [a-z]/ { explained = explained " " $1; next }
        inside && /^       / { next }
        { inside = 0 }
        END {
            if (explained != "") { print explained; exit }
            sub(/ \[[^]]*\]$/, "", text)
            if (text !~ /: [a-z0-9_:A-Z]+(, [a-z0-9_:A-Z]+)*$/) exit
            sub(/.*: /, "", text); gsub(/,/, "", text); print text
        }' "$work/help" | sed -E 's/PERCENT|THREADS/2/g; s/:[SN]/:1/g'
}

"$HEDDLE" help --list | sed 1d > "$work/commands"
[ "$(wc -l < "$work/commands")" -gt 20 ] || bad "help --list has few commands"
while read -r command; do
    # The names of commands are words.
    # shellcheck disable=SC2086
    {
    "$HEDDLE" help $command > "$work/help" 2> "$work/err" || bad "help $command fails"
    for way in --help -h; do
        "$HEDDLE" $command $way < /dev/null 2>&1 | cmp -s - "$work/help" || bad "$command $way is not help $command"
    done
    for way in --version -V; do
        "$HEDDLE" $command $way | grep -qx 'heddle [0-9.]*' || bad "$command $way"
    done
    [ "$(awk 'length > 100' "$work/help" | wc -l)" = 0 ] || bad "help $command is wider than 100 columns"
    grep -qF "heddle $command" "$work/help" || bad "help $command does not name it"
    case $command in bench | shelf) continue ;; esac
    refused "'--no-such-option'" $command --no-such-option
    }
    sed -nE 's/^  (--[a-z-]+).*/\1/p' "$work/help" > "$work/options"
    while read -r option; do
        value=$(sed -nE "s/^  $option(\[=| )([A-Z]+).*/\2/p" "$work/help")
        # shellcheck disable=SC2086
        if [ -z "$value" ]; then
            refused "$option takes no value" $command $option=1
            refused "'--no-such-option'" $command $option --no-such-option
            continue
        fi
        words=$(words_of "$option")
        [ -n "$words" ] || continue
        for word in $words; do
            # shellcheck disable=SC2086
            refused "'--no-such-option'" $command "$option=$word" --no-such-option
            if complained "$option"; then bad "$command $option $word is in its help, and refused"; fi
        done
        # shellcheck disable=SC2086
        refused "$option takes" $command "$option=strange"
        echo "$command $option: $words" >> "$work/all"
    done < "$work/options"
done < "$work/commands"

# Every scheme and container of the interface is in some list.
for name in $(sed -nE 's/#define HEDDLE_(SCHEME|CONTAINER)_([A-Z_]+) .*/\2/p' "$header" | tr 'A-Z' 'a-z'); do
    grep -qw "$name" "$work/all" || bad "no command takes '$name'"
done
grep -q '^bench multimap --scheme:.* hashgraph .*bucket_list' "$work/all" || bad "schemes of multimaps: $(cat "$work/all")"
grep -q '^bench dist --distribution:.* hot:2' "$work/all" || bad "explained words were not read"

"$HEDDLE" help bench-map | cmp -s - "$work/help" && bad "help bench-map is the last command's"
"$HEDDLE" help bench map > "$work/help"
"$HEDDLE" help bench-map | cmp -s - "$work/help" || bad "help bench-map is not help bench map"
refused "no help on 'weave'" help weave
refused "no help on 'bench weave'" help bench weave
refused "there is no command 'weave'" weave
refused "name one of map, set" bench
refused "not 'weave'" shelf weave
refused "DIRECTORY is missing" shelf stats
refused "CONTAINER is missing: map, set, multimap, counter, filter" advise
refused "is followed by a count like 2^26" advise map --keys
status=0
"$HEDDLE" > "$work/out" 2> "$work/err" || status=$?
[ $status = 2 ] && [ ! -s "$work/out" ] && grep -q '^Commands:' "$work/err" || bad "heddle alone"
exit $failed
