#!/bin/sh
# private.sh CC BUILD: every private header stands alone. Each is compiled twice in one file, with nothing before it,
# for one kind of table. Fragments that use names of the file that includes them are .inl and refuse to stand alone.
# Headers for CUDA are nvcc's: tests/cuda_on_cpu includes them.
set -eu
cd "$(dirname "$0")/../.."
failed=0
for header in $(find src -name '*.h' ! -path 'src/cuda/*' ! -path 'src/mpi/*' ! -name '*_avx2.h' ! -name '*_avx512.h' \
    ! -name '*_neon.h' ! -name '*_cuda.h' | sort); do
    name=${header#src/}
    if ! printf '#include "%s"\n#include "%s"\n' "$name" "$name" |
        "$1" -std=c11 -fsyntax-only -Wall -Werror -Wno-unused-function -fopenmp -DHD_KEY_BITS=32 -DHD_VALUE_BITS=32 \
            -DHD_BUCKET=8 -DHD_TILE_SCALAR=1 -DHD_SYMBOL=alone '-DHD_SCHEME_HEADER="scheme/cuckoo.h"' \
            -Iinclude -Isrc "-I$2/instances" -x c -; then
        echo "$header does not stand alone"
        failed=$((failed + 1))
    fi
done
for fragment in $(find src -name '*.inl'); do
    if ! grep -q '^#error "included by' "$fragment"; then
        echo "$fragment does not say who includes it"
        failed=$((failed + 1))
    fi
done
[ $failed = 0 ]
