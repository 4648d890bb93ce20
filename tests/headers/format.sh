#!/bin/sh
# format.sh [-i]: the sources are as clang-format 14 writes them. Other versions write them differently: where there is no 14
# the test is skipped (77). With -i the files are rewritten.
set -eu
cd "$(dirname "$0")/../.."
for formatter in clang-format-14 clang-format ""; do
    case $("${formatter:-true}" --version 2> /dev/null || true) in *" 14."*) break ;; esac
done
[ -n "$formatter" ] || { echo "there is no clang-format 14"; exit 77; }
files=$(find src tests tools examples -type f ! -name 'interface_*.h' \
    \( -name '*.[ch]' -o -name '*.inl' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' \))
# The names have no spaces.
# shellcheck disable=SC2086
case ${1:-} in
-i) exec "$formatter" -i $files ;;
*) exec "$formatter" --dry-run -Werror $files ;;
esac
