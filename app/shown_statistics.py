"""What the Statistics page is handed: sheets of panels, each mark with its words and its rows.

Frozen values, no behaviour. Nothing of this exists before a study is unblinded.
"""

from __future__ import annotations

from dataclasses import dataclass

FILLS = ("first", "both", "neither", "auto", "split", "second", "right", "unsure", "wrong")


@dataclass(frozen=True)
class Behind:
    """Which answers stand behind a mark; opaque to a view.

    Attributes:
        title: of their list.
        terms: (name, value) pairs, all of which hold.
    """

    title: str
    terms: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Piece:
    """One part of a stacked bar.

    Attributes:
        word: what it is.
        fill: one of ``FILLS``; colour and hatching together.
        share, low, high: percent; low and high None where there is no interval.
        words: n, interval and definition, as shown on hover and told to a screen reader.
    """

    word: str
    fill: str
    count: int
    share: float
    low: float | None
    high: float | None
    words: str
    behind: Behind | None = None


@dataclass(frozen=True)
class Bar:
    """One stacked bar; ``tie`` is the interval of all ties together, ``note`` stands beside it."""

    title: str
    n: int
    pieces: tuple[Piece, ...]
    tie: tuple[float, float, float] | None = None
    note: str = ""
    group: str = ""
    words: str = ""
    behind: Behind | None = None


@dataclass(frozen=True)
class Bars:
    """Stacked bars under the words of both ends, in their fills; ``middle`` lies between."""

    name: str
    first: str
    second: str
    bars: tuple[Bar, ...]
    middle: str = "tie"
    ends: tuple[str, str] = ("first", "second")


@dataclass(frozen=True)
class Dot:
    """A value with its interval in one field of a forest plot; value None has no mark."""

    value: float | None
    low: float | None
    high: float | None
    label: str
    words: str


@dataclass(frozen=True)
class Branch:
    """One row of a forest plot: a dot for each field."""

    title: str
    n: int
    dots: tuple[Dot, ...]
    group: str = ""
    whole: bool = False
    behind: Behind | None = None


@dataclass(frozen=True)
class Field:
    """One scale of a forest plot; ``zero`` is where neither side is ahead.

    Attributes:
        models: True where the sides are the two models, drawn in their colours.
    """

    title: str
    left: str
    right: str
    low: float
    high: float
    zero: float
    unit: str = "%"
    models: bool = False


@dataclass(frozen=True)
class Forest:
    """Rows over one or more scales."""

    name: str
    fields: tuple[Field, ...]
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class Stop:
    """One stretch of a session; value None is a gap."""

    title: str
    value: float | None
    low: float | None
    high: float | None
    label: str
    words: str
    behind: Behind | None = None


@dataclass(frozen=True)
class Strip:
    """One quantity along the session; ``fill`` is its colour."""

    title: str
    top: float
    unit: str
    stops: tuple[Stop, ...]
    fill: str = "both"


@dataclass(frozen=True)
class Strips:
    """Several quantities over the same stretches."""

    name: str
    axis: str
    strips: tuple[Strip, ...]


@dataclass(frozen=True)
class Cell:
    """One count of a table of two readings; ``same`` marks the diagonal."""

    count: int
    words: str
    same: bool = False
    behind: Behind | None = None


@dataclass(frozen=True)
class Matrix:
    """Counts over two readings; ``down`` and ``across`` say what rows and columns are."""

    name: str
    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]


Chart = Bars | Forest | Strips | Matrix


@dataclass(frozen=True)
class Line:
    """One row of a table; ``tip`` is what hovering says."""

    cells: tuple[str, ...]
    tip: str = ""
    behind: Behind | None = None


@dataclass(frozen=True)
class Grid:
    """A table; ``tips`` define its columns."""

    name: str
    head: tuple[str, ...]
    lines: tuple[Line, ...]
    tips: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    """One question and its answer.

    Attributes:
        says: the answer in a sentence; the whole panel where there is nothing to draw.
        parts: charts and tables, from top to bottom.
        notes: sentences to know, small.
    """

    key: str
    title: str
    says: str = ""
    parts: tuple[Chart | Grid, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """Panels that are looked at together."""

    key: str
    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class StatisticsShown:
    """An unblinded study.

    Attributes:
        sentence: the outcome as a clinician would say it.
        facts: readers, items, fingerprint, unblinding, each a line.
    """

    title: str
    sentence: str
    facts: tuple[str, ...]
    sheets: tuple[Sheet, ...]


@dataclass(frozen=True)
class AnswerLine:
    """One answer in a list; ``place`` in that list is its key."""

    number: int
    task: str
    form: str
    answer: str
    stratum: str
    rater: str
    place: str = ""
    time: str = ""
    note: str = ""


@dataclass(frozen=True)
class WingShown:
    """One wing of an opened item: whose it was and where the right answer stands in it."""

    model: str
    fill: str
    gold: str
    gold_place: int | None = None
    chosen: bool = False


@dataclass(frozen=True)
class OpenedShown:
    """An item opened after unblinding.

    Attributes:
        title: its number and task.
        facts: answer, time, rater and more, each as (name, words).
        comment: as it was written.
    """

    title: str
    of: str
    left: WingShown
    right: WingShown
    facts: tuple[tuple[str, str], ...]
    comment: str = ""
