"""Tables over several devices of one process."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref, c_void_p
from typing import Any

from . import _declarations as c
from ._cluster_relations import ClusterGrouping, fetch
from ._groupby import GroupBy, key_views
from ._joins import KINDS, joined, sides_of
from ._library import check, lib, options
from ._memory import _checked
from ._sets import combine
from ._tables import Table
from ._words import Functions, Lists, default_like, dtype_of, fields_of, table_options

_FUNCTIONS = Functions("heddle_cluster_table_", False, "destroy")
BALANCES = {"auto": c.BALANCE_AUTO, "keys": c.BALANCE_KEYS, "rows": c.BALANCE_ROWS}


Array = Any


class Cluster:
    """Several devices that work on one table: `with Cluster("cuda:0,cuda:1") as cluster: t = cluster.table("map")`.

    They also join, group and combine arrays as one: join, groupby, union1d, intersect1d and setdiff1d, as the functions
    of these names. Arrays lie in host memory, or on any of the devices: then they must be ready, since there are no
    streams.
    """

    def __init__(self, devices: str | Sequence[str], *, slice: int = 0):
        names = devices if isinstance(devices, str) else ",".join(devices)
        handle, wanted = c_void_p(), options(c.ClusterOptions, slice=slice)
        self._handle: Any = None
        check(lib.heddle_cluster_open(names.encode(), byref(wanted), byref(handle)))
        self._handle, self.devices, self._tables = handle.value, names, 0
        self._groupings: set[int] = set()  # handles of group-bys that are open
        self.relation_stats: dict[str, Any] = {}  # how the last join or groupby went: heddle_relation_stats

    def __len__(self) -> int:
        """The number of members."""
        info = options(c.ClusterInfo)
        if self._handle is None:
            raise ValueError("the cluster is closed")
        check(lib.heddle_cluster_get_info(self._handle, byref(info)))
        return int(info.members)

    def table(
        self,
        container: str = "map",
        *,
        key_dtype: Any = "int64",
        value_dtype: Any = "int64",
        balance: str = "auto",
        independent: bool = False,
        **table: Any,
    ) -> ClusterTable:
        """An empty table with a part on every member; options are those of HashMap and its neighbours."""
        return ClusterTable(self, container, key_dtype, value_dtype, balance, independent, table)

    def _open(self) -> Any:
        if self._handle is None:
            raise ValueError("the cluster is closed")
        return self._handle

    def join(
        self,
        left: Any,
        right: Any,
        how: str = "inner",
        *,
        sorted: bool = False,
        equal_nan: bool = False,
        row_bits: int = 64,
    ) -> Any:
        """heddle.join over the devices. The rows of a semi or anti join are in no particular order either."""
        a, b = sides_of(left, right, how, equal_nan, row_bits)
        rows, others, self.relation_stats = fetch(self._open(), a, b, KINDS[how], row_bits)
        framework = a[0].framework
        if sorted and others is None:
            rows = framework.take(rows, framework.order(rows))
        return joined(framework, rows, others, sorted)

    def groupby(self, keys: Any, data: Any = None, *, sorted: bool = False, equal_nan: bool = True) -> GroupBy:
        """heddle.groupby over the devices; its `rows` and `top` are not there. It ends with the cluster."""
        views, names = key_views(keys, data, equal_nan)
        grouping = ClusterGrouping(self._open(), self._groupings, views)
        self.relation_stats = grouping.stats
        return GroupBy(grouping, names, data, sorted)

    def _combine(self, x: Array, y: Array, operation: int, sorted: bool, equal_nan: bool) -> Array:
        handle = self._open()

        def call(*arguments: Any) -> int:
            return int(lib.heddle_cluster_set_operation(handle, *arguments))

        return combine(x, y, operation, sorted, equal_nan, None, call)

    def union1d(self, x1: Array, x2: Array, /, *, sorted: bool = False, equal_nan: bool = True) -> Array:
        """heddle.union1d over the devices, in no particular order."""
        return self._combine(x1, x2, c.SET_UNION, sorted, equal_nan)

    def intersect1d(self, x1: Array, x2: Array, /, *, sorted: bool = False, equal_nan: bool = True) -> Array:
        """heddle.intersect1d over the devices, in no particular order."""
        return self._combine(x1, x2, c.SET_INTERSECTION, sorted, equal_nan)

    def setdiff1d(self, x1: Array, x2: Array, /, *, sorted: bool = False, equal_nan: bool = True) -> Array:
        """heddle.setdiff1d over the devices, in no particular order."""
        return self._combine(x1, x2, c.SET_DIFFERENCE, sorted, equal_nan)

    def __repr__(self) -> str:
        return f"<heddle.Cluster {self.devices}{', closed' if self._handle is None else ''}>"

    def close(self) -> None:
        """Closes the devices. All tables must be closed before."""
        if self._handle is not None and self._tables:
            raise ValueError(f"{self._tables} tables of the cluster are not closed")
        handle, self._handle = self._handle, None
        while self._groupings:
            lib.heddle_cluster_groups_destroy(self._groupings.pop())
        if handle is not None:
            lib.heddle_cluster_close(handle)

    def __del__(self) -> None:
        if lib is not None and getattr(self, "_handle", None) is not None and not self._tables:
            self.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class ClusterTable(Table):
    """A table over the members of a cluster, made by Cluster.table. Its calls are those of HashMap and its
    neighbours.
    """

    _functions = _FUNCTIONS

    def __init__(
        self,
        cluster: Cluster,
        container: str,
        key_dtype: Any,
        value_dtype: Any,
        balance: str,
        independent: bool,
        table: dict[str, Any],
    ):
        if balance not in BALANCES:
            raise ValueError(f"balance is {balance!r}: it must be one of {', '.join(map(repr, BALANCES))}")
        if cluster._handle is None:
            raise ValueError("the cluster is closed")
        self.container, self.cluster, self.fixed = container, cluster, bool(table.get("fixed"))
        key = _checked(dtype_of(key_dtype)[0], "keys")
        value = None if container == "set" else _checked(dtype_of(value_dtype)[0], "values")
        wanted, handle = table_options(container, key, value, **table), c_void_p()
        spread = options(
            c.SpreadOptions, balance=BALANCES[balance], mode=c.MODE_INDEPENDENT if independent else c.MODE_DISTRIBUTED
        )
        check(lib.heddle_cluster_table_create(cluster._handle, byref(wanted), byref(spread), byref(handle)))
        cluster._tables += 1
        super().__init__(handle.value, key, value, default_like())

    def get(self, keys: Any, default: Any = 0) -> Any:
        """The value of every key, `default` where it is absent; of a multimap all values and where each key's begin."""
        if self.container == "multimap":
            found: Lists = self.retrieve(keys)
            return found
        return super().get(keys, default)

    def stats(self) -> dict[str, Any]:
        """The library's statistics: members, keys, imbalance, bytes_total and more."""
        stats = options(c.ClusterStats)
        with self._read:
            check(self._functions.get_stats(self._handle, byref(stats)))
        return fields_of(stats)

    def __repr__(self) -> str:
        if self._handle is None:
            return "<heddle.ClusterTable, closed>"
        value = "" if self._value is None else f" -> {self._value}"
        return f"<heddle.ClusterTable {self.container} {self._key}{value}: {len(self)} keys on {self.cluster.devices}>"

    def close(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.cluster._tables -= 1
        super().close()
