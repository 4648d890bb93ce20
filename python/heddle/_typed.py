"""The types that keys and values have for the caller, and arrays of them as the library takes and gives them."""

from __future__ import annotations

from typing import Any

from ._dtypes import DType
from ._keys import of_dtype, table_keys, widened
from ._view import View, view
from ._words import IN_MEMORY, Alone, Gate

Array = Any


class Typed:
    """The part of a table that knows its types."""

    container = "map"
    _functions: Any = IN_MEMORY
    fixed = False

    def __init__(self, handle: Any, key: DType, value: DType | None, like: View, gate: Gate | None = None):
        self._handle = handle
        self._key, self._value, self._like = key, value, like
        self._read, self._plain_keys = gate or Gate(), key.width in (4, 8) and key.kind != "f"
        self._write = Alone(self._read)
        self._find, self._contains = self._functions.find, self._functions.contains
        self._narrow = value is not None and value.wide != value.name
        self._natives: dict[int, Any] = {}

    # ------------------------------------------------------------------------------------------ arrays

    def _keys(self, keys: Any) -> View:
        """The keys as the library takes them."""
        key = self._key
        v = view(keys) if not isinstance(keys, (list, tuple, range, int, float)) else of_dtype(keys, None, key)
        if v.dtype is key and self._plain_keys and v.valid is None:
            return v
        if v.dtype.name != key.name:
            raise TypeError(
                f"the keys are of the type {v.dtype}, those of the table {key}: convert them first, for example "
                f"keys.astype({key.name!r})"
            )
        return table_keys(v)

    def _values(self, values: Any, like: View) -> View:
        """Values for keys of the view `like`; a number is the value of all of them."""
        value = self._value
        if value is None:
            raise TypeError("a set has no values")
        if isinstance(values, (int, float)):
            return widened(view(like.framework.full(like.size, values, self._native(like.framework), like)))
        v = of_dtype(values, None, value)
        if v.size != like.size:
            raise ValueError(f"{v.size} values for {like.size} keys")
        if v.valid is not None:
            raise ValueError("values with nulls: a table has none; leave them out or give them a number first")
        return widened(v) if self._narrow else v

    def _native(self, framework: Any, dtype: DType | None = None) -> Any:
        """A framework's name for the type of the values, or of keys; a date where there are none is its number."""
        dtype = dtype or self._value
        assert dtype is not None
        native = framework.natives.get(dtype.name)
        if native is None and framework.name == "numpy":
            import numpy

            native = numpy.dtype(dtype.name)
        return native if native is not None else framework.natives["int64"]

    def _wide_native(self, framework: Any, dtype: DType) -> Any:
        return framework.natives[dtype.wide] if dtype.wide != dtype.name else self._native(framework, dtype)

    def _given_back(self, values: Any, v: View) -> Array:
        """Values as the caller knows them, in the shape of the keys."""
        framework = v.framework
        if self._narrow:
            values = framework.cast(values, self._native(framework))
        return framework.plain(framework.shaped(values, v.shape))

    def _stream(self, v: View) -> tuple[Any, ...]:
        return (v.stream,) if self._functions.streams else ()

    def _streamless(self) -> tuple[Any, ...]:
        return (self._like.stream,) if self._functions.streams else ()
