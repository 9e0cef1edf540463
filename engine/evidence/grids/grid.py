"""NRRD and MetaImage files as evidence.

Owns the step from a header's axes to slices, rows, columns, time points and colour. Refuses free
header fields: key/value pairs and comments may name a person and are never read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.failures import of_system
from engine.evidence.geometry import Geometry
from engine.evidence.grids.grid_data import read_values
from engine.evidence.grids.grid_header import (
    COLOR,
    COMPLEX,
    HEADER_BYTES,
    SPACE,
    TIME,
    VALUES,
    GridHeader,
)
from engine.evidence.grids.metaimage import read_metaimage
from engine.evidence.grids.nrrd import read_nrrd
from engine.evidence.orient import letters
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import derive_window, function_of

SUFFIXES = frozenset({".nrrd", ".nhdr", ".mha", ".mhd"})


def is_grid(head: bytes, path: Path) -> bool:
    """True if a file's first bytes, or failing that its name, are those of NRRD or MetaImage."""
    if head.startswith(b"NRRD000"):
        return True
    first = head[:64].replace(b" ", b"").lower()
    return first.startswith((b"objecttype=image", b"ndims=")) or path.suffix.lower() in SUFFIXES


def read_header(path: Path) -> GridHeader:
    """Parse the header of a .nrrd, .nhdr, .mha or .mhd file.

    Raises:
        EvidenceError: it cannot be read, or a data file that it names is missing.
    """
    try:
        with files.open_file(path) as stream:
            head = stream.read(HEADER_BYTES)
        if head.startswith(b"NRRD"):
            return read_nrrd(path, head)
        if path.suffix.lower() in (".nrrd", ".nhdr"):
            reason = "this is no NRRD file, whatever its name says; copy it again"
            raise EvidenceError(path, "damaged", reason)
        return read_metaimage(path, head)
    except OSError as failure:
        raise of_system(path, failure) from failure


def _sizes(header: GridHeader) -> tuple[int, int, int, int, int, int]:
    """Lengths x, y, z; time points; values in each voxel; colour samples (0 for none)."""
    space = [axis.length for axis in header.axes if axis.role == SPACE] + [1, 1]
    times = values = 1
    color = 0
    for axis in header.axes:
        times *= axis.length if axis.role == TIME else 1
        values *= axis.length if axis.role == VALUES else 1
        color = axis.length if axis.role == COLOR else color
    return space[0], space[1], space[2], times, values, color


def _flat(header: GridHeader) -> bool:
    """True if the file has two axes of space at most: it knows no third direction."""
    return sum(axis.role == SPACE for axis in header.axes) < 3


def _geometry(header: GridHeader) -> tuple[Geometry | None, str | None]:
    """Where the slices lie, and the letters."""
    steps = header.steps_33
    if steps is None or _flat(header):
        return None, None
    count = _sizes(header)[2]
    place = header.origin + np.arange(count)[:, None] * steps[:, 2]
    sides = letters(*(steps[:, axis] / np.linalg.norm(steps[:, axis]) for axis in range(3)))
    return Geometry(place, steps[:, 0].copy(), steps[:, 1].copy()), sides


def describe_grid(path: Path) -> Evidence:
    """Describe an NRRD or MetaImage file from its header.

    Raises:
        EvidenceError: it cannot be read.
    """
    header = read_header(path)
    x, y, z, times, values, samples = _sizes(header)
    color = samples > 0
    geometry, orientation = _geometry(header)
    return Evidence(
        path=path,
        members=tuple(dict.fromkeys((path, *header.data.files))),
        kind="volume" if z > 1 else "image",
        form="3d" if z > 1 else "2d",
        modality=header.modality,
        shape=(z, y, x, 3) if color else (z, y, x),
        color=color,
        dtype=header.kind.name,
        window_source=None if color else "derived",
        spacing_mm=header.spacing,
        spacing_source="header",
        orientation=orientation,
        notes=_notes(header),
        source={"object": f"{header.format} image", "format": header.format},
        photometric="RGB" if color else "MONOCHROME2",
        times=times * values,
        aspect=header.spacing[1] / header.spacing[2],
        geometry=geometry,
        warnings=("head_unknown",) if z > 1 else (),  # no header of this format names a body part
    )


def _notes(header: GridHeader) -> tuple[str, ...]:
    """What a reader of the file should know."""
    _, _, _, times, values, samples = _sizes(header)
    notes = []
    if times > 1:
        notes.append(f"{times} time points; the first is shown")
    if values > 1:
        notes.append(f"{values} values in each voxel; the first is shown")
    if samples == 4:
        notes.append("has transparency, which is left out")
    if any(axis.role == COMPLEX for axis in header.axes):
        notes.append("complex numbers; their magnitude is shown")
    return (*notes, *header.notes)


def load_grid(path: Path) -> Pixels:
    """Decode an NRRD or MetaImage file: [Z, Y, X] or RGB, the first time point.

    Raises:
        EvidenceError: it is damaged, cut or too large.
    """
    header = read_header(path)
    try:
        series = arranged(header, read_values(path, header))
    except OSError as failure:
        raise of_system(path, failure) from failure
    geometry, orientation = _geometry(header)
    first = np.ascontiguousarray(series[0])
    window = derive_window(first)
    return Pixels(
        array=first,
        spacing_mm=header.spacing,
        orientation=orientation,
        window=window,
        window_function=function_of(window),
        aspect=header.spacing[1] / header.spacing[2],
        times=series if len(series) > 1 else None,
        display_order=False,
        geometry=geometry,
    )


def arranged(header: GridHeader, flat: NDArray[np.generic]) -> NDArray[np.generic]:
    """Values as [T, Z, Y, X] or [T, Z, Y, X, 3], whatever the order of the file's axes.

    Args:
        header: what the axes are, fastest first.
        flat: values in the order of the file.
    """
    count = len(header.axes)
    array = flat.reshape([axis.length for axis in reversed(header.axes)])

    def places(*roles: str) -> list[int]:
        """Where axes of a role stand in the array, slowest first."""
        return [count - 1 - n for n in reversed(range(count)) if header.axes[n].role in roles]

    order = places(TIME, VALUES) + places(SPACE) + places(COLOR, COMPLEX)
    array = array.transpose(order)
    x, y, z, times, values, samples = _sizes(header)
    if samples:
        return array[..., :3].reshape(times * values, z, y, x, 3)
    if places(COMPLEX):
        array = np.hypot(array[..., 0], array[..., -1])
    return array.reshape(times * values, z, y, x)
