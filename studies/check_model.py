"""The job behind ``triptych models check``: embed one item per form and say what it took."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from db.home import Home
from engine.control import Control
from engine.encoder import Encoder
from engine.evidence.item import ModelInput
from engine.models.load import load_encoder
from studies.places import shipped_models

SIDE = 96
SLICES = 64


def sample_inputs(*, seed: int = 0) -> dict[str, ModelInput]:
    """One made-up item per form: text, 2D picture, 3D volume, picture with a question."""
    random = np.random.default_rng(seed)
    picture = random.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    volume = random.integers(0, 256, (SLICES, SIDE, SIDE, 3), dtype=np.uint8)
    question = "Is there a pleural effusion?"
    return {
        "text": ModelInput(None, ("No focal consolidation.",), (), ()),
        "2d": ModelInput(None, (), (picture,), ()),
        "3d": ModelInput(None, (), (), (volume,)),
        "2d with text": ModelInput("Answer the question:", (question,), (picture,), ()),
    }


def measure(encoder: Encoder, form: str, item: ModelInput) -> dict[str, Any]:
    """Embed one item and say its length in tokens, seconds, and the vector's norm."""
    started = time.perf_counter()
    vector = encoder.encode([item])[0]
    return {
        "form": form,
        "tokens": encoder.cost(item),
        "seconds": round(time.perf_counter() - started, 3),
        "norm": round(float(np.linalg.norm(vector)), 6),
        "finite": bool(np.isfinite(vector).all()),
    }


def peak_memory_mb() -> int | None:
    """The process's peak memory in MiB; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows has no such module
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1024 * 1024 if sys.platform == "darwin" else 1024)


def check_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Load ``arguments["model"]`` and embed one item of each form."""
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
    forms = []
    inputs = sample_inputs()
    control.begin(len(inputs), unit="forms", phase="checking")
    for form, item in inputs.items():
        control.check()
        forms.append(measure(encoder, form, item))
        control.step()
    return {
        "model": encoder.model_id,
        "dim": encoder.dim,
        "fingerprint": encoder.fingerprint,
        "load_seconds": loaded,
        "notes": list(encoder.notes),
        "forms": forms,
        "peak_memory_mb": peak_memory_mb(),
    }
