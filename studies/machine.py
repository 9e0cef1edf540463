"""The job behind "this machine": devices with memory, sound number formats, attention, libraries.

Loads no model. Runs in the worker, since only there may torch be imported.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from db.home import Home
from engine.control import Control
from engine.device import (
    DTYPES,
    choose_attention,
    choose_device,
    format_refused,
    import_torch,
)
from engine.errors import EngineMissing
from engine.hardware import device_memory, system_memory

LIBRARIES = ("torch", "torchvision", "transformers", "safetensors", "flash-attn", "huggingface-hub")
FORMATS = DTYPES[1:]


def machine_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Look at this machine; memory is that of the moment.

    Returns:
        ``devices``: a list with ``device``, ``name``, ``memory_total`` and ``memory_free`` in
        bytes (None where the system does not say), ``formats`` (number format to why it is not
        sound, empty if it is), ``dtype`` (chosen for ``auto`` where a model prefers bfloat16),
        ``attention`` and ``attention_why`` for that format; ``chosen``: the device of ``auto``;
        ``reason``; ``libraries``: name to version, None where one is not installed; ``problem``:
        why no device can be used, empty if one can.
    """
    libraries = {name: _version(name) for name in LIBRARIES}
    try:
        torch = import_torch()
    except EngineMissing as error:
        return {"devices": [], "chosen": "", "reason": "", "libraries": libraries,
                "problem": str(error)}  # fmt: skip
    choice = choose_device()
    return {
        "devices": [device_facts(torch, device) for device in device_names(torch)],
        "chosen": choice.device,
        "reason": choice.reason,
        "libraries": libraries,
        "problem": "",
    }


def device_names(torch: Any) -> list[str]:
    """Every device of this machine in torch's words, the fastest kind first."""
    cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    mac = ["mps"] if torch.backends.mps.is_available() else []
    return [*(f"cuda:{number}" for number in range(cards)), *mac, "cpu"]


def device_facts(torch: Any, device: str) -> dict[str, Any]:
    """One device as plain values, see ``machine_job``."""
    memory = device_memory(torch, device)
    dtype = choose_device(device).dtype
    attention, why = choose_attention(torch, device, dtype)
    return {
        "device": device,
        "name": _name(torch, device),
        "memory_total": None if memory is None else memory.total,
        "memory_free": None if memory is None else memory.free,
        "formats": {name: format_refused(torch, device, name) for name in FORMATS},
        "dtype": dtype,
        "attention": attention,
        "attention_why": why,
    }


def _name(torch: Any, device: str) -> str:
    kind, _, number = device.partition(":")
    if kind == "cuda":
        return str(torch.cuda.get_device_name(int(number)))
    return "Graphics processor of this Mac" if kind == "mps" else "Processor"


def processor_alone() -> dict[str, Any]:
    """What is known of this machine without torch: the processor and its memory."""
    memory = system_memory()
    return {
        "device": "cpu",
        "name": "Processor",
        "memory_total": None if memory is None else memory.total,
        "memory_free": None if memory is None else memory.free,
        "formats": {"float32": "", "bfloat16": "", "float16": "not sound on a processor"},
        "dtype": "float32",
        "attention": "",
        "attention_why": "",
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
