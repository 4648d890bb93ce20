"""mutate_random.py: what scripts/mutate.py --random runs. Single changes that nobody chose (mutants.py), and whether a test
notices.

One changed file is compiled into few objects, which go before the library's archive when a test is linked: so one mutant
costs seconds. The objects of the first stage are tried first, with the tests that cover the file, then wider ones. When all
objects are what they were, the mutant is equal and does not count. A test that ends with an error, or takes five times as
long as it did before, has noticed. Tests that noticed much in little time come first.

The CSV is appended to. A mutant that stands there is not run again, unless --again asks for those that survived.
"""
import collections
import csv
import datetime
import fcntl
import fnmatch
import hashlib
import io
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import time

import mutants

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = "^(cuckoo|open)_k(32_v32|64_v64)_b8$|^cuckoo_k32_b8$|^iceberg_k(32_v32|64_v64)_b16$"
FIELDS = ["file", "line", "change", "code", "result", "test", "seconds"]
MEMORY = 12 << 30

# Tests of tables of slots, and of what else has lists of keys.
SLOTS = ("find contains settle insert erase build full regions random_ops churn clear export validate stats retrieve find_many locate "
         "visit seeds grow insert_more concurrent stop_rule faults").split()
WIDTHS = "find insert settle erase build full regions random_ops stop_rule validate".split()
MULTI = "open_multi random_ops regions insert_more export validate stats retrieve grow find_many apart apart_ask".split()
LISTS = "bucket_list bucket_list_faults random_ops export validate stats retrieve grow insert_more".split()
GRAPHS = ("graph_order graph_contents graph_validate graph_passes graph_save graph_faults random_ops export stats retrieve "
          "build join groups join_tables").split()
SLABS = ("mixed find erase insert random_ops slab_room export slab_batch_64_64 validate stats retrieve grow slab_batch_32_32_avx2 "
         "slab_pool slab_orders_32_32 slab_orders_64_64").split()
FILTERS = "filter filter_save filter_rate filter_faults".split()

# A stage: objects that are compiled anew, the tables that tests run over, tests, where "on a GPU" are the emulated kernels.
Stage = collections.namedtuple("Stage", "objects tables tests")


def slots(schemes, emulated, tests=None):
    tests = tests or SLOTS
    first = "k32_v32" if "|" in schemes else schemes
    return [Stage(f"/({schemes})_k32_v32_b\\d+_avx2", first, tests), Stage(f"/({schemes})_k.*_avx2", "", [t for t in tests if t in WIDTHS]),
            Stage(None, "", [f"cuda_on_cpu_{name}" for name in emulated.split()])]


def widths(tests, emulated):
    """What is compiled for each width: pairs of 32 bits, then sets and pairs of 64 bits."""
    return [Stage("_k32_v32_(cpu|avx2)", "k32_v32", tests), Stage("_k(32_v0|64_v64)_(cpu|avx2)", "", tests[:8]),
            Stage(None, "", [f"cuda_on_cpu_{name}" for name in emulated.split()])]


def whole(tests, emulated=""):
    """All objects at once."""
    return [Stage("", "", tests), Stage(None, "", [f"cuda_on_cpu_{name}" for name in emulated.split()])]


def kernels(emulated):
    """What only kernels have: no object of a library without CUDA, but the tests that run them on a CPU."""
    return [Stage(None, "", [f"cuda_on_cpu_{name}" for name in emulated.split()])]


