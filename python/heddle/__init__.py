"""Heddle: hash tables, unique, joins and group-by for arrays of NumPy, CuPy, PyTorch, JAX, Arrow, Polars and pandas.

    import heddle
    values, counts = heddle.unique_counts(keys)
    left, right = heddle.join(orders, customers, "left")
    totals = heddle.groupby(keys).agg(total=(prices, "sum"))
    m = heddle.HashMap(keys, values)
    m[queries]

docs/python.md is the manual.
"""

from ._cluster import Cluster, ClusterTable
from ._declarations import VERSION_STRING as __version__
from ._device import Device, cuda_device_count, trim
from ._errors import (
    HeddleCancelled,
    HeddleCorrupt,
    HeddleDeviceError,
    HeddleError,
    HeddleFormatError,
    HeddleFull,
    HeddleInvalid,
    HeddleIOError,
    HeddleNoDevice,
    HeddleNoMemory,
    HeddlePeerError,
    HeddleTooSmall,
    HeddleUnsupported,
)
from ._files import ColumnFile
from ._filter import BloomFilter
from ._groupby import GroupBy, groupby
from ._joins import Joined, join
from ._kernels import KernelView, device_code
from ._memory import Counter, HashMap, HashSet, Mixed, MultiMap
from ._sets import intersect1d, isin, setdiff1d, union1d
from ._shelf import Shelf
from ._unique import (
    Factorized,
    UniqueAll,
    UniqueCounts,
    UniqueInverse,
    ValueCounts,
    factorize,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
    value_counts,
)
from ._words import Found, Items, Lists, Operation, Outcome, Totals

__all__ = [
    "BloomFilter",
    "Cluster",
    "ClusterTable",
    "ColumnFile",
    "Counter",
    "Device",
    "Factorized",
    "Found",
    "GroupBy",
    "HashMap",
    "HashSet",
    "HeddleCancelled",
    "HeddleCorrupt",
    "HeddleDeviceError",
    "HeddleError",
    "HeddleFormatError",
    "HeddleFull",
    "HeddleIOError",
    "HeddleInvalid",
    "HeddleNoDevice",
    "HeddleNoMemory",
    "HeddlePeerError",
    "HeddleTooSmall",
    "HeddleUnsupported",
    "Items",
    "Joined",
    "KernelView",
    "Lists",
    "Mixed",
    "MultiMap",
    "Operation",
    "Outcome",
    "Shelf",
    "Totals",
    "UniqueAll",
    "UniqueCounts",
    "UniqueInverse",
    "ValueCounts",
    "__version__",
    "cuda_device_count",
    "device_code",
    "factorize",
    "groupby",
    "intersect1d",
    "isin",
    "join",
    "setdiff1d",
    "trim",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "value_counts",
]
