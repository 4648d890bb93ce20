#!/usr/bin/env bash
# fuzz.sh [NAME ...]: runs the fuzzers of tests/fuzz (all, or these) with libFuzzer, the address and undefined behaviour
# sanitizers and coverage, in build-fuzz/. It prints how many inputs each has run, where the files are that reach new
# code, and which share of the lines of every parser was run. Exits with 1 when something was found.
#
# A fuzzer begins with tests/fuzz/corpus/NAME and what earlier runs have kept in build-fuzz/corpus/NAME. What ends a fuzzer
# is kept in build-fuzz/found/NAME. Without clang the plain programs are run instead (tests/fuzz/plain_main.c), in build/.
#
# Variables: SECONDS_EACH (60), FUZZ_INSTANCES (regex of the tables), V=1 (shows what compilers and fuzzers say), JOBS,
# FUZZ_CC (clang), CSV (a file that a row for every fuzzer is added to), KEEP=1 (the kept files are merged into tests/fuzz/corpus).
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/stages.sh
jobs=${JOBS:-$(nproc)} seconds=${SECONDS_EACH:-60}
tables=${FUZZ_INSTANCES:-'_b8$|iceberg_k32_v32_b16$'}
# Kilobytes: no file of these sizes asks for 16 MB at a time. Operations sort in more.
declare -A length=([table_file]=2048 [filter_file]=2048 [shelf]=4096 [column_file]=1024 [npy]=512 [tiles]=1024
    [operations]=256 [command_line]=256)
declare -A block=([operations]=256 [tiles]=256 [command_line]=256)
all=(table_file filter_file shelf column_file npy operations tiles command_line)
names=("${@:-}")
if [ -z "${names[0]}" ]; then names=("${all[@]}"); fi
for name in "${names[@]}"; do
    if [ -z "${length[$name]:-}" ]; then echo "There is no fuzzer $name; there are ${all[*]}."; exit 2; fi
done
# What is parsed, as docs/file_format.md and the manual pages describe it.
parsers=(src/host/file.c src/table/save.c src/filter/save.c src/shelf/manifest.c src/shelf/parts.c src/shelf/open.c
    src/shelf/column/npy.c src/shelf/column/column_file.c tools/heddle/command/read.c tools/heddle/read.c
    tools/heddle/shelf/options.c tools/heddle/bench/options.c tools/heddle/bench/settle.c tools/heddle/bench/axes.c)

memory=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)" heddle_fuzz.XXXXXX)
trap 'rm -rf "$memory"' EXIT
export TMPDIR=$memory

# tool NAME: the tool of clang's own version
tool() { command -v "$1-$version" || command -v "$1" || echo "/usr/lib/llvm-$version/bin/$1"; }

has_libfuzzer()
{
    cc=$(command -v "${FUZZ_CC:-clang}") || return 1
    echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d == 0 && n != 0; }' > "$memory/try.c"
    # clang-14 has clang++-14 beside it
    cxx=$(dirname "$cc")/$(basename "$cc" | sed 's/clang/clang++/')
    "$cc" -fsanitize=fuzzer,address,undefined -fprofile-instr-generate -fcoverage-mapping "$memory/try.c" \
        -o "$memory/try" 2> /dev/null || return 1
    version=$("$cc" -dumpversion | cut -d. -f1)
}

plain()
{
    local name status=0
    echo "No clang with libFuzzer (packages clang and libclang-rt-dev): the plain programs run, which see no coverage."
    scripts/configure.sh build > "$memory/log" && cmake --build build -j "$jobs" --target fuzzers > "$memory/log" ||
        { cat "$memory/log"; exit 1; }
    for name in "${names[@]}"; do
        printf '%-14s' "$name"
        timeout "$seconds" "build/tests/fuzz_$name" -runs=1000000000000 "tests/fuzz/corpus/$name" 2>&1 | tail -n 3
        [ "${PIPESTATUS[0]}" = 124 ] && echo "nothing found in $seconds seconds" || status=1
    done
    exit $status
}

