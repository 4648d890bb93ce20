"""stage.py FOLDER: brings together what the site is made from: the documents, the reference of the C interface, and
pages for the files that documents link to.

The documents keep their places, so that their links do, except for README.md, which becomes index.md. The navigation is
that of docs/index.md. A document that is not named there makes the build fail.
"""

import re
import shutil
import sys
from os.path import relpath
from pathlib import Path

import reference
from headers import read_headers

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
NAME = re.compile(r"\[[^\]]*\]\([^)]*\)|(?<!`)`((?:heddle|HEDDLE)_\w+)(?:\(\))?`(?!`)")  # not inside a link
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "c++", ".cu": "cuda", ".cuh": "cuda", ".py": "python", ".sh": "bash"}


def documents():
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def staged(path):
    """Where a document, a header or another file is on the site."""
    name = path.relative_to(ROOT)
    if name == Path("README.md"):
        return Path("index.md")
    if name.parts[:2] == ("include", "heddle"):
        return Path("api") / f"{name.name}.rst" if name.suffix else Path("api/index.rst")
    if path in documents():
        return name
    return Path("files") / f"{name}.md"


class Stage:
    def __init__(self, folder):
        self.folder = folder
        self.files = []  # that documents link to
        self.roles = reference.names_of(read_headers()).roles

    def target(self, page, target):
        """A link of a document as it is on the site; links that lead nowhere are left for Sphinx to find."""
        path, hash_mark, anchor = target.partition("#")
        file = (page.parent / path).resolve()
        if "://" in target or not path or not file.exists() or not file.is_relative_to(ROOT):
            return target
        place = staged(file)
        if place.parts[0] == "files" and file not in self.files:
            self.files.append(file)
        return relpath(place, staged(page).parent) + hash_mark + anchor

    def name(self, found):
        """A name of the C interface, as a link to the reference."""
        return f"{{c:{self.roles[found[1]]}}}`{found[1]}`" if found[1] in self.roles else found[0]

    def text(self, page):
        lines, fence = [], False
        for line in page.read_text().splitlines():
            fence ^= line.startswith("```")
            if not fence:
                line = LINK.sub(lambda found: f"[{found[1]}]({self.target(page, found[2])})", line)
            if not fence and not line.startswith("#"):
                line = NAME.sub(self.name, line)
            lines.append(line)
        return "\n".join(lines) + "\n"

    def write(self, place, text):
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write_file(self, file):
        """A page that shows a file, or the files of a folder."""
        name = str(file.relative_to(ROOT))
        head = f"---\norphan: true\nnosearch: true\n---\n\n# {name}\n\n"
        if file.is_dir():
            inside = sorted(path for path in file.iterdir() if path.is_file())
            self.files += [path for path in inside if path not in self.files]
            body = "".join(f"- [{path.name}]({relpath(staged(path), staged(file).parent)})\n" for path in inside)
        else:
            body = f"````````{LANGUAGES.get(file.suffix, 'text')}\n{file.read_text()}\n````````\n"
        self.write(staged(file), head + body)


def toctree(places, caption=""):
    options = [":hidden:"] + ([f":caption: {caption}"] if caption else [])
    return "\n".join(["", "```{toctree}", *options, "", *(str(place.with_suffix("")) for place in places), "```", ""])


def sections():
    """The titles of docs/index.md, and the documents named under each."""
    page, found = ROOT / "docs" / "index.md", []
    for line in page.read_text().splitlines():
        if line.startswith("## "):
            found.append((line[3:], []))
        for _, target in LINK.findall(line) if found else []:
            file = (page.parent / target).resolve()
            if file in documents() and file not in found[-1][1]:
                found[-1][1].append(file)
    return found


def parent(file):
    """The document whose pages are in a folder of its name."""
    page = file.parent.with_suffix(".md")
    return page if page in documents() else None


def navigation():
    """For every document that others are under: its trees of contents."""
    trees = {ROOT / "README.md": toctree([Path("docs/index.md")])}
    for title, files in sections():
        top = [file for file in files if not parent(file)]
        trees[ROOT / "README.md"] += toctree([staged(file) for file in top], title)
        for file in top:
            under = [staged(page).relative_to(staged(file).parent) for page in files if parent(page) == file]
            if under:
                trees[file] = toctree(under)
        if title == "Use":
            trees[ROOT / "README.md"] += toctree([Path("api/index.rst")], "Reference")
    return trees


def write_all(folder):
    stage = Stage(folder)
    shutil.rmtree(stage.folder, ignore_errors=True)
    trees = navigation()
    for page in documents():
        stage.write(staged(page), stage.text(page) + trees.get(page, ""))
    for file in stage.files:  # which grows by the files of folders
        stage.write_file(file)
    shutil.copytree(ROOT / "docs" / "images", stage.folder / "docs" / "images")
    reference.write(stage.folder / "api")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
