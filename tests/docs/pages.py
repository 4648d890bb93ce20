"""pages.py PROGRAMS TOOL: what the pages show of examples and of the tool is what files say and programs print.

PROGRAMS is the folder of the built examples, TOOL the program `heddle`. Examples that need a GPU end with 77 where there is none, and are not built
without nvcc: their output is not looked at then. Every file of examples/ must stand in a page, with its output.
"""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from blocks import ROOT, blocks_of, pages, where

NO_GPU = 77


def is_run_of(lines, text):
    """Whether `lines`, moved to the right by some spaces, stand one after the other in `text`."""
    for start in range(len(text) - len(lines) + 1):
        margin = len(text[start]) - len(text[start].lstrip()) - (len(lines[0]) - len(lines[0].lstrip()))
        if margin < 0:
            continue
        moved = [" " * margin + line if line else "" for line in lines]
        if moved == text[start : start + len(lines)]:
            return True
    return False


def check_file(block):
    path = ROOT / block.name
    if not path.is_file():
        return f"{where(block)}: there is no file {block.name}"
    if not block.lines or not is_run_of(block.lines, path.read_text().splitlines()):
        return f"{where(block)}: these lines do not stand in {block.name}"
    return None


def run(program):
    """The lines that a program prints, run in a directory of its own; None where it needs a GPU."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([program], cwd=directory, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode == NO_GPU:
        return None
    if done.returncode != 0:
        raise SystemExit(f"{program} ended with {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def check_output(block, programs, sources):
    if block.name not in sources:
        return f"{where(block)}: no example is called {block.name}"
    program = programs / block.name
    if not program.is_file():
        return None if sources[block.name].suffix == ".cu" else f"{program} was not built"
    printed = run(program)
    if printed is not None and printed != block.lines:
        shown = "\n".join(printed)
        return f"{where(block)}: {block.name} prints something else:\n{shown}"
    return None


def check_console(block, tool):
    command = shlex.split(block.lines[0])
    if command[:2] != ["$", "heddle"]:
        return f"{where(block)}: a console block begins with \"$ heddle\""
    done = subprocess.run([tool, *command[2:]], capture_output=True, text=True, timeout=600, check=False)
    if done.stdout.splitlines() != block.lines[1:]:
        return f"{where(block)}: heddle prints something else:\n{done.stdout}{done.stderr}"
    return None


def main():
    programs, tool = (Path(argument).resolve() for argument in sys.argv[1:])
    files = [path for path in sorted((ROOT / "examples").rglob("*.*")) if path.suffix in (".c", ".cpp", ".cu", ".h")]
    sources = {path.stem: path for path in files if path.suffix != ".h"}
    shown = {"file": set(), "output": set()}
    faults = []
    for page in pages():
        for block in blocks_of(page):
            if block.mark == "file":
                faults.append(check_file(block))
            elif block.mark == "output":
                faults.append(check_output(block, programs, sources))
            elif block.language == "console":
                faults.append(check_console(block, tool))
            if block.mark in shown:
                shown[block.mark].add(block.name)
    for path in files:
        name = str(path.relative_to(ROOT))
        if name not in shown["file"]:
            faults.append(f"no page shows {name}")
        if path.suffix != ".h" and path.stem not in shown["output"]:
            faults.append(f"no page shows what {name} prints")
    faults = [fault for fault in faults if fault]
    print("\n".join(faults) if faults else f"{len(files)} files and {len(sources)} outputs are as the pages show them")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
