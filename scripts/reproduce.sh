#!/usr/bin/env bash
# reproduce.sh: whether two builds of this tree, in folders with different names and with different numbers of compilers at
# a time, give the same bytes. Prints the SHA-256 of each file, and exits with 1 when one differs.
#
# Variables: CMAKE_OPTIONS (the tables, say), BUILD_DIR (build-reproduce), V.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh
dir=$PWD/${BUILD_DIR:-build-reproduce}
rm -rf "$dir"
stages_of 4
build() # FOLDER COMPILERS
{
    mkdir -p "$dir/$1"
    git ls-files -z | xargs -0 cp --parents -t "$dir/$1"
    # Word splitting of the options is meant.
    # shellcheck disable=SC2086
    stage "${1##*/}, configure" "$dir/$1/scripts/configure.sh" "$dir/$1/out" -DHEDDLE_TESTS=OFF ${CMAKE_OPTIONS:-}
    stage "${1##*/}, build" cmake --build "$dir/$1/out" -j "$2" --target heddle_installed
}
build first "$(nproc)"
build somewhere/else/second 1
cd "$dir"
failed=0
for file in $(cd first/out && find . -maxdepth 1 -type f \( -name 'lib*' -o -name heddle -o -name heddle-mpi -o -name '*.ptx' \
    -o -name '*.ltoir' \) | sort); do
    one=$(sha256sum < "first/out/$file") two=$(sha256sum < "somewhere/else/second/out/$file")
    if [ "$one" = "$two" ]; then
        echo "same       ${one%% *}  ${file#./}"
    else
        echo "DIFFERENT  ${file#./}"
        failed=1
    fi
done
exit $failed