ALL = "cuckoo|open|iceberg"
IMAGES = "32_32_8 open_32_32_8 iceberg_32_32_16"
HOST = SLOTS + ["open_multi", "idle_memory", "thread_counts", "apart"]
COVERED = {
    "src/scheme/cuckoo.h": slots("cuckoo", "32_32_8"),
    "src/scheme/open.h": slots("open", "open_32_32_8", SLOTS + ["open_multi"]),
    "src/scheme/iceberg.h": slots("iceberg", "iceberg_32_32_16", SLOTS + ["iceberg"]),
    "src/scheme/multi.inl": slots("open", "multi_32_32_8", MULTI),
    "src/scheme/walk.inl": slots(ALL, "32_32_8", SLOTS + ["open_multi"]),
    "src/scheme/place.inl": slots("cuckoo|open", "32_32_8"),
    "src/scheme/marks.h": slots(ALL, "32_32_8"),
    "src/scheme/census.h": slots(ALL, "32_32_8"),
    "src/scheme/slab.h": widths(SLABS, "slab_32_32"),
    "src/scheme/slab_whole.h": widths(SLABS, "slab_32_32"),
    "src/scheme/bloom.h": whole(FILTERS, "filter_32_0"),
    "src/scheme/bucket_list.h": whole(LISTS, "lists_32"),
    "src/scheme/list_census.h": whole(LISTS, "lists_32"),
    "src/scheme/hashgraph.h": widths(GRAPHS, "graph_32_32"),
    "src/scheme/graph_census.h": widths(GRAPHS, "graph_32_32"),
    "src/cpu/slots/fill.inl": slots(ALL, "")[:2],
    "src/cpu/slots/fill_alone.inl": slots(ALL, "", SLOTS + ["open_multi"])[:2],
    "src/cpu/slots/fill_image.inl": slots(ALL, "")[:2],
    "src/cpu/slots/instance.c": slots(ALL, "")[:2],
    "src/cuda/slots/image.inl": kernels(IMAGES),
    "src/cuda/slots/image_choose.inl": kernels(IMAGES),
    "src/cuda/slots/image_deferred.inl": kernels(IMAGES),
    "src/cuda/slots/image_settle.inl": kernels(IMAGES),
    "src/cuda/slots/multi_image.inl": kernels("multi_32_32_8"),
    "src/cuda/slabs/fill.h": kernels("slab_32_32"),
    "src/table/slots/insert_large.c": whole(HOST),
    "src/table/slots/regions.c": whole(HOST),
}
# Of this file, what inserts: between these lines.
PARTS = {"src/cpu/slots/instance.c": ("static inline hd_value batch_value", '#include "cpu/slots/fill.inl"')}


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, folder, limit=None, **variables):
    """The exit status; 124 where the time was up."""
    with subprocess.Popen(command, cwd=folder, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True,
                          errors="replace", stderr=subprocess.STDOUT, preexec_fn=limited, start_new_session=True) as job:
        try:
            output = job.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, 9)
            return 124, job.communicate()[0]
    return job.returncode, output


