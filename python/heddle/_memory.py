"""Tables in the memory of a device: HashMap, HashSet, MultiMap and Counter."""

from __future__ import annotations

import os
import tempfile
from ctypes import byref, c_void_p
from typing import Any

from . import _declarations as c
from ._device import CPU, Device, device_of
from ._dtypes import DType
from ._errors import HeddleFull
from ._kernels import KernelView, kernel_view
from ._library import check, fail, lib, options
from ._tables import Table
from ._view import View, view
from ._words import (
    CONTAINERS,
    SCHEMES,
    Items,
    Lists,
    Totals,
    default_like,
    dtype_of,
    fields_of,
    table_options,
    totals_of,
)

Array = Any

_SCHEME_NAMES = {number: name for name, number in SCHEMES.items()}


class Mixed:
    """The results of mixed: `values` of what was looked up, and `outcomes` of every operation."""

    __slots__ = ("values", "outcomes")

    def __init__(self, values: Any, outcomes: Any):
        self.values, self.outcomes = values, outcomes


def _checked(kind: DType, what: str) -> DType:
    if kind.kind in "SUV":
        raise TypeError(
            f"{what} of the type {kind}: tables take numbers and dates; unique, join and groupby take bytes"
        )
    return kind


class MemoryTable(Table):
    """A table in memory. `keys` and `values`, where given, say the types and the framework, and are inserted."""

    default_value = "int64"

    def _open(
        self,
        keys: Any,
        values: Any,
        key_dtype: Any,
        value_dtype: Any,
        device: Device | str | None,
        on_duplicate: str | None,
        arguments: dict[str, Any],
    ) -> None:
        like = view(keys) if keys is not None else None
        key = (
            dtype_of(key_dtype)[0]
            if key_dtype is not None
            else like.dtype
            if like is not None
            else dtype_of("int64")[0]
        )
        value = self._value_dtype(values, value_dtype)
        if like is not None:
            arguments.setdefault("capacity", like.size)
        self.device = device_of(device, CPU if like is None else like.device)
        self.fixed, self.scheme = bool(arguments.get("fixed")), arguments.get("scheme", "auto")
        handle = c_void_p()
        wanted = table_options(self.container, _checked(key, "keys"), value and _checked(value, "values"), **arguments)
        check(lib.heddle_table_create(self.device.handle, byref(wanted), byref(handle)))
        super().__init__(handle.value, key, value, _empty_like(like) if like is not None else default_like())
        if keys is not None:
            self.build(keys, values, on_duplicate)

    def _value_dtype(self, values: Any, value_dtype: Any) -> DType | None:
        if self.container == "set":
            return None
        if value_dtype is None and values is not None and not isinstance(values, (int, float)):
            return view(values).dtype
        return dtype_of(value_dtype or (float if isinstance(values, float) else self.default_value))[0]

    def _options(self) -> Any:
        told = options(c.TableOptions)
        with self._read:
            check(self._functions.get_options(self._handle, byref(told)))
        return told

    def stats(self) -> dict[str, Any]:
        """The library's statistics: keys, slots, load, bytes_total and more. Goes through the whole table."""
        stats = options(c.TableStats)
        with self._read:
            check(self._functions.get_stats(self._handle, byref(stats), self._like.stream))
        return fields_of(stats)

    @property
    def capacity(self) -> int:
        """Keys that there is room for."""
        return int(self._options().capacity)

    def reserve(self, capacity: int) -> None:
        """Makes room for `capacity` keys in all; also in a fixed table."""
        with self._write:
            check(self._functions.reserve(self._handle, capacity, self._like.stream))

    def rehash(self, capacity: int = 0) -> None:
        """Moves all keys to fresh storage for them, or for `capacity` keys: shrinks a table, and removes traces."""
        with self._write:
            check(self._functions.rehash(self._handle, capacity, self._like.stream))

    def take_totals(self) -> Totals:
        """What became of the keys of all calls on arrays of a GPU since the last time; waits for them."""
        totals = options(c.Totals)
        with self._write:
            check(self._functions.take_totals(self._handle, byref(totals), self._like.stream))
        return totals_of(totals)

    def raise_if_full(self, keys: Any = None) -> None:
        """HeddleFull if keys of calls on arrays of a GPU did not fit: those calls do not wait and cannot say so.

        With `keys`, an array of what these calls have inserted, the exception has those of them that are not in the
        table, and their rows. In a multimap a key may be there although one of its values did not fit.
        """
        failed = self.take_totals().failed
        if not failed:
            return
        problem = f"{failed} keys did not fit"
        if keys is None:
            raise HeddleFull(problem, count=failed)
        given, v = view(keys), self._keys(keys)
        framework, found = v.framework, self._found(v)
        framework.negate(found)
        rows = framework.nonzero(found)
        raise HeddleFull(
            problem, framework.plain(rows), framework.finish(framework.take(given.array.reshape(-1), rows)), failed
        )

    def mixed(
        self, operations: Any, keys: Any, values: Any = None, on_duplicate: str | None = None, *, default: Any = 0
    ) -> Mixed:
        """A batch of insertions, erasures and lookups all at once, in a table of scheme "slab".

        `operations` has an Operation for each key, of type uint8. `values` are what insertions insert.
        """
        v = self._keys(keys)
        framework = v.framework
        asked = view(operations)
        if asked.dtype.name != "uint8" or asked.size != v.size:
            raise TypeError(
                f"operations must be {v.size} elements of the type uint8, and are {asked.size} of {asked.dtype}"
            )
        w = None if values is None else self._values(values, v)
        outcomes = framework.empty(v.size, framework.natives["uint8"], v)
        found = None if self._value is None else framework.full(v.size, default, self._stored(framework), v)
        told = options(c.InsertOptions, policy=self._policy(on_duplicate), outcomes=framework.address(outcomes))
        with self._write:
            status = self._functions.mixed(
                self._handle,
                asked.address,
                v.address,
                None if w is None else w.address,
                v.size,
                None if found is None else framework.address(found),
                byref(told),
                None,
                v.stream,
            )
        if status:
            fail(status)
        return Mixed(None if found is None else self._given_back(found, v), framework.plain(outcomes))

    def kernel_view(self) -> KernelView:
        """What a kernel of CuPy's or Numba's needs to look keys up in this table, on a GPU: see docs/python.md.

        It holds until the table grows or is rehashed, in a slab hash until a call changes the table.
        """
        with self._write:
            if self._handle is None:
                raise ValueError("the table is closed")
            return kernel_view(self, self._handle, SCHEMES)

    # ------------------------------------------------------------------------------------------- files

    def save(self, path: Any) -> None:
        """Writes the table to a file that any device loads. The types of keys and values are not in it, only their
        widths.
        """
        with self._read:
            check(self._functions.save(self._handle, os.fsencode(path), self._like.stream))

    @classmethod
    def load(
        cls, path: Any, *, key_dtype: Any = None, value_dtype: Any = None, device: Device | str | None = None
    ) -> Any:
        """The table in a file, on the CPU unless told. Say which types keys and values have; int64 or int32
        otherwise.
        """
        place, handle, told = device_of(device, CPU), c_void_p(), options(c.TableOptions)
        check(lib.heddle_table_load(place.handle, os.fsencode(path), None, byref(handle)))
        try:
            check(lib.heddle_table_get_options(handle, byref(told)))
            if told.container != CONTAINERS[cls.container]:
                kind = next(name for name, number in CONTAINERS.items() if number == told.container)
                raise ValueError(f"the file holds a {kind}, not a {cls.container}")
            key = _typed(key_dtype, told.key_bits, "key_dtype")
            value = None if told.value_bits == 0 else _typed(value_dtype, told.value_bits, "value_dtype")
        except BaseException:
            lib.heddle_table_destroy(handle)
            raise
        made = cls.__new__(cls)
        made.device = place
        made.fixed, made.scheme = bool(told.flags & c.FLAG_FIXED), _SCHEME_NAMES.get(told.scheme, "auto")
        Table.__init__(made, handle.value, key, value, default_like())
        return made

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "table")
            self.save(path)
            with open(path, "rb") as file:
                content = file.read()
        return _unpickled, (
            type(self),
            content,
            self._key.name,
            None if self._value is None else self._value.name,
            "cuda" if self.device.is_cuda else None,
        )

    def __repr__(self) -> str:
        if self._handle is None:
            return f"<heddle.{type(self).__name__}, closed>"
        stats, value = self.stats(), "" if self._value is None else f" -> {self._value}"
        scheme = _SCHEME_NAMES.get(self._options().scheme, "auto")
        return (
            f"<heddle.{type(self).__name__} {self._key}{value}: {len(self)} keys, {scheme}, "
            f"load {stats['load']:.2f} of "
            f"{stats['slots']} slots, {_bytes(stats['bytes_total'])}, {self.device.name}>"
        )


