#!/usr/bin/env python3
"""mutate.py [-k WORD] [--full] [--folder DIR]: whether the tests notice when the code is wrong.
mutate.py --random N [--seed S] [--files GLOB] [--csv FILE] [--again]: the same for changes that nobody chose.

tests/mutations.txt lists single wrong changes, each with the tests that should notice it in small sizes. Every change is
made in turn in a copy of the tree (build-mutate/); the tests are built and run there as `make test` runs them, with
--full in the sizes of `make check`. A change
that no test notices is printed as SURVIVED, and the exit status is then 1. Whole CMake builds are not made again: only what
depends on the changed file is.

An entry, with an empty line behind it; WHY says what the change breaks:

    FILE: TEST TEST ...        WHY
    - one line of FILE, or the part of it that is replaced
    + what stands there instead

--random makes single changes by itself (mutants.py), in the files that match GLOB of those that mutate_random.py lists, until N
of them count, and writes what came of each to FILE. --again runs those of FILE that survived once more.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

import mutate_random

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = "_b8$|iceberg_k32_v32_b16$"


def entries():
    for block in (ROOT / "tests/mutations.txt").read_text().split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        head, old, new = lines
        where, rest = head.split(": ", 1)
        tests, _, why = rest.partition("  ")
        yield {"file": where, "tests": tests.split(), "why": why.strip(), "old": old[2:].strip(), "new": new[2:].strip()}


def run(command, folder, limit=None, **variables):
    try:
        return subprocess.run(command, cwd=folder, env={**os.environ, **variables}, timeout=limit,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, 124, str(late), "")


def copy_tree(folder):
    """What git tracks; files that are the same stay as they are, so that little is compiled again."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    for name in filter(None, names):
        source, to = ROOT / name, folder / name
        if not to.exists() or to.read_bytes() != source.read_bytes():
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, to)


def program_of(name, known):
    """The target of a test; tests over MPI have one for all numbers of ranks."""
    target = "test_" + name
    while target not in known and "_" in target[5:]:
        target = target.rpartition("_")[0]
    return target


def test(folder, names, full):
    """True when all of them pass."""
    targets = run(["ctest", "--test-dir", "build", "-N"], folder).stdout
    missing = [name for name in names if f": {name}\n" not in targets + "\n"]
    if missing:
        sys.exit(f"there is no test {', '.join(missing)}")
    known = set(run(["cmake", "--build", "build", "--target", "help"], folder).stdout.replace(":", " ").split())
    programs = sorted({program_of(name, known) for name in names})
    built = run(["cmake", "--build", "build", "-j", str(os.cpu_count()), "--target", *programs], folder)
    if built.returncode != 0:
        sys.exit(f"a mutation does not compile:\n{built.stdout[-2000:]}")
    regex = "^(" + "|".join(names) + ")$"
    done = run(["ctest", "--test-dir", "build", "-R", regex, "--stop-on-failure", "--timeout", "900" if full else "300"], folder,
               **({} if full else {"HEDDLE_TEST_QUICK": "1"}))
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", metavar="WORD", default="", help="only entries that hold this word")
    parser.add_argument("--full", action="store_true", help="the sizes of make check")
    parser.add_argument("--folder", default=str(ROOT / "build-mutate"))
    parser.add_argument("--random", metavar="N", type=int, help="so many changes that the script makes by itself")
    parser.add_argument("--seed", type=int, default=1, help="which these are")
    parser.add_argument("--files", metavar="GLOB", default="*", help="in these files")
    parser.add_argument("--csv", metavar="FILE", default="mutation.csv", help="where the results stand")
    parser.add_argument("--again", action="store_true", help="those that survived, once more")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="compilers at a time")
    options = parser.parse_args()
    if options.random is not None:
        return mutate_random.random_mode(options, copy_tree)
    folder = pathlib.Path(options.folder)
    chosen = [e for e in entries() if options.k in " ".join([e["file"], e["why"], *e["tests"]])]
    copy_tree(folder)
    made = run(["scripts/configure.sh", "build", "-DHEDDLE_CUDA=OFF", "-DHEDDLE_EMULATED=few", f"-DHEDDLE_INSTANCES={TABLES}"],
               folder)
    if made.returncode != 0:
        sys.exit(made.stdout)
    names = sorted({name for e in chosen for name in e["tests"]})
    if not test(folder, names, options.full):
        sys.exit("the tests fail before anything was changed")
    survived = 0
    for number, e in enumerate(chosen, 1):
        path, began = folder / e["file"], time.time()
        before = path.read_text()
        if before.count(e["old"]) != 1:
            sys.exit(f"{e['file']} has {before.count(e['old'])} times: {e['old']}")
        path.write_text(before.replace(e["old"], e["new"]))
        try:
            noticed = not test(folder, e["tests"], options.full)
        finally:
            path.write_text(before)
        survived += not noticed
        print(f"[{number}/{len(chosen)}] {'noticed ' if noticed else 'SURVIVED'} {time.time() - began:4.0f} s  "
              f"{e['file']}: {e['why']}", flush=True)
    print(f"{len(chosen) - survived} of {len(chosen)} noticed")
    return survived != 0


if __name__ == "__main__":
    sys.exit(main())
