"""Arrays of a GPU: CuPy, torch, JAX and Numba in and out, streams, and graphs. Skipped where there is no GPU."""

import numpy
import pytest

import heddle
from heddle import _view

pytestmark = pytest.mark.skipif(heddle.cuda_device_count() == 0, reason="no GPU, or a library without CUDA")


def cupy():
    return pytest.importorskip("cupy")


def torch():
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("torch without CUDA")
    return module


def of_cupy(items, dtype):
    return cupy().asarray(numpy.asarray(items, dtype))


def of_torch(items, dtype):
    return torch().tensor(list(items), dtype=getattr(torch(), dtype), device="cuda")


def host(array):
    return array.get() if hasattr(array, "get") else array.cpu().numpy()


FRAMEWORKS = pytest.mark.parametrize("make", [of_cupy, of_torch])
INTEGERS = pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])


@FRAMEWORKS
@INTEGERS
def test_unique_and_groups(make, dtype):
    items = numpy.random.default_rng(1).integers(0, 100, 10_000)
    x = make(items, dtype)
    for mine, theirs in zip(
        heddle.unique(x, True, True, True, sorted=True), numpy.unique(items, True, True, True), strict=True
    ):
        assert type(mine) is type(x) and numpy.array_equal(host(mine), theirs)
    assert numpy.array_equal(host(heddle.isin(x, x[:5])), numpy.isin(items, items[:5]))
    got = heddle.groupby(x).agg(total=(x, "sum"), high=(x, "max"))
    assert numpy.array_equal(host(got["total"]), host(got["key"]) * numpy.bincount(items)[host(got["key"])])
    assert numpy.array_equal(host(got["high"]), host(got["key"]))
    left, right = heddle.join(x[:200], x[200:400], "left", sorted=True)
    expected = [(i, j) for i in range(200) for j in list(numpy.flatnonzero(items[200:400] == items[i])) or [-1]]
    assert list(zip(host(left).tolist(), host(right).tolist(), strict=True)) == expected
    assert numpy.array_equal(numpy.sort(host(heddle.union1d(x, x))), numpy.unique(items))


@FRAMEWORKS
def test_floats(make):
    x = make([0.0, -0.0, float("nan"), float("nan"), 1.0], "float32")
    assert sorted(host(heddle.unique_all(x).counts).tolist()) == [1, 1, 1, 2]
    assert len(heddle.unique(x)) == 3
    assert host(heddle.isin(x, x)).tolist() == [True, True, False, False, True]
    assert len(heddle.join(x, x).left) == 5


@FRAMEWORKS
def test_tables(make):
    items = numpy.random.default_rng(2).permutation(20_000)
    x = make(items, "int64")
    table = heddle.HashMap(x, x * 2)
    assert table.device.is_cuda and _view.view(x).device == 0
    assert numpy.array_equal(host(table[x]), items * 2)
    assert host(table.get(x + 20_000, -1)).max() == -1
    assert table[5] == 10 and 5 in table and len(table) == 20_000
    assert host(table.erase(x[:10])).all() and len(table) == 19_990
    assert type(table.items().keys) is type(x)
    assert numpy.array_equal(table[items[10:20]], items[10:20] * 2)  # arrays of the host on a table of the GPU
    counts = heddle.Counter(x % 3)
    assert host(counts.most_common(1).values)[0] == 6667


@FRAMEWORKS
def test_what_did_not_fit_is_found_out_later(make):
    x = make(numpy.arange(1000), "int32")
    table = heddle.HashMap(key_dtype="int32", value_dtype="int32", capacity=100, fixed=True, device="cuda")
    table.insert(x, x)  # does not wait
    with pytest.raises(heddle.HeddleFull) as caught:
        table.raise_if_full()
    assert caught.value.count == 1000 - len(table)
    table.insert(x, x)
    with pytest.raises(heddle.HeddleFull) as caught:
        table.raise_if_full(x)
    assert type(caught.value.keys) is type(x) and len(caught.value.keys) == 1000 - len(table)
    assert not host(table.contains(caught.value.keys)).any()


