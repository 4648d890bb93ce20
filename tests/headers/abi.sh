#!/bin/sh
# abi.sh CC LIBRARY: the ABI that a compiled program relies on is the one that is committed: sizes and
# offsets of all fields of public structs, values of public constants, and the exported names.
#
# The baselines are abi_N.txt and symbols_N.txt, N being HEDDLE_ABI_VERSION. They may grow: a field at the
# end of a struct, a new constant or a new function is added to them. Any other change needs a new N, and
# baselines of its own. What is in unstable.h is no part of them. With `write` behind LIBRARY they are
# written anew.
set -eu
cc=$1 library=$2 mode=${3:-compare}
here=$(cd "$(dirname "$0")" && pwd)
include=$here/../../include
version=$(sed -n 's/^#define HEDDLE_ABI_VERSION //p' "$include/heddle/heddle.h")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

headers=$(find "$include/heddle" -name '*.h' ! -name unstable.h ! -name mpi.h ! -name typed.h | sort)
# A program that prints them all, made of the headers' own text without its comments.
{
    printf '#include <heddle/heddle.h>\n#include <stdio.h>\n#include <string.h>\n'
    printf '#define CONSTANT(x) printf("%%s %%lld\\n", #x, (long long)(x))\n'
    printf '#define STRUCT(s) printf("%%s %%zu\\n", #s, sizeof(s))\n'
    printf '#define FIELD(s, f) printf("%%s.%%s %%zu %%zu\\n", #s, #f, offsetof(s, f), '
    printf 'sizeof(((s *)0)->f))\nint main(void)\n{\n'
    # shellcheck disable=SC2086
    cat $headers | awk '
        { text = text $0 "\n" }
        END {
            while ((i = index(text, "/*")) > 0) {
                rest = substr(text, i)
                text = substr(text, 1, i - 1) substr(rest, index(rest, "*/") + 2)
            }
            count = split(text, line, "\n")
            for (i = 1; i <= count; i++) {
                if (line[i] ~ /^#define HEDDLE_[A-Z0-9_]+ +[^ ]/ && split(line[i], word, / +/) >= 3 &&
                    word[2] !~ /_(H|INIT|API|STRING)$/ && word[2] !~ /^HEDDLE_(API$|VERSION_)/ &&
                    word[3] !~ /^[{\\_]/)
                    print "    CONSTANT(" word[2] ");"
                if (line[i] ~ /^typedef struct heddle_[a-z_]+ \{/) {
                    split(line[i], word, / +/); name = word[3]
                    print "    STRUCT(" name ");"
                } else if (name != "" && line[i] ~ /^\}/) {
                    name = ""
                } else if (name != "" && line[i] ~ /;/) {
                    field = line[i]; sub(/(\[.*)?;.*/, "", field); sub(/.*[ *]/, "", field)
                    print "    FIELD(" name ", " field ");"
                }
            }
        }'
    printf '    return 0;\n}\n'
} > "$work/abi.c"
"$cc" -std=c11 -Wall -Werror -I"$include" "$work/abi.c" -o "$work/abi"
"$work/abi" | LC_ALL=C sort > "$work/abi.txt"
nm -D --defined-only "$library" | awk '$2 != "A" && $3 !~ /@HEDDLE_PRIVATE_/ { sub(/@.*/, "", $3); print $3 }' |
    grep -v -e '^heddle_cluster_open_over$' -e '^heddle_table_get_view$' | LC_ALL=C sort -u > "$work/symbols.txt"
[ "$(grep -c . "$work/abi.txt")" -gt 100 ] || { echo "the headers could not be read"; exit 1; }

failed=0
for what in abi symbols; do
    baseline=$here/${what}_$version.txt
    [ "$mode" = compare ] || cp "$work/$what.txt" "$baseline"
    diff -u "$baseline" "$work/$what.txt" || failed=1
done
[ $failed = 0 ] || echo "The ABI differs from version $version as committed: see the head of abi.sh"
exit $failed
