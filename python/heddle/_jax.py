"""JAX. Its arrays never change, so results are made as NumPy's (on a GPU as CuPy's) and handed over by DLPack."""

from __future__ import annotations

from typing import Any

import jax
import numpy

from ._numpy import NumPy, view_numpy
from ._view import View


def _handed_over(array: Any) -> Any:
    try:
        return jax.dlpack.from_dlpack(array)
    except Exception:  # what JAX does not take this way it copies: bool in some versions, for example
        return jax.numpy.asarray(array)


class Jax(NumPy):
    name = "jax"

    def view(self, array: Any) -> View:
        view = view_numpy(array)
        view.framework = self
        return view

    def finish(self, array: Any, valid: Any = None) -> Any:
        return _handed_over(array)


FRAMEWORK = Jax()


def _gpu_framework() -> Any:
    from ._cupy import CuPy, view_cupy

    class JaxByCuPy(CuPy):
        name = "jax"

        def view(self, array: Any) -> View:
            view = view_cupy(array)
            view.framework = self
            return view

        def finish(self, array: Any, valid: Any = None) -> Any:
            return _handed_over(array)

    return JaxByCuPy()


_gpu: list[Any] = []


def view_jax(x: Any) -> View:
    """JAX works ahead of the program: the view waits until the array is there."""
    array = x.block_until_ready()
    if len(array.devices()) != 1:
        raise ValueError("an array on several devices: give its parts, array.addressable_shards")
    if next(iter(array.devices())).platform == "cpu":
        view = FRAMEWORK.view(numpy.asarray(array))
    else:
        import cupy

        if not _gpu:
            _gpu.append(_gpu_framework())
        view = _gpu[0].view(cupy.from_dlpack(array))
    view.keep = x
    return view
