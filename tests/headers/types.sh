#!/bin/sh
# types.sh CC CXX: typed.h and its neighbours take arrays of the right types, and refuse all others: every line of types.c
# with a typed call, with options or with a column compiles, and none does when the keys, or the values that it has, are of a
# wrong type.
set -eu
cd "$(dirname "$0")/../.."
source=tests/headers/types.c
said=$(mktemp)
trap 'rm -f "$said"' EXIT
failed=0
compile()
{
    compiler=$1 language=$2
    shift 2
    case $("$compiler" --version) in *clang*) set -- "$@" -ferror-limit=0 -Wno-unevaluated-expression ;; esac
    "$compiler" "-std=$language" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude "$@" "$source"
}
for macro in $(sed -nE 's/^#define (heddle_[a-z_]*[a-z]|HEDDLE_[A-Z_]*OPTIONS|HEDDLE_COLUMN_OF)\(.*/\1/p' include/heddle/typed*.h); do
    grep -q "$macro(" $source || { echo "$macro is not in $source"; failed=1; }
done
for language in c11 c++17; do
    case $language in c11) compiler=$1 as=c ;; *) compiler=$2 as=c++ ;; esac
    compile "$compiler" $language -x $as || failed=1
    for wrong in KEYS VALUES COLUMNS WIDTHS; do
        case $wrong in
        KEYS) kind='[(,] ?(asked|out|key)[,)]' ;;
        VALUES) kind='[(,] ?(values|value)[,)]' ;;
        COLUMNS) kind='[()]column[,)]' ;;
        *) kind=' others,' ;;
        esac
        ! compile "$compiler" $language -x $as -DWRONG_$wrong > "$said" 2>&1 || failed=1
        for line in $(grep -nE "(heddle_[a-z_]+|OPTIONS|COLUMN_OF)\(.*" $source | grep -E "$kind" | cut -d: -f1); do
            grep -q "types.c:$line:" "$said" ||
                { echo "$language, WRONG_$wrong: this compiles: $(sed -n "$line"p $source)"; failed=1; }
        done
    done
done
[ $failed = 0 ]
