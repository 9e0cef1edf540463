"""Token-budgeted dynamic batches. Owns which pairs go together, knows nothing of models.

Source: MedHEB paper, section 4 and appendix A.1, equation 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from engine.evidence.item import ModelInput


class Pair(Protocol):
    """A query and the target that answers it."""

    @property
    def family(self) -> str:
        """The benchmark's family, for the log."""

    @property
    def task(self) -> str:
        """Which pairs are alike enough to be each other's hard negatives."""

    @property
    def query(self) -> ModelInput:
        """The query, with its instruction."""

    @property
    def target(self) -> ModelInput:
        """The target."""

    @property
    def group(self) -> str:
        """Equal for targets that mean the same and so are not each other's negatives."""


@dataclass(frozen=True)
class Limits:
    """What a batch may hold.

    Attributes:
        tokens: T, most padded tokens on both sides together.
        pairs: S_max.
        open_batches: how many batches may be under construction at once.
        by_task: only pairs of one ``task`` together.
    """

    tokens: int
    pairs: int
    open_batches: int = 8
    by_task: bool = False


@dataclass
class _Open:
    """A batch under construction."""

    group: str
    pairs: list[Pair] = field(default_factory=list)
    longest: int = 0

    def padded_with(self, length: int) -> int:
        """Padded tokens on both sides if a pair of this length came in."""
        return 2 * (len(self.pairs) + 1) * max(self.longest, length)

    def added_padding(self, length: int) -> int:
        """Padded tokens that come with the pair beyond its own."""
        return self.padded_with(length) - 2 * len(self.pairs) * self.longest - 2 * length

    def add(self, pair: Pair, length: int) -> None:
        """Take the pair in."""
        self.pairs.append(pair)
        self.longest = max(self.longest, length)


def pack_batches(
    pairs: Iterable[Pair],
    length_of: Callable[[Pair], int],
    limits: Limits,
    *,
    refused: Callable[[Pair, int], None] = lambda pair, length: None,
) -> Iterator[list[Pair]]:
    """Form batches online by greedy best fit under the token budget (paper, equation 4).

    A batch B satisfies 2 |B| max l <= T and |B| <= S_max. A pair goes where it adds the least
    padding, then where the least room remains; it opens a batch of its own where that padding
    would exceed its own tokens and a place is free. A batch leaves when nothing of its length fits.

    Args:
        pairs: the stream.
        length_of: l of a pair, the longer of its two sides in tokens.
        limits: budget, ceilings and grouping.
        refused: told of every pair that exceeds the budget alone; it is left out.

    Yields:
        The pairs of a batch.
    """
    open_batches: list[_Open] = []
    for pair in pairs:
        length = length_of(pair)
        if 2 * length > limits.tokens:
            refused(pair, length)
            continue
        group = pair.task if limits.by_task else ""
        chosen = _best_fit(open_batches, group, length, limits)
        if chosen is None:
            if len(open_batches) >= limits.open_batches:
                fullest = max(open_batches, key=lambda batch: len(batch.pairs) * batch.longest)
                open_batches.remove(fullest)
                yield fullest.pairs
            chosen = _Open(group)
            open_batches.append(chosen)
        chosen.add(pair, length)
        if not _fits(chosen, chosen.longest, limits):
            open_batches.remove(chosen)
            yield chosen.pairs
    yield from (batch.pairs for batch in open_batches)


def _fits(batch: _Open, length: int, limits: Limits) -> bool:
    within = batch.padded_with(length) <= limits.tokens
    return within and len(batch.pairs) < limits.pairs


def _best_fit(
    open_batches: Sequence[_Open], group: str, length: int, limits: Limits
) -> _Open | None:
    fitting = [b for b in open_batches if b.group == group and _fits(b, length, limits)]
    best = min(
        fitting, key=lambda b: (b.added_padding(length), -b.padded_with(length)), default=None
    )
    place_free = len(open_batches) < limits.open_batches
    if best is not None and place_free and best.added_padding(length) > 2 * length:
        return None
    return best
