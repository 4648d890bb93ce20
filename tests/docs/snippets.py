"""snippets.py CC CXX: the code in the pages compiles against the public headers.

All C blocks of a page are one file, in their order, behind the includes of PRELUDE; so are all C++ and all CUDA blocks.
CUDA blocks are compiled as the kernels are in tests/cuda_on_cpu, without nvcc. Blocks that are lines of a file are
compiled there. Calls that a table of docs/moving.md names must stand in a block of that page, so that they are compiled
too.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from blocks import ROOT, blocks_of, pages, where

PRELUDE = '#include <heddle/heddle.h>\n#include "examples/check.h"\n#include <stdio.h>\n#include <stdlib.h>\n' \
          "#include <string.h>\n"
FLAGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fsyntax-only", f"-I{ROOT}/include", f"-I{ROOT}"]
CALL = re.compile(r"`(heddle_\w+\([^`]*\))`")


def compile_blocks(blocks, command, suffix):
    """What the compiler says about the blocks as one file; "" when it is content."""
    text = PRELUDE
    for block in blocks:
        code = "\n".join(block.lines)
        text += f'#line {block.line} "{block.page.relative_to(ROOT)}"\n{code}\n'
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / f"page{suffix}"
        source.write_text(text)
        done = subprocess.run([*command, str(source)], capture_output=True, text=True, cwd=directory, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def plain(code):
    return re.sub(r"\s+", "", code)


def calls_without_block(page, blocks):
    compiled = plain("".join("\n".join(block.lines) for block in blocks))
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    return [call for call in CALL.findall(text) if plain(call) not in compiled]


def main():
    cc, cxx = sys.argv[1:]
    cuda_on_cpu = [f"-I{ROOT}/tests/cuda_on_cpu", f"-I{ROOT}/src", "-include", "shim.h", "-DLOAD_ELEMENT=4",
                   "-Wno-unknown-pragmas", "-Wno-parentheses"]
    commands = {
        "c": ([cc, "-std=c11", *FLAGS], ".c"),
        "c++": ([cxx, "-std=c++17", *FLAGS], ".cpp"),
        "cuda": ([cxx, "-std=c++17", *cuda_on_cpu, *FLAGS], ".cpp"),
    }
    faults, count = [], 0
    for page in pages():
        blocks = [block for block in blocks_of(page) if block.mark in ("", "file")]
        for language, (command, suffix) in commands.items():
            loose = [block for block in blocks if block.language == language and block.mark == ""]
            if loose:
                count += len(loose)
                said = compile_blocks(loose, command, suffix)
                faults += [f"{where(loose[0])}: the {language} of this page does not compile:\n{said}"] if said else []
        if page.name == "moving.md":
            faults += [f"docs/moving.md: no block has the call {call}" for call in calls_without_block(page, blocks)]
    print("\n".join(faults) if faults else f"{count} blocks compile")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
