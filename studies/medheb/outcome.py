"""What one model did on one task: plain frozen values, without vectors and without files.

Owns nothing but names; ``studies.medheb.evaluate`` makes them, the writer and the store keep them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# The release writes every name of a pool. Beyond this many the files would outgrow the evidence.
KEEP_NAMES = 1000
KEEP_SCORES = 100


@dataclass(frozen=True)
class Ranked:
    """One query as a model ranked it.

    Attributes:
        row: position in the index file, from 0.
        gold: name of the positive.
        rank: of the positive, 1 is best, ties against it.
        names: the first candidates of the pool, best first, ``KEEP_NAMES`` at most.
        scores: cosine of the first of them, ``KEEP_SCORES`` at most.
        pool: number of candidates ranked.
        tied: True if another candidate scores exactly as the positive does.
    """

    row: int
    gold: str
    rank: int
    names: tuple[str, ...]
    scores: tuple[float, ...]
    pool: int
    tied: bool


@dataclass(frozen=True)
class Outcome:
    """One task under one model.

    Attributes:
        ranked: the queries that could be scored, by row.
        chance: exact chance level over their pools, in percent.
        failures: (row, sentence) of all rows not scored, by row.
        lost: candidates missing from a shared pool because they could not be embedded.
    """

    ranked: tuple[Ranked, ...]
    chance: Mapping[str, float]
    failures: tuple[tuple[int, str], ...]
    lost: int

    @property
    def ranks(self) -> list[int]:
        """Ranks of the positives."""
        return [ranked.rank for ranked in self.ranked]

    @property
    def ties(self) -> int:
        """Queries whose positive ties with another candidate."""
        return sum(ranked.tied for ranked in self.ranked)
