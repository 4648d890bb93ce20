"""Arrays of Python itself: array.array, bytes, memoryview and whatever else has the buffer protocol; also lists.

Results are arrays of the module `array`; of bools they are a memoryview. NumPy is only needed for what follows
a call of the library: sorting the distinct elements, and telling apart zeros and NaN.
"""

from __future__ import annotations

import sys
from array import array
from ctypes import (
    POINTER,
    Structure,
    addressof,
    byref,
    c_char,
    c_char_p,
    c_int,
    c_ssize_t,
    c_void_p,
)
from typing import Any

from ._dtypes import DTYPES, DType
from ._view import View, refuse_dtype

CODES = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "bool": "?",
    "float32": "f",
    "float64": "d",
}
_SIGNED, _UNSIGNED = "bhilqn", "BHILQN"


try:
    from ctypes import py_object, pythonapi

    class _Buffer(Structure):
        """Py_buffer, which has the address of memory that is read-only, too."""

        _fields_ = [
            ("buf", c_void_p),
            ("obj", py_object),
            ("len", c_ssize_t),
            ("itemsize", c_ssize_t),
            ("readonly", c_int),
            ("ndim", c_int),
            ("format", c_char_p),
            ("shape", POINTER(c_ssize_t)),
            ("strides", POINTER(c_ssize_t)),
            ("suboffsets", POINTER(c_ssize_t)),
            ("internal", c_void_p),
        ]

    class _Held:
        """The buffer of an object, given back when nobody needs it any more."""

        def __init__(self, x: Any):
            self.buffer = _Buffer()
            pythonapi.PyObject_GetBuffer(py_object(x), byref(self.buffer), 0)
            self.address = self.buffer.buf or 0

        def __del__(self) -> None:
            if self.buffer.buf:
                pythonapi.PyBuffer_Release(byref(self.buffer))

except ImportError:  # PyPy, which has no functions of CPython's for ctypes, and always has cffi
    import cffi

    _ffi = cffi.FFI()

    class _Held:  # type: ignore[no-redef]
        """The buffer of an object, as cffi holds it."""

        def __init__(self, x: Any):
            self.buffer = _ffi.from_buffer(x) if x.nbytes else None
            self.address = int(_ffi.cast("uintptr_t", self.buffer)) if x.nbytes else 0


def dtype_of_format(format: str, width: int) -> DType:
    code = format.lstrip("@=")
    if code.startswith(("<", ">", "!")):
        if (code[0] == "<") != (sys.byteorder == "little"):
            raise TypeError(f"the array has the byte order of another machine ({format}): swap its bytes first")
        code = code[1:]
    if code == "?":
        return DTYPES["bool"]
    if code in ("f", "d"):
        return DTYPES["float32" if code == "f" else "float64"]
    if code == "c":
        return DTYPES["uint8"]
    if len(code) == 1 and code in _SIGNED:
        return DTYPES[f"int{8 * width}"]
    if len(code) == 1 and code in _UNSIGNED:
        return DTYPES[f"uint{8 * width}"]
    raise refuse_dtype(f"elements of the format {format!r}")


class Plain:
    """Makes arrays of the module `array`, where there is no NumPy."""

    name = "array"
    natives: dict[str, Any] = {name: name for name in DTYPES}

    def view(self, x: Any) -> View:
        return view_buffer(x)

    def empty(self, n: int, native: Any, like: View) -> Any:
        if native == "bool":
            return memoryview(bytearray(n)).cast("?")
        return array(CODES[native], bytes(n * DTYPES[native].width))

    def full(self, n: int, value: Any, native: Any, like: View) -> Any:
        return array(CODES[native], [value]) * n

    def address(self, x: Any) -> int:
        return addressof(c_char.from_buffer(x)) if len(x) else 0

    def finish(self, x: Any, valid: Any = None) -> Any:
        return x

    plain = finish

    def shaped(self, x: Any, shape: tuple[int, ...]) -> Any:
        return x

    def negate(self, flags: Any) -> None:
        for i, flag in enumerate(flags):
            flags[i] = not flag

    def __getattr__(self, name: str) -> Any:
        raise ImportError("for sorted results and floating-point keys in Python's own arrays NumPy is needed")


def _with_numpy() -> Any:
    import numpy

    from ._numpy import NumPy

    class PlainByNumPy(NumPy):
        """Makes arrays of the module `array` from NumPy's, which the steps after a call work on."""

        name = "array"

        def finish(self, x: Any, valid: Any = None) -> Any:
            if x.dtype.kind == "b":
                return memoryview(bytearray(x)).cast("?")
            made = array(CODES[x.dtype.name])
            made.frombytes(memoryview(numpy.ascontiguousarray(x)).cast("B") if x.size else b"")
            return made

    return PlainByNumPy()


try:
    FRAMEWORK: Any = _with_numpy()
    import numpy
except ImportError:
    FRAMEWORK = Plain()


def view_buffer(x: Any) -> View:
    memory = memoryview(x)
    if not memory.c_contiguous:
        raise ValueError("the buffer is not contiguous, and Heddle makes no silent copy: give bytes(buffer) of it")
    dtype = dtype_of_format(memory.format, memory.itemsize)
    native, size = FRAMEWORK.natives[dtype.name], memory.nbytes // memory.itemsize
    held = _Held(memory)
    address = held.address
    if size and address % dtype.width:
        raise ValueError("the buffer is not aligned to its elements: copy it")
    worked = x
    if FRAMEWORK.natives["int64"] != "int64":
        worked = numpy.frombuffer(memory, native) if size else numpy.empty(0, native)
    return View(FRAMEWORK, worked, address, size, dtype, native, keep=held)


def view_sequence(x: Any) -> View:
    """A list, tuple, range or number: as an array of NumPy's where it is there, else of 64-bit integers or floats."""
    try:
        import numpy
    except ImportError:
        items = [x] if isinstance(x, (int, float)) else list(x)
        return view_buffer(array("d" if any(isinstance(item, float) for item in items) else "q", items))
    from ._numpy import view_numpy

    return view_numpy(numpy.asarray(x))
