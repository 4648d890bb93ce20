"""unique and its relatives beside NumPy's, pandas' and plain Python's."""

from collections import Counter

import numpy
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import heddle
from models import DTYPES, any_array, arrays, keys


def same(a, b):
    return numpy.array_equal(a, b, equal_nan=a.dtype.kind in "fM")


@given(any_array)
def test_sorted_unique_is_numpys(x):
    got = heddle.unique(x, True, True, True, sorted=True)
    expected = numpy.unique(x, True, True, True, equal_nan=True)
    for mine, theirs in zip(got, expected, strict=True):
        assert same(mine, theirs)
    assert got[0].dtype == x.dtype


@given(any_array)
def test_in_order_is_that_of_first_appearance(x):
    values = heddle.unique(x, in_order=True)
    assert keys(values) == list(dict.fromkeys(keys(x)))


@given(any_array)
def test_unique_all_follows_the_array_api(x):
    values, indices, inverse, counts = heddle.unique_all(x)
    names = keys(x, equal_nan=False)
    assert len(values) == len(set(names)) if x.dtype.kind == "f" else len(values) == len(set(keys(x)))
    assert same(values[inverse], x + 0 if x.dtype.kind == "f" else x)
    assert same(x[indices], values)
    assert counts.sum() == x.size
    assert same(counts, numpy.bincount(inverse, minlength=len(values)))
    for group, first in enumerate(indices):
        assert numpy.flatnonzero(inverse == group)[0] == first


@given(any_array)
def test_the_smaller_ones_agree_with_unique_all(x):
    whole = heddle.unique_all(x, sorted=True)
    assert same(heddle.unique_values(x, sorted=True), whole.values)
    assert same(heddle.unique_counts(x, sorted=True).counts, whole.counts)
    assert same(heddle.unique_inverse(x, sorted=True).inverse_indices, whole.inverse_indices)


@given(any_array)
def test_value_counts(x):
    values, counts = heddle.value_counts(x, dropna=False)
    assert dict(zip(keys(values), counts.tolist(), strict=True)) == Counter(keys(x))
    assert counts.tolist() == sorted(counts.tolist(), reverse=True)


@given(st.sampled_from(["int32", "float64"]).flatmap(arrays), st.integers(0, 5))
def test_the_most_frequent(x, top):
    values, counts = heddle.value_counts(x, top=top)
    model = Counter(item for item in keys(x) if item != "nan")
    assert counts.tolist() == [count for _, count in model.most_common(top)]
    assert all(model[item] == count for item, count in zip(keys(values), counts.tolist(), strict=True))


@given(
    st.sampled_from([dtype for dtype in DTYPES if "time" not in dtype]).flatmap(arrays), st.booleans(), st.booleans()
)
def test_factorize_is_pandas(x, sort, sentinel):
    codes, values = heddle.factorize(x, sort=sort, use_na_sentinel=sentinel)
    expected_codes, expected = pandas.factorize(x, sort=sort, use_na_sentinel=sentinel)
    assert same(codes, expected_codes)
    assert same(values, numpy.asarray(expected, x.dtype))


def test_shapes():
    x = numpy.arange(24).reshape(2, 3, 4) % 5
    assert heddle.unique_inverse(x).inverse_indices.shape == x.shape
    assert heddle.unique_values(x).shape == (5,)
    assert heddle.unique_values(numpy.array(7)).tolist() == [7]


@pytest.mark.parametrize("dtype", ["S3", "U4", "V16"])
def test_bytes_of_a_fixed_length(dtype):
    x = (
        numpy.frombuffer(bytes(numpy.random.default_rng(1).integers(65, 67, 160)), "V16").astype(dtype)
        if dtype == "V16"
        else numpy.array(["a", "bc", "a", "abc"], dtype)
    )
    assert sorted(heddle.unique_values(x).tolist()) == sorted(set(x.tolist()))


def test_large_arrays():
    x = numpy.random.default_rng(3).integers(0, 50_000, 300_000)
    values, counts = heddle.unique_counts(x, sorted=True)
    expected = numpy.unique(x, return_counts=True)
    assert same(values, expected[0]) and same(counts, expected[1])


def test_two_orders_are_refused():
    with pytest.raises(ValueError, match="two different orders"):
        heddle.unique(numpy.arange(3), sorted=True, in_order=True)


def test_each_nan_is_counted_apart():
    x = numpy.array([1.0, float("nan"), 1.0, float("nan")])
    assert heddle.value_counts(x, dropna=False).counts.tolist() == [2, 2]
    values, counts = heddle.value_counts(x, dropna=False, equal_nan=False)
    assert counts.tolist() == [2, 1, 1] and numpy.isnan(values).tolist() == [False, True, True]
    assert heddle.value_counts(x, equal_nan=False).values.tolist() == [1.0]
