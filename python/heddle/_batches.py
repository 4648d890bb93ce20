"""Batches of a shelf, which may be larger than memory.

The library goes through a shelf by calling a function for every few thousand pairs, and Python's loops ask for the
next batch. So the library's call runs in a thread of its own, which waits while there are as many batches as AHEAD
that nobody has taken. The call holds the shelf until the loop is over.
"""

from __future__ import annotations

import ctypes
import queue
import threading
from typing import Any

from ._words import Items, default_like

AHEAD = 2


class _Part:
    """A batch that is being filled: arrays of the caller's framework, and how many pairs they have."""

    def __init__(self, table: Any, like: Any, size: int):
        framework = like.framework
        kinds = [kind for kind in (table._key, table._value) if kind is not None]
        self.arrays = [framework.empty(size, table._wide_native(framework, kind), like) for kind in kinds]
        self.widths = [4 if kind.width < 8 else 8 for kind in kinds]
        self.addresses = [framework.address(array) for array in self.arrays]
        self.filled = 0

    def fill(self, sources: list[int], first: int, n: int) -> None:
        for address, source, width in zip(self.addresses, sources, self.widths, strict=False):
            ctypes.memmove(address + width * self.filled, source + width * first, width * n)
        self.filled += n


class Walk:
    """One way through a shelf: the thread, and what it has brought."""

    def __init__(self, table: Any, size: int):
        self.table, self.size = table, size
        self.like = table._like if table._like.device < 0 else default_like()
        # Queues of this kind may be used while the garbage collector runs, which may end the walk in any thread.
        self.brought: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.room: queue.SimpleQueue[None] = queue.SimpleQueue()  # an item for each batch that may be brought
        for _ in range(AHEAD):
            self.room.put(None)
        self.thread: threading.Thread | None = None
        self.caller: int | None = None  # the thread that works on a batch
        self.over = False
        self.reason: Exception | None = None  # why it is over before its end
        self.part: _Part | None = None

    def _visit(self, keys: int, values: int, n: int) -> bool:
        first = 0
        while first < n and not self.over:
            if self.part is None:
                self.part = _Part(self.table, self.like, self.size)
            some = min(self.size - self.part.filled, n - first)
            self.part.fill([keys, values], first, some)
            first += some
            if self.part.filled == self.size:
                part, self.part = self.part, None
                self.room.get()
                self.brought.put(part)
        return self.over

    def _run(self) -> None:
        end: Any = None
        try:
            self.table._for_all(self._visit)
            if self.part is not None and not self.over:
                self.brought.put(self.part)
        except BaseException as problem:  # it is raised where the batches are wanted
            end = problem
        self.brought.put(end)

    def take(self) -> Any:
        """The next batch, as the caller knows arrays."""
        if self.over:
            raise StopIteration if self.reason is None else self.reason
        self._leave()
        if self.thread is None:
            self._start()
        try:
            part = self.brought.get()
        except BaseException:  # Ctrl-C
            self.end()
            raise
        self.room.put(None)
        if not isinstance(part, _Part):
            self.end()
            raise StopIteration if part is None else part
        self.caller = threading.get_ident()
        self.table._read.visiting.append(self.caller)
        return self._given(part)

    def _start(self) -> None:
        if self.table._handle is None:
            raise ValueError("the table is closed")
        if threading.get_ident() in self.table._read.visiting:
            raise RuntimeError("a loop over a shelf is in another one, or in a function that is given its pairs")
        self.table._walks.append(self)
        self.thread = threading.Thread(target=self._run, name="heddle shelf", daemon=True)
        self.thread.start()

    def _given(self, part: _Part) -> Any:
        framework, table = self.like.framework, self.table
        arrays = []
        for array, kind in zip(part.arrays, (table._key, table._value), strict=False):
            some = array if part.filled == self.size else array[: part.filled]
            if kind.wide != kind.name:
                some = framework.cast(some, table._native(framework, kind))
            arrays.append(framework.plain(some))
        return arrays[0] if len(arrays) == 1 else Items(*arrays)

    def _leave(self) -> None:
        caller, self.caller = self.caller, None
        if caller is not None:
            self.table._read.visiting.remove(caller)

    def end(self, reason: Exception | None = None) -> None:
        """Ends the thread, wherever it is."""
        self.over, self.reason = True, self.reason or reason
        self._leave()
        thread, self.thread = self.thread, None
        if thread is None:
            return
        self.table._walks.remove(self)
        self.room.put(None)  # it may be waiting for room
        if thread is not threading.current_thread():
            thread.join()


class Batches:
    """The iterator that `batches` gives. The walk does not know it: when it is forgotten, the walk ends."""

    __slots__ = ("_walk",)

    def __init__(self, table: Any, size: int):
        self._walk = Walk(table, size)

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> Any:
        return self._walk.take()

    def close(self) -> None:
        """Ends it before its end, so that the shelf can be used again."""
        self._walk.end()

    def __del__(self) -> None:
        self._walk.end()
