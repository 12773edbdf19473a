"""Whatever a framework hands over, as a NumPy array, importing nothing that was not imported already."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def is_torch(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def make_np(x: Any) -> np.ndarray:
    """torch's rules: arrays as they are, numbers and strings as [x], tensors detached and on the CPU."""
    import numpy as np

    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    if is_torch(x):
        import torch

        if x.device.type == "meta":
            return np.full(1, np.nan)
        if x.dtype == torch.bfloat16:
            x = x.to(torch.float16)
        return x.detach().cpu().numpy()
    if hasattr(x, "__array__"):  # JAX, TensorFlow, PIL ...
        return np.asarray(x)
    raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")


def as_array(x: Any) -> np.ndarray:
    """For APIs that also take lists."""
    import numpy as np

    if is_torch(x):
        return make_np(x)
    try:
        out = np.asarray(x)
    except ValueError:  # a TensorFlow scalar of bfloat16 hands over a number, not an array
        if not hasattr(x, "numpy"):
            raise
        out = np.asarray(x.numpy())
    if out.dtype.name == "bfloat16":
        out = out.astype(np.float32)
    return out


def native(x: np.ndarray) -> np.ndarray:
    """An array C++ can read in place: dense, native byte order."""
    import numpy as np

    x = np.ascontiguousarray(x) if x.ndim else np.array(x)
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def to_step(step: Any) -> int:
    """int(step) as protobuf takes it: None is 0, what does not fit 64 bits is a ValueError."""
    if step is None:
        return 0
    value = int(step)
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"Value out of range: {value}")
    return value
