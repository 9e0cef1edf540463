"""How long the texts are that a task's queries are to find: measured, never guessed.

Owns the measure: words (runs without blanks) and characters of the positives of a run. The name of
a text candidate is its text, so the stored names are what is measured.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Length:
    """Mean length of the positives of one task.

    Attributes:
        words: mean number of words a query's positive has.
        characters: mean number of characters.
        texts: queries measured.
        distinct: different texts among them.
    """

    words: float
    characters: float
    texts: int
    distinct: int


def measure(golds: Iterable[str]) -> Length | None:
    """The mean length of texts, one per query; None where there is none."""
    texts = tuple(golds)
    if not texts:
        return None
    count = len(texts)
    return Length(
        words=sum(len(text.split()) for text in texts) / count,
        characters=sum(map(len, texts)) / count,
        texts=count,
        distinct=len(set(texts)),
    )
