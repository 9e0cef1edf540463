"""Rows joined with their items: what every statistic filters and counts.

Owns which presentation counts (a judged item in force, no warm-up, no repeat) and the words
first, second, tie. Refuses to compute anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from studies.preference.analysis.tables import ItemFacts, Presented, StudyTables

DECIDED = ("first", "second")
WORDS = ("first", "second", "tie")
POOLED = "ratings of several raters counted as if they were independent"


@dataclass(frozen=True)
class Rated:
    """One judged presentation with the hidden side of its item.

    Attributes:
        preferred: ``first``, ``second``, ``both``, ``neither`` or ``auto_tie``.
    """

    row: Presented
    item: ItemFacts
    preferred: str

    @property
    def word(self) -> str:
        """``first``, ``second`` or ``tie``."""
        return self.preferred if self.preferred in DECIDED else "tie"

    @property
    def sign(self) -> int:
        """1 for the first, -1 for the second, 0 for a tie."""
        return {"first": 1, "second": -1}.get(self.preferred, 0)


def preferred_of(answer: str, left: str, *, first: str = "A", second: str = "B") -> str:
    """What an answer says about the two models.

    Args:
        answer: ``left``, ``right``, ``both``, ``neither``, ``cannot`` or "".
        left: letter of the model that stood on the left as shown.
        first: letter of the first model of the comparison.
        second: letter of the second.

    Returns:
        ``first``, ``second`` or the answer itself.
    """
    if answer not in ("left", "right"):
        return answer
    right = second if left == first else first
    return "first" if (left if answer == "left" else right) == first else "second"


def rated(
    tables: StudyTables,
    *,
    rater: str | None = None,
    kinds: Iterable[str] = ("item",),
    answers: str = "in force",
) -> tuple[Rated, ...]:
    """Judged presentations in the order of the tables.

    Args:
        tables: of the study.
        rater: only this one; None for all.
        kinds: of presentations.
        answers: ``in force`` or ``first`` (the first ever given).
    """
    items = {one.item_id: one for one in tables.items}
    wanted = set(kinds)
    found = []
    for row in tables.presented:
        word = row.first_preferred if answers == "first" else row.preferred
        if row.kind in wanted and rater in (None, row.rater) and word not in ("", "cannot"):
            found.append(Rated(row, items[row.item_id], word))
    return tuple(found)


def raters_of(rows: Iterable[Rated]) -> tuple[str, ...]:
    """Names in the order they appear."""
    return tuple(dict.fromkeys(one.row.rater for one in rows))


def pooled(rows: Iterable[Rated]) -> str:
    """What to say beside a number that takes ratings as independent; "" for one rater."""
    return POOLED if len(raters_of(rows)) > 1 else ""
