"""Columns of the statistics table: n, shares with Wilson intervals, the sign test."""

from __future__ import annotations

from app.shown import ShareShown
from app.tables.rows import Column

LEAST_FOR_P = 10


def share_words(row: ShareShown, place: int) -> str:
    """A share with its count and interval."""
    if row.n == 0:
        return "–"
    low, up = row.intervals[place]
    return f"{row.shares[place]:.1f} %  ({row.counts[place]})  {low:.1f}–{up:.1f}"


def p_words(row: ShareShown) -> str:
    """The sign test's p, or why there is none."""
    if row.p_value is None:
        return "–" if row.n == 0 else row.note or f"n < {LEAST_FOR_P}"
    return "< 0.001" if row.p_value < 0.001 else f"{row.p_value:.3f}"


def columns_for(arm_a: str, arm_b: str) -> tuple[Column[ShareShown], ...]:
    """The columns with the arms' names in their heads."""
    return (
        Column("Stratum", lambda row: row.title),
        Column("n", lambda row: f"{row.n}", right=True),
        Column(f"{arm_a} better", lambda row: share_words(row, 0), right=True),
        Column("Tie", lambda row: share_words(row, 1), right=True),
        Column(f"{arm_b} better", lambda row: share_words(row, 2), right=True),
        Column("Sign test p", p_words, right=True),
    )
