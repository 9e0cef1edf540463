"""MetaImage headers, with their data (.mha) or beside them (.mhd).

Owns the fields of the format and the place in the patient. Refuses comments and free fields: they
may name a person and are never read.

Source: the MetaIO documentation of Kitware (MetaImage tags), and ITK's reading of the matrix: each
row of TransformMatrix is the direction of one axis, in LPS.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.grids.grid_header import (
    COLOR,
    LIMIT_FILES,
    SPACE,
    TIME,
    VALUES,
    Axis,
    Data,
    GridHeader,
    bad_header,
    check_lengths,
    data_file,
    numbered,
    reals,
    whole_numbers,
)

TYPES = {
    "CHAR": "i1", "UCHAR": "u1", "SHORT": "i2", "USHORT": "u2", "INT": "i4", "UINT": "u4",
    "LONG": "i4", "ULONG": "u4", "LONG_LONG": "i8", "ULONG_LONG": "u8", "FLOAT": "f4",
    "DOUBLE": "f8",
}  # fmt: skip
MODALITIES = {"MET_MOD_CT": "CT", "MET_MOD_MR": "MR", "MET_MOD_NM": "NM", "MET_MOD_US": "US"}
TO_MM = {"um": 0.001, "cm": 10.0}
SIDES = {"R": (0, 1), "L": (0, -1), "A": (1, 1), "P": (1, -1), "I": (2, 1), "S": (2, -1)}


def read_metaimage(path: Path, head: bytes) -> GridHeader:
    """Parse a header.

    Args:
        path: the file.
        head: its first megabyte.

    Raises:
        EvidenceError: ``damaged``, ``unsupported``, ``too_large`` or ``missing``.
    """
    fields, inside, listed = _fields(path, head)
    lengths = whole_numbers(path, fields.get("dimsize", ""), "size")
    if fields.get("ndims", "").split() != [str(len(lengths))] or len(lengths) > 10:
        raise bad_header(path, "counts its axes in two ways")
    channels = (whole_numbers(path, fields.get("elementnumberofchannels", "1"), "count") or [1])[0]
    check_lengths(path, [*lengths, channels])
    kind = _kind(path, fields)
    axes = [Axis(length, SPACE if n < 3 else TIME) for n, length in enumerate(lengths)]
    if channels > 1:
        color = channels in (3, 4) and kind == np.uint8
        axes.insert(0, Axis(channels, COLOR if color else VALUES))
    notes: list[str] = []
    steps, origin, spacing = _place(fields, len(lengths), notes)
    return GridHeader(
        "MetaImage", tuple(axes), kind, _data(path, fields, inside, listed), steps, origin,
        spacing, MODALITIES.get(fields.get("modality", "")), tuple(notes),
    )  # fmt: skip


def _fields(path: Path, head: bytes) -> tuple[dict[str, str], int, str]:
    """Fields by lower-case name, where local data begin, and the lines after the last field."""
    fields: dict[str, str] = {}
    place = 0
    while place < len(head):
        end = head.find(b"\n", place)
        end = len(head) if end < 0 else end
        line = head[place:end].decode("utf-8", "replace")
        place = end + 1
        name, equals, value = line.partition("=")
        if not equals:
            if line.strip():
                break
            continue
        name = name.strip().lower()
        fields[name] = value.strip()
        if name == "elementdatafile":
            return fields, place, head[place:].decode("utf-8", "replace")
    raise bad_header(path, "ends early")


def _first(fields: dict[str, str], *names: str) -> str | None:
    """The value of the first field that is there."""
    return next((fields[name] for name in names if fields.get(name)), None)


def _true(fields: dict[str, str], *names: str) -> bool:
    """True if one of the fields says so."""
    return any(fields.get(name, "").lower() in ("true", "1", "yes") for name in names)


def _kind(path: Path, fields: dict[str, str]) -> np.dtype[Any]:
    """The number format."""
    word = fields.get("elementtype", "").upper().removeprefix("MET_").removesuffix("_ARRAY")
    if word not in TYPES:
        reason = "its number format is not read; convert the values to 16-bit or float"
        raise EvidenceError(path, "unsupported", reason)
    big = _true(fields, "binarydatabyteordermsb", "elementbyteordermsb")
    return np.dtype(f"{'>' if big else '<'}{TYPES[word]}")


def _place(
    fields: dict[str, str], count: int, notes: list[str]
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64], tuple[float, float, float]]:
    """Steps, origin and (z, y, x) distances in mm."""
    scale = TO_MM.get(fields.get("distanceunits", "").lower(), 1.0)
    sizes = reals(_first(fields, "elementspacing", "elementsize") or "")
    sizes = [abs(one) * scale if np.isfinite(one) and one else 1.0 for one in sizes]
    sizes = (sizes + [1.0] * 3)[:3]
    spacing = (sizes[2] if count > 2 else 0.0, sizes[1], sizes[0])
    corner = np.array([*reals(_first(fields, "offset", "position", "origin") or ""), 0, 0, 0])[:3]
    origin = np.where(np.isfinite(corner), corner, 0.0) * scale
    if count < 3:
        return None, origin, spacing
    turn = _turn(fields, count, notes)
    return None if turn is None else turn * np.array(sizes), origin, spacing


def _turn(fields: dict[str, str], count: int, notes: list[str]) -> NDArray[np.float64] | None:
    """Directions of the axes as columns, LPS; None if the file names none."""
    words = _first(fields, "transformmatrix", "orientation", "rotation")
    named = _by_letters(fields.get("anatomicalorientation", ""))
    if words is None:
        if named is None:
            notes.append("the file names no orientation; sides are unknown")
        return named
    numbers = reals(words)
    if len(numbers) == count * count and np.isfinite(numbers).all():
        matrix = np.array(numbers).reshape(count, count)[:3, :3].T
        lengths = np.linalg.norm(matrix, axis=0)
        if lengths.min() > 0 and abs(np.linalg.det(matrix)) > 1e-6 * lengths.prod():
            if named is not None and (np.abs((matrix * named).sum(axis=0)) < 0.7).any():
                notes.append("its letters do not fit its matrix; the matrix is taken")
            return matrix
    notes.append("its matrix is no orientation; sides are unknown")
    return None


def _by_letters(words: str) -> NDArray[np.float64] | None:
    """Directions from AnatomicalOrientation, which names the sides that the axes come from."""
    letters = words.strip().upper()
    if len(letters) != 3 or any(letter not in SIDES for letter in letters):
        return None
    matrix = np.zeros((3, 3))
    for column, letter in enumerate(letters):
        axis, sign = SIDES[letter]
        matrix[axis, column] = sign
    return matrix if abs(np.linalg.det(matrix)) > 0.5 else None


def _data(path: Path, fields: dict[str, str], inside: int, listed: str) -> Data:
    """Where the values lie."""
    encoding = "zlib" if _true(fields, "compresseddata") else "raw"
    if fields.get("binarydata", "true").lower() in ("false", "0", "no"):
        encoding = "text"
    skip = (whole_numbers(path, fields.get("headersize", "0"), "header size") or [0])[0]
    words = fields["elementdatafile"]
    if words.upper() == "LOCAL":
        return Data((path,), inside, encoding)
    named = tuple(data_file(path, name) for name in _names(path, words, listed))
    return Data(named, 0, encoding, skip=max(-1, skip))


def _names(path: Path, words: str, listed: str) -> list[str]:
    """The names of the data files: one, a list, or a numbered pattern."""
    if words.upper().split()[:1] == ["LIST"]:
        names = [line.strip() for line in listed.splitlines() if line.strip()]
        if not names or len(names) > LIMIT_FILES:
            raise bad_header(path, "lists no data files")
        return names
    pattern = re.fullmatch(r"(\S*%0?\d*d\S*)\s+(-?\d+)\s+(-?\d+)\s+(-?\d+)", words)
    if pattern is None:
        if not words:
            raise bad_header(path, "names no data file")
        return [words]
    first, last, step = (int(one) for one in pattern.groups()[1:])
    return numbered(path, pattern[1], first, last, step)
