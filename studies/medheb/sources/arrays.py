"""What several sources share: single arrays of ``.npz`` and ``.npy`` files, mapped, not loaded.

Owns where a large array's bytes are while its rows are asked for one by one: in the ``.npy`` file
itself, or in an unnamed temporary file for a part of an archive. Refuses arrays of objects (they
would need pickle) and archives that are damaged.
"""

from __future__ import annotations

import hashlib
import math
import shutil
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from studies.medheb.builders.pictures import is_pointer

IN_MEMORY = 64 * 2**20  # bytes; a part of an archive up to here needs no temporary file
Array = NDArray[Any]
Header = tuple[tuple[int, ...], bool, "np.dtype[Any]"]


def map_npy(path: Path) -> Array:
    """The array of a ``.npy`` file, its rows read when they are asked for.

    Raises:
        EvidenceError: it is missing, damaged or holds objects.
    """
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _damaged(path, f"is no array of numbers ({error})") from error


def part_shape(path: Path, part: str) -> tuple[int, ...]:
    """The shape of one array of an ``.npz`` file; only its header is read.

    Raises:
        EvidenceError: as ``npz_part``.
    """
    return _in_part(path, part, lambda stream: _header(stream)[0])


def npz_part(path: Path, part: str) -> Array:
    """One array of an ``.npz`` file; a large one is unpacked to disk and mapped.

    Args:
        path: of the archive.
        part: name of the array, for example ``test_images``.

    Raises:
        EvidenceError: there is no such array, it holds objects, or the archive is damaged.
    """
    return _in_part(path, part, _unpacked)


def _in_part(path: Path, part: str, take: Any) -> Any:
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{part}.npy") as stream:
            return take(stream)
    except KeyError as error:
        raise EvidenceError(path, "unsupported", f"there is no array {part} in it") from error
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise _damaged(path, f"{part} cannot be read ({error})") from error


def _damaged(path: Path, reason: str) -> EvidenceError:
    if is_pointer(path):
        says = "this is a Git LFS pointer, not the arrays; download the file itself"
        return EvidenceError(path, "missing", says)
    return EvidenceError(path, "damaged", f"{reason}; if it is a part of a download, fetch it anew")


def _header(stream: IO[bytes]) -> Header:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0
    shape, fortran, dtype = (
        read(stream) if version == (1, 0) else np.lib.format.read_array_header_2_0(stream)
    )
    if dtype.hasobject:
        raise ValueError("it holds objects, which are not read")
    return shape, fortran, dtype


def _unpacked(stream: IO[bytes]) -> Array:
    shape, fortran, dtype = _header(stream)
    size = math.prod(shape) * dtype.itemsize
    order: Literal["F", "C"] = "F" if fortran else "C"
    if size <= IN_MEMORY:
        content = stream.read(size)
        if len(content) < size:
            raise ValueError(f"it ends after {len(content)} of {size} bytes")
        return np.ndarray(shape, dtype, content, order=order)
    with tempfile.TemporaryFile() as spool:
        shutil.copyfileobj(stream, spool, 2**20)
        spool.flush()
        # the mapping keeps the file alive after its name and handle are gone
        return np.memmap(spool, dtype, "r", shape=shape, order=order)


def digest(array: Array) -> str:
    """Names an array by its content; equal pictures have equal names."""
    return hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16).hexdigest()
