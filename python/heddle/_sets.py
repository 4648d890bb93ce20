"""Membership and set operations on arrays: isin, union1d, intersect1d, setdiff1d."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_uint64, c_void_p
from typing import Any

from . import _declarations as c
from ._device import CPU, Device, device_of
from ._keys import canonical, has_nan, pair, widened
from ._library import check, fail, lib
from ._view import View
from ._words import table_options

Array = Any


def _place(a: View, b: View, device: Device | str | None) -> Device:
    return device_of(device, a.device if a.device != CPU else b.device)


def _stream(a: View, b: View) -> Any:
    return a.stream if a.stream is not None else b.stream


def _look_up(a: View, b: View, place: Device) -> Any:
    """For each element of `a` whether it is in `b`, by a set of the elements of `b`."""
    framework, table, stream = a.framework, c_void_p(), _stream(a, b)
    wanted = table_options("set", a.dtype, None, capacity=b.size)
    check(lib.heddle_table_create(place.handle, byref(wanted), byref(table)))
    try:
        found = framework.empty(a.size, framework.natives["bool"], a)
        check(lib.heddle_table_build(table, b.address, None, b.size, None, None, stream))
        check(lib.heddle_table_contains(table, a.address, a.size, framework.address(found), None, stream))
        return found
    finally:
        lib.heddle_table_destroy(table)


def _match(a: View, b: View, place: Device) -> Any:
    """The same for elements of any width, by a join."""
    from ._joins import fetch

    framework = a.framework
    rows, _ = fetch([a], [b], c.JOIN_SEMI, place)
    found = framework.full(a.size, 0, framework.natives["bool"], a)
    found[rows] = True
    return found


def isin(
    x1: Array, x2: Array, /, *, invert: bool = False, equal_nan: bool = False, device: Device | str | None = None
) -> Array:
    """For each element of `x1` whether it is in `x2`, as flags; with `invert` whether it is not.

    Both arrays are of one type. NaN is in no array, with `equal_nan` in those that have a NaN. A null is in no array.
    """
    a, b = pair(x1, x2)
    framework, place = a.framework, _place(a, b, device)
    flags, shape = a.flags, a.shape
    if b.flags is not None:
        b = b.with_array(b.array[b.flags != 0]).with_nulls(None)
    if a.dtype.kind in "SUV":
        found = _match(a, b, place)
    else:
        nan = a.dtype.is_float and not equal_nan and has_nan(b)
        if nan:
            b = b.with_array(b.array[b.array == b.array])
        found = _look_up(canonical(widened(a)), canonical(widened(b)), place)
    if flags is not None:
        found &= flags != 0
    if invert:
        framework.negate(found)
    return framework.plain(framework.shaped(found, shape))


def _on_device(a: View, b: View, device: Device | str | None) -> Callable[..., int]:
    """heddle_set_operation on a device; a cluster has another such function."""
    place, stream = _place(a, b, device), _stream(a, b)
    return lambda *arguments: int(lib.heddle_set_operation(place.handle, *arguments, stream))


def combine(
    x: Array,
    y: Array,
    operation: int,
    sorted: bool,
    equal_nan: bool,
    device: Device | str | None,
    function: Callable[..., int] | None = None,
) -> Array:
    a, b = pair(x, y)
    framework, native, count, nans = a.framework, a.native, c_uint64(), 0
    if a.valid is not None or b.valid is not None:
        raise ValueError("columns with nulls: leave them out first (drop_nulls, drop_null, dropna)")
    if a.dtype.is_float and not equal_nan:
        sizes = a.size, b.size
        a, b = _without_nan(a), _without_nan(b)
        lost = sizes[0] - a.size, sizes[1] - b.size
        nans = {c.SET_UNION: sum(lost), c.SET_INTERSECTION: 0, c.SET_DIFFERENCE: lost[0]}[operation]
    left, right = canonical(widened(a)), canonical(widened(b))
    room = {c.SET_UNION: a.size + b.size, c.SET_INTERSECTION: min(a.size, b.size), c.SET_DIFFERENCE: a.size}[operation]
    keys = framework.empty(room, left.native, left)
    status = (function or _on_device(a, b, device))(
        operation,
        8 * left.dtype.width,
        left.address,
        a.size,
        right.address,
        b.size,
        framework.address(keys),
        room,
        byref(count),
    )
    if status:
        fail(status)
    keys = _cut(keys, count.value, room)
    if left.native is not native:
        keys = framework.cast(keys, native)
    if sorted:
        keys = framework.take(keys, framework.order(keys))
    if nans:
        keys = framework.concat([keys, framework.full(nans, float("nan"), native, left)])
    return framework.finish(keys)


def _without_nan(v: View) -> View:
    return v.with_array(v.array[v.array == v.array]) if has_nan(v) else v


def _cut(keys: Any, count: int, room: int) -> Any:
    """The first elements, without the room that was not needed where that is much."""
    if count == room:
        return keys
    part = keys[:count]
    if 2 * count < room and hasattr(part, "copy"):
        return part.copy()
    return part.clone() if 2 * count < room and hasattr(part, "clone") else part


def union1d(
    x1: Array, x2: Array, /, *, sorted: bool = False, equal_nan: bool = True, device: Device | str | None = None
) -> Array:
    """The distinct elements of both arrays, in the order in which they first appear, or ascending.

    All NaN are one; without `equal_nan` every NaN is an element of its own, and they come last.
    """
    return combine(x1, x2, c.SET_UNION, sorted, equal_nan, device)


def intersect1d(
    x1: Array, x2: Array, /, *, sorted: bool = False, equal_nan: bool = True, device: Device | str | None = None
) -> Array:
    """The distinct elements that are in both arrays; without `equal_nan` no NaN is."""
    return combine(x1, x2, c.SET_INTERSECTION, sorted, equal_nan, device)


def setdiff1d(
    x1: Array, x2: Array, /, *, sorted: bool = False, equal_nan: bool = True, device: Device | str | None = None
) -> Array:
    """The distinct elements of `x1` that are not in `x2`; without `equal_nan` every NaN of `x1` is one, and comes last."""
    return combine(x1, x2, c.SET_DIFFERENCE, sorted, equal_nan, device)
