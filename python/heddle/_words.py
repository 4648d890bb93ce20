"""The words of tables: policies, schemes and results by name, the library's calls for a kind of table, and the gate."""

from __future__ import annotations

import ctypes
import threading
from array import array as plain_array
from enum import IntEnum
from typing import Any, NamedTuple

from . import _declarations as c
from ._dtypes import DTYPES, DType
from ._library import lib, options
from ._view import View, view

Array = Any


class Outcome(IntEnum):
    """What became of a key."""

    INSERTED = c.OUTCOME_INSERTED
    UPDATED = c.OUTCOME_UPDATED
    KEPT = c.OUTCOME_KEPT
    FAILED = c.OUTCOME_FAILED
    FOUND = c.OUTCOME_FOUND
    ABSENT = c.OUTCOME_ABSENT


class Operation(IntEnum):
    """An operation of HashMap.mixed."""

    INSERT = c.OPERATION_INSERT
    ERASE = c.OPERATION_ERASE
    FIND = c.OPERATION_FIND


POLICIES = {
    "keep": c.POLICY_KEEP,
    "replace": c.POLICY_REPLACE,
    "add": c.POLICY_ADD,
    "min": c.POLICY_MIN,
    "max": c.POLICY_MAX,
}
SCHEMES = {
    "auto": c.SCHEME_AUTO,
    "cuckoo": c.SCHEME_CUCKOO,
    "hashgraph": c.SCHEME_HASHGRAPH,
    "open": c.SCHEME_OPEN,
    "iceberg": c.SCHEME_ICEBERG,
    "bucket_list": c.SCHEME_BUCKET_LIST,
    "slab": c.SCHEME_SLAB,
}
# Options of tables that are made without them; tests of a library with few tables say which buckets it has.
DEFAULTS: dict[str, Any] = {}
CONTAINERS = {
    "map": c.CONTAINER_MAP,
    "set": c.CONTAINER_SET,
    "multimap": c.CONTAINER_MULTIMAP,
    "counter": c.CONTAINER_COUNTER,
}


class Found(NamedTuple):
    values: Array
    found: Array


class Lists(NamedTuple):
    values: Array
    offsets: Array


class Items(NamedTuple):
    keys: Array
    values: Array


class Totals(NamedTuple):
    """What became of keys: see heddle_totals in the reference."""

    inserted: int
    updated: int
    kept: int
    failed: int
    found: int
    absent: int
    probes: int
    evictions: int


def fields_of(struct: Any) -> dict[str, Any]:
    """The fields of a struct of statistics, without its size; arrays as lists."""
    values = {field[0]: getattr(struct, field[0]) for field in struct._fields_[1:]}
    return {name: list(value) if isinstance(value, ctypes.Array) else value for name, value in values.items()}


def totals_of(struct: Any) -> Totals:
    return Totals(*(getattr(struct, name) for name in Totals._fields))


class Functions:
    """The library's calls for one kind of table: heddle_table_find and so on are `find` and so on."""

    def __init__(self, prefix: str, streams: bool, end: str):
        self.streams, self.end = streams, getattr(lib, prefix + end)
        for name in c.FUNCTIONS:
            if name.startswith(prefix):
                setattr(self, name.removeprefix(prefix), getattr(lib, name))

    def __getattr__(self, name: str) -> Any:
        raise TypeError(f"{name} is not for this kind of table")


class Closed:
    """The calls of a table that is closed: none."""

    streams = False

    def __getattr__(self, name: str) -> Any:
        raise ValueError("the table is closed")

    def __call__(self, *_: Any) -> Any:
        raise ValueError("the table is closed")


IN_MEMORY = Functions("heddle_table_", True, "destroy")
CLOSED = Closed()


class Gate:
    """Lets any number of readers in, or one writer."""

    __slots__ = ("lock", "left", "readers", "visiting")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.left = threading.Condition(self.lock)
        self.readers = 0
        self.visiting: list[int] = []  # the threads that are inside a function or a loop over the table

    def __enter__(self) -> None:
        with self.lock:
            self.readers += 1

    def __exit__(self, *_: Any) -> None:
        with self.lock:
            self.readers -= 1
            if not self.readers:
                self.left.notify_all()


class Alone:
    """The gate as a writer passes it."""

    __slots__ = ("gate",)

    def __init__(self, gate: Gate):
        self.gate = gate

    def __enter__(self) -> None:
        if threading.get_ident() in self.gate.visiting:
            raise RuntimeError("a function or loop that is given the pairs of a table must not change it")
        self.gate.lock.acquire()
        while self.gate.readers:
            self.gate.left.wait()

    def __exit__(self, *_: Any) -> None:
        self.gate.lock.release()


def dtype_of(what: Any) -> tuple[DType, Any]:
    """The type for a name such as "int64", a Python or NumPy type or one of torch's, and NumPy's name for
    it or None.
    """
    if isinstance(what, DType):
        return what, None
    name = {int: "int64", float: "float64", bool: "bool"}.get(what) or str(getattr(what, "__name__", what))
    name = name.removeprefix("torch.")
    if name in DTYPES:
        return DTYPES[name], None
    import numpy

    from ._numpy import KNOWN, learn

    native = numpy.dtype(what)
    return KNOWN.get(native) or learn(native), native


def table_options(
    container: str,
    key: DType,
    value: DType | None,
    scheme: str = "auto",
    capacity: int = 0,
    fixed: bool = False,
    ordered: bool = False,
    **more: Any,
) -> Any:
    """The library's options; `more` are bucket, hashes, seed, load, vertices, threshold, list_first, list_growth."""
    if scheme not in SCHEMES:
        raise ValueError(f"scheme is {scheme!r}: it must be one of {', '.join(map(repr, SCHEMES))}")
    if DEFAULTS and (scheme in ("cuckoo", "open") or (scheme == "auto" and container != "multimap")):
        more = {**DEFAULTS, **more}
    unknown = set(more) - {"bucket", "hashes", "seed", "load", "vertices", "threshold", "list_first", "list_growth"}
    if unknown:
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}")
    flags = (c.FLAG_FIXED if fixed else 0) | (c.FLAG_ORDERED if ordered else 0)
    return options(
        c.TableOptions,
        container=CONTAINERS[container],
        scheme=SCHEMES[scheme],
        flags=flags,
        capacity=capacity,
        key_bits=64 if key.width == 8 else 32,
        value_bits=0 if value is None else 64 if value.width == 8 else 32,
        **more,
    )


def default_like() -> View:
    """An empty array of the framework for results where the caller has shown none yet."""
    try:
        import numpy

        return view(numpy.empty(0, "int64"))
    except ImportError:
        return view(plain_array("q"))
