"""NRRD headers, attached (.nrrd) and detached (.nhdr).

Owns the fields of the format, its spaces turned to LPS, and which axis is which. Refuses key/value
pairs and comments: they may name a person and are never read.

Source: "Definition of NRRD File Format" (teem.sourceforge.net/nrrd/format.html).
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
    COMPLEX,
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

WORDS = {
    "i1": "signed char|int8|int8_t",
    "u1": "uchar|unsigned char|uint8|uint8_t",
    "i2": "short|short int|signed short|signed short int|int16|int16_t",
    "u2": "ushort|unsigned short|unsigned short int|uint16|uint16_t",
    "i4": "int|signed int|int32|int32_t",
    "u4": "uint|unsigned int|uint32|uint32_t",
    "i8": "longlong|long long|long long int|signed long long|signed long long int|int64|int64_t",
    "u8": "ulonglong|unsigned long long|unsigned long long int|uint64|uint64_t",
    "f4": "float",
    "f8": "double",
}
TYPES = {word: kind for kind, words in WORDS.items() for word in words.split("|")}
ENCODINGS = {
    "raw": "raw", "txt": "text", "text": "text", "ascii": "text", "hex": "hex", "gz": "gzip",
    "gzip": "gzip", "bz2": "bzip2", "bzip2": "bzip2",
}  # fmt: skip
# signs that turn a space's axes into LPS; other spaces are no patient's
SPACES = {
    "left-posterior-superior": (1, 1, 1), "lps": (1, 1, 1),
    "right-anterior-superior": (-1, -1, 1), "ras": (-1, -1, 1),
    "left-anterior-superior": (1, -1, 1), "las": (1, -1, 1),
}  # fmt: skip
SPACES |= {f"{name}-time": signs for name, signs in SPACES.items() if "-" in name}
SPACES |= {f"{name}t": signs for name, signs in SPACES.items() if "-" not in name}
DOMAIN = ("domain", "space")
# ITK, and so Slicer and SimpleITK, write colour of 8 bits as ``vector``
COLORS = ("rgb-color", "rgba-color", "3-color", "4-color", "vector")
TO_MM = {"cm": 10.0, "m": 1000.0, "um": 0.001, "micron": 0.001, "microns": 0.001, "µm": 0.001}


def read_nrrd(path: Path, head: bytes) -> GridHeader:
    """Parse a header.

    Args:
        path: the file.
        head: its first megabyte.

    Raises:
        EvidenceError: ``damaged``, ``unsupported``, ``too_large`` or ``missing``.
    """
    fields, inside = _fields(path, head)
    lengths = whole_numbers(path, fields.get("sizes", ""), "size")
    if fields.get("dimension", "").split() != [str(len(lengths))]:
        raise bad_header(path, "counts its axes in two ways")
    check_lengths(path, lengths)
    kind = _kind(path, fields)
    steps = _steps(path, fields, len(lengths))
    notes: list[str] = []
    axes = _axes(fields, lengths, steps, kind)
    return _placed(path, fields, axes, kind, steps, _data(path, fields, inside), notes)


def _fields(path: Path, head: bytes) -> tuple[dict[str, str], int]:
    """Fields by lower-case name, and where the header ends; 0 if nothing follows it."""
    fields: dict[str, str] = {}
    place = 0
    while place < len(head):
        end = head.find(b"\n", place)
        end = len(head) if end < 0 else end
        line = head[place:end].decode("utf-8", "replace").strip("\r ")
        first, place = place == 0, end + 1
        if not line:
            return fields, place
        name, colon, value = line.partition(":")
        if first or line.startswith("#") or not colon or value.startswith("="):
            continue
        fields[name.strip().lower()] = value.strip()
        if _data_field(fields).upper().startswith("LIST"):
            fields["list"] = head[place:].decode("utf-8", "replace")
            break
    if "sizes" not in fields:
        raise bad_header(path, "ends early")
    return fields, 0


def _data_field(fields: dict[str, str]) -> str:
    return fields.get("data file", fields.get("datafile", ""))


def _kind(path: Path, fields: dict[str, str]) -> np.dtype[Any]:
    """The number format."""
    word = " ".join(fields.get("type", "").lower().split())
    if word not in TYPES:
        reason = "its number format is not read; convert the values to 16-bit or float"
        raise EvidenceError(path, "unsupported", reason)
    endian = ">" if fields.get("endian", "").lower() == "big" else "<"
    return np.dtype(f"{endian}{TYPES[word]}")


def _steps(path: Path, fields: dict[str, str], count: int) -> list[NDArray[np.float64] | None]:
    """The space vector of each axis; None for an axis outside space, empty if none are named."""
    words = fields.get("space directions")
    if words is None:
        return []
    found: list[NDArray[np.float64] | None] = []
    for vector in re.findall(r"none|\([^)]*\)", words.lower()):
        numbers = [] if vector == "none" else reals(vector.strip("() "))
        whole = bool(numbers) and bool(np.isfinite(numbers).all())
        found.append((np.array([*numbers, 0.0, 0.0])[:3]) if whole else None)
    if len(found) != count:
        raise bad_header(path, "counts its axes in two ways")
    return found


def _axes(
    fields: dict[str, str], lengths: list[int], steps: list[NDArray[np.float64] | None],
    kind: np.dtype[Any],
) -> tuple[Axis, ...]:  # fmt: skip
    """What each axis is, from kinds, from vectors, and at last from its place."""
    kinds = [word.lower() for word in fields.get("kinds", "").split()]
    if len(kinds) != len(lengths):
        kinds = ["???"] * len(lengths)
    axes: list[Axis] = []
    for place, length in enumerate(lengths):
        vector = steps[place] if steps else None
        role = _role(kinds[place], inside=bool(steps) and vector is not None, told=bool(steps))
        if role == SPACE and sum(axis.role == SPACE for axis in axes) == 3:
            role = TIME
        bytes_of_color = kind.itemsize == 1 and kind.kind == "u"
        if role == COLOR and not (place == 0 and length in (3, 4) and bytes_of_color):
            role = VALUES
        axes.append(Axis(length, role))
    return tuple(axes)


def _role(kind: str, *, inside: bool, told: bool) -> str:
    """The role of an axis by its kind and by whether it has a vector."""
    if kind == "time":
        return TIME
    if kind == "complex":
        return COMPLEX
    if kind in COLORS:
        return COLOR
    if inside or kind in DOMAIN:
        return SPACE
    return SPACE if kind in ("???", "none") and not told else VALUES


def _placed(
    path: Path, fields: dict[str, str], axes: tuple[Axis, ...], kind: np.dtype[Any],
    steps: list[NDArray[np.float64] | None], data: Data, notes: list[str],
) -> GridHeader:  # fmt: skip
    """The header with its place in the patient, as far as the file tells it."""
    spatial = [place for place, axis in enumerate(axes) if axis.role == SPACE][:3]
    if not spatial:
        raise bad_header(path, "names no axis of space")
    scale = _scale(fields, notes)
    vectors = [steps[place] if steps else None for place in spatial]
    signs = SPACES.get(fields.get("space", "").lower())
    matrix = None
    if all(vector is not None for vector in vectors):
        matrix = np.zeros((3, 3))
        for column, vector in enumerate(vectors):
            matrix[:, column] = vector if vector is not None else 0.0
        matrix *= scale
    spacing = _spacing(fields, spatial, matrix)
    placed = matrix is not None and signs is not None and len(spatial) == 3
    if placed and matrix is not None and abs(np.linalg.det(matrix)) < 1e-9:
        placed = False
        notes.append("its axes do not span space; sides are unknown")
    elif not placed and len(spatial) == 3:
        notes.append("the file names no patient space; sides are unknown")
    origin = _origin(fields) * scale
    if placed and matrix is not None:
        turn = np.array(signs, float)
        matrix, origin = turn[:, None] * matrix, turn * origin
    return GridHeader(
        "NRRD", axes, kind, data, matrix if placed else None, origin, spacing, notes=tuple(notes)
    )


def _scale(fields: dict[str, str], notes: list[str]) -> float:
    """Millimetres in the file's unit of space."""
    units = set(re.findall(r'"([^"]*)"', fields.get("space units", "").lower())) - {"", "s", "ms"}
    if len(units) != 1 or not units <= set(TO_MM):
        return 1.0
    unit = units.pop()
    notes.append(f"distances are given in {unit}")
    return TO_MM[unit]


