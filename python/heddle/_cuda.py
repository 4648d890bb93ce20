"""Whatever else has __cuda_array_interface__, such as Numba's arrays. Results are CuPy's or, without CuPy, Numba's."""

from __future__ import annotations

import sys
from typing import Any

import numpy

from ._numpy import KNOWN, NumPy, learn
from ._view import View, refuse_layout

LEGACY_STREAM = 1


class Numba(NumPy):
    """Makes Numba's device arrays. It has no functions for arrays, so what would sort a result is not there."""

    name = "numba"
    xp: Any = None

    def view(self, array: Any) -> View:
        return view_cuda(array)

    def empty(self, n: int, native: Any, like: View) -> Any:
        from numba import cuda

        with cuda.gpus[like.device]:
            return cuda.device_array(n, native)

    def address(self, array: Any) -> int:  # type: ignore[override]
        return int(array.__cuda_array_interface__["data"][0])

    def finish(self, array: Any, valid: Any = None) -> Any:
        return array

    def canonical(self, array: Any) -> Any:
        raise TypeError("keys that are floats, in an array of Numba's: CuPy is needed, which makes equal ones alike")


NUMBA = Numba()


def _device_of(address: int) -> int:
    """The GPU whose memory this is."""
    if "cupy" in sys.modules:
        cupy = sys.modules["cupy"]
        return int(cupy.cuda.runtime.pointerGetAttributes(address).device)
    from numba import cuda

    return int(cuda.current_context().device.id)


def view_cuda(x: Any) -> View:
    told = x.__cuda_array_interface__
    if told.get("mask") is not None:
        raise TypeError("an array with a mask: leave out the elements that are not there first")
    native = numpy.dtype(told["typestr"])
    dtype = KNOWN.get(native) or learn(native)
    size, step = 1, native.itemsize
    for length, stride in zip(reversed(told["shape"]), reversed(told.get("strides") or told["shape"]), strict=True):
        if told.get("strides") is not None and length > 1 and stride != step:
            raise refuse_layout("a contiguous copy")
        size, step = size * length, step * length
    address = told["data"][0]
    stream = told.get("stream") or LEGACY_STREAM
    if "cupy" in sys.modules:
        from ._cupy import FRAMEWORK

        worked = sys.modules["cupy"].asarray(x)
        return View(
            FRAMEWORK, worked, address, size, dtype, native, _device_of(address) if address else 0, stream, keep=x
        )
    return View(NUMBA, x, address, size, dtype, native, _device_of(address) if address else 0, stream, keep=x)
