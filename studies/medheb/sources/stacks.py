"""Volume files as slices in grey values: what the sources of volumes share.

Owns the step from a NIfTI or NRRD file to [X, Y, Z] in the file's own order: the release turns
nothing, so neither does this. One volume is in memory at a time, and only the slices that are shown
become grey values. Refuses colour and files without a third axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.grids import grid, nifti
from studies.medheb.builders import volumes
from studies.medheb.builders.record import Pixels

Values = NDArray[Any]
Picker = Callable[[Values, float], list[int]]


@dataclass(frozen=True, eq=False)
class Grid:
    """A volume as it lies in its file.

    Attributes:
        values: [X, Y, Z], after the file's own slope and intercept.
        spacing_mm: (x, y, z).
        steps: columns are the steps along x, y and z in mm, to the patient's left, back and head;
            None if the file does not say.
    """

    values: Values
    spacing_mm: tuple[float, float, float]
    steps: NDArray[np.float64] | None = None


def read_grid(path: Path) -> Grid:
    """Read a volume, not turned; of several time points the first.

    Raises:
        EvidenceError: it cannot be read, is in colour, or has no third axis.
    """
    load = grid.load_grid if path.suffix.lower() in grid.SUFFIXES else nifti.load_nifti
    pixels = load(path)
    if pixels.array.ndim != 3 or pixels.array.shape[0] < 2:
        raise EvidenceError(
            path, "unsupported", f"is no volume of grey values but {pixels.array.shape}"
        )
    z, y, x = pixels.spacing_mm or (1.0, 1.0, 1.0)
    place = pixels.geometry
    steps = None
    if place is not None:
        steps = np.stack([place.column_step, place.row_step, place.slice_step], axis=1)
    return Grid(_finite(pixels.array).transpose(2, 1, 0), (x, y, z), steps)


def _finite(values: Values) -> Values:
    """Numbers only: what is none takes the least value there is."""
    if values.dtype.kind != "f":
        return values
    good = np.isfinite(values)
    if good.all():
        return values
    return np.where(good, values, values[good].min() if good.any() else 0)


def ct_slices(path: Path, *, level: float, width: float) -> Pixels:
    """Slices of a CT in a window, evenly over the whole third axis: [S, X, Y].

    Raises:
        EvidenceError: it cannot be read.
    """
    return window_slices(read_grid(path).values, level=level, width=width)


def window_slices(values: Values, *, level: float, width: float) -> Pixels:
    """Slices [S, X, Y] of Hounsfield units [X, Y, Z], evenly over the whole third axis."""
    chosen = values[:, :, volumes.evenly(values.shape[2])]
    return _stack(volumes.windowed(chosen, level=level, width=width))


def mr_slices(
    path: Path, *, share: float, low: float, high: float, pick: Picker = volumes.informative
) -> Pixels:
    """Slices of an MR volume, among those with enough voxels above 0: [S, X, Y].

    Args:
        path: of the volume.
        share: of voxels above 0 that a slice must have.
        low: percentile of the voxels above 0 that becomes 0.
        high: percentile that becomes 255.
        pick: which slices, from the volume and the share.

    Raises:
        EvidenceError: it cannot be read.
    """
    values = read_grid(path).values
    chosen = values[:, :, pick(values, share)]
    filled = values[values > 0]
    bottom, top = np.percentile(filled if filled.size else values, (low, high))
    return _stack(volumes.between(chosen, float(bottom), float(top)))


def _stack(grey: Pixels) -> Pixels:
    return volumes.stacked(grey, list(range(grey.shape[2])))


def plain_name(path: Path) -> str:
    """A volume file's name without its ending, ``.nii.gz`` and the like."""
    name = path.name
    for ending in (".nii.gz", ".nii", ".nrrd", ".npy"):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return path.stem


def variant(settings: Mapping[str, Any], usual: Mapping[str, Any]) -> str:
    """A folder name for pictures made with other settings than usual; empty for the usual ones.

    Pictures of one source may serve several tasks; those made otherwise must not be taken for them.
    """
    other = [f"{name}-{settings[name]}" for name in sorted(usual) if settings[name] != usual[name]]
    return "_".join(other) + "/" if other else ""
