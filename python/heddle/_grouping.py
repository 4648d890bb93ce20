"""Rows with equal keys, as the library groups them: what unique, value_counts, factorize and groupby are made of."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref, c_uint64, c_void_p
from typing import Any

from . import _declarations as c
from ._device import Device
from ._library import fail, lib, options, quick
from ._view import View

_ORDERS = (c.GROUPS_UNORDERED, c.GROUPS_BY_FIRST)
_OPTIONS = [
    [options(c.GroupsOptions, order=order, row_bits=64, flags=asked) for asked in range(2 * c.GROUPS_ROWS)]
    for order in _ORDERS
]
_REFERENCES = [[byref(made) for made in row] for row in _OPTIONS]


def column_of(view: View) -> c.Column:
    return c.Column(view.address, view.valid, view.dtype.width, 0)


def columns_struct(views: Sequence[View]) -> Any:
    """The columns as the library takes them; made of views that stay."""
    if len(views) == 1:
        return byref(column_of(views[0]))
    return (c.Column * len(views))(*map(column_of, views))


def same_length(views: Sequence[View]) -> int:
    if len(views) == 1:
        return views[0].size
    sizes = {view.size for view in views}
    if len(sizes) != 1:
        raise ValueError(f"the columns have different lengths: {', '.join(str(view.size) for view in views)}")
    return sizes.pop()


class Grouping:
    """Groups of the rows of some key columns, whose arrays must stay as they are. Results are arrays of
    the first one. `asked` is the sum of GROUPS_* that may be asked for, 0 for anything.
    """

    __slots__ = ("views", "device", "handle", "count", "rows", "stream", "like")

    def __init__(self, views: Sequence[View], device: Device, by_first: bool, asked: int = c.GROUPS_ANYTHING):
        like = views[0]
        self.handle: Any = None
        self.views, self.device, self.like, self.stream = views, device, like, like.stream
        self.rows = same_length(views)
        handle, count = c_void_p(), c_uint64()
        status = lib.heddle_groups_create(
            device.handle,
            columns_struct(views),
            len(views),
            self.rows,
            _REFERENCES[by_first][asked],
            byref(handle),
            self.stream,
        )
        if status:
            fail(status)
        self.handle = handle
        quick.heddle_groups_count(handle, byref(count))
        self.count = count.value

    def close(self) -> None:
        handle, self.handle = self.handle, None
        if handle is not None:
            lib.heddle_groups_destroy(handle)

    __del__ = close

    def _numbers(self, function: Any, n: int) -> Any:
        framework = self.like.framework
        numbers = framework.empty(n, framework.natives["int64"], self.like)
        status = function(self.handle, framework.address(numbers), self.stream)
        if status:
            fail(status)
        return numbers

    def first(self) -> Any:
        """The first row of every group."""
        return self._numbers(lib.heddle_groups_first, self.count)

    def sizes(self) -> Any:
        """The number of rows of every group."""
        return self._numbers(lib.heddle_groups_sizes, self.count)

    def inverse(self) -> Any:
        """The group of every row."""
        return self._numbers(lib.heddle_groups_of_rows, self.rows)

    def keys(self, column: int = 0) -> tuple[Any, Any]:
        """The key of every group in one of the columns, and None or flags that say which are not null."""
        view = self.views[column]
        framework = view.framework
        keys, valid, flags = framework.empty(self.count, view.native, view), None, None
        if view.valid is not None:
            valid = framework.empty(self.count, framework.natives["uint8"], view)
            flags = framework.address(valid)
        status = lib.heddle_groups_keys(self.handle, column, framework.address(keys), flags, self.stream)
        if status:
            fail(status)
        return keys, valid

    def rows_by_group(self) -> tuple[Any, Any]:
        """Where each group begins, and the rows of all groups, group by group."""
        framework = self.like.framework
        begins = framework.empty(self.count + 1, framework.natives["int64"], self.like)
        rows = framework.empty(self.rows, framework.natives["int64"], self.like)
        status = lib.heddle_groups_rows(self.handle, framework.address(begins), framework.address(rows), self.stream)
        if status:
            fail(status)
        return begins, rows

    def top(self, k: int) -> Any:
        """The numbers of the `k` largest groups, largest first."""
        framework, count = self.like.framework, c_uint64()
        numbers = framework.empty(min(k, self.count), framework.natives["int64"], self.like)
        status = lib.heddle_groups_top(self.handle, k, framework.address(numbers), byref(count), self.stream)
        if status:
            fail(status)
        return numbers

    def aggregate(self, which: int, values: View | None, out: Any, out_valid: Any = None) -> None:
        framework = self.like.framework
        status = lib.heddle_groups_aggregate(
            self.handle,
            which,
            c.TYPE_U64 if values is None else values.dtype.type,
            None if values is None else values.address,
            None if values is None else values.valid,
            framework.address(out),
            None if out_valid is None else framework.address(out_valid),
            self.stream,
        )
        if status:
            fail(status)
