#!/usr/bin/env python3
"""tables.py FILE...: the tables of docs/python.md and docs/measured.md from files that compare.py has written.

A ratio is the time of the best other library by the time of Heddle: above 1 Heddle is faster. A case is a task with a
number of rows and a share of distinct keys. Cases without another library are left out. Python's standard library is
all this needs.
"""
import csv
import statistics
import sys


def cases_of(name):
    """{(task, rows, distinct): {library: row}}"""
    cases = {}
    with open(name, newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            cases.setdefault((row["task"], int(row["rows"]), row["distinct"]), {})[row["library"]] = row
    return cases


def best_other(libraries, column):
    """(milliseconds, library); None where there is none."""
    times = [(float(row[column]), name) for name, row in libraries.items() if name != "heddle" and row[column]]
    return min(times) if times and "heddle" in libraries else None


def ratios(cases, column="ms"):
    """[(ratio, task, rows, the other library)]"""
    found = []
    for (task, rows, _), libraries in cases.items():
        other = best_other(libraries, column)
        if other:
            found.append((other[0] / float(libraries["heddle"][column]), task, rows, other[1]))
    return found


def short(ms):
    return f"{ms:.0f}" if ms >= 10 else f"{ms:.2f}"


def line(cells):
    print("| " + " | ".join(cells) + " |")


def head(first, cells):
    line([first, *cells])
    print("|---" * (1 + len(cells)) + "|")


def power(rows):
    return f"10^{len(str(rows)) - 1}" if str(rows).strip("0") == "1" else str(rows)


def by_rows(found, sizes):
    print("\nratio to the best other library, by rows\n")
    head("rows", [power(n) for n in sizes])
    groups = [sorted(case for case in found if case[2] == n) for n in sizes]
    for name, place in (("best", -1), ("worst", 0)):
        line([name, *(f"{group[place][0]:.2f} `{group[place][1]}`" for group in groups)])
    line(["median", *(f"{statistics.median(case[0] for case in group):.2f}" for group in groups)])
    line(["slower than the best other", *(f"{sum(c[0] < 1 for c in group)} of {len(group)}" for group in groups)])


def by_task(found, sizes):
    print("\nratio to the best other library, worst and best\n")
    head("task", [power(n) for n in sizes])
    for task in dict.fromkeys(case[1] for case in found):
        cells = []
        for n in sizes:
            group = [case[0] for case in found if case[1:3] == (task, n)]
            cells.append(f"{min(group):.2f} to {max(group):.2f}" if group else "")
        line([f"`{task}`", *cells])


def milliseconds(cases, rows, column):
    if not any(row[column] for libraries in cases.values() for row in libraries.values()):
        return
    print(f"\n{column}, {power(rows)} rows, many distinct\n")
    head("task", ["Heddle", "the best other", "ratio"])
    for (task, n, distinct), libraries in cases.items():
        if n == rows and distinct == "many" and libraries.get("heddle", {}).get(column):
            mine, other = float(libraries["heddle"][column]), best_other(libraries, column)
            line([f"`{task}`", short(mine), f"{short(other[0])} {other[1]}" if other else "-",
                  f"{other[0] / mine:.2f}" if other else "-"])


def main(names):
    for name in names:
        cases = cases_of(name)
        sizes = sorted({n for _, n, _ in cases})
        print(f"\n{name}")
        by_rows(ratios(cases), sizes)
        by_task(ratios(cases), sizes)
        milliseconds(cases, sizes[-1], "ms")
        milliseconds(cases, sizes[-1], "cold_ms")


if __name__ == "__main__":
    main(sys.argv[1:])
