"""A person's own data, row by row, and the records that tasks are made of.

Owns how rows about one picture come together (labels, boxes), who counts as one patient, the side
of the split (one for all tasks) and names of files that tell nobody's. Refuses nothing: what is
left out is a note.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from engine.evidence.files import split
from engine.evidence.item import Item
from engine.evidence.pixels import prepare
from studies.medheb.builders import choose
from studies.medheb.builders.media import COPIED
from studies.medheb.builders.record import Box, Picture, Pixels, Record, Region, Volume
from studies.medheb.sources.scrubbed import scrubbed

ROW, SHOWN, PAIR = "row", "shown", "pair"  # how a record came about; the first part of its key
PARTS = {
    "train": "train", "training": "train", "tr": "train",
    "val": "valid", "valid": "valid", "validation": "valid", "dev": "valid",
    "test": "test", "testing": "test", "te": "test", "eval": "test", "holdout": "test",
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One row of a person's table, or one object of a collection.

    Attributes:
        key: unique, stable between runs; never shown to a model.
        shown: the picture or volume, None for text alone.
        content: names what it shows by its bytes, so that copies are one; empty for text.
        patient: whose it is; empty where nobody says.
        part: the official part in the owner's word, empty where there is none.
        labels: classes.
        texts: by role (``report``, ``findings``, ``impression``, ``question``, ``answer``).
        region: words for the boxes.
        boxes: in pixels of the picture.
        modality: of a volume, where two of one patient make a pair.
        own: identifiers of the row, taken out of its texts.
        group: what it must stay together with, where that is more than its patient.
    """

    key: str
    shown: Item | None = None
    content: str = ""
    patient: str = ""
    part: str = ""
    labels: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    region: str = ""
    boxes: tuple[Box, ...] = ()
    modality: str = ""
    own: tuple[str, ...] = ()
    group: str = ""

    @property
    def flat(self) -> bool:
        """It shows one picture."""
        return self.shown is not None and bool(self.shown.images)

    @property
    def deep(self) -> bool:
        """It shows a volume."""
        return self.shown is not None and bool(self.shown.volumes)


def records_of(
    entries: Sequence[Entry], *, scrub: bool, seed: int, share: float, notes: list[str]
) -> list[Record]:
    """All records that tasks are made of, on one side of the split for all tasks.

    Args:
        entries: of the data.
        scrub: take days, numbers and names with a title out of texts.
        seed: of the split where none is given.
        share: of the patients on the test side there.
        notes: gets sentences on what was decided.
    """
    entries = _joined(entries)
    records = [_of_row(entry, scrub) for entry in entries if entry.texts]
    records += _of_shown([entry for entry in entries if entry.shown is not None])
    records += _of_pairs([entry for entry in entries if entry.deep and entry.modality])
    if not any(entry.patient for entry in entries):
        notes.append(
            "No column or header names the patient, so each picture or text stands for itself: "
            "two of one patient can meet across the split."
        )
    several = sum(r.key.startswith(SHOWN) and len(r.labels) > 1 for r in records)
    if several:
        notes.append(
            f"{several} pictures or volumes have more than one class, in one row or in several; "
            "tasks by label leave them out."
        )
    return _split(records, entries, seed, share, notes)


def _joined(entries: Sequence[Entry]) -> list[Entry]:
    """Patients who share a picture, byte for byte, stay on one side of the split with it."""
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while above.get(name, name) != name:
            name = above[name]
        return name

    for entry in entries:
        if entry.content and entry.patient:
            first, second = sorted((top(group_of(entry)), top(entry.content)))
            above[second] = first
    return [replace(entry, group=top(group_of(entry))) for entry in entries]


def group_of(entry: Entry) -> str:
    """Whatever must stay on one side: the patient, else what is shown, else the row."""
    if entry.group:
        return entry.group
    if entry.patient:
        return f"patient {entry.patient}"
    return entry.content or f"row {entry.key}"


def _of_row(entry: Entry, scrub: bool) -> Record:
    texts = {
        role: scrubbed(text, entry.own) if scrub else " ".join(text.split())
        for role, text in entry.texts.items()
    }
    return _record(f"{ROW} {entry.key}", [entry], texts=texts)


