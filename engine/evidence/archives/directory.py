"""What lies in a zip archive: its central directory, read with suspicion.

Owns names (cleaned: no drive, no root, no ``..``), encryption and method as claimed, and the
refusal of directories that lie: overlapping members, endless lists, sums that no archive has.
Refuses to unpack anything.

Source: PKWARE APPNOTE 6.3 (4.3.7, 4.3.12, 4.3.14 to 4.3.16, 4.5.3).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from engine.errors import EvidenceError
from engine.evidence.failures import bomb, damaged, truncated

LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
END64, LOCATOR64 = b"PK\x06\x06", b"PK\x06\x07"
TAIL = 22 + 65_535
DIRECTORY_BYTES = 64 << 20
LIMIT_MEMBERS = 200_000
FREE_TOTAL = 8 << 30  # an archive may unpack to this much whatever its own size
TOTAL_RATIO = 50
STORED, DEFLATED, BZIP2 = 0, 8, 12
ALL = 0xFFFFFFFF
FOLDER, LINK = 0o040000, 0o120000


@dataclass(frozen=True)
class Member:
    """One file of an archive.

    Attributes:
        name: cleaned name with ``/`` between its parts.
        at: where its local header (zip) or its data (tar) begins.
        packed: bytes in the archive.
        size: bytes unpacked, as claimed.
        method: number of the compression method.
        crc: checksum of the unpacked bytes, None if there is none.
        encrypted: True if a password is needed.
        headed: True if a local header stands before the data.
    """

    name: str
    at: int
    packed: int
    size: int
    method: int = STORED
    crc: int | None = None
    encrypted: bool = False
    headed: bool = False


def read_zip(path: Path, stream: BinaryIO) -> list[Member]:
    """The files that a zip archive lists, in its order; folders and links left out.

    Raises:
        EvidenceError: ``truncated``, ``damaged``, ``bomb``, ``too_large`` or ``unsupported``.
    """
    raw, shift = _central(path, stream)
    found: list[Member] = []
    place = 0
    while raw[place : place + 4] == CENTRAL:
        member, place = _entry(path, raw, place, shift)
        if member is not None:
            found.append(member)
        if len(found) > LIMIT_MEMBERS:
            raise _too_many(path)
    if not found and raw and raw[:4] != CENTRAL:
        raise damaged(path)
    check_sizes(path, found, stream.seek(0, 2))
    return distinct(found)


def _too_many(path: Path) -> EvidenceError:
    reason = f"the archive lists more than {LIMIT_MEMBERS} files; unpack it yourself"
    return EvidenceError(path, "too_large", reason)


def _central(path: Path, stream: BinaryIO) -> tuple[bytes, int]:
    """The bytes of the central directory, and how far everything lies behind its claimed place."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - TAIL))
    tail = stream.read(TAIL)
    at = tail.rfind(END)
    if at < 0 or at + 22 > len(tail):
        raise truncated(path)
    count, length, offset = struct.unpack("<HLL", tail[at + 10 : at + 20])
    end = size - len(tail) + at
    if ALL in (length, offset) or count == 0xFFFF:
        end, length, offset = _central64(path, stream, end, length, offset)
    if length > DIRECTORY_BYTES:
        raise _too_many(path)
    start = end - length
    if start < 0 or offset > start:
        raise truncated(path)
    stream.seek(start)
    return stream.read(length), start - offset


def _central64(
    path: Path, stream: BinaryIO, end: int, length: int, offset: int
) -> tuple[int, int, int]:
    """End, length and offset of the directory of a zip64 archive; unchanged if it is none."""
    if end < 20:
        return end, length, offset
    stream.seek(end - 20)
    locator = stream.read(20)
    if locator[:4] != LOCATOR64:
        return end, length, offset
    stream.seek(struct.unpack("<Q", locator[8:16])[0])
    record = stream.read(56)
    if record[:4] != END64 or len(record) < 56:
        raise damaged(path)
    length, offset = struct.unpack("<QQ", record[40:56])
    return offset + length, length, offset


