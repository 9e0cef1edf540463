"""Paths that run on into an archive: which file on disk, which member, and what is left over.

Owns a memory of archives' directories (never of open handles: Windows could not delete the file)
and archives inside archives, one level. Refuses deeper ones, encrypted members and methods that
are not unpacked here.
"""

from __future__ import annotations

import io
import shutil
import tarfile
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from engine.errors import EvidenceError
from engine.evidence.archives import directory, inflate
from engine.evidence.archives.directory import LOCAL, Member
from engine.evidence.failures import bomb, damaged, truncated

GZIP = b"\x1f\x8b"
Unpacker = Callable[[Path, BinaryIO], Iterator[bytes]]
PACKED: dict[bytes, Unpacker] = {
    GZIP: inflate.gunzipped,
    b"BZh": inflate.bunzipped,
    b"\xfd7zXZ\0": inflate.unxzed,
}
KEPT_ARCHIVES = 32
KEPT_NAMES = 400_000
KEPT_UNPACKED = 4  # archives inside archives, in memory or in a temporary file
TAR_HEADER_BYTES = 1 << 20
# zips that are documents, programs or arrays, told by the name of their first member
NO_ARCHIVE = (
    b"[Content_Types].xml", b"_rels/", b"docProps/", b"mimetype", b"META-INF/",
    b"AndroidManifest.xml",
)  # fmt: skip


def is_zip(head: bytes) -> bool:
    """True for a zip of files; False for .npz, .docx, .xlsx, .jar and their kin."""
    if head[:4] == directory.END:
        return True
    if head[:4] != LOCAL or len(head) < 30:
        return False
    name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    return not name.startswith(NO_ARCHIVE) and not name.lower().endswith(b".npy")


def is_tar(head: bytes) -> bool:
    """True for the first bytes of a tar archive (POSIX or GNU)."""
    return head[257:262] == b"ustar"


@dataclass(eq=False)
class Archive:
    """A directory in memory and the way to the archive's bytes.

    Attributes:
        path: the archive, on disk or itself a member.
        opened: gives a fresh seekable stream over its bytes.
        members: its files by cleaned name, in the archive's order.
        depth: 0 on disk, 1 inside another archive.
        plain: members that were seen not to be gzip files.
    """

    path: Path
    opened: Callable[[], BinaryIO]
    members: dict[str, Member]
    depth: int = 0
    folded: dict[str, str] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)

    def member(self, name: str) -> Member | None:
        """A member by name; a name that differs only by case is found too."""
        found = self.members.get(name)
        if found is None and not self.folded:
            self.folded = {one.casefold(): one for one in self.members}
        return found or self.members.get(self.folded.get(name.casefold(), ""))


@dataclass(frozen=True)
class Place:
    """Where a path leads: a file on disk or a member, and the parts below it.

    Attributes:
        file: the path of that file or member.
        archive: the archive that holds it, None on disk.
        member: the member, None on disk.
        rest: parts of the path below the file, for files that hold several things (.npz, .csv).
    """

    file: Path
    archive: Archive | None = None
    member: Member | None = None
    rest: tuple[str, ...] = ()


_archives: OrderedDict[tuple[str, int, int], Archive | None] = OrderedDict()
_lock = threading.RLock()


