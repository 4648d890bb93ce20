"""Keys as tables take them: of 32 or 64 bits, and equal numbers with equal bits.

Arrays of integers and dates of 32 and 64 bits are taken as they are. Narrower ones become 32 bits wide, which
is a copy. Arrays of floats are looked through, and copied where they hold -0.0 or NaN: every zero becomes 0.0,
and every NaN the same one. Those of a GPU are always copied: to look at them, the host would have to wait.
"""

from __future__ import annotations

from typing import Any

from ._dtypes import DType
from ._view import View, view


def widened(v: View) -> View:
    """The view as 32 or 64 bits an element."""
    if v.dtype.width in (4, 8) and v.dtype.kind not in "SUV":
        return v
    if v.dtype.kind in "SUV":
        raise TypeError(f"keys of the type {v.dtype}: tables take 32 and 64 bits; unique, join and groupby take bytes")
    return v.with_array(v.framework.cast(v.array, v.framework.natives[v.dtype.wide]))


def has_nan(v: View) -> bool:
    return bool((v.array != v.array).any())


def canonical(v: View) -> View:
    """The view of the same numbers, equal ones with equal bits."""
    if v.dtype.kind != "f" or v.size == 0:
        return v
    framework, array = v.framework, v.array
    if v.device >= 0:
        return v.with_array(framework.canonical(array))
    bits = framework.reinterpret(array, framework.natives["int64" if v.dtype.width == 8 else "int32"])
    lowest = -(2 ** (8 * v.dtype.width - 1))
    if has_nan(v) or bool((bits == lowest).any()):
        return v.with_array(framework.canonical(array))
    return v


def table_keys(v: View) -> View:
    if v.valid is not None:
        raise ValueError("keys with nulls: a table has none; leave them out first (drop_nulls, drop_null, dropna)")
    return canonical(widened(v))


def of_dtype(x: Any, native: Any, dtype: DType) -> View:
    """The view of an array that must be of one type. Lists and numbers of Python become that type."""
    if isinstance(x, (list, tuple, range, int, float)):
        try:
            import numpy
        except ImportError:
            return view(x)
        array = numpy.asarray(x)
        made = array.astype(numpy.dtype(str(dtype)))
        if array.size and not bool((made == array).all()) and not bool((array != array).any()):
            raise OverflowError(f"some of these numbers do not fit into {dtype}")
        return view(made)
    v = view(x)
    if v.dtype is not dtype and v.dtype.name != dtype.name:
        raise TypeError(f"the array is of the type {v.dtype}, and {dtype} is needed: convert it first")
    return v


def same_dtypes(a: View, b: View) -> None:
    if a.dtype is not b.dtype:
        raise TypeError(
            f"the arrays are of the types {a.dtype} and {b.dtype}, and their bytes would be compared: "
            f"convert one of them first, for example b.astype({str(a.dtype)!r})"
        )


def pair(x: Any, y: Any) -> tuple[View, View]:
    """The views of two arrays of one type; a list or a number takes the type of the other."""
    a = view(x)
    b = of_dtype(y, a.native, a.dtype) if isinstance(y, (list, tuple, range, int, float)) else view(y)
    same_dtypes(a, b)
    return a, b
