#!/usr/bin/env bash
# configure.sh DIR [CMake options]: configures DIR, with Ninja where it is there. A tree keeps the
# generator it was first configured with.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
generator=()
if [ ! -f "$dir/CMakeCache.txt" ] && command -v ninja > /dev/null; then generator=(-G Ninja); fi
exec cmake -S . -B "$dir" "${generator[@]}" "${@:2}"
