#!/usr/bin/env bash
# check_abi.sh [REF]: whether programs that were compiled with an earlier header still run with this library.
#
# Without REF: the public headers and the exported names against the baselines in tests/headers (abi.sh), and a program
# that was compiled with the first header runs. With REF, a commit or tag, also its library against this one, by libabigail's
# abidiff (Debian: abigail-tools) where that is there. Exits with 1 on a break; HEDDLE_ABI_VERSION has to be raised then.
#
# Variables: BUILD_DIR (build-abi), JOBS, V.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh
ref=${1:-} dir=${BUILD_DIR:-build-abi} jobs=${JOBS:-$(nproc)}
few=(-DHEDDLE_CUDA=OFF -DHEDDLE_TESTS=ON "-DHEDDLE_INSTANCES=^(cuckoo|open)_k32(_v32|_v64)?_b8\$" -DCMAKE_C_FLAGS=-g)
stages_of "$([ -n "$ref" ] && echo 6 || echo 3)"
stage "configure" scripts/configure.sh "$dir" "${few[@]}"
stage "build" cmake --build "$dir" -j "$jobs" --target heddle old_program
stage "baselines" ctest --test-dir "$dir" --output-on-failure --no-tests=error -R '^(header_abi|old_program)$'
[ -n "$ref" ] || exit 0
if ! command -v abidiff > /dev/null; then
    echo "abidiff is missing (Debian: abigail-tools): the library of $ref is not compared"
    exit 0
fi
rm -rf "$dir/ref" && mkdir -p "$dir/ref"
git archive "$ref" | tar -x -C "$dir/ref"
stage "$ref, configure" "$dir/ref/scripts/configure.sh" "$dir/ref/out" "${few[@]}" -DHEDDLE_TESTS=OFF
stage "$ref, build" cmake --build "$dir/ref/out" -j "$jobs" --target heddle
# Functions and variables that were added break nothing. HEDDLE_PRIVATE_ symbols are for the tool of the same build.
stage "abidiff" abidiff --no-added-syms --headers-dir1 "$dir/ref/include" --headers-dir2 include \
    --drop-private-types "$dir/ref/out/libheddle.so" "$dir/libheddle.so"
