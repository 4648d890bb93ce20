#!/usr/bin/env bash
# demo.sh: a first benchmark: builds the tool with the one table that it needs, in build-demo/, fills
# and probes a map of 16 million pairs on the best device here, and says what that showed.
#
# Variables: V=1 (shows what the compilers say), JOBS (compilers at a time), CMAKE_OPTIONS.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh

# CUDA is for a GPU of this machine, in its machine code alone.
cuda=(-DHEDDLE_CUDA=OFF)
if [ -e /dev/nvidiactl ]; then
    chip=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -1 | tr -d .)
    cuda=(-DHEDDLE_CUDA=AUTO ${chip:+"-DCMAKE_CUDA_ARCHITECTURES=$chip-real"})
fi

echo "A first benchmark: about 1 minute on two cores without a GPU, 3 minutes with one."
stages_of 3
# Word splitting of the options is meant.
# shellcheck disable=SC2086
stage "configure" scripts/configure.sh build-demo -DHEDDLE_TESTS=OFF -DHEDDLE_MPI=OFF "${cuda[@]}" \
    -DHEDDLE_INSTANCES='^cuckoo_k32_v32_b8$' ${CMAKE_OPTIONS:-}
stage "build" cmake --build build-demo -j "${JOBS:-$(nproc)}" --target heddle_tool

result=$(mktemp)
trap 'rm -f "$result"' EXIT
measure()
{
    build-demo/heddle bench map --keys 2^24 --load 0.8 --op build,find,miss --device auto --repeat 3 \
        --format json > "$result"
}
stage "measure" measure

field() { sed -n "s/.*\"op\": \"$1\".*\"$2\": \"\{0,1\}\([^,\"}]*\).*/\1/p" "$result" | head -1; }
rate() { printf '%.0f' "$(field "$1" mops)"; }
device=$(sed -n 's/.*"device": "\([^"]*\)".*/\1/p' "$result" | head -1)
checked=
if ! grep -q '"verified": false' "$result"; then checked=", and every answer was right"; fi
cat << END

On $device, with 16.8 million pairs of 32-bit keys and values in a map that is 80 % full:
    build               $(rate build) million keys a second
    find, all present   $(rate find) million keys a second
    find, none present  $(rate miss) million keys a second

Heddle filled a hash map in one call and looked up keys that are there and keys that are not$checked.
Next: \`make\` builds the library and its default tables in build/, and docs/tutorial.md shows the first program.
END
