"""What a study asks of its readers, fixed when it is built and hashed with everything else.

Owns the choices and their bounds. Refuses a protocol that cannot be read (a share above a half,
a gap below one). Nothing in it tells a model, a gold answer or a stratum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from studies.errors import BadStudy

IDENTICAL = ("auto-tie", "show", "exclude")
ASKED = ("off", "optional")
BOUNDS: dict[str, tuple[str, float, float]] = {
    "warmup": ("The number of practice items", 0, 20),
    "repeat_share": ("The share of items repeated", 0, 0.5),
    "repeat_gap": ("The number of items before a repeat", 1, 500),
    "rest_minutes": ("The minutes before a pause", 0, 240),
    "guess_items": ("The number of guesses at the end", 0, 100),
}
OTHER = "Another reason"
# Why an item cannot be judged, as a rater chooses it; anything else is the rater's own words.
REASONS = (
    "Pictures not good enough",
    "Query or task unclear",
    "Outside my field",
    "Text cut off or missing",
    "Displayed wrongly",
    OTHER,
)
GUESS = (
    "One of the two lists is from the model this study tests, the other from the model it is "
    "compared with. Which list is from the tested one?"
)


@dataclass(frozen=True)
class Protocol:
    """How a study is read.

    Attributes:
        identical: what becomes of identical lists, one of ``IDENTICAL``.
        warmup: practice items before the first, flagged and left out of every number.
        repeat_share: share of items that come back with sides swapped.
        repeat_gap: least number of items between an item and its repeat.
        rest_minutes: a pause is proposed after so many minutes of reading; 0 never.
        guess_items: items of the blinding guess at the end; 0 asks none.
        guess_question: what is asked then; names no model.
        confidence: ``off`` or ``optional`` (1 to 3).
        usefulness: ``off`` or ``optional`` (0 to 2 for each candidate).
        comments: ``off`` or ``optional``.
    """

    identical: str = "auto-tie"
    warmup: int = 3
    repeat_share: float = 0.10
    repeat_gap: int = 20
    rest_minutes: int = 45
    guess_items: int = 10
    guess_question: str = GUESS
    confidence: str = "optional"
    usefulness: str = "off"
    comments: str = "optional"

    def to_json(self) -> dict[str, Any]:
        """As stored in the frozen settings of a study."""
        return asdict(self)


def protocol_from_json(document: Mapping[str, Any] | None) -> Protocol:
    """As read from a study; a study from before there were protocols was read plainly."""
    if document is None:
        return Protocol(warmup=0, repeat_share=0.0, guess_items=0, confidence="off", comments="off")
    known = Protocol.__dataclass_fields__
    return Protocol(**{name: value for name, value in document.items() if name in known})


def check_protocol(protocol: Protocol) -> None:
    """Refuse what cannot be read.

    Raises:
        BadStudy: names the choice and its bounds.
    """
    if protocol.identical not in IDENTICAL:
        raise BadStudy(
            f"Identical lists can be {', '.join(IDENTICAL)}, not {protocol.identical!r}."
        )
    for name in ("confidence", "usefulness", "comments"):
        if getattr(protocol, name) not in ASKED:
            raise BadStudy(f"{name} can be {' or '.join(ASKED)}, not {getattr(protocol, name)!r}.")
    for name, (what, low, high) in BOUNDS.items():
        value = getattr(protocol, name)
        if not low <= value <= high:
            raise BadStudy(f"{what} must lie between {low} and {high}, not {value}; give another.")
