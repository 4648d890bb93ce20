#!/usr/bin/env bash
# thread_sanitizer.sh: finds a thread sanitizer that understands OpenMP: clang with libomp and its
# tool Archer. (The barriers of gcc's libgomp are invisible to it: everything looks like a race.)
#
# Prints the compiler and the path of libarcher.so, a line each, when together they report a race in
# a small program and none in one whose threads meet at a barrier; otherwise says why and exits 1.
#
# Variables: TSAN_CC (the compiler, clang unless told).
set -uo pipefail
no() { echo "$*" >&2; exit 1; }

cc=$(command -v "${TSAN_CC:-clang}") || no "no ${TSAN_CC:-clang}"
# The one of the same LLVM first: /usr/bin/clang is a link into it.
archer=
for candidate in "$(dirname "$(readlink -f "$cc")")/../lib/libarcher.so" \
    "$(llvm-config --libdir 2> /dev/null)/libarcher.so" \
    $(printf '%s\n' /usr/lib/llvm-*/lib/libarcher.so | sort -rV); do
    if [ -f "$candidate" ]; then archer=$(readlink -f "$candidate"); break; fi
done
[ -n "$archer" ] || no "no libarcher.so (package libomp-dev)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/probe.c" << 'END'
#include <omp.h>
static int met[2], raced;
int main(int argc, char **argv)
{
    (void)argv;
    int sum = 0;
    for (int round = 0; round < 200; round++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
            const int me = omp_get_thread_num();
            met[me]++;
            if (argc > 1) raced++;
#pragma omp barrier
            sum += met[!me];
        }
    }
    return sum == 0;
}
END
"$cc" -g -O1 -fopenmp -fsanitize=thread "$work/probe.c" -o "$work/probe" > "$work/log" 2>&1 ||
    no "$cc builds no program with OpenMP and the thread sanitizer"
# Older runtimes cannot place their shadow memory under the address randomisation of newer kernels.
launcher=()
if setarch -R true 2> /dev/null; then launcher=(setarch -R); fi
export OMP_TOOL_LIBRARIES=$archer TSAN_OPTIONS="ignore_noninstrumented_modules=1"
"${launcher[@]}" "$work/probe" > "$work/log" 2>&1 ||
    no "$cc with $archer reports a race where there is none"
"${launcher[@]}" "$work/probe" race > "$work/log" 2>&1
[ $? = 66 ] || no "$cc with $archer does not see a race"
printf '%s\n' "$cc" "$archer"
