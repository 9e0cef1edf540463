"""Tables of made-up studies from counts, and R where it is installed, for tests of the analysis."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from studies.preference.analysis.bootstrap import Draws
from studies.preference.analysis.stream import Replay
from studies.preference.analysis.tables import ItemFacts, Presented, StudyTables

RSCRIPT = shutil.which("Rscript")
needs_r = pytest.mark.skipif(RSCRIPT is None, reason="R is not installed")

# The position vector of the spec: (left, preferred) to count.
POSITION = {
    ("A", "first"): 140,
    ("A", "second"): 50,
    ("A", "both"): 75,
    ("B", "first"): 120,
    ("B", "second"): 72,
    ("B", "neither"): 73,
}


def r(script: str) -> list[float]:
    """What an R script prints, as numbers."""
    assert RSCRIPT is not None
    done = subprocess.run(
        [RSCRIPT, "--vanilla", "-"], input=script, capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]


def vector(values) -> str:
    """A vector as R writes it."""
    return "c(" + ",".join(repr(float(one)) for one in values) + ")"


def how(draws: int = 200, seed: int = 1) -> Draws:
    return Draws(draws, Replay(seed))


def item(number: int, **facts) -> ItemFacts:
    plain = ItemFacts(
        f"i{number:04}", "item", "A", "B", "A", f"t{number % 10}", "I-I", "2d", "id", "unknown"
    )
    return replace(plain, **facts)


def row(one: ItemFacts, preferred: str, *, rater: str = "r", place: int = 1, **facts) -> Presented:
    """One reading; the answer follows from what is preferred and from the side."""
    left = facts.pop("left", one.left)
    answer = preferred
    if preferred in ("first", "second"):
        answer = "left" if (preferred == "first") == (left == one.first) else "right"
    first = facts.pop("first_preferred", preferred)
    return Presented(
        rater,
        place,
        one.item_id,
        facts.pop("kind", "item"),
        left,
        answer,
        preferred,
        first,
        **facts,
    )


def study(
    items: list[ItemFacts], rows: list[Presented], *, models: str = "AB", **facts
) -> StudyTables:
    titles = {letter: f"Model {letter}" for letter in models}
    return StudyTables("s", "Made up", "", titles, tuple(items), tuple(rows), **facts)


def counted(counts: Mapping[tuple[str, str], int], *, tasks: int = 10, **facts) -> StudyTables:
    """A study of one rater from (left, preferred) to count, each item its own place."""
    items, rows = [], []
    for (left, preferred), count in counts.items():
        for _ in range(count):
            place = len(items) + 1
            one = item(place, left=left, task_id=f"t{place % tasks:03}", **facts)
            items.append(one)
            rows.append(row(one, preferred, place=place))
    return study(items, rows)


def matrix(readings: list[list[int]]) -> np.ndarray:
    """Counts [items, 3] from readings 0, 1, 2, or -1 where one is missing."""
    return np.array([[one.count(k) for k in range(3)] for one in readings], dtype=float)
