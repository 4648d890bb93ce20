"""NumPy, and the base of all frameworks whose arrays are worked on as NumPy's."""

from __future__ import annotations

from ctypes import addressof, c_char
from typing import Any

import numpy

from ._dtypes import DTYPES, DType, of_letter
from ._view import View, refuse_dtype, refuse_layout

_from_buffer = c_char.from_buffer

KNOWN: dict[Any, DType] = {numpy.dtype(name): kind for name, kind in DTYPES.items()}


def learn(native: Any) -> DType:
    """The type for one of NumPy's that has not been seen before."""
    if not native.isnative:
        raise TypeError(
            f"the array has the byte order of another machine ({native}): give "
            "array.astype(array.dtype.newbyteorder('='))"
        )
    if native.kind in "mM":
        dtype = DType(str(native), native.kind, 8)
    elif native.kind in "SUV" and native.fields is None and native.subdtype is None and 1 <= native.itemsize <= 64:
        dtype = DType(str(native), native.kind, native.itemsize)
    else:
        found = of_letter(native.kind, native.itemsize)  # another name of a known type, such as longlong
        if found is None or native.fields is not None:
            raise refuse_dtype(native)
        dtype = found
    KNOWN[native] = dtype
    return dtype


def address_of(array: Any) -> int:
    """Where the elements are. The buffer protocol says it fastest, except for arrays that are read-only or empty."""
    try:
        return addressof(_from_buffer(array))
    except (TypeError, ValueError):
        return int(array.ctypes.data)


class NumPy:
    """Makes NumPy arrays. The methods are what every framework offers."""

    name = "numpy"
    xp: Any = numpy
    natives: dict[str, Any] = {name: numpy.dtype(name) for name in DTYPES}

    def view(self, array: Any) -> View:
        native = array.dtype
        dtype = KNOWN.get(native) or learn(native)
        return View(self, array, self.address(array), array.size, dtype, native)

    # ------------------------------------------------------------------------------------------- making

    def empty(self, n: int, native: Any, like: View) -> Any:
        return numpy.empty(n, native)

    def full(self, n: int, value: Any, native: Any, like: View) -> Any:
        return self.xp.full(n, value, native)

    address = staticmethod(address_of)

    def finish(self, array: Any, valid: Any = None) -> Any:
        """What the caller gets, of the type of the column. `valid` is None or bytes, 0 where there is no element."""
        return array if valid is None else numpy.ma.MaskedArray(array, valid == 0)

    def plain(self, array: Any, valid: Any = None) -> Any:
        """What the caller gets of numbers and flags: their type is that of `array`."""
        return self.finish(array, valid)

    def shaped(self, array: Any, shape: tuple[int, ...]) -> Any:
        return array if len(shape) == 1 else array.reshape(shape)

    # ---------------------------------------------------------------------------------- working on arrays

    def order(self, array: Any) -> Any:
        """As argsort, with equal elements in any order."""
        return self.xp.argsort(array)

    def argsort(self, array: Any) -> Any:
        return self.xp.argsort(array, kind="stable")

    def take(self, array: Any, rows: Any) -> Any:
        return array[rows]

    def cast(self, array: Any, native: Any) -> Any:
        return array.astype(native)

    def reinterpret(self, array: Any, native: Any) -> Any:
        """The same bytes as another type of the same width."""
        return array.view(native)

    def concat(self, arrays: Any) -> Any:
        return self.xp.concatenate(arrays)

    def arange(self, begin: int, end: int, native: Any, like: View) -> Any:
        return self.xp.arange(begin, end, dtype=native)

    def cumsum(self, array: Any) -> Any:
        return self.xp.cumsum(array)

    def nonzero(self, flags: Any) -> Any:
        return self.xp.nonzero(flags)[0]

    def where(self, flags: Any, yes: Any, no: Any) -> Any:
        return self.xp.where(flags, yes, no)

    def negate(self, flags: Any) -> None:
        """Turns flags round, in place."""
        self.xp.logical_not(flags, out=flags)

    def canonical(self, array: Any) -> Any:
        """A copy in which every zero is 0.0 and every NaN the same."""
        return self.xp.where(array != array, array.dtype.type("nan"), array + 0)


FRAMEWORK = NumPy()


def view_numpy(array: Any) -> View:
    native = array.dtype
    dtype = KNOWN.get(native) or learn(native)
    try:
        # The buffer of an array that is not contiguous is refused here, too.
        address = addressof(_from_buffer(array))
        if not address & 7 or array.flags.aligned:
            return View(FRAMEWORK, array, address, array.size, dtype, native)
    except (TypeError, ValueError):
        pass
    if isinstance(array, numpy.generic):
        array = numpy.asarray(array)
    if not array.flags.c_contiguous:
        raise refuse_layout("numpy.ascontiguousarray(array)")
    if not array.flags.aligned:
        raise ValueError("the array is not aligned to its elements: give array.copy()")
    return View(FRAMEWORK, array, int(array.ctypes.data), array.size, dtype, native)


def refuse_masked(array: Any) -> View:
    raise TypeError("a masked array: give array.compressed(), or a nullable Arrow or pandas column")
