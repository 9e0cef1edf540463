"""The files below some places, folder by folder, with size and time as the listing tells them.

Owns the order of the walk and what it passes over (hidden names, links to folders). Refuses to
open a file, and to hold more than one folder in memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import EvidenceError
from engine.evidence.dicom.dicomdir import is_index, read_disc
from engine.evidence.files import facts_of
from engine.evidence.walk import IGNORED

Facts = tuple[int, int]
Told = list[dict[str, str]]
CLOSED = "the folder cannot be opened; check its rights"
ODD = "its name is no text in UTF-8; rename it, or the folder that is written so"


@dataclass(frozen=True)
class Folder:
    """Files that may belong together.

    Attributes:
        files: path to (size in bytes, modification time in ns), in order of name.
        path: the folder; empty for files that were named one by one, or by the index of a disc.
    """

    files: dict[str, Facts]
    path: str = ""

    @property
    def places(self) -> set[str]:
        """The folders in which the files lie."""
        return {self.path} if self.path else {os.path.dirname(file) for file in self.files}  # noqa: PTH120 - a hundred thousand of them


def walk(roots: Iterable[Path], *, told: Told | None = None) -> Iterator[Folder]:
    """Files below the roots by folder, each folder before those in it, in order of name.

    Args:
        roots: files and folders; files named one by one are one group, since they may be a series.
        told: gets ``{"path", "reason"}`` of every folder that cannot be opened and every file
            whose name no database can hold.

    Yields:
        Folders with at least one file.
    """
    told = [] if told is None else told
    places = [root for root in roots if _nameable(str(root), told)]
    named = [root for root in places if not _is_folder(root)]
    if named:
        files = [file for root in named for file in (root, *_indexed(root))]
        yield Folder({str(file): _facts(file) for file in files if _nameable(str(file), told)})
    given: set[str] = set()
    for root in _outermost([root for root in places if _is_folder(root)]):
        yield from _below(str(root), told, given)


def count_files(roots: Iterable[Path]) -> int:
    """How many files ``walk`` will hand out."""
    places = list(roots)
    trees = [root for root in places if _is_folder(root)]
    found = sum(len(_listing(place, [])[0]) for place in _folders(_outermost(trees)))
    named = [place for place in places if not _is_folder(place)]
    return found + sum(1 + len(_indexed(place)) for place in named)


def _indexed(named: Path) -> tuple[Path, ...]:
    """The files that the index of a disc names, if that is what was named."""
    return read_disc(named).present if is_index(named) else ()


def printable(path: str | Path) -> str:
    """A path with ``?`` for bytes that are no text."""
    return str(path).encode("utf-8", "replace").decode("utf-8")


def _below(folder: str, told: Told, given: set[str]) -> Iterator[Folder]:
    """A folder and those in it; ``given`` are files that went along with an index above."""
    entries, folders = _listing(folder, told)
    files = {
        entry.path: _facts(entry)
        for entry in entries
        if entry.path not in given and _nameable(entry.path, told)
    }
    disc = [str(file) for entry in entries for file in _indexed(Path(entry.path))]
    for file in disc:  # one series of a disc may lie in several folders
        if file not in files and file not in given:
            files[file] = _facts(Path(file))
    given.update(disc)
    if files:
        yield Folder(files, "" if disc else folder)
    for one in folders:
        yield from _below(one, told, given)


def _folders(roots: Sequence[Path]) -> Iterator[str]:
    waiting = [str(root) for root in roots]
    while waiting:
        yield (place := waiting.pop())
        waiting += _listing(place, [])[1]


def _listing(folder: str, told: Told) -> tuple[list[os.DirEntry[str]], list[str]]:
    """The visible files and folders of a folder, by name; links to folders are left out."""
    files, folders = [], []
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError:
        told.append({"path": printable(folder), "reason": CLOSED})
        return [], []
    for entry in entries:
        if entry.name.startswith(".") or entry.name.lower() in IGNORED:
            continue
        if not _is_folder(entry):
            files.append(entry)
        elif not entry.is_symlink():
            folders.append(entry.path)
    return files, folders


def _is_folder(place: Path | os.DirEntry[str]) -> bool:
    try:
        return place.is_dir()
    except OSError:  # looking is not allowed, or no path is that long; the reader says which
        return False


def _facts(place: Path | os.DirEntry[str]) -> Facts:
    """Size and time; a file that is gone, or cannot be looked at, counts as empty."""
    try:
        stat = place.stat()
    except OSError:
        return _inside(place) if isinstance(place, Path) else (0, 0)
    return stat.st_size, stat.st_mtime_ns


def _inside(place: Path) -> Facts:
    """Size and time of a member of a container."""
    try:
        found = facts_of(place)
    except (OSError, EvidenceError):
        return 0, 0
    return found.size, found.mtime_ns


def nameable(path: str | Path) -> bool:
    """Whether a path is text; a database holds no other."""
    words = str(path)
    return words.isascii() or printable(words) == words


def _nameable(path: str, told: Told) -> bool:
    if not nameable(path):
        told.append({"path": printable(path), "reason": ODD})
        return False
    return True


def _outermost(trees: Sequence[Path]) -> list[Path]:
    """The folders that lie in none of the others, each once."""
    return [
        tree
        for number, tree in enumerate(trees)
        if tree not in trees[:number] and not any(other in tree.parents for other in trees)
    ]
