"""The way through files and folders: which files are looked at together, and which are left out.

Owns the order (by name, a folder before those in it), hidden names, links, the data files of
header files, and the index of a disc. Refuses to look at what a file holds, save for an index.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import EvidenceError
from engine.evidence.dicom import dicomdir
from engine.evidence.digest import companions

IGNORED = frozenset({"thumbs.db", "desktop.ini"})
HEADERS = (".hdr", ".hdr.gz", ".mhd", ".nhdr")


@dataclass(frozen=True, eq=False)
class Batch:
    """Files that may form series together, and folders that could not be read."""

    files: list[Path]
    errors: tuple[tuple[Path, EvidenceError], ...] = ()


def batches(paths: list[Path], *, follow: bool) -> Iterator[Batch]:
    """The named files as one batch, then each folder as one, in order of name.

    Args:
        paths: files and folders.
        follow: True reads the files that the index of a disc names together with it.
    """
    folders = [path for path in paths if _is_folder(path)]
    taken = set(folders)
    named = [path for path in paths if path not in taken]
    if named:
        more = [file for path in named for file in _named_by(path)] if follow else []
        yield Batch(without_companions(list(dict.fromkeys([*named, *more]))))
    for path in folders:
        yield from _walk(path, follow=follow)


def _named_by(path: Path) -> tuple[Path, ...]:
    return dicomdir.read_disc(path).present if dicomdir.is_index(path) else ()


def _walk(root: Path, *, follow: bool) -> Iterator[Batch]:
    """A folder and those below it; links to folders are not followed, hidden names left out.

    The files that an index names come with it, wherever they lie below, and not again.
    """
    waiting, given = [root], set[Path]()
    while waiting:
        folder = waiting.pop()
        try:
            plain, below = _listed(folder)
        except OSError:
            reason = "the folder cannot be opened; check its rights"
            yield Batch([], ((folder, EvidenceError(folder, "denied", reason)),))
            continue
        if follow:
            plain = _with_disc(plain, given)
        if plain:
            yield Batch(without_companions(plain))
        waiting.extend(reversed(below))


def _listed(folder: Path) -> tuple[list[Path], list[Path]]:
    """The visible files and folders in a folder, in order of name."""
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    plain, below = [], []
    for entry in entries:
        if hidden(entry.name):
            continue
        if not _is_folder_entry(entry):
            plain.append(folder / entry.name)
        elif not entry.is_symlink():
            below.append(folder / entry.name)
    return plain, below


def _with_disc(plain: list[Path], given: set[Path]) -> list[Path]:
    """A folder's files: with all that its own index names, without what an index above named.

    Args:
        plain: the files of the folder.
        given: files that came with an index; those of this folder's index are added.
    """
    kept = [path for path in plain if path not in given] if given else plain
    indices = [path for path in kept if dicomdir.is_index(path)]
    if not indices:
        return kept
    here = set(plain)
    named = {file for path in indices for file in _named_by(path)} - given
    given |= named
    return [*kept, *sorted(named - here)]


def _is_folder_entry(entry: os.DirEntry[str]) -> bool:
    """True for a folder or a link to one; False where looking is not allowed."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_folder(path: Path) -> bool:
    """True for a folder; False, not an error, where looking is not allowed."""
    try:
        return path.is_dir()
    except OSError:
        return False


def hidden(name: str) -> bool:
    """True for names that people do not mean when they name a folder."""
    return name.startswith(".") or name.lower() in IGNORED


def without_companions(batch: list[Path]) -> list[Path]:
    """Leave out data files that a header file in the same batch names."""
    heads = [path for path in batch if path.name.lower().endswith(HEADERS)]
    owned = {part for path in heads for part in companions(path)}
    return [path for path in batch if path not in owned] if owned else batch