def on_this_disk(path: Path) -> bool:
    """True for a file on disk; False, not an error, where looking is not allowed."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def locate(path: Path) -> Place:
    """Follow a path as far as files and archives go.

    Raises:
        FileNotFoundError: nothing on the way is there.
        EvidenceError: an archive on the way cannot be read.
    """
    if on_this_disk(path):
        return Place(path)
    above = next((one for one in path.parents if on_this_disk(one)), None)
    if above is None:
        if "\0" in str(path):  # no system has such names, and Python says so with another error
            raise FileNotFoundError(2, "no such file", path.name)
        path.stat()  # says what is wrong in the system's own way
        raise FileNotFoundError(2, "no such file", str(path))
    return _inside(above, path.parts[len(above.parts) :], archive_of(above))


def _inside(file: Path, parts: tuple[str, ...], archive: Archive | None) -> Place:
    """The member that parts name, entering an archive inside the archive where they go on."""
    if archive is None:
        return Place(file, rest=parts)
    for count in range(len(parts), 0, -1):
        member = archive.member("/".join(parts[:count]))
        if member is None:
            continue
        held = archive.path.joinpath(*parts[:count])
        if count == len(parts):
            return Place(held, archive, member)
        inner = archive_in(archive, member, held)
        if inner is None:
            return Place(held, archive, member, parts[count:])
        return _inside(held, parts[count:], inner)
    raise FileNotFoundError(2, "no such member", str(file.joinpath(*parts)))


def archive_of(path: Path) -> Archive | None:
    """The archive that a file on disk is, None if it is none.

    Raises:
        EvidenceError: its directory cannot be read.
        OSError: it cannot be opened.
    """
    facts = path.stat()
    key = (str(path), facts.st_size, facts.st_mtime_ns)

    def read() -> Archive | None:
        return _read(path, lambda: cast(BinaryIO, path.open("rb")), 0)

    return _remembered(key, read)


def archive_in(outer: Archive, member: Member, path: Path) -> Archive | None:
    """The archive that a member is, None if it is none.

    Raises:
        EvidenceError: it lies too deep, or cannot be read.
    """
    with stream_of(outer, member) as stream:
        head = stream.read(512)
    if not (is_zip(head) or is_tar(head)):
        return None
    if outer.depth >= 1:
        reason = "an archive three deep is not opened; unpack the outer ones first"
        raise EvidenceError(path, "nested", reason)
    key = (f"{path}|{member.crc}", member.size, member.at)
    return _remembered(key, lambda: _read(path, Held(stream_of(outer, member)), 1))


def _remembered(key: tuple[str, int, int], read: Callable[[], Archive | None]) -> Archive | None:
    """An archive from memory, or read and kept; the least used ones are forgotten."""
    with _lock:
        if key in _archives:
            _archives.move_to_end(key)
            return _archives[key]
        found = _archives[key] = read()
        _forget()
        return found


def _forget() -> None:
    """Let go of the least used archives: too many, too many names, or too much unpacked."""
    unpacked = [
        key for key, one in _archives.items() if one is not None and isinstance(one.opened, Held)
    ]
    for key in unpacked[: max(0, len(unpacked) - KEPT_UNPACKED)]:
        del _archives[key]
    names = sum(len(one.members) for one in _archives.values() if one is not None)
    while len(_archives) > 1 and (len(_archives) > KEPT_ARCHIVES or names > KEPT_NAMES):
        old = _archives.popitem(last=False)[1]
        names -= len(old.members) if old is not None else 0


def _read(path: Path, opened: Callable[[], BinaryIO], depth: int) -> Archive | None:
    """Read the directory of whatever archive the bytes are."""
    with opened() as stream:
        head = stream.read(512)
        unpack = next((one for mark, one in PACKED.items() if head.startswith(mark)), None)
        if unpack is not None:
            return _read_packed(path, opened, depth, unpack)
        if is_zip(head):
            members = directory.read_zip(path, stream)
            if any(member.name == "[Content_Types].xml" for member in members):
                return None  # a document whose parts stand in another order
        elif is_tar(head):
            members = read_tar(path, stream)
        else:
            return None
    return Archive(path, opened, {member.name: member for member in members}, depth)


def _read_packed(
    path: Path, opened: Callable[[], BinaryIO], depth: int, unpack: Unpacker
) -> Archive | None:
    """The archive inside a packed file (.tgz, .tar.xz), unpacked once; None for others."""
    source = opened()
    source.seek(0)
    pieces = inflate.ahead(inflate.limited(path, unpack(path, source), _size_of(source)))
    with io.BufferedReader(inflate.Inflated(pieces, source, size=None)) as stream:
        if not is_tar(stream.read(512)):
            return None
        stream.seek(0)
        whole = Held(cast(BinaryIO, stream))
    return _read(path, whole, depth)


def _size_of(source: BinaryIO) -> int:
    """The length of a stream; it stays at its start."""
    size = source.seek(0, 2)
    source.seek(0)
    return size


class _Headers:
    """What tarfile may read of an archive: headers, never a claimed length of gigabytes."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self._path, self._stream = path, stream
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, count: int) -> bytes:
        """As a file's, up to a megabyte."""
        if count > TAR_HEADER_BYTES:
            raise bomb(self._path)
        return self._stream.read(count)