def _empty_like(v: View) -> View:
    """An empty array of a caller's framework, which holds none of its memory."""
    framework = v.framework
    made: View = framework.view(framework.empty(0, framework.natives["int64"], v))
    made.stream, made.device = v.stream, v.device
    return made


def _typed(given: Any, bits: int, what: str) -> DType:
    if given is None:
        return dtype_of(f"int{bits}")[0]
    kind = dtype_of(given)[0]
    if (64 if kind.width == 8 else 32) != bits:
        raise ValueError(f"{what} is {kind}, and the file has {bits} bits")
    return kind


def _unpickled(cls: Any, content: bytes, key: str, value: str | None, device: str | None) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "table")
        with open(path, "wb") as file:
            file.write(content)
        return cls.load(path, key_dtype=key, value_dtype=value, device=device)


def _bytes(number: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


class HashMap(MemoryTable):
    """A map from keys to one value each: `m = HashMap(keys, values)`, `m[keys]`, `m.get(keys, default)`.

    Options: `capacity`, `scheme` ("auto", "cuckoo", "open", "iceberg", "slab"), `fixed` (never grow: HeddleFull
    says which keys did not fit), `load`, `bucket`, `hashes`, `seed`, `threshold`.
    """

    container = "map"

    def __init__(
        self,
        keys: Any = None,
        values: Any = None,
        *,
        key_dtype: Any = None,
        value_dtype: Any = None,
        device: Device | str | None = None,
        on_duplicate: str | None = None,
        **table: Any,
    ):
        self._open(keys, values, key_dtype, value_dtype, device, on_duplicate, table)


class HashSet(MemoryTable):
    """A set of keys: `s = HashSet(keys)`, `s.contains(keys)`, `key in s`."""

    container = "set"

    def __init__(self, keys: Any = None, *, key_dtype: Any = None, device: Device | str | None = None, **table: Any):
        self._open(keys, None, key_dtype, None, device, None, table)

    def add(self, keys: Any) -> None:
        """Adds keys. Those that are there already stay."""
        self.insert(keys)

    def discard(self, keys: Any) -> None:
        """Erases the keys that are there."""
        self.erase(keys)


class MultiMap(MemoryTable):
    """A map from keys to any number of values each: `m.get(keys)` gives all of them, with where those of each key
    begin.

    The default scheme, a hashgraph, is made in one go: take "bucket_list", "open" or "slab" for one that grows
    often. `ordered` puts the values of a key in ascending order, taken as unsigned numbers (hashgraph only).
    """

    container = "multimap"

    def __init__(
        self,
        keys: Any = None,
        values: Any = None,
        *,
        key_dtype: Any = None,
        value_dtype: Any = None,
        device: Device | str | None = None,
        **table: Any,
    ):
        self._open(keys, values, key_dtype, value_dtype, device, None, table)

    def get(self, keys: Any, default: Any = 0) -> Lists:
        """All values of every key: those of keys[i] are values[offsets[i]:offsets[i + 1]]."""
        return self.retrieve([keys] if isinstance(keys, (int, float)) else keys)

    def __getitem__(self, keys: Any) -> Any:
        found = self.get(keys)
        return found.values if isinstance(keys, (int, float)) else found

    def __setitem__(self, keys: Any, values: Any) -> None:
        raise TypeError("a multimap keeps all values of a key: use insert, or erase first")


class Counter(MemoryTable):
    """Counts keys: `c = Counter(keys)`, `c[keys]`, `c.most_common(10)`. Counts are 64 bits wide unless told."""

    container = "counter"

    def __init__(
        self,
        keys: Any = None,
        weights: Any = None,
        *,
        key_dtype: Any = None,
        value_dtype: Any = "int64",
        device: Device | str | None = None,
        **table: Any,
    ):
        self._open(keys, weights, key_dtype, value_dtype, device, None, table)

    def add(self, keys: Any, weights: Any = None) -> None:
        """Counts every key once, or by the weight given with it."""
        self.insert(keys, weights)

    def __getitem__(self, keys: Any) -> Any:
        return self.get(keys)

    def __setitem__(self, keys: Any, values: Any) -> None:
        raise TypeError("a counter adds: use add(keys, weights)")

    def most_common(self, n: int | None = None) -> Items:
        """The `n` most frequent keys and their counts, the most frequent first; all of them without `n`."""
        framework = self._like.framework
        keys, counts = self._export()
        order = framework.order(-counts if self._value is None or self._value.kind == "i" else ~counts)[:n]
        return Items(framework.plain(framework.take(keys, order)), framework.plain(framework.take(counts, order)))

    def total(self) -> int:
        """The sum of all counts."""
        return int(sum(self._export()[1])) if self._like.framework.name == "array" else int(self._export()[1].sum())
