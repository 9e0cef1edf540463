"""What the statistics of a preference study are computed from: rows as the CSV files hold them.

Owns the rows and their words. They come from an unblinded study or from exported files alone, so
that others can check us with their own data. Refuses names of candidates, paths and comments.
Source: MedHEB section 5.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log2

KINDS = ("item", "warmup", "repeat", "auto_tie")
PREFERRED = ("first", "second", "both", "neither", "auto_tie", "cannot", "")


@dataclass(frozen=True)
class ItemFacts:
    """The hidden side of one item.

    Attributes:
        item_id: opaque.
        kind: ``item``, ``warmup`` or ``auto_tie``.
        first: letter of the model called first in this comparison (``A`` of a two-model study).
        second: letter of the other one.
        left: letter of the model frozen on the left; "" for an automatic tie.
        task_id: task of the benchmark, or "" for a study without tasks.
        form: ``2d``, ``3d`` or ``text``.
        stratum: ``both``, ``only_a`` (first), ``only_b`` (second), ``neither``, ``unknown``.
        gold_place_first: place of the gold answer in the first model's list, None if not shown.
        shared: candidates in both lists.
        overlap: ``identical``, ``same_set``, ``near_duplicate``, ``some`` or ``none``.
        flags: ``same_patient``, ``near_duplicate``, ``mirrored``: found before the reading.
        words_first: median number of words of the first model's candidates as shown, 0 where
            none has any; None where that was not recorded.
        words_second: the same of the second model's.
        near_query: list that holds a near-duplicate of the query: ``none``, ``first``,
            ``second``, ``both``; "" where that was not recorded.
        same_patient: list that holds a candidate of the query's patient; ``unknown`` where nobody
            tells.
        gold_rank_first: rank of the gold answer under the first model, None where unknown.
        gold_rank_second: the same under the second model.
        difficulty: ``easy``, ``moderate``, ``hard``, ``very_hard``, fixed before the reading; ""
            without gold or where that was not recorded.
    """

    item_id: str
    kind: str
    first: str
    second: str
    left: str
    task_id: str
    family: str
    form: str
    split: str
    stratum: str
    anatomy: str = ""
    row: int | None = None
    gold_place_first: int | None = None
    gold_place_second: int | None = None
    shared: int = 0
    overlap: str = "none"
    flags: tuple[str, ...] = ()
    words_first: float | None = None
    words_second: float | None = None
    near_query: str = ""
    same_patient: str = ""
    gold_rank_first: int | None = None
    gold_rank_second: int | None = None
    difficulty: str = ""

    @property
    def doublings(self) -> float | None:
        """How often the second list's words double to the first's; None where one has none."""
        if not self.words_first or not self.words_second:
            return None
        return log2(self.words_first / self.words_second)

    @property
    def lookalike(self) -> str:
        """Which list holds a near-duplicate of the query or its own patient; "" if not recorded."""
        if not self.near_query and not self.same_patient:
            return ""
        held = {self.near_query, self.same_patient}
        first, second = "both" in held or "first" in held, "both" in held or "second" in held
        return "both" if first and second else "first" if first else "second" if second else "none"


@dataclass(frozen=True)
class Presented:
    """One presentation of one item to one rater, answered or not.

    Attributes:
        position: place in the rater's order, from 1; None for an automatic tie.
        kind: one of ``KINDS``.
        left: letter of the model that stood on the left as shown (sides of repeats are swapped).
        answer: ``left``, ``right``, ``both``, ``neither``, ``cannot``, "" (none in force).
        preferred: ``first``, ``second`` or the answer itself, one of ``PREFERRED``.
        first_preferred: the same of the first answer ever given to this presentation.
        reason: why it cannot be judged.
        revisions: how often an answer was taken back.
        answer_ms: from showing to answering without idle time.
        usefulness: candidate place (``left1`` ...) to 0, 1 or 2.
    """

    rater: str
    position: int | None
    item_id: str
    kind: str
    left: str
    answer: str
    preferred: str
    first_preferred: str = ""
    session_id: str = ""
    reason: str = ""
    revisions: int = 0
    confidence: int | None = None
    usefulness: Mapping[str, int] = field(default_factory=dict)
    shown_utc: str = ""
    answered_utc: str = ""
    first_action_ms: int | None = None
    answer_ms: int | None = None
    idle_ms: int | None = None


@dataclass(frozen=True)
class Guess:
    """One blinding guess: which side a rater held for the tested model's (``A``).

    Attributes:
        left: letter of the model that stood on the left.
        answer: ``left``, ``right`` or ``unsure``.
    """

    rater: str
    item_id: str
    left: str
    answer: str


@dataclass(frozen=True)
class RaterFacts:
    """A rater's profile; all but the name may be empty."""

    name: str
    specialty: str = ""
    years: int | None = None
    modalities: str = ""
    display: str = ""


@dataclass(frozen=True)
class StudyTables:
    """Everything that is analysed.

    Attributes:
        study_id: opaque; "" for data of one's own.
        hash: SHA-256 of everything frozen; "" for data of one's own.
        models: letter to title (``A`` to the tested model).
        seed: of the bootstrap.
        facts: what the methods text needs besides: ``unblinded_utc``, ``reason``, ``software``,
            ``identical``, ``created_utc``, ``tasks``, ``missing`` ...; plain JSON values.
    """

    study_id: str
    title: str
    hash: str
    models: Mapping[str, str]
    items: tuple[ItemFacts, ...]
    presented: tuple[Presented, ...]
    guesses: tuple[Guess, ...] = ()
    raters: tuple[RaterFacts, ...] = ()
    seed: int = 1
    facts: Mapping[str, object] = field(default_factory=dict)
