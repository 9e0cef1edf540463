"""What the study page shows and what its forms ask for: plain frozen values, no Qt, no model once
a study is built.

Crosses the border between ``app.views`` and ``app.presenters``; owns no words and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LONGEST_TITLE = 120  # of a study, in characters; as the build holds it


@dataclass(frozen=True)
class SourceOffered:
    """Something a study can be drawn from.

    Attributes:
        key: its data root, or the collection's name.
        words: what it is called in a list.
        kind: ``data`` (benchmark results) or ``collection`` (no gold answers).
        models: (model id, title) that can be compared on it.
    """

    key: str
    words: str
    kind: str
    models: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TaskOffered:
    """One task under the chosen models.

    Attributes:
        key: its id.
        family: its family.
        form: ``2d``, ``3d`` or ``text``.
        count: queries that all chosen models answered; None where there are none.
        reason: why there are none.
    """

    key: str
    family: str
    form: str
    count: int | None
    reason: str = ""


@dataclass(frozen=True)
class SizeAsked:
    """What the planner is asked.

    Attributes:
        items: items of the study.
        share: expected share of the tested model among decided items, percent.
        ties: expected share of ties, percent.
        clustering: intraclass correlation within tasks.
        power: wanted chance to find that share, percent.
        readers: how many read, each every item.
        seconds: form to reading time of one item.
        session: minutes of reading before a pause.
    """

    items: int = 530
    share: float = 60.0
    ties: float = 28.0
    clustering: float = 0.05
    power: float = 80.0
    readers: int = 1
    seconds: Mapping[str, float] = field(
        default_factory=lambda: {"2d": 30.0, "3d": 270.0, "text": 40.0}
    )
    session: float = 45.0


@dataclass(frozen=True)
class SizeShown:
    """What the planner answers.

    Attributes:
        needed: items that the wanted power asks for; 0 where no number gives it.
        available: items there are.
        facts: (what, number) in reading order.
        sentence: to copy into the paper.
        warning: what speaks against it, or "".
    """

    needed: int
    facts: tuple[tuple[str, str], ...]
    sentence: str
    warning: str = ""
    available: int = 0


@dataclass(frozen=True)
class StudyWish:
    """A whole study as the wizard asks for it; ``repr`` never tells the passphrase.

    Attributes:
        models: the tested one first.
        tasks: None is all.
        other_patients: of a collection, nothing of the query's own patient is listed.
    """

    source: str
    kind: str
    models: tuple[str, ...]
    tasks: tuple[str, ...] | None
    total: int
    title: str
    seed: int
    protocol: Mapping[str, Any]
    other_patients: bool
    passphrase: str = field(repr=False)


@dataclass(frozen=True)
class ReaderShown:
    """One reader of a study, as the coordinator sees them; counts only.

    Attributes:
        name: as the coordinator wrote it.
        way: ``pack file``, ``this machine`` or ``shared database``.
        handed: when, or "".
        answered: how far, in words.
        returned: when the answers came back, or what is still out.
        tone: quiet, good or warn.
    """

    name: str
    way: str
    handed: str
    answered: str
    returned: str
    tone: str = "quiet"


@dataclass(frozen=True)
class ReaderAsked:
    """A reader to hand a pack to."""

    name: str
    specialty: str | None = None
    years: int | None = None
    modalities: str | None = None
    display: str | None = None


@dataclass(frozen=True)
class VerdictShown:
    """What became of one returned file.

    Attributes:
        source: the file's name, or the database's address without its password.
        sentence: what happened, in words.
        tone: good, quiet, warn or error.
    """

    source: str
    sentence: str
    tone: str = "quiet"


@dataclass(frozen=True)
class PublishAsked:
    """What goes into the published folder."""

    comments: str = "leave out"
    names: str = "codes"
