#!/usr/bin/env python3
"""Heddle's joins and group-bys beside DuckDB's, on the same columns in memory, in one run.

    python3 -m venv build/peers/venv && build/peers/venv/bin/pip install numpy duckdb
    build/peers/venv/bin/python bench/peers/duckdb_peers.py --library build/libheddle.so

DuckDB's tables are made beforehand and lie in its own memory. Both take turns, and the median of the
rounds counts. A rate is input rows a second, of both sides in a join. "count" only asks how many
rows the join has; "pairs" also writes the row numbers of all matches, DuckDB's into a temporary table.
A group-by of Heddle writes all keys and sums; DuckDB's are counted and summed up, not written.
"cpu" is the ratio of the processor time that both took, which busy neighbours change less.
Exits with 1 when the two do not agree.
"""

import argparse
import csv
import os
import statistics
import sys
import time

import duckdb
import numpy

from heddle_library import Heddle


def sparse_keys(n, key_bits, first=0):
    """n different keys that look random: a bijection of first, first + 1, ..."""
    kind = numpy.uint32 if key_bits == 32 else numpy.uint64
    shift, factor = (16, 0x7FEB352D) if key_bits == 32 else (32, 0xD6E8FEB86659FD93)
    keys = numpy.arange(first, first + n, dtype=kind)
    for _ in range(2):
        keys ^= keys >> kind(shift)
        keys *= kind(factor)
    return keys ^ keys >> kind(shift)


class Contest:
    """Times pairs of functions that must give the same answer, and keeps the figures."""

    def __init__(self, rounds):
        self.rounds, self.lines, self.wrong = rounds, [], False

    def run(self, what, rows, contestants):
        seconds = {name: [] for name in contestants}
        cpu = {name: [] for name in contestants}
        for turn in range(self.rounds + 1):
            answers = {}
            for name, work in contestants.items():
                begin, cpu_begin = time.perf_counter(), time.process_time()
                answers[name] = work()
                if turn > 0:  # the first round warms memory up
                    seconds[name].append(time.perf_counter() - begin)
                    cpu[name].append(time.process_time() - cpu_begin)
            if len(set(answers.values())) != 1:
                print(f"{what}: the answers differ: {answers}")
                self.wrong = True
        rates = {name: rows / statistics.median(s) / 1e6 for name, s in seconds.items()}
        ratio = rates["heddle"] / rates["duckdb"]
        cpu_ratio = statistics.median(cpu["duckdb"]) / statistics.median(cpu["heddle"])
        print(f"{what:<44}{rates['heddle']:>10.1f}{rates['duckdb']:>10.1f}{ratio:>8.2f}"
              f"{cpu_ratio:>8.2f}", flush=True)
        self.lines.append([what, rows, f"{rates['heddle']:.2f}", f"{rates['duckdb']:.2f}",
                           f"{ratio:.3f}", f"{cpu_ratio:.3f}"])


def compare_joins(contest, heddle, database, log_n, key_bits, with_pairs):
    n = 1 << log_n
    random = numpy.random.default_rng(log_n)
    left, right = sparse_keys(n, key_bits), random.permutation(sparse_keys(n, key_bits))
    for name, keys in (("l", left), ("r", right)):
        rows = numpy.arange(n, dtype=numpy.uint32)
        database.register("source", {"k": keys, "i": rows})
        database.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT k, i FROM source")
        database.unregister("source")
    what = f"join 2^{log_n} x 2^{log_n} u{key_bits}"

    def count():
        return database.execute("SELECT count(*) FROM l JOIN r ON l.k = r.k").fetchone()[0]

    def pairs():
        database.execute("CREATE OR REPLACE TEMP TABLE p AS "
                         "SELECT l.i AS a, r.i AS b FROM l JOIN r ON l.k = r.k")
        return database.execute("SELECT count(*) FROM p").fetchone()[0]

    contest.run(what + ", count", 2 * n, {
        "heddle": lambda: heddle.join(left, right)[0], "duckdb": count})
    if with_pairs:
        contest.run(what + ", pairs", 2 * n, {
            "heddle": lambda: heddle.join(left, right, fetch=True)[0], "duckdb": pairs})
        database.execute("DROP TABLE p")
    database.execute("DROP TABLE l; DROP TABLE r")


def compare_groups(contest, heddle, database, log_n, groups):
    n = 1 << log_n
    random = numpy.random.default_rng(groups)
    keys = sparse_keys(groups, 32)[random.integers(0, groups, n)]
    values = random.integers(0, 1000, n, dtype=numpy.uint32)
    database.register("source", {"k": keys, "v": values})
    database.execute("CREATE OR REPLACE TABLE g AS SELECT k, v FROM source")
    database.unregister("source")

    def by_heddle():
        distinct, sums = heddle.group_sum(keys, values)
        return len(distinct), int(sums.sum())

    def by_duckdb():
        count, total = database.execute(
            "SELECT count(*), sum(s) FROM (SELECT k, sum(v) AS s FROM g GROUP BY k)").fetchone()
        return int(count), int(total)

    contest.run(f"group-by sum 2^{log_n}, {groups} groups", n, {
        "heddle": by_heddle, "duckdb": by_duckdb})
    database.execute("DROP TABLE g")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", default="build/libheddle.so")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--log-n", type=int, nargs="+", default=[24, 25], help="rows, as powers of 2")
    parser.add_argument("--key-bits", type=int, nargs="*", default=[32], help="of joins: 32, 64")
    parser.add_argument("--groups", type=int, nargs="*", default=[1000, 1000000, 10000000])
    parser.add_argument("--no-pairs", action="store_true", help="joins are only counted")
    parser.add_argument("--csv", help="file to write the figures to")
    return parser.parse_args()


def main():
    options = parse()
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # idle threads leave the cores to the other
    heddle = Heddle(options.library, f"cpu:{options.threads}")
    database = duckdb.connect(":memory:")
    database.execute(f"SET threads = {options.threads}")
    contest = Contest(options.rounds)
    print(f"DuckDB {duckdb.__version__}, {options.threads} threads, "
          f"median of {options.rounds} rounds; million input rows a second")
    print(f"{'':<44}{'heddle':>10}{'duckdb':>10}{'ratio':>8}{'cpu':>8}")
    for log_n in options.log_n:
        for key_bits in options.key_bits:
            compare_joins(contest, heddle, database, log_n, key_bits, not options.no_pairs)
        for groups in options.groups if heddle.has("heddle_groups_create") else []:
            compare_groups(contest, heddle, database, log_n, groups)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["what", "rows", "heddle_mrows_s", "duckdb_mrows_s", "ratio", "cpu_ratio"])
            writer.writerows(contest.lines)
    heddle.close()
    sys.exit(contest.wrong)


if __name__ == "__main__":
    main()
