"""isin, set operations, joins and group-by beside NumPy, pandas and plain Python."""

import numpy
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import heddle
from models import INTEGERS, arrays, keys, two_arrays

NUMBERS = (*INTEGERS, "bool", "float32", "float64")


@given(two_arrays(), st.booleans())
def test_isin(pair, invert):
    x, y = pair
    if x.dtype.kind == "M":  # NumPy says that NaT is in nothing
        x, y = x[x == x], y[y == y]
    assert heddle.isin(x, y, invert=invert).tolist() == numpy.isin(x, y, invert=invert).tolist()


@given(two_arrays(("float32", "float64")))
def test_isin_with_equal_nan(pair):
    x, y = pair
    members = set(keys(y))
    assert heddle.isin(x, y, equal_nan=True).tolist() == [item in members for item in keys(x)]


def test_isin_takes_lists_and_bytes():
    assert heddle.isin(numpy.arange(4, dtype="int16"), [1, 3]).tolist() == [False, True, False, True]
    assert heddle.isin(numpy.array([b"ab", b"c"]), numpy.array([b"c", b"d"], "S2")).tolist() == [False, True]
    assert heddle.isin(numpy.arange(4).reshape(2, 2), [1]).tolist() == [[False, True], [False, False]]


@given(two_arrays())
def test_set_operations(pair):
    x, y = pair
    a, b = list(dict.fromkeys(keys(x))), list(dict.fromkeys(keys(y)))
    assert keys(heddle.union1d(x, y)) == list(dict.fromkeys(a + b))
    assert keys(heddle.intersect1d(x, y)) == [item for item in a if item in b]
    assert keys(heddle.setdiff1d(x, y)) == [item for item in a if item not in b]
    assert heddle.union1d(x, y, sorted=True).dtype == x.dtype


def test_set_operations_with_every_nan_apart():
    nan = float("nan")
    x, y = numpy.array([1.0, nan, 2.0, nan]), numpy.array([nan, 2.0, 3.0])
    for function, numbers, nans in (
        (heddle.union1d, [1.0, 2.0, 3.0], 3),
        (heddle.intersect1d, [2.0], 0),
        (heddle.setdiff1d, [1.0], 2),
    ):
        got = function(x, y, sorted=True, equal_nan=False)
        assert got[: len(numbers)].tolist() == numbers
        assert len(got) == len(numbers) + nans and numpy.isnan(got[len(numbers) :]).all()
    assert len(heddle.union1d(x, y)) == 4 and numpy.isnan(heddle.intersect1d(x, y)).sum() == 1


@given(two_arrays(("int64", "uint8", "float32")))
def test_sorted_set_operations_are_numpys(pair):
    x, y = (array[array == array] for array in pair)
    for mine, theirs in (
        (heddle.union1d, numpy.union1d),
        (heddle.intersect1d, numpy.intersect1d),
        (heddle.setdiff1d, numpy.setdiff1d),
    ):
        assert numpy.array_equal(mine(x, y, sorted=True), theirs(x, y))


def model_join(left, right, how):
    """The pairs of rows of a join; keys that are None match nothing."""
    pairs = [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a is not None and a == b]
    matched_left, matched_right = {i for i, _ in pairs}, {j for _, j in pairs}
    rest_left = [(i, -1) for i in range(len(left)) if i not in matched_left]
    rest_right = [(-1, j) for j in range(len(right)) if j not in matched_right]
    return sorted(
        pairs
        + (rest_left if how in ("left", "full", "outer") else [])
        + (rest_right if how in ("right", "full", "outer") else [])
    )


@given(
    two_arrays(NUMBERS),
    st.sampled_from(["inner", "left", "right", "full", "outer"]),
    st.booleans(),
    st.sampled_from([32, 64]),
)
def test_joins(pair, how, equal_nan, row_bits):
    x, y = pair
    left, right = ([None if item == "nan" and not equal_nan else item for item in keys(array)] for array in pair)
    got = heddle.join(x, y, how, equal_nan=equal_nan, row_bits=row_bits, sorted=True)
    assert list(zip(got.left.tolist(), got.right.tolist(), strict=True)) == model_join(left, right, how)
    assert got.left.dtype == f"int{row_bits}"
    unordered = heddle.join(x, y, how, equal_nan=equal_nan)
    assert sorted(zip(unordered.left.tolist(), unordered.right.tolist(), strict=True)) == model_join(left, right, how)


