"""The shared library: where it is, its functions with their types, and failures as exceptions.

Looked for inside the package (a wheel has it there), then at HEDDLE_LIBRARY, then where the system's loader
looks. Every call releases the interpreter's lock, except those in `quick`, which only read a number and take
less time than that.
"""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from . import _declarations as c
from ._errors import BY_STATUS, HeddleError

SONAME = f"libheddle.so.{c.ABI_VERSION}"


def _candidates() -> list[str]:
    inside = Path(__file__).resolve().parent / "lib"
    found = [str(path) for path in sorted(inside.glob("libheddle.so*"), reverse=True)]
    named = os.environ.get("HEDDLE_LIBRARY")
    return [*found[:1], *([named] if named else []), SONAME]


@contextlib.contextmanager
def _sleepy() -> Iterator[None]:
    """While the library is loaded, OpenMP is told to let idle threads sleep after some microseconds instead of
    milliseconds.

    Other pools of threads (Polars, torch, worker processes) want the same processors. Says nothing where the
    user has said something, and does not reach other libraries: OpenMP reads it once, when it is loaded.
    """
    told = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys()
    if not told:
        os.environ["GOMP_SPINCOUNT"] = "2000"
    try:
        yield
    finally:
        if not told:
            del os.environ["GOMP_SPINCOUNT"]


def _open() -> tuple[str, ctypes.CDLL]:
    errors = []
    for path in _candidates():
        try:
            with _sleepy():
                return path, ctypes.CDLL(path)
        except OSError as error:
            errors.append(f"{path}: {error}")
    raise ImportError(
        "heddle: the shared library is not in the package, HEDDLE_LIBRARY does not name one, and the system has none ("
        + "; ".join(errors)
        + ")"
    )


def _declare(library: Any, names: Any) -> None:
    for name in names:
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"heddle: {path} has no {name}: it is older than this package") from None
        function.restype, function.argtypes = c.FUNCTIONS[name]


path, lib = _open()
_declare(lib, c.FUNCTIONS)
if lib.heddle_abi_version() != c.ABI_VERSION:
    raise ImportError(f"heddle: {path} has ABI version {lib.heddle_abi_version()}, this package needs {c.ABI_VERSION}")

quick: Any = getattr(ctypes, "PyDLL", ctypes.CDLL)(path)  # PyPy has one kind of calls
_declare(quick, ["heddle_groups_count", "heddle_join_count", "heddle_last_error", "heddle_table_check_widths"])


def error(status: int) -> HeddleError:
    """The exception for a status, with the library's sentence."""
    text = quick.heddle_last_error().decode(errors="replace") or lib.heddle_status_string(status).decode()
    return BY_STATUS.get(status, HeddleError)(text)


def fail(status: int) -> NoReturn:
    raise error(status)


def check(status: int) -> None:
    if status:
        raise error(status)


def options(struct: Any, /, **fields: Any) -> Any:
    """A struct that begins with its size, the other fields 0 unless told."""
    made = struct(ctypes.sizeof(struct))
    for name, value in fields.items():
        setattr(made, name, value)
    return made
