"""Bloom filters: "was this key added?", answered with "no" or "probably"."""

from __future__ import annotations

import os
import tempfile
from ctypes import byref, c_uint64, c_void_p
from typing import Any

from . import _declarations as c
from ._device import CPU, Device, device_of
from ._dtypes import DType
from ._keys import of_dtype, table_keys
from ._library import check, lib, options
from ._view import View, view
from ._words import Alone, Gate, dtype_of, fields_of

Array = Any


class BloomFilter:
    """A filter for `capacity` keys: `f.add(keys)`, `f.contains(keys)`, `f.select(keys)`.

    A key that was added is always found; one that was not is found once in about 760 times with 16
    `bits_per_key`. It does not grow. Filters made with the same options and `seed` can be united: `f |= g`.
    """

    def __init__(
        self,
        capacity: int,
        *,
        key_dtype: Any = "int64",
        bits_per_key: float = 0,
        hashes: int = 0,
        seed: int = 0,
        device: Device | str | None = None,
    ):
        wanted = options(
            c.FilterOptions,
            hashes=hashes,
            capacity=capacity,
            bits_per_key=bits_per_key,
            seed=seed,
            key_bits=64 if dtype_of(key_dtype)[0].width == 8 else 32,
        )
        handle, place = c_void_p(), device_of(device, CPU)
        check(lib.heddle_filter_create(place.handle, byref(wanted), byref(handle)))
        self._own(handle.value, place, dtype_of(key_dtype)[0])

    def _own(self, handle: Any, device: Device, key: DType) -> None:
        self._handle, self.device, self._key = handle, device, key
        self._read = Gate()
        self._write = Alone(self._read)

    def _keys(self, keys: Any) -> View:
        if self._handle is None:
            raise ValueError("the filter is closed")
        v = of_dtype(keys, None, self._key) if isinstance(keys, (list, tuple, range, int, float)) else view(keys)
        if v.dtype.name != self._key.name:
            raise TypeError(f"the keys are of the type {v.dtype}, those of the filter {self._key}: convert them first")
        return table_keys(v)

    def add(self, keys: Any) -> None:
        """Adds keys."""
        v = self._keys(keys)
        with self._read:  # the library lets adds and lookups run at the same time
            check(lib.heddle_filter_add(self._handle, v.address, v.size, v.stream))

    def contains(self, keys: Any) -> Array:
        """Of every key whether it may have been added."""
        v = self._keys(keys)
        framework = v.framework
        found = framework.empty(v.size, framework.natives["bool"], v)
        with self._read:
            check(lib.heddle_filter_contains(self._handle, v.address, v.size, framework.address(found), None, v.stream))
        return framework.plain(framework.shaped(found, v.shape))

    def __contains__(self, key: Any) -> bool:
        return bool(self.contains([key])[0])

    def select(self, keys: Any) -> Array:
        """The places of the keys that may have been added, ascending: those that are worth a search elsewhere."""
        v, count = self._keys(keys), c_uint64()
        framework = v.framework
        rows = framework.empty(v.size, framework.natives["int64"], v)
        with self._read:
            check(
                lib.heddle_filter_select(
                    self._handle, v.address, v.size, None, framework.address(rows), byref(count), v.stream
                )
            )
        return framework.plain(rows[: count.value])

    def __ior__(self, other: BloomFilter) -> BloomFilter:
        with self._read, other._read:
            check(lib.heddle_filter_merge(self._handle, other._handle, None))
        return self

    def clear(self) -> None:
        """Forgets all keys."""
        with self._write:
            check(lib.heddle_filter_clear(self._handle, None))

    def stats(self) -> dict[str, Any]:
        """bits, bits_set, keys_added, and the expected and found rates of false positives."""
        stats = options(c.FilterStats)
        with self._write:
            check(lib.heddle_filter_get_stats(self._handle, byref(stats), None))
        return fields_of(stats)

    def validate(self) -> None:
        """Looks for bits that no key can have set."""
        with self._write:
            check(lib.heddle_filter_validate(self._handle, None))

    def save(self, path: Any) -> None:
        """Writes the filter to a file that any device loads."""
        with self._write:
            check(lib.heddle_filter_save(self._handle, os.fsencode(path), None))

    @classmethod
    def load(cls, path: Any, *, key_dtype: Any = None, device: Device | str | None = None) -> BloomFilter:
        """The filter in a file, on the CPU unless told. Keys are int64 or int32 unless told."""
        place, handle, told = device_of(device, CPU), c_void_p(), options(c.FilterOptions)
        check(lib.heddle_filter_load(place.handle, os.fsencode(path), byref(handle)))
        made = cls.__new__(cls)
        check(lib.heddle_filter_get_options(handle, byref(told)))
        made._own(handle.value, place, dtype_of(key_dtype or f"int{told.key_bits}")[0])
        if (64 if made._key.width == 8 else 32) != told.key_bits:
            raise ValueError(f"key_dtype is {made._key}, and the file has {told.key_bits} bits")
        return made

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "filter")
            self.save(path)
            with open(path, "rb") as file:
                return _unpickled, (file.read(), self._key.name)

    def __repr__(self) -> str:
        if self._handle is None:
            return "<heddle.BloomFilter, closed>"
        stats = self.stats()
        return (
            f"<heddle.BloomFilter {self._key}: {stats['keys_added']} keys added, {stats['bits']} bits, "
            f"{100 * stats['rate_found']:.3g} % false positives, {self.device.name}>"
        )

    def close(self) -> None:
        """Frees the memory. Afterwards the filter cannot be used."""
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            lib.heddle_filter_destroy(handle)

    def __del__(self) -> None:
        if lib is not None:
            self.close()

    def __enter__(self) -> BloomFilter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _unpickled(content: bytes, key: str) -> BloomFilter:
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "filter")
        with open(path, "wb") as file:
            file.write(content)
        return BloomFilter.load(path, key_dtype=key)
