"""Group-by: aggregates of columns of values by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _declarations as c
from ._device import Device, device_of
from ._dtypes import SUMS
from ._grouping import Grouping
from ._joins import columns_of
from ._keys import canonical
from ._view import View, view

Array = Any

AGGREGATES = {
    "count": c.AGGREGATE_COUNT,
    "sum": c.AGGREGATE_SUM,
    "min": c.AGGREGATE_MIN,
    "max": c.AGGREGATE_MAX,
    "mean": c.AGGREGATE_MEAN,
}


class GroupBy:
    """The rows of some key columns, brought together by equal keys. Made by heddle.groupby.

    The key columns must stay as they are. All results have an element for each group, in the same order.
    """

    def __init__(self, grouping: Any, names: list[str], data: Any, sorted: bool = False):
        self._grouping, self._names, self._data = grouping, names, data
        self._framework = grouping.like.framework
        # The groups by ascending keys; None for the order in which the library has them.
        self._order = _ascending(grouping) if sorted and grouping.count else None

    def __len__(self) -> int:
        return int(self._grouping.count)

    def __repr__(self) -> str:
        return f"<heddle.GroupBy {len(self)} groups of {self._grouping.rows} rows by {', '.join(self._names)}>"

    def keys(self) -> dict[str, Array]:
        """The key of every group: a column for each key column."""
        made = {}
        for number, name in enumerate(self._names):
            framework = self._grouping.views[number].framework
            made[name] = framework.finish(*(self._placed(part, framework) for part in self._grouping.keys(number)))
        return made

    def _placed(self, array: Any, framework: Any = None) -> Any:
        """An array with an element for each group, in the order that was asked for."""
        if self._order is None or array is None:
            return array
        return (framework or self._framework).take(array, self._order)

    def _numbers(self, groups: Any) -> Any:
        """Numbers of groups, in the order that was asked for."""
        if self._order is None:
            return groups
        return self._framework.take(self._framework.order(self._order), groups)

    def sizes(self) -> Array:
        """The number of rows of every group."""
        return self._framework.plain(self._placed(self._grouping.sizes()))

    def first(self) -> Array:
        """The first row of every group."""
        return self._framework.plain(self._placed(self._grouping.first()))

    def inverse(self) -> Array:
        """The number of the group of every row."""
        return self._framework.plain(self._numbers(self._grouping.inverse()))

    def rows(self) -> tuple[Array, Array]:
        """Where each group begins, and the rows of all groups, group by group, ascending in each."""
        framework, (begins, rows) = self._framework, self._grouping.rows_by_group()
        if self._order is not None:
            begins[1:] = framework.cumsum(self._placed(begins[1:] - begins[:-1]))
            rows = framework.argsort(self._numbers(self._grouping.inverse()))
        return framework.plain(begins), framework.plain(rows)

    def top(self, k: int) -> Array:
        """The numbers of the `k` largest groups, largest first."""
        return self._framework.plain(self._numbers(self._grouping.top(k)))

    def agg(self, **columns: Any) -> dict[str, Array]:
        """The keys, and for each `name=(values, how)` a column of results.

        `values` is an array with an element for each row, or the name of a column of the data that groupby was
        given. `how` is "count", "sum", "min", "max", "mean" or "size", the last also alone: `n="size"`. Nulls
        take no part. Sums of integers are of 64 bits and wrap.
        """
        result = self.keys()
        for name, what in columns.items():
            if name in result:
                raise ValueError(f"{name!r} is the name of a key: give the result another one")
            if what == "size":
                result[name] = self.sizes()
            else:
                values, how = what
                result[name] = self._aggregate(values, how)
        return result

    def count(self, values: Array) -> Array:
        return self._aggregate(values, "count")

    def sum(self, values: Array) -> Array:
        return self._aggregate(values, "sum")

    def min(self, values: Array) -> Array:
        return self._aggregate(values, "min")

    def max(self, values: Array) -> Array:
        return self._aggregate(values, "max")

    def mean(self, values: Array) -> Array:
        return self._aggregate(values, "mean")

    def _aggregate(self, values: Any, how: str) -> Array:
        if how == "size":
            return self.sizes()
        if how not in AGGREGATES:
            raise ValueError(f"the aggregate {how!r}: it must be one of {', '.join(map(repr, AGGREGATES))} and 'size'")
        if isinstance(values, str):
            if self._data is None:
                raise TypeError(f"{values!r} names a column, and groupby was given no data: give the array")
            values = self._data[values]
        v = _values(view(values), how)
        if v.size != self._grouping.rows:
            raise ValueError(f"{v.size} values for {self._grouping.rows} rows")
        framework, grouping = self._framework, self._grouping
        name = {"count": "int64", "mean": "float64"}.get(how) or (SUMS[v.dtype.kind] if how == "sum" else v.dtype.name)
        native = framework.natives[name]
        out, out_valid = framework.empty(len(self), native, grouping.like), None
        if v.valid is not None and how != "count":
            out_valid = framework.empty(len(self), framework.natives["uint8"], grouping.like)
        grouping.aggregate(AGGREGATES[how], v, out, out_valid)
        out, out_valid = self._placed(out), self._placed(out_valid)
        if how not in ("min", "max"):
            return framework.plain(out, out_valid)
        return self._as_given(view(values), out, out_valid)

    def _as_given(self, given: View, out: Any, valid: Any) -> Array:
        """A minimum or maximum in the type of the values."""
        framework = self._framework
        if given.dtype.kind in "mM":
            out = framework.reinterpret(out, given.native)
        elif given.dtype.name != given.dtype.wide:
            out = framework.cast(out, framework.natives[given.dtype.name])
        if given.framework.name == framework.name:
            return given.framework.finish(out, valid)
        return framework.plain(out, valid)


def _ascending(grouping: Any) -> Any:
    """The groups by their keys, the first column first; nulls and NaN come last."""
    order = None
    for number in range(len(grouping.views) - 1, -1, -1):
        framework = grouping.views[number].framework
        keys, valid = grouping.keys(number)
        for part in (keys, None if valid is None else valid == 0):
            if part is not None:
                by = framework.argsort(part if order is None else framework.take(part, order))
                order = by if order is None else framework.take(order, by)
    return order


def _values(v: View, how: str) -> View:
    """A column of values as the library aggregates it: dates as int64, narrow integers as 32 bits."""
    framework = v.framework
    if v.dtype.kind in "SUV":
        raise TypeError(f"values of the type {v.dtype}: numbers and dates can be aggregated")
    if v.dtype.kind in "mM":
        if how in ("sum", "mean"):
            raise TypeError(f"a {how} of values of the type {v.dtype}: convert them to int64 first")
        valid = (v.array == v.array).astype(framework.natives["uint8"])
        numbers = framework.reinterpret(v.array, framework.natives["int64"])
        return v.with_array(numbers).with_nulls(None if valid.all() else valid)
    if v.dtype.type == 0:
        return v.with_array(framework.cast(v.array, framework.natives[v.dtype.wide]))
    return v


def _named(keys: Any) -> list[str]:
    if isinstance(keys, Mapping):
        return [str(name) for name in keys]
    if isinstance(keys, (list, tuple)) and keys and not isinstance(keys[0], (int, float)):
        return [f"key_{number}" for number in range(len(keys))]
    return ["key"]


def key_views(keys: Any, data: Any, equal_nan: bool) -> tuple[list[View], list[str]]:
    """The key columns as the library compares them, and their names."""
    if data is not None:
        names = [keys] if isinstance(keys, str) else list(keys)
        keys = {name: data[name] for name in names}
    views = []
    for v in columns_of(keys):
        made = canonical(v)
        if made is not v and not equal_nan and bool((v.array != v.array).any()):
            raise ValueError("keys with NaN, and equal_nan is false: leave these rows out")
        views.append(made)
    return views, _named(keys)


def groupby(
    keys: Any,
    data: Any = None,
    *,
    sorted: bool = False,
    in_order: bool = False,
    equal_nan: bool = True,
    device: Device | str | None = None,
) -> GroupBy:
    """Brings the rows with equal keys together: `groupby(keys).agg(total=(values, "sum"))`.

    `keys` is an array, or a list, tuple or dict of up to 16 arrays. With `data`, a dict or data frame, `keys`
    is the name of a column or a list of names, and `agg` takes names, too. Groups are in no particular order,
    with `sorted` in that of their keys, with `in_order` in that of their first rows. Nulls are one key; so are NaN, unless `equal_nan` is false:
    then rows with NaN are refused.
    """
    if sorted and in_order:
        raise ValueError("sorted and in_order ask for two different orders")
    views, names = key_views(keys, data, equal_nan)
    place = device_of(device, max(v.device for v in views))
    return GroupBy(Grouping(views, place, in_order), names, data, sorted)
