"""Answers about one header, kept for the next header that says the same.

The files of a series differ in a few elements; what does not depend on those is worked out once.
Owns the memory, which lives as long as one walk. Refuses to guess: an answer is given again only
if every element that was asked for it has the same bytes, or is missing again. Keeps hashes, no
values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from engine.evidence.dicom.lean import FULL, Scanned

KEPT = 32
Answer = TypeVar("Answer")


class Recall:
    """A memory of answers by question; for each set of elements asked, the last few of them."""

    def __init__(self) -> None:
        self._known: dict[str, dict[tuple[int, ...], dict[int, Any]]] = {}

    def ask(self, question: str, dataset: Any, given: object, work: Callable[[], Answer]) -> Answer:
        """The answer to a question about a header; one question is never part of another.

        Args:
            question: its name.
            dataset: the header; only lean ones are remembered.
            given: whatever else the answer depends on; hashable.
            work: works it out, from ``dataset`` and what ``given`` stands for alone.
        """
        if not isinstance(dataset, Scanned):
            return work()
        known = self._known.setdefault(question, {})
        for tags, answers in known.items():
            mark = hash((given, dataset.marks(tags)))
            if mark in answers:
                return answers[mark]
        asked = dataset.recorded(work)
        if FULL not in asked.tags:
            answers = known.setdefault(asked.tags, {})
            answers[hash((given, dataset.marks(asked.tags)))] = asked.answer
            _forget(answers)
            _forget(known)
        return asked.answer


def _forget(store: dict[Any, Any]) -> None:
    """Drop what was learnt first, beyond the limit."""
    while len(store) > KEPT:
        del store[next(iter(store))]
