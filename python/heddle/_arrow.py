"""Arrow data: pyarrow, Polars, pandas and whatever else has the Arrow PyCapsule interface.

Numbers go in without a copy when the column is one piece; several pieces are joined into one array first. A
bitmap that says which elements are null becomes a byte an element, and so do bools: both are copies of an
eighth to a whole of the column. Results are columns of the same library; for Polars without pyarrow they are
copied once.
"""

from __future__ import annotations

import sys
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char,
    c_char_p,
    c_int,
    c_int64,
    c_void_p,
)
from typing import Any

import numpy

from ._dtypes import DTYPES, DType
from ._numpy import KNOWN, NumPy, address_of, learn, view_numpy
from ._view import View


class Schema(Structure):
    pass


class Chunk(Structure):
    """struct ArrowArray."""


class Stream(Structure):
    pass


_RELEASE_SCHEMA, _RELEASE_CHUNK = CFUNCTYPE(None, POINTER(Schema)), CFUNCTYPE(None, POINTER(Chunk))
Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", c_void_p),
    ("dictionary", c_void_p),
    ("release", _RELEASE_SCHEMA),
    ("private_data", c_void_p),
]
Chunk._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", c_void_p),
    ("dictionary", c_void_p),
    ("release", _RELEASE_CHUNK),
    ("private_data", c_void_p),
]
Stream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))),
    ("get_next", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Chunk))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(Stream))),
    ("release", CFUNCTYPE(None, POINTER(Stream))),
    ("private_data", c_void_p),
]

try:
    from ctypes import PYFUNCTYPE, py_object, pythonapi

    _pointer: Any = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))
except ImportError:  # PyPy, for which pyarrow and Polars are not built

    def _pointer(capsule: Any, name: bytes) -> int:
        raise TypeError("columns of Arrow are taken by CPython alone: give their to_numpy()")


_LETTERS = {
    "c": "int8",
    "C": "uint8",
    "s": "int16",
    "S": "uint16",
    "i": "int32",
    "I": "uint32",
    "l": "int64",
    "L": "uint64",
    "f": "float32",
    "g": "float64",
    "b": "bool",
    "tdD": "int32",
    "tdm": "int64",
    "tts": "int32",
    "ttm": "int32",
    "ttu": "int64",
    "ttn": "int64",
}


def _dtype_of(format: str) -> DType:
    """The type of the elements of an Arrow column; of times and dates that of the numbers they are kept as."""
    if format[:3] in ("tss", "tsm", "tsu", "tsn", "tDs", "tDm", "tDu", "tDn"):
        return DTYPES["int64"]
    if format.startswith("w:") and 1 <= int(format[2:]) <= 64:
        return KNOWN.get(numpy.dtype(f"V{format[2:]}")) or learn(numpy.dtype(f"V{format[2:]}"))
    if format not in _LETTERS:
        raise TypeError(
            f"an Arrow column of the type {format!r}: Heddle takes numbers, bools, dates, times and binary of a "
            "fixed length; give texts as the codes of a dictionary, and a dictionary's column as its codes"
        )
    return DTYPES[_LETTERS[format]]


class _Chunk:
    """A chunk that a stream gave, released when nobody needs it any more."""

    def __init__(self) -> None:
        self.struct = Chunk()

    def __del__(self) -> None:
        if self.struct.release:
            self.struct.release(byref(self.struct))


def _chunks_of(x: Any) -> tuple[str, list[Any], Any]:
    """The format of a column, its chunks, and what keeps them."""
    if hasattr(x, "__arrow_c_array__"):
        schema, chunk = x.__arrow_c_array__()
        described = Schema.from_address(_pointer(schema, b"arrow_schema"))
        format = (b"dictionary" if described.dictionary else described.format).decode()
        return format, [Chunk.from_address(_pointer(chunk, b"arrow_array"))], (schema, chunk)
    capsule = x.__arrow_c_stream__()
    stream = Stream.from_address(_pointer(capsule, b"arrow_array_stream"))
    schema = Schema()
    chunks: list[Any] = []
    _ask(stream, stream.get_schema(byref(stream), byref(schema)))
    format = (b"dictionary" if schema.dictionary else schema.format).decode()
    schema.release(byref(schema))
    while True:
        chunk = _Chunk()
        _ask(stream, stream.get_next(byref(stream), byref(chunk.struct)))
        if not chunk.struct.release:
            return format, [part.struct for part in chunks if part.struct.length], chunks
        chunks.append(chunk)


def _ask(stream: Any, code: int) -> None:
    if code:
        raise ValueError(f"the Arrow stream failed: {(stream.get_last_error(byref(stream)) or b'').decode()}")


def _bits(address: int, offset: int, length: int) -> Any:
    """A byte for each of `length` bits from `offset` on."""
    first, last = offset // 8, (offset + length + 7) // 8
    bitmap = numpy.frombuffer((c_char * (last - first)).from_address(address + first), numpy.uint8)
    return numpy.unpackbits(bitmap, bitorder="little")[offset - 8 * first :][:length]


