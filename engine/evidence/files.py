"""The one door through which readers open files, on disk or inside a container (a zip archive).

A path may run on into a container: ``disc.zip/IMAGES/I10``. Owns opening, facts and the limits
against bombs. Refuses to unpack anything that a reader did not ask for, and to follow a member's
name out of its container.
"""

from __future__ import annotations

import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from engine.errors import EvidenceError
from engine.evidence.archives import containers

# files that hold many things, each with a path below the file
PARTED = frozenset(
    {".npz", ".npy", ".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".gz", ".hl7", ".oru",
     ".msg", ".er7", ".txt", ".dat"}
)  # fmt: skip

KEPT = 20_000
_unzipped: OrderedDict[tuple[str, int, int], int] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True)
class FileFacts:
    """Size in bytes and modification time (of the container, for a member of one).

    ``size`` is the length of what ``open_file`` reads: unzipped, for a gzip file.
    """

    size: int
    mtime_ns: int


def open_file(path: Path) -> BinaryIO:
    """Open for reading bytes; seekable, unzipped if the content (not the name) is gzip.

    Members and gzip files are unpacked while they are read, no further than they are read.

    Raises:
        OSError: as ``open`` does; FileNotFoundError for a member that is not there.
        EvidenceError: a container on the way is damaged, encrypted, cut or a bomb. Reading may
            raise it too: damage is met where it lies.
    """
    place = containers.locate(path)
    stream = _open(path, place)
    try:
        zipped = stream.read(2) == containers.GZIP
        stream.seek(0)
        if zipped:
            return containers.unzipped(path, stream)
        if place.archive is not None and place.member is not None:
            place.archive.plain.add(place.member.name)
        return stream
    except BaseException:
        stream.close()
        raise


def open_raw(path: Path) -> BinaryIO:
    """As ``open_file``, but gzip files as they are: for hashes and for readers that unzip."""
    return _open(path, containers.locate(path))


def _open(path: Path, place: containers.Place) -> BinaryIO:
    """The bytes of a place as they are."""
    if place.rest:
        raise FileNotFoundError(2, "a part of a file is no file", str(path))
    if place.archive is None or place.member is None:
        return cast(BinaryIO, place.file.open("rb"))
    return containers.stream_of(place.archive, place.member)


def facts_of(path: Path) -> FileFacts:
    """Size and time; for a part of a file (a row, an array item) those of the file.

    Raises:
        OSError: as ``stat`` does.
        EvidenceError: a container on the way cannot be read.
    """
    place = containers.locate(path)
    if place.member is not None:
        size, last = place.member.size, _disk_file(place.file)
    else:
        size, last = -1, place.file
    found = last.stat()
    size = found.st_size if size < 0 else size
    known = (
        place.archive is not None
        and place.member is not None
        and place.member.name in place.archive.plain
    )
    if not place.rest and size > 18 and not known:
        size = _unzipped_size(place.file, size)
    return FileFacts(size, found.st_mtime_ns)


def stamp_of(path: Path) -> tuple[int, int]:
    """Packed size and time (of the container, for a member): changes when the file does.

    Raises:
        OSError, EvidenceError: as ``facts_of``.
    """
    place = containers.locate(path)
    found = _disk_file(place.file).stat()
    return (found.st_size if place.member is None else place.member.size), found.st_mtime_ns


def _disk_file(path: Path) -> Path:
    """The file on disk that a path runs through."""
    return next(one for one in (path, *path.parents) if containers.on_this_disk(one))


def _unzipped_size(path: Path, size: int) -> int:
    """The length of what a gzip file holds, found by unzipping it once; others unchanged.

    The length in its last four bytes (RFC 1952) is that of its last part only, modulo 4 GiB.
    """
    with open_raw(path) as stream:
        if stream.read(2) != containers.GZIP:
            return size
    key = (str(path), *stamp_of(path))
    with _lock:
        known = _unzipped.get(key)
    if known is None:
        with open_file(path) as stream:
            known = stream.seek(0, 2)
        with _lock:
            _unzipped[key] = known
            while len(_unzipped) > KEPT:
                _unzipped.popitem(last=False)
    return known


def exists(path: Path) -> bool:
    """True for a file on disk, a member of a container, or a part of a file."""
    try:
        place = containers.locate(path)
    except (OSError, EvidenceError):
        return False
    return not place.rest or place.file.suffix.lower() in PARTED


def split(path: Path) -> tuple[Path, tuple[str, ...]]:
    """The file (or member) that a path leads to, and the parts below it.

    ``a.zip/x.npz/train/17`` becomes ``(a.zip/x.npz, ("train", "17"))``; a plain file or member
    has no parts.

    Raises:
        OSError: nothing of it is there.
        EvidenceError: a container on the way cannot be read.
    """
    place = containers.locate(path)
    return place.file, place.rest


@contextmanager
def on_disk(path: Path) -> Iterator[Path]:
    """The file itself, or a temporary unpacked copy, for libraries that want a name.

    Raises:
        OSError, EvidenceError: as ``open_file``.
    """
    with open_file(path) as stream:
        if containers.on_this_disk(path) and not isinstance(
            getattr(stream, "raw", None), containers.inflate.Inflated
        ):
            yield path
            return
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            copy = Path(folder) / f"member{path.suffix}"
            with copy.open("wb") as target:
                while piece := stream.read(1 << 20):
                    target.write(piece)
            yield copy
