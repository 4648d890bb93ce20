"""Devices: the CPU with some threads, or a GPU."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import threading
from typing import Any

from . import _declarations as c
from ._library import check, lib, options

CPU = -1  # in place of the number of a GPU

# Handles of devices that are gone. A table or group-by may be collected together with its device, and Python does not
# say which of them goes first: so a device is closed when the next one is opened, and at the end of the program not at
# all.
_retired: list[Any] = []
_ending = [False]
atexit.register(_ending.append, True)


def _close_retired() -> None:
    for _ in range(len(_retired)):
        with contextlib.suppress(IndexError):  # another thread may have been here
            lib.heddle_device_close(_retired.pop())


class Device:
    """A device by name: "auto", "cpu", "cpu:4" (four threads), "cuda" or "cuda:1"."""

    def __init__(self, name: str = "auto"):
        _close_retired()
        handle = ctypes.c_void_p()
        self.handle: Any = None
        check(lib.heddle_device_open(name.encode(), ctypes.byref(handle)))
        self.handle = handle.value
        self.info = self._info()
        self.is_cuda = self.info.kind == c.DEVICE_CUDA
        self.index = self.info.index if self.is_cuda else CPU

    def _info(self) -> Any:
        info = options(c.DeviceInfo)
        check(lib.heddle_device_get_info(self.handle, ctypes.byref(info)))
        return info

    @property
    def name(self) -> str:
        """The name that opens this device again."""
        return f"cuda:{self.index}" if self.is_cuda else f"cpu:{self.info.threads}"

    @property
    def memory_free(self) -> int:
        return int(self._info().memory_free)

    def trim(self) -> None:
        """Frees the scratch memory that the device keeps for the next call."""
        check(lib.heddle_device_trim(self.handle))

    def synchronize(self, stream: int | None = None) -> None:
        """Waits until all work queued on `stream` (None: the device's own) is done."""
        check(lib.heddle_device_synchronize(self.handle, stream))

    def __repr__(self) -> str:
        hardware = self.info.name.decode(errors="replace")
        return f"<heddle.Device {self.name}: {hardware}, {self.info.features.decode(errors='replace')}>"

    def __del__(self, ending: list[bool] = _ending, retired: list[Any] = _retired) -> None:
        handle, self.handle = getattr(self, "handle", None), None
        if handle is not None and not ending[-1]:
            lib.heddle_device_trim(handle)
            retired.append(handle)


_opened: dict[str, Device] = {}
_homes: dict[int, Device] = {}  # by the number of a GPU, or CPU
_lock = threading.Lock()


def _open(name: str) -> Device:
    with _lock:
        if name not in _opened:
            _opened[name] = Device(name)
        return _opened[name]


def home(index: int) -> Device:
    """The device in whose memory an array lies."""
    device = _homes.get(index)
    if device is None:
        device = _homes[index] = _open("cpu" if index == CPU else f"cuda:{index}")
    return device


def device_of(wanted: Device | str | None, index: int) -> Device:
    """The device for a call: the one that was asked for, or, with None or "auto", where its arrays lie."""
    if wanted is None or wanted == "auto":
        return _homes.get(index) or home(index)
    device = wanted if isinstance(wanted, Device) else _opened.get(wanted) or _open(wanted)
    if index not in (CPU, device.index):
        raise ValueError(
            f"the array lies on cuda:{index} and the work is to be done on {device.name}: "
            "move the array there first, or leave device away"
        )
    return device


def trim() -> None:
    """Frees the scratch memory that the devices of this module's functions keep for their next call."""
    _close_retired()
    for device in list(_opened.values()):
        device.trim()


def cuda_device_count() -> int:
    """How many GPUs this process could use; 0 without a driver, or without the CUDA engine."""
    return int(lib.heddle_cuda_device_count())
