"""One row of a release index file, read by one of the seven parsers into a query with its list.

Owns the layouts of the rows (flat and nested lists, several pictures, volumes, modalities) and
the names of candidates. Opens no picture; looks only whether the file is there. A row that does
not fit raises ``RowBroken``, which the reader of the whole file turns into a named failure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.evidence.item import ImageRef, Item, VolumeRef
from studies.medheb.tasks import stays_inside
from studies.medheb.text import clean, strip_numbered_marks, strip_picture_mark

Row = Mapping[str, Any]
NAMED_SLICES = 3


class RowBroken(Exception):
    """A row that its parser cannot read; the text is a sentence without the row's number."""


@dataclass(frozen=True)
class ReleaseSettings:
    """Ways of the release that are not our default.

    Attributes:
        keep_marks: leave ``<|image_1|>`` in the texts.
        clean_text: apply the release's cleaning to the texts of text tasks.
    """

    keep_marks: bool = False
    clean_text: bool = False


@dataclass(frozen=True)
class Candidate:
    """Something a query is ranked against.

    Attributes:
        name: as the release names it; equal names are one candidate.
        item: what a model embeds.
    """

    name: str
    item: Item


@dataclass(frozen=True)
class Query:
    """One query with the list of its row.

    Attributes:
        row: position in the index file, from 0.
        item: what a model embeds.
        candidates: without repeated names, the positive first.
        gold: the positive's name.
        label: the query's class, where the row tells it.
        group: token of its patient or group, where the row tells it (``qry_group``).
    """

    row: int
    item: Item
    candidates: tuple[Candidate, ...]
    gold: str
    label: str = ""
    group: str = ""


@dataclass
class Reading:
    """What is shared by the rows of one file: where pictures lie, what was seen already.

    Attributes:
        root: the folder of the task's pictures.
        settings: ways of the release to keep.
        marks: picture marks stripped so far.
        clashes: candidates met under a name that already stood for something else.
        sizes: bytes of each picture file seen, by its name in the rows; None if missing.
        times: when each of them was last written, in nanoseconds, by the same name.
        labels: candidate's name to its class, where rows tell it (``tgt_label``, our own column).
        groups: candidate's name to the token of its patient or group, where rows tell it
            (``tgt_group``, our own column); "" for one that belongs to several.
    """

    root: Path
    settings: ReleaseSettings = ReleaseSettings()
    marks: int = 0
    clashes: int = 0
    sizes: dict[str, int | None] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    _paths: dict[str, Path] = field(default_factory=dict)
    _volumes: dict[tuple[tuple[str, ...], bool], Item] = field(default_factory=dict)
    _candidates: dict[str, Candidate] = field(default_factory=dict)

    def text(self, value: object, column: str) -> str:
        """A text as a model is to read it: marks out, ``<image>`` out."""
        text = _text(value, column)
        if "<" not in text:
            return text
        if not self.settings.keep_marks:
            text, count = strip_numbered_marks(text)
            self.marks += count
        return strip_picture_mark(text)

    def path(self, name: object, column: str) -> Path:
        """The file of a picture.

        Raises:
            RowBroken: it is no name, leaves the folder, or there is no such file.
        """
        if not isinstance(name, str) or not name.strip():
            raise RowBroken(f"{column} names no picture; give a path below {self.root.name}.")
        if name not in self.sizes:
            self._look(name, column)
        if self.sizes[name] is None:
            raise RowBroken(
                f"{column} names {name}, which is not in {self.root}; put the file there."
            )
        return self._paths[name]

    def _look(self, name: str, column: str) -> None:
        _sound(name, column)
        if not stays_inside(name):
            raise RowBroken(f"{column} names {name}, which lies outside {self.root}; move it in.")
        path = self.root / name
        self._paths[name], self.sizes[name] = path, None
        with suppress(OSError, ValueError):
            if path.is_file():
                found = path.stat()
                self.sizes[name], self.times[name] = found.st_size, found.st_mtime_ns

    def pictures(self, names: Sequence[object], column: str) -> tuple[ImageRef, ...]:
        """References to pictures that are there."""
        return tuple(ImageRef(self.path(name, column)) for name in names)

    def volume(self, names: Sequence[object], column: str, *, shown_as: str) -> Item:
        """An item of one volume; a single picture shown as an image is a plain picture."""
        if not names:
            raise RowBroken(f"{column} lists no slices.")
        key = (tuple(str(name) for name in names), shown_as == "images")
        if key not in self._volumes:
            paths = tuple(self.path(name, column) for name in names)
            if shown_as == "images" and len(paths) == 1:
                self._volumes[key] = Item(images=(ImageRef(paths[0]),))
            else:
                self._volumes[key] = Item(volumes=(VolumeRef(paths, shown_as=shown_as),))
        return self._volumes[key]

    def candidate(self, name: str, item: Item) -> Candidate:
        """The candidate of that name; the same object for the same thing."""
        known = self._candidates.setdefault(name, Candidate(name, item))
        if known.item == item:
            return known
        self.clashes += 1
        return Candidate(name, item)