def _elements(chunk: Any, dtype: DType, native: Any, keep: Any) -> Any:
    if chunk.length == 0:
        return numpy.empty(0, native)
    if dtype.kind == "b":
        return _bits(chunk.buffers[1], chunk.offset, chunk.length).view(numpy.bool_)
    width = dtype.width
    memory = (c_char * (chunk.length * width)).from_address(chunk.buffers[1] + chunk.offset * width)
    memory.keep = keep
    return numpy.frombuffer(memory, native)


def _valid(chunk: Any) -> Any:
    if chunk.null_count == 0 or not chunk.buffers[0] or chunk.length == 0:
        return None
    valid = _bits(chunk.buffers[0], chunk.offset, chunk.length)
    return None if valid.all() else valid


# --------------------------------------------------------------------------------------------------- results


def _pyarrow(array: Any, kind: Any, valid: Any) -> Any:
    import pyarrow

    packed = numpy.packbits(array, bitorder="little") if array.dtype.kind == "b" else array.view("u1")
    bitmap = None if valid is None else pyarrow.py_buffer(numpy.packbits(valid != 0, bitorder="little"))
    buffers = [bitmap, pyarrow.py_buffer(packed)]
    return pyarrow.Array.from_buffers(kind or pyarrow.from_numpy_dtype(array.dtype), len(array), buffers)


def _polars(array: Any, kind: Any, valid: Any) -> Any:
    polars = sys.modules["polars"]
    try:
        made = polars.Series(_pyarrow(array, None, valid))
    except ImportError:
        made = polars.Series(array)
        if valid is not None:
            made = polars.select(polars.when(polars.Series(valid != 0)).then(made)).to_series()
    return made if kind is None or made.dtype == kind else made.cast(kind)


def _pandas(array: Any, kind: Any, valid: Any) -> Any:
    import pandas
    import pyarrow

    column = pyarrow.chunked_array([_pyarrow(array, getattr(kind, "pyarrow_dtype", None), valid)])
    return pandas.Series(pandas.arrays.ArrowExtensionArray(column))


def _others(array: Any, kind: Any, valid: Any) -> Any:
    try:
        return _pyarrow(array, None, valid)
    except ImportError:
        return array if valid is None else numpy.ma.MaskedArray(array, valid == 0)


_MAKERS: dict[str, Any] = {"pyarrow": _pyarrow, "polars": _polars, "pandas": _pandas}


class Arrow(NumPy):
    """Makes columns of a library out of NumPy's arrays. `kind` is the type of the column in that library's words.

    The library keeps NumPy's memory alive by its own means. A function of Python's that Arrow calls to release memory
    would not do: it may be called while an exception is on its way.
    """

    def __init__(self, name: str, kind: Any):
        self.name, self.kind, self.make = name, kind, _MAKERS.get(name, _others)

    def finish(self, array: Any, valid: Any = None) -> Any:
        return self.make(numpy.ascontiguousarray(array), self.kind, valid)

    def plain(self, array: Any, valid: Any = None) -> Any:
        return self.make(numpy.ascontiguousarray(array), None, valid)


_frameworks: dict[Any, Arrow] = {}


def _framework(x: Any) -> Arrow:
    root, kind = type(x).__module__.partition(".")[0], getattr(x, "type", None)
    key = (root, kind if root == "pyarrow" else getattr(x, "dtype", None))
    if key not in _frameworks:
        _frameworks[key] = Arrow(*key)
    return _frameworks[key]


def view_arrow(x: Any, given: Any = None) -> View:
    """The view of Arrow data; `given` is what the caller gave, where that is another object."""
    format, chunks, keep = _chunks_of(x)
    dtype = _dtype_of(format)
    native = numpy.dtype(dtype.name)
    pieces = [_elements(chunk, dtype, native, keep) for chunk in chunks]
    array = pieces[0] if len(pieces) == 1 else numpy.concatenate(pieces) if pieces else numpy.empty(0, native)
    flags = [_valid(chunk) for chunk in chunks]
    valid = None
    if any(flag is not None for flag in flags):
        valid = numpy.concatenate(
            [
                numpy.ones(len(piece), numpy.uint8) if flag is None else flag
                for piece, flag in zip(pieces, flags, strict=True)
            ]
        )
    view = View(
        _framework(x if given is None else given),
        array,
        address_of(array) if len(array) else 0,
        len(array),
        dtype,
        native,
    )
    return view.with_nulls(valid)


def view_pandas(x: Any) -> View:
    """A Series or Index: NumPy's array inside it where it has one, else its Arrow data."""
    if isinstance(x.dtype, numpy.dtype):
        return view_numpy(x.to_numpy())
    if hasattr(x, "__arrow_c_stream__"):
        return view_arrow(x)
    import pyarrow  # pandas before 3 has no Arrow interface of its own

    return view_arrow(pyarrow.array(x, from_pandas=True), x)
