"""What a reader has said of the item on the screen, before it is stored.

Owns the answer with its reason and the optional rest, as one frozen value. Refuses to know
which of it the protocol asks for; the presenter asks for nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.widgets.details_bar import NOTES
from db.ratings import PLACES

CANDIDATES = PLACES
CONFIDENCES, USES = (1, 2, 3), (0, 1, 2)


@dataclass(frozen=True)
class Said:
    """Everything said of one item.

    Attributes:
        answer: ``left``, ``right``, ``both``, ``neither``, ``cannot``; of a guess ``unsure`` too.
        reason: why it cannot be judged, with ``cannot`` alone.
        confidence: 1 to 3.
        comment: one line.
        usefulness: candidate to 0, 1 or 2.
    """

    answer: str | None = None
    reason: str = ""
    confidence: int | None = None
    comment: str = ""
    usefulness: Mapping[str, int] = field(default_factory=dict)

    def with_answer(self, answer: str | None, *, reason: str = "") -> Said:
        """Another answer; a reason belongs to one alone."""
        return replace(self, answer=answer, reason=reason)

    def with_confidence(self, value: int) -> Said:
        """A confidence; 0 asks for the next one, after the last comes none."""
        return replace(self, confidence=value or _next(self.confidence, CONFIDENCES))

    def with_usefulness(self, candidate: str, value: int) -> Said:
        """Usefulness of one candidate; -1 asks for the next one, after the last comes none."""
        said = dict(self.usefulness)
        wanted = value if value >= 0 else _next(said.get(candidate), USES)
        said.pop(candidate, None)
        if wanted is not None:
            said[candidate] = wanted
        return replace(self, usefulness=said)

    def notes(self) -> dict[str, str]:
        """Words behind the titles of the candidates that were rated."""
        return {name: NOTES[value] for name, value in self.usefulness.items()}

    def details(self) -> dict[str, Any]:
        """What is stored beside the answer; what was not said is left out."""
        said = {
            "reason": self.reason,
            "confidence": self.confidence,
            "comment": self.comment,
            "usefulness": dict(self.usefulness),
        }
        return {name: value for name, value in said.items() if value}


class Draft:
    """What was said of an item that was left before it had its answer.

    In memory alone: no file beside the study's own log ever holds it. Found again by the same
    reader at the same place; the choice itself is open again.
    """

    def __init__(self) -> None:
        self._place: tuple[Any, ...] = ()
        self._said = Said()

    def keep(self, place: tuple[Any, ...], said: Said) -> None:
        """Remember it in place of what was remembered before."""
        self._place, self._said = place, said.with_answer(None)

    def find(self, place: tuple[Any, ...]) -> Said:
        """What was said there; nothing for another place."""
        return self._said if place == self._place else Said()


def said_again(taken: Any) -> Said:
    """What was said beside an answer that was taken back; the choice itself is open again.

    Args:
        taken: the stored answer, None for an item that had none.
    """
    if taken is None:
        return Said()
    return Said(
        confidence=taken.confidence,
        comment=taken.comment or "",
        usefulness=dict(taken.usefulness or {}),
    )


def _next(value: int | None, choices: tuple[int, ...]) -> int | None:
    """The choice after a value: the first after none, none after the last."""
    place = -1 if value is None else choices.index(value)
    return choices[place + 1] if place + 1 < len(choices) else None
