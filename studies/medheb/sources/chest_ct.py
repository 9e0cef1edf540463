"""Chest CTs of CT-RATE and its resampled kin: which file is which scan, true Hounsfield units.

Owns the names (patient, scan, reconstruction), the choice of the first reconstruction, and the
guard against a slope and intercept laid on twice: where air and tissue lie right, nothing is done.
Refuses values that are no Hounsfield units either way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from engine.errors import EvidenceError
from studies.medheb.builders.projection import radiograph
from studies.medheb.builders.record import Fault, Picture, Pixels, Volume
from studies.medheb.sources.stacks import Grid, Values, read_grid, window_slices
from studies.medheb.sources.tables import read_table

NAME = re.compile(r"(?P<scan>(?P<patient>[a-z]+_\d+)_[a-z]+)_(?P<number>\d+)")
FIRST = 1
LEVEL, WIDTH = -600, 1500
AIR, SOFT = (-1100, -700), (-150, 250)  # Hounsfield units of air and lung, and of soft tissue
LEAST = 0.005  # of the voxels of any chest CT, of each


@dataclass(frozen=True)
class Scale:
    """What the table of scans says of one volume.

    Attributes:
        slope: of Hounsfield units over stored values.
        intercept: of the same.
        spacing_mm: (x, y, z), None where the table has none.
    """

    slope: float
    intercept: float
    spacing_mm: tuple[float, float, float] | None = None


def plain(name: str) -> str:
    """A volume's name as the tables and lists write it, without path and ending."""
    return name.strip().replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".gz").removesuffix(
        ".nii"
    )  # fmt: skip


def scan_of(name: str) -> tuple[str, str, int] | None:
    """Patient, scan and number of the reconstruction; None for another kind of name."""
    match = NAME.fullmatch(name)
    return None if match is None else (match["patient"], match["scan"], int(match["number"]))


def is_first(name: str) -> bool:
    """Whether a volume is the first reconstruction of its scan."""
    found = scan_of(name)
    return found is not None and found[2] == FIRST


def first_reconstructions(folder: Path) -> dict[str, Path]:
    """Name to file of the first reconstruction of every scan below a part's folder."""
    found = {plain(path.name): path for path in sorted(folder.glob("**/*.nii*"))}
    return {name: path for name, path in found.items() if is_first(name)}


def scales(path: Path | None) -> dict[str, Scale]:
    """The table of scans, by volume; rows without numbers are left out.

    Raises:
        EvidenceError: it cannot be read or lacks the columns.
    """
    if path is None:
        return {}
    found = {}
    for _, row in read_table(path, needs=("VolumeName", "RescaleSlope", "RescaleIntercept")):
        try:
            place = _spacing(row.get("XYSpacing", ""), row.get("ZSpacing", ""))
            slope, intercept = float(row["RescaleSlope"]), float(row["RescaleIntercept"])
            found[plain(row["VolumeName"])] = Scale(slope, intercept, place)
        except ValueError:
            continue
    return found


def _spacing(in_plane: str, between: str) -> tuple[float, float, float] | None:
    """The first is text such as ``[0.7, 0.7]``."""
    numbers = [float(word) for word in re.findall(r"[-+.\deE]+", in_plane)]
    if len(numbers) < 2 or not between:
        return None
    return numbers[0], numbers[1], float(between)


def read_hu(path: Path, scale: Scale | None, how: str) -> Grid:
    """A CT in Hounsfield units.

    Args:
        path: of the volume.
        scale: what the table says of it.
        how: ``auto``, ``header`` (the file is right) or ``metadata`` (always lay the table's
            slope and intercept on).

    Raises:
        EvidenceError: it cannot be read, or is no CT in Hounsfield units either way.
    """
    grid = read_grid(path)
    if how == "header" or (how == "auto" and is_hu(grid.values)):
        return grid
    if scale is None:
        raise EvidenceError(
            path, "unsupported", "is in no Hounsfield units, and no table gives its slope"
        )
    values = np.asarray(grid.values, np.float32) * scale.slope + scale.intercept
    if how == "auto" and not is_hu(values):
        raise EvidenceError(
            path, "unsupported", "is in no Hounsfield units, as stored or by the table's slope"
        )
    return replace(grid, values=values, spacing_mm=scale.spacing_mm or grid.spacing_mm)


def is_hu(values: Values) -> bool:
    """Whether air, lungs and soft tissue lie where they do in Hounsfield units."""
    some = values[:: max(1, values.shape[0] // 64), :: max(1, values.shape[1] // 64)]
    shares = [((some >= low) & (some <= high)).mean() for low, high in (AIR, SOFT)]
    return bool(min(shares) >= LEAST)


def lung_slices(path: Path, scale: Scale | None, how: str) -> Pixels:
    """64 slices in the lung window: [S, X, Y]."""
    return window_slices(read_hu(path, scale, how).values, level=LEVEL, width=WIDTH)


def film(path: Path, scale: Scale | None, how: str) -> Pixels:
    """The radiograph of a CT: [H, W].

    Raises:
        EvidenceError: as ``read_hu``; or it knows no distances, or holds no body.
    """
    grid = read_hu(path, scale, how)
    if min(grid.spacing_mm) <= 0:
        raise EvidenceError(path, "unsupported", f"gives no distances ({grid.spacing_mm})")
    seen = radiograph(grid.values, grid.spacing_mm)
    if not seen.any():
        raise EvidenceError(path, "unsupported", "holds no body to project")
    return seen


def lung_volume(name: str, path: Path, scale: Scale | None = None, how: str = "auto") -> Volume:
    """A volume whose slices are in the lung window."""
    return Volume(name, partial(lung_slices, path, scale, how))


def film_picture(name: str, path: Path, scale: Scale | None, how: str) -> Picture:
    """A picture that is projected when it is asked for."""
    return Picture(name, pixels=partial(film, path, scale, how))


def not_there(names: Iterable[str], there: Mapping[str, Path]) -> Iterator[Fault]:
    """A fault for every first reconstruction that a table names and the disk lacks."""
    for name in sorted(set(names)):
        if is_first(name) and name not in there:
            yield Fault(name, "is in a table, but there is no such volume")