@given(two_arrays(NUMBERS))
def test_semi_and_anti_joins(pair):
    x, y = pair
    members = set(keys(y)) - {"nan"}
    there = [item in members for item in keys(x)]
    assert heddle.join(x, y, "semi").tolist() == numpy.flatnonzero(there).tolist()
    assert heddle.join(x, y, "anti").tolist() == [row for row, found in enumerate(there) if not found]


@given(two_arrays(("int64",)), two_arrays(("uint8",)))
def test_joins_by_several_columns(first, second):
    sides = [[a[: min(len(a), len(b))], b[: min(len(a), len(b))]] for a, b in zip(first, second, strict=True)]
    left, right = ([tuple(row) for row in zip(*map(keys, side), strict=True)] for side in sides)
    got = heddle.join(sides[0], dict(enumerate(sides[1])), sorted=True)
    assert list(zip(got.left.tolist(), got.right.tolist(), strict=True)) == model_join(left, right, "inner")


def test_joins_are_those_of_pandas():
    random = numpy.random.default_rng(5)
    left, right = (pandas.DataFrame({"k": random.integers(0, 500, 2000), "row": numpy.arange(2000)}) for _ in range(2))
    expected = left.merge(right, on="k").sort_values(["row_x", "row_y"])
    got = heddle.join(left["k"], right["k"], sorted=True)
    assert numpy.array_equal(got.left, expected["row_x"]) and numpy.array_equal(got.right, expected["row_y"])


def frames(dtype):
    return st.integers(0, 60).flatmap(lambda n: st.tuples(arrays("int16", n), arrays("bool", n), arrays(dtype, n)))


@given(st.sampled_from(NUMBERS[:-2]).flatmap(frames))
def test_group_by_is_pandas(columns):
    a, b, v = columns
    frame = pandas.DataFrame({"a": a, "b": b, "v": v})
    groups = heddle.groupby(["a", "b"], frame, in_order=True)
    got = groups.agg(
        total=("v", "sum"), low=("v", "min"), high=(v, "max"), n=("v", "count"), rows="size", mean=("v", "mean")
    )
    by = frame.assign(v=v.astype("uint64") if v.dtype.kind in "bu" else v.astype("int64")).groupby(
        ["a", "b"], sort=False
    )["v"]
    with numpy.errstate(over="ignore"):
        total = by.sum()
    index = total.index
    assert len(groups) == len(total)
    assert got["a"].tolist() == [a for a, _ in index] and got["b"].tolist() == [b for _, b in index]
    assert got["total"].tolist() == total.tolist()
    assert got["low"].tolist() == by.min().tolist() and got["high"].tolist() == by.max().tolist()
    assert got["low"].dtype == v.dtype
    assert got["n"].tolist() == got["rows"].tolist() == by.count().tolist()
    exact = [float(sum(map(int, part))) / len(part) for _, part in by]
    largest = max((abs(float(item)) for item in v), default=0)  # sums of doubles lose what is small beside it
    assert numpy.allclose(got["mean"], exact, atol=1e-12 * largest)


def test_group_by_of_floats():
    keys_, values = numpy.array([0.0, -0.0, numpy.nan, numpy.nan, 1]), numpy.array([1.5, 2, 3, 4, numpy.nan])
    got = heddle.groupby(keys_, in_order=True).agg(total=(values, "sum"), high=(values, "max"))
    assert numpy.array_equal(got["key"], [0, numpy.nan, 1], equal_nan=True)
    assert numpy.array_equal(got["total"], [3.5, 7, numpy.nan], equal_nan=True)
    with pytest.raises(ValueError, match="NaN"):
        heddle.groupby(keys_, equal_nan=False)


