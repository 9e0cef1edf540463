"""Weights of tiny checkpoints that are the same on every machine and under every torch.

Owns ``fill``, which writes every parameter by its name from numpy, and ``digest_of``, by which a
recorded golden knows the checkpoint it belongs to.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

SPREAD = 0.08


def values(name: str, shape: Iterable[int], seed: int, *, spread: float = SPREAD) -> NDArray:
    """Numbers for one parameter, float32: evenly spread around 0, or around 1 for a norm's weight.

    Only additions and multiplications touch the generator's bits, so that no mathematics library
    can change a digit.
    """
    rng = np.random.default_rng([seed, zlib.crc32(name.encode("utf-8"))])
    numbers = (np.asarray(rng.random(tuple(shape))) * 2 - 1) * spread * 3**0.5
    return (numbers + _middle(name, numbers.ndim)).astype(np.float32)


def _middle(name: str, axes: int) -> float:
    weight = name.endswith("weight") and axes == 1
    return 1.0 if weight else 0.0


def fill(model: torch.nn.Module, seed: int, *, spread: float = SPREAD) -> torch.nn.Module:
    """Write every parameter of a model by its name, in place.

    Args:
        model: any module; tied parameters are written once, under their first name.
        seed: another one gives another checkpoint.
        spread: standard deviation of the numbers.

    Returns:
        The same model.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            numbers = values(name, parameter.shape, seed, spread=spread)
            parameter.copy_(torch.from_numpy(np.array(numbers)).to(parameter.dtype))
    return model


def digest_of(folder: Path, *, also: Iterable[str] = ()) -> str:
    """Hex digest (16 letters) over the tensors of a folder, by name, shape, type and bytes.

    The container's own header stays out, since it differs between versions of the library.

    Args:
        folder: searched with all that is below it for ``*.safetensors``.
        also: further files, taken byte by byte (a vocabulary, a SentencePiece model).
    """
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*.safetensors"), key=lambda one: one.name):
        for name, tensor in sorted(load_file(path).items()):
            whole.update(f"{name}:{tuple(tensor.shape)}:{tensor.dtype}\n".encode())
            whole.update(tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes())
    for name in also:
        whole.update(name.encode("utf-8") + (folder / name).read_bytes())
    return whole.hexdigest()[:16]
