"""The code blocks of a Markdown page, with the marks before them.

A mark is a comment in the line before a block:

    <!-- file: examples/recipes/count_keys.c -->    the block is a run of lines of that file
    <!-- output: count_keys -->                     the block is what that example prints

A block of the language "console" is a call of the tool, behind "$ ", and what it prints.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\S*)\s*$")
MARK = re.compile(r"^<!--\s*(file|output):\s*(\S+)\s*-->\s*$")


class Block(NamedTuple):
    page: Path
    line: int  # of the first line of code
    language: str
    mark: str  # "file", "output" or ""
    name: str  # what the mark names
    lines: list


def pages():
    """All pages whose code is looked at."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(page):
    blocks, open_block, mark = [], None, ("", "")
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if open_block is None and fence:
            open_block = Block(page, number + 1, fence[1], *mark, [])
        elif open_block is not None and fence and not fence[1]:
            blocks.append(open_block)
            open_block = None
        elif open_block is not None:
            open_block.lines.append(line)
        found = MARK.match(line)
        if open_block is None:
            mark = (found[1], found[2]) if found else ("", "")
    if open_block is not None:
        raise SystemExit(f"{page}:{open_block.line}: this block is never closed")
    return blocks


def where(block):
    return f"{block.page.relative_to(ROOT)}:{block.line}"
