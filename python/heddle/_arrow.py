"""Arrow data: pyarrow, Polars, pandas and whatever else has the Arrow PyCapsule interface, without pyarrow's help.

Numbers go in without a copy when the column is one piece; several pieces are joined into one array first. A bitmap that says
which elements are null becomes a byte an element, and so do bools: both are copies of an eighth to a whole of the column.
Results are handed over through the same interface, so pyarrow and Polars take them without a copy.
"""

from __future__ import annotations

import itertools
import sys
from ctypes import (
    CDLL, CFUNCTYPE, POINTER, PYFUNCTYPE, Structure, addressof, byref, c_char, c_char_p, c_int, c_int64, c_size_t, c_void_p,
    cast, memmove, py_object, pythonapi, sizeof,
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
Schema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64),
                   ("n_children", c_int64), ("children", c_void_p), ("dictionary", c_void_p),
                   ("release", _RELEASE_SCHEMA), ("private_data", c_void_p)]
Chunk._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
                  ("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", c_void_p),
                  ("dictionary", c_void_p), ("release", _RELEASE_CHUNK), ("private_data", c_void_p)]
Stream._fields_ = [("get_schema", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))),
                   ("get_next", CFUNCTYPE(c_int, POINTER(Stream), POINTER(Chunk))),
                   ("get_last_error", CFUNCTYPE(c_char_p, POINTER(Stream))),
                   ("release", CFUNCTYPE(None, POINTER(Stream))), ("private_data", c_void_p)]

_pointer = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))
_new_capsule = PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", pythonapi))

_LETTERS = {"c": "int8", "C": "uint8", "s": "int16", "S": "uint16", "i": "int32", "I": "uint32", "l": "int64", "L": "uint64",
            "f": "float32", "g": "float64", "b": "bool", "tdD": "int32", "tdm": "int64", "tts": "int32", "ttm": "int32",
            "ttu": "int64", "ttn": "int64"}
_FORMATS = {name: letter for letter, name in _LETTERS.items() if len(letter) == 1}


def _dtype_of(format: str) -> DType:
    """The type of the elements of an Arrow column; of times and dates that of the numbers they are kept as."""
    if format[:3] in ("tss", "tsm", "tsu", "tsn", "tDs", "tDm", "tDu", "tDn"):
        return DTYPES["int64"]
    if format.startswith("w:") and 1 <= int(format[2:]) <= 64:
        return KNOWN.get(numpy.dtype(f"V{format[2:]}")) or learn(numpy.dtype(f"V{format[2:]}"))
    if format not in _LETTERS:
        raise TypeError(f"an Arrow column of the type {format!r}: Heddle takes numbers, bools, dates, times and binary of a "
                        "fixed length; give texts as the codes of a dictionary, and a dictionary's column as its codes")
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
    return numpy.unpackbits(bitmap, bitorder="little")[offset - 8 * first:][:length]


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


class Export:
    """A column for those who read Arrow: an array of NumPy's, its type in Arrow's words, and flags of what is there."""

    def __init__(self, array: Any, format: str, valid: Any = None):
        self.length, self.format = len(array), format.encode()
        self.nulls = 0 if valid is None else int((valid == 0).sum())
        data = numpy.packbits(array, bitorder="little") if format == "b" else numpy.ascontiguousarray(array)
        bitmap = numpy.packbits(valid != 0, bitorder="little") if self.nulls else None
        self.data, self.bitmap = data, bitmap
        self.buffers = (c_void_p * 2)(None if bitmap is None else address_of(bitmap), address_of(data))

    def __arrow_c_schema__(self) -> Any:
        schema = Schema(format=self.format, name=b"", flags=2, release=_release_schema)
        return _hand_over(schema, b"arrow_schema", self)

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        chunk = Chunk(self.length, self.nulls, 0, 2, 0, cast(self.buffers, POINTER(c_void_p)), None, None, _release_chunk)
        return self.__arrow_c_schema__(), _hand_over(chunk, b"arrow_array", self)


# What has been handed over and not been released, by the number in private_data.
_handed: dict[int, Any] = {}
_numbers = itertools.count(1)


