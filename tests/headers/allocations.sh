#!/bin/sh
# allocations.sh: the library takes host memory from src/base/alloc.h alone, and a file that takes memory from elsewhere
# (a device, mmap) asks hd_fault_due() first. So tests can fail every allocation in turn. libheddle_mpi is a library of
# its own and does not see src/base.
set -eu
cd "$(dirname "$0")/../.."
sources=$(find src -type f ! -path 'src/mpi/*' ! -path 'src/base/alloc.*')
raw='(^|[^A-Za-z0-9_])(malloc|calloc|realloc|reallocarray|aligned_alloc|strdup|strndup)[ ]*\('
failed=0
# shellcheck disable=SC2086
if grep -nE "$raw" $sources; then
    echo "these lines take memory past hd_allocate"
    failed=1
fi
# shellcheck disable=SC2086
for file in $(grep -lE '(^|[^A-Za-z0-9_])(posix_memalign|mmap|cudaMalloc[A-Za-z]*)[ ]*\(' $sources); do
    if ! grep -q 'hd_fault_due()' "$file"; then
        echo "$file takes memory and does not ask hd_fault_due()"
        failed=1
    fi
done
[ $failed = 0 ]