def read_tar(path: Path, stream: BinaryIO) -> list[Member]:
    """The plain files of a tar archive; links, devices and sparse files left out."""
    found: list[Member] = []
    stream.seek(0)
    try:
        with tarfile.open(fileobj=cast(BinaryIO, _Headers(path, stream)), mode="r:") as tar:
            while (info := tar.next()) is not None:
                tar.members = []  # type: ignore[attr-defined]  # or every header is kept
                name = directory.clean_name(info.name)
                if info.isreg() and not info.issparse() and name:
                    found.append(Member(name, info.offset_data, info.size, info.size))
                if len(found) > directory.LIMIT_MEMBERS:
                    raise bomb(path)
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as failure:
        raise truncated(path) from failure
    directory.check_sizes(path, found, stream.seek(0, 2))
    return directory.distinct(found)


def unzipped(path: Path, source: BinaryIO) -> BinaryIO:
    """A seekable stream over what a gzip file holds."""
    source.seek(0)
    pieces = inflate.ahead(inflate.gunzipped(path, source))
    return cast(BinaryIO, io.BufferedReader(inflate.Inflated(pieces, source, size=None)))


def stream_of(archive: Archive, member: Member) -> BinaryIO:
    """A seekable stream over a member's unpacked bytes.

    Raises:
        EvidenceError: ``encrypted``, ``unsupported``, ``bomb``, ``too_large`` or ``damaged``.
    """
    path = archive.path / member.name
    _refuse(path, member)
    source = archive.opened()
    try:
        start = data_at(path, source, member)
        source.seek(start)
    except BaseException:
        source.close()
        raise
    if member.method == directory.STORED and member.size > inflate.IN_MEMORY:
        window = inflate.Window(source, start, member.size)
        return cast(BinaryIO, io.BufferedReader(window))
    unpack = {
        directory.STORED: inflate.stored,
        directory.DEFLATED: inflate.deflated,
        directory.BZIP2: inflate.bunzipped,
    }[member.method]
    pieces = unpack(path, source, member.packed)
    whole = inflate.checked(path, pieces, size=member.size, crc=member.crc)
    return cast(BinaryIO, io.BufferedReader(inflate.Inflated(whole, source, size=member.size)))


def _refuse(path: Path, member: Member) -> None:
    """Raise for what is not unpacked."""
    if member.encrypted:
        reason = "this member of the archive needs a password; unpack it yourself"
        raise EvidenceError(path, "encrypted", reason)
    if member.method not in (directory.STORED, directory.DEFLATED, directory.BZIP2):
        reason = f"packed by method {member.method}, which is not read here; unpack it yourself"
        raise EvidenceError(path, "unsupported", reason)
    if member.size > inflate.allowed(member.packed):
        raise bomb(path)
    if member.method == directory.STORED and member.size != member.packed:
        raise damaged(path)


def data_at(path: Path, source: BinaryIO, member: Member) -> int:
    """Where a member's data begins, behind its local header."""
    if not member.headed:
        return member.at
    source.seek(member.at)
    head = source.read(30)
    if len(head) < 30:
        raise truncated(path)
    if head[:4] != LOCAL:
        raise damaged(path)
    lengths = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    return member.at + 30 + lengths


class Held:
    """Bytes taken out once; a call gives a fresh stream over them.

    Small ones stay in memory, large ones in a temporary folder that goes with this object.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._first, self._copy = b"", Path()
        with stream:
            first = stream.read(inflate.IN_MEMORY)
            if len(first) < inflate.IN_MEMORY:
                self._first = first
                return
            folder = tempfile.mkdtemp()
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._copy = Path(folder) / "archive"
            with self._copy.open("wb") as target:
                target.write(first)
                shutil.copyfileobj(stream, target, 1 << 20)

    def __call__(self) -> BinaryIO:
        """A fresh stream."""
        if self._copy == Path():
            return cast(BinaryIO, io.BytesIO(self._first))
        return cast(BinaryIO, self._copy.open("rb"))
