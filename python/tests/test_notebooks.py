"""The notebooks of examples/python: their cells run in order, print what the files keep, and draw their plots.

A small runner does it, since a kernel of Jupyter's would be a large download for every run of the tests.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "python").glob("*.ipynb"))

RUNNER = """
import contextlib, io, json, sys
import matplotlib.pyplot as plt

names, results = {"__name__": "__main__"}, []
for code in json.load(open(sys.argv[1])):
    printed, shown = io.StringIO(), []
    plt.show = lambda: shown.append(len(plt.get_fignums()))
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "cell %d" % len(results), "exec"), names)
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")
    results.append([printed.getvalue(), sum(shown)])
print(json.dumps(results))
"""


def cells_of(path):
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(path, tmp_path):
    pytest.importorskip("matplotlib")
    cells, given = cells_of(path), tmp_path / "cells.json"
    given.write_text(json.dumps(["".join(cell["source"]) for cell in cells]))
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, str(given)], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stderr
    for cell, (printed, figures) in zip(cells, json.loads(done.stdout), strict=True):
        kept = "".join("".join(output.get("text", "")) for output in cell["outputs"])
        plots = [output for output in cell["outputs"] if "image/png" in output.get("data", {})]
        assert printed == kept and figures == len(plots), "".join(cell["source"])


def test_there_are_notebooks_and_the_page_names_them():
    page = (ROOT / "docs" / "python.md").read_text()
    assert NOTEBOOKS and all(f"examples/python/{path.name}" in page for path in NOTEBOOKS)
    assert any("plt.show()" in "".join(cell["source"]) for path in NOTEBOOKS for cell in cells_of(path))
