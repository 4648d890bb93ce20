"""What the public headers declare, and the comments that stand there.

A comment belongs to the declaration under it, and so do declarations that follow that one without a line between them
and without a comment of their own. A comment behind a declaration, in its line, belongs to it. A comment over several
constants in neighbouring lines is about all of them; one with an empty line under it is about the section. A line of
dashes with words at its end begins a section. Names that end in an underscore are private and left out.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "include" / "heddle"

SECTION = re.compile(r"^-{8,} (.+)$")
DEFINE = re.compile(r"#define (\w+)(\([^)]*\))?[ \t]*(.*)", re.S)
STRUCT = re.compile(r"typedef struct (\w+) \{(.*)\} (\w+);$", re.S)
OPAQUE = re.compile(r"typedef struct (\w+) (\w+);$")
ALIAS = re.compile(r"typedef (\w+) (\w+);$")
POINTER = re.compile(r"typedef .*\(\*(\w+)\)\(.*\);$", re.S)
FUNCTION = re.compile(r"HEDDLE_API (.*?)(\w+)\((.*)\);$", re.S)
FIELD = re.compile(r"(\w+)(?:\[\w+\])*;$|\(\*(\w+)\)\(.*\);$", re.S)
IGNORED = {"HEDDLE_API", "HEDDLE_UNSTABLE", "HEDDLE_DEVICE_ONCE"}


class Item(NamedTuple):
    kind: str  # "section", "text", "constants", "macro", "function", "type" or "struct"
    names: list  # what is declared; of a section its title
    code: list  # one declaration for each name; of a constant its value
    comment: str  # "" when there is none
    parts: list  # of a struct its fields, of constants each with its own comment: Items


class Header(NamedTuple):
    name: str
    head: str  # the comment at its head
    items: list


class Piece(NamedTuple):
    kind: str  # "comment", "line" (a directive or a declaration) or "gap"
    text: str


def comment_text(comment):
    """The words of a comment: without its marks, lines as they stand."""
    if not comment.startswith("/*\n"):  # in one line, or in lines without stars
        return " ".join(comment[2:-2].split())
    lines = [re.sub(r"^ *\* ?", "", line) for line in comment[2:-2].split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def end_of_code(text, start):
    """Where a directive, or a declaration up to its semicolon outside of braces, ends."""
    if text[start] == "#":
        return re.compile(r"(?:\\\n|[^\n/]|/(?!\*))*").match(text, start).end()
    depth = 0
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0 and text[position] in ";}" and text[position:position + 2] != "} ":
            return position + 1
    return len(text)


def pieces_of(text):
    """Comments, directives and declarations in their order, and the empty lines between them."""
    pieces, position = [], 0
    while position < len(text):
        space = re.compile(r"\s*").match(text, position)
        if space[0].count("\n") > 1:
            pieces.append(Piece("gap", ""))
        behind = bool(pieces) and "\n" not in space[0]
        position = space.end()
        if position == len(text):
            break
        if text.startswith("/*", position):
            end = text.index("*/", position) + 2
            pieces.append(Piece("behind" if behind else "comment", comment_text(text[position:end])))
        else:
            end = end_of_code(text, position)
            pieces.append(Piece("line", text[position:end].strip()))
        position = end
    return pieces


def without_cxx(text):
    """The text without what only C++ or another compiler sees."""
    text = re.sub(r"#ifdef __cplusplus\n.*?(#else\n|#endif\n)", "", text, flags=re.S)
    return re.sub(r"#if defined\(_WIN32\)\n.*?#endif\n", "", text, flags=re.S)


def fields_of(body):
    """The fields of a struct with their comments, before them or behind them."""
    fields, comment = [], ""
    for piece in pieces_of(body):
        if piece.kind == "comment":
            comment = piece.text
        elif piece.kind == "behind":
            fields[-1] = fields[-1]._replace(comment=join(fields[-1].comment, piece.text))
        elif piece.kind == "line":
            found = FIELD.search(piece.text)
            code = re.sub(r"\s+", " ", piece.text[:-1])
            fields.append(Item("field", [found[1] or found[2]], [code], comment, []))
            comment = ""
    return fields


def join(first, second):
    return f"{first}\n{second}".strip("\n")


def item_of(line, comment):
    """What a directive or a declaration says; None for what nobody calls."""
    define = DEFINE.match(line)
    if define:
        name, arguments, value = define[1], define[2] or "", define[3]
        if name.endswith("_") or name.endswith("_H") or name in IGNORED:
            return None
        if arguments:
            return Item("macro", [name + arguments], [value], comment, [])
        return Item("constants", [name], [re.sub(r"\s*\\?\n\s*", " ", value).strip()], comment, [])
    for pattern, kind in ((STRUCT, "struct"), (OPAQUE, "type"), (ALIAS, "type"), (POINTER, "type")):
        found = pattern.match(line)
        if found:
            parts = fields_of(found[2]) if kind == "struct" else []
            name = found[1] if pattern in (STRUCT, POINTER) else found[2]
            return Item(kind, [name], [line], comment, parts)
    function = FUNCTION.match(line)
    if function:
        code = re.sub(r"\s+", " ", line[len("HEDDLE_API "):-1])
        return Item("function", [function[2]], [code], comment, [])
    if line.startswith("#") or line in ("}", 'extern "C" {'):
        return None
    raise SystemExit(f"scripts/site/headers.py does not understand: {line}")


def continues(items, item, close):
    """Whether an item without a comment belongs to the one before it."""
    return close and items and not item.comment and items[-1].kind == item.kind != "struct"


class Reader:
    """Puts pieces together to items."""

    def __init__(self):
        self.items, self.comment, self.close = [], "", False

    def end_comment(self):
        """A comment that no declaration has followed is about the section."""
        if self.comment:
            self.items.append(Item("text", [], [], self.comment, []))
        self.comment, self.close = "", False

    def take_comment(self, text):
        self.end_comment()
        section = SECTION.match(text.replace("\n", " ").strip())
        if section:
            self.items.append(Item("section", [section[1]], [], "", []))
        else:
            self.comment = text

    def take_line(self, line):
        item = item_of(line, self.comment)
        if item is None:
            self.comment, self.close = "", False
            return
        last = self.items[-1] if self.items else None
        if item.kind == "constants":
            part = item._replace(comment="", kind="constant")
            if continues(self.items, item, self.close):
                last.parts.append(part)
            else:
                self.items.append(item._replace(names=[], code=[], parts=[part]))
        elif continues(self.items, item, self.close):
            last.names.extend(item.names)
            last.code.extend(item.code)
        else:
            self.items.append(item)
        self.comment, self.close = "", True

    def take_behind(self, text):
        last = self.items[-1] if self.items else None
        if last is None or not self.close:
            return
        if last.kind == "constants":
            last.parts[-1] = last.parts[-1]._replace(comment=text)
        else:
            self.items[-1] = last._replace(comment=join(last.comment, text))


def alone(items):
    """A comment over one constant is that constant's."""
    for item in items:
        if item.kind == "constants" and len(item.parts) == 1:
            part = item.parts[0]
            item.parts[0] = part._replace(comment=join(item.comment, part.comment))
            yield item._replace(comment="")
        else:
            yield item


def read_header(path):
    reader = Reader()
    pieces = pieces_of(without_cxx(path.read_text()))
    for piece in pieces[1:] if path.suffix == ".h" else []:
        if piece.kind == "gap":
            reader.end_comment()
        elif piece.kind == "comment":
            reader.take_comment(piece.text)
        elif piece.kind == "behind":
            reader.take_behind(piece.text)
        else:
            reader.take_line(piece.text)
    reader.end_comment()
    return Header(path.name, pieces[0].text, list(alone(reader.items)))


def read_headers():
    """All public headers, heddle.h first."""
    paths = sorted(FOLDER.iterdir(), key=lambda path: (path.name != "heddle.h", path.name))
    return [read_header(path) for path in paths]
