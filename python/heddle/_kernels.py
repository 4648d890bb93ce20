"""Tables inside kernels of others: what a kernel needs to know of a table, and where the library's PTX and LTO-IR
are.

This is the part of the library that may change with every release (heddle/unstable.h); the package and its
library are of one release.
"""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from . import _declarations as c
from ._library import fail, lib, path

_MULTIMAP = 0x10000
_LARGEST = 4096


class KernelView(NamedTuple):
    """`bytes` go to the memory of the GPU and from there to the functions that are called `prefix`_find and so on."""

    bytes: bytes
    prefix: str


def kernel_view(table: Any, handle: Any, schemes: dict[str, int]) -> KernelView:
    instance = lib.heddle_table_instance(handle).decode()
    match = re.fullmatch(r"([a-z_]+?)_k(\d+)(?:_v(\d+))?(?:_b(\d+))?", instance)
    if match is None or match[1].removesuffix("_multimap") not in schemes:
        raise TypeError(f"kernels cannot use {instance}")
    name, key_bits, value_bits = match[1].removesuffix("_multimap"), int(match[2]), int(match[3] or 0)
    multimap = table.container == "multimap"
    scheme = schemes[name] | (_MULTIMAP if multimap and name in ("open", "slab") else 0)
    bucket = int(match[4] or 120 * 8 // (key_bits + value_bits))
    function: Any = lib.heddle_table_get_view
    function.restype, function.argtypes = (
        ctypes.c_int32,
        [ctypes.c_void_p, *[ctypes.c_uint32] * 4, ctypes.c_void_p, ctypes.c_uint64],
    )
    for size in range(8, _LARGEST, 8):  # how large a view is only the library knows
        view = ctypes.create_string_buffer(size)
        status = function(handle, scheme, key_bits, value_bits, bucket, view, size)
        if status == c.OK:
            form = "_multimap" if multimap and name in ("open", "slab") and "_multimap" not in instance else ""
            return KernelView(view.raw, f"heddle_{instance.replace(name, name + form, 1)}")
        if status != c.ERROR_INVALID:
            fail(status)
    fail(status)


def device_code(form: str = "ptx") -> str:
    """The path of the functions for kernels, as "ptx" or "ltoir": beside the library, where it was installed, or in the
    folder that HEDDLE_DEVICE_CODE names."""
    if form not in ("ptx", "ltoir"):
        raise ValueError(f"form is {form!r}: it must be 'ptx' or 'ltoir'")
    beside = Path(path).resolve().parent
    folders = [
        beside,
        beside.parent / "share" / "heddle",
        beside.parents[1] / "share" / "heddle" if len(beside.parents) > 1 else beside,
    ]
    if "HEDDLE_DEVICE_CODE" in os.environ:
        folders.insert(0, Path(os.environ["HEDDLE_DEVICE_CODE"]))
    for folder in folders:
        if (folder / f"heddle_device.{form}").is_file():
            return str(folder / f"heddle_device.{form}")
    raise FileNotFoundError(
        f"heddle_device.{form} is not in {', '.join(map(str, folders))}: a library that was built with "
        "CUDA has it; HEDDLE_DEVICE_CODE names its folder"
    )
