"""The index of a DICOM disc (DICOMDIR, PS3.3 Annex F): which files it names, and where they are.

Owns the way from a Referenced File ID to a file below the index, whatever case and separators a
disc writer used. Refuses names that lead out of the folder, and to read the patients that the
records list.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydicom.dataset import Dataset

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.dicom.read import PARSE_ERRORS, read_header
from engine.evidence.quiet import quiet

NAME = "DICOMDIR"
UID = "1.2.840.10008.1.3.10"
MOST = 200_000


@dataclass(frozen=True)
class Disc:
    """What an index names.

    Attributes:
        present: files that are there, in the index's order, each once.
        missing: how many named files are not there.
        refused: how many names lead out of the folder or are none.
    """

    present: tuple[Path, ...] = ()
    missing: int = 0
    refused: int = 0


def is_index(path: Path) -> bool:
    """True for the file name of an index, in any case."""
    return path.name.upper() == NAME


def read_disc(path: Path) -> Disc:
    """The files that an index names; empty if it cannot be read as one."""
    try:
        return disc_of(path, read_header(path).dataset)
    except EvidenceError:
        return Disc()


def disc_of(path: Path, dataset: Dataset) -> Disc:
    """The files that a parsed index names.

    Args:
        path: the index; files are looked for below its folder.
        dataset: its data set.
    """
    look = _Folder(path.parent)
    present: dict[Path, None] = {}
    missing = refused = 0
    for parts in _names(dataset):
        if parts is None:
            refused += 1
            continue
        found = look.find(parts)
        if found is None:
            missing += 1
        else:
            present[found] = None
    return Disc(tuple(present), missing, refused)


def notes_of(disc: Disc) -> tuple[str, ...]:
    """Sentences on what an index names."""
    total = len(disc.present) + disc.missing
    notes = [f"an index of {total} file{'' if total == 1 else 's'}"]
    if disc.missing:
        notes.append(f"{disc.missing} of the files that the index names are not there")
    if disc.refused:
        notes.append(f"{disc.refused} names in the index lead out of its folder; left out")
    return tuple(notes)


def _names(dataset: Dataset) -> Iterator[tuple[str, ...] | None]:
    """The parts of each Referenced File ID; None for one that leads elsewhere."""
    try:
        with quiet():
            records = list(dataset.get("DirectoryRecordSequence") or [])[:MOST]
    except (*PARSE_ERRORS, OSError):
        return
    for record in records:
        try:
            with quiet():
                value = record.get("ReferencedFileID")
        except (*PARSE_ERRORS, OSError):
            yield None
            continue
        if value:
            many = [value] if isinstance(value, str) else list(value)
            yield parts_of(str(one) for one in many)


def parts_of(words: Iterable[str]) -> tuple[str, ...] | None:
    """Folder and file names of an ID written with backslashes or slashes; None if it leads out."""
    parts = [part.strip() for word in words for part in re.split(r"[\\/]", word)]
    bad = any(part in ("", ".", "..") or ":" in part or "\0" in part for part in parts)
    return None if bad or not parts else tuple(parts)


class _Folder:
    """A folder looked into without regard to upper and lower case."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._listed: dict[Path, dict[str, str]] = {}

    def find(self, parts: tuple[str, ...]) -> Path | None:
        """The file of these parts below the root, None if it is not there."""
        if not self._root.is_dir():  # a folder inside a container
            found = self._root.joinpath(*parts)
            return found if files.exists(found) else None
        place = self._root
        for part in parts:
            name = self._named(place, part)
            if name is None:
                return None
            place = place / name
        inside = place.resolve().is_relative_to(self._root.resolve())
        return place if inside and place.is_file() else None

    def _named(self, folder: Path, part: str) -> str | None:
        """The name on disk: as written, in another case, or with a disc's version number."""
        listed = self._listed.get(folder)
        if listed is None:
            try:
                names = os.listdir(folder)  # noqa: PTH208 - names alone are wanted, thousands
            except OSError:
                names = []
            listed = self._listed[folder] = {_plain(name): name for name in sorted(names)}
        return listed.get(_plain(part))


def _plain(name: str) -> str:
    """A name for comparison: one case, no version number, no last point (ISO 9660)."""
    return re.sub(r"\.?(;\d+)?$", "", name).casefold()
