#!/usr/bin/env python3
"""What a call from Python costs beyond the call of the C library, in microseconds.

    HEDDLE_LIBRARY=build/libheddle.so python bench/python/overhead.py [--frameworks numpy torch ...] [--csv FILE]

Each function of the package is called on small arrays of every framework that is installed, in turns with the bare C
calls that it makes. These go through ctypes, with arguments that were made beforehand, on the same arrays. `python_us`
is the package and `bare_us` the bare calls, medians of many turns. `ctypes_us` is what ctypes takes of them: the cost of
a call that does nothing, with as many arguments, summed over the calls. `c_us` is the rest, what a C program would
spend, and `overhead_us` is all that Python adds to that: python_us - c_us.
"""

import argparse
import ctypes
import functools
import importlib
import statistics
import sys
import time
from ctypes import byref, c_uint64, c_void_p

import numpy

from common import head

import heddle
from heddle import _declarations as c
from heddle import _grouping, _joins
from heddle._device import device_of
from heddle._library import lib, options, quick
from heddle._view import view

MAKE = {
    "numpy": lambda module, x: x,
    "array": lambda module, x: module.array("q", x.tolist()),
    "torch": lambda module, x: module.from_numpy(x),
    "jax": lambda module, x: module.numpy.asarray(x),
    "pyarrow": lambda module, x: module.array(x),
    "polars": lambda module, x: module.Series(x),
    "pandas": lambda module, x: module.Series(x),
    "cupy": lambda module, x: module.asarray(x),
}
ON_A_GPU = {"cupy"}


def measured(function, turns, calls):
    taken = []
    for _ in range(turns):
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        taken.append((time.perf_counter() - begin) / calls * 1e6)
    return taken


def in_turns(first, second, turns, calls=50):
    """Medians of the two. Turns are short: a turn in which another program took the processor counts little."""
    for function in (first, second):
        measured(function, 2, calls)
    one, two = [], []
    for _ in range(turns):
        heddle.trim()  # scratch memory that earlier calls left must not be looked through by one of them alone
        one += measured(first, 1, calls)
        heddle.trim()
        two += measured(second, 1, calls)
    return statistics.median(one), statistics.median(two)


@functools.cache
def empty_call(arguments, turns):
    """What ctypes takes for a call with so many addresses: labs looks at the first, and at nothing behind it."""
    nothing = ctypes.CDLL(None)["labs"]
    nothing.restype, nothing.argtypes = ctypes.c_long, [ctypes.c_long, *[c_void_p] * (arguments - 1)]
    given = (1, *[4096] * (arguments - 1))
    return statistics.median(measured(lambda: nothing(*given), turns, 1000)) - statistics.median(
        measured(lambda: None, turns, 1000)
    )


def run(calls):
    for function, arguments in calls:
        function(*arguments)


