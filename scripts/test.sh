#!/usr/bin/env bash
# test.sh [plain|asan|tsan ...]: builds and tests, in separate trees,
#   plain  the whole library
#   asan   a few tables with the address and undefined behaviour sanitizers
#   tsan   the same tables, scalar, with the thread sanitizer: only the tests that share a table
# All of them unless told; a failure does not keep the next from running.
#
# Variables: JOBS (compilers at a time), SANITIZE_INSTANCES (regex of the tables in the sanitizer
# builds), TSAN_TESTS (regex of test names), TSAN_CC (its compiler).
set -uo pipefail
cd "$(dirname "$0")/.." || exit
jobs=${JOBS:-$(nproc)}
# Every key and value width, in the plain bucket size and in the one that has only one slot.
tables=${SANITIZE_INSTANCES:-'_b8$|_b1$'}
tsan_tests=${TSAN_TESTS:-'concurrent|insert'}
tsan_cc=$(command -v "${TSAN_CC:-${CC:-cc}}")

# suite DIR "CTEST OPTIONS" CMAKE OPTIONS...
suite()
{
    local dir=$1 ctest_options=$2 said
    shift 2
    said=$(scripts/configure.sh "$dir" -DHEDDLE_TESTS=ON "$@" 2>&1) || { echo "$said"; return 1; }
    grep -E '^-- (CUDA engine|Compiled tables)' <<< "$said"
    # Word splitting of the options is meant.
    # shellcheck disable=SC2086
    cmake --build "$dir" -j "$jobs" &&
        $launcher ctest --test-dir "$dir" --output-on-failure --no-tests=error -j 2 $ctest_options
}

# shellcheck disable=SC2086
plain() { suite build "" ${CMAKE_OPTIONS:-}; }

asan()
{
    UBSAN_OPTIONS=print_stacktrace=1 HEDDLE_TEST_QUICK=1 suite build-asan "" \
        -DCMAKE_BUILD_TYPE=Debug -DHEDDLE_SANITIZE="address;undefined" -DHEDDLE_CUDA=OFF \
        -DHEDDLE_INSTANCES="$tables"
}

tsan()
{
    # Older runtimes of the thread sanitizer cannot place their shadow memory under the address
    # randomisation of newer kernels.
    setarch -R true 2> /dev/null && launcher="setarch -R"
    # CMake forgets every option of a tree whose compiler changes, the sanitizer with them.
    grep -qsx "CMAKE_C_COMPILER:[A-Z]*=$tsan_cc" build-tsan/CMakeCache.txt || rm -rf build-tsan
    HEDDLE_TEST_QUICK=1 suite build-tsan "-R $tsan_tests" \
        -DCMAKE_C_COMPILER="$tsan_cc" \
        -DCMAKE_BUILD_TYPE=Debug -DHEDDLE_SANITIZE=thread -DHEDDLE_CUDA=OFF \
        -DHEDDLE_INSTANCES="$tables"
}

failed=()
for step in "${@:-plain asan tsan}"; do
    for name in $step; do
        launcher=
        started=$SECONDS
        echo "=== $name"
        "$name" || failed+=("$name")
        echo "=== $name: $((SECONDS - started)) s"
    done
done
[ ${#failed[@]} = 0 ] || { echo "FAILED: ${failed[*]}"; exit 1; }
echo "All tests passed."
