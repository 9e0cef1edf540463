"""The one seam every model family obeys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.evidence.item import ModelInput
from engine.models.record import Record


class Encoder(Protocol):
    """A loaded model.

    Attributes:
        model_id: the card's id.
        fingerprint: hex digest over model id, revision, weights hash, adapter hash, every setting
            that changes a vector, and the library version. Two encoders with equal fingerprints
            give equal vectors.
        dim: length of a vector (D).
        max_slices: most slices of a volume the model takes.
        notes: sentences about choices made at load (device, dtype, end-of-text probe, ...).
        record: the same as plain values, written into every result.
        shortened: for each item of the last call of ``encode``, whether its text was cut.
    """

    model_id: str
    fingerprint: str
    dim: int
    max_slices: int
    notes: tuple[str, ...]
    record: Record
    shortened: tuple[bool, ...]

    def cost(self, item: ModelInput) -> int:
        """Estimate the item's length in tokens, to batch like with like."""
        ...

    def same(self, item: ModelInput) -> tuple[str, bool] | None:
        """A name shared by items that the model cannot tell apart, and whether this one is cut.

        Texts cut to the same tokens are one input. Encoded in two batches they would differ in the
        last digits, and a tie would be decided by noise; one vector serves them all. None where
        it is not known.
        """
        ...

    def encode(self, batch: Sequence[ModelInput]) -> NDArray[np.float32]:
        """Embed a batch.

        Returns:
            float32 array [B, D] of unit-norm rows, in the order of the batch.

        Raises:
            ItemRefused: an item cannot be embedded; the message says which and why.
        """
        ...
