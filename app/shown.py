"""What presenters hand to views: plain frozen values. Imports nothing of ours, decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

Interval = tuple[float, float]


@dataclass(frozen=True)
class CollectionShown:
    """One collection in the list on the left. ``key`` is opaque to the view.

    ``left_out`` counts the files of its imports that could not be taken.
    """

    key: str
    name: str
    count: int
    left_out: int = 0


@dataclass(frozen=True)
class EvidenceShown:
    """One object of a collection, as a tile and as a table row.

    ``warnings`` are short words of what its pixels may tell, ``kin`` how many objects its patient
    has in the collection, ``tip`` everything in sentences.
    """

    key: str
    title: str
    kind: str
    form: str
    modality: str
    size: str
    has_report: bool
    problem: str = ""
    snippet: str = ""
    body_part: str = ""
    warnings: tuple[str, ...] = ()
    kin: int = 0
    tip: str = ""


@dataclass(frozen=True)
class LibraryFilter:
    """What the filters on the left ask for; empty means all.

    ``report``: ``with``, ``without`` or empty.
    """

    form: str = ""
    modality: str = ""
    words: str = ""
    problems: bool = False
    body_part: str = ""
    report: str = ""


@dataclass(frozen=True)
class ImportShown:
    """An import as it runs or ended. ``lines`` name what was left out, for reading and copying.

    ``state``: running, done, stopped, failed. ``permille`` None means not known how far.
    """

    state: str
    sentence: str
    permille: int | None = None
    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class PreviewShown:
    """The chosen object: facts as (name, value), report text, sentences to know.

    ``sections`` are the report's, as (name, heading, words); ``warnings`` say what its pixels
    may tell of a person; ``pictured`` is False for what holds no picture.
    """

    key: str
    title: str
    facts: tuple[tuple[str, str], ...]
    text: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""
    sections: tuple[tuple[str, str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    pictured: bool = True


@dataclass(frozen=True)
class KinShown:
    """What else there is of the chosen object's patient.

    ``sentence`` says it; ``can_filter`` is False where only the study is known.
    """

    sentence: str
    can_filter: bool = True


@dataclass(frozen=True)
class FitShown:
    """Whether a model fits one device: a tone of the theme, a line, and all of it in sentences."""

    tone: str
    line: str
    tip: str = ""


@dataclass(frozen=True)
class SettingShown:
    """One setting of a model: its value, who states it, and the benchmark's release beside it."""

    name: str
    value: str
    origin: str
    release: str = ""
    tip: str = ""

    @property
    def differs(self) -> bool:
        """Whether the release has another value."""
        return bool(self.release) and self.release != self.value


@dataclass(frozen=True)
class CardGiven:
    """What the form for a card of one's own holds, as it was typed."""

    title: str
    family: str
    folder: str = ""
    hub_id: str = ""
    revision: str = ""
    preset: str = ""


@dataclass(frozen=True)
class ModelShown:
    """One model, as a choice and as a card.

    ``fits`` None means not known yet; ``state`` says in two or three words what ``why`` says whole.
    ``devices`` says for each device of this machine whether it fits; ``memory`` the sizes by number
    format; ``gate`` what to do before a download; ``place`` where the weights lie; ``release`` in
    one line what the settings of the benchmark's release change, empty where they change nothing;
    ``variant_of`` is the key of the model of which this is another set of settings.
    """

    key: str
    title: str
    family: str
    licence: str
    gated: bool
    size: str
    dim: int
    forms: str
    on_disk: bool
    has_adapter: bool
    demo: bool
    note: str = ""
    fits: bool | None = None
    why: str = ""
    state: str = ""
    revision: str = ""
    source: str = ""
    checked: str = ""
    memory: str = ""
    devices: tuple[FitShown, ...] = ()
    gate: str = ""
    page: str = ""
    place: str = ""
    release: str = ""
    partial: str = ""
    can_download: bool = False
    can_remove: bool = False
    own: bool = False
    broken: bool = False
    variant_of: str = ""

    @property
    def usable(self) -> bool:
        """Whether a job with this model can start now."""
        return self.has_adapter and self.on_disk and self.fits is not False


@dataclass(frozen=True)
class TaskShown:
    """One task in the tree; ``count`` is its queries, None when its file is not there."""

    key: str
    family: str
    form: str
    split: str
    count: int | None


@dataclass(frozen=True)
class ProgressShown:
    """One (task, model) of a run. ``state``: waiting, running, done, failed, missing."""

    task: str
    family: str
    model: str
    state: str
    done: int = 0
    total: int = 0
    note: str = ""


@dataclass(frozen=True)
class ScoreShown:
    """A score in percent with its 95 % interval, n, and the chance level of its pool."""

    value: float
    interval: Interval | None = None
    n: int = 0
    chance: float | None = None
    paper: float | None = None


@dataclass(frozen=True)
class ScoreRow:
    """One line of the family or split table: a model, or the chance line (``key`` empty)."""

    key: str
    title: str
    scores: tuple[ScoreShown | None, ...]
    demo: bool = False
    printed: bool = False


@dataclass(frozen=True)
class ScoreTable:
    """A table of scores: columns of families or splits, one row per model."""

    columns: tuple[str, ...]
    rows: tuple[ScoreRow, ...]


@dataclass(frozen=True)
class HeatShown:
    """Scores of task x model; a cell without a score is None. ``words`` tell each cell whole."""

    tasks: tuple[str, ...]
    groups: tuple[str, ...]
    models: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]
    chance: tuple[float, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class RecordShown:
    """How a result was computed: facts as (name, words), settings, and what must be warned of."""

    title: str
    facts: tuple[tuple[str, str], ...]
    settings: tuple[SettingShown, ...]
    warning: str = ""


@dataclass(frozen=True)
class QueryShown:
    """One query of a task under a model: where its positive landed; ``_b`` under the second."""

    key: str
    text: str
    rank: int
    pool: int
    top: str
    top_score: float | None = None
    rank_b: int | None = None


@dataclass(frozen=True)
class RankedShown:
    """One line of a ranking: a candidate of a query or a neighbour of a study.

    ``key`` is equal in every ranking for the same object; ``picture`` is what its thumbnail is
    asked with, empty for a text.
    """

    key: str
    rank: int
    title: str
    detail: str = ""
    score: float | None = None
    picture: str = ""
    gold: bool = False


@dataclass(frozen=True)
class QueryDetail:
    """A query opened: what was asked and the head of its ranking, of a second model too."""

    title: str
    instruction: str
    text: str
    picture: str
    rank: int
    pool: int
    candidates: tuple[RankedShown, ...]
    model: str = ""
    model_b: str = ""
    candidates_b: tuple[RankedShown, ...] = ()


@dataclass(frozen=True)
class StudyShown:
    """A study in the list. ``state``: built, handed, reading, read, unblinded, damaged. ``told``:
    how far it is in words, where the two numbers do not say it.
    """

    key: str
    title: str
    state: str
    answered: int
    total: int
    hash: str
    created: str = ""
    told: str = ""


@dataclass(frozen=True)
class StepShown:
    """One step of a study's life. ``state``: one of ``step_card.MARKS``."""

    key: str
    title: str
    state: str
    sentence: str
    action: str = ""
    enabled: bool = True


@dataclass(frozen=True)
class KeyShown:
    """One command and its keys on the keys page; ``changed`` if they are not the first ones."""

    command: str
    page: str
    keys: str
    conflict: str = ""
    id: str = ""
    changed: bool = False
