"""NRRD and MetaImage through SimpleITK.

Owns the step from an ITK image to evidence. Refuses free header fields: an NRRD's key/value
pairs and a MetaImage's comments may name a person and are never read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.digest import companions
from engine.evidence.orient import letters
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import derive_window

SUFFIXES = frozenset({".nrrd", ".nhdr", ".mha", ".mhd"})
LIMIT_VALUES = 6_000_000_000
TYPES = {
    f"{bits}-bit {sign}signed integer": f"{'u' if sign else ''}int{bits}"
    for bits in (8, 16, 32, 64)
    for sign in ("", "un")
} | {"32-bit float": "float32", "64-bit float": "float64"}


def _itk() -> Any:
    """SimpleITK, loaded when the first grid is met: the window starts sooner without it."""
    import SimpleITK

    SimpleITK.ProcessObject.SetGlobalWarningDisplay(False)
    return SimpleITK


def _reader(path: Path) -> Any:
    """A SimpleITK reader that has read the header."""
    if not path.is_file():
        raise EvidenceError(path, "missing", "the file is not there; check the folder")
    reader = _itk().ImageFileReader()
    reader.SetFileName(str(path))
    try:
        reader.ReadImageInformation()
    except RuntimeError as failure:
        raise _failure(path) from failure
    if int(np.prod([float(n) for n in reader.GetSize()])) > LIMIT_VALUES:
        raise EvidenceError(path, "too_large", "the header claims more values than can be opened")
    return reader


def _failure(path: Path) -> EvidenceError:
    """The sentence for a failed read; ITK's own words hold paths and are not used."""
    if path.suffix.lower() in (".mhd", ".nhdr") and not companions(path):
        reason = "the data file that this header names is not beside it; add it"
        return EvidenceError(path, "missing", reason)
    return EvidenceError(path, "damaged", "the file is damaged or ends early; copy it again")


def _geometry(
    reader: Any,
) -> tuple[tuple[float, float, float], str | None]:
    """(slice, row, column) distances and letters; no letters for a flat picture."""
    spacing = [float(value) for value in reader.GetSpacing()] + [1.0]
    mm = spacing[2], spacing[1], spacing[0]
    if reader.GetDimension() < 3:
        return (0.0, mm[1], mm[2]), None
    count = reader.GetDimension()
    matrix = np.array(reader.GetDirection(), float).reshape(count, count)
    return mm, letters(*(matrix[:3, axis] for axis in range(3)))


def _size(reader: Any) -> tuple[int, int, int, int]:
    """[x, y, z, t]; every further axis counts as t."""
    size = [int(value) for value in reader.GetSize()] + [1, 1]
    return size[0], size[1], size[2], int(np.prod(size[3:]))


def describe_grid(path: Path) -> Evidence:
    """Describe an NRRD or MetaImage file from its header."""
    reader = _reader(path)
    x, y, z, times = _size(reader)
    components = reader.GetNumberOfComponents()
    kind = _dtype(path, reader)
    color = components in (3, 4) and kind == np.uint8
    spacing, orientation = _geometry(reader)
    notes = []
    if times > 1:
        notes.append(f"{times} time points; the first is shown")
    if components > 1 and not color:
        notes.append(f"{components} values in each voxel; the first is shown")
    return Evidence(
        path=path,
        members=(path, *companions(path)),
        kind="volume" if z > 1 else "image",
        form="3d" if z > 1 else "2d",
        shape=(z, y, x, 3) if color else (z, y, x),
        color=color,
        dtype=kind.name,
        window_source=None if color else "derived",
        spacing_mm=spacing,
        spacing_source="header",
        orientation=orientation,
        notes=tuple(notes),
        source={"object": f"{_format(path)} image", "format": _format(path)},
        photometric="RGB" if color else "MONOCHROME2",
        times=times,
    )


def _dtype(path: Path, reader: Any) -> np.dtype[np.generic]:
    """The numpy type of one component, from ITK's words for it."""
    words = _itk().GetPixelIDValueAsString(reader.GetPixelID()).removeprefix("vector of ")
    if words not in TYPES:
        raise EvidenceError(path, "unsupported", f"{words} values are not read; convert them")
    return np.dtype(TYPES[words])


def _format(path: Path) -> str:
    return "NRRD" if path.suffix.lower() in (".nrrd", ".nhdr") else "MetaImage"


def load_grid(path: Path) -> Pixels:
    """Decode an NRRD or MetaImage file: [Z, Y, X] or RGB, the first time point."""
    reader = _reader(path)
    spacing, orientation = _geometry(reader)
    components = reader.GetNumberOfComponents()
    x, y, z, times = _size(reader)
    try:
        values: NDArray[np.generic] = _itk().GetArrayFromImage(reader.Execute())
    except RuntimeError as failure:
        raise _failure(path) from failure
    series = values.reshape(times, z, y, x, components)
    if components in (3, 4) and values.dtype == np.uint8:
        series = series[..., :3]
    else:
        series = series[..., 0]
    return Pixels(
        array=series[0],
        spacing_mm=spacing,
        orientation=orientation,
        window=derive_window(series[0]),
        aspect=spacing[1] / spacing[2],
        times=series if times > 1 else None,
        display_order=False,
    )
