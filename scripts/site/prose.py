"""Comments of the headers as reStructuredText: paragraphs, code, lists, and links to what they name."""

import re

CODE = "    "  # indented by four or more
TABLE = re.compile(r"^  (\S.*?) {2,}(\S.*)$")
NOTE = re.compile(r"^  (\(\d+\)) (.+)$")
RULE = re.compile(r"^([A-Z][a-z]+(?: [a-z]+)?)\.( +)(\S.*)$")
INLINE = re.compile(
    r"`(?P<quoted>[^`]+)`"
    r"|(?P<wildcard>(?:heddle|HEDDLE)_\w*\*)"
    r"|(?P<name>\b(?:heddle|HEDDLE)_\w+)(?:\(\))?"
    r"|(?P<header>\b(?:heddle/)?\w+\.(?:cuh|h)\b)"
    r"|(?P<element>\b\w+\[[^\]]+\])"
    r"|(?P<pointee>(?<![\w*])\*\w+)")


class Names:
    """What can be linked to: a role for each name, and the pages of headers."""

    def __init__(self, roles, headers):
        self.roles, self.headers = roles, headers

    def link(self, name):
        return f":c:{self.roles[name]}:`{name}`" if name in self.roles else f"``{name}``"

    def header(self, path):
        name = path.removeprefix("heddle/")
        return f":doc:`{path} </api/{name}>`" if name in self.headers else f"``{path}``"


def plain(text):
    """Words without meaning for reStructuredText."""
    return re.sub(r"([\\*`|])", r"\\\1", re.sub(r"_(?!\w)", r"\\_", text))


def inline(text, names):
    """A paragraph in one line, with what it names as links or code."""
    out, position = "", 0
    for found in INLINE.finditer(text):
        kind, word = found.lastgroup, found[found.lastgroup]
        if kind == "name" or (kind == "quoted" and word in names.roles):
            word = names.link(word)
        elif kind == "header":
            word = names.header(word)
        else:
            word = f"``{word}``"
        before = plain(text[position:found.start()])
        joint = "" if not (out + before) or (out + before)[-1].isspace() else "\\ "
        behind = "" if found.end() == len(text) or text[found.end()].isspace() else "\\ "
        out += before + joint + word + behind
        position = found.end()
    return out + plain(text[position:])


def literal(lines):
    """Lines as they stand; in colours where they are code."""
    margin = min(len(line) - len(line.lstrip()) for line in lines if line)
    language = "c" if any(re.search(r"[;}]$|^ *#(define|include)", line) for line in lines) else "text"
    return [f".. code-block:: {language}", "   :force:", "", *(f"   {line[margin:]}".rstrip() for line in lines), ""]


def table(lines, names):
    """Lines of two columns, some of which go on in the next line; None where they are not that."""
    rows = []
    for line in lines:
        found = TABLE.match(line)
        if found and "  " not in found[2].strip():
            rows.append([found[1], found[2]])
        elif rows and line.startswith(CODE) and "  " not in line.strip():
            rows[-1][1] += " " + line.strip()
        else:
            return None
    out = [".. list-table::", "   :class: entries", ""]
    for word, meaning in rows:
        out += [f"   * - ``{word}``", f"     - {inline(meaning, names)}"]
    return [*out, ""]


def notes(lines, names):
    """Lines that begin with a number in parentheses; None where they do not."""
    if not NOTE.match(lines[0]):
        return None
    joined = []
    for line in lines:
        if NOTE.match(line):
            joined.append(line.strip())
        else:
            joined[-1] += " " + line.strip()
    return [*(f"| {inline(line, names)}" for line in joined), ""]


def is_rule(lines, at):
    """Whether a line begins an entry: a word, a full stop, and text that goes on further in."""
    found = RULE.match(lines[at])
    follows = at + 1 < len(lines) and lines[at + 1].startswith(2 * CODE)
    return found if found and (len(found[2]) > 1 or follows) else None


def indented(block, names):
    """Lines that are set in: notes, a table, or lines as they stand."""
    if any(not line for line in block) or not all(line.startswith(CODE) for line in block):
        return notes(block, names) or table(block, names) or literal(block)
    return table([line[2:] for line in block], names) or literal(block)


def take(lines, at, belongs, rules=None):
    """The lines from `at` on that belong together, up to an entry where `rules` is given, and where they end."""
    end = at + 1
    while end < len(lines) and belongs(lines[end]) and not (rules and is_rule(rules, end)):
        end += 1
    return lines[at:end], end


def prose(text, names):
    """A comment as lines of reStructuredText."""
    lines, out, at = text.split("\n"), [], 0
    while at < len(lines):
        rule = is_rule(lines, at)
        if not lines[at]:
            at += 1
        elif rule:
            entry, at = take(lines, at, lambda line: line.startswith(2 * CODE))
            words = " ".join([rule[3], *(line.strip() for line in entry[1:])])
            out += [rule[1], f"   {inline(words, names)}", ""]
        elif lines[at].startswith("  "):
            block, at = take(lines, at, lambda line: line.startswith("  "))
            out += indented(block, names)
        else:
            block, at = take(lines, at, lambda line: line and not line.startswith("  "), lines)
            out += [inline(" ".join(block), names), ""]
    return out