def _entry(path: Path, raw: bytes, place: int, shift: int) -> tuple[Member | None, int]:
    """One entry and where the next begins; None for a folder or a link."""
    if place + 46 > len(raw):
        raise truncated(path)
    fields = struct.unpack("<6H3L5H2L", raw[place + 4 : place + 46])
    flags, method, crc = fields[2], fields[3], fields[6]
    name_length, extra_length, comment_length = fields[9:12]
    begin = place + 46
    name = raw[begin : begin + name_length]
    extra = raw[begin + name_length : begin + name_length + extra_length]
    following = begin + name_length + extra_length + comment_length
    packed, size, at = _sizes64(extra, fields[7], fields[8], fields[15])
    kind = (fields[14] >> 16) & 0o170000
    clean = clean_name(_decoded(name, extra, utf8=bool(flags & 0x800)))
    if name.endswith((b"/", b"\\")) or kind in (FOLDER, LINK) or not clean:
        return None, following
    member = Member(clean, at + shift, packed, size, method, crc, bool(flags & 1), headed=True)
    return member, following


def _sizes64(extra: bytes, packed: int, size: int, at: int) -> tuple[int, int, int]:
    """Sizes and place from the zip64 field where the short ones are full."""
    place = 0
    while place + 4 <= len(extra):
        tag, length = struct.unpack("<HH", extra[place : place + 4])
        if tag == 1:
            count = min(length, len(extra) - place - 4) // 8
            long = list(struct.unpack(f"<{count}Q", extra[place + 4 : place + 4 + 8 * count]))
            size = long.pop(0) if size == ALL and long else size
            packed = long.pop(0) if packed == ALL and long else packed
            at = long.pop(0) if at == ALL and long else at
        place += 4 + length
    return packed, size, at


def _decoded(name: bytes, extra: bytes, *, utf8: bool) -> str:
    """A name in UTF-8 where it is valid UTF-8 (many tools forget to say so), else in cp437."""
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        return name.decode("utf-8", "replace") if utf8 else name.decode("cp437")


def clean_name(name: str) -> str:
    """A name that stays below its archive on every system: no root, drive, ``..`` or controls."""
    parts = name.split("\0", 1)[0].replace("\\", "/").split("/")
    kept = [re.sub(r"[\x00-\x1f:]", "_", part) for part in parts]
    if kept and re.fullmatch(r"[A-Za-z]_", kept[0]) and ":" in parts[0]:
        kept = kept[1:]
    return "/".join(part for part in kept if part not in ("", ".", ".."))


def check_sizes(path: Path, members: list[Member], archive: int) -> None:
    """Refuse members that share bytes or lie outside, and sums beyond measure.

    Args:
        path: the archive, for the error.
        members: what it lists.
        archive: its size in bytes.
    """
    if sum(member.size for member in members) > max(FREE_TOTAL, TOTAL_RATIO * archive):
        raise bomb(path)
    ordered = sorted(members, key=lambda member: member.at)
    ends = [member.at + member.packed + (30 if member.headed else 0) for member in ordered]
    if any(end > archive for end in ends):
        raise truncated(path)
    for end, following in zip(ends, ordered[1:], strict=False):
        if end > following.at and following.packed:
            raise bomb(path)


def distinct(members: list[Member]) -> list[Member]:
    """Members with a number in the name of each that another one already has."""
    seen: dict[str, int] = {}
    found: list[Member] = []
    for member in members:
        count = seen[member.name] = seen.get(member.name, 0) + 1
        found.append(member if count == 1 else _renamed(member, count))
    return found


def _renamed(member: Member, count: int) -> Member:
    """The same member under ``name (2).suffix``."""
    folder, _, last = member.name.rpartition("/")
    stem, dot, suffix = last.rpartition(".")
    name = f"{stem} ({count}){dot}{suffix}" if dot and stem else f"{last} ({count})"
    full = f"{folder}/{name}" if folder else name
    return Member(
        full, member.at, member.packed, member.size, member.method, member.crc,
        member.encrypted, member.headed,
    )  # fmt: skip
