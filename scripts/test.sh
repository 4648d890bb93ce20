#!/usr/bin/env bash
# test.sh [quick|python|full|kernels|asan|tsan ...]: builds and tests, in a tree for each,
#   quick    a table of every kind, small sizes                                          build-test/
#   python   the Python package, with the library of quick; skipped where python3 or what the tests
#            need cannot be had                                                        build-python/
#   full     all tables, all sizes, everything emulated                                  build-full/
#   kernels  that the CUDA engine and the tests of it compile, where no GPU is, and that
#            the library stays small                                                  build-kernels/
#   asan     some tables with the address and undefined behaviour sanitizers, small sizes  build-asan/
#   tsan     one table of every width, scalar, with the thread sanitizer: the tests whose threads
#            write to one table, small sizes, two threads; skipped where scripts/thread_sanitizer.sh
#            finds no clang for it                                                       build-tsan/
# `make test` is quick and python, `make check` the others. A failure does not keep the next from running. Where
# a GPU is, quick and full have the CUDA engine and test it.
#
# Variables: V=1 (shows what the compilers and tests say), JOBS (compilers at a time), CMAKE_OPTIONS (of
# quick and full), QUICK_INSTANCES, ASAN_INSTANCES and TSAN_INSTANCES (regexes of the tables), TSAN_TESTS
# (names of tests), TSAN_CC (its compiler, clang unless told), UBSAN_OPTIONS and TSAN_OPTIONS (go
# before what is needed here).
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/stages.sh
jobs=${JOBS:-$(nproc)}
# Every key and value width in one bucket size of two schemes, and of iceberg, which has larger buckets,
# every kind of slot; windows of 16, as open multimaps have them.
quick_tables=${QUICK_INSTANCES:-'_b8$|open_k32_v32_b16$|iceberg_k(32|64_v32|64_v64)_b16$|iceberg_k32_v32_b32$'}
# One slot besides, and a bucket that is less than a vector.
asan_tables=${ASAN_INSTANCES:-"$quick_tables|k32_v32_b1\$|k64_v64_b4\$"}
tsan_tables=${TSAN_INSTANCES:-'_b8$|iceberg_k64_v32_b16$'}
tsan_tests=${TSAN_TESTS:-concurrent insert erase random_ops full regions insert_more join graph_contents filter exchange local_exchange cluster mixed slab_room slab_pool slab_batch_32_32 slab_batch_64_64}

# Older sanitizers cannot place their shadow memory under newer kernels' address randomisation.
fixed_addresses=
if setarch -R true 2> /dev/null; then fixed_addresses="setarch -R"; fi

# On a GPU of this machine, or not at all.
cuda_here=-DHEDDLE_CUDA=OFF
if [ -e /dev/nvidiactl ]; then cuda_here=-DHEDDLE_CUDA=AUTO; fi

# suite DIR "TARGETS" "CTEST OPTIONS" CMAKE OPTIONS...: no targets are all of them
suite()
{
    local dir=$1 targets=$2 ctest_options=$3
    shift 3
    # Word splitting of the lists is meant.
    # shellcheck disable=SC2086
    stage "$name, configure" scripts/configure.sh "$dir" -DHEDDLE_TESTS=ON "$@" &&
        stage "$name, build" cmake --build "$dir" -j "$jobs" ${targets:+--target $targets} &&
        stage "$name, test" $launcher ctest --test-dir "$dir" --output-on-failure --no-tests=error \
            -j 2 $ctest_options
}

quick()
{
    # shellcheck disable=SC2086
    HEDDLE_TEST_QUICK=1 suite build-test "" "" $cuda_here -DHEDDLE_INSTANCES="$quick_tables" \
        -DHEDDLE_EMULATED=few ${CMAKE_OPTIONS:-}
}

python()
{
    local status began=$SECONDS
    scripts/python_test.sh setup
    status=$?
    if [ $status = 77 ]; then
        skipped+=("python (no python3 3.10 with venv, or not its packages)")
        return 0
    fi
    stages_done=$((stages_done + 1))
    echo "[$stages_done/$stages_all] $name, set up: $(clock $((SECONDS - began)))$(stages_left 100)"
    [ $status = 0 ] && stage "$name, test" scripts/python_test.sh test && stage "$name, types" scripts/python_test.sh types
}

full()
{
    # shellcheck disable=SC2086
    suite build-full "" "" $cuda_here -DHEDDLE_TABLES=full ${CMAKE_OPTIONS:-}
}

kernels()
{
    if [ $cuda_here != -DHEDDLE_CUDA=OFF ]; then return 0; fi
    if ! command -v nvcc > /dev/null && [ ! -x /usr/local/cuda/bin/nvcc ] && [ -z "${CUDACXX:-}" ]; then
        skipped+=("kernels (no nvcc)")
        return 0
    fi
    suite build-kernels "heddle_tool heddle_library heddle_device_code cuda_tests" "-R ^(exports|size)\$" \
        -DHEDDLE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-real
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

# Seconds that the three stages of each step took on two cores, for the estimates.
declare -A usual=([quick]="2 210 240" [python]="60 60 20" [full]="2 420 500" [kernels]="5 600 2" [asan]="2 200 250" [tsan]="2 100 200")

failed=() skipped=()
# Word splitting of the arguments is meant.
# shellcheck disable=SC2206
steps=(${@:-quick python full kernels asan tsan})
takes=()
for step in "${steps[@]}"; do takes+=(${usual[$step]:-60 60 60}); done
stages_of $((3 * ${#steps[@]})) "${takes[@]}"
for i in "${!steps[@]}"; do
    name=${steps[i]} launcher=
    stages_done=$((3 * i))
    "$name" || failed+=("$name")
done
[ ${#skipped[@]} = 0 ] || echo "Skipped: ${skipped[*]}"
[ ${#failed[@]} = 0 ] || { echo "FAILED: ${failed[*]}"; exit 1; }
[ ${#skipped[@]} = 0 ] && echo "All tests passed in $(clock "$SECONDS")." ||
    echo "All other tests passed in $(clock "$SECONDS")."
