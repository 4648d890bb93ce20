"""The declarations are those of the headers, and the compiler agrees on every size and offset."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heddle import _declarations as c

ROOT = Path(__file__).resolve().parents[2]


def test_the_file_is_what_the_headers_say():
    done = subprocess.run([sys.executable, ROOT / "python" / "generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def layout_by_ctypes():
    lines = []
    for name, struct in c.STRUCTS.items():
        lines.append(f"{name} {ctypes.sizeof(struct)}")
        lines += [f"{name}.{field[0]} {getattr(struct, field[0]).offset}" for field in struct._fields_]
    return lines


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_sizes_and_offsets_are_the_compilers(tmp_path):
    lines = ["#include <heddle/heddle.h>", "#include <stdio.h>", "int main(void)", "{"]
    for name, struct in c.STRUCTS.items():
        lines.append(f'    printf("{name} %zu\\n", sizeof({name}));')
        for field in struct._fields_:
            lines.append(f'    printf("{name}.{field[0]} %zu\\n", offsetof({name}, {field[0]}));')
    source, program = tmp_path / "layout.c", tmp_path / "layout"
    source.write_text("\n".join([*lines, "    return 0;", "}"]))
    subprocess.run(["cc", "-I", ROOT / "include", source, "-o", program], check=True)
    assert (
        subprocess.run([program], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
        == layout_by_ctypes()
    )


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_constants_are_the_compilers(tmp_path):
    numbers = {name: value for name, value in vars(c).items() if name.isupper() and isinstance(value, int)}
    lines = ["#include <heddle/heddle.h>", "#include <stdio.h>", "int main(void)", "{"]
    lines += [f'    printf("%llu\\n", (unsigned long long)HEDDLE_{name});' for name in numbers]
    source, program = tmp_path / "constants.c", tmp_path / "constants"
    source.write_text("\n".join([*lines, "    return 0;", "}"]))
    subprocess.run(["cc", "-I", ROOT / "include", source, "-o", program], check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    assert [int(line) for line in printed] == list(numbers.values())