class Build:
    """A built copy of the tree, in which one file at a time is changed."""

    def __init__(self, folder):
        self.tree, self.dir = folder, folder / "build"
        self.plain, self.changed = folder / "plain", folder / "changed"
        self.plain.mkdir(exist_ok=True)
        self.changed.mkdir(exist_ok=True)
        self.noticed = collections.Counter()
        self.usual_file = folder / "usual.json" # delete it when tests have become slower
        self.seconds = json.loads(self.usual_file.read_text()) if self.usual_file.exists() else {}
        self.links = {}

    def must(self, *command):
        status, output = run(list(command), self.dir)
        if status != 0:
            sys.exit(f"{' '.join(command)}\n{output[-3000:]}")
        return output

    def prepare(self, tests, jobs):
        """Builds the library and the test programs."""
        self.must("ninja", "-j", str(jobs), "heddle_static", *[f"test_{t}" for t in tests])
        self.compile_of = {}
        for entry in json.loads((self.dir / "compile_commands.json").read_text()):
            words = [w for w in shlex.split(entry["command"]) if not w.startswith(("-W", "-g"))]
            self.compile_of[words[words.index("-o") + 1]] = words + ["-w", "-g0"]
        self.users = collections.defaultdict(list)
        target = None
        for line in self.must("ninja", "-t", "deps").splitlines():
            if line[:1] not in (" ", ""):
                target = line.split(": #deps")[0]
            elif line.startswith("    " + str(self.tree)):
                name = os.path.relpath(line.strip(), self.tree)
                self.users[name].append(target)

    def link_of(self, test):
        if test not in self.links:
            words = shlex.split(self.must("ninja", "-t", "commands", f"test_{test}").splitlines()[-1])
            self.links[test] = words[2:-2] + ["-fuse-ld=lld"] * os.path.exists("/usr/bin/ld.lld")
        return self.links[test]

    def objects(self, name, stage):
        """Those of the library that a stage compiles again when the file has changed."""
        if stage.objects is None:
            return []
        return [t for t in self.users[name] if "heddle_objects.dir" in t and re.search(stage.objects, t)]

    def compile(self, target, folder):
        to = folder / (hashlib.sha1(target.encode()).hexdigest()[:12] + ".o")
        words = list(self.compile_of[target])
        words[words.index("-o") + 1] = str(to)
        status, output = run(words, self.dir)
        return to if status == 0 else None

    def plain_object(self, target):
        """What the unchanged file is compiled to; called before anything is changed."""
        to = self.plain / (hashlib.sha1(target.encode()).hexdigest()[:12] + ".o")
        if not to.exists() or to.stat().st_mtime < (self.dir / target).stat().st_mtime:
            self.compile(target, self.plain)
        return to

    def own(self, test, name):
        """The test's own objects that use the file."""
        return [w for w in self.link_of(test) if w.endswith(".o") and w in self.users[name]]

    def link(self, test, name, objects):
        """The test with changed objects before the archive, its own ones compiled anew if they use the file. None where the
        program would be what it was."""
        words, differs = list(self.link_of(test)), bool(objects)
        for target in self.own(test, name):
            fresh = self.compile(target, self.changed)
            if fresh is None:
                return None
            differs = differs or fresh.read_bytes() != self.plain_object(target).read_bytes()
            words[words.index(target)] = str(fresh)
        if not differs:
            return None
        program = self.changed / f"test_{test}"
        words[words.index("-o") + 1] = str(program)
        archive = next(i for i, w in enumerate(words) if w.endswith("libheddle.a"))
        words[archive:archive] = [str(o) for o in objects]
        status, output = run(words, self.dir)
        if status != 0:
            sys.exit(f"{test} does not link:\n{output[-2000:]}")
        return program

    def run_test(self, program, tables, limit):
        began = time.time()
        status, _ = run([str(program)], self.dir / "tests", limit, HEDDLE_TEST_QUICK="1", OMP_WAIT_POLICY="passive",
                        HEDDLE_TILE="avx2", HEDDLE_TEST_INSTANCE=tables)
        return status, time.time() - began

    def usual(self, test, tables):
        """How long a test takes when nothing is changed."""
        key = f"{test} {tables}"
        if key not in self.seconds:
            status, self.seconds[key] = self.run_test(self.dir / f"tests/test_{test}", tables, 900)
            if status not in (0, 77):
                sys.exit(f"{test} fails with tables {tables!r} before anything was changed")
            self.usual_file.write_text(json.dumps(self.seconds, indent=0))
        return self.seconds[key]

    def try_mutant(self, name):
        """What comes of the tree as it is: (result, test)."""
        compiled, differs, equal = {}, False, True
        for stage in COVERED[name]:
            for target in self.objects(name, stage):
                if target in compiled:
                    continue
                made = self.compile(target, self.changed)
                if made is None:
                    return "rejected", ""
                compiled[target] = made
                if made.read_bytes() != self.plain_object(target).read_bytes():
                    equal, differs = False, True
            if stage.objects is not None and not differs:
                continue # this stage cannot see it
            if stage.objects is None and equal and compiled:
                return "equal", ""
            order = sorted(stage.tests, key=lambda t: self.usual(t, stage.tables) / (1 + self.noticed[name, t]))
            for test in order:
                program = self.link(test, name, list(compiled.values()))
                if program is None:
                    continue
                equal = False
                status, _ = self.run_test(program, stage.tables, 10 + 5 * self.usual(test, stage.tables))
                if status not in (0, 77):
                    self.noticed[name, test] += 1
                    return ("noticed" if status != 124 else "timeout"), test
        return ("equal" if equal else "survived"), ""


def candidates(name):
    text = (ROOT / name).read_text()
    first, last = PARTS.get(name, (None, None))
    return mutants.mutants_of(name, text, text.index(first) if first else 0, text.index(last) if last else None)


