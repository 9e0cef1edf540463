"""The name of an item's content: one hash over bytes, never over file names.

Owns the rule and a memory of file hashes. Refuses to decode anything.
"""

from __future__ import annotations

import hashlib
import re
import threading
from pathlib import Path

from engine.evidence.failures import of_system
from engine.evidence.item import Item

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
    """The sha256 of a file and, for a header file, of the data files it names."""
    total = hashlib.sha256()
    parts = [path, *companions(path)]
    if len(parts) == 1:
        return _one(path)
    for part in parts:
        total.update(_one(part))
    return total.digest()


def companions(path: Path) -> list[Path]:
    """The data files that belong to a header file (.hdr, .mhd, .nhdr); empty for others."""
    suffix = path.suffix.lower()
    if suffix == ".hdr":
        found = [path.with_suffix(".img"), path.with_suffix(".img.gz")]
    elif suffix in (".mhd", ".nhdr") and _is_file(path):  # a pipe would wait for ever
        found = _named_inside(path)
    else:
        return []
    return [one for one in found if _is_file(one)]


def _is_file(path: Path) -> bool:
    """True for a file; False, not an error, where looking is not allowed."""
    try:
        return path.is_file()
    except OSError:
        return False


def _named_inside(path: Path) -> list[Path]:
    """Data files that a MetaImage or NRRD header names, in the header's own folder only."""
    try:
        with path.open("rb") as stream:
            head = stream.read(BLOCK).decode("latin-1")
    except OSError:
        return []
    names = re.findall(r"(?im)^(?:ElementDataFile\s*=|data ?file:)\s*(\S.*?)\s*$", head)
    return [
        path.parent / Path(name).name for name in names if name.upper() not in ("LOCAL", "LIST")
    ]


def _one(path: Path) -> bytes:
    """The sha256 of one file's bytes, remembered."""
    try:
        facts = path.stat()
        key = (str(path), facts.st_size, facts.st_mtime_ns)
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
    with path.open("rb") as stream:
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
