"""Takes answers back: checks what raters returned and keeps what holds.

Owns the checks (study, signature, chain, order) and the rule that a later return extends an
earlier one. Refuses foreign, altered, cut and divergent ones by name; never tells a preference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Merged:
    """What became of one source.

    Attributes:
        source: file or URL (without its password) as it was given.
        rater: whose answers; several names joined by commas for a shared database.
        pack_id: of the pack or share.
        answers: answers in force in it.
        new: entries of its log that were not here before.
        state: ``merged``, ``older`` (a later return is here already) or ``same``.
        sentence: that in words.
    """

    source: str
    rater: str
    pack_id: str
    answers: int
    new: int
    state: str
    sentence: str


def merge(path: Path, sources: Sequence[str]) -> tuple[Merged, ...]:
    """Merge returned files and shared databases into the coordinator's study.

    Every source that holds is merged, whatever becomes of the others.

    Args:
        path: the coordinator's study folder.
        sources: files (``.triptych-answers``) and URLs of shared studies.

    Raises:
        BadAnswers: one or more were refused: ``refused`` names each with its reason,
            ``merged`` holds the good ones, which are kept.
        RatingRefused: the study is unblinded.
        BadStudy: the study is a pack itself.
    """
    raise NotImplementedError
