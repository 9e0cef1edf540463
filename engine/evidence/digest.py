"""The name of an item's content: one hash over bytes, never over file names.

Owns the rule and a memory of file hashes. Refuses to decode pixels: only
items of arrays are named by their values, since they are no files.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.failures import of_system
from engine.evidence.grids import grid
from engine.evidence.grids.nifti_header import IMAGES, plain_name
from engine.evidence.item import Item
from engine.evidence.pictures import arrays, medmnist

LIMIT = 400_000
BLOCK = 1 << 20
_memory: dict[tuple[str, int, int], bytes] = {}
_lock = threading.Lock()


def digest(item: Item) -> str:
    """The sha256 of what an item holds: file bytes in order, frames, boxes, text, instruction.

    Renaming or moving a file does not change it; any byte does. File hashes are remembered
    by (path, size, modification time).

    Returns:
        64 hex digits.

    Raises:
        EvidenceError: a file cannot be read.
    """
    total = hashlib.sha256(b"triptych item 1")
    _add(total, "text", item.text)
    _add(total, "instruction", item.instruction)
    for image in item.images:
        box = None if image.box is None else ",".join(str(int(value)) for value in image.box)
        _add(total, "image", file_digest(Path(image.path)).hex())
        _add(total, "frame", str(int(image.frame)))
        _add(total, "box", box)
    for volume in item.volumes:
        _add(total, "volume", f"{volume.kind} {volume.shown_as} {len(volume.paths)}")
        members = [file_digest(Path(path)) for path in volume.paths]
        # the members of a series are sorted by position when read, so their order is not content
        for member in sorted(members) if volume.kind == "series" else members:
            total.update(member)
    return total.hexdigest()


def _add(total: hashlib._Hash, field: str, value: str | None) -> None:
    """Add a field with its name and length, so that no two items run together."""
    raw = b"" if value is None else value.encode("utf-8", "surrogatepass")
    total.update(f"|{field}:{-1 if value is None else len(raw)}|".encode())
    total.update(raw)


def file_digest(path: Path) -> bytes:
    """The sha256 of a file or member and, for a header file, of the data files it names.

    A part of a file (``x.npz/train/17``) is named by what it holds, not by the file around it,
    where its reader can tell; else by the file and the part's place in it.
    """
    try:
        held, rest = files.split(path)
    except OSError as failure:
        raise of_system(path, failure) from failure
    if rest:
        return part_digest(held, rest)
    parts = [path, *companions(path)]
    if len(parts) == 1:
        return _one(path)
    total = hashlib.sha256()
    for part in parts:
        total.update(_one(part))
    return total.digest()


def part_digest(held: Path, rest: tuple[str, ...]) -> bytes:
    """The sha256 that names a part of a file."""
    if arrays.holds_arrays(held):
        return medmnist.part_digest(held.joinpath(*rest))
    place = "\0".join(rest).encode("utf-8", "surrogatepass")
    return hashlib.sha256(b"part" + _one(held) + place).digest()


def companions(path: Path) -> list[Path]:
    """The data files that belong to a header file (.hdr, .mhd, .nhdr); empty for others."""
    plain = plain_name(path)
    suffix = plain.suffix.lower()
    if suffix == ".hdr":
        found = [plain.with_suffix(end) for end in IMAGES]
        return [one for one in found if files.exists(one)][:1]
    if suffix not in (".mhd", ".nhdr") or not files.exists(path):  # a pipe would wait for ever
        return []
    try:
        named = grid.read_header(path).data.files
    except EvidenceError:
        return []
    return [one for one in dict.fromkeys(named) if one != path]


def _one(path: Path) -> bytes:
    """The sha256 of one file's bytes, remembered."""
    try:
        key = (str(path), *files.stamp_of(path))
        with _lock:
            known = _memory.get(key)
        if known is None:
            known = _hash(path)
            _remember(key, known)
    except OSError as failure:
        raise of_system(path, failure) from failure
    return known


def _hash(path: Path) -> bytes:
    total = hashlib.sha256()
    with files.open_raw(path) as stream:
        while block := stream.read(BLOCK):
            total.update(block)
    return total.digest()


def _remember(key: tuple[str, int, int], value: bytes) -> None:
    """Keep a hash; at the limit the oldest half is forgotten."""
    with _lock:
        if len(_memory) >= LIMIT:
            for old in list(_memory)[: LIMIT // 2]:
                del _memory[old]
        _memory[key] = value
