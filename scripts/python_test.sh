#!/usr/bin/env bash
# python_test.sh setup|test|types: the tests of the Python package, for scripts/test.sh.
#   setup   a virtual environment in build-python/ with what the tests want, and the library to test
#   test    pytest over python/tests, with HEDDLE_LIBRARY, else the library of build-test/
#   types   mypy over the package
#
# Ends with 77 where there is no python3 3.10, no venv or no wheel to be had. PYTHON is the interpreter, python3 unless told;
# JOBS are the compilers at a time. PYTHON_PEERS are frameworks whose tests are wanted besides, jax unless told: jax is a
# download of 150 MB. PYTHON_PEERS=torch,jax takes torch, too, which is 2 GB with the CUDA libraries that it loads.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/python_venv.sh
env=build-python/tests
library=${HEDDLE_LIBRARY:-$PWD/build-test/libheddle.so}

# Their tests skip themselves where a framework cannot be had.
peers()
{
    local peer wanted=${PYTHON_PEERS-jax}
    for peer in ${wanted//,/ }; do
        "$env/bin/python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$peer') is None)" && continue
        [ "${SETUP:-}" != no ] || { echo "python: please run: $env/bin/pip install $peer"; continue; }
        echo "python: downloading $peer from PyPI into $env/ (PYTHON_PEERS= does without)"
        "$env/bin/python" -m pip install --quiet --disable-pip-version-check "$peer" ||
            echo "python: $peer cannot be had, and its tests are skipped"
    done
}

setup()
{
    "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || return 77
    mkdir -p build-python
    venv $env pytest pytest-timeout hypothesis mypy numpy pandas pyarrow polars matplotlib || return 77
    peers
    [ -z "${HEDDLE_LIBRARY:-}" ] || return 0
    local log=build-python/library.log
    {
        { [ -e build-test/CMakeCache.txt ] || scripts/configure.sh build-test -DHEDDLE_CUDA=OFF -DHEDDLE_TESTS=OFF; } &&
            cmake --build build-test -j "${JOBS:-$(nproc)}" --target heddle_library
    } > $log 2>&1 || { tail -n 40 $log; return 1; }
}

case ${1:-} in
    setup) setup ;;
    # The library of build-test/ has buckets of 8 alone.
    test) [ -n "${HEDDLE_LIBRARY:-}" ] || export HEDDLE_TEST_BUCKET=8
        HEDDLE_LIBRARY=$library $env/bin/python -m pytest -q --timeout 120 python/tests
        ;;
    types) $env/bin/python -m mypy ;;
    *) echo "python_test.sh setup|test|types" >&2; exit 2 ;;
esac
