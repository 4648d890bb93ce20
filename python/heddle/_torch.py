"""PyTorch, on the CPU and on GPUs."""

from __future__ import annotations

from typing import Any

import torch

from ._dtypes import DTYPES, DType
from ._view import View, refuse_dtype, refuse_layout

LEGACY_STREAM = 1  # the handle of CUDA's default stream, for which torch says 0

KNOWN: dict[Any, DType] = {getattr(torch, name): kind for name, kind in DTYPES.items() if hasattr(torch, name)}


class Torch:
    """Makes tensors, on the device of the tensors that were given."""

    name = "torch"
    # Older versions lack most unsigned types: these numbers are then signed ones of the same width.
    natives: dict[str, Any] = {
        name: getattr(torch, name, getattr(torch, name.removeprefix("u"), None)) for name in DTYPES
    }

    def view(self, array: Any) -> View:
        return view_torch(array)

    def empty(self, n: int, native: Any, like: View) -> Any:
        return torch.empty(n, dtype=native, device=like.array.device)

    def full(self, n: int, value: Any, native: Any, like: View) -> Any:
        return torch.full((n,), value, dtype=native, device=like.array.device)

    def address(self, array: Any) -> int:
        return int(array.data_ptr())

    def finish(self, array: Any, valid: Any = None) -> Any:
        return array

    plain = finish

    def shaped(self, array: Any, shape: tuple[int, ...]) -> Any:
        return array if len(shape) == 1 else array.reshape(tuple(shape))

    def order(self, array: Any) -> Any:
        return self.argsort(array)

    def argsort(self, array: Any) -> Any:
        if array.dtype == torch.bool:
            array = array.to(torch.uint8)
        return torch.sort(array, stable=True)[1]

    def take(self, array: Any, rows: Any) -> Any:
        return array[rows]

    def cast(self, array: Any, native: Any) -> Any:
        return array.to(native)

    def reinterpret(self, array: Any, native: Any) -> Any:
        return array.view(native)

    def concat(self, arrays: Any) -> Any:
        return torch.cat(arrays)

    def arange(self, begin: int, end: int, native: Any, like: View) -> Any:
        return torch.arange(begin, end, dtype=native, device=like.array.device)

    def cumsum(self, array: Any) -> Any:
        return torch.cumsum(array, 0)

    def nonzero(self, flags: Any) -> Any:
        return torch.nonzero(flags, as_tuple=True)[0]

    def where(self, flags: Any, yes: Any, no: Any) -> Any:
        return torch.where(flags, yes, no)

    def canonical(self, array: Any) -> Any:
        """A copy in which every zero is 0.0 and every NaN the same."""
        return torch.where(array != array, torch.full_like(array, float("nan")), array + 0.0)

    def negate(self, flags: Any) -> None:
        flags.logical_not_()


FRAMEWORK = Torch()


def view_torch(tensor: Any) -> View:
    dtype = KNOWN.get(tensor.dtype)
    if dtype is None:
        raise refuse_dtype(tensor.dtype)
    if tensor.layout != torch.strided or not tensor.is_contiguous():
        raise refuse_layout("tensor.contiguous()")
    if not tensor.is_cuda:
        if tensor.device.type != "cpu":
            raise TypeError(f"a tensor on {tensor.device}: Heddle works on the CPU and on CUDA devices; move it there")
        return View(FRAMEWORK, tensor, tensor.data_ptr(), tensor.numel(), dtype, tensor.dtype)
    index = tensor.get_device()
    stream = torch.cuda.current_stream(index).cuda_stream or LEGACY_STREAM
    return View(FRAMEWORK, tensor, tensor.data_ptr(), tensor.numel(), dtype, tensor.dtype, index, stream)
