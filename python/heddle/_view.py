"""What the library needs to know of a caller's array, and how the array of each framework tells it.

`view(x)` finds address, length, type and place of an array without copying it. The function for a type is
looked up once and kept in VIEWERS. A `Framework` (_numpy.py and its neighbours) makes results of the caller's
own kind.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ._dtypes import DType


class View:
    """An array: `size` elements of `dtype` at `address`, on the GPU number `device` or in host memory (-1).

    `array` is what the framework's own functions work on, `keep` holds the memory alive, `valid` is None or the
    address of `flags`, a byte an element, 0 where there is none. `native` is the framework's name for the type,
    `stream` the stream on which the array is ready (None: on none in particular).
    """

    __slots__ = (
        "framework",
        "array",
        "address",
        "size",
        "dtype",
        "native",
        "device",
        "stream",
        "keep",
        "valid",
        "flags",
    )

    def __init__(
        self,
        framework: Any,
        array: Any,
        address: int,
        size: int,
        dtype: DType,
        native: Any,
        device: int = -1,
        stream: int | None = None,
        keep: Any = None,
    ):
        self.framework = framework
        self.array = array
        self.address = address
        self.size = size
        self.dtype = dtype
        self.native = native
        self.device = device
        self.stream = stream
        self.keep = keep
        self.valid: int | None = None
        self.flags: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(getattr(self.array, "shape", (self.size,)))

    def with_array(self, array: Any) -> View:
        """The view of another array of the same framework, with the nulls of this one."""
        other: View = self.framework.view(array)
        other.stream = self.stream
        return other.with_nulls(self.flags)

    def with_nulls(self, flags: Any) -> View:
        """This view, with flags of what is there; None for no nulls."""
        self.flags = flags
        self.valid = None if flags is None else self.framework.address(flags)
        return self


VIEWERS: dict[type, Callable[[Any], View]] = {}


def view(x: Any) -> View:
    """The view of any array that Heddle understands; a TypeError or ValueError that says what to do for others."""
    viewer = VIEWERS.get(type(x))
    if viewer is None:
        viewer = VIEWERS[type(x)] = _viewer_of(x)
    return viewer(x)


def _viewer_of(x: Any) -> Callable[[Any], View]:
    """The function for arrays of the type of `x`. Frameworks are only imported when an array of theirs is there."""
    kind = type(x)
    root = kind.__module__.partition(".")[0]
    if "numpy" in sys.modules and isinstance(x, (sys.modules["numpy"].ndarray, sys.modules["numpy"].generic)):
        from ._numpy import refuse_masked, view_numpy

        return refuse_masked if isinstance(x, sys.modules["numpy"].ma.MaskedArray) else view_numpy
    if root == "torch" or any(base.__module__.partition(".")[0] == "torch" for base in kind.__mro__):
        from ._torch import view_torch

        return view_torch
    if root == "cupy":
        from ._cupy import view_cupy

        return view_cupy
    if root == "pandas":
        from ._arrow import view_pandas

        return view_pandas
    if hasattr(kind, "__arrow_c_array__") or hasattr(kind, "__arrow_c_stream__"):
        from ._arrow import view_arrow

        return view_arrow
    return _viewer_of_protocol(x, kind, root)


def _viewer_of_protocol(x: Any, kind: type, root: str) -> Callable[[Any], View]:
    if root in ("jax", "jaxlib"):
        from ._jax import view_jax

        return view_jax
    if hasattr(x, "__cuda_array_interface__"):
        from ._cuda import view_cuda

        return view_cuda
    if hasattr(kind, "__dlpack__"):
        from ._dlpack import view_dlpack

        return view_dlpack
    from ._plain import view_buffer, view_sequence

    if isinstance(x, (list, tuple, range, int, float)):
        return view_sequence
    try:
        memoryview(x)
    except TypeError:
        raise TypeError(
            f"{kind.__module__}.{kind.__qualname__} is no array that Heddle understands: "
            "give one of NumPy, CuPy, PyTorch, "
            "JAX, pyarrow, Polars or pandas, or an object with DLPack, __cuda_array_interface__ or the buffer protocol"
        ) from None
    return view_buffer


def refuse_dtype(what: Any) -> TypeError:
    return TypeError(
        f"Heddle takes integers of 8 to 64 bits, bool, float32, float64 and datetime64 (and bytes of a fixed "
        f"length up to 64), not {what}: convert the array first"
    )


def refuse_layout(how: str) -> ValueError:
    return ValueError(f"the array is not contiguous, and Heddle makes no silent copy: give {how}")
