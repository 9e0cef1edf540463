"""What NRRD and MetaImage headers have in common: axes, place in space, and where the data lie.

Owns ``GridHeader`` and the rule that data files named in a header stay inside its folder. Refuses
to read data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.bounded import LIMIT_VALUES
from engine.evidence.failures import too_large

HEADER_BYTES = 1 << 20
LIMIT_FILES = 20_000
SPACE, TIME, VALUES, COLOR, COMPLEX = "space", "time", "values", "color", "complex"
FARTHEST = 1e12  # no distance, in any unit


@dataclass(frozen=True)
class Axis:
    """One axis of the data, fastest first.

    Attributes:
        length: how many.
        role: ``space``, ``time``, ``values`` (of one voxel), ``color`` or ``complex``.
    """

    length: int
    role: str


@dataclass(frozen=True)
class Data:
    """Where the values lie.

    Attributes:
        files: the data files in order; the header itself where it holds them.
        inside: place of the first data byte in the header file, 0 for data files.
        encoding: ``raw``, ``gzip``, ``bzip2``, ``zlib``, ``text`` or ``hex``.
        lines: lines to leave out before the data.
        skip: bytes to leave out; -1 takes the last bytes of the file.
    """

    files: tuple[Path, ...]
    inside: int = 0
    encoding: str = "raw"
    lines: int = 0
    skip: int = 0


@dataclass(frozen=True, eq=False)
class GridHeader:
    """What an NRRD or MetaImage header says.

    Attributes:
        format: ``NRRD`` or ``MetaImage``.
        axes: the axes, fastest first.
        kind: number format with its byte order.
        data: where the values lie.
        steps_33: columns are the steps in mm along the space axes x, y, z in LPS; None if the
            file does not say where it lies.
        origin: centre of the first voxel in mm, LPS.
        spacing: (z, y, x) distances in mm, from the steps or by themselves.
        modality: the DICOM word for it, None if unknown.
        notes: sentences about what was found.
    """

    format: str
    axes: tuple[Axis, ...]
    kind: np.dtype[Any]
    data: Data
    steps_33: NDArray[np.float64] | None
    origin: NDArray[np.float64]
    spacing: tuple[float, float, float]
    modality: str | None = None
    notes: tuple[str, ...] = ()


def bad_header(path: Path, what: str) -> EvidenceError:
    """The error of a header that cannot be understood."""
    return EvidenceError(path, "damaged", f"the header {what}; copy it again")


def whole_numbers(path: Path, words: str, field: str) -> list[int]:
    """The whole numbers of a field.

    Raises:
        EvidenceError: ``damaged``.
    """
    try:
        return [int(word) for word in words.split()]
    except ValueError as failure:
        raise bad_header(path, f"has a wrong {field}") from failure


def reals(words: str) -> list[float]:
    """The numbers of a field; what is none, or beyond any distance, becomes NaN."""
    return [_real(word) for word in re.split(r"[\s,]+", words.strip())]


def _real(word: str) -> float:
    """One number; rounding's dust becomes zero."""
    try:
        number = float(word)
    except ValueError:
        return float("nan")
    if abs(number) > FARTHEST:
        return float("nan")
    return number if abs(number) > 1.0 / FARTHEST else 0.0


def check_lengths(path: Path, lengths: Sequence[int]) -> None:
    """Refuse lengths that are none, and more values than can be opened."""
    total = 1
    for length in lengths:
        if length < 1:
            raise bad_header(path, "names no picture size")
        total *= length
    if not lengths or total > LIMIT_VALUES:
        raise too_large(path, f"the header claims {total} values")


def data_file(header: Path, name: str) -> Path:
    """A data file that a header names, inside the header's own folder.

    A name that leads elsewhere (absolute, or by ``..``) is looked for beside the header by its
    last part, since files are often moved together.

    Raises:
        EvidenceError: ``missing``.
    """
    parts = [part for part in name.strip().replace("\\", "/").split("/") if part not in ("", ".")]
    outside = ".." in parts or name.strip().startswith(("/", "\\")) or ":" in (parts or [""])[0]
    for tried in (parts[-1:],) if outside else (parts, parts[-1:]):
        found = header.parent.joinpath(*tried)
        if tried and found != header and ":" not in tried[-1] and files.exists(found):
            return found
    reason = "the data file that this header names is not beside it; add it"
    raise EvidenceError(header, "missing", reason)


def numbered(path: Path, pattern: str, first: int, last: int, step: int) -> list[str]:
    """File names from a pattern such as ``slice%03d.raw``.

    Raises:
        EvidenceError: ``damaged``.
    """
    place = re.fullmatch(r"([^%]*)%(0?)(\d{0,2})d([^%]*)", pattern)
    count = (last - first) // step + 1 if step else 0
    if place is None or not 1 <= count <= LIMIT_FILES:
        raise bad_header(path, "names its data files by a pattern that cannot be followed")
    before, zero, width, after = place.groups()
    form = f"{zero}{width}d"
    return [f"{before}{number:{form}}{after}" for number in range(first, last + step, step)][:count]