@given(two_arrays(("int8", "uint64", "float64", "bool")))
def test_sorted_groups_are_those_of_pandas(pair):
    n = min(map(len, pair))
    first, second = pair[0][:n], pair[1][:n]
    values, rows = numpy.arange(n) * 3, numpy.arange(n)
    groups = heddle.groupby([first, second], sorted=True)
    frame = pandas.DataFrame(
        {"a": first + first.dtype.type(0), "b": second + second.dtype.type(0), "v": values, "r": rows}
    )
    expected = frame.groupby(["a", "b"], dropna=False, sort=True)
    got, wanted = groups.agg(total=(values, "sum"), high=(values, "max"), n="size"), expected["v"]
    for column, name in (("key_0", "a"), ("key_1", "b")):
        assert numpy.array_equal(
            got[column], wanted.sum().reset_index()[name].to_numpy(), equal_nan=got[column].dtype.kind == "f"
        )
    assert got["total"].tolist() == wanted.sum().tolist() and got["high"].tolist() == wanted.max().tolist()
    assert got["n"].tolist() == wanted.size().tolist() and groups.first().tolist() == expected["r"].min().tolist()
    assert groups.inverse().tolist() == expected.ngroup().tolist()
    begins, order = groups.rows()
    parts = [order[begin:end].tolist() for begin, end in zip(begins[:-1], begins[1:], strict=True)]
    assert parts == [part.tolist() for part in expected["r"].agg(list).map(numpy.array)]
    largest = got["n"][groups.top(3)]
    assert largest.tolist() == sorted(got["n"].tolist(), reverse=True)[:3]


def test_sorted_groups_have_nulls_last():
    polars = pytest.importorskip("polars")
    x = polars.Series([3, None, 1, 3, None, 2])
    got = heddle.groupby(x, sorted=True).agg(n="size", high=(polars.Series([None, 4, 5, 6, 7, None]), "max"))
    assert got["key"].to_list() == [1, 2, 3, None] and got["n"].to_list() == [1, 1, 2, 2]
    assert got["high"].to_list() == [5, None, 6, 7]
    assert heddle.groupby(x[:0], sorted=True).sizes().to_list() == []
    with pytest.raises(ValueError, match="two different orders"):
        heddle.groupby(x, sorted=True, in_order=True)


def test_rows_and_numbers_of_groups():
    x = numpy.array([5, 3, 5, 5, 3, 9])
    groups = heddle.groupby(x, in_order=True)
    begins, rows = groups.rows()
    assert begins.tolist() == [0, 3, 5, 6] and rows.tolist() == [0, 2, 3, 1, 4, 5]
    assert groups.inverse().tolist() == [0, 1, 0, 0, 1, 2]
    assert groups.first().tolist() == [0, 1, 5] and groups.sizes().tolist() == [3, 2, 1]
    assert groups.top(2).tolist() == [0, 1] and len(groups) == 3 and "3 groups of 6 rows" in repr(groups)


def test_dates_are_aggregated():
    days = numpy.array(["2020-01-01", "NaT", "2021-01-01", "NaT"], "M8[D]")
    got = heddle.groupby(numpy.array([1, 1, 1, 2]), in_order=True).max(days)
    assert got[0] == numpy.datetime64("2021-01-01") and got.mask.tolist() == [False, True]
    with pytest.raises(TypeError, match="int64"):
        heddle.groupby(days).sum(days)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda x: heddle.isin(x, x.astype(float)), TypeError, "int64 and float64"),
        (lambda x: heddle.isin(x.astype("int8"), [300]), OverflowError, "int8"),
        (lambda x: heddle.join(x, [x, x]), ValueError, "1 key columns and the right side 2"),
        (lambda x: heddle.join(x, x, "sideways"), ValueError, "'sideways'"),
        (lambda x: heddle.join(x, x, row_bits=16), ValueError, "32 or 64"),
        (lambda x: heddle.join([x] * 17, [x] * 17), ValueError, "at most 16"),
        (lambda x: heddle.join([x, x[:1]], [x, x]), ValueError, "different lengths"),
        (lambda x: heddle.groupby(x).sum(x[:1]), ValueError, "1 values for 3 rows"),
        (lambda x: heddle.groupby(x).agg(a=(x, "median")), ValueError, "'median'"),
        (lambda x: heddle.groupby(x).agg(key=(x, "sum")), ValueError, "name of a key"),
        (lambda x: heddle.groupby(x).agg(a=("x", "sum")), TypeError, "given no data"),
        (lambda x: heddle.union1d(x.astype("S3"), x.astype("S3")), TypeError, "unique, join and groupby"),
        (lambda x: heddle.Device("toaster"), heddle.HeddleInvalid, "toaster"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call(numpy.arange(3))
