"""How far a long call has come: the library's progress function, a line in a terminal or a bar in a notebook, and
Ctrl-C.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from . import _declarations as c
from ._library import check

PHASES = ("counting", "sorting", "working", "delivering", "committing")


class Progress:
    """Hands what the library tells to a function of the caller's, and keeps an exception until the call has ended.

    An exception in the function ends the call with everything as it was. So does Ctrl-C: while a call runs it is noted
    instead of raised, since an exception cannot go through the library.
    """

    def __init__(self, told: Callable[[str, int, int], Any] | bool | None):
        self.function = Bar() if told is True else told or None
        self.raised: BaseException | None = None
        self.inside: int | None = None  # the thread that is in the function
        self.callback = c.Progress(self._called)

    def _called(self, _context: Any, phase: int, done: int, total: int) -> int:
        try:
            self.inside = threading.get_ident()
            stop = self.function is not None and bool(self.function(PHASES[phase], done, total))
        except BaseException as problem:  # it must not go through the library
            self.raised, stop = problem, True
        self.inside = None
        return int(stop or self.raised is not None)

    def _interrupted(self, *_: Any) -> None:
        self.raised = KeyboardInterrupt()

    def run(self, function: Callable[..., int], *arguments: Any) -> None:
        """Calls the library, and raises what was kept, or else what the status says."""
        ours = threading.current_thread() is threading.main_thread()
        ours = ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if ours:
            signal.signal(signal.SIGINT, self._interrupted)
        try:
            status = function(*arguments)
        finally:
            if ours:
                signal.signal(signal.SIGINT, signal.default_int_handler)
        raised, self.raised = self.raised, None
        if raised is not None:
            raise raised
        check(status)


class Bar:
    """A bar that is drawn again at most ten times a second: one line in a terminal, text of the cell in a notebook."""

    def __init__(self) -> None:
        self.drawn, self.display = 0.0, self._notebook()

    @staticmethod
    def _notebook() -> Any:
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        if type(shell).__name__ != "ZMQInteractiveShell":
            return None
        from IPython.display import display

        return display("", display_id=True)

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.drawn < 0.1 and done != total:
            return
        self.drawn = now
        filled = 30 * done // total if total else 30
        line = f"{phase:<11}{'#' * filled}{'.' * (30 - filled)} {done}/{total}"
        if self.display is not None:
            self.display.update(line)
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line}" + ("\n" if phase == "committing" and done == total else ""))
            sys.stderr.flush()
