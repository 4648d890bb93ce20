"""Whatever else has DLPack: through NumPy in host memory, through CuPy or torch on a GPU. No element is copied."""

from __future__ import annotations

import sys
from typing import Any

from ._view import View

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13


class _Handing:
    """A framework that hands its results to the one that the array came from, where that has from_dlpack."""

    def __init__(self, inner: Any, namespace: Any):
        self.inner, self.namespace = inner, namespace
        self.name = getattr(namespace, "__name__", inner.name)

    def view(self, array: Any) -> View:
        view: View = self.inner.view(array)
        view.framework = self
        return view

    def finish(self, array: Any, valid: Any = None) -> Any:
        return self.namespace.from_dlpack(array)

    plain = finish

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def view_dlpack(x: Any) -> View:
    kind, _ = x.__dlpack_device__()
    if kind in (_CPU, _CUDA_HOST):
        import numpy

        from ._numpy import view_numpy

        view = view_numpy(numpy.from_dlpack(x))
    elif kind in (_CUDA, _CUDA_MANAGED):
        view = _on_gpu(x)
    else:
        raise TypeError(f"an array on a device of DLPack's kind {kind}: Heddle works on the CPU and on CUDA devices")
    view.keep = x
    namespace = x.__array_namespace__() if hasattr(x, "__array_namespace__") else None
    if namespace is not None and hasattr(namespace, "from_dlpack"):
        view.framework = _Handing(view.framework, namespace)
    return view


def _on_gpu(x: Any) -> View:
    if "torch" in sys.modules and "cupy" not in sys.modules:
        from ._torch import view_torch

        return view_torch(sys.modules["torch"].from_dlpack(x))
    import cupy

    from ._cupy import view_cupy

    return view_cupy(cupy.from_dlpack(x))
