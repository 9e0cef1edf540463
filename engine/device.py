"""Where a model computes, in which number format, with which attention, and why, in words.

Never falls back in silence: a device asked for and absent is a ``DeviceError`` with the way out.
Torch is imported when a choice is made, by name, so that windows may import this module.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.errors import DeviceError, EngineMissing

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32", "bfloat16", "float16")
HALVES = ("bfloat16", "float16")
FLASH, SDPA, EAGER = "flash_attention_2", "sdpa", "eager"
ATTENTIONS = (FLASH, SDPA, EAGER)  # the faster first
FLASH_PACKAGE = "flash_attn"
AMPERE = 8  # CUDA compute capability from which bfloat16 and flash attention are in the hardware
MACOS_BFLOAT16 = (14, 0)
_SHORT = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
INSTALL = 'pip install "triptych[engine]"'


@dataclass(frozen=True)
class Choice:
    """A device, a number format and an attention.

    Attributes:
        device: torch's word, for example ``cuda:0``.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        reason: sentences for a person.
        attention: transformers' word for the implementation of attention.
    """

    device: str
    dtype: str
    reason: str
    attention: str = SDPA


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
    """Choose where and how to compute.

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
    attention, with_what = choose_attention(torch, device, chosen)
    return Choice(device, chosen, f"{why} {because} {with_what}", attention)


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
    if asked != "auto":
        if refused := format_refused(torch, device, asked):
            raise DeviceError(f"{refused} Use --dtype float32.")
        return asked, f"Numbers are {asked}, as asked{_remark(torch, device, asked)}."
    if not device.startswith("cuda"):
        return "float32", "Numbers are float32, the exact choice off CUDA."
    if format_refused(torch, device, prefer):
        return "float32", f"Numbers are float32: this card has no {prefer}."
    return prefer, f"Numbers are {prefer}, the model's own choice on CUDA."


def format_refused(torch: Any, device: str, dtype: str) -> str:
    """Why a number format is not sound on a device, empty if it is.

    Emulated bfloat16 (cards before compute capability 8) counts as absent: it is slower than
    float32 and rounds elsewhere. On float16 a processor's kernels are incomplete.
    """
    kind = device.partition(":")[0]
    if dtype == "float16" and kind == "cpu":
        return "float16 is not exact enough on a processor."
    if dtype != "bfloat16" or kind == "cpu":
        return ""
    if kind == "mps":
        newer = torch.backends.mps.is_macos_or_newer(*MACOS_BFLOAT16)
        return "" if newer else f"bfloat16 on MPS needs macOS {MACOS_BFLOAT16[0]} or newer."
    native = bool(torch.version.hip) or capability(torch, device) >= (AMPERE, 0)
    return "" if native else "This graphics card has no bfloat16."


def capability(torch: Any, device: str) -> tuple[int, int]:
    """The compute capability of a CUDA device, (0, 0) for others."""
    kind, _, number = device.partition(":")
    if kind != "cuda":
        return 0, 0
    major, minor = torch.cuda.get_device_capability(int(number or 0))
    return int(major), int(minor)


def _remark(torch: Any, device: str, dtype: str) -> str:
    """What a person should know about a half-precision format that was asked for."""
    if dtype == "float16":
        return "; values beyond 65504 do not fit, and a vector that is not finite is refused"
    if dtype == "float32" or device.startswith("cuda"):
        return ""
    if device == "cpu" and not _cpu_has_bfloat16(torch):
        return "; this processor has no instructions for them, so it is slower than float32"
    return "; half the memory of float32, vectors differ from its in the third digit"


def _cpu_has_bfloat16(torch: Any) -> bool:
    try:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    except (AttributeError, RuntimeError):  # built without it: Macs, ARM
        return False


def choose_attention(torch: Any, device: str, dtype: str) -> tuple[str, str]:
    """The implementation of attention that is installed and fits, and why in a sentence.

    ``flash_attention_2`` needs its package, a CUDA device from compute capability 8 and a half
    precision format; else torch's ``sdpa``; ``eager`` where torch is too old for that.
    """
    against = _against_flash(torch, device, dtype)
    if against is None:
        return FLASH, f"Attention is {FLASH}, which is installed."
    if hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        return SDPA, f"Attention is torch's own ({SDPA}){against}."
    return EAGER, f"Attention is written out ({EAGER}): this torch has no {SDPA}{against}."


def _against_flash(torch: Any, device: str, dtype: str) -> str | None:
    """What speaks against flash attention, None if nothing; words only where there is CUDA."""
    if not device.startswith("cuda"):
        return ""
    if dtype not in HALVES:
        return f"; {FLASH} needs half precision"
    if capability(torch, device) < (AMPERE, 0):
        return f"; this card is too old for {FLASH}"
    if importlib.util.find_spec(FLASH_PACKAGE) is None:
        return f"; {FLASH_PACKAGE} is not installed"
    try:
        importlib.import_module(FLASH_PACKAGE)
    except (ImportError, OSError) as error:  # built against another torch
        first = str(error).split("\n")[0]
        return f"; {FLASH_PACKAGE} is installed and cannot be loaded ({first})"
    return None


def fall_back(choice: Choice, allowed: Sequence[str]) -> Choice:
    """The same choice with an attention that a model takes, said in its reason.

    Args:
        choice: what this machine would use.
        allowed: what the model takes, of ``ATTENTIONS``.
    """
    if choice.attention in allowed:
        return choice
    taken = next((one for one in ATTENTIONS if one in allowed), EAGER)
    told = f"This model does not take {choice.attention}; its attention is {taken}."
    return replace(choice, attention=taken, reason=f"{choice.reason} {told}")
