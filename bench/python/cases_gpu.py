"""The contestants on a GPU: Heddle with CuPy arrays, CuPy, torch and pylibcudf. See cases.py."""

import numpy

from cases import in_order, of_heddle


def of_heddle_gpu(data):
    import cupy

    return of_heddle(data, cupy.asarray)


def of_cupy(data):
    import cupy

    x, v, y = (None if name not in data else cupy.asarray(data[name]) for name in ("keys", "values", "others"))

    def counted():
        values, counts = cupy.unique(x, return_counts=True)
        order = cupy.argsort(-counts)
        return values[order], counts[order]

    def inverse():
        return cupy.unique(x, return_inverse=True)

    def group():
        values, inverse_ = cupy.unique(x, return_inverse=True)
        return values, cupy.bincount(inverse_, v).astype(cupy.int64)

    def everything():
        values, first, inverse_, counts = cupy.unique(x, True, True, True)
        return values, first, inverse_, counts

    return {
        "unique": lambda: cupy.unique(x),
        "unique_ordered": lambda: in_order(*cupy.unique(x, return_index=True)),
        "unique_counts": lambda: cupy.unique(x, return_counts=True),
        "unique_inverse": inverse,
        "unique_all": everything,
        "isin": lambda: cupy.isin(x, y),
        "value_counts": counted,
        "groupby_sum": group,
    }


def of_torch(data):
    import torch

    x, v, y = (
        None if name not in data else torch.from_numpy(data[name]).cuda() for name in ("keys", "values", "others")
    )

    def counted():
        values, counts = torch.unique(x, return_counts=True)
        order = torch.argsort(counts, descending=True)
        return values[order], counts[order]

    def group():
        values, inverse = torch.unique(x, return_inverse=True)
        return values, torch.zeros(len(values), dtype=torch.int64, device="cuda").index_add_(0, inverse, v)

    return {
        "unique": lambda: torch.unique(x),
        "unique_counts": lambda: torch.unique(x, return_counts=True),
        "unique_inverse": lambda: torch.unique(x, return_inverse=True),
        "isin": lambda: torch.isin(x, y),
        "value_counts": counted,
        "groupby_sum": group,
    }


class Column:
    """A column of pylibcudf whose numbers can be looked at."""

    def __init__(self, column):
        self.column = column

    def __len__(self):
        return self.column.size()

    def to_numpy(self):
        import pylibcudf

        return pylibcudf.interop.to_arrow(self.column).to_numpy(zero_copy_only=False)


def of_pylibcudf(data):
    import pyarrow
    import pylibcudf as plc

    def column(array):
        return None if array is None else plc.interop.from_arrow(pyarrow.array(array))

    x, v, y, names = (column(data.get(name)) for name in ("keys", "values", "others", "names"))
    half = column(data["names"][: len(data["names"]) // 2] if "names" in data else None)
    keys, others = plc.Table([x]), None if y is None else plc.Table([y])
    equal = plc.types.NullEquality.UNEQUAL

    def unique(function, keep):
        kept = function(keys, [0], keep, plc.types.NullEquality.EQUAL, plc.types.NanEquality.ALL_EQUAL)
        return Column(kept.columns()[0])

    compaction = plc.stream_compaction
    options = compaction.DuplicateKeepOption

    def grouped(values, aggregation):
        by = plc.groupby.GroupBy(keys)
        groups, results = by.aggregate([plc.groupby.GroupByRequest(values, [aggregation])])
        return Column(groups.columns()[0]), Column(results[0].columns()[0])

    def left():
        rows, found = plc.join.left_join(others, plc.Table([half]), equal)
        found = Column(found).to_numpy().astype(numpy.int64)
        return Column(rows), numpy.where(found < 0, -1, found)

    return {
        "unique": lambda: unique(compaction.distinct, options.KEEP_ANY),
        "unique_ordered": lambda: unique(compaction.stable_distinct, options.KEEP_FIRST),
        "unique_counts": lambda: grouped(x, plc.aggregation.count()),
        "isin": lambda: Column(plc.search.contains(y, x)),
        "join_inner": lambda: tuple(map(Column, plc.join.inner_join(keys, plc.Table([names]), equal))),
        "join_left": left,
        "groupby_sum": lambda: grouped(v, plc.aggregation.sum()),
    }