# run_one NAME: prints a line when it is done
run_one()
{
    local name=$1 here=$PWD began=$SECONDS status
    local kept=$here/build-fuzz/corpus/$name found=$here/build-fuzz/found/$name
    mkdir -p "$kept" "$found" build-fuzz/profiles
    # Whole sessions run longer than asked by at most one input and the reading of the corpus.
    LLVM_PROFILE_FILE=$here/build-fuzz/profiles/$name.profraw UBSAN_OPTIONS=print_stacktrace=1 \
        $launcher "build-fuzz/tests/fuzz_$name" -max_total_time="$seconds" -max_len="${length[$name]}" \
        -malloc_limit_mb="${block[$name]:-16}" -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="$found/" "$kept" "tests/fuzz/corpus/$name" > "build-fuzz/$name.log" 2>&1
    status=$?
    local inputs
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "build-fuzz/$name.log")
    printf '%-14s %12s inputs in %s s, %s files kept%s\n' "$name" "${inputs:-?}" $((SECONDS - began)) \
        "$(find "$kept" -type f | wc -l)" "$([ $status = 0 ] || echo ", FOUND: build-fuzz/$name.log, $found")"
    echo "$name ${inputs:-0} $((SECONDS - began)) $([ $status = 0 ] && echo 0 || echo 1)" >> "$memory/rows"
    [ -z "${V:-}" ] || cat "build-fuzz/$name.log"
    return $status
}

# Lines of the parsers that were run, by all fuzzers of this run together.
print_coverage()
{
    local objects=() profiles=() name file row
    for name in "${names[@]}"; do
        [ -f "build-fuzz/profiles/$name.profraw" ] || continue
        profiles+=("build-fuzz/profiles/$name.profraw")
        objects+=(${objects[0]:+-object} "build-fuzz/tests/fuzz_$name")
    done
    [ ${#profiles[@]} != 0 ] || return 0
    "$(tool llvm-profdata)" merge -sparse -o build-fuzz/all.profdata "${profiles[@]}" || return
    printf '\n%-42s %7s %7s %8s\n' 'parser' lines run share
    "$(tool llvm-cov)" export -summary-only -instr-profile build-fuzz/all.profdata "${objects[@]}" "${parsers[@]}" \
        2> /dev/null | python3 -c '
import json, sys
for file in json.load(sys.stdin)["data"][0]["files"]:
    lines = file["summary"]["lines"]
    name = file["filename"].split("/./")[-1].removeprefix(sys.argv[1] + "/") # -ffile-prefix-map makes them relative
    if name in sys.argv[2:]:
        print("%-42s %7d %7d %7.1f%%" % (name, lines["count"], lines["covered"], lines["percent"]))
' "$PWD" "${parsers[@]}"
}

# Rows of bench/results: a fuzzer, its inputs, seconds, how many times it ended with something found, and the lines that
# its own runs have reached in all that it is made of.
print_csv()
{
    local name inputs took found lines
    [ -n "${CSV:-}" ] || return 0
    while read -r name inputs took found; do
        "$(tool llvm-profdata)" merge -sparse -o build-fuzz/one.profdata "build-fuzz/profiles/$name.profraw"
        lines=$("$(tool llvm-cov)" export -summary-only -instr-profile build-fuzz/one.profdata \
            "build-fuzz/tests/fuzz_$name" 2> /dev/null |
            python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][0]["totals"]["lines"]["covered"])')
        echo "$name,$inputs,$took,$found,$lines" >> "$CSV"
    done < "$memory/rows"
}

merge_kept()
{
    local name
    for name in "${names[@]}"; do
        mkdir -p "$memory/merged"
        "build-fuzz/tests/fuzz_$name" -merge=1 -max_len="${length[$name]}" "$memory/merged" "tests/fuzz/corpus/$name" \
            "build-fuzz/corpus/$name" > /dev/null 2>&1
        # Files with a name of their own stay: they are seeds, or what has been found.
        find "tests/fuzz/corpus/$name" -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' -delete
        cp -n "$memory"/merged/* "tests/fuzz/corpus/$name/"
        rm -rf "$memory/merged"
    done
    echo "Merged into tests/fuzz/corpus."
}

has_libfuzzer || plain
launcher=
if setarch -R true 2> /dev/null; then launcher="setarch -R"; fi
stages_of 2
stage "fuzz, configure" scripts/configure.sh build-fuzz -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Debug -DHEDDLE_FUZZ=ON -DHEDDLE_TESTS=ON \
    -DHEDDLE_SANITIZE="address;undefined" -DHEDDLE_CUDA=OFF -DHEDDLE_INSTANCES="$tables" || exit 1
stage "fuzz, build" cmake --build build-fuzz -j "$jobs" --target fuzzers || exit 1
echo "Fuzzers, $seconds seconds each, $jobs at a time: $(clock $((seconds * ((${#names[@]} + jobs - 1) / jobs))))"
rm -rf build-fuzz/profiles
status=0
for name in "${names[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || status=1; done
    run_one "$name" &
done
while [ "$(jobs -rp | wc -l)" -gt 0 ]; do wait -n || status=1; done
echo "Inputs in all: $(awk '{ sum += $2 } END { print sum }' "$memory/rows"). What reaches new code is kept in build-fuzz/corpus/."
print_coverage
print_csv
[ -z "${KEEP:-}" ] || merge_kept
exit $status
