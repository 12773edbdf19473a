"""What a torch tensor holds."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from . import _sonde
from ._tfdbg import DTYPES, Stats, stats_of

# As the native module counts them: its name of the type, and the format's.
ELEMENTS = {
    torch.float32: (0, DTYPES["float32"]),
    torch.float64: (1, DTYPES["float64"]),
    torch.float16: (2, DTYPES["float16"]),
    torch.bfloat16: (3, DTYPES["bfloat16"]),
}
PLAIN = (torch.Tensor, torch.nn.Parameter)  # subclasses may hold no memory of their own


def tensor_stats(tensor: torch.Tensor, histogram: bool = False) -> Stats | None:
    """What a tensor holds. One native pass in main memory; on a device one reduction and one small copy."""
    if not tensor.is_floating_point() or tensor.is_sparse or tensor.numel() == 0:
        return None
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        return device_stats(tensor)
    if tensor.dtype not in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        tensor = tensor.float()
    try:
        return stats_of(tensor if tensor.is_contiguous() else tensor.contiguous(), histogram)
    except (BufferError, RuntimeError, TypeError):
        return None  # fake, meta and subclass tensors hold no values


def device_stats(tensor: torch.Tensor) -> Stats:
    """The same by torch's own operations, for tensors that are not in main memory."""
    wide = tensor.double() if tensor.dtype == torch.float64 else tensor.float()
    finite = torch.isfinite(wide)
    kept = torch.where(finite, wide, torch.zeros_like(wide))
    size = kept.abs()
    count = finite.sum().clamp(min=1)
    low = torch.where(finite, wide, torch.full_like(wide, float("inf"))).amin()
    high = torch.where(finite, wide, torch.full_like(wide, float("-inf"))).amax()
    numbers = torch.stack(
        [
            x.double()
            for x in (
                torch.isneginf(wide).sum(),
                torch.isposinf(wide).sum(),
                torch.isnan(wide).sum(),
                (kept < 0).sum(),
                (finite & (kept == 0)).sum(),
                (kept > 0).sum(),
                (kept.double().pow(2).sum() / count).sqrt(),
                low,
                high,
                kept.double().sum() / count,
                ((size > 0) & (size < torch.finfo(torch.float32).tiny)).sum(),
                (size > 65504).sum(),
                (size > 3.38953139e38).sum(),
                (size > 448).sum(),
            )
        ]
    ).tolist()
    total = float(wide.numel())
    nothing = numbers[5] + numbers[4] + numbers[3] == 0
    some = [float("nan")] * 4 if nothing else numbers[6:10]
    return Stats((total, *numbers[:6], *some, *(n / total for n in numbers[10:]), []))


def is_bad(tensor: Any) -> bool:
    """Cheap: one look at each value; on a device one sum, and only a sum that is not finite is looked at again."""
    if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point() or tensor.numel() == 0:
        return False
    element = ELEMENTS.get(tensor.dtype)
    if element and type(tensor) in PLAIN and tensor.is_cpu and tensor.is_contiguous():
        try:
            return _sonde.has_bad(tensor.data_ptr(), tensor.numel(), element[0])
        except RuntimeError:
            return False  # inside torch.func: a wrapper without memory
    tensor = tensor.detach()
    with torch.no_grad():
        total = float(tensor.sum() if tensor.dtype != torch.float16 else tensor.float().sum())
        return not (-_MOST < total < _MOST) and not bool(torch.isfinite(tensor).all())


_MOST = float("inf")


def any_bad(tree: Any) -> bool:
    """Of what a step gives back: tensors and numbers, in lists and dictionaries."""
    for leaf in (tree,) if isinstance(tree, (torch.Tensor, float)) else tree_leaves(tree):
        if is_bad(leaf) or (isinstance(leaf, float) and not (-_MOST < leaf < _MOST)):
            return True
    return False
