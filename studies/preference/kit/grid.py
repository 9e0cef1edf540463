"""What a table of the kit is made of: heads and cells that hold values of the schema, not words.

Owns the shapes and how a cell is said in a document. Refuses to know which tables there are.
"""

from __future__ import annotations

from dataclasses import dataclass

from studies.preference.analysis.schema import Estimate, Share, Test
from studies.preference.kit.words import (
    estimate_words,
    no_p_words,
    p_words,
    points_words,
    seconds_words,
    share_words,
)


@dataclass(frozen=True)
class Points:
    """An estimate that is a difference of shares."""

    estimate: Estimate


@dataclass(frozen=True)
class PValue:
    """The p-value of a test, adjusted within its table or not."""

    test: Test
    adjusted: str = "no"

    @property
    def value(self) -> float | None:
        """The number, None where there is none."""
        return self.test.p_holm if self.adjusted == "yes" else self.test.p


@dataclass(frozen=True)
class Seconds:
    """A time in ms."""

    ms: float | None


Cell = str | int | Share | Estimate | Points | PValue | Seconds


@dataclass(frozen=True)
class Grid:
    """One table.

    Attributes:
        name: short, for a sheet or a label.
        title: for people.
        heads: of the columns.
        rows: cells.
        notes: what the numbers are.
    """

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


def words_of(cell: Cell) -> str:
    """A cell for a document."""
    if isinstance(cell, Share):
        return share_words(cell)
    if isinstance(cell, Points):
        return points_words(cell.estimate)
    if isinstance(cell, Estimate):
        return estimate_words(cell)
    if isinstance(cell, PValue):
        return "-" if cell.adjusted == "yes" and cell.value is None else p_words(cell.value)
    if isinstance(cell, Seconds):
        return seconds_words(cell.ms)
    return str(cell)


def test_told(test: Test) -> str:
    """A test with its statistic, p-value and n, for a note."""
    parts = [test.name]
    if test.statistic is not None:
        parts.append(f"{test.statistic:.2f}")
    if test.df is not None:
        parts.append(f"df {test.df:g}")
    parts.append(f"p {p_words(test.p)}" if test.p is not None else no_p_words(test))
    more = f"; {test.note}" if test.note and test.p is not None else ""
    return f"{', '.join(parts)}, n = {test.n}{more}"


test_told.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name
