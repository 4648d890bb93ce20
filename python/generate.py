"""generate.py [--check]: writes heddle/_declarations.py from the public headers in include/heddle.

The headers are plain C with one style, so a few regular expressions read them: constants, structs, function pointers
and functions. What they do not understand ends the script with an error. With --check nothing is written, and the
script ends with 1 when the file is not what the headers say.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parent / "include" / "heddle"
OUTPUT = HERE / "heddle" / "_declarations.py"
HEADERS = (
    "heddle.h",
    "table_options.h",
    "table_more.h",
    "relations.h",
    "filter.h",
    "cluster.h",
    "cluster_relations.h",
    "column_file.h",
    "shelf.h",
)

NUMBERS = {
    "uint8_t": "c_uint8",
    "uint32_t": "c_uint32",
    "uint64_t": "c_uint64",
    "int32_t": "c_int32",
    "int64_t": "c_int64",
    "double": "c_double",
    "char": "c_char",
    "heddle_status": "c_int32",
}


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def class_name(name):
    """heddle_join_options is JoinOptions."""
    return "".join(part.capitalize() for part in name.removeprefix("heddle_").split("_"))


class Reader:
    """What has been read so far, in the order of the headers."""

    def __init__(self):
        self.constants, self.structs, self.callbacks, self.functions = {}, {}, {}, {}

    def python_type(self, text):
        """The ctypes expression for a C type such as `const heddle_column *`."""
        words = [word for word in re.findall(r"\w+|\*", text) if word not in ("const", "struct")]
        name, stars = words[0], words.count("*")
        if len(words) != 1 + stars:
            raise SystemExit(f"generate.py: what type is `{text}`?")
        if stars == 0:
            if name in NUMBERS:
                return NUMBERS[name]
            if name in self.callbacks:
                return class_name(name)
            raise SystemExit(f"generate.py: what type is `{text}`?")
        if name == "char" and stars == 1:
            return "c_char_p"
        # Addresses are handed over as numbers, those of structs and results as references to ctypes objects, too.
        return "c_void_p"

    def read_constants(self, text):
        text = text.replace("\\\n", " ")
        for name, value in re.findall(r"^#define (HEDDLE_[A-Z0-9_]+)[ \t]+(\S.*)$", text, flags=re.M):
            value = value.strip()
            number = re.fullmatch(r"(?:UINT(?:32|64)_C\()?(0x[0-9A-Fa-f]+|\d+)[uUlL]*\)?", value)
            if number:
                self.constants[name] = int(number[1], 0)
            elif value in ("UINT64_MAX", "UINT32_MAX"):
                self.constants[name] = 2 ** int(value[4:6]) - 1
            elif re.fullmatch(r'"[^"]*"', value):
                self.constants[name] = value[1:-1]

    def read_structs(self, text):
        for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, flags=re.S):
            fields = []
            for line in body.split(";"):
                if line.strip():
                    fields += self.read_fields(" ".join(line.split()))
            self.structs[name] = fields

    def read_fields(self, line):
        match = re.fullmatch(r"((?:const )?\w+) (.+)", line)
        if match is None:
            raise SystemExit(f"generate.py: what fields are `{line}`?")
        for declarator in match[2].split(","):
            parts = re.fullmatch(r"\s*(\**)(\w+)(?:\[(\w+)\])?", declarator)
            if parts is None:
                raise SystemExit(f"generate.py: what fields are `{line}`?")
            kind = self.python_type(match[1] + parts[1])
            if parts[3]:
                count = int(parts[3]) if parts[3].isdigit() else self.constants[parts[3]]
                kind = f"{kind} * {count}"
            yield parts[2], kind

    def read_callbacks(self, text):
        pattern = r"typedef (\w+) \(\*(\w+)\)\(([^)]*)\);"
        for result, name, arguments in re.findall(pattern, text, flags=re.S):
            self.callbacks[name] = [self.python_type(result), *self.read_arguments(arguments)]

    def read_functions(self, text):
        pattern = r"HEDDLE_API ([\w ]+?[ *]+)(heddle_\w+)\(([^)]*)\);"
        for result, name, arguments in re.findall(pattern, text, flags=re.S):
            kind = "None" if result.strip() == "void" else self.python_type(result)
            self.functions[name] = (kind, self.read_arguments(arguments))
        if text.count("HEDDLE_API ") - text.count("#define HEDDLE_API ") != len(re.findall(pattern, text, flags=re.S)):
            raise SystemExit("generate.py: some functions could not be read")

    def read_arguments(self, text):
        text = " ".join(text.split())
        if text == "void":
            return []
        return [self.python_type(re.sub(r"\w+$", "", argument.strip())) for argument in text.split(",")]


def wrapped(head, items, tail):
    """`head` item, item, ... `tail` in lines of at most 120 columns."""
    line = head + ", ".join(items) + tail
    if len(line) <= 120:
        return [line]
    lines, row = [head], "   "
    for item in items:
        if len(row) + len(item) + 2 > 120:
            lines.append(row)
            row = "   "
        row += f" {item},"
    return [*lines, row, tail]


def text_of(reader):
    lines = [
        '"""What include/heddle declares, for ctypes. Written by python/generate.py: change the headers, not this."""',
        "",
        "from ctypes import (",
        "    CFUNCTYPE, Structure, c_char, c_char_p, c_double, c_int32, c_uint8, c_uint32, c_uint64, c_void_p,",
        ")",
        "from typing import Any",
        "",
    ]
    lines += [f"{name.removeprefix('HEDDLE_')} = {value!r}" for name, value in reader.constants.items()]
    lines.append("")
    for name, types in reader.callbacks.items():
        lines.append(f"{class_name(name)}: Any = CFUNCTYPE({', '.join(types)})")
    for name, fields in reader.structs.items():
        lines += ["", "", f"class {class_name(name)}(Structure):", "    _fields_ = ["]
        lines += [f'        ("{field}", {kind}),' for field, kind in fields]
        lines.append("    ]")
    lines += [
        "",
        "",
        "# C names of the structs above, and the result and the arguments of every function.",
        "STRUCTS = {",
    ]
    lines += [f'    "{name}": {class_name(name)},' for name in reader.structs]
    lines += ["}", "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"]
    for name, (result, arguments) in reader.functions.items():
        lines += ["    " + line for line in wrapped(f'"{name}": ({result}, [', arguments, "]),")]
    return "\n".join([*lines, "}", ""])


def main():
    reader = Reader()
    texts = [without_comments((INCLUDE / header).read_text()) for header in HEADERS]
    for read in (reader.read_constants, reader.read_callbacks, reader.read_structs, reader.read_functions):
        for text in texts:
            read(text)
    text = text_of(reader)
    if "--check" not in sys.argv[1:]:
        OUTPUT.write_text(text)
    elif OUTPUT.read_text() != text:
        raise SystemExit("heddle/_declarations.py is not what the headers say: run python/generate.py")


if __name__ == "__main__":
    main()
