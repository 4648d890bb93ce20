#!/usr/bin/env bash
# test.sh [plain|asan|tsan ...]: builds and tests, in separate trees,
#   plain  the whole library
#   asan   a few tables with the address and undefined behaviour sanitizers: all tests, quick
#   tsan   one table of every width, scalar, with the thread sanitizer: the tests whose threads
#          write to one table, quick, with two threads; skipped where scripts/thread_sanitizer.sh finds no clang for it
# All of them unless told; a failure does not keep the next from running.
#
# Variables: JOBS (compilers at a time), ASAN_INSTANCES and TSAN_INSTANCES (regexes of the tables),
# TSAN_TESTS (names of tests), TSAN_CC (its compiler, clang unless told), UBSAN_OPTIONS and
# TSAN_OPTIONS (go before what is needed here).
set -uo pipefail
cd "$(dirname "$0")/.." || exit
jobs=${JOBS:-$(nproc)}
# Every key and value width in one bucket size; one slot, and a bucket that is less than a vector. Of
# iceberg, which has larger buckets, every kind of slot; claimed by way of BUSY. Windows of 16, as open
# multimaps have them.
asan_tables=${ASAN_INSTANCES:-'_b8$|k32_v32_b1$|k64_v64_b4$|iceberg_k(32|64_v32|64_v64)_b16$|iceberg_k32_v32_b32$|open_k32_v32_b16$'}
tsan_tables=${TSAN_INSTANCES:-'_b8$|iceberg_k64_v32_b16$'}
tsan_tests=${TSAN_TESTS:-concurrent insert erase random_ops full regions insert_more join graph_contents filter exchange local_exchange group mixed slab_room slab_pool slab_batch_32_32 slab_batch_64_64}

# Older sanitizers cannot place their shadow memory under newer kernels' address randomisation.
fixed_addresses=
if setarch -R true 2> /dev/null; then fixed_addresses="setarch -R"; fi

# suite DIR "TARGETS" "CTEST OPTIONS" CMAKE OPTIONS...: no targets are all of them
suite()
{
    local dir=$1 targets=$2 ctest_options=$3 said
    shift 3
    said=$(scripts/configure.sh "$dir" -DHEDDLE_TESTS=ON "$@" 2>&1) || { echo "$said"; return 1; }
    grep -E '^-- (CUDA engine|Compiled tables)' <<< "$said"
    # Word splitting of the lists is meant.
    # shellcheck disable=SC2086
    cmake --build "$dir" -j "$jobs" ${targets:+--target $targets} &&
        $launcher ctest --test-dir "$dir" --output-on-failure --no-tests=error -j 2 $ctest_options
}

# Where no GPU is, kernels are compiled to see that they compile: for one architecture.
plain()
{
    local kernels=
    [ -e /dev/nvidiactl ] || kernels=-DCMAKE_CUDA_ARCHITECTURES=90-real
    # shellcheck disable=SC2086
    suite build "" "" $kernels ${CMAKE_OPTIONS:-}
}

asan()
{
    launcher=$fixed_addresses
    UBSAN_OPTIONS="${UBSAN_OPTIONS:-}:print_stacktrace=1" HEDDLE_TEST_QUICK=1 \
        suite build-asan "" "" \
        -DCMAKE_BUILD_TYPE=Debug -DHEDDLE_SANITIZE="address;undefined" -DHEDDLE_CUDA=OFF \
        -DHEDDLE_INSTANCES="$asan_tables"
}

tsan()
{
    local tools cc archer names targets
    if ! tools=$(scripts/thread_sanitizer.sh 2>&1); then
        echo "tsan: SKIPPED: $tools"
        skipped+=("tsan ($tools)")
        return 0
    fi
    { read -r cc; read -r archer; } <<< "$tools"
    launcher=$fixed_addresses
    # CMake forgets every option of a tree whose compiler changes, the sanitizer with them.
    grep -qsx "CMAKE_C_COMPILER:[A-Z]*=$cc" build-tsan/CMakeCache.txt || rm -rf build-tsan
    # shellcheck disable=SC2086
    names=$(printf '%s|' $tsan_tests) targets=$(printf 'test_%s ' $tsan_tests)
    local options=ignore_noninstrumented_modules=1:halt_on_error=1
    OMP_TOOL_LIBRARIES=$archer TSAN_OPTIONS="${TSAN_OPTIONS:-}:$options" HEDDLE_TEST_QUICK=1 \
        HEDDLE_TEST_DEVICE=cpu:2 \
        suite build-tsan "$targets" "-R ^(${names%|})\$" \
        -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_BUILD_TYPE=Debug -DHEDDLE_SANITIZE=thread -DHEDDLE_CUDA=OFF \
        -DHEDDLE_INSTANCES="$tsan_tables"
}

failed=() skipped=()
for step in "${@:-plain asan tsan}"; do
    for name in $step; do
        launcher=
        started=$SECONDS
        echo "=== $name"
        "$name" || failed+=("$name")
        echo "=== $name: $((SECONDS - started)) s"
    done
done
[ ${#skipped[@]} = 0 ] || echo "SKIPPED: ${skipped[*]}"
[ ${#failed[@]} = 0 ] || { echo "FAILED: ${failed[*]}"; exit 1; }
[ ${#skipped[@]} = 0 ] && echo "All tests passed." || echo "All other tests passed."
