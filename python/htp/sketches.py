"""Sketches of parameters, as include/HTP/Weights/Sketch.h defines them: signs of projections of each row.

With sketches, a trace can identify its parameters in other forms of the model: rounded, quantized, packed.
"""

from __future__ import annotations

import functools

import numpy as np
import torch

_LEAST_BITS, _MOST_ROWS = 128, 1024
_AT_ONCE = 1 << 22  # elements per step, to avoid a second copy of a large weight


@functools.lru_cache(maxsize=8)
def _signs(columns: int, seeds: int) -> torch.Tensor:
    """+1 or -1 for each of the first half of the columns, and each seed."""
    groups = []
    for group in range((seeds + 63) // 64):
        x = np.arange(columns // 2, dtype=np.uint64) + np.uint64(group << 32)
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
        count = min(64, seeds - 64 * group)
        bits = x[:, None] >> np.arange(count, dtype=np.uint64) & np.uint64(1)
        groups.append(1.0 - 2.0 * bits.astype(np.float32))
    return torch.from_numpy(np.concatenate(groups, axis=1))


def _digits(bits: torch.Tensor) -> str:
    count = (bits.numel() + 3) // 4
    return np.packbits(bits.numpy()).tobytes().hex()[:count]


def sketch(tensor: torch.Tensor) -> str:
    """The sketch of a tensor as in trace.json; empty if it has none, because its elements are not floats, its
    contents are not available, or it is constant."""
    if not tensor.is_floating_point() or tensor.layout is not torch.strided:
        return ""
    if tensor.device.type == "meta" or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return ""
    if not tensor.numel() or any(s == 0 < n - 1 for s, n in zip(tensor.stride(), tensor.shape)):
        return ""  # expanded from fewer elements: a model without weights
    sizes = [size for size in tensor.shape if size != 1]
    if not sizes:
        return ""
    rows = sizes[0] if len(sizes) > 1 else 1
    columns = tensor.numel() // rows
    stride = -(-rows // _MOST_ROWS)
    with torch.no_grad(), np.errstate(over="ignore"):
        matrix = tensor.detach().reshape(rows, columns)[::stride]
        seeds = -(-_LEAST_BITS // len(matrix))
        signs, half = _signs(columns, seeds), columns // 2
        sums = []
        for part in matrix.split(max(1, _AT_ONCE // columns)):
            values = part.to("cpu", torch.float32)
            sums.append((values[:, :half] - values[:, half : 2 * half]) @ signs)
        sum_ = torch.cat(sums).T.reshape(-1)
    known = torch.isfinite(sum_) & (sum_ != 0)
    if not known.any():
        return ""
    text = "1:" + _digits((sum_ > 0) & known)
    return text if known.all() else text + ":" + _digits(known)