def _hand_over(struct: Any, name: bytes, keep: Any) -> Any:
    """A capsule with a copy of the struct. `keep` lives until the struct is released, by its taker or with the capsule."""
    struct.private_data = number = next(_numbers)
    _handed[number] = keep
    place = _libc.malloc(sizeof(struct))
    if not place:
        raise MemoryError
    memmove(place, addressof(struct), sizeof(struct))
    return _new_capsule(place, name, _ENDS[name])


def _release(struct: Any) -> None:
    _handed.pop(struct.contents.private_data, None)
    struct.contents.release = type(struct.contents.release)()


_release_schema, _release_chunk = _RELEASE_SCHEMA(_release), _RELEASE_CHUNK(_release)


def _end_of(kind: Any, name: bytes) -> Any:
    def end(capsule: int) -> None:
        place = _dying_pointer(capsule, name)
        struct = kind.from_address(place)
        if struct.release:
            struct.release(byref(struct))
        _libc.free(place)

    return PYFUNCTYPE(None, c_void_p)(end)


_libc: Any = CDLL(None)
_libc.malloc.restype, _libc.malloc.argtypes = c_void_p, [c_size_t]
_libc.free.restype, _libc.free.argtypes = None, [c_void_p]
# The same function for a capsule that is going: its count of references must not be touched.
_dying_pointer = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", pythonapi))
_ENDS = {b"arrow_schema": _end_of(Schema, b"arrow_schema"), b"arrow_array": _end_of(Chunk, b"arrow_array")}

# --------------------------------------------------------------------------------------------------- frameworks


class Arrow(NumPy):
    """Makes columns of pyarrow, Polars or pandas out of NumPy's arrays. `make` turns an Export into one."""

    def __init__(self, name: str, make: Any, format: str):
        self.name, self.make, self.format = name, make, format

    def finish(self, array: Any, valid: Any = None) -> Any:
        return self.make(Export(array, self.format, valid))

    def plain(self, array: Any, valid: Any = None) -> Any:
        return self.make(Export(array, _FORMATS[array.dtype.name], valid))


def _to_pyarrow(export: Export) -> Any:
    return sys.modules["pyarrow"].array(export)


def _to_polars(export: Export) -> Any:
    return sys.modules["polars"].Series(export)


def _to_pandas(export: Export) -> Any:
    import pandas
    import pyarrow
    return pandas.Series(pandas.arrays.ArrowExtensionArray(pyarrow.chunked_array([pyarrow.array(export)])))


_MAKERS: dict[str, Any] = {"pyarrow": _to_pyarrow, "polars": _to_polars, "pandas": _to_pandas}
_frameworks: dict[tuple[str, str], Arrow] = {}


def _framework(x: Any, format: str) -> Arrow:
    root = type(x).__module__.partition(".")[0]
    key = (root, format)
    if key not in _frameworks:
        _frameworks[key] = Arrow(root, _MAKERS.get(root, lambda export: export), format)
    return _frameworks[key]


def view_arrow(x: Any) -> View:
    format, chunks, keep = _chunks_of(x)
    dtype = _dtype_of(format)
    native = numpy.dtype(dtype.name)
    pieces = [_elements(chunk, dtype, native, keep) for chunk in chunks]
    array = pieces[0] if len(pieces) == 1 else numpy.concatenate(pieces) if pieces else numpy.empty(0, native)
    flags = [_valid(chunk) for chunk in chunks]
    valid = None
    if any(flag is not None for flag in flags):
        valid = numpy.concatenate([numpy.ones(len(piece), numpy.uint8) if flag is None else flag
                                   for piece, flag in zip(pieces, flags, strict=True)])
    view = View(_framework(x, format), array, address_of(array) if len(array) else 0, len(array), dtype, native)
    return view.with_nulls(valid)


def view_pandas(x: Any) -> View:
    """A Series or Index: NumPy's array inside it where it has one, else its Arrow data."""
    if isinstance(x.dtype, numpy.dtype):
        return view_numpy(x.to_numpy())
    if not hasattr(x, "__arrow_c_stream__"):
        x = x.to_series(index=range(len(x)))
    return view_arrow(x)
