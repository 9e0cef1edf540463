"""What figures, further tables and sources look like to a view. Frozen values, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MarkShown:
    """A point of a figure, in the figure's pixels, with what it says."""

    x: float
    y: float
    words: str
    task: str = ""
    model: str = ""


@dataclass(frozen=True, eq=False)
class FigureShown:
    """A figure as pixels: four bytes each, rows from the top; ``ratio`` device pixels in one."""

    width: int
    height: int
    rgba: bytes
    ratio: float
    marks: tuple[MarkShown, ...]
    spoken: str


@dataclass(frozen=True)
class SectionShown:
    """A table with its title and the sentences under it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SettingChoice:
    """An open fact about a source: its name, what is taken, what may be taken, what is open."""

    name: str
    default: str
    values: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class SourceShown:
    """A source dataset: whose it is, how it is had, which tasks it feeds, what is built here.

    ``built`` are those of its tasks whose files are in the data root.
    """

    key: str
    title: str
    form: str
    modality: str
    anatomy: str
    access: str
    access_words: str
    licence: str
    url: str
    obtain: str
    tasks: tuple[str, ...]
    built: tuple[str, ...]
    settings: tuple[SettingChoice, ...] = ()
    held_out: bool = False
