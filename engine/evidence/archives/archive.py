"""Archives as folders: what a zip or tar holds, as paths that every reader can open.

Owns which members count as evidence (no hidden files, no ``__MACOSX``). Refuses zips that are
documents, programs or arrays (.docx, .jar, .npz): those are no folders of files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.archives import containers
from engine.evidence.failures import of_system

# archives and packed files that are not opened here, told by their first bytes
SEALED = {
    b"7z\xbc\xaf\x27\x1c": "7z archive",
    b"Rar!\x1a\x07": "RAR archive",
    b"\xfd7zXZ\0": "xz file",
    b"\x28\xb5\x2f\xfd": "zstd file",
    b"BZh": "bzip2 file",
}
IGNORED = frozenset({"thumbs.db", "desktop.ini", "__macosx"})


def is_archive(head: bytes) -> bool:
    """True if a file's first bytes (300 are enough) are those of a zip or tar of files.

    True as well for packed files that ``members`` refuses with a sentence (7z, RAR, xz, ...).

    For a .tgz these are the first bytes as ``files.open_file`` gives them, that is, unzipped.
    Packed by bzip2 or xz, a tar is found when it is opened; other packed files are refused then.
    """
    return containers.is_zip(head) or containers.is_tar(head) or sealed(head) is not None


def sealed(head: bytes) -> str | None:
    """What kind of packed file this is, if it is one that is not opened here."""
    if head.startswith(b"BZh") and head[4:10] != b"1AY&SY":
        return None
    return next((name for mark, name in SEALED.items() if head.startswith(mark)), None)


def members(path: Path) -> Iterator[Path]:
    """The files in an archive, as paths that run on into it, in order of their names.

    Nothing is unpacked yet: a member that cannot be is found out when it is opened. An archive in
    the archive is one of its files; ask for its members in turn.

    Args:
        path: an archive on disk or a member that is one.

    Raises:
        EvidenceError: ``missing``, ``truncated``, ``damaged``, ``bomb``, ``too_large``,
            ``nested`` or ``not_archive``.
    """
    archive = open_archive(path)
    names = sorted(name for name in archive.members if not _hidden(name))
    for name in names:
        yield path / name


def open_archive(path: Path) -> containers.Archive:
    """The directory of an archive; see ``members``."""
    try:
        place = containers.locate(path)
        if place.rest:
            found = None
        elif place.archive is None or place.member is None:
            found = containers.archive_of(place.file)
        else:
            found = containers.archive_in(place.archive, place.member, place.file)
    except OSError as failure:
        raise of_system(path, failure) from failure
    if found is None:
        with files.open_file(path) as stream:
            kind = sealed(stream.read(300))
        if kind is not None:
            reason = f"a {kind} is not opened here; unpack it and open what it holds"
            raise EvidenceError(path, "unsupported", reason)
        reason = "this is no archive of files; open it with the program that made it"
        raise EvidenceError(path, "not_archive", reason)
    return found


def _hidden(name: str) -> bool:
    """True for files that systems leave behind."""
    return any(part.startswith(".") or part.lower() in IGNORED for part in name.split("/"))
