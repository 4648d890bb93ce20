"""Bloom filters, shelves, clusters and columns in files."""

import pickle
import signal

import numpy
import pytest

import heddle


def test_a_filter_finds_what_was_added(tmp_path):
    x = numpy.random.default_rng(1).integers(0, 2**40, 5000)
    bloom = heddle.BloomFilter(5000, seed=3)
    bloom.add(x)
    assert bloom.contains(x).all() and int(x[0]) in bloom
    others = x + 2**41
    assert bloom.contains(others).mean() < 0.01
    assert set(bloom.select(numpy.append(others, x[:3])).tolist()) >= {5000, 5001, 5002}
    bloom.save(tmp_path / "bloom")
    for other in (pickle.loads(pickle.dumps(bloom)), heddle.BloomFilter.load(tmp_path / "bloom")):
        assert other.contains(x).all() and "5000 keys" in repr(other)
        other.validate()
    second = heddle.BloomFilter(5000, seed=3)
    second.add(others)
    second |= bloom
    assert second.contains(x).all() and second.stats()["keys_added"] == 10000
    second.clear()
    assert not second.contains(x).any()
    with pytest.raises(TypeError, match="int32, those of the filter int64"):
        bloom.add(x.astype("int32"))
    bloom.close()
    with pytest.raises(ValueError, match="closed"):
        bloom.contains(x)


def test_a_shelf_is_a_map_that_stays(tmp_path):
    x = numpy.random.default_rng(2).permutation(60_000)
    told = []
    with heddle.Shelf(
        tmp_path / "shelf", "map", value_dtype="float64", memory=1 << 20, progress=lambda *what: told.append(what)
    ) as shelf:
        shelf.insert(x, x * 0.5)
        assert shelf.stats()["parts_filled"] > 1 and {what[0] for what in told} >= {"working", "committing"}
        assert "60000 keys" in repr(shelf)
    with heddle.Shelf(tmp_path / "shelf", value_dtype="float64") as shelf:
        assert len(shelf) == 60_000 and numpy.array_equal(shelf[x], x * 0.5)
        assert shelf.get([-1], 9).tolist() == [9] and shelf.erase(x[:10]).all() and 5 in shelf or 5 in x[:10]
        counted = []
        shelf.visit(lambda keys, values: counted.append(len(keys)))
        assert sum(counted) == 59_990 == len(shelf.items().keys)
        shelf.validate()
        with pytest.raises(heddle.HeddleIOError):
            heddle.Shelf(tmp_path / "shelf")
    with pytest.raises(ValueError, match="closed"):
        len(shelf)
    with pytest.raises(ValueError, match="holds a map"):
        heddle.Shelf(tmp_path / "shelf", "set")
    with pytest.raises(ValueError, match="has 64 bits"):
        heddle.Shelf(tmp_path / "shelf", key_dtype="int32")


def test_a_shelf_is_as_it_was_when_a_call_is_cancelled(tmp_path):
    with heddle.Shelf(tmp_path / "shelf", "counter") as shelf:
        shelf.insert([1, 2, 2])

    def interrupt(*_):
        raise KeyboardInterrupt

    for progress, error in ((interrupt, KeyboardInterrupt), (lambda *_: True, heddle.HeddleCancelled)):
        with heddle.Shelf(tmp_path / "shelf", progress=progress) as shelf:
            with pytest.raises(error):
                shelf.insert([1, 5])
    with heddle.Shelf(tmp_path / "shelf", progress=lambda *_: len(shelf)) as shelf:
        with pytest.raises(RuntimeError, match="must not use"):
            shelf.insert([7])
    with heddle.Shelf(tmp_path / "shelf") as shelf:
        assert shelf.get([1, 2, 5, 7]).tolist() == [1, 2, 0, 0]


