"""PyTorch on the CPU: tensors in without a copy, tensors out."""

import pytest

import heddle
from heddle import _view

torch = pytest.importorskip("torch")


def lists(result):
    return [column.tolist() for column in result]


def test_tensors_are_not_copied():
    x = torch.arange(8)
    assert _view.view(x).address == x.data_ptr() and _view.view(x[2:]).address == x.data_ptr() + 16


def test_functions():
    x = torch.tensor([3, 1, 3, 7])
    assert lists(heddle.unique_all(x, sorted=True)) == [[1, 3, 7], [1, 0, 3], [1, 0, 1, 2], [1, 2, 1]]
    assert heddle.isin(x, torch.tensor([7]), invert=True).tolist() == [True, True, True, False]
    assert heddle.isin(x, [7]).dtype == torch.bool
    assert lists(heddle.join(x, x, sorted=True)) == [[0, 0, 1, 2, 2, 3], [0, 2, 1, 0, 2, 3]]
    assert heddle.union1d(x.to(torch.uint8), torch.tensor([9, 1], dtype=torch.uint8), sorted=True).tolist() == [
        1,
        3,
        7,
        9,
    ]
    got = heddle.groupby(x, in_order=True).agg(total=(x, "sum"), high=(x.to(torch.int8), "max"))
    assert got["total"].tolist() == [6, 1, 7] and got["high"].dtype == torch.int8
    assert heddle.factorize(x, sort=True).codes.tolist() == [1, 0, 1, 2]
    assert heddle.unique_inverse(x.reshape(2, 2)).inverse_indices.shape == (2, 2)
    assert heddle.unique(torch.tensor([True, False, True]), sorted=True).tolist() == [False, True]


def test_floats():
    nan = float("nan")
    x = torch.tensor([0.0, -0.0, nan, nan, 1])
    assert sorted(heddle.unique_all(x).counts.tolist()) == [1, 1, 1, 2]
    assert len(heddle.unique(x)) == 3
    assert heddle.isin(x, x).tolist() == [True, True, False, False, True]
    assert heddle.factorize(x, sort=True).codes.tolist() == [0, 0, -1, -1, 1]


def test_tables():
    x = torch.arange(10)
    table = heddle.HashMap(x, x.to(torch.float32) * 2)
    assert table[x[:3]].tolist() == [0, 2, 4] and table.get(torch.tensor([50]), -1).tolist() == [-1]
    assert isinstance(table.items().keys, torch.Tensor) and table[3] == 6
    assert heddle.Counter(x % 2).most_common(1).values.tolist() == [5]


def test_refusals():
    with pytest.raises(ValueError, match="contiguous"):
        heddle.unique(torch.ones(3, 3).t()[1:])
    with pytest.raises(TypeError, match="float16"):
        heddle.unique(torch.ones(3, dtype=torch.float16))
    with pytest.raises(TypeError, match="meta"):
        heddle.unique(torch.ones(3, device="meta"))
