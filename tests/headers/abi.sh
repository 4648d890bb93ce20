#!/bin/sh
# abi.sh CC LIBRARY: the ABI that a compiled program relies on is the one that is committed: types, sizes and
# offsets of all fields of public structs, values of public constants, the types of all functions, and the exported
# names.
#
# The baselines are abi_N.txt and symbols_N.txt, N being HEDDLE_ABI_VERSION. They may grow: a field at the
# end of a struct, a new constant or a new function is added to them. Any other change needs a new N, and
# baselines of its own. What is in unstable.h is no part of them. With `write` behind LIBRARY they are
# written anew.
#
# interface_N.h is the whole interface as it was when N was new, without comments. It never changes: old_program.c is
# compiled with it, and what it declares has to be declared so today. `first` behind LIBRARY writes it for a new N.
set -eu
cc=$1 library=$2 mode=${3:-compare}
here=$(cd "$(dirname "$0")" && pwd)
include=$here/../../include
version=$(sed -n 's/^#define HEDDLE_ABI_VERSION //p' "$include/heddle/heddle.h")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

headers=$(find "$include/heddle" -name '*.h' ! -name unstable.h ! -name mpi.h ! -name typed.h | sort)
without_comments()
{
    cat "$@" | awk '
        { text = text $0 "\n" }
        END {
            while ((i = index(text, "/*")) > 0) {
                rest = substr(text, i)
                text = substr(text, 1, i - 1) substr(rest, index(rest, "*/") + 2)
            }
            printf "%s", text
        }'
}
interface=$here/interface_$version.h
if [ "$mode" = first ]; then
    # In the order in which heddle.h includes them: table_options.h before its own text, the others behind. Of the typed
    # calls, which are macros, those headers that declare functions.
    others=$(sed -n 's,^#include <heddle/\(.*\)>$,\1,p' "$include/heddle/heddle.h" | grep -v -e table_options -e typed)
    others="$others typed_relations.h"
    # shellcheck disable=SC2086
    (cd "$include/heddle" && without_comments table_options.h heddle.h $others) |
        sed 's/[ \t]*$//' | grep -v -e '^$' -e '^#include <heddle/' > "$interface"
    exit 0
fi

# A program that prints them all, made of the headers' own text without its comments.
{
    printf '#include <heddle/heddle.h>\n#include <stdio.h>\n#include <string.h>\n'
    printf '#define CONSTANT(x) printf("%%s %%lld\\n", #x, (long long)(x))\n'
    printf '#define STRUCT(s) printf("%%s %%zu\\n", #s, sizeof(s))\n'
    printf '#define FIELD(s, f, t) printf("%%s.%%s %%zu %%zu %%s\\n", #s, #f, offsetof(s, f), '
    printf 'sizeof(((s *)0)->f), t)\nint main(void)\n{\n'
    # shellcheck disable=SC2086
    without_comments $headers | awk '
        /^#define HEDDLE_[A-Z0-9_]+ +[^ ]/ && split($0, word, / +/) >= 3 &&
            word[2] !~ /_(H|INIT|API|STRING)$/ && word[2] !~ /^HEDDLE_(API$|VERSION_)/ && word[3] !~ /^[{\\_]/ {
            print "    CONSTANT(" word[2] ");"
        }
        /^typedef struct heddle_[a-z_]+ \{/ { name = $3; print "    STRUCT(" name ");"; next }
        name != "" && /^\}/ { name = "" }
        name != "" && /;/ {
            type = field = $0
            sub(/(\[.*)?;.*/, "", field); sub(/.*[ *]/, "", field)
            sub(/^ */, "", type); sub(/;.*/, "", type)
            at = match(type, "[ *]" field "(\\[|$)")
            type = substr(type, 1, at) substr(type, at + length(field) + 1)
            sub(/ +$/, "", type); gsub(/ /, "_", type)
            print "    FIELD(" name ", " field ", \"" type "\");"
        }'
    printf '    return 0;\n}\n'
} > "$work/abi.c"
"$cc" -std=c11 -Wall -Werror -I"$include" "$work/abi.c" -o "$work/abi"
"$work/abi" | LC_ALL=C sort > "$work/abi.txt"
nm -D --defined-only "$library" | awk '$2 != "A" && $3 !~ /@HEDDLE_PRIVATE_/ { sub(/@.*/, "", $3); print $3 }' |
    grep -v -e '^heddle_cluster_open_over$' -e '^heddle_transport_timeout$' -e '^heddle_table_get_view$' | LC_ALL=C sort -u > "$work/symbols.txt"
[ "$(grep -c . "$work/abi.txt")" -gt 100 ] || { echo "the headers could not be read"; exit 1; }

# Declared twice, a function or a type has to be the same: the compiler says where the first interface differs.
{
    printf '#include <heddle/heddle.h>\n'
    awk '/^HEDDLE_API / || (/^typedef / && !/\{/) { on = 1 } on { print } /;$/ { on = 0 }' "$interface"
} > "$work/prototypes.c"
[ "$(grep -c '^HEDDLE_API' "$work/prototypes.c")" -gt 100 ] || { echo "$interface could not be read"; exit 1; }

failed=0
"$cc" -std=c11 -Wall -Werror -fsyntax-only -I"$include" "$work/prototypes.c" || failed=1
for what in abi symbols; do
    baseline=$here/${what}_$version.txt
    [ "$mode" = compare ] || cp "$work/$what.txt" "$baseline"
    diff -u "$baseline" "$work/$what.txt" || failed=1
done
[ $failed = 0 ] || echo "The ABI differs from version $version as committed: see the head of abi.sh"
exit $failed
