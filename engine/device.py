"""Where a model computes, in which number format, and why, in words.

Never falls back in silence: a device asked for and absent is a ``DeviceError`` with the way out.
Torch is imported when a choice is made, by name, so that windows may import this module.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from engine.errors import DeviceError, EngineMissing

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32", "bfloat16", "float16")
_SHORT = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
INSTALL = 'pip install "triptych[engine]"'


@dataclass(frozen=True)
class Choice:
    """A device and a number format.

    Attributes:
        device: torch's word, for example ``cuda:0``.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        reason: one or two sentences for a person.
        attention: transformers' word for the implementation of attention.
    """

    device: str
    dtype: str
    reason: str
    attention: str = "sdpa"


def import_torch() -> Any:
    """The torch module.

    Raises:
        EngineMissing: it is not installed.
    """
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise EngineMissing(
            f"Computing vectors needs torch, which is not installed here. Run: {INSTALL}"
        ) from error


def choose_device(asked: str = "auto", *, dtype: str = "auto", prefer: str = "bfloat16") -> Choice:
    """Choose where to compute.

    Args:
        asked: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        dtype: ``auto`` or a number format; ``fp32``, ``bf16`` and ``fp16`` are understood.
        prefer: the model's own format on a graphics card, used for ``auto``.

    Raises:
        DeviceError: what was asked for cannot be had here.
        EngineMissing: torch is not installed.
    """
    torch = import_torch()
    kind, _, number = asked.lower().partition(":")
    if kind not in DEVICES or (number and (kind != "cuda" or not number.isdecimal())):
        raise DeviceError(f"There is no device {asked!r}; say one of {', '.join(DEVICES)}.")
    device, why = _auto(torch) if kind == "auto" else _named(torch, kind, number)
    chosen, because = _dtype(torch, device, _SHORT.get(dtype, dtype), prefer)
    return Choice(device=device, dtype=chosen, reason=f"{why} {because}")


def _auto(torch: Any) -> tuple[str, str]:
    if torch.cuda.is_available():
        return "cuda:0", f"Computes on {torch.cuda.get_device_name(0)}, the first CUDA device."
    if torch.backends.mps.is_available():
        return "mps", "Computes on this Mac's graphics processor (MPS)."
    return "cpu", "Computes on the processor: neither CUDA nor MPS is available here."


def _named(torch: Any, kind: str, number: str) -> tuple[str, str]:
    if kind == "cpu":
        return "cpu", "Computes on the processor, as asked."
    if kind == "mps":
        if torch.backends.mps.is_available():
            return "mps", "Computes on this Mac's graphics processor (MPS), as asked."
        raise DeviceError("MPS was asked for and is not available here. Use --device cpu.")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    index = int(number or 0)
    if count == 0:
        raise DeviceError(
            "CUDA was asked for and is not available here: no NVIDIA driver, or a torch built "
            "without CUDA. Use --device cpu, or install the driver and a CUDA build of torch."
        )
    if index >= count:
        raise DeviceError(
            f"CUDA device {index} was asked for and there are {count} (from 0). "
            f"Use --device cuda:{count - 1} or --device auto."
        )
    return f"cuda:{index}", f"Computes on {torch.cuda.get_device_name(index)}, as asked."


def _dtype(torch: Any, device: str, asked: str, prefer: str) -> tuple[str, str]:
    if asked not in DTYPES:
        raise DeviceError(f"There is no number format {asked!r}; say one of {', '.join(DTYPES)}.")
    half_is_native = not device.startswith("cuda") or torch.cuda.is_bf16_supported()
    if asked == "bfloat16" and not half_is_native:
        raise DeviceError("This graphics card has no bfloat16. Use --dtype float32.")
    if asked == "float16" and device == "cpu":
        raise DeviceError("float16 is not exact enough on a processor. Use --dtype float32.")
    if asked != "auto":
        return asked, f"Numbers are {asked}, as asked."
    if not device.startswith("cuda"):
        return "float32", "Numbers are float32, the exact choice off CUDA."
    if prefer == "bfloat16" and not half_is_native:
        return "float32", "Numbers are float32: this card has no bfloat16."
    return prefer, f"Numbers are {prefer}, the model's own choice on CUDA."
