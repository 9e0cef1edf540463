"""Arrays of NumPy files (.npy, .npz), one item at a time, without reading the rest.

Owns the member's header, the way to one item of a large array, and a small memory of unpacked
members (in a temporary file, not in memory, where they are large). Refuses objects: they would
have to be unpickled, and a pickle runs what its author likes.

Source: the .npy format as described in ``numpy.lib.format``.
"""

from __future__ import annotations

import hashlib
import math
import threading
import tokenize
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.archives import containers, directory
from engine.evidence.failures import too_large, truncated
from engine.evidence.grids.numbers import Forward, empty, fill, native
from engine.evidence.quiet import quiet

MAGIC = b"\x93NUMPY"
KEPT = 4
LIMIT_BYTES = 8 << 30
LIMIT_FORTRAN = 1 << 30
# what numpy's parser of a header raises on damage; deep nesting ends in two of them
HEADER_ERRORS = (
    ValueError, TypeError, SyntaxError, EOFError, KeyError, IndexError, RecursionError,
    MemoryError, tokenize.TokenError,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Array:
    """One array of a file, not yet read.

    Attributes:
        path: the file that holds it.
        shape: its lengths, slowest first.
        kind: number format with its byte order.
        fortran: True if the first axis is the fastest.
        start: place of the first value in ``opened``.
        opened: gives a fresh stream.
    """

    path: Path
    shape: tuple[int, ...]
    kind: np.dtype[Any]
    fortran: bool
    start: int
    opened: Callable[[], BinaryIO]


_known: OrderedDict[tuple[object, ...], Any] = OrderedDict()
_lock = threading.RLock()


def is_arrays(head: bytes) -> bool:
    """True for the first bytes of a .npy file, or of a zip that begins with one (.npz)."""
    if head.startswith(MAGIC):
        return True
    name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    return head.startswith(directory.LOCAL) and name.lower().endswith(b".npy")


def holds_arrays(path: Path) -> bool:
    """``is_arrays`` of a file or member.

    Raises:
        OSError, EvidenceError: it cannot be opened.
    """
    with files.open_file(path) as stream:
        return is_arrays(stream.read(512))


def names(path: Path) -> list[str]:
    """Names of the arrays of an .npz, in its order; one empty name for a .npy.

    Raises:
        EvidenceError: it is damaged.
        OSError: it cannot be opened.
    """
    with files.open_file(path) as stream:
        if stream.read(6) == MAGIC:
            return [""]
    found = _archive(path).members
    return [name.removesuffix(".npy") for name in found if name.endswith(".npy")]


def open_array(path: Path, name: str) -> Array:
    """An array by its name, from its header.

    Raises:
        EvidenceError: ``missing``, ``objects``, ``unsupported``, ``too_large`` or ``damaged``.
        OSError: it cannot be opened.
    """
    key = ("array", str(path), *files.stamp_of(path), name)
    return cast(Array, _kept(key, lambda: _open(path, name)))


def item(array: Array, index: int) -> NDArray[np.generic]:
    """One item along the first axis.

    Raises:
        EvidenceError: ``no_frame`` for an index that is not there, ``truncated``, ``too_large``.
        OSError: the file cannot be opened.
    """
    if not 0 <= index < array.shape[0]:
        reason = f"there is no item {index} in this array; it holds {array.shape[0]}"
        raise EvidenceError(array.path, "no_frame", reason)
    if array.fortran:
        return np.ascontiguousarray(whole(array)[index])
    shape = array.shape[1:]
    count = int(np.prod(shape, dtype=np.int64))
    return _read(array, index * count * array.kind.itemsize, count).reshape(shape)


def whole(array: Array) -> NDArray[np.generic]:
    """All of an array.

    Raises:
        EvidenceError: ``truncated`` or ``too_large``.
        OSError: the file cannot be opened.
    """
    count = int(np.prod(array.shape, dtype=np.int64))
    limit = LIMIT_FORTRAN if array.fortran else LIMIT_BYTES
    if count * array.kind.itemsize > limit:
        raise too_large(array.path, f"an array of {count} values")
    flat = _read(array, 0, count)
    return flat.reshape(array.shape, order="F" if array.fortran else "C")


def digest_of(part: NDArray[np.generic]) -> bytes:
    """The sha256 of values: their format, their shape and their bytes."""
    total = hashlib.sha256(f"array {part.dtype.str} {part.shape}".encode())
    total.update(np.ascontiguousarray(part).tobytes())
    return total.digest()


def _read(array: Array, offset: int, count: int) -> NDArray[np.generic]:
    """Values from an offset in bytes."""
    with array.opened() as stream:
        begin = array.start + offset
        if begin + count * array.kind.itemsize > stream.seek(0, 2):
            raise truncated(array.path)
        values = empty(array.path, count, array.kind)
        stream.seek(begin)
        fill(cast(Forward, stream), array.path, values)
    return native(values)


def _kept(key: tuple[object, ...], make: Callable[[], Any]) -> Any:
    """A value from memory, or made and kept; the least used one of its kind is forgotten."""
    with _lock:
        if key not in _known:
            made = make()
            alike = [one for one in _known if one[0] == key[0]]
            for old in alike[: max(0, len(alike) - KEPT + 1)]:
                del _known[old]
            _known[key] = made
        _known.move_to_end(key)
        return _known[key]


def _archive(path: Path) -> containers.Archive:
    """The directory of an .npz."""
    key = ("archive", str(path), *files.stamp_of(path))
    return cast(containers.Archive, _kept(key, lambda: _open_archive(path)))


def _open_archive(path: Path) -> containers.Archive:
    """Read the directory; one that lies in an archive itself is taken out once."""

    def on_disk() -> BinaryIO:
        return files.open_raw(path)

    here = containers.on_this_disk(path)
    opened = on_disk if here else containers.Held(files.open_file(path))
    with opened() as stream:
        members = directory.read_zip(path, stream)
    return containers.Archive(path, opened, {one.name: one for one in members})


def _open(path: Path, name: str) -> Array:
    """Find an array's bytes and read its header."""
    if name:
        opened, start = _member(path, f"{name}.npy")
    else:
        opened, start = (lambda: files.open_file(path)), 0
    with opened() as stream:
        stream.seek(start)
        shape, fortran, kind = _header(path, stream)
        begin = stream.tell()
        if begin + math.prod(shape) * kind.itemsize > stream.seek(0, 2):
            raise truncated(path)
        return Array(path, shape, kind, fortran, begin, opened)


def _member(path: Path, name: str) -> tuple[Callable[[], BinaryIO], int]:
    """Streams over a member and where it begins in them; compressed ones are unpacked once."""
    archive = _archive(path)
    member = archive.member(name)
    if member is None:
        reason = f"there is no array named {name.removesuffix('.npy')} in this file; name another"
        raise EvidenceError(path, "missing", reason)
    if member.method == directory.STORED and not member.encrypted:
        with archive.opened() as stream:
            return archive.opened, containers.data_at(path, stream, member)
    return containers.Held(containers.stream_of(archive, member)), 0


def _header(path: Path, stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and number format."""
    try:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        with quiet():
            shape, fortran, kind = read(stream)
    except HEADER_ERRORS as failure:
        reason = "the header of the array cannot be read; copy the file again"
        raise EvidenceError(path, "damaged", reason) from failure
    if kind.hasobject:
        reason = "the array holds objects, which are never read since they may run programs"
        raise EvidenceError(path, "objects", f"{reason}; save it as numbers")
    if kind.kind not in "buif" or kind.itemsize > 8:
        reason = "the array holds no numbers that are read here; convert them to float32"
        raise EvidenceError(path, "unsupported", reason)
    if any(length < 1 for length in shape):
        raise EvidenceError(path, "damaged", "the array has no size; copy the file again")
    return tuple(shape), bool(fortran), kind
