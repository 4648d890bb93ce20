"""Loops over shelves, which may be larger than memory."""

import contextlib
import os
import subprocess
import sys
import threading

import numpy
import pytest

import heddle


def test_a_shelf_is_gone_through_in_batches(tmp_path):
    x = numpy.random.default_rng(3).permutation(100_000)
    with heddle.Shelf(tmp_path / "shelf", "map", value_dtype="int16", memory=1 << 20) as shelf:
        shelf.insert(x, (x % 1000).astype("int16"))
        parts = list(shelf.batches(30_000))
        assert [len(part.keys) for part in parts] == [30_000, 30_000, 30_000, 10_000]
        assert sorted(numpy.concatenate([part.keys for part in parts]).tolist()) == list(range(100_000))
        assert all((part.values == part.keys % 1000).all() and part.values.dtype == "int16" for part in parts)
        if sys.implementation.name == "cpython":  # others do not end a loop at once that is left early
            for part in shelf:
                assert len(part.keys) == 65536
                break
            with pytest.raises(ZeroDivisionError):
                for _ in shelf:
                    1 // 0
        with contextlib.closing(iter(shelf)) as parts:
            assert len(next(parts).keys) == 65536
        assert shelf[5] == 5  # it can be used again
        with pytest.raises(ValueError, match="at least one"):
            shelf.batches(0)
        for _ in shelf.batches(50_000):
            for call in (lambda: shelf[5], lambda: shelf.insert([1], [1]), lambda: next(iter(shelf)), shelf.clear):
                with pytest.raises(RuntimeError, match="loop"):
                    call()
        with pytest.raises(RuntimeError, match="must not use"):
            shelf.visit(lambda keys, values: len(shelf))
        assert len(shelf) == 100_000
        left = iter(shelf)
        next(left)
        waiting = threading.Thread(target=lambda: shelf.insert([1], [9], "replace"))
        waiting.start()
        left.close()
        waiting.join()
        assert shelf[1] == 9 and list(left) == []
        left, unused = iter(shelf), iter(shelf)
        next(left)
    for closed in (left, unused):
        with pytest.raises(ValueError, match="closed"):
            next(closed)
    with heddle.Shelf(tmp_path / "set", "set") as shelf:
        assert list(shelf) == []
        shelf.insert(x)
        assert sorted(numpy.concatenate(list(shelf.batches(999))).tolist()) == list(range(100_000))


def test_batches_of_a_shelf_keep_to_their_memory(tmp_path):
    """A loop over a shelf of 32 MB takes far less than 32 MB."""
    pytest.importorskip("resource")
    with heddle.Shelf(tmp_path / "shelf", "map", memory=8 << 20) as shelf:
        for begin in range(0, 2_000_000, 500_000):
            some = numpy.arange(begin, begin + 500_000)
            shelf.insert(some, some)
    program = f"""
import resource, heddle
with heddle.Shelf({str(tmp_path / "shelf")!r}, memory=8 << 20) as shelf:
    first = iter(shelf)
    next(first)
    first.close()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = sum(len(part.keys) for part in shelf)
    print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    said = done.stdout.split()
    assert int(said[0]) == 2_000_000 and int(said[1]) * 1024 < 12_000_000, said
