"""interface.py: every name of the C interface is on a page of the reference that the site shows, with words about it;
and what Sphinx makes the site from can be brought together, without Sphinx.

The names are those that the library exports (tests/headers/symbols_1.txt), and the macros, structs and types of the
headers, found here in another way than scripts/site/headers.py finds them.
"""

import re
import sys
import tempfile
from pathlib import Path

from blocks import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "site"))
import headers  # noqa: E402 (the path comes first)
import reference  # noqa: E402
import stage  # noqa: E402

DIRECTIVE = re.compile(r"^ *(?:\.\. c:\w+::)? +(?:[\w*]+ )*\**\(?\**(\w+)\)?(?:\(.*)?(?: \\)?$", re.M)
# A comment, what it says, and what it stands at.
SAMPLES = [
    ("heddle_table_contains", "for every container"),
    ("heddle_table_peek_totals", "The sums of what all calls without"),  # two functions, one comment
    ("HEDDLE_ERROR_FULL", "some keys did not fit; the others are in the table"),  # behind the constant
    ("HEDDLE_POLICY_MIN", "the smaller, unsigned"),
    ("HEDDLE_ABI_VERSION", "Grows by one with every change"),
    ("heddle_map_retrieve", "for maps, multimaps and counters"),
    ("heddle_visitor", "some thousand at a time"),
    ("heddle_mpi_open", "Opens a cluster of all ranks"),
]


def expected():
    names = set((ROOT / "tests" / "headers" / "symbols_1.txt").read_text().split())
    for path in (ROOT / "include" / "heddle").glob("*.h"):
        text = path.read_text()
        names |= set(re.findall(r"^#define ((?:heddle|HEDDLE)\w*[A-Za-z0-9])\b", text, re.M))
        names |= set(re.findall(r"^} (heddle_\w+);", text, re.M))
        names |= set(re.findall(r"^typedef (?:struct )?\w+ (heddle_\w+);", text, re.M))
        names -= {f"HEDDLE_{path.stem.upper()}_H", "HEDDLE_API", "HEDDLE_UNSTABLE"}
    return names


def described():
    """The words about every name, of a struct's fields too."""
    words = {}
    for header in headers.read_headers():
        for item in header.items:
            for name in reference.declared(item) if item.kind in reference.ROLES else []:
                words[name] = item.comment
            for part in item.parts:
                owner = item.names[0] + "." if item.kind == "struct" else ""
                words[owner + part.names[0]] = headers.join(item.comment if not owner else "", part.comment)
    return words


def shown():
    """The names on the pages of the reference, by page; and what the site lacks of the documents and their contents."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        stage.write_all(folder)
        trees = "".join(page.read_text() for page in folder.rglob("*.md") if "files" not in page.parts)
        lacking = [str(page) for page in map(stage.staged, stage.documents()) if not (folder / page).is_file() or
                   (str(page) != "index.md" and not re.search(rf"^(?:.*/)?{page.stem}$", trees, re.M))]
        names = {page.stem: set(DIRECTIVE.findall(page.read_text())) for page in (folder / "api").glob("*.rst")}
        return names, lacking


def main():
    words, (pages, lacking), names = described(), shown(), expected()
    faults = [f"the site lacks {page}, or leads nobody there" for page in lacking]
    faults += [f"no page of the reference has {name}" for name in sorted(names)
              if not any(name in there for there in pages.values())]
    constants = re.compile(r"HEDDLE_\w+$")
    faults += [f"nothing is said about {name}" for name in sorted(words) if not words[name] and not constants.match(name)]
    faults += [f"about {name} it should be said: {said}" for name, said in SAMPLES
               if said not in " ".join(words.get(name, "").split())]
    if not any("heddle_mpi_open" in there for page, there in pages.items() if page == "mpi.h"):
        faults.append("heddle_mpi_open is not on the page of its header")
    print("\n".join(faults) if faults else f"{len(names)} names are in the reference")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