def _text(value: object, column: str) -> str:
    if isinstance(value, str):
        return _sound(value, column)
    if _is_nan(value):
        raise RowBroken(f"{column} holds NaN, an empty cell of a table, in place of a text.")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if value is None:
        return ""
    raise RowBroken(f"{column} is {type(value).__name__}, expected a text.")


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _sound(text: str, column: str) -> str:
    """A text that UTF-8 can hold; a lone half of a character would end the whole run later."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise RowBroken(f"{column} holds half a character; write the text as UTF-8.") from None
    return text


def _list(value: object) -> list[Any]:
    """A list as it is, nothing as an empty one, anything else as a list of one."""
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _wanted(row: Row, column: str) -> object:
    if row.get(column) is None:
        raise RowBroken(f"it has no {column}; add the column.")
    return row[column]


def _instruction(row: Row, reading: Reading) -> str | None:
    return reading.text(row.get("qry_inst"), "qry_inst").strip() or None


def _text_query(row: Row, reading: Reading) -> Item:
    text = reading.text(_wanted(row, "qry_text"), "qry_text")
    return Item(text=text, instruction=_instruction(row, reading))


def _cleaned_query(row: Row, reading: Reading) -> Item:
    item = _text_query(row, reading)
    if not reading.settings.clean_text:
        return item
    return Item(text=clean(item.text or ""), instruction=item.instruction)


def _picture_query(row: Row, reading: Reading) -> Item:
    names = _list(_wanted(row, "qry_img_path"))
    if not names:
        raise RowBroken("qry_img_path lists no picture.")
    text = reading.text(row.get("qry_text"), "qry_text") or None
    images = reading.pictures(names, "qry_img_path")
    return Item(text=text, images=images, instruction=_instruction(row, reading))


def _volume_query(row: Row, reading: Reading) -> Item:
    names = _list(_wanted(row, "qry_img_path"))
    shown_as = _shown_as(row.get("qry_modality"))
    seen = reading.volume(names, "qry_img_path", shown_as=shown_as)
    text = reading.text(row.get("qry_text"), "qry_text") or None
    return Item(text, seen.images, seen.volumes, _instruction(row, reading))


def _shown_as(modality: object) -> str:
    """The release knows ``image``; everything else, and nothing, is a video."""
    return "images" if modality == "image" else "video"


def _text_candidates(row: Row, reading: Reading) -> Iterator[Candidate]:
    for place, value in enumerate(_list(_wanted(row, "tgt_text"))):
        text = reading.text(value, "tgt_text")
        if place == 0 and not text.strip():
            raise RowBroken("tgt_text begins with an empty text; the positive needs words.")
        yield reading.candidate(text, Item(text=text))


def _cleaned_candidates(row: Row, reading: Reading) -> Iterator[Candidate]:
    for candidate in _text_candidates(row, reading):
        if reading.settings.clean_text:
            text = clean(candidate.name)
            yield reading.candidate(text, Item(text=text))
        else:
            yield candidate


def _paired_candidates(row: Row, reading: Reading) -> Iterator[Candidate]:
    """Texts and pictures of equal number are pairs; else all pictures are one candidate.

    An inner list (the VinDr-CXR and Chest ImaGenome builders write one) is one candidate of
    several pictures, whatever the number of texts.
    """
    groups = _list(_wanted(row, "tgt_img_path"))
    texts = [reading.text(value, "tgt_text") for value in _list(_wanted(row, "tgt_text"))]
    nested = any(isinstance(group, list) for group in groups)
    if nested or len(texts) == len(groups):
        for index, group in enumerate(groups):
            yield _pictured(_list(group), texts[index] if index < len(texts) else "", reading)
    elif groups:
        yield _pictured(groups, texts[0] if texts else "", reading)


def _pictured(names: list[Any], text: str, reading: Reading) -> Candidate:
    if not names:
        raise RowBroken("tgt_img_path holds an empty list; name the candidate's pictures.")
    images = reading.pictures(names, "tgt_img_path")
    name = f"{names[0]}:{text}" if len(names) == 1 else "+".join(names)
    return reading.candidate(name, Item(text=text or None, images=images))


def _lone_candidates(row: Row, reading: Reading) -> Iterator[Candidate]:
    """One picture each, named by its path alone; an empty text is left out."""
    paths = _list(_wanted(row, "tgt_img_path"))
    texts = _list(row.get("tgt_text")) or [""] * len(paths)
    if len(texts) != len(paths):
        raise RowBroken(
            f"tgt_text has {len(texts)} entries and tgt_img_path {len(paths)}; they must be pairs."
        )
    for value, name in zip(texts, paths, strict=True):
        group = _list(name)
        images = reading.pictures(group, "tgt_img_path")
        text = reading.text(value, "tgt_text") or None
        yield reading.candidate("+".join(group), Item(text=text, images=images))


def _volume_candidates(row: Row, reading: Reading) -> Iterator[Candidate]:
    """One inner list of slices per volume; a flat list is one volume."""
    groups = _list(_wanted(row, "tgt_img_path"))
    if groups and not any(isinstance(group, list) for group in groups):
        groups = [groups]
    texts = _list(row.get("tgt_text"))
    shown_as = _shown_as(row.get("tgt_modality"))
    for index, group in enumerate(groups):
        names = _list(group)
        seen = reading.volume(names, "tgt_img_path", shown_as=shown_as)
        text = reading.text(texts[index], "tgt_text") if index < len(texts) else ""
        name = "+".join(str(part) for part in names[:NAMED_SLICES]) + "..."
        yield reading.candidate(name, Item(text or None, seen.images, seen.volumes))


QueryReader = Callable[[Row, Reading], Item]
CandidateReader = Callable[[Row, Reading], Iterator[Candidate]]
PARSERS: dict[str, tuple[QueryReader, CandidateReader]] = {
    "image_cls": (_picture_query, _text_candidates),
    "image_qa": (_picture_query, _text_candidates),
    "image_i2i": (_picture_query, _paired_candidates),
    "image_i2i_vg": (_picture_query, _paired_candidates),
    "image_t2i": (_text_query, _lone_candidates),
    "volume_i2t": (_volume_query, _text_candidates),
    "volume_t2i": (_text_query, _volume_candidates),
    "volume_i2i": (_volume_query, _volume_candidates),
    "text_qa": (_cleaned_query, _cleaned_candidates),
}


def read_row(parser: str, number: int, row: object, reading: Reading) -> Query:
    """Read one row.

    Args:
        parser: a key of ``PARSERS``.
        number: the row's position in its file, from 0.
        row: what JSON made of it.
        reading: what the rows of the file share.

    Raises:
        RowBroken: the row does not fit its parser, or names a picture that is not there.
    """
    if not isinstance(row, Mapping):
        raise RowBroken(f"it is {type(row).__name__}, expected an object with columns.")
    read_query, read_candidates = PARSERS[parser]
    # tables write an empty cell as NaN
    row = {column: None if _is_nan(value) else value for column, value in row.items()}
    item = read_query(row, reading)
    distinct: dict[str, Candidate] = {}
    labels = [str(label) for label in _list(row.get("tgt_label"))]
    groups = [str(group or "") for group in _list(row.get("tgt_group"))]
    for place, candidate in enumerate(read_candidates(row, reading)):
        distinct.setdefault(candidate.name, candidate)
        if place < len(labels):
            reading.labels.setdefault(candidate.name, labels[place])
        if (
            place < len(groups)
            and reading.groups.setdefault(candidate.name, groups[place]) != (groups[place])
        ):
            reading.groups[candidate.name] = ""
    if not distinct:
        raise RowBroken("it lists no candidate; the positive must come first.")
    candidates = tuple(distinct.values())
    label, group = (str(row.get(column) or "") for column in ("qry_label", "qry_group"))
    return Query(number, item, candidates, candidates[0].name, label, group)
