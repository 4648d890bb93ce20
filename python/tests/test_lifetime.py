"""Many calls leave nothing behind, calls from several threads, processes that fork, and the end of the interpreter."""

import ctypes
import gc
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy
import pytest

import heddle


CPYTHON = sys.implementation.name == "cpython"
MEMORY = pytest.mark.skipif(
    not CPYTHON or not os.path.exists("/proc/self/statm"), reason="no /proc, or an interpreter that compiles as it goes"
)
PICKLES = pytest.mark.skipif(not CPYTHON, reason="NumPy leaves arrays unaligned that PyPy has unpickled")


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def work(x):
    heddle.unique_counts(x)
    heddle.isin(x, x[:3])
    heddle.join(x, x[:3])
    heddle.groupby(x).sum(x)


@MEMORY
def test_ten_thousand_calls_leave_nothing_behind():
    x = numpy.arange(200) % 50
    table = heddle.HashMap(x[:50], x[:50], device="cpu:1")

    def calls(n):
        for number in range(n):
            if number % 500 == 0:
                heddle.trim()  # keeps the memory of the test small
            heddle.unique_counts(x, device="cpu:1")
            table.get(x)
            table.insert(x, x, "replace")
        for _ in range(n // 20):
            work(x)
            heddle.HashMap(x, x, device="cpu:1")
            with pytest.raises(KeyError):
                table[[-1]]

    def settled(n):
        calls(n)
        heddle.trim()  # what devices keep for their next call is not lost
        gc.collect()
        getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)(0)
        return resident()

    before = settled(1000)
    assert settled(10_000) - before < 8 << 20


@MEMORY
def test_arrays_of_many_sizes_leave_nothing_behind():
    """Columns of Arrow with nulls, in one piece and in several, and arrays of every size up to some thousand."""
    pyarrow = pytest.importorskip("pyarrow")
    random = numpy.random.default_rng(4)

    def calls(n):
        for number in range(n):
            if number % 100 == 0:
                heddle.trim()
            x = random.integers(0, 50, int(random.integers(0, 4000)))
            column = pyarrow.array(x, mask=x == 7)
            for keys in (column, pyarrow.chunked_array([column, column[::1]])):
                heddle.unique(keys, device="cpu:1")
                heddle.join(keys, column, device="cpu:1", how="semi")
                heddle.groupby(keys, device="cpu:1").agg(high=(keys, "max"))
            table = heddle.HashMap(x, x, device="cpu:1")
            table.get(x)
            table.items()

    def settled(n):
        calls(n)
        heddle.trim()
        gc.collect()
        pyarrow.default_memory_pool().release_unused()
        getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)(0)
        return resident(), pyarrow.total_allocated_bytes()

    settled(200)
    before, after = settled(200), settled(1000)
    assert after[1] <= before[1] and after[0] - before[0] < 8 << 20


def test_views_hold_no_array_longer_than_needed():
    import weakref

    x = numpy.arange(1000)
    gone = weakref.ref(x)
    table = heddle.HashMap(x, x)
    groups = heddle.groupby(x)
    del x
    gc.collect()
    assert gone() is not None  # the groups need their keys
    del groups
    gc.collect()
    assert gone() is None and len(table) == 1000


