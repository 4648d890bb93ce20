"""Joins: which rows of two tables have equal keys."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import byref, c_uint64, c_void_p
from typing import Any, NamedTuple

from . import _declarations as c
from ._device import CPU, Device, device_of
from ._grouping import columns_struct, same_length
from ._keys import canonical, has_nan, same_dtypes
from ._library import check, fail, lib, options, quick
from ._view import VIEWERS, View, view

Array = Any

KINDS = {
    "inner": c.JOIN_INNER,
    "left": c.JOIN_LEFT,
    "right": c.JOIN_RIGHT,
    "full": c.JOIN_FULL,
    "outer": c.JOIN_FULL,
    "semi": c.JOIN_SEMI,
    "anti": c.JOIN_ANTI,
}
_ONE_SIDED = (c.JOIN_SEMI, c.JOIN_ANTI)
_OPTIONS = {
    (kind, bits): byref(options(c.JoinOptions, kind=kind, row_bits=bits))
    for kind in set(KINDS.values())
    for bits in (32, 64)
}


class Joined(NamedTuple):
    left: Array
    right: Array


def columns_of(keys: Any) -> list[View]:
    """The views of one array, or of several in a list, tuple or dict."""
    if not isinstance(keys, (list, tuple)) and type(keys) in VIEWERS:
        return [view(keys)]
    if isinstance(keys, Mapping):
        keys = list(keys.values())
    if isinstance(keys, (list, tuple)) and keys and not isinstance(keys[0], (int, float)):
        if len(keys) > c.KEY_COLUMNS_MAX:
            raise ValueError(f"{len(keys)} key columns: at most {c.KEY_COLUMNS_MAX} can be taken")
        return [view(column) for column in keys]
    return [view(keys)]


def _comparable(v: View, equal_nan: bool) -> View:
    """A column of floats with equal bits for equal numbers; NaN, which equals nothing, as null."""
    made = canonical(v)
    if equal_nan or not has_nan(v):
        return made
    framework = v.framework
    valid = framework.cast(v.array == v.array, framework.natives["uint8"])
    if v.flags is not None:
        valid &= v.flags
    return (v.with_array(v.array) if made is v else made).with_nulls(valid)


def fetch(left: list[View], right: list[View], kind: int, place: Device, row_bits: int = 64) -> tuple[Any, Any]:
    """The row numbers of both sides; of the left alone in a semi or anti join."""
    like, handle, count, least = left[0], c_void_p(), c_uint64(), c_uint64()
    framework, stream = like.framework, left[0].stream if left[0].stream is not None else right[0].stream
    columns = len(left)
    status = lib.heddle_join_create(
        place.handle,
        columns_struct(left),
        columns_struct(right),
        columns,
        same_length(left),
        same_length(right),
        _OPTIONS[kind, row_bits],
        byref(handle),
        stream,
    )
    if status:
        fail(status)
    try:
        check(quick.heddle_join_count(handle, byref(count), byref(least)))
        rows = max(count.value, least.value if count.value else 0)
        native = framework.natives["int64" if row_bits == 64 else "int32"]
        left_rows = framework.empty(rows, native, like)
        right_rows = None if kind in _ONE_SIDED else framework.empty(rows, native, like)
        if rows:
            check(
                lib.heddle_join_fetch(
                    handle,
                    framework.address(left_rows),
                    None if right_rows is None else framework.address(right_rows),
                    rows,
                    byref(count),
                    stream,
                )
            )
        if rows != count.value:
            left_rows, right_rows = left_rows[: count.value], None if right_rows is None else right_rows[: count.value]
        return left_rows, right_rows
    finally:
        lib.heddle_join_destroy(handle)


def _in_order(framework: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """The pairs by their left rows, then by their right rows; rows without a left one come first."""
    order = framework.argsort(right)
    order = framework.take(order, framework.argsort(framework.take(left, order)))
    return framework.take(left, order), framework.take(right, order)


def join(
    left: Any,
    right: Any,
    how: str = "inner",
    *,
    sorted: bool = False,
    equal_nan: bool = False,
    row_bits: int = 64,
    device: Device | str | None = None,
) -> Any:
    """The pairs of rows of two tables that have equal keys: two arrays of row numbers, -1 where a side has no match.

    `left` and `right` are arrays of keys, or lists, tuples or dicts of up to 16 key columns whose types are the
    same on both sides. `how` is "inner", "left", "right", "full" (or "outer"); "semi" and "anti" give one
    array: the left rows that have a match, or that have none, ascending. The pairs are in no particular order,
    with `sorted` by left and then by right row. Nulls match nothing, nor does NaN unless `equal_nan`. With
    `row_bits` 32 row numbers are int32.
    """
    a, b = sides_of(left, right, how, equal_nan, row_bits)
    place = device_of(device, a[0].device if a[0].device != CPU else b[0].device)
    return joined(a[0].framework, *fetch(a, b, KINDS[how], place, row_bits), sorted)


def sides_of(left: Any, right: Any, how: str, equal_nan: bool, row_bits: int) -> tuple[list[View], list[View]]:
    """The key columns of both sides, as the library compares them."""
    if how not in KINDS:
        raise ValueError(f"how is {how!r}: it must be one of {', '.join(map(repr, KINDS))}")
    if row_bits not in (32, 64):
        raise ValueError(f"row_bits is {row_bits}: it must be 32 or 64")
    a = [v if v.dtype.kind != "f" else _comparable(v, equal_nan) for v in columns_of(left)]
    b = [v if v.dtype.kind != "f" else _comparable(v, equal_nan) for v in columns_of(right)]
    if len(a) != len(b):
        raise ValueError(f"the left side has {len(a)} key columns and the right side {len(b)}")
    for number, one in enumerate(a):
        if one.dtype is not b[number].dtype:
            same_dtypes(one, b[number])
    if row_bits == 32 and max(a[0].size, b[0].size) > 2**31 - 1:
        raise ValueError("more than 2^31 - 1 rows: row_bits must be 64")
    return a, b


def joined(framework: Any, rows: Any, others: Any, sorted: bool) -> Any:
    """What the caller gets."""
    if others is None:
        return framework.plain(rows)
    if sorted:
        rows, others = _in_order(framework, rows, others)
    return Joined(framework.plain(rows), framework.plain(others))
