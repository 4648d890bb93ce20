"""Columns in files: arrays that may be larger than memory."""

from __future__ import annotations

import os
from ctypes import byref, c_char, c_void_p
from typing import Any

from . import _declarations as c
from ._dtypes import DTYPES
from ._library import check, lib

ADVICE = {"sequential": c.ADVICE_SEQUENTIAL, "random": c.ADVICE_RANDOM, "soon": c.ADVICE_SOON, "done": c.ADVICE_DONE}


class _Mapping:
    """A mapped file; unmapped when the last array on it is gone."""

    def __init__(self, handle: Any):
        self.handle = handle

    def __del__(self) -> None:
        if lib is not None:
            lib.heddle_column_file_close(self.handle)


class ColumnFile:
    """A file of numbers that is mapped into memory, raw or with NumPy's header (.npy): `with
    ColumnFile("keys.npy") as keys:`.

    `array` is a NumPy array on the file, for every call that takes arrays in host memory; without NumPy it is a
    memoryview. The mapping ends when nobody uses the array any more. `dtype` says what a raw file holds; signs
    of a .npy file are not looked at. With `count` a file of so many zeros is created.
    """

    def __init__(self, path: Any, mode: str = "r", *, dtype: str | None = None, count: int | None = None):
        if mode not in ("r", "w") or (count is not None and mode != "w"):
            raise ValueError(f"mode is {mode!r}: it must be 'r' or 'w', and 'w' where count creates a file")
        self._handle: Any = None
        self._mapping: Any = None
        kind = None if dtype is None else DTYPES[dtype]
        bits, handle = 0 if kind is None else 8 * kind.width, c_void_p()
        if count is not None:
            check(lib.heddle_column_file_create(os.fsencode(path), bits or 64, count, byref(handle)))
        else:
            way = c.COLUMN_FILE_WRITE if mode == "w" else c.COLUMN_FILE_READ
            check(lib.heddle_column_file_open(os.fsencode(path), way, bits, byref(handle)))
        self._handle, self._mapping, self.path = handle.value, _Mapping(handle.value), os.fspath(path)
        self.dtype = dtype or f"int{lib.heddle_column_file_element_bits(handle)}"
        self.array = self._array(mode == "w")

    def _array(self, writable: bool) -> Any:
        n, width = len(self), DTYPES[self.dtype].width
        address = lib.heddle_column_file_data(self._handle)
        memory: Any = bytearray()
        if n:
            memory = (c_char * (n * width)).from_address(address)
            memory.mapping = self._mapping
        try:
            import numpy
        except ImportError:
            from ._plain import CODES

            return memoryview(memory).cast("B").cast(CODES[self.dtype])  # type: ignore[call-overload]
        array = numpy.frombuffer(memory, self.dtype)
        array.flags.writeable = writable
        return array

    def __len__(self) -> int:
        if self._handle is None:
            raise ValueError("the file is closed")
        return int(lib.heddle_column_file_count(self._handle))

    def advise(self, advice: str, first: int = 0, count: int | None = None) -> None:
        """Says how elements will be used: "sequential", "random", "soon", or "done" for those whose pages may go."""
        if advice not in ADVICE:
            raise ValueError(f"advice is {advice!r}: it must be one of {', '.join(map(repr, ADVICE))}")
        check(
            lib.heddle_column_file_advise(
                self._handle, first, len(self) - first if count is None else count, ADVICE[advice]
            )
        )

    def flush(self) -> None:
        """Waits until all that was written is on the disk."""
        if self._handle is not None:
            check(lib.heddle_column_file_flush(self._handle))

    def close(self) -> None:
        """Lets go of the file; it stays. Arrays on it that are still used keep it mapped."""
        self._handle = self._mapping = self.array = None

    def __repr__(self) -> str:
        state = "closed" if self._handle is None else f"{len(self)} x {self.dtype}"
        return f"<heddle.ColumnFile {self.path}: {state}>"

    def __enter__(self) -> ColumnFile:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