@pytest.fixture
def interrupts():
    """Ctrl-C raises: a shell that runs the tests in the background has Python start with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_ends_a_call_on_a_shelf(tmp_path):
    with heddle.Shelf(tmp_path / "shelf", "set", progress=lambda *_: signal.raise_signal(signal.SIGINT)) as shelf:
        with pytest.raises(KeyboardInterrupt):
            shelf.insert(numpy.arange(1000))
        assert len(shelf) == 0


def test_the_bar_is_drawn_in_a_terminal(tmp_path, monkeypatch):
    import io
    import sys

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    with heddle.Shelf(tmp_path / "shelf", "set", progress=True) as shelf:
        shelf.insert(numpy.arange(1000))
    drawn = sys.stderr.getvalue()
    assert "\r" in drawn and "#" * 30 + " 1/1\n" in drawn and "committing" in drawn


@pytest.mark.parametrize("container", ["map", "set", "multimap", "counter"])
def test_a_cluster_is_one_table(container):
    x = numpy.arange(2000) // 2
    with heddle.Cluster("cpu:1,cpu:1") as cluster:
        assert len(cluster) == 2 and "cpu:1,cpu:1" in repr(cluster)
        with cluster.table(container, value_dtype="int32") as table:
            table.insert(x, None if container in ("set", "counter") else x.astype("int32"))
            assert len(table) == (2000 if container == "multimap" else 1000)
            assert table.contains([3, 5000]).tolist() == [True, False]
            if container == "multimap":
                assert table.get(numpy.array([3, 4])).values.tolist() == [3, 3, 4, 4]
            elif container != "set":
                assert table.get([3]).tolist() == [3 if container == "map" else 2]
            assert table.erase([3]).tolist() == [True]
            assert table.stats()["members"] == 2 and container in repr(table)
            table.validate()
            with pytest.raises(ValueError, match="not closed"):
                cluster.close()
    with pytest.raises(ValueError, match="closed"):
        cluster.table()


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
@pytest.mark.parametrize("row_bits", [32, 64])
def test_a_cluster_joins(how, row_bits):
    random = numpy.random.default_rng(5)
    left = [random.integers(0, 40, 3000), random.choice([0.5, -0.0, 0.0, float("nan")], 3000)]
    right = [random.integers(20, 60, 100), random.choice([0.5, 0.0, float("nan")], 100)]
    with heddle.Cluster("cpu:1,cpu:1,cpu:1") as cluster:
        got = cluster.join(left, right, how, sorted=True, row_bits=row_bits)
        wanted = heddle.join(left, right, how, sorted=True, row_bits=row_bits)
        for mine, theirs in zip(*((got,), (wanted,)) if how in ("semi", "anti") else (got, wanted), strict=True):
            assert mine.dtype == theirs.dtype and numpy.array_equal(mine, theirs)
        assert cluster.relation_stats["members"] == 3 and cluster.relation_stats["rows"] == 3100
        empty = cluster.join(left[0][:0], right[0], how)
        assert sum(map(len, empty)) == (200 if how in ("right", "full") else 0) if how not in ("semi", "anti") else True
    with pytest.raises(ValueError, match="closed"):
        cluster.join(left, right)


def test_a_cluster_groups():
    random = numpy.random.default_rng(6)
    keys, values = (
        {"a": random.integers(0, 30, 5000), "b": random.integers(0, 3, 5000).astype("int8")},
        random.random(5000),
    )
    with heddle.Cluster("cpu:1,cpu:1") as cluster:
        groups, alone = cluster.groupby(keys, sorted=True), heddle.groupby(keys, sorted=True)
        for how in ("sum", "min", "max", "mean", "count"):
            assert numpy.allclose(getattr(groups, how)(values), getattr(alone, how)(values))
        for name, column in alone.keys().items():
            assert numpy.array_equal(groups.keys()[name], column)
        for name in ("sizes", "first", "inverse"):
            assert numpy.array_equal(getattr(groups, name)(), getattr(alone, name)())
        with pytest.raises(TypeError, match="over a cluster"):
            groups.rows()
        with pytest.raises(TypeError, match="over a cluster"):
            groups.top(3)
        assert len(cluster.groupby(keys["a"][:0]).sizes()) == 0
        plain = cluster.groupby(["b"], keys).agg(n="size")
        assert plain["n"].sum() == 5000 and cluster.relation_stats["results"] == 3
    with pytest.raises(ValueError, match="closed"):
        groups.sizes()


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32"])
def test_set_operations_over_a_cluster(dtype):
    random = numpy.random.default_rng(7)
    x, y = random.integers(0, 100, 500).astype(dtype), random.integers(50, 150, 300).astype(dtype)
    with heddle.Cluster("cpu:1,cpu:1") as cluster:
        for name in ("union1d", "intersect1d", "setdiff1d"):
            got = getattr(cluster, name)(x, y, sorted=True)
            assert got.dtype == dtype and numpy.array_equal(got, getattr(numpy, name)(x, y))


def test_a_shelf_that_is_refused_is_not_kept_open(tmp_path):
    heddle.Shelf(tmp_path / "shelf", "map").close()
    for wrong in ({"container": "set"}, {"key_dtype": "int32"}, {"value_dtype": "int8"}):
        with pytest.raises(ValueError):
            heddle.Shelf(tmp_path / "shelf", **wrong)
        heddle.Shelf(tmp_path / "shelf").close()


def test_columns_in_files(tmp_path):
    with heddle.ColumnFile(tmp_path / "keys.npy", "w", dtype="int64", count=1000) as column:
        column.array[:] = numpy.arange(1000) % 7
        column.flush()
        column.advise("done")
    assert numpy.array_equal(numpy.load(tmp_path / "keys.npy"), numpy.arange(1000) % 7)
    with heddle.ColumnFile(tmp_path / "keys.npy") as column:
        array = column.array
        assert len(column) == 1000 and not array.flags.writeable and "1000 x int64" in repr(column)
        assert heddle.unique_values(array, sorted=True).tolist() == list(range(7))
    assert array.sum() == sum(i % 7 for i in range(1000))  # still mapped
    with pytest.raises(ValueError, match="closed"):
        len(column)
    (tmp_path / "raw").write_bytes(bytes(12))
    with heddle.ColumnFile(tmp_path / "raw", dtype="int32") as column:
        assert column.array.tolist() == [0, 0, 0]
    with pytest.raises(heddle.HeddleFormatError):
        heddle.ColumnFile(tmp_path / "raw", dtype="int64")
    with pytest.raises(heddle.HeddleIOError):
        heddle.ColumnFile(tmp_path / "nothing")
    with heddle.ColumnFile(tmp_path / "empty.npy", "w", count=0) as column:
        assert len(column.array) == 0


NUMBERS = {
    "int8": [-128, -1, 127],
    "uint8": [0, 200, 255],
    "bool": [True, False, True],
    "int32": [-(2**31), -1, 7],
    "uint32": [0, 7, 2**32 - 1],
    "int64": [-(2**63), -1, 7],
    "uint64": [0, 7, 2**64 - 1],
    "float32": [-0.5, 0.0, 3e38],
    "float64": [-0.1, float("inf"), 1e-300],
}


@pytest.mark.parametrize("dtype", NUMBERS)
def test_files_say_what_their_elements_are(tmp_path, dtype):
    """NumPy reads what a ColumnFile has written, and a ColumnFile what NumPy has written, with the same type."""
    numbers, ours, theirs = numpy.array(NUMBERS[dtype], dtype), tmp_path / "ours.npy", tmp_path / "theirs.npy"
    with heddle.ColumnFile(ours, "w", dtype=dtype, count=3) as column:
        assert column.dtype == dtype and column.array.dtype == numbers.dtype
        column.array[:] = numbers
    read = numpy.load(ours)
    assert read.dtype == numbers.dtype and read.tolist() == numbers.tolist()
    numpy.save(theirs, numbers)
    for path in (ours, theirs):
        for told in (None, dtype, numbers.dtype):
            with heddle.ColumnFile(path, dtype=told) as column:
                assert column.dtype == dtype and column.array.dtype == numbers.dtype
                assert column.array.tolist() == numbers.tolist()
    with heddle.ColumnFile(ours, "w") as column:
        column.array[0] = numbers[1]
    assert numpy.load(ours)[0] == numbers[1]
    numbers.tofile(tmp_path / "raw")
    with heddle.ColumnFile(tmp_path / "raw", dtype=dtype) as column:
        assert column.array.tolist() == numbers.tolist()


def test_files_of_another_type_are_refused(tmp_path):
    path = tmp_path / "x.npy"
    numpy.save(path, numpy.array([-1.5, 2.5]))
    for other in ("int64", "uint64", "float32"):
        with pytest.raises(heddle.HeddleFormatError, match="holds"):
            heddle.ColumnFile(path, dtype=other)
    for other in ("datetime64[s]", "S4"):
        with pytest.raises(TypeError, match="files hold"):
            heddle.ColumnFile(path, dtype=other)
    with pytest.raises(heddle.HeddleInvalid, match="not 16"):
        heddle.ColumnFile(tmp_path / "y.npy", "w", dtype="int16", count=3)
    with heddle.ColumnFile(tmp_path / "told.npy", "w", count=2) as column:
        assert column.dtype == "int64"
    assert numpy.load(tmp_path / "told.npy").dtype == numpy.int64


def test_a_cluster_is_visited_and_has_batches():
    with heddle.Cluster("cpu:1,cpu:1") as cluster, cluster.table("set") as table:
        table.insert(numpy.arange(1000))
        seen = []
        table.visit(lambda keys: seen.extend(keys.tolist()))
        assert sorted(seen) == list(range(1000)) == sorted(numpy.concatenate(list(table)).tolist())
