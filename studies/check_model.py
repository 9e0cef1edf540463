"""The job behind ``triptych models check``: embed one item per form and say what it took."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from db.home import Home
from engine.card import FORMS
from engine.catalog import find_card
from engine.control import Control
from engine.device import import_torch
from engine.encoder import Encoder
from engine.errors import EngineMissing, ItemRefused
from engine.evidence.item import ModelInput
from engine.models.load import load_encoder
from studies.places import shipped_models

SIDE = 96
SLICES = 64
FEW = 8  # slices of the mixed item
MIB = 1 << 20


def sample_inputs(*, slices: int = SLICES, seed: int = 0) -> dict[str, ModelInput]:
    """One made-up item per form: text, 2D picture, 3D volume, all of them with an instruction.

    Args:
        slices: of the volume, as many as a run would hand to the model.
        seed: of the pixels.
    """
    random = np.random.default_rng(seed)
    picture = random.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    volume = random.integers(0, 256, (slices, SIDE, SIDE, 3), dtype=np.uint8)
    question = "Is there a pleural effusion?"
    return {
        "text": ModelInput(None, ("No focal consolidation.",), (), ()),
        "2d": ModelInput(None, (), (picture,), ()),
        "3d": ModelInput(None, (), (), (volume,)),
        "mixed": ModelInput("Answer the question:", (question,), (picture,), (volume[:FEW],)),
    }


def measure(encoder: Encoder, form: str, item: ModelInput) -> dict[str, Any]:
    """Embed one item and say its length in tokens, seconds, and the vector's norm."""
    started = time.perf_counter()
    told: dict[str, Any] = {"form": form, "tokens": None, "refused": ""}
    try:
        told["tokens"] = encoder.cost(item)
        vector = encoder.encode([item])[0]
    except (ItemRefused, MemoryError) as error:
        told["refused"] = str(error) or "out of memory"
        return told | {"seconds": None, "norm": None, "finite": False, "shortened": False}
    return told | {
        "seconds": round(time.perf_counter() - started, 3),
        "norm": round(float(np.linalg.norm(vector)), 6),
        "finite": bool(np.isfinite(vector).all()),
        "shortened": any(encoder.shortened),
    }


def peak_memory_mb() -> int | None:
    """The process's peak memory in MiB; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows has no such module
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (MIB if sys.platform == "darwin" else 1024)


def _graphics_peak(device: str = "", *, reset: bool = False) -> int | None:
    """The peak of a CUDA device in MiB, None on any other; or start counting anew."""
    try:
        torch = import_torch()
    except EngineMissing:
        return None
    if not torch.cuda.is_available():
        return None
    if reset:
        for number in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(number)
        return None
    return torch.cuda.max_memory_allocated(device) // MIB if device.startswith("cuda") else None


def check_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Load ``arguments["model"]`` and embed one item of each form it takes.

    Returns:
        ``model``, ``dim``, ``fingerprint``, ``load_seconds``, ``notes``, ``record`` (see
        ``engine.models.record``), ``peak_memory_mb`` with ``peak_memory_of`` (the device, or the
        process), and ``forms``: each with ``tokens``, ``seconds``, ``norm``, ``finite``,
        ``shortened`` and, where the model refused the item, ``refused``.
    """
    card = find_card(arguments["model"], cards_dir=home.cards)
    _graphics_peak(reset=True)
    started = time.perf_counter()
    encoder = load_encoder(
        arguments["model"],
        weights_dir=home.weights,
        shipped_dir=shipped_models(),
        cards_dir=home.cards,
        device=arguments.get("device") or "auto",
        dtype=arguments.get("dtype") or "auto",
        control=control,
    )
    loaded = round(time.perf_counter() - started, 3)
    samples = sample_inputs(slices=max(1, min(SLICES, encoder.max_slices)))
    wanted = {*card.forms, "mixed"} if len(card.forms) == len(FORMS) else card.forms
    inputs = {form: item for form, item in samples.items() if form in wanted}
    forms = []
    control.begin(len(inputs), unit="forms", phase="checking")
    for form, item in inputs.items():
        control.check()
        forms.append(measure(encoder, form, item))
        control.step()
    device = encoder.record.device
    on_card = _graphics_peak(device)
    return {
        "model": encoder.model_id,
        "dim": encoder.dim,
        "fingerprint": encoder.fingerprint,
        "load_seconds": loaded,
        "notes": list(encoder.notes),
        "record": encoder.record.as_dict(),
        "forms": forms,
        "peak_memory_mb": peak_memory_mb() if on_card is None else on_card,
        "peak_memory_of": "process" if on_card is None else device,
    }
