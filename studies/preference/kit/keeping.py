"""Publishing into a folder again: its own files are replaced, what a person wrote stays.

Owns ``checksums.txt``, which ``sha256sum -c`` reads, and the names that stand in for files
somebody changed (``methods.new.md``). Refuses a folder of another study and a table that was
changed since it was written; each is named.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from db.failures import translated
from db.files import write_whole
from studies.errors import BadRequest

CHECKSUMS = "checksums.txt"
TEXTS = ("README.md", "methods.md", "report.md", "tables.tex")  # people write in these
ANCHORS = ("README.md", "study.csv", "methods.md", "analysis.py")
ELSEWHERE = "Name an empty folder, or the one that this study was published into."
_LINE = re.compile(r"([0-9a-f]{64})  ([^/\\]+)")
_NEW = re.compile(r"(.+)\.new(?:-\d+)?(\.\w+)")


@dataclass(frozen=True)
class Before:
    """What stood in a folder before.

    Attributes:
        folder: where the kit goes.
        recorded: file to its SHA-256 as last written; None where that was not kept.
        ours: ``"yes"`` where a file of this study is there.
    """

    folder: Path
    recorded: Mapping[str, str] | None
    ours: str

    def changed(self, name: str, content: bytes) -> bool:
        """Whether a file is there that neither was written so before nor would be now."""
        held = _held(self.folder / name)
        if held is None or held == content:
            return False
        if self.recorded is None:
            return name in TEXTS or self.ours == "no"
        return self.recorded.get(name) != _sum(held)


def look(folder: Path, study_hash: str) -> Before:
    """What a folder holds, before anything is computed or written.

    Args:
        folder: may be missing.
        study_hash: of the study that is published.

    Raises:
        BadRequest: the folder is of another study; names the file.
        StoreError: it cannot be read.
    """
    listed = _held(folder / CHECKSUMS)
    recorded = None if listed is None else _recorded(folder / CHECKSUMS, listed, study_hash)
    there = {name: held for name in ANCHORS if (held := _held(folder / name)) is not None}
    for name, held in there.items():
        if study_hash.encode("ascii") not in held and name not in (recorded or {}):
            _not_ours(folder / name)
    return Before(folder, recorded, "yes" if there else "no")


def put(before: Before, contents: Mapping[str, bytes], study_hash: str) -> tuple[Path, ...]:
    """Write all files of a kit, keep what a person changed, remove what is of the kit no more.

    Args:
        before: see ``look``; its folder is there.
        contents: file name to bytes.
        study_hash: of the study.

    Returns:
        The files written; a text that somebody changed stands beside theirs, see ``remarks``.

    Raises:
        BadRequest: names the tables that somebody changed, or files that are not of the kit.
        StoreError: the folder cannot be written.
    """
    changed = [name for name, content in contents.items() if before.changed(name, content)]
    _refuse([name for name in changed if name not in TEXTS], before)
    chosen = {name: content for name, content in contents.items() if name not in changed}
    known = before.recorded or {}
    for name in changed:
        if known.get(name) != _sum(contents[name]):  # else there is nothing new to say
            chosen[_beside(before, name, contents[name])] = contents[name]
    for name, content in chosen.items():
        write_whole(before.folder / name, content, access="umask")
    sums = {name: told for name, told in known.items() if _NEW.fullmatch(name)}
    sums |= {name: _sum(content) for name, content in {**contents, **chosen}.items()}
    _remove_stale(before, sums)
    lines = [f"# study hash {study_hash or '-'}", *(f"{sums[name]}  {name}" for name in sums)]
    listed = "\n".join(lines) + "\n"
    write_whole(before.folder / CHECKSUMS, listed.encode("utf-8"), access="umask")
    return tuple(before.folder / name for name in (*chosen, CHECKSUMS))


def remarks(written: Iterable[Path]) -> tuple[str, ...]:
    """A sentence for every text that somebody had changed and that was kept."""
    found = ((path, _NEW.fullmatch(path.name)) for path in written)
    return tuple(
        f"{new[1]}{new[2]} was changed by somebody and stays as it is; the new text is "
        f"{path.name} beside it."
        for path, new in found
        if new
    )


def _recorded(file: Path, listed: bytes, study_hash: str) -> dict[str, str]:
    first, *lines = listed.decode("utf-8", "replace").splitlines() or [""]
    if first != f"# study hash {study_hash or '-'}":
        _not_ours(file)
    found = filter(None, map(_LINE.fullmatch, lines))
    return {one[2]: one[1] for one in found}


def _not_ours(file: Path) -> None:
    raise BadRequest(f"{file} is not of this study and would be replaced. {ELSEWHERE}")


def _refuse(names: list[str], before: Before) -> None:
    """Refuse to replace tables, figures and scripts that are not as they were written."""
    if not names:
        return
    if before.recorded is None:
        _not_ours(before.folder / names[0])
    raise BadRequest(
        f"Changed in {before.folder} since it was published: {', '.join(sorted(names))}. "
        "Nothing was written. Move or rename them, or name an empty folder."
    )


def _beside(before: Before, name: str, content: bytes) -> str:
    """A free name beside a text that somebody changed: ``methods.new.md``, ``methods.new-2.md``."""
    stem, dot, ending = name.rpartition(".")
    place, free = 1, f"{stem}.new{dot}{ending}"
    while _others(before, free, content):
        place += 1
        free = f"{stem}.new-{place}{dot}{ending}"
    return free


def _others(before: Before, name: str, content: bytes) -> bool:
    held = _held(before.folder / name)
    return held not in (None, content) and (before.recorded or {}).get(name) != _sum(held or b"")


def _remove_stale(before: Before, sums: Mapping[str, str]) -> None:
    """Files that an earlier publishing wrote, this one does not, and nobody changed."""
    for name, told in (before.recorded or {}).items():
        held = None if name in sums else _held(before.folder / name)
        if held is not None and _sum(held) == told:
            with translated(before.folder):
                (before.folder / name).unlink(missing_ok=True)


def _held(file: Path) -> bytes | None:
    """The bytes of a file, None where there is none."""
    with translated(file):
        return file.read_bytes() if file.is_file() else None


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
