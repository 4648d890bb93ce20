"""Shelves: tables in a directory, larger than memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from ctypes import byref, c_void_p
from typing import Any

from . import _declarations as c
from ._batches import Batches, Walk
from ._device import CPU, Device, device_of
from ._library import check, lib, options
from ._memory import _checked, _typed
from ._progress import Progress
from ._tables import Table
from ._words import CONTAINERS, Functions, Gate, default_like, dtype_of, fields_of, table_options

_NAMES = {number: name for name, number in CONTAINERS.items()}


class _ShelfFunctions(Functions):
    """The library's calls on shelves, whose status is looked at by the progress first: Ctrl-C ends them."""

    def __init__(self, plain: Functions, progress: Progress, gate: Gate):
        self.streams, self.end, self._plain, self._progress, self._gate = False, plain.end, plain, progress, gate

    def __getattr__(self, name: str) -> Any:
        function, progress, visiting = getattr(self._plain, name), self._progress, self._gate.visiting

        def call(*arguments: Any) -> int:
            if progress.inside == threading.get_ident():
                raise RuntimeError("the function that learns the progress of a shelf must not use it")
            if threading.get_ident() in visiting:  # the library would wait for itself
                raise RuntimeError("a function or loop that is given the pairs of a shelf must not use the shelf")
            progress.run(function, *arguments)
            return 0

        setattr(self, name, call)
        return call


_SHELF = Functions("heddle_shelf_", False, "close")


class Shelf(Table):
    """A table that is kept in a directory: `with Shelf("people", "map", memory=8 << 30) as shelf:
    shelf.insert(keys, values)`.

    Opens the shelf that is in `directory`, or makes one. `container` is "map", "set", "multimap" or "counter";
    calls are those of HashMap and its neighbours. Arrays lie in host memory; columns of heddle.ColumnFile may
    be larger than it. Calls keep to `memory` bytes. `progress` is True for a bar, or a function of (phase,
    done, total) whose true result cancels the call: then, and after Ctrl-C, the shelf is as it was before the
    call.
    """

    def __init__(
        self,
        directory: Any,
        container: str | None = None,
        *,
        key_dtype: Any = None,
        value_dtype: Any = None,
        memory: int = 0,
        progress: Callable[[str, int, int], Any] | bool | None = None,
        read_only: bool = False,
        scratch: Any = None,
        device: Device | str | None = None,
        **table: Any,
    ):
        if container is not None and container not in CONTAINERS:
            raise ValueError(f"container is {container!r}: it must be one of {', '.join(map(repr, CONTAINERS))}")
        self.directory, self.device, handle = os.fspath(directory), device_of(device, CPU), c_void_p()
        self._progress = Progress(progress)
        self._read = Gate()
        self._walks: list[Walk] = []
        self._functions = _ShelfFunctions(_SHELF, self._progress, self._read)
        wanted = options(
            c.ShelfOptions,
            memory=memory,
            flags=c.SHELF_READ_ONLY if read_only else 0,
            scratch=None if scratch is None else os.fsencode(scratch),
            progress=self._progress.callback,
        )
        path = os.fsencode(directory)
        if os.path.exists(os.path.join(self.directory, "manifest.heddle")) or read_only:
            check(lib.heddle_shelf_open(self.device.handle, path, byref(wanted), byref(handle)))
        else:
            self._create(handle, path, wanted, container or "map", key_dtype, value_dtype, table)
        told = options(c.TableOptions)
        try:
            check(lib.heddle_shelf_get_options(handle, byref(told)))
            self.container = _NAMES[told.container]
            if container is not None and container != self.container:
                raise ValueError(f"{self.directory} holds a {self.container}, not a {container}")
            key = _typed(key_dtype, told.key_bits, "key_dtype")
            value = None if told.value_bits == 0 else _typed(value_dtype, told.value_bits, "value_dtype")
        except BaseException:
            lib.heddle_shelf_close(handle)
            raise
        super().__init__(handle.value, key, value, default_like(), self._read)

    def _create(
        self,
        handle: Any,
        path: bytes,
        wanted: Any,
        container: str,
        key_dtype: Any,
        value_dtype: Any,
        table: dict[str, Any],
    ) -> None:
        key = _checked(dtype_of(key_dtype or "int64")[0], "keys")
        value = None if container == "set" else _checked(dtype_of(value_dtype or "int64")[0], "values")
        parts = table_options(container, key, value, **table)
        check(lib.heddle_shelf_create(self.device.handle, path, byref(parts), byref(wanted), byref(handle)))

    def get(self, keys: Any, default: Any = 0) -> Any:
        """The value of every key, `default` where it is absent; of a multimap all values and where each key's begin."""
        return self.retrieve(keys) if self.container == "multimap" else super().get(keys, default)

    def _batches(self, size: int) -> Iterator[Any]:
        return Batches(self, size)

    def batches(self, size: int = 65536) -> Iterator[Any]:
        """All pairs, in a set all keys, `size` at a time, read from the directory as the loop goes on: few are in memory.

        Until the loop is over, its thread cannot use the shelf for anything else, and other threads wait.
        """
        return super().batches(size)

    def close(self) -> None:
        for walk in list(getattr(self, "_walks", [])):
            walk.end(ValueError("the table is closed"))
        super().close()

    def stats(self) -> dict[str, Any]:
        """The library's statistics: parts, keys, memory, bytes_files and more."""
        stats = options(c.ShelfStats)
        check(self._functions.get_stats(self._handle, byref(stats)))
        return fields_of(stats)

    def __repr__(self) -> str:
        if self._handle is None:
            return f"<heddle.Shelf {self.directory}, closed>"
        stats, value = self.stats(), "" if self._value is None else f" -> {self._value}"
        return (
            f"<heddle.Shelf {self.directory}: {self.container} {self._key}{value}, {stats['keys']} keys in "
            f"{stats['parts_filled']} parts, {stats['bytes_files']} bytes>"
        )
