"""Whether a model's weights fit a device's memory, in words, before anything is loaded.

Owns the judgement and its sentences. Counts numbers from the headers of the files; reads no
weights and needs no torch.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.card import BYTES, ModelCard
from engine.hardware import Memory
from engine.weights import weight_files

FITS, TIGHT, TOO_LARGE, UNKNOWN = "fits", "tight", "too large", "unknown"
WORKING = 500_000_000  # beside the weights, for one item of a small model
SHARE = 0.15  # and this share of the weights, since larger models compute with larger arrays
HEADER_MOST = 100_000_000  # a longer header is no header
INDEX = "model.safetensors.index.json"
_NO_HEADER = (
    OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError, struct.error,
)  # fmt: skip


@dataclass(frozen=True)
class Fit:
    """A judgement.

    Attributes:
        state: ``fits``, ``tight``, ``too large`` or ``unknown``.
        need: bytes of the weights, 0 if not known.
        words: one or two sentences for a person.
    """

    state: str
    need: int
    words: str


def gigabytes(count: float) -> str:
    """Bytes as a person says them: ``34 MB``, ``16.3 GB``."""
    if count < 1e9:
        return f"{max(1, round(count / 1e6))} MB"
    return f"{count / 1e9:.1f} GB"


def weight_bytes(card: ModelCard, dtype: str, folders: Sequence[Path] = ()) -> int:
    """Memory for a model's weights in a number format; 0 if nothing is known.

    Args:
        card: of the model.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        folders: where its files lie; what they hold is counted rather than believed.
    """
    counted = sum(numbers_in(folder, family=card.family) for folder in folders)
    return counted * BYTES[dtype] if counted else card.weight_bytes(dtype)


def numbers_in(folder: Path, *, family: str = "") -> int:
    """How many numbers the safetensors of a folder hold, by their headers."""
    index = folder / INDEX
    if index.is_file():
        try:
            names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
            return sum(_numbers(folder / str(name)) for name in names)
        except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
            return 0
    return sum(_numbers(path) for path in weight_files(folder, family=family))


def _numbers(path: Path) -> int:
    """By one file's header; 0 for a file that is none."""
    try:
        with path.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > HEADER_MOST:
                return 0
            header = json.loads(stream.read(length))
        tensors = [entry for name, entry in header.items() if name != "__metadata__"]
        return sum(math.prod(entry["shape"]) for entry in tensors)
    except _NO_HEADER:
        return 0


def judge(need: int, memory: Memory | None, *, dtype: str, where: str, half: int = 0) -> Fit:
    """Hold a need against a memory.

    Args:
        need: bytes of the weights in ``dtype``; 0 if not known.
        memory: of the device, None if it does not say.
        dtype: the number format.
        where: the device in words, as the object of "on".
        half: bytes of the weights in bfloat16, where the device takes it; 0 if not.
    """
    if not need or memory is None:
        missing = "the size of the model" if not need else f"the memory of {where}"
        return Fit(UNKNOWN, need, f"Whether it fits is not known: {missing} is not told.")
    wants = f"needs {gigabytes(need)} for its weights as {dtype}"
    if need > memory.total:
        ways = _ways(memory, dtype=dtype, half=half)
        return Fit(TOO_LARGE, need, f"It {wants}; {where} has {gigabytes(memory.total)}. {ways}")
    if need + WORKING + SHARE * need > memory.free:
        told = (
            f"It {wants}; {where} has {gigabytes(memory.total)}, {gigabytes(memory.free)} of them "
            "free. That is tight: batches will be small, and a large volume may not fit."
        )
        return Fit(TIGHT, need, told)
    return Fit(FITS, need, f"It {wants}; {where} has {gigabytes(memory.free)} free.")


def _ways(memory: Memory, *, dtype: str, half: int) -> str:
    """What to do about a model that cannot fit."""
    ways = ["a smaller model", "another device"]
    if dtype == "float32" and 0 < half <= memory.total:
        ways.insert(0, f"--dtype bfloat16 ({gigabytes(half)})")
    return f"Use {', '.join(ways[:-1])} or {ways[-1]}."
