"""What a study compares: one query with the top candidates of two models, plain and frozen.

Owns the words for strata and for how hard a query is. Refuses to open evidence; how the lists are
read from stored results is in ``studies.preference.source``.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.evidence.item import Item

TOP = 3
STRATA = ("both", "only_a", "only_b", "neither", "unknown")
# Name to the last rank of the gold answer, under the model that ranked it better.
DIFFICULTIES = {"easy": 1, "moderate": 3, "hard": 10, "very_hard": None}
DIFFICULTY_WORDS = "easy 1, moderate 2 or 3, hard 4 to 10, very hard beyond 10"  # frozen in plans
DIFFICULTY_TITLES = {
    "easy": "Easy: gold ranked 1",
    "moderate": "Moderate: gold 2 or 3",
    "hard": "Hard: gold 4 to 10",
    "very_hard": "Very hard: gold beyond 10",
}


def strata_titles(first: str, second: str) -> dict[str, str]:
    """Words for the strata with the letters or the names of the two models."""
    return {
        "both": "Both right at the top",
        "only_a": f"Only {first} right",
        "only_b": f"Only {second} right",
        "neither": "Both wrong",
        "unknown": "No gold answer",
    }


def difficulty_of(first: int | None, second: int | None) -> str:
    """How hard a query is: the rank of its gold answer under the model that ranked it better.

    A benchmark stores a rank for every query with gold, also where it lies beyond the list that
    is shown; which of the two models was better does not show. The size of the pool says more of
    a task than of a query: it is the same for most queries of one.

    Args:
        first: rank under the first model, from 1, ties against it; None where nobody knows.
        second: rank under the second model.

    Returns:
        One of ``DIFFICULTIES``, "" where no rank is known.
    """
    known = [rank for rank in (first, second) if rank is not None]
    if not known:
        return ""
    return next(n for n, last in DIFFICULTIES.items() if last is None or min(known) <= last)


@dataclass(frozen=True)
class Listed:
    """One candidate in a list.

    Attributes:
        name: as the benchmark names it; stays in the sealed key.
        item: its evidence.
        subject: token of the patient, None if nobody tells; kept nowhere.
    """

    name: str
    item: Item
    subject: str | None = None


@dataclass(frozen=True)
class Comparison:
    """One query and what two models, the first and the second, answer to it.

    Attributes:
        task_id: the task.
        family: its family.
        form: ``2d``, ``3d`` or ``text``.
        split: ``id`` or ``held-out``.
        row: the query's row in the task's file.
        query: its evidence and instruction.
        gold: name of the right candidate, None where nothing is known to be right.
        list_a: the best candidates of the first model, best first, at most ``TOP``.
        list_b: the same of the second model.
        first: letter of the first model.
        second: letter of the second model.
        anatomy: of the task, "" where its table names none.
        subject: token of the query's patient, None if nobody tells; kept nowhere.
        rank_a: of the gold answer under the first model, ties against it; None where unknown.
        rank_b: the same under the second model.
        gold_item: evidence of the right candidate, None where nobody tells; kept nowhere.
    """

    task_id: str
    family: str
    form: str
    split: str
    row: int
    query: Item
    gold: str | None
    list_a: tuple[Listed, ...]
    list_b: tuple[Listed, ...]
    first: str = "A"
    second: str = "B"
    anatomy: str = ""
    subject: str | None = None
    rank_a: int | None = None
    rank_b: int | None = None
    gold_item: Item | None = None

    @property
    def names_a(self) -> tuple[str, ...]:
        """Names in the first model's list."""
        return tuple(listed.name for listed in self.list_a)

    @property
    def names_b(self) -> tuple[str, ...]:
        """Names in the second model's list."""
        return tuple(listed.name for listed in self.list_b)

    @property
    def difficulty(self) -> str:
        """How hard the query is, one of ``DIFFICULTIES``; "" without a gold answer."""
        return "" if self.gold is None else difficulty_of(self.rank_a, self.rank_b)

    @property
    def stratum(self) -> str:
        """Which models have the gold answer first, one of ``STRATA``."""
        if self.gold is None:
            return "unknown"
        right_a = self.names_a[:1] == (self.gold,)
        right_b = self.names_b[:1] == (self.gold,)
        return {
            (True, True): "both",
            (True, False): "only_a",
            (False, True): "only_b",
            (False, False): "neither",
        }[right_a, right_b]