def test_cupys_streams_and_memory():
    cp = cupy()
    x = cp.arange(1 << 20)
    assert _view.view(x).address == x.data.ptr
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        y = cp.zeros(1 << 20, "int64")
        for _ in range(50):
            y += x  # still running when the table is asked
        assert _view.view(y).stream == stream.ptr
        table = heddle.HashMap(x * 50, x)
        assert bool((table[y] == x).all())


def test_torchs_streams():
    t = torch()
    x = t.arange(1 << 20, device="cuda")
    stream = t.cuda.Stream()
    stream.wait_stream(t.cuda.current_stream())
    with t.cuda.stream(stream):
        y = t.zeros_like(x)
        for _ in range(50):
            y += x
        table = heddle.HashMap(x * 50, x)
        assert bool((table[y] == x).all())
        assert _view.view(y).stream == stream.cuda_stream
    assert _view.view(x).stream == 1


def test_calls_are_captured_in_a_graph():
    t = torch()
    x = t.arange(10_000, device="cuda")
    table = heddle.HashMap(key_dtype="int64", value_dtype="int64", capacity=40_000, fixed=True, device="cuda")
    table.insert(x, x * 3)
    asked = x.clone()
    table.get(asked, -1)
    t.cuda.synchronize()
    graph = t.cuda.CUDAGraph()
    with t.cuda.graph(graph):
        answers = table.get(asked, -1)
        there = table.contains(asked)
    asked += 5000
    graph.replay()
    t.cuda.synchronize()
    expected = t.where(asked < 10_000, asked * 3, -1)
    assert bool((answers == expected).all()) and bool((there == (asked < 10_000)).all())


def test_floats_are_captured_too():
    """Keys of floats are copied in the current stream, and the host never looks at them."""
    t = torch()
    x = t.arange(1000, device="cuda", dtype=t.float32)
    table = heddle.HashMap(key_dtype="float32", value_dtype="int64", capacity=4000, fixed=True, device="cuda")
    table.insert(x, t.arange(1000, device="cuda"))
    asked = x.clone()
    table.get(asked, -1)
    t.cuda.synchronize()
    graph = t.cuda.CUDAGraph()
    with t.cuda.graph(graph):
        answers, there = table.get(asked, -1), table.contains(asked)
    asked[0], asked[1] = -0.0, float("nan")
    graph.replay()
    t.cuda.synchronize()
    assert answers[:3].tolist() == [0, -1, 2] and there[:3].tolist() == [True, False, True]


def test_jax():
    jax = pytest.importorskip("jax")
    if jax.devices()[0].platform == "cpu":
        pytest.skip("JAX without CUDA")
    cupy()
    x = jax.numpy.asarray([3, 1, 3], dtype="int32")
    values, counts = heddle.unique_counts(x, sorted=True)
    assert isinstance(values, jax.Array) and values.tolist() == [1, 3] and counts.tolist() == [1, 2]


def test_numba():
    cuda = pytest.importorskip("numba.cuda")
    x = cuda.to_device(numpy.array([3, 1, 3]))
    assert sorted(
        heddle.unique(x).get().tolist()
        if hasattr(heddle.unique(x), "get")
        else heddle.unique(x).copy_to_host().tolist()
    ) == [1, 3]


@FRAMEWORKS
def test_refusals(make):
    x = make(numpy.arange(10), "int64")
    with pytest.raises(ValueError, match="contiguous"):
        heddle.unique(x[::2])
    with pytest.raises(ValueError, match="lies on cuda:0"):
        heddle.unique(x, device="cpu")


@pytest.mark.skipif(heddle.cuda_device_count() < 2, reason="one GPU")
def test_a_second_gpu():
    cp = cupy()
    with cp.cuda.Device(1):
        x = cp.arange(100)
    assert heddle.unique(x).device.id == 1


@pytest.mark.parametrize("name", ["cupy_lookup", "numba_lookup"])
def test_kernels_of_others_look_keys_up(name):
    """The examples in which a kernel of CuPy's or Numba's uses a table."""
    import os
    import subprocess
    import sys
    from pathlib import Path

    pytest.importorskip(name.partition("_")[0])
    root = Path(__file__).resolve().parents[2]
    try:
        heddle.device_code("ptx")
    except FileNotFoundError:
        pytest.skip("heddle_device.ptx is not beside the library, and HEDDLE_DEVICE_CODE does not name its folder")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, root / "examples" / "python" / f"{name}.py"], check=True, env=environment)