def _of_shown(entries: Iterable[Entry]) -> list[Record]:
    """One record for each different picture or volume, with all its labels and boxes."""
    groups: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[entry.content].append(entry)
    return [_record(f"{SHOWN} {name}", of) for name, of in groups.items()]


def _of_pairs(entries: Iterable[Entry]) -> list[Record]:
    """One record for each patient with volumes of two modalities and more: the first of each."""
    groups: dict[str, dict[str, Entry]] = defaultdict(dict)
    for entry in entries:
        if entry.patient:
            groups[entry.patient].setdefault(entry.modality, entry)
    found = []
    for patient, of in groups.items():
        if len(of) > 1:
            volumes = {role: _volume(entry) for role, entry in of.items()}
            first = next(iter(of.values()))
            record = Record(f"{PAIR} {patient}", group_of(first), first.part, volumes=volumes)
            found.append(record)
    return found


def _record(key: str, of: Sequence[Entry], *, texts: Mapping[str, str] | None = None) -> Record:
    first = of[0]
    regions: dict[str, list[Box]] = defaultdict(list)
    for entry in of:
        if entry.boxes and entry.region:
            regions[entry.region] += entry.boxes
    return Record(
        key=key,
        group=group_of(first),
        split=first.part,
        labels=tuple(dict.fromkeys(label for entry in of for label in entry.labels)),
        pictures=(_picture(first),) if first.flat else (),
        volumes={"volume": _volume(first)} if first.deep else {},
        texts=texts or {},
        regions=tuple(Region(text, tuple(sorted(set(b)))) for text, b in regions.items()),
    )


def _split(
    records: Sequence[Record], entries: Sequence[Entry], seed: int, share: float, notes: list[str]
) -> list[Record]:
    """The same sides in all tasks: the owner's parts, or a cut by patient."""
    parts = {record.split for record in records if record.split}
    if not parts:
        tested = {r.group for r in choose.side_of_test(records, seed=seed, share=share)}
        share_words = f"{100 * (1 - share):.0f}:{100 * share:.0f}"
        notes.append(f"No part is named, so patients or pictures were cut {share_words}.")
        return [replace(r, split="test" if r.group in tested else "train") for r in records]
    known = {part: PARTS.get(part.strip().lower(), part) for part in parts}
    test = "test" if "test" in known.values() else "valid"
    if test not in known.values():
        notes.append(f"None of the parts {', '.join(sorted(parts))} is called test: all is tested.")
        return [replace(record, split="test") for record in records]
    sides = [replace(r, split="test" if known.get(r.split) == test else "train") for r in records]
    elsewhere = {group_of(entry) for entry in entries if known.get(entry.part) != test}
    return _apart(sides, elsewhere, notes)


def _apart(records: Sequence[Record], elsewhere: set[str], notes: list[str]) -> list[Record]:
    """Take what is tested away from patients who are also in another part."""
    both = {r.group for r in records if r.split == "test"} & elsewhere
    if both:
        notes.append(
            f"{len(both)} patients or pictures stand in the test part and in another; what is "
            "tested of them was left out."
        )
    return [r for r in records if r.split != "test" or r.group not in both]


def _picture(entry: Entry) -> Picture:
    item = Item(images=entry.shown.images) if entry.shown else Item()
    path = Path(item.images[0].path)
    name = entry.content
    if path.suffix.lower() in COPIED and not split(path)[1] and path.is_file():
        return Picture(f"{name}{path.suffix.lower()}", path)
    return Picture(f"{name}.png", pixels=lambda: prepare(item).images[0])


def _volume(entry: Entry) -> Volume:
    item = Item(volumes=entry.shown.volumes) if entry.shown else Item()

    def slices() -> Pixels:
        return np.ascontiguousarray(prepare(item).volumes[0])

    return Volume(entry.content, slices)


def tokens_of(records: Sequence[Record], *, seed: int) -> dict[str, str]:
    """A number for each group, by lot: rows can say "the same patient" and nobody's name."""
    groups = sorted({record.group for record in records})
    mixed = choose.order_by_seed(groups, seed, str, salt="groups")
    return {group: f"g{number}" for number, group in enumerate(mixed, start=1)}
