"""What is compared: for every task the functions of every library, on the same columns, and a check of each answer.

A contestant is a function without arguments that gives its answer. Columns are handed to a library in its own
form before the clock starts. `answer` brings an answer into one form: numbers and sums that agree exactly when
the answers are right.
"""

import inspect
import time

import numpy

import heddle

TASKS = (
    "unique",
    "unique_ordered",
    "unique_counts",
    "unique_inverse",
    "unique_all",
    "isin",
    "value_counts",
    "join_inner",
    "join_left",
    "groupby_sum",
)


# What the tasks take besides the keys.
NEEDS = {
    "isin": {"others"},
    "join_inner": {"others", "names"},
    "join_left": {"others", "names"},
    "groupby_sum": {"values"},
}


def columns(rows, distinct, tasks=TASKS, dtype="int64", seed=7):
    """Keys that look random, `distinct` at most, and values; also half as many others, half of which are among the
    keys. Columns that no task needs are left out: with 10^8 rows all of them are too many for most machines.
    """
    random = numpy.random.default_rng(seed)
    names = random.permutation(2 * distinct).astype(numpy.int64, copy=False)
    names *= 0x9E3779B97F4A7C1
    names = names.view(dtype)
    data = {"keys": names[random.integers(0, distinct, rows)]}
    needed = set().union(*(NEEDS.get(task, set()) for task in tasks))
    if "values" in needed:
        data["values"] = random.integers(0, 1000, rows)
    if "others" in needed:
        data["others"] = names[distinct // 2 :][random.integers(0, distinct, max(1, rows // 2))]
    if "names" in needed:
        data["names"] = names[: distinct + distinct // 2]
    return data


def host(array):
    for name in ("to_numpy", "get"):
        if hasattr(array, name):
            try:
                return numpy.asarray(getattr(array, name)())
            except (TypeError, ValueError):  # pyarrow asks whether it may copy
                return numpy.asarray(array.to_numpy(zero_copy_only=False))
    return array.cpu().numpy() if hasattr(array, "cpu") else numpy.asarray(array)


def total(array):
    """A sum in which every element counts, modulo 2^64."""
    with numpy.errstate(over="ignore"):
        return int(host(array).astype(numpy.uint64).sum(dtype=numpy.uint64))


def product(a, b):
    with numpy.errstate(over="ignore"):
        return total(host(a).astype(numpy.uint64) * host(b).astype(numpy.uint64))


def answer(task, got, data):
    """The answer in one form, the same for all that are right."""
    keys = data["keys"]
    if task == "unique":
        return len(got), total(got)
    if task == "unique_ordered":
        return len(got), total(got), product(got, numpy.arange(len(got)))
    if task in ("unique_counts", "value_counts", "groupby_sum"):
        return len(got[0]), total(got[0]), product(got[0], got[1])
    if task == "unique_inverse":
        return len(got[0]), bool((host(got[0])[host(got[1])] == keys).all())
    if task == "unique_all":
        values, first, inverse, counts = map(host, got)
        return len(values), bool((values[inverse] == keys).all()), total(first), product(values, counts)
    if task == "isin":
        return len(got), int(host(got).sum())
    left, right = (host(side).astype(numpy.float64) for side in got)
    missing = numpy.isnan(right) | (right < 0)
    return len(left), int(left.sum()), int(missing.sum()), int(right[~missing].sum())


class Fastest:
    """The quickest of several ways to one answer, found at the first call, which is not measured: each is tried twice.

    For libraries in which it depends on the version and on the keys which way that is.
    """

    def __init__(self, *ways):
        self.ways, self.chosen = ways, None

    def __call__(self):
        if self.chosen is None:
            self.chosen = min(range(len(self.ways)), key=self._seconds)
        return self.ways[self.chosen]()

    def _seconds(self, number):
        taken = []
        for _ in range(2):
            begin = time.perf_counter()
            self.ways[number]()
            taken.append(time.perf_counter() - begin)
        return min(taken)


def in_order(values, first):
    """The distinct elements in the order in which they first appear."""
    return values[first.argsort()]


def of_heddle(data, make=lambda x: x):
    x, v, y, distinct = (
        None if name not in data else make(data[name]) for name in ("keys", "values", "others", "names")
    )

    def group():
        got = heddle.groupby(x).agg(total=(v, "sum"))
        return got["key"], got["total"]

    return {
        "unique": lambda: heddle.unique_values(x),
        "unique_ordered": lambda: heddle.unique(x, in_order=True),
        "unique_counts": lambda: heddle.unique_counts(x),
        "unique_inverse": lambda: heddle.unique_inverse(x),
        "unique_all": lambda: heddle.unique_all(x),
        "isin": lambda: heddle.isin(x, y),
        "value_counts": lambda: heddle.value_counts(x),
        "join_inner": lambda: heddle.join(x, distinct),
        "join_left": lambda: heddle.join(y, distinct[: len(distinct) // 2], "left"),
        "groupby_sum": group,
    }


def of_numpy(data):
    """From 2.3 on NumPy hashes where nothing asks for sorted elements; sorting is still quicker for some keys."""
    x, v, y = data["keys"], data.get("values"), data.get("others")
    orders = [{}, {"sorted": False}] if "sorted" in inspect.signature(numpy.unique).parameters else [{}]

    def ways(then=lambda *columns: columns[0] if len(columns) == 1 else columns, **wanted):
        def way(order):
            def work():
                got = numpy.unique(x, **wanted, **order)
                return then(*got) if isinstance(got, tuple) else then(got)

            return work

        return Fastest(*map(way, orders))

    def by_count(values, counts):
        order = numpy.argsort(-counts)
        return values[order], counts[order]

    return {
        "unique": ways(),
        "unique_ordered": ways(in_order, return_index=True),
        "unique_counts": ways(return_counts=True),
        "unique_inverse": ways(return_inverse=True),
        "unique_all": ways(return_index=True, return_inverse=True, return_counts=True),
        "isin": lambda: numpy.isin(x, y),
        "value_counts": ways(by_count, return_counts=True),
        "groupby_sum": ways(
            lambda values, inverse: (values, numpy.bincount(inverse, v).astype(numpy.int64)), return_inverse=True
        ),
    }


def of_pandas(data):
    import pandas

    x, v, y = (pandas.Series(data.get(name)) for name in ("keys", "values", "others"))
    left = right = asked = fewer = None
    if "names" in data:
        names = data["names"]
        half = names[: len(names) // 2]
        left, right = (
            pandas.DataFrame({"k": x, "i": numpy.arange(len(x))}),
            pandas.DataFrame({"k": names, "j": numpy.arange(len(names))}),
        )
        asked, fewer = (
            pandas.DataFrame({"k": y, "i": numpy.arange(len(y))}),
            pandas.DataFrame({"k": half, "j": numpy.arange(len(half))}),
        )

    def counted():
        got = x.value_counts()
        return got.index.to_numpy(), got.to_numpy()

    def inverse():
        codes, values = pandas.factorize(x)
        return values, codes

    def joined(a, b, how):
        got = a.merge(b, on="k", how=how)
        return got["i"], got["j"]

    def group():
        got = v.groupby(x, sort=False).sum()
        return got.index.to_numpy(), got.to_numpy()

    return {
        "unique": x.unique,
        "unique_ordered": x.unique,
        "unique_counts": counted,
        "unique_inverse": inverse,
        "isin": lambda: x.isin(y),
        "value_counts": counted,
        "join_inner": lambda: joined(left, right, "inner"),
        "join_left": lambda: joined(asked, fewer, "left"),
        "groupby_sum": group,
    }


def of_polars(data):
    import polars

    x, v, y = (None if name not in data else polars.Series(name, data[name]) for name in ("keys", "values", "others"))
    frame = polars.DataFrame({"k": x} if v is None else {"k": x, "v": v}).with_row_index("i")
    right = asked = fewer = None
    if "names" in data:
        names = data["names"]
        right = polars.DataFrame({"k": names}).with_row_index("j")
        asked, fewer = polars.DataFrame({"k": y}).with_row_index("i"), right.head(len(names) // 2)

    def counted(sort):
        got = x.value_counts(sort=sort)
        return got["keys"], got["count"]

    def joined(a, b, how):
        got = a.select("k", "i").join(b, on="k", how=how)
        return got["i"], got["j"]

    def group():
        got = frame.group_by("k").agg(polars.col("v").sum())
        return got["k"], got["v"]

    return {
        "unique": x.unique,
        "unique_ordered": lambda: x.unique(maintain_order=True),
        "unique_counts": lambda: counted(False),
        "isin": lambda: x.is_in(y.implode()),
        "value_counts": lambda: counted(True),
        "join_inner": lambda: joined(frame, right, "inner"),
        "join_left": lambda: joined(asked, fewer, "left"),
        "groupby_sum": group,
    }


def of_pyarrow(data):
    import pyarrow
    import pyarrow.compute as pc

    x, v, y = (None if name not in data else pyarrow.array(data[name]) for name in ("keys", "values", "others"))
    left = right = asked = fewer = None
    if "values" in data or "names" in data:
        left = pyarrow.table({"k": x, "i": numpy.arange(len(x)), **({"v": v} if "values" in data else {})})
    if "names" in data:
        names = data["names"]
        right = pyarrow.table({"k": names, "j": numpy.arange(len(names))})
        asked, fewer = pyarrow.table({"k": y, "i": numpy.arange(len(y))}), right.slice(0, len(names) // 2)

    def counted():
        got = pc.value_counts(x)
        return got.field(0), got.field(1)

    def inverse():
        got = pc.dictionary_encode(x)
        return got.dictionary, got.indices

    def joined(a, b, how):
        got = a.select(["k", "i"]).join(b, "k", join_type=how)
        return got["i"], got["j"]

    def group():
        got = left.group_by("k").aggregate([("v", "sum")])
        return got["k"], got["v_sum"]

    return {
        "unique": lambda: pc.unique(x),
        "unique_ordered": lambda: pc.unique(x),
        "unique_counts": counted,
        "unique_inverse": inverse,
        "isin": lambda: pc.is_in(x, value_set=y),
        "join_inner": lambda: joined(left, right, "inner"),
        "join_left": lambda: joined(asked, fewer, "left outer"),
        "groupby_sum": group,
    }


def of_duckdb(data, threads):
    import duckdb

    database = duckdb.connect(":memory:")
    database.execute(f"SET threads = {threads}")
    for name, column in data.items():
        database.register("source", {"k": column, "i": numpy.arange(len(column))})
        database.execute(f"CREATE TABLE t_{name} AS SELECT k, i FROM source")
        database.unregister("source")
    if "values" in data:
        database.register("source", {"k": data["keys"], "v": data["values"]})
        database.execute("CREATE TABLE pairs AS SELECT k, v FROM source")
    half = len(data.get("names", ())) // 2

    def asked(text, *names):
        def run():
            got = database.execute(text).fetchnumpy()
            columns_ = [
                got[name].filled(-1) if isinstance(got[name], numpy.ma.MaskedArray) else got[name] for name in names
            ]
            return columns_[0] if len(names) == 1 else tuple(columns_)

        return run

    count = "SELECT k, count(*)::BIGINT AS n FROM t_keys GROUP BY k"
    return {
        "unique": asked("SELECT DISTINCT k FROM t_keys", "k"),
        "unique_ordered": asked("SELECT k FROM t_keys GROUP BY k ORDER BY min(i)", "k"),
        "unique_counts": asked(count, "k", "n"),
        "value_counts": asked(count + " ORDER BY n DESC", "k", "n"),
        "join_inner": asked("SELECT a.i, b.i AS j FROM t_keys a JOIN t_names b ON a.k = b.k", "i", "j"),
        "join_left": asked(
            f"SELECT a.i, b.i AS j FROM t_others a LEFT JOIN (SELECT * FROM t_names WHERE i < {half}) b ON a.k = b.k",
            "i",
            "j",
        ),
        "groupby_sum": asked("SELECT k, sum(v)::BIGINT AS s FROM pairs GROUP BY k", "k", "s"),
    }
