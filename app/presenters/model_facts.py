"""What the catalogue and this machine say about each model, in words. Never loads one.

Reads files' names only; whether a device is there is known after a check in the worker.
"""

from __future__ import annotations

import os
import sys

from app.shown import ModelShown
from app.words import size
from db.home import Home
from engine.catalog import ModelCard, model_cards
from studies.places import on_disk, weights_folder

FORM_WORDS = {"2d": "2D", "3d": "3D", "text": "text"}
MEGABYTE = 1_000_000
# Weights are kept as two-byte numbers; a processor computes with four.
PROCESSOR_FACTOR = 2


def memory_mb() -> int | None:
    """The machine's memory, None where the system does not say."""
    if sys.platform == "win32":
        return _windows_memory_mb()
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MEGABYTE
    except (ValueError, OSError, AttributeError):
        return None


def _windows_memory_mb() -> int | None:
    import ctypes

    kilobytes = ctypes.c_ulonglong()
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - exists on Windows only
    found = kernel.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes))
    return int(kilobytes.value) // 1000 if found else None


def weight_bytes(card: ModelCard, home: Home) -> int:
    """Bytes of a card's weights here, else what the card says."""
    folder = weights_folder(card, home)
    here = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    return here or card.memory_mb * MEGABYTE


def models_shown(home: Home, device: str = "auto") -> tuple[ModelShown, ...]:
    """Every model, those that can be used first."""
    memory = memory_mb()
    found = [_shown(card, home, memory, device) for card in model_cards(home.cards)]
    return tuple(sorted(found, key=lambda shown: not shown.usable))


def _shown(card: ModelCard, home: Home, memory: int | None, device: str) -> ModelShown:
    here = on_disk(card, home)
    fits, told = _fit(card, memory, device)
    if card.loader is None:
        told = "no adapter in this version"
    elif not here:
        told = f"weights not on this machine; {told}"
    state = _state(card, here=here, fits=fits)
    bytes_ = weight_bytes(card, home)
    return ModelShown(
        key=card.id, title=card.title, family=card.family, licence=card.licence,
        gated=card.gated, size=size(bytes_) if bytes_ > MEGABYTE else "", dim=card.dim,
        forms=", ".join(FORM_WORDS.get(form, form) for form in card.forms), on_disk=here,
        has_adapter=card.loader is not None, demo=card.demo, note=card.note, fits=fits,
        why=told, state=state,
        revision=card.revision or "", source=card.hub_id or "",
    )  # fmt: skip


def _state(card: ModelCard, *, here: bool, fits: bool | None) -> str:
    if card.loader is None:
        return "no adapter yet"
    if not here:
        return "not on disk" if fits is not False else "too large here"
    return "may not fit" if fits is False else "ready"


def _fit(card: ModelCard, memory: int | None, device: str) -> tuple[bool | None, str]:
    """Whether a model fits, judged by memory; a graphics card is only known to the worker."""
    if not card.memory_mb or memory is None:
        return None, "ready; its size is not known"
    if device not in ("auto", "cpu"):
        return None, f"needs {size(card.memory_mb * MEGABYTE)} on {device}"
    need = card.memory_mb * PROCESSOR_FACTOR
    if need < memory * 0.8:
        return True, "fits this machine"
    asked = size(need * MEGABYTE)
    have = size(memory * MEGABYTE)
    card_need = size(card.memory_mb * MEGABYTE)
    return False, f"needs {asked} on a processor, {have} here; or a {card_need} graphics card"
