"""Exceptions: one for each kind of failure that the library reports, all of them a HeddleError."""

from typing import Any

from . import _declarations as c


class HeddleError(Exception):
    """A call of the library failed; the text is the library's own sentence. `status` is its number."""

    status = 0


class HeddleInvalid(HeddleError, ValueError):
    """An argument is wrong. Nothing was changed."""

    status = c.ERROR_INVALID


class HeddleUnsupported(HeddleError, NotImplementedError):
    """No compiled table, or no version of this library, does it."""

    status = c.ERROR_UNSUPPORTED


class HeddleTooSmall(HeddleError, ValueError):
    """An output array has too little room."""

    status = c.ERROR_TOO_SMALL


class HeddleCancelled(HeddleError):
    """The progress function ended the call. Nothing was changed."""

    status = c.ERROR_CANCELLED


class HeddleNoMemory(HeddleError, MemoryError):
    """Host or device memory ran out. Nothing is lost."""

    status = c.ERROR_NO_MEMORY


class HeddleFull(HeddleError):
    """Some keys did not fit into a fixed table; the others are in it.

    `rows` are the places in the batch of the keys that did not fit, `keys` the keys themselves, `count` their number.
    """

    status = c.ERROR_FULL

    def __init__(self, message: str, rows: Any = None, keys: Any = None, count: int = 0):
        super().__init__(message)
        self.rows = rows
        self.keys = keys
        self.count = count


class HeddleNoDevice(HeddleError):
    """The named device is not there."""

    status = c.ERROR_NO_DEVICE


class HeddleDeviceError(HeddleError, RuntimeError):
    """The device's runtime reported an error."""

    status = c.ERROR_DEVICE


class HeddlePeerError(HeddleError, RuntimeError):
    """Another member of a cluster did not answer; the cluster is lost."""

    status = c.ERROR_PEER


class HeddleIOError(HeddleError, OSError):
    """A file could not be read or written."""

    status = c.ERROR_IO


class HeddleFormatError(HeddleError, ValueError):
    """A file is not what it should be, or it is damaged."""

    status = c.ERROR_FORMAT


class HeddleCorrupt(HeddleError, RuntimeError):
    """A check found a broken invariant."""

    status = c.ERROR_CORRUPT


BY_STATUS: dict[int, type[HeddleError]] = {kind.status: kind for kind in HeddleError.__subclasses__()}
