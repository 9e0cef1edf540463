"""What a study compares: one query with the top candidates of two models, plain and frozen.

Owns the words for strata. Refuses to open evidence; how the lists are read from
stored results is in ``studies.preference.source``.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.evidence.item import Item

TOP = 3
STRATA = ("both", "only_a", "only_b", "neither", "unknown")


def strata_titles(first: str, second: str) -> dict[str, str]:
    """Words for the strata with the letters or the names of the two models."""
    return {
        "both": "Both right at the top",
        "only_a": f"Only {first} right",
        "only_b": f"Only {second} right",
        "neither": "Both wrong",
        "unknown": "No gold answer",
    }


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

    @property
    def names_a(self) -> tuple[str, ...]:
        """Names in the first model's list."""
        return tuple(listed.name for listed in self.list_a)

    @property
    def names_b(self) -> tuple[str, ...]:
        """Names in the second model's list."""
        return tuple(listed.name for listed in self.list_b)

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
