"""Duplicates in a file that may be larger than memory: each key is kept where it occurs first.

A shelf is a table in a directory. It remembers what was seen, keeps to the memory that it is given, and is
there the next day.
"""

import os
import tempfile

import heddle
import numpy

with tempfile.TemporaryDirectory() as folder:
    path, kept = os.path.join(folder, "keys.npy"), 0
    numpy.save(path, numpy.random.default_rng(7).integers(0, 100_000, 400_000))

    with heddle.ColumnFile(path) as keys, heddle.Shelf(os.path.join(folder, "seen"), "set", memory=4 << 20) as seen:
        for begin in range(0, len(keys), 100_000):
            part = keys.array[begin : begin + 100_000]
            fresh = seen.insert(part, outcomes=True) == heddle.Outcome.INSERTED
            kept += int(fresh.sum())
            keys.advise("done", begin, len(part))
        print(kept, "of", len(keys), "keys are kept")
        print("as numpy:", kept == len(numpy.unique(keys.array)) == len(seen))
