"""CuPy."""

from __future__ import annotations

from typing import Any

import cupy
import numpy

from ._dtypes import DTYPES
from ._numpy import KNOWN, NumPy, learn
from ._view import View, refuse_layout

LEGACY_STREAM = 1  # the handle of CUDA's default stream, for which CuPy says 0


class CuPy(NumPy):
    """Makes CuPy arrays, on the device of those that were given and from CuPy's own pool."""

    name = "cupy"
    xp: Any = cupy
    natives: dict[str, Any] = {name: numpy.dtype(name) for name in DTYPES}

    def view(self, array: Any) -> View:
        return view_cupy(array)

    def empty(self, n: int, native: Any, like: View) -> Any:
        with cupy.cuda.Device(like.device):
            return cupy.empty(n, native)

    def full(self, n: int, value: Any, native: Any, like: View) -> Any:
        with cupy.cuda.Device(like.device):
            return cupy.full(n, value, native)

    def address(self, array: Any) -> int:  # type: ignore[override]
        return int(array.data.ptr)

    def finish(self, array: Any, valid: Any = None) -> Any:
        return array

    def argsort(self, array: Any) -> Any:
        return cupy.argsort(array)  # stable, says CuPy


FRAMEWORK = CuPy()


def view_cupy(array: Any) -> View:
    native = array.dtype
    dtype = KNOWN.get(native) or learn(native)
    if not array.flags.c_contiguous:
        raise refuse_layout("cupy.ascontiguousarray(array)")
    stream = cupy.cuda.get_current_stream().ptr or LEGACY_STREAM
    return View(FRAMEWORK, array, array.data.ptr, array.size, dtype, native, array.device.id, stream)