class Case:
    """The arrays of one framework, and the bare calls and the package's for every function."""

    def __init__(self, x, device):
        self.x, self.v, self.device = x, view(x), device
        self.n, self.stream = self.v.size, self.v.stream
        self.keep = [self.empty("int64") for _ in range(3)] + [self.empty("bool")]
        self.a, self.b, self.d, self.f = (self.v.framework.address(array) for array in self.keep)
        self.handle = device_of(device, self.v.device).handle
        self.column, self.made, self.count = _grouping.column_of(self.v), c_void_p(), c_uint64()
        self.map = heddle.HashMap(x, x, device=device)
        self.set_options = options(c.TableOptions, container=c.CONTAINER_SET, key_bits=64, capacity=self.n)
        self.replace = options(c.InsertOptions, policy=c.POLICY_REPLACE)
        self.bloom = heddle.BloomFilter(self.n, device=device)

    def empty(self, dtype):
        framework = self.v.framework
        return framework.empty(self.n, framework.natives[dtype], self.v)

    def groups(self, *between):
        made = byref(self.made)
        return [
            (
                lib.heddle_groups_create,
                (self.handle, byref(self.column), 1, self.n, _grouping._ORDERS[False], made, self.stream),
            ),
            (quick.heddle_groups_count, (self.made, byref(self.count))),
            (lib.heddle_groups_keys, (self.made, 0, self.a, None, self.stream)),
            *between,
            (lib.heddle_groups_destroy, (self.made,)),
        ]

    def join(self):
        made, count = byref(self.made), byref(self.count)
        how, column = _joins._OPTIONS[c.JOIN_INNER, 64], byref(self.column)
        return [
            (lib.heddle_join_create, (self.handle, column, column, 1, self.n, self.n, how, made, self.stream)),
            (quick.heddle_join_count, (self.made, count, None)),
            (lib.heddle_join_fetch, (self.made, self.a, self.b, self.n, count, self.stream)),
            (lib.heddle_join_destroy, (self.made,)),
        ]

    def member(self):
        at, n, stream = self.v.address, self.n, self.stream
        return [
            (lib.heddle_table_create, (self.handle, byref(self.set_options), byref(self.made))),
            (lib.heddle_table_build, (self.made, at, None, n, None, None, stream)),
            (lib.heddle_table_contains, (self.made, at, n, self.f, None, stream)),
            (lib.heddle_table_destroy, (self.made,)),
        ]

    def all(self):
        """(name, bare C calls, the package)"""
        x, n, at, stream, held, made, device = (
            self.x,
            self.n,
            self.v.address,
            self.stream,
            self.map._handle,
            self.made,
            self.device,
        )
        sizes = (lib.heddle_groups_sizes, (made, self.b, stream))
        inverse = (lib.heddle_groups_of_rows, (made, self.b, stream))
        total = (lib.heddle_groups_aggregate, (made, c.AGGREGATE_SUM, c.TYPE_I64, at, None, self.b, None, stream))
        union = (self.handle, c.SET_INTERSECTION, 64, at, n, at, n, self.a, n, byref(self.count), stream)
        insert = (held, at, at, n, byref(self.replace), None, stream)
        return [
            (
                "HashMap.get",
                [(lib.heddle_table_find, (held, at, n, self.a, None, None, stream))],
                lambda: self.map.get(x),
            ),
            ("HashMap[]", [(lib.heddle_table_find, (held, at, n, self.a, self.f, None, stream))], lambda: self.map[x]),
            (
                "HashMap.contains",
                [(lib.heddle_table_contains, (held, at, n, self.f, None, stream))],
                lambda: self.map.contains(x),
            ),
            ("HashMap.insert", [(lib.heddle_table_insert, insert)], lambda: self.map.insert(x, x, "replace")),
            (
                "BloomFilter.contains",
                [(lib.heddle_filter_contains, (self.bloom._handle, at, n, self.f, None, stream))],
                lambda: self.bloom.contains(x),
            ),
            ("unique_values", self.groups(), lambda: heddle.unique_values(x, device=device)),
            ("unique_counts", self.groups(sizes), lambda: heddle.unique_counts(x, device=device)),
            ("unique_inverse", self.groups(inverse), lambda: heddle.unique_inverse(x, device=device)),
            ("groupby.sum", self.groups(total), lambda: heddle.groupby(x, device=device).agg(total=(x, "sum"))),
            ("join", self.join(), lambda: heddle.join(x, x, device=device)),
            ("isin", self.member(), lambda: heddle.isin(x, x, device=device)),
            (
                "intersect1d",
                [(lib.heddle_set_operation, union)],
                lambda: heddle.intersect1d(x, x, device=device),
            ),
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--device", default="cpu:1")
    parser.add_argument("--frameworks", nargs="+", choices=list(MAKE), default=list(MAKE))
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--csv", help="file to write the figures to")
    arguments = parser.parse_args()
    lines = [*head(arguments.device), "function,framework,keys,python_us,bare_us,ctypes_us,c_us,overhead_us"]
    print("\n".join(lines), flush=True)
    for name in arguments.frameworks:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if (name in ON_A_GPU) != arguments.device.startswith("cuda"):
            continue
        if name == "jax":
            module.config.update("jax_enable_x64", True)
        case = Case(MAKE[name](module, numpy.arange(arguments.keys)), arguments.device)
        for function, calls, packaged in case.all():
            bare, python = in_turns(functools.partial(run, calls), packaged, arguments.turns)
            through = sum(empty_call(len(given), arguments.turns) for _, given in calls)
            figures = (python, bare, through, bare - through, python - bare + through)
            lines.append(f"{function},{name},{arguments.keys}," + ",".join(f"{figure:.2f}" for figure in figures))
            print(lines[-1], flush=True)
    if arguments.csv:
        with open(arguments.csv, "w") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
