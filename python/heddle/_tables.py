"""What all tables share: the calls of the library on arrays of any framework.

A `Table` keeps the types that its keys and values have for the caller. The library knows 32 and 64 bits:
narrower types are kept as 32 bits and given back as what they were. Subclasses say which container it is and
where it lives (in memory, in a directory, over several devices); `_functions` are the library's calls for that.

The interpreter's lock is free during calls, so a gate lets reading calls run side by side and writing calls
alone.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from ctypes import byref, c_uint64
from typing import Any

from . import _declarations as c
from ._errors import HeddleFull
from ._library import check, error, fail, lib, options
from ._typed import Typed
from ._view import View, view
from ._words import CLOSED, POLICIES, Found, Items, Lists

Array = Any


def _number(array: Any) -> Any:
    return array.item() if hasattr(array, "item") else array[0]


class Table(Typed):
    """A table of the library. Made by its subclasses."""

    # ----------------------------------------------------------------------------------------- writing

    def _policy(self, on_duplicate: str | None) -> int:
        name = on_duplicate or "keep"
        if name not in POLICIES:
            raise ValueError(f"on_duplicate is {name!r}: it must be one of {', '.join(map(repr, POLICIES))}")
        kind = self._value.kind if self._value is not None else "u"
        if (name in ("min", "max") and kind not in "ub") or (name == "add" and kind not in "iub"):
            raise TypeError(
                f"on_duplicate={name!r} with values of the type {self._value}: a table compares unsigned and adds "
                "integers; groupby(keys).agg(...) knows all types"
            )
        return POLICIES[name]

    def _put(self, function: Any, keys: Any, values: Any, on_duplicate: str | None, outcomes: bool) -> Any:
        v = self._keys(keys)
        framework = v.framework
        w = None if values is None else self._values(values, v)
        if w is None and self.container in ("map", "multimap"):
            raise TypeError(f"a {self.container} needs values")
        told = options(c.InsertOptions, policy=self._policy(on_duplicate))
        became, failed = None, None
        if outcomes:
            became = framework.empty(v.size, framework.natives["uint8"], v)
            told.outcomes = framework.address(became)
        if self.fixed and v.device < 0:  # with arrays of a GPU the list would make the call wait
            failed = (c_uint64 * v.size)()
            told.failed, told.failed_capacity = ctypes.addressof(failed), v.size
        totals = options(c.Totals)
        waits = byref(totals) if v.device < 0 else None
        with self._write:
            status = function(
                self._handle, v.address, None if w is None else w.address, v.size, byref(told), waits, *self._stream(v)
            )
        if self._like.size == 0 and self._like.framework is not framework:
            self._like = view(framework.empty(0, framework.natives["int64"], v))
        if status == c.ERROR_FULL:
            raise self._full(error(status), v, failed, totals.failed)
        if status:
            fail(status)
        return None if became is None else framework.plain(became)

    def _full(self, problem: Exception, v: View, failed: Any, count: int) -> HeddleFull:
        if failed is None:
            return HeddleFull(str(problem), count=count)
        framework = v.framework
        rows = framework.empty(count, framework.natives["int64"], v)
        ctypes.memmove(framework.address(rows), failed, 8 * count)
        keys = (
            framework.plain(framework.take(v.array, rows))
            if hasattr(framework, "xp") or framework.name == "torch"
            else None
        )
        return HeddleFull(str(problem), framework.plain(rows), keys, count)

    def insert(self, keys: Any, values: Any = None, on_duplicate: str | None = None, *, outcomes: bool = False) -> Any:
        """Inserts keys with their values; a number as `values` is the value of all of them.

        `on_duplicate` says what becomes of keys that are there or that repeat: "keep" the value (the default),
        "replace" it, "add" to it, or take the "min" or "max". With `outcomes` the result says of every key what
        became of it: Outcome.
        """
        return self._put(self._functions.insert, keys, values, on_duplicate, outcomes)

    def build(self, keys: Any, values: Any = None, on_duplicate: str | None = None) -> None:
        """Empties the table and inserts: the fast way to fill a table from arrays."""
        self._put(self._functions.build, keys, values, on_duplicate, False)

    def erase(self, keys: Any) -> Array:
        """Erases keys; the result says of every key whether it was there and this place of the batch erased it."""
        v = self._keys(keys)
        framework = v.framework
        found = framework.empty(v.size, framework.natives["bool"], v)
        with self._write:
            status = self._functions.erase(
                self._handle, v.address, v.size, framework.address(found), None, *self._stream(v)
            )
        if status:
            fail(status)
        return framework.plain(framework.shaped(found, v.shape))

    def __delitem__(self, keys: Any) -> None:
        v = self._keys(keys)
        if not bool(self._found(v).all()):
            raise KeyError("some of these keys are not in the table")
        self.erase(keys)

    def clear(self) -> None:
        """Removes all keys and keeps the memory."""
        with self._write:
            check(self._functions.clear(self._handle, *self._streamless()))

    # ----------------------------------------------------------------------------------------- reading

    def _found(self, v: View) -> Any:
        framework = v.framework
        found = framework.empty(v.size, framework.natives["bool"], v)
        with self._read:
            status = self._contains(self._handle, v.address, v.size, framework.address(found), None, *self._stream(v))
        if status:
            fail(status)
        return found

    def contains(self, keys: Any) -> Array:
        """Of every key whether it is in the table."""
        v = self._keys(keys)
        framework = v.framework
        found = self._found(v)
        return framework.plain(found if len(v.shape) == 1 else framework.shaped(found, v.shape))

    def __contains__(self, key: Any) -> bool:
        v = self._keys([key] if isinstance(key, (int, float)) else key)
        if v.size != 1:
            raise TypeError("`in` asks for one key: use contains(keys) for an array")
        return bool(self._found(v)[0])

    def _look_up(self, v: View, values: Any, found: Any) -> None:
        framework = v.framework
        with self._read:
            status = self._find(
                self._handle,
                v.address,
                v.size,
                framework.address(values),
                None if found is None else framework.address(found),
                None,
                *self._stream(v),
            )
        if status:
            fail(status)

    def find(self, keys: Any) -> Found:
        """The value of every key, 0 where it is absent, and flags that say which are there."""
        v = self._keys(keys)
        framework = v.framework
        values = framework.full(v.size, 0, self._stored(framework), v)
        found = framework.empty(v.size, framework.natives["bool"], v)
        self._look_up(v, values, found)
        return Found(self._given_back(values, v), framework.plain(framework.shaped(found, v.shape)))

    def _stored(self, framework: Any) -> Any:
        """A framework's name for the type in which values are stored."""
        native = self._natives.get(id(framework))
        if native is None:
            if self._value is None:
                raise TypeError("a set has no values: use contains")
            native = self._natives[id(framework)] = self._wide_native(framework, self._value)
        return native

    def get(self, keys: Any, default: Any = 0) -> Any:
        """The value of every key, `default` where it is absent; for one number one value."""
        v = self._keys(keys)
        values = v.framework.full(v.size, default, self._stored(v.framework), v)
        self._look_up(v, values, None)
        given = self._given_back(values, v)
        return _number(given) if isinstance(keys, (int, float)) else given

    def __getitem__(self, keys: Any) -> Any:
        v = self._keys(keys)
        framework = v.framework
        values = framework.empty(v.size, self._stored(framework), v)
        found = framework.empty(v.size, framework.natives["bool"], v)
        self._look_up(v, values, found)
        missing = v.size - sum(found) if framework.name == "array" else v.size - int(found.sum())
        if missing:
            raise KeyError(f"{missing} of {v.size} keys are not in the table: use get(keys, default) or find(keys)")
        given = self._given_back(values, v)
        return _number(given) if isinstance(keys, (int, float)) else given

    def __setitem__(self, keys: Any, values: Any) -> None:
        self.insert(keys, values, "replace")

    def count(self, keys: Any) -> Array:
        """The number of values of every key."""
        v = self._keys(keys)
        framework = v.framework
        matches = framework.empty(v.size, framework.natives["int64"], v)
        with self._read:
            check(
                self._functions.count(
                    self._handle, v.address, v.size, framework.address(matches), None, *self._stream(v)
                )
            )
        return framework.plain(framework.shaped(matches, v.shape))

    def retrieve(self, keys: Any) -> Lists:
        """All values of every key: those of keys[i] are values[offsets[i]:offsets[i + 1]], in no particular order."""
        v = self._keys(keys)
        framework, count = v.framework, c_uint64()
        native = self._stored(framework)
        offsets = framework.empty(v.size + 1, framework.natives["int64"], v)
        retrieve, tail = self._functions.retrieve, self._stream(v)
        with self._read:
            check(retrieve(self._handle, v.address, v.size, framework.address(offsets), None, 0, byref(count), *tail))
            values = framework.empty(count.value, native, v)
            if count.value:
                check(
                    retrieve(
                        self._handle,
                        v.address,
                        v.size,
                        framework.address(offsets),
                        framework.address(values),
                        count.value,
                        byref(count),
                        *tail,
                    )
                )
        if self._narrow:
            values = framework.cast(values, self._native(framework))
        return Lists(framework.plain(values), framework.plain(offsets))

    # ------------------------------------------------------------------------------------ as a whole

    def __len__(self) -> int:
        size = c_uint64()
        with self._read:
            check(self._functions.size(self._handle, byref(size), *self._streamless()))
        return size.value

    def _export(self) -> tuple[Any, Any]:
        like, size = self._like, c_uint64()
        framework = like.framework
        with self._read:
            check(self._functions.size(self._handle, byref(size), *self._streamless()))
            keys = framework.empty(size.value, self._wide_native(framework, self._key), like)
            values = None if self._value is None else framework.empty(size.value, self._stored(framework), like)
            check(
                self._functions.export(
                    self._handle,
                    framework.address(keys),
                    None if values is None else framework.address(values),
                    size.value,
                    byref(size),
                    *self._streamless(),
                )
            )
        if self._key.wide != self._key.name:
            keys = framework.cast(keys, self._native(framework, self._key))
        if self._narrow:
            values = framework.cast(values, self._native(framework))
        return keys, values

    def items(self) -> Items:
        """All keys and their values, in no particular order, as arrays of the framework that the table was
        filled from.
        """
        if self._value is None:
            raise TypeError("a set has no values: use keys()")
        keys, values = self._export()
        return Items(self._like.framework.plain(keys), self._like.framework.plain(values))

    def keys(self) -> Array:
        """All keys; in a multimap that of every pair."""
        return self._like.framework.plain(self._export()[0])

    def values(self) -> Array:
        """All values."""
        return self.items().values

    def batches(self, size: int = 65536) -> Iterator[Any]:
        """All pairs, in a set all keys, `size` at a time. They are those that were there at the beginning."""
        if size < 1:
            raise ValueError(f"size is {size}: a batch has at least one element")
        return self._batches(size)

    def _batches(self, size: int) -> Iterator[Any]:
        keys, values = self._export()
        plain = self._like.framework.plain
        for begin in range(0, len(keys), size):
            some = plain(keys[begin : begin + size])
            yield some if values is None else Items(some, plain(values[begin : begin + size]))

    def __iter__(self) -> Iterator[Any]:
        return self.batches()

    def visit(self, function: Callable[..., Any]) -> None:
        """Calls `function(keys, values)`, in a set `function(keys)`, with some thousand pairs at a time, in host
        memory.

        A true result ends it early. The function must not change the table.
        """
        import numpy

        key, value = (None if kind is None else numpy.dtype(kind.wide) for kind in (self._key, self._value))

        def part(address: Any, dtype: Any, given: Any, n: int) -> Any:
            array = numpy.frombuffer((ctypes.c_char * (n * dtype.itemsize)).from_address(address), dtype)
            return array.astype(given.name)  # a copy, since the library uses its memory again

        def visit(keys: Any, values: Any, n: int) -> Any:
            arrays = [part(keys, key, self._key, n)]
            if value is not None:
                arrays.append(part(values, value, self._value, n))
            visiting = self._read.visiting
            visiting.append(threading.get_ident())
            try:
                return function(*arrays)
            finally:
                visiting.remove(threading.get_ident())

        self._for_all(visit)

    def _for_all(self, visit: Callable[[Any, Any, int], Any]) -> None:
        """Calls `visit` with the addresses of keys and values, in the library's own memory, and their number."""
        raised: list[BaseException] = []

        def called(_context: Any, keys: Any, values: Any, _rows: Any, n: int) -> int:
            try:
                return int(bool(visit(keys, values, n)))
            except BaseException as problem:  # it must not go through the library
                raised.append(problem)
                return 1

        with self._read:
            status = self._functions.for_all(self._handle, c.Visitor(called), None, *self._streamless())
        if raised:
            raise raised[0]
        check(status)

    def validate(self) -> None:
        """Checks every invariant of the table; HeddleCorrupt says what is wrong."""
        with self._read:
            check(self._functions.validate(self._handle, *self._streamless()))

    # --------------------------------------------------------------------------------------- the end

    def close(self) -> None:
        """Frees the memory. Afterwards the table cannot be used."""
        if getattr(self, "_handle", None) is not None:
            with self._write:
                handle, self._handle = self._handle, None
                end, self._functions, self._find, self._contains = self._functions.end, CLOSED, CLOSED, CLOSED
                end(handle)

    def __del__(self) -> None:
        if lib is not None:
            self.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