def _spacing(
    fields: dict[str, str], spatial: list[int], matrix: NDArray[np.float64] | None
) -> tuple[float, float, float]:
    """(z, y, x) distances; 1 where the file says nothing, 0 for an axis that is not there."""
    found = [1.0, 1.0, 1.0 if len(spatial) > 2 else 0.0]
    if matrix is not None:
        lengths = [float(one) for one in np.linalg.norm(matrix, axis=0)]
    else:
        named = reals(fields.get("spacings", ""))
        lengths = [abs(named[place]) if place < len(named) else 1.0 for place in spatial]
    for place in range(len(spatial)):
        value = lengths[place]
        found[place] = value if np.isfinite(value) and value > 0 else 1.0
    return found[2], found[1], found[0]


def _origin(fields: dict[str, str]) -> NDArray[np.float64]:
    """The centre of the first voxel; zero where the file says nothing."""
    numbers = reals(fields.get("space origin", "").strip("() "))
    found = np.array([*numbers, 0.0, 0.0, 0.0])[:3]
    return np.where(np.isfinite(found), found, 0.0)


def _data(path: Path, fields: dict[str, str], inside: int) -> Data:
    """Where the values lie."""
    encoding = ENCODINGS.get(fields.get("encoding", "").lower())
    if encoding is None:
        reason = "its encoding is not read; save it as raw or gzip"
        raise EvidenceError(path, "unsupported", reason)
    lines = _count(path, fields, "line skip", "lineskip")
    skip = _count(path, fields, "byte skip", "byteskip")
    if skip < -1 or lines < 0:
        raise bad_header(path, "leaves out less than nothing")
    words = _data_field(fields)
    if not words:
        if not inside:
            raise EvidenceError(path, "truncated", "the header ends early; copy it again")
        return Data((path,), inside, encoding, lines, skip)
    named = tuple(data_file(path, name) for name in _names(path, words, fields.get("list", "")))
    return Data(named, 0, encoding, lines, skip)


def _count(path: Path, fields: dict[str, str], *names: str) -> int:
    """A whole number under one of two spellings; 0 without."""
    words = next((fields[name] for name in names if name in fields), "0")
    return (whole_numbers(path, words, names[0]) or [0])[0]


def _names(path: Path, words: str, listed: str) -> list[str]:
    """The names of the data files: one, a list, or a numbered pattern."""
    if words.upper().split()[0] == "LIST":
        names = [line.strip() for line in listed.splitlines() if line.strip()]
        if not names or len(names) > LIMIT_FILES:
            raise bad_header(path, "lists no data files")
        return names
    pattern = re.fullmatch(r"(\S*%0?\d*d\S*)\s+(-?\d+)\s+(-?\d+)\s+(-?\d+)(?:\s+\d+)?", words)
    if pattern is None:
        return [words]
    first, last, step = (int(one) for one in pattern.groups()[1:])
    return numbered(path, pattern[1], first, last, step)
