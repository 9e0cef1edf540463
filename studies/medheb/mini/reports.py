"""Invented chest reports for the miniatures: findings and impressions that differ from each other.

Owns sentences put together from a number; no claim about any picture but its class. Refuses to be
realistic: they only need to be told apart and to speak of the class they belong to.
"""

from __future__ import annotations

from studies.medheb.mini.shared import generator

COMMON = "No acute cardiopulmonary process."
_SIDES = ("left", "right", "both sides")
_GRADES = ("a small", "a moderate", "a marked", "a faint", "an extensive", "a patchy")
_PLACES = ("base", "apex", "hilum", "upper zone", "mid zone", "lower zone", "periphery")
_REST = (
    "The heart is of normal size", "The mediastinum is midline", "The bones are intact",
    "The diaphragm is smooth", "A line ends in the upper chest", "The airways are open",
)  # fmt: skip


def findings(label: str, *names: object) -> str:
    """Two sentences about a label; other names give other words."""
    rng = generator("findings", label, *names)
    side, grade = (str(rng.choice(words)) for words in (_SIDES, _GRADES))
    place, rest = (str(rng.choice(words)) for words in (_PLACES, _REST))
    size = int(rng.integers(4, 60))
    return (
        f"There is {grade} change in keeping with {label.lower()} at the {place} ({side}), "
        f"about {size} mm. {rest}, unchanged since ___."
    )


def impression(label: str, *names: object) -> str:
    """One sentence about a label."""
    rng = generator("impression", label, *names)
    grade, place = (str(rng.choice(words)) for words in (_GRADES, _PLACES))
    return f"{grade.capitalize()} {label.lower()} of the {place}, grade {int(rng.integers(1, 90))}."
