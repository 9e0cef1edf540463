"""Decoded items kept for the next model of the same run, up to a bound of bytes.

Several models see the same pictures; decoding sixty-four slices again for each costs more than a
small model's work on them. What does not fit is decoded again: a repeated scan over more than the
bound gains nothing from throwing out, so the first stay.
"""

from __future__ import annotations

from engine.evidence.item import ModelInput

LIMIT_BYTES = 512_000_000


class PixelMemory:
    """Prepared items by (digest, most slices).

    Args:
        limit: most bytes of pixels held.
    """

    def __init__(self, limit: int = LIMIT_BYTES) -> None:
        self._limit = limit
        self._held = 0
        self._items: dict[tuple[str, int], ModelInput] = {}

    def get(self, digest: str, max_slices: int) -> ModelInput | None:
        """What was put, or None."""
        return self._items.get((digest, max_slices))

    def put(self, digest: str, max_slices: int, item: ModelInput) -> None:
        """Keep an item if there is room; the caller must not change its arrays."""
        size = sum(array.nbytes for array in (*item.images, *item.volumes))
        if self._held + size <= self._limit and (digest, max_slices) not in self._items:
            self._held += size
            self._items[digest, max_slices] = item