def row_of(mutant, text):
    changed = text[:mutant.begin] + mutant.new + text[mutant.end:]
    line = text[mutant.begin:mutant.end] if "left out" in mutant.change else changed.split("\n")[mutant.line - 1]
    return changed, {"file": mutant.file, "line": mutant.line, "change": mutant.change, "code": " ".join(line.split())}


def key_of(row):
    return row["file"], str(row["line"]), row["change"], row["code"]


def read_rows(path):
    if not path.exists():
        return [], []
    lines = path.read_text().splitlines(keepends=True)
    head = [line for line in lines if line.startswith("#")]
    return head, list(csv.DictReader(io.StringIO("".join(line for line in lines if not line.startswith("#")))))


def write_rows(path, head, rows):
    with path.open("w", newline="") as file:
        file.writelines(head)
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def counts(rows):
    """A line for each file, and for all."""
    by_file = collections.defaultdict(collections.Counter)
    for row in rows:
        for name in (row["file"], "all"):
            by_file[name][row["result"]] += 1
    for name, c in sorted(by_file.items(), key=lambda item: (item[0] == "all", item[0])):
        noticed = c["noticed"] + c["timeout"]
        yield (f"{name:32} {noticed + c['survived']:4} count, {noticed:4} noticed, {c['survived']:3} survived, "
               f"{c['equal']:3} equal, {c['rejected']:3} do not compile")


def random_mode(options, copy_tree):
    folder, path = pathlib.Path(options.folder), pathlib.Path(options.csv)
    names = [n for n in COVERED if fnmatch.fnmatch(n, options.files)]
    if not names:
        sys.exit(f"no file matches {options.files}")
    folder.mkdir(exist_ok=True)
    alone = (folder / "lock").open("w")
    try:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"another run works in {folder}")
    copy_tree(folder)
    subprocess.run(["scripts/configure.sh", "build", "-DHEDDLE_CUDA=OFF", "-DHEDDLE_MPI=OFF", "-DHEDDLE_EMULATED=few",
                    "-DHEDDLE_TILES=scalar|avx2", f"-DHEDDLE_INSTANCES={TABLES}"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    build = Build(folder)
    build.prepare(sorted({t for n in names for s in COVERED[n] for t in s.tests}), options.jobs)
    head, rows = read_rows(path)
    if not head:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
        head = [f"# command: scripts/mutate.py --random {options.random} --seed {options.seed}\n", f"# commit: {commit}",
                f"# date: {datetime.date.today()}\n"]
    done = {key_of(row): row for row in rows}
    for row in rows:
        if row["test"]:
            build.noticed[row["file"], row["test"]] += 1
    chosen = mutants.in_order({n: candidates(n) for n in names}, options.seed)
    counted = 0 if options.again else sum(r["result"] in ("noticed", "timeout", "survived") for r in rows if r["file"] in names)
    for mutant in chosen:
        text = (ROOT / mutant.file).read_text()
        changed, row = row_of(mutant, text)
        before = done.get(key_of(row))
        if counted >= options.random or (before is None) == options.again or (before and before["result"] != "survived"):
            continue
        for stage in COVERED[mutant.file]:
            own = [t for test in stage.tests if stage.objects is None for t in build.own(test, mutant.file)]
            for target in build.objects(mutant.file, stage) + own:
                build.plain_object(target)
        place, began = folder / mutant.file, time.time()
        stat = place.stat()
        place.write_text(changed)
        try:
            row["result"], row["test"] = build.try_mutant(mutant.file)
        finally:
            place.write_text(text)
            os.utime(place, ns=(stat.st_atime_ns, stat.st_mtime_ns)) # nothing is to be built again
        row["seconds"] = f"{time.time() - began:.1f}"
        counted += row["result"] in ("noticed", "timeout", "survived")
        if before:
            before.update(row)
        else:
            rows.append(row)
        write_rows(path, head, rows)
        print(f"[{counted}/{options.random}] {row['result']:8} {row['test']:20} {row['seconds']:>6} s  "
              f"{row['file']}:{row['line']}: {row['change']}: {row['code'][:70]}", flush=True)
    print("\n".join(counts(rows)))
    return 0
