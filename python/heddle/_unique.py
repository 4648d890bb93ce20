"""The distinct elements of an array, and what else is known of them: unique, value_counts, factorize."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _declarations as c
from ._device import Device, device_of
from ._grouping import Grouping
from ._view import View, view

Array = Any


class UniqueAll(NamedTuple):
    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    values: Array
    inverse_indices: Array


class ValueCounts(NamedTuple):
    values: Array
    counts: Array


class Factorized(NamedTuple):
    codes: Array
    values: Array


class _Found:
    """The arrays that were asked for, as the framework's own functions work on them."""

    __slots__ = ("values", "valid", "first", "inverse", "sizes")

    def __init__(self, values: Any, valid: Any, first: Any, inverse: Any, sizes: Any):
        self.values, self.valid = values, valid
        self.first, self.inverse, self.sizes = first, inverse, sizes


def _group(v: View, device: Device, by_first: bool, first: bool, inverse: bool, sizes: bool) -> _Found:
    asked = c.GROUPS_KEYS + first * c.GROUPS_FIRST + sizes * c.GROUPS_SIZES + inverse * c.GROUPS_ROWS
    grouping = Grouping((v,), device, by_first, asked)
    try:
        values, valid = grouping.keys()
        return _Found(
            values,
            valid,
            grouping.first() if first else None,
            grouping.inverse() if inverse else None,
            grouping.sizes() if sizes else None,
        )
    finally:
        grouping.close()


def _nans(found: _Found) -> Any:
    nans = found.values != found.values
    return nans if found.valid is None else nans & (found.valid != 0)


def _each_nan_apart(found: _Found, v: View) -> None:
    """Makes a group of every NaN, from the one group that all of them are in now."""
    framework, array = v.framework, found.values
    group = int(framework.nonzero(_nans(found))[0])
    flat = v.array.reshape(-1)
    rows = framework.nonzero(flat != flat if v.flags is None else (flat != flat) & (v.flags != 0))
    extra, old, int64 = len(rows) - 1, len(array), framework.natives["int64"]
    found.values = framework.concat([array, framework.full(extra, float("nan"), v.native, v)])
    if found.valid is not None:
        found.valid = framework.concat([found.valid, framework.full(extra, 1, framework.natives["uint8"], v)])
    if found.first is not None:
        found.first = framework.concat([found.first, framework.cast(rows[1:], int64)])
    if found.inverse is not None:
        found.inverse[rows[1:]] = framework.arange(old, old + extra, int64, v)
    if found.sizes is not None:
        found.sizes[group] = 1
        found.sizes = framework.concat([found.sizes, framework.full(extra, 1, int64, v)])


def _group_floats(v: View, device: Device, by_first: bool, equal_nan: bool, *wanted: bool) -> _Found:
    """As _group, with 0.0 and -0.0 as one key, and NaN as told.

    The library compares bits. That is right for nearly all arrays, so the answer shows whether it was: only when
    different bits of one number occur is a copy made in which they are alike.
    """
    found = _group(v, device, by_first, *wanted)
    values, nans = found.values, int(_nans(found).sum())
    if nans > 1 or int((values == 0).sum()) > 1:
        v = v.with_array(v.framework.canonical(v.array))
        found = _group(v, device, by_first, *wanted)
    if nans and not equal_nan:
        _each_nan_apart(found, v)
    return found


def _sort(found: _Found, v: View) -> None:
    """Brings the values into ascending order, nulls and NaN last."""
    framework = v.framework
    order = framework.order(found.values)
    if found.valid is not None:
        order = framework.take(order, framework.argsort(framework.take(found.valid, order) == 0))
    found.values = framework.take(found.values, order)
    if found.valid is not None:
        found.valid = framework.take(found.valid, order)
    if found.first is not None:
        found.first = framework.take(found.first, order)
    if found.sizes is not None:
        found.sizes = framework.take(found.sizes, order)
    if found.inverse is not None:
        found.inverse = framework.take(framework.order(order), found.inverse)


def _unique(
    v: View,
    device: Device | str | None,
    sorted: bool,
    in_order: bool,
    equal_nan: bool,
    first: bool = False,
    inverse: bool = False,
    sizes: bool = False,
) -> _Found:
    place = device_of(device, v.device)
    if v.dtype.kind == "f":
        found = _group_floats(v, place, in_order, equal_nan, first, inverse, sizes)
    else:
        found = _group(v, place, in_order, first, inverse, sizes)
    if sorted:
        _sort(found, v)
    return found


def unique_values(x: Array, /, *, sorted: bool = False, device: Device | str | None = None) -> Array:
    """The distinct elements of `x`, in no particular order, or ascending. As in the array API every NaN is one."""
    v = view(x)
    found = _unique(v, device, sorted, False, False)
    return v.framework.finish(found.values, found.valid)


