#!/usr/bin/env python3
"""Heddle beside NumPy, pandas, Polars, DuckDB and pyarrow, or on a GPU beside CuPy, torch and pylibcudf, in one
run.

    python -m venv build-python/peers
    build-python/peers/bin/pip install numpy pandas polars pyarrow duckdb
    HEDDLE_LIBRARY=build/libheddle.so build-python/peers/bin/python bench/python/compare.py --csv FILE

Tasks: unique (values; in order of first appearance; counts; inverse; all), isin, value_counts, inner and left
join, group-by sum, on int64 or uint64 keys (--keys) of which few, many or most are distinct. With 10^8 rows give
--tasks: columns that no task needs are not made. Of NumPy's ways to an answer the fastest is taken. All libraries of a line take turns, after a turn to warm up; `ms`
is the median of the turns. The answers of all are compared with Heddle's and with what is known of the columns:
`verified`. `cold_ms` is the first call of a fresh process, and `cold_peak_mb` by how much its memory grew at
most (--cold). `best_ratio` is the best of the others divided by Heddle: above 1 Heddle is faster. Libraries
that are not installed are left out, tasks that a library has no call for as well. Exits with 1 when an answer
is wrong.
"""

import argparse
import gc
import importlib
import json
import os
import statistics
import subprocess
import sys
import time

from common import head

import cases  # after common, which says where heddle is

DISTINCT = {
    "few": lambda rows: min(1000, max(1, rows // 10)),
    "many": lambda rows: max(1, rows // 10),
    "most": lambda rows: rows * 2,
}
CPU = {
    "heddle": "heddle",
    "numpy": "numpy",
    "pandas": "pandas",
    "polars": "polars",
    "duckdb": "duckdb",
    "pyarrow": "pyarrow",
}
GPU = {"heddle": "heddle", "cupy": "cupy", "torch": "torch", "pylibcudf": "pylibcudf"}
FIELDS = "task,rows,distinct,library,ms,cold_ms,cold_peak_mb,best_ratio,verified"


def is_there(name):
    try:
        importlib.import_module(name)
        return True
    except ImportError:
        return False


def tasks_of(name, data, options):
    if options.gpu:
        import cases_gpu

        return getattr(cases_gpu, "of_heddle_gpu" if name == "heddle" else f"of_{name}")(data)
    return cases.of_duckdb(data, options.threads) if name == "duckdb" else getattr(cases, f"of_{name}")(data)


def waiting(options):
    """What a GPU's clock must wait for."""
    if not options.gpu:
        return lambda: None
    import cupy

    return cupy.cuda.runtime.deviceSynchronize


def once(work, wait):
    gc.disable()
    begin = time.perf_counter()
    got = work()
    wait()
    seconds = time.perf_counter() - begin
    gc.enable()
    return seconds, got


def cold(options):
    """In a process of its own: the first call, and by how much memory grew."""
    name, task, rows, distinct, way = json.loads(options.once)
    data = cases.columns(rows, distinct, options.tasks, options.keys)
    work = tasks_of(name, data, options)[task]
    if way is not None:
        work = work.ways[way]
    with open("/proc/self/clear_refs", "w") as file:  # the peak of memory begins anew
        file.write("5")
    before = peak("VmRSS")
    seconds, _ = once(work, waiting(options))
    print(json.dumps([seconds * 1e3, (peak("VmHWM") - before) / 1e3]))


def peak(what):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(what + ":"))


def cold_figures(name, task, rows, distinct, way, options):
    if not options.cold:
        return "", ""
    command = [
        sys.executable,
        sys.argv[0],
        "--once",
        json.dumps([name, task, rows, distinct, way]),
        "--threads",
        str(options.threads),
        "--keys",
        options.keys,
        "--tasks",
        *options.tasks,
    ]
    done = subprocess.run(command + (["--gpu"] if options.gpu else []), capture_output=True, text=True, check=True)
    ms, mb = json.loads(done.stdout.splitlines()[-1])
    return f"{ms:.3f}", f"{mb:.1f}"


def compare(task, works, data, options):
    """One line for every library that has the task."""
    wait, times, answers = waiting(options), {name: [] for name in works}, {}
    for turn in range(options.turns + 1):
        for name, work in works.items():
            seconds, got = once(work, wait)
            if turn > 0:
                times[name].append(seconds * 1e3)
            else:
                answers[name] = cases.answer(task, got, data)
            del got
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    others = [ms for name, ms in medians.items() if name != "heddle"]
    for name, ms in medians.items():
        ratio = min(others) / ms if name == "heddle" and others else None
        yield name, ms, ratio, answers[name] == answers["heddle"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=float, nargs="+", default=[1e3, 1e4, 1e5, 1e6, 1e7], help="up to 1e8")
    parser.add_argument("--distinct", nargs="+", default=list(DISTINCT), choices=list(DISTINCT))
    parser.add_argument("--tasks", nargs="+", default=cases.TASKS, choices=cases.TASKS)
    parser.add_argument("--keys", default="int64", choices=["int64", "uint64"], help="the type of the keys")
    parser.add_argument("--libraries", nargs="+", help="only these beside heddle")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--cold", action="store_true", help="measure first calls, too, in processes of their own")
    parser.add_argument("--csv", help="file to write the figures to")
    parser.add_argument("--once", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for variable in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(variable, str(options.threads))
    if options.once:
        return cold(options)
    names = [
        name
        for name in (GPU if options.gpu else CPU)
        if is_there(name)
        and (name == "heddle" or not options.libraries or name in options.libraries)
        and not (name == "torch" and options.keys == "uint64")  # it has no functions for these
    ]
    device = "cuda" if options.gpu else f"cpu:{options.threads}"
    lines, wrong = [*head(device, [name for name in names if name not in ("heddle", "numpy")]), FIELDS], []
    print("\n".join(lines), flush=True)
    for rows in map(int, options.rows):
        for kind in options.distinct:
            data = cases.columns(rows, DISTINCT[kind](rows), options.tasks, options.keys)
            works = {name: tasks_of(name, data, options) for name in names}

            for task in options.tasks:
                own = {name: made[task] for name, made in works.items() if task in made}
                for name, ms, ratio, verified in compare(task, own, data, options):
                    way = getattr(own[name], "chosen", None)
                    first, grown = cold_figures(name, task, rows, DISTINCT[kind](rows), way, options)
                    shown = "" if ratio is None else f"{ratio:.2f}"
                    line = f"{task},{rows},{kind},{name},{ms:.4f},{first},{grown},{shown},{str(verified).lower()}"
                    wrong.extend([line] if not verified else [])
                    lines.append(line)
                    print(line, flush=True)
    if options.csv:
        with open(options.csv, "w") as file:
            file.write("\n".join(lines) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
