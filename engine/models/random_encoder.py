"""Vectors drawn at random from a seed that the content gives: the benchmark's floor.

Goes through the whole path like any model, sees everything and understands nothing. Torch-free.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.catalog import RANDOM, ModelCard
from engine.control import Control
from engine.evidence.item import ModelInput
from engine.models.record import Record
from engine.models.settings import CARD, USER, settle

DIM = 64


class RandomEncoder:
    """Unit vectors on the sphere, one per content; see ``engine.encoder.Encoder``."""

    def __init__(
        self, *, model_id: str = "random", seed: int = 1, record: Record | None = None
    ) -> None:
        self.model_id = model_id
        self.seed = seed
        self.dim = DIM
        self.max_slices = 64
        self.record = record or Record(RANDOM)
        self.shortened: tuple[bool, ...] = ()
        self.notes = ("Random vectors seeded by content; every score is chance.",)
        text = f"random-sphere-1/{model_id}/{seed}/{DIM}"
        self.fingerprint = hashlib.sha256(text.encode("utf-8")).hexdigest()

    def cost(self, item: ModelInput) -> int:
        """One token: any batch will do."""
        return 1

    def same(self, item: ModelInput) -> tuple[str, bool] | None:
        """Not known: items are told apart by their content."""
        return None

    def encode(self, batch: Sequence[ModelInput]) -> NDArray[np.float32]:
        """Embed a batch; unit rows [B, 64], float32."""
        self.shortened = (False,) * len(batch)
        return np.stack([self._vector(item) for item in batch])

    def _vector(self, item: ModelInput) -> NDArray[np.float32]:
        digest = hashlib.sha256(f"{self.seed}".encode())
        for text in (item.instruction or "", *item.texts):
            digest.update(b"T" + text.encode("utf-8", "surrogatepass") + b"\0")
        for kind, arrays in ((b"I", item.images), (b"V", item.volumes)):
            for array in arrays:
                digest.update(kind + repr(array.shape).encode())
                digest.update(np.ascontiguousarray(array).tobytes())
        seed = int.from_bytes(digest.digest()[:16], "big")
        vector = np.random.default_rng(seed).standard_normal(DIM)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


def load(
    card: ModelCard,
    weights: object = None,
    *,
    choice: object = None,
    settings: Mapping[str, object] | None = None,
    control: Control = Control(),
) -> RandomEncoder:
    """The random encoder; needs no weights and no device; ``seed`` is its only setting."""
    layers = {CARD: card.settings, USER: {**card.asked, **(settings or {})}}
    values, used = settle(RANDOM, layers, preset=card.preset)
    record = Record(RANDOM, preset=card.preset, settings=used)
    encoder = RandomEncoder(model_id=card.id, seed=values.seed, record=record)
    encoder.max_slices = values.max_slices
    return encoder