def unique_counts(x: Array, /, *, sorted: bool = False, device: Device | str | None = None) -> UniqueCounts:
    """The distinct elements of `x`, and how often each occurs."""
    v = view(x)
    found = _unique(v, device, sorted, False, False, sizes=True)
    framework = v.framework
    return UniqueCounts(framework.finish(found.values, found.valid), framework.plain(found.sizes))


def unique_inverse(x: Array, /, *, sorted: bool = False, device: Device | str | None = None) -> UniqueInverse:
    """The distinct elements of `x`, and for each element of `x` which of them it is."""
    v = view(x)
    found = _unique(v, device, sorted, False, False, inverse=True)
    framework = v.framework
    inverse = framework.shaped(found.inverse, v.shape)
    return UniqueInverse(framework.finish(found.values, found.valid), framework.plain(inverse))


def unique_all(x: Array, /, *, sorted: bool = False, device: Device | str | None = None) -> UniqueAll:
    """The distinct elements of `x`, where each occurs first, which of them each element is, and how often
    each occurs.
    """
    v = view(x)
    found = _unique(v, device, sorted, False, False, True, True, True)
    framework = v.framework
    plain = framework.plain
    return UniqueAll(
        framework.finish(found.values, found.valid),
        plain(found.first),
        plain(framework.shaped(found.inverse, v.shape)),
        plain(found.sizes),
    )


def unique(
    x: Array,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    sorted: bool = False,
    in_order: bool = False,
    equal_nan: bool = True,
    device: Device | str | None = None,
) -> Any:
    """numpy.unique by hashing: the distinct elements of `x`, and more where asked for, as a tuple in NumPy's order.

    The elements are in no particular order; `sorted` puts them in ascending order, `in_order` in the order in
    which they first appear. With `equal_nan` all NaN are one element.
    """
    if sorted and in_order:
        raise ValueError("sorted and in_order ask for two different orders")
    v = view(x)
    found = _unique(v, device, sorted, in_order, equal_nan, return_index, return_inverse, return_counts)
    framework = v.framework
    values = framework.finish(found.values, found.valid)
    more = [
        framework.plain(part)
        for part in (
            found.first,
            None if found.inverse is None else framework.shaped(found.inverse, v.shape),
            found.sizes,
        )
        if part is not None
    ]
    return (values, *more) if more else values


def value_counts(
    x: Array,
    *,
    top: int | None = None,
    sort: bool = True,
    dropna: bool = True,
    equal_nan: bool = True,
    device: Device | str | None = None,
) -> ValueCounts:
    """How often each element occurs, the most frequent first; only the `top` most frequent where told.

    Without `sort` they are in no particular order. Nulls and NaN are left out; without `dropna` nulls are one element,
    and so are NaN, or with `equal_nan` false every NaN is one.
    """
    v = view(x)
    framework = v.framework
    found = _unique(v, device, False, False, dropna or equal_nan, sizes=True)
    values, valid, sizes = found.values, found.valid, found.sizes
    if dropna:
        there = None if valid is None else valid != 0
        if v.dtype.kind == "f" and bool((values != values).any()):
            there = values == values if there is None else there & (values == values)
        if there is not None:
            values, sizes, valid = values[there], sizes[there], None
    if sort or top is not None:
        order = framework.order(-sizes)[:top]
        values, sizes = framework.take(values, order), framework.take(sizes, order)
        valid = None if valid is None else framework.take(valid, order)
    return ValueCounts(framework.finish(values, valid), framework.plain(sizes))


def factorize(
    x: Array, *, sort: bool = False, use_na_sentinel: bool = True, device: Device | str | None = None
) -> Factorized:
    """pandas.factorize: a number for each element, and the distinct elements in the order in which they first appear.

    `sort` puts the distinct elements in ascending order. Nulls and NaN get the number -1 and are no element; without
    `use_na_sentinel` they are elements, one each.
    """
    v = view(x)
    framework = v.framework
    found = _unique(v, device, sort, not sort, True, inverse=True)
    values, valid, codes = found.values, found.valid, found.inverse
    if use_na_sentinel:
        missing = None if valid is None else valid == 0
        if v.dtype.kind == "f" and bool((values != values).any()):
            missing = values != values if missing is None else missing | (values != values)
        if missing is not None and bool(missing.any()):
            there = missing == 0
            kept = framework.nonzero(there)
            numbers = framework.full(len(values), -1, framework.natives["int64"], v)
            numbers[kept] = framework.arange(0, len(kept), framework.natives["int64"], v)
            codes, values = framework.take(numbers, codes), values[there]
        valid = None
    return Factorized(framework.plain(framework.shaped(codes, v.shape)), framework.finish(values, valid))
