"""reference.py FOLDER: writes the reference of the C interface, a page for each public header, in reStructuredText."""

import sys
from pathlib import Path

from headers import read_headers
from prose import Names, inline, prose

ROLES = {"function": "func", "macro": "macro", "constants": "macro", "struct": "struct", "type": "type"}
LIBRARY = "libheddle (``pkg-config --cflags --libs heddle``, in CMake ``heddle::heddle``)"
LIBRARIES = {
    "mpi.h": "libheddle_mpi (``pkg-config --cflags --libs heddle_mpi``, in CMake ``heddle::heddle_mpi``)",
    "unstable.h": LIBRARY + ". **Outside the stable ABI.**",
    "device.cuh": "for nvcc, beside libheddle: in CMake ``heddle::device``, elsewhere with the folder ``heddle/internal`` "
                  "on the include path. **Outside the stable ABI.** :doc:`/docs/kernels` has all functions.",
}
ALONE = {"heddle.h", "mpi.h", "unstable.h", "device.cuh"}  # the others come with heddle.h


def declared(item):
    """The names that an item declares, without the arguments of macros."""
    parts = item.parts if item.kind == "constants" else [item]
    return [name.split("(")[0] for part in parts for name in part.names]


def names_of(headers):
    roles = {}
    for header in headers:
        for item in header.items:
            if item.kind in ROLES:
                roles |= {name: ROLES[item.kind] for name in declared(item)}
    return Names(roles, {header.name for header in headers})


def directive(kind, signatures, body, options=()):
    first, *more = signatures
    prefix = f".. c:{kind}:: "
    lines = [prefix + first, *(" " * len(prefix) + line for line in more)]
    lines = [line + " \\" for line in lines[:-1]] + lines[-1:] if kind == "macro" and more else lines
    return [*lines, *(f"   {line}" for line in options), "", *(f"   {line}".rstrip() for line in body), ""]


def initialised(name):
    """What an initialiser is for; "" of other names."""
    struct = name.removesuffix("_INIT").lower()
    return f"The defaults of {struct}." if name.endswith("_INIT") else ""


def is_short(part):
    """Whether a constant, its value and its comment fit into a line or two."""
    return len(part.code[0]) < 8 and "\n\n" not in part.comment and "\n  " not in part.comment


def constants(item, names):
    lines = prose(item.comment, names) if item.comment else []
    lines += [".. container:: constants" + (" short" if all(map(is_short, item.parts)) else ""), ""]
    for part in item.parts:
        name, value = part.names[0], part.code[0]
        comment = part.comment or initialised(name)
        body = [f"``{value}``", "", *(prose(comment, names) if comment else [])]
        lines += [f"   {line}".rstrip() for line in directive("macro", [name], body)]
    return lines


def struct(item, names):
    body = prose(item.comment, names) if item.comment else []
    for field in item.parts:
        text = prose(field.comment, names) if field.comment else []
        body += directive("member", field.code, text, [":no-contents-entry:"])
    return directive("struct", item.names, body)


def type_signature(item):
    """A type as it is used; what is in a handle is nobody's business."""
    code = " ".join(item.code[0].removeprefix("typedef ").removesuffix(";").split())
    return item.names[0] if code.startswith("struct ") else code


def lines_of(item, names):
    body = prose(item.comment, names) if item.comment else []
    if item.kind == "section":
        title = item.names[0][0].upper() + item.names[0][1:]
        return [title, "-" * len(title), ""]
    if item.kind == "text":
        return body
    if item.kind == "constants":
        return constants(item, names)
    if item.kind == "struct":
        return struct(item, names)
    if item.kind == "type":
        return directive("type", [type_signature(item)], body)
    if item.kind == "macro":
        return [line for name in item.names[:-1] for line in directive("macro", [name], [])] + \
            directive("macro", item.names[-1:], body)
    return directive("function", item.code, body)


def first_sentence(header, names):
    text = " ".join(header.head.split("\n\n")[0].split()).partition(": ")[2]
    sentence = text.partition(". ")[0].rstrip(".")
    return inline(sentence[0].upper() + sentence[1:], names)


def page(header, names):
    head = header.head.partition(": ")[2]
    lines = [header.name, "=" * len(header.name), ""]
    lines += [f":Include: ``#include <heddle/{header.name}>``" +
              ("" if header.name in ALONE else f", or {names.header('heddle/heddle.h')}, which includes it"),
              f":Library: {LIBRARIES.get(header.name, LIBRARY)}", ""]
    lines += prose(head[0].upper() + head[1:], names)
    for item in header.items:
        lines += lines_of(item, names)
    return "\n".join(lines) + "\n"


def index(headers, names):
    lines = ["Reference", "=========", "",
             "Every function, struct, type and macro of the C interface, with the comment that stands at its "
             "declaration: a comment there is a contract. The rules that hold for all of them are at the head of "
             ":doc:`heddle.h`. :ref:`genindex` has all names.", "",
             ".. list-table::", "   :header-rows: 1", "", "   * - header", "     - what is in it"]
    for header in headers:
        lines += [f"   * - :doc:`{header.name}`", f"     - {first_sentence(header, names)}"]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {header.name}" for header in headers), ""]
    return "\n".join(lines)


def write(folder):
    headers = read_headers()
    names = names_of(headers)
    folder.mkdir(parents=True, exist_ok=True)
    for header in headers:
        (folder / f"{header.name}.rst").write_text(page(header, names))
    (folder / "index.rst").write_text(index(headers, names))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
