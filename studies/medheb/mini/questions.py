"""What the miniatures of questions share: made-up questions about a picture, and their answers.

Owns the wording, put together from a number. Refuses to be medicine: an answer only needs to follow
from the class that the picture shows.
"""

from __future__ import annotations

from dataclasses import dataclass

from studies.medheb.mini.shared import generator

ORGANS = ("liver", "left lung", "right lung", "brain", "spleen", "left kidney", "knee", "heart")
FINDINGS = ("mass", "cyst", "edema", "fracture", "effusion", "calcification", "hemorrhage", "tear")
PLACES = ("upper lobe", "lower lobe", "left side", "right side", "base", "centre", "rim", "apex")
MODALITIES = ("CT", "MRI", "X-ray", "Ultrasound")
PLANES = ("axial", "coronal", "sagittal")
KINDS = ("organ", "finding", "place", "presence")


@dataclass(frozen=True)
class Asked:
    """A question about a picture.

    Attributes:
        kind: one of ``KINDS``.
        question: ends in a question mark.
        answer: as short as answers are.
        wrong: three other answers of that kind, two where it is yes or no.
    """

    kind: str
    question: str
    answer: str
    wrong: tuple[str, ...]


def organ(look: int) -> str:
    """What a picture of that look is of."""
    return ORGANS[look % len(ORGANS)]


def finding(look: int) -> str:
    """What it shows."""
    return FINDINGS[(look * 3) % len(FINDINGS)]


def place(look: int) -> str:
    """Where it is."""
    return PLACES[(look * 5) % len(PLACES)]


def ask(look: int, turn: int) -> Asked:
    """The ``turn``-th question about a picture of a look; four kinds by turns."""
    kind = KINDS[turn % len(KINDS)]
    if kind == "organ":
        return Asked(kind, "Which organ is shown?", organ(look), _others(ORGANS, organ(look)))
    if kind == "finding":
        told, of = finding(look), organ(look)
        return Asked(kind, f"What is seen in the {of}?", told, _others(FINDINGS, told))
    if kind == "place":
        told, of = place(look), finding(look)
        return Asked(kind, f"Where is the {of}?", told, _others(PLACES, told))
    said = finding(look + turn // len(KINDS))
    answer = "yes" if said == finding(look) else "no"
    return Asked(kind, f"Is there a {said}?", answer, ("no" if answer == "yes" else "yes",))


def sentence(look: int, *names: object) -> str:
    """One sentence about a picture of a look; other names give other words."""
    rng = generator("sentence", look, *names)
    size, slope = int(rng.integers(3, 90)), str(rng.choice(("smooth", "uneven", "sharp", "faint")))
    return (
        f"A {finding(look)} of {size} mm with a {slope} edge in the {organ(look)}, {place(look)}."
    )


def _others(words: tuple[str, ...], but: str) -> tuple[str, ...]:
    start = words.index(but) + 1
    return tuple((words + words)[start : start + 3])
