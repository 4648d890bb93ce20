#!/usr/bin/env python3
"""What a call from Python costs beyond the call of the C library, in microseconds.

    HEDDLE_LIBRARY=build/libheddle.so python bench/python/overhead.py [--csv FILE]

Each function is called on the same small arrays in turns with the bare C calls that it makes, through ctypes
with arguments that were made beforehand. `bare` is that; `python` is the package; `overhead` is the difference
of the medians of many turns. `ctypes` is the cost of one empty call through ctypes, which both have once for
every C call.
"""

import argparse
import ctypes
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
from heddle._library import lib, options
from heddle._view import view


def measured(function, turns, calls):
    best = []
    for _ in range(turns):
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        best.append((time.perf_counter() - begin) / calls * 1e6)
    return best


def in_turns(first, second, turns=30, calls=200):
    for function in (first, second):
        measured(function, 2, calls)
    one, two = [], []
    for _ in range(turns):
        heddle.trim()  # scratch memory that earlier calls left must not be looked through by one of them alone
        one += measured(first, 1, calls)
        heddle.trim()
        two += measured(second, 1, calls)
    return statistics.median(one), statistics.median(two)


def cases(n, device):
    """(name, bare C calls, the package) for every function."""
    x = numpy.arange(n)
    column, handle = _grouping.column_of(view(x)), device_of(device, -1).handle
    table, join, count = c_void_p(), c_void_p(), c_uint64()
    values, more, flags = numpy.empty(n, "int64"), numpy.empty(n, "int64"), numpy.empty(n, "bool")
    a, b, f, at = (array.ctypes.data for array in (values, more, flags, x))
    held = heddle.HashMap(x, x, device=device)
    wanted = options(c.InsertOptions, policy=c.POLICY_REPLACE)
    set_options = options(c.TableOptions, container=c.CONTAINER_SET, key_bits=64, capacity=n)

    def groups():
        lib.heddle_groups_create(handle, byref(column), 1, n, _grouping._ORDERS[False], byref(table), None)
        lib.heddle_groups_count(table, byref(count))
        lib.heddle_groups_keys(table, 0, a, None, None)
        lib.heddle_groups_destroy(table)

    def joined():
        lib.heddle_join_create(
            handle, byref(column), byref(column), 1, n, n, _joins._OPTIONS[c.JOIN_INNER, 64], byref(join), None
        )
        lib.heddle_join_count(join, byref(count), None)
        lib.heddle_join_fetch(join, a, b, n, byref(count), None)
        lib.heddle_join_destroy(join)

    def member():
        lib.heddle_table_create(handle, byref(set_options), byref(table))
        lib.heddle_table_build(table, at, None, n, None, None, None)
        lib.heddle_table_contains(table, at, n, f, None, None)
        lib.heddle_table_destroy(table)

    return [
        ("HashMap.get", lambda: lib.heddle_table_find(held._handle, at, n, a, None, None, None), lambda: held.get(x)),
        ("HashMap[]", lambda: lib.heddle_table_find(held._handle, at, n, a, f, None, None), lambda: held[x]),
        (
            "HashMap.contains",
            lambda: lib.heddle_table_contains(held._handle, at, n, f, None, None),
            lambda: held.contains(x),
        ),
        (
            "HashMap.insert",
            lambda: lib.heddle_table_insert(held._handle, at, at, n, byref(wanted), None, None),
            lambda: held.insert(x, x, "replace"),
        ),
        ("unique_values", groups, lambda: heddle.unique_values(x, device=device)),
        ("join", joined, lambda: heddle.join(x, x, device=device)),
        ("isin", member, lambda: heddle.isin(x, x, device=device)),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--device", default="cpu:1")
    parser.add_argument("--csv", help="file to write the figures to")
    arguments = parser.parse_args()
    nothing = ctypes.c_void_p()
    empty, _ = in_turns(lambda: lib.heddle_table_destroy(nothing), lambda: None)
    lines = [*head(arguments.device), "function,keys,bare_us,python_us,overhead_us", f"ctypes,0,{empty:.2f},,"]
    for name, bare, packaged in cases(arguments.keys, arguments.device):
        one, two = in_turns(bare, packaged)
        lines.append(f"{name},{arguments.keys},{one:.2f},{two:.2f},{two - one:.2f}")
    print("\n".join(lines))
    if arguments.csv:
        with open(arguments.csv, "w") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
