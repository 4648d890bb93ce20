"""Columns in files: arrays that may be larger than memory."""

from __future__ import annotations

import os
from ctypes import byref, c_char, c_void_p
from typing import Any

from . import _declarations as c
from ._dtypes import DTYPES, INT64, DType, name_of
from ._errors import HeddleFormatError
from ._library import check, lib
from ._words import dtype_of

ADVICE = {"sequential": c.ADVICE_SEQUENTIAL, "random": c.ADVICE_RANDOM, "soon": c.ADVICE_SOON, "done": c.ADVICE_DONE}

# NumPy's letters for kinds of types, and the library's numbers for them.
KINDS = {"u": c.ELEMENT_UNSIGNED, "i": c.ELEMENT_SIGNED, "f": c.ELEMENT_FLOAT, "b": c.ELEMENT_BOOL}
LETTERS = {number: letter for letter, number in KINDS.items()}


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
    memoryview. The mapping ends when nobody uses the array any more. `dtype` says what a raw file holds; a .npy
    file says it itself, and is refused where `dtype` says something else. With `count` a file of so many zeros is
    created; without `dtype` they are int64.
    """

    def __init__(self, path: Any, mode: str = "r", *, dtype: Any = None, count: int | None = None):
        if mode not in ("r", "w") or (count is not None and mode != "w"):
            raise ValueError(f"mode is {mode!r}: it must be 'r' or 'w', and 'w' where count creates a file")
        self._handle: Any = None
        self._mapping: Any = None
        given = None if dtype is None else dtype_of(dtype)[0]
        if given is not None and given.kind not in KINDS:
            raise TypeError(f"a file of the type {given}: files hold integers of 8, 32 and 64 bits, bool and floats")
        name, handle = os.fsencode(path), c_void_p()
        if count is not None:
            made = given or INT64
            check(lib.heddle_column_file_create_as(name, 8 * made.width, KINDS[made.kind], count, byref(handle)))
            given = made
        else:
            way = c.COLUMN_FILE_WRITE if mode == "w" else c.COLUMN_FILE_READ
            check(lib.heddle_column_file_open(name, way, 0 if given is None else 8 * given.width, byref(handle)))
        self._handle, self._mapping, self.path = handle.value, _Mapping(handle.value), os.fspath(path)
        self.dtype = self._dtype(given)
        self.array = self._array(mode == "w")

    def _dtype(self, given: DType | None) -> str:
        """What NumPy's header says, for a raw file what the caller says."""
        kind = lib.heddle_column_file_element_kind(self._handle)
        if kind == c.ELEMENT_UNKNOWN:
            return given.name if given is not None else "int64"
        found = DTYPES[name_of(LETTERS[kind], lib.heddle_column_file_element_bits(self._handle) // 8)]
        if given is not None and given.name != found.name:
            raise HeddleFormatError(
                f"{self.path} holds {found}, not {given}: leave dtype out, and take array.view({given.name!r}) "
                "if its bits are meant"
            )
        return found.name

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