def test_devices_and_what_uses_them_end_in_any_order():
    """What is collected together ends in no order that Python would promise."""
    program = """
import gc, heddle, numpy, os
from heddle import _words
if "HEDDLE_TEST_BUCKET" in os.environ:
    _words.DEFAULTS["bucket"] = int(os.environ["HEDDLE_TEST_BUCKET"])
class Node: pass
x = numpy.arange(5000)
for number in range(20):
    node, device, cluster = Node(), heddle.Device("cpu:1"), heddle.Cluster("cpu:1,cpu:1")
    if number % 2:
        node.device, node.cluster = device, cluster
    node.groups, node.others = heddle.groupby(x, device=device), cluster.groupby(x)
    node.table, node.filter = heddle.HashMap(x, x, device=device), heddle.BloomFilter(9, device=device)
    node.me, node.device, node.cluster = node, device, cluster
    if number < 19:
        del node, device, cluster
        gc.collect()
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and done.stderr == ""


def test_functions_from_several_threads():
    x = numpy.random.default_rng(1).integers(0, 1000, 20_000)
    expected, errors = numpy.unique(x), []

    def run():
        try:
            for _ in range(10):
                assert numpy.array_equal(heddle.unique_values(x, sorted=True, device="cpu:1"), expected)
        except Exception as problem:
            errors.append(problem)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def in_child(table, x, queue):
    queue.put((table[x].sum().item(), len(heddle.unique_values(x)), len(heddle.join(x, x).left)))


@pytest.mark.forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=PICKLES)])
def test_processes(method):
    x = numpy.arange(50_000)
    table = heddle.HashMap(x, x)
    work(x)  # the threads of the library are there when the process forks
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    children = [context.Process(target=in_child, args=(table, x, queue)) for _ in range(2)]
    for child in children:
        child.start()
    answers = [queue.get(timeout=60) for _ in children]
    for child in children:
        child.join()
        assert child.exitcode == 0
    assert answers == [(int(x.sum()), 50_000, 50_000)] * 2
    assert table[5] == 5


@pytest.mark.forks
@PICKLES
def test_a_pool_of_forked_workers():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        parts = pool.map(heddle.unique_values, [numpy.arange(1000) % 10] * 8)
    assert all(sorted(part.tolist()) == list(range(10)) for part in parts)


class Rows:
    """What a data loader loads: rows whose features are looked up in a map, batch by batch."""

    def __init__(self, features, ids):
        self.features, self.ids = features, ids

    def __len__(self):
        return len(self.features)

    def __getitem__(self, row):
        return int(self.ids[int(self.features[row])])

    def __getitems__(self, rows):
        return self.ids[self.features[numpy.asarray(rows)]].tolist()


_loaded = None


def load_with(rows):
    global _loaded
    _loaded = rows


def load(batch):
    return _loaded.__getitems__(batch)


def rows_to_load():
    features = numpy.random.default_rng(3).integers(0, 2**60, 2000)
    ids = heddle.HashMap(heddle.unique_values(features), numpy.arange(2000))
    return Rows(features, ids), [ids[int(feature)] for feature in features]


@pytest.mark.forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_load_batches(method):
    """As the data loaders of frameworks do: each worker has the table, takes lists of rows and gives what they hold."""
    rows, expected = rows_to_load()
    batches = [list(range(begin, begin + 100)) for begin in range(0, len(rows), 100)]
    with multiprocessing.get_context(method).Pool(2, load_with, (rows,)) as pool:
        for _ in range(2):
            assert sum(pool.imap(load, batches), []) == expected


@pytest.mark.forks
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_torchs_data_loader(method):
    data = pytest.importorskip("torch.utils.data")
    rows, expected = rows_to_load()
    loader = data.DataLoader(
        rows, batch_size=100, num_workers=2, multiprocessing_context=method, persistent_workers=True
    )
    for _ in range(2):
        assert [item for batch in loader for item in batch.tolist()] == expected


@pytest.mark.parametrize(
    "program",
    [
        "import heddle, numpy; x = numpy.arange(5); m = heddle.HashMap(x, x); g = heddle.groupby(x)",
        "import heddle, polars; s = heddle.unique(polars.Series([1, 2])); heddle.keep = s",
        "import heddle, numpy, threading; threading.Thread(target=lambda: heddle.unique(numpy.arange(5))).start()",
    ],
)
def test_the_interpreter_ends_quietly(program):
    if "polars" in program:
        pytest.importorskip("polars")
    program = "import sys; sys.path[:0] = sys.argv[1:]\n" + program
    done = subprocess.run([sys.executable, "-c", program, *sys.path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""


def test_a_library_that_is_not_there_is_named():
    program = "import sys; sys.path[:0] = sys.argv[1:]\nimport heddle"
    environment = {**os.environ, "HEDDLE_LIBRARY": "/nowhere/libheddle.so", "LD_LIBRARY_PATH": ""}
    done = subprocess.run([sys.executable, "-c", program, *sys.path], capture_output=True, text=True, env=environment)
    if done.returncode == 0:
        pytest.skip("the package or the system has a library")
    assert "ImportError" in done.stderr and "/nowhere/libheddle.so" in done.stderr
