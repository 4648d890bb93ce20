"""docs/python.md: its programs print what it says, its other code runs, and all examples stand in it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"
ON_A_GPU = {"cupy_lookup", "numba_lookup"}  # test_gpu.py runs them

EXAMPLE = re.compile(
    r"<!-- file: examples/python/(\w+)\.py -->\n```python\n(.*?)\n```\n(?:\n```text\n(.*?)\n```\n)?", re.S
)
SNIPPET = re.compile(r"(?<!-->\n)```python\n(.*?)\n```\n", re.S)

EXAMPLES = {name: (code, printed) for name, code, printed in EXAMPLE.findall(PAGE.read_text())}
SNIPPETS = SNIPPET.findall(PAGE.read_text())


def run(*arguments, tmp_path):
    program = "import sys, runpy; sys.path[:0] = sys.argv[2:]; runpy.run_path(sys.argv[1], run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments), *sys.path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )


def test_all_examples_stand_in_the_page():
    assert set(EXAMPLES) == {path.stem for path in (ROOT / "examples" / "python").glob("*.py")}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name, tmp_path):
    path = ROOT / "examples" / "python" / f"{name}.py"
    code, printed = EXAMPLES[name]
    assert code in path.read_text()
    if name in ON_A_GPU:
        compile(path.read_text(), str(path), "exec")
        return
    for module in re.findall(r"^import (\w+)$", code, flags=re.M):
        pytest.importorskip(module)
    done = run(path, tmp_path=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip("\n") == printed


@pytest.mark.parametrize("number", range(1, len(SNIPPETS)))
def test_snippets(number, tmp_path):
    for module in ("polars", "numpy"):
        if module in SNIPPETS[number]:
            pytest.importorskip(module)
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPETS[number])
    done = run(path, tmp_path=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_first_lines(tmp_path):
    numpy = pytest.importorskip("numpy")
    names = {
        "keys": numpy.array([3, 1, 3]),
        "orders": numpy.array([1, 2]),
        "customers": numpy.array([2]),
        "prices": numpy.ones(3),
    }
    exec(SNIPPETS[0], names)
    assert names["counts"].sum() == 3 and len(names["left"]) == 2 and names["totals"]["total"].sum() == 3


def test_every_public_name_is_in_the_page_or_said_by_it():
    import heddle

    text = PAGE.read_text()
    results = {
        "Factorized",
        "Found",
        "GroupBy",
        "Items",
        "Joined",
        "Lists",
        "Mixed",
        "Totals",
        "UniqueAll",
        "UniqueCounts",
        "UniqueInverse",
        "ValueCounts",
        "ClusterTable",
        "__version__",
        "cuda_device_count",
        "Device",
        "HeddleCorrupt",
        "HeddleDeviceError",
        "HeddlePeerError",
        "HeddleTooSmall",
        "Operation",
        "KernelView",
    }
    missing = [name for name in heddle.__all__ if name not in results and not re.search(rf"\b{name}\b", text)]
    assert not missing
