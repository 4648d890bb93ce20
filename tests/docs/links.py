"""links.py: what the documents refer to is there.

  links     the file of a relative link, and the heading behind #
  paths     a path in backticks that begins with a folder of the tree; a file name in backticks that ends like source
  names     heddle_... and HEDDLE_... in backticks: declared in a public header, or else known to the build or the source
  index     every page of docs/ is named in docs/index.md

NAME, ROOM, stars and "..." stand for something else, and so do PATTERNS.
"""

import re
import sys
from pathlib import Path

from blocks import FENCE, ROOT

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
HEADING = re.compile(r"^#{1,6} (.*)$")
FOLDERS = sorted(path.name for path in ROOT.iterdir() if path.is_dir() and not re.match(r"\.|build", path.name))
PATH = re.compile(rf"^(?:{'|'.join(FOLDERS)})/[\w./+-]*$")
SOURCE = re.compile(r"^[\w./+-]+\.(?:c|h|cu|cuh|cpp|inl|py|sh|cmake|def|md)$")
NAME = re.compile(r"\b((?:heddle|HEDDLE)_\w+)")
PLACEHOLDER = re.compile(r"(?<![A-Z])(?:NAME|ROOM)(?![A-Z])|\.\.\.|\*")
ELSEWHERE = {"first.c", "program.c", "khash.h"}  # of a reader, of others
PATTERNS = {"heddle_noun_verb", "HEDDLE_X", "HEDDLE_SCHEME_NAME", "HEDDLE_JOIN_NAME"}


def documents():
    """All Markdown pages of the tree, except those that are figures."""
    top = sorted(ROOT.glob("*.md"))
    return [*top, *(page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("*.md"))
                    if page.parent != ROOT / "bench" / "results")]


def tree():
    """The files of the tree, from its root."""
    top = [path.name for path in ROOT.iterdir() if path.is_file()]
    return top + [str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).rglob("*")
                  if "__pycache__" not in path.parts]


def prose_of(page):
    """The lines of a page outside of code blocks, with their numbers."""
    fence = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if FENCE.match(line):
            fence = not fence
        elif not fence:
            yield number, line


def anchors(page):
    """The anchors of a page's headings, as a forge makes them."""
    made = {}
    for _, line in prose_of(page):
        heading = HEADING.match(line)
        if heading:
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            made[slug] = made.get(slug, -1) + 1
            if made[slug]:
                made[f"{slug}-{made[slug]}"] = 0
    return set(made)


def check_link(page, target):
    if re.match(r"[a-z]+:", target):
        return None
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return f"there is no {target}"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return f"{path or 'this page'} has no heading #{anchor}"
    return None


def check_path(text, files):
    path = re.sub(r":\d+$", "", text).rstrip("/")
    if PLACEHOLDER.search(path) or path in ELSEWHERE:
        return None
    if PATH.match(path) and path not in FOLDERS and path not in files:
        return f"there is no file {path}"
    if SOURCE.match(path) and not any(file == path or file.endswith("/" + path) for file in files):
        return f"no file is called {path}"
    return None


def words_of(*folders):
    """All names that begin like Heddle's in the text files of these folders."""
    found = set()
    for folder in folders:
        path = ROOT / folder
        for file in [path] if path.is_file() else path.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                found |= set(NAME.findall(file.read_text(errors="ignore")))
    return found


def check_names(text, public, known):
    for name in NAME.findall(text):
        begins = name.endswith("_") or f"{name}*" in text or f"{name}..." in text
        fits = (lambda other, name=name: other.startswith(name)) if begins else name.__eq__
        if name not in PATTERNS and not any(map(fits, public)) and not any(map(fits, known)):
            return f"nothing is called {name}"
    return None


def check_index():
    index = ROOT / "docs" / "index.md"
    named = {(index.parent / target.partition("#")[0]).resolve() for target in LINK.findall(index.read_text())}
    return [f"docs/index.md does not name {page.relative_to(ROOT)}" for page in sorted((ROOT / "docs").rglob("*.md"))
            if page != index and page not in named]


def main():
    files = set(tree())
    public = words_of("include")
    known = words_of("CMakeLists.txt", *(folder for folder in FOLDERS if folder not in ("docs", "include")))
    faults, count = check_index(), 0
    for page in documents():
        for number, line in prose_of(page):
            links = LINK.findall(line)
            code = CODE.findall(line)
            said = [check_link(page, target) for target in links]
            said += [check_path(text, files) or check_names(text, public, known) for text in code]
            count += len(links) + len(code)
            faults += [f"{page.relative_to(ROOT)}:{number}: {fault}" for fault in said if fault]
    print("\n".join(faults) if faults else f"{count} links and names are right")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
