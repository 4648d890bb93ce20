"""What is compared: for every task the functions of every library, on the same columns, and a check of each answer.

A contestant is a function without arguments that gives its answer. Columns are handed to a library in its own
form before the clock starts. `answer` brings an answer into one form: numbers and sums that agree exactly when
the answers are right.
"""

import numpy

import heddle

TASKS = (
    "unique",
    "unique_counts",
    "unique_inverse",
    "unique_all",
    "isin",
    "value_counts",
    "join_inner",
    "join_left",
    "groupby_sum",
)


def columns(rows, distinct, seed=7):
    """Keys that look random, `distinct` at most, and values; also half as many others, half of which are among the
    keys.
    """
    random = numpy.random.default_rng(seed)
    names = random.permutation(2 * distinct).astype(numpy.int64) * 0x9E3779B97F4A7C1
    keys = names[random.integers(0, distinct, rows)]
    return {
        "keys": keys,
        "values": random.integers(0, 1000, rows),
        "others": names[distinct // 2 :][random.integers(0, distinct, max(1, rows // 2))],
        "names": names[: distinct + distinct // 2],
    }


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


def of_heddle(data, make=lambda x: x):
    x, v, y = make(data["keys"]), make(data["values"]), make(data["others"])

    def group():
        got = heddle.groupby(x).agg(total=(v, "sum"))
        return got["key"], got["total"]

    distinct = make(data["names"])
    return {
        "unique": lambda: heddle.unique_values(x),
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
    x, v, y = data["keys"], data["values"], data["others"]

    def counted():
        values, counts = numpy.unique(x, return_counts=True)
        order = numpy.argsort(-counts)
        return values[order], counts[order]

    def group():
        values, inverse = numpy.unique(x, return_inverse=True)
        return values, numpy.bincount(inverse, v).astype(numpy.int64)

    return {
        "unique": lambda: numpy.unique(x),
        "unique_counts": lambda: numpy.unique_counts(x),
        "unique_inverse": lambda: numpy.unique_inverse(x),
        "unique_all": lambda: numpy.unique_all(x),
        "isin": lambda: numpy.isin(x, y),
        "value_counts": counted,
        "groupby_sum": group,
    }


def of_pandas(data):
    import pandas

    x, v, y = (pandas.Series(data[name]) for name in ("keys", "values", "others"))
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

    x, v, y = (polars.Series(name, data[name]) for name in ("keys", "values", "others"))
    names = data["names"]
    frame = polars.DataFrame({"k": x, "v": v}).with_row_index("i")
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

    x, v, y = (pyarrow.array(data[name]) for name in ("keys", "values", "others"))
    names = data["names"]
    left = pyarrow.table({"k": x, "i": numpy.arange(len(x)), "v": v})
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
    database.register("source", {"k": data["keys"], "v": data["values"]})
    database.execute("CREATE TABLE pairs AS SELECT k, v FROM source")
    half = len(data["names"]) // 2

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
