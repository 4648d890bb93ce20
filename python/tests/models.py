"""Arrays for the tests, and what the plain functions of NumPy and Python say of them."""

import numpy
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float32", "float64"]
DTYPES = [*INTEGERS, "bool", *FLOATS, "datetime64[s]"]


def elements(dtype):
    """Numbers of which many are equal, and the odd ones of a type."""
    kind = numpy.dtype(dtype)
    if kind.kind in "iu":
        info = numpy.iinfo(kind)
        return st.one_of(
            st.integers(0, 5), st.sampled_from([int(info.min), int(info.max)]), st.integers(info.min, info.max)
        )
    if kind.kind == "f":
        return st.sampled_from([0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan")])
    return None


def arrays(dtype, size=st.integers(0, 60)):
    return hn.arrays(dtype, size, elements=elements(dtype))


any_array = st.sampled_from(DTYPES).flatmap(arrays)


def two_arrays(dtypes=tuple(DTYPES)):
    return st.sampled_from(dtypes).flatmap(lambda dtype: st.tuples(arrays(dtype), arrays(dtype)))


def key(item, equal_nan=True):
    """A number as a key of a dict: every zero is one, and every NaN, or none is like another."""
    if isinstance(item, (float, numpy.floating)) and item != item:
        return "nan" if equal_nan else object()
    if isinstance(item, numpy.datetime64):
        return int(item.astype("int64"))
    return item.item() + 0 if isinstance(item, (numpy.floating, numpy.integer)) else bool(item)


def keys(array, equal_nan=True):
    return [key(item, equal_nan) for item in array.ravel()]
