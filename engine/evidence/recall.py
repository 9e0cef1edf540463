"""Answers about one header, kept for the next header that says the same.

The files of a series differ in a few elements; what does not depend on those is worked out once.
Owns the memory, which lives as long as one walk. Refuses to guess: an answer is given again only
if every element that was asked for it has the same bytes, or is missing again. Keeps hashes, no
values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from engine.evidence.dicom_lean import FULL, Scanned

KEPT = 8
Answer = TypeVar("Answer")


class Recall:
    """A memory of answers by question; the last few of each."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[tuple[int, ...], int, Any]]] = {}

    def ask(self, question: str, dataset: Any, given: object, work: Callable[[], Answer]) -> Answer:
        """The answer to a question about a header.

        Args:
            question: its name.
            dataset: the header; only lean ones are remembered.
            given: whatever else the answer depends on; hashable.
            work: works it out, from ``dataset`` and what ``given`` stands for alone.
        """
        if not isinstance(dataset, Scanned):
            return work()
        known = self._known.setdefault(question, [])
        for place, (tags, marks, answer) in enumerate(known):
            if hash((given, dataset.marks(tags))) == marks:
                if place:
                    known.insert(0, known.pop(place))
                return answer
        asked = dataset.recorded(work)
        if FULL not in asked.tags:
            marks = hash((given, dataset.marks(asked.tags)))
            known.insert(0, (asked.tags, marks, asked.answer))
            del known[KEPT:]
        return asked.answer
