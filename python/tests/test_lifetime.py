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


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def work(x):
    heddle.unique_counts(x)
    heddle.isin(x, x[:3])
    heddle.join(x, x[:3])
    heddle.groupby(x).sum(x)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
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
@pytest.mark.parametrize("method", ["fork", "spawn"])
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
def test_a_pool_of_forked_workers():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        parts = pool.map(heddle.unique_values, [numpy.arange(1000) % 10] * 8)
    assert all(sorted(part.tolist()) == list(range(10)) for part in parts)


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
