"""Joins and group-bys over the devices of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref, c_uint64, c_void_p
from typing import Any

from . import _declarations as c
from ._grouping import columns_struct, same_length
from ._joins import _ONE_SIDED, _OPTIONS
from ._library import check, lib, options
from ._view import View
from ._words import fields_of

_UNORDERED = options(c.GroupsOptions, order=c.GROUPS_UNORDERED, row_bits=64)


def fetch(
    cluster: Any, left: list[View], right: list[View], kind: int, row_bits: int
) -> tuple[Any, Any, dict[str, Any]]:
    """The row numbers of both sides, of the left alone in a semi or anti join, and how it went."""
    like, handle, count, least = left[0], c_void_p(), c_uint64(), c_uint64()
    framework, stats = like.framework, options(c.RelationStats)
    check(
        lib.heddle_cluster_join_create(
            cluster,
            columns_struct(left),
            columns_struct(right),
            len(left),
            same_length(left),
            same_length(right),
            _OPTIONS[kind, row_bits],
            byref(handle),
        )
    )
    try:
        check(lib.heddle_cluster_join_get_stats(handle, byref(stats)))
        check(lib.heddle_cluster_join_count(handle, byref(count), byref(least)))
        rows, done = count.value, 0
        room = rows + least.value if rows else 0  # a part of the result needs room for `least` rows
        native = framework.natives["int64" if row_bits == 64 else "int32"]
        one = framework.empty(room, native, like)
        other = None if kind in _ONE_SIDED else framework.empty(room, native, like)
        while done < rows:
            at = done * row_bits // 8
            right_rows = None if other is None else framework.address(other) + at
            check(
                lib.heddle_cluster_join_fetch(
                    handle, framework.address(one) + at, right_rows, room - done, byref(count)
                )
            )
            done += count.value
        return one[:rows], None if other is None else other[:rows], fields_of(stats)
    finally:
        lib.heddle_cluster_join_destroy(handle)


class ClusterGrouping:
    """Groups of rows over a cluster, as heddle._grouping has them for one device. Results are arrays of the first view."""

    def __init__(self, cluster: Any, open_handles: set[int], views: Sequence[View]):
        self.handle: int | None = None
        self.open_handles = open_handles  # of the cluster, which may be collected first and destroys them then
        self.views, self.like, self.rows = views, views[0], same_length(views)
        handle, count, stats = c_void_p(), c_uint64(), options(c.RelationStats)
        check(
            lib.heddle_cluster_groups_create(
                cluster, columns_struct(views), len(views), self.rows, byref(_UNORDERED), byref(handle)
            )
        )
        self.handle = handle.value
        open_handles.add(handle.value or 0)
        check(lib.heddle_cluster_groups_count(handle, byref(count), None))
        check(lib.heddle_cluster_groups_get_stats(handle, byref(stats)))
        self.count, self.stats = count.value, fields_of(stats)

    def __del__(self) -> None:
        if self.handle in self.open_handles:
            self.open_handles.remove(self.handle)
            lib.heddle_cluster_groups_destroy(self.handle)

    def _open(self) -> Any:
        if self.handle not in self.open_handles:
            raise ValueError("the cluster is closed")
        return self.handle

    def _numbers(self, function: Any, n: int) -> Any:
        framework = self.like.framework
        numbers = framework.empty(n, framework.natives["int64"], self.like)
        check(function(self._open(), framework.address(numbers)))
        return numbers

    def first(self) -> Any:
        return self._numbers(lib.heddle_cluster_groups_first, self.count)

    def sizes(self) -> Any:
        return self._numbers(lib.heddle_cluster_groups_sizes, self.count)

    def inverse(self) -> Any:
        return self._numbers(lib.heddle_cluster_groups_of_rows, self.rows)

    def keys(self, column: int = 0) -> tuple[Any, Any]:
        view = self.views[column]
        framework = view.framework
        keys, valid, flags = framework.empty(self.count, view.native, view), None, None
        if view.valid is not None:
            valid = framework.empty(self.count, framework.natives["uint8"], view)
            flags = framework.address(valid)
        check(lib.heddle_cluster_groups_keys(self._open(), column, framework.address(keys), flags))
        return keys, valid

    def rows_by_group(self) -> tuple[Any, Any]:
        raise TypeError("the rows of each group are not known over a cluster: inverse() has the group of each row")

    def top(self, k: int) -> Any:
        raise TypeError("the largest groups are not known over a cluster: sizes() has the size of each group")

    def aggregate(self, which: int, values: View | None, out: Any, out_valid: Any = None) -> None:
        framework = self.like.framework
        check(
            lib.heddle_cluster_groups_aggregate(
                self._open(),
                which,
                c.TYPE_U64 if values is None else values.dtype.type,
                None if values is None else values.address,
                None if values is None else values.valid,
                framework.address(out),
                None if out_valid is None else framework.address(out_valid),
            )
        )
