"""NIfTI-1 and NIfTI-2 (.nii, .nii.gz, .hdr with .img), and bare Analyze files, as evidence.

Owns the step from a header to a description, a place in the patient, and values. Refuses 128-bit
numbers with a sentence, and guesses: a file that names no orientation has none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.failures import of_system
from engine.evidence.geometry import Geometry
from engine.evidence.grids.nifti_header import (
    RGB_INTENTS,
    NiftiHeader,
    header_of,
    is_nifti,
    read_header,
)
from engine.evidence.grids.numbers import Block, read_numbers
from engine.evidence.orient import letters
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import derive_window, function_of, spanning

__all__ = ["describe_nifti", "is_nifti", "load_nifti", "open_stream", "read_header"]

TYPES = {
    2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4", 1024: "i8",
    1280: "u8", 128: "u1", 2304: "u1", 32: "c8", 1792: "c16",
}  # fmt: skip
RGB24, RGBA32 = 128, 2304
COMPLEX = {32: "f4", 1792: "f8"}
WIDE = {1536: "128-bit floating", 2048: "256-bit complex", 1: "1-bit"}
STANDARD_SPACES = {3: "Talairach", 4: "MNI"}
TO_LPS = np.array([-1.0, -1.0, 1.0])  # NIfTI's axes run to R and A where DICOM's run to L and P


@contextmanager
def open_stream(path: Path) -> Iterator[BinaryIO]:
    """Open a file, unzipped if its content (not its name) is gzip."""
    with files.open_file(path) as stream:
        yield stream


def _header(path: Path) -> NiftiHeader:
    """The header, with system errors as sentences."""
    try:
        return read_header(header_of(path))
    except OSError as failure:
        raise of_system(path, failure) from failure


def geometry(header: NiftiHeader) -> Geometry | None:
    """Where the slices lie in the patient, None if the file does not say."""
    if header.affine is None:
        return None
    steps = TO_LPS[:, None] * header.affine[:3, :3]
    origin = TO_LPS * header.affine[:3, 3]
    place = origin + np.arange(header.size[2])[:, None] * steps[:, 2]
    space = STANDARD_SPACES.get(header.space)
    frame = None if space is None else hashlib.sha256(space.encode()).hexdigest()[:16]
    return Geometry(place, steps[:, 0], steps[:, 1], frame)


def _spacing(header: NiftiHeader) -> tuple[tuple[float, float, float], str, str | None]:
    """(slice, row, column) distances, their source, and the orientation letters."""
    if header.affine is None:
        x, y, z = header.zooms
        return (z, y, x), "pixdim", None
    steps = TO_LPS[:, None] * header.affine[:3, :3]
    x, y, z = (float(one) for one in np.linalg.norm(steps, axis=0))
    sides = letters(*(steps[:, axis] / max((x, y, z)[axis], 1e-12) for axis in range(3)))
    return (z, y, x), header.affine_from or "pixdim", sides


def _colored(header: NiftiHeader) -> bool:
    """True if voxels are RGB."""
    if header.code in (RGB24, RGBA32):
        return True
    shape = header.vector in (3, 4) and header.size[3] == header.vector
    return header.code == 2 and header.intent in RGB_INTENTS and shape


def _times(header: NiftiHeader) -> int:
    """Time points; the values of a voxel that is no colour count as such."""
    return header.size[3] // (header.vector if _colored(header) else 1)


def describe_nifti(path: Path) -> Evidence:
    """Describe a NIfTI file from its header.

    Raises:
        EvidenceError: it cannot be read.
    """
    header = _header(path)
    kind = _dtype(path, header)
    x, y, z, _ = header.size
    color = _colored(header)
    spacing, source, orientation = _spacing(header)
    window = None if color else _window(header)
    return Evidence(
        path=header_of(path),
        members=tuple(dict.fromkeys((header_of(path), header.data_path))),
        kind="volume" if z > 1 else "image",
        form="3d" if z > 1 else "2d",
        shape=(z, y, x, 3) if color else (z, y, x),
        color=color,
        dtype=kind.name,
        window=window,
        windows=() if window is None else (window,),
        window_source=None if color else "derived" if window is None else "header",
        spacing_mm=spacing,
        spacing_source=source,
        orientation=orientation,
        notes=tuple(_notes(header, color=color)),
        source={"object": "Analyze" if header.version == 0 else f"NIfTI-{header.version}",
                "format": "NIfTI"},
        photometric="RGB" if color else "MONOCHROME2",
        times=_times(header),
        aspect=spacing[1] / spacing[2],
        geometry=geometry(header),
        warnings=("head_unknown",) if z > 1 else (),  # no header of this format names a body part
    )  # fmt: skip


def _notes(header: NiftiHeader, *, color: bool) -> list[str]:
    """What a reader of the file should know."""
    notes = []
    times = _times(header) // (1 if color else header.vector)
    if times > 1:
        notes.append(f"{times} time points; the first is shown")
    if header.vector > 1 and not color:
        notes.append(f"{header.vector} values in each voxel; the first is shown")
    if header.affine is None:
        notes.append("the file names no orientation; sides are unknown")
    if header.code == RGBA32:
        notes.append("has transparency, which is left out")
    if header.code in COMPLEX:
        notes.append("complex numbers; their magnitude is shown")
    if header.space in STANDARD_SPACES:
        notes.append(f"lies in {STANDARD_SPACES[header.space]} space, not in a scanner's")
    return [*notes, *header.notes]


def _window(header: NiftiHeader) -> tuple[float, float] | None:
    """The display range as (center, width): its ends become 0 and 255 exactly."""
    if header.window is None or header.code in COMPLEX:
        return None
    return spanning(*header.window)


def _dtype(path: Path, header: NiftiHeader) -> np.dtype[np.generic]:
    """The numpy type of the values on disk."""
    if header.code not in TYPES:
        what = WIDE.get(header.code, f"NIfTI type {header.code}")
        reason = f"{what} numbers are not read; convert them to float32"
        raise EvidenceError(path, "unsupported", reason)
    return np.dtype(f"{header.endian}{TYPES[header.code]}")


def load_nifti(path: Path) -> Pixels:
    """Decode a NIfTI file.

    Returns:
        [Z, Y, X] (or RGB), the first time point; ``times`` holds all of them.

    Raises:
        EvidenceError: it is damaged, cut or too large.
    """
    header = _header(path)
    series = _values(path, header)
    spacing, _, orientation = _spacing(header)
    window = None if _colored(header) else _window(header)
    window = window if window is not None and _shows(series[0], window) else None
    shown = window or derive_window(series[0])
    return Pixels(
        array=series[0],
        spacing_mm=spacing,
        orientation=orientation,
        window=shown,
        window_function=function_of(shown),
        windows=() if window is None else (window,),
        window_source="derived" if window is None else "header",
        aspect=spacing[1] / spacing[2],
        times=series if len(series) > 1 else None,
        display_order=False,
        geometry=geometry(header),
    )


def _shows(values: NDArray[np.generic], window: tuple[float, float]) -> bool:
    """True if some of the values (a sample) lie inside a window: else it was left over."""
    sample = values.reshape(-1)[:: max(1, values.size // 100_000)].astype(np.float64)
    low, high = window[0] - window[1] / 2, window[0] + window[1] / 2
    return bool(((sample > low) & (sample < high)).any())


def _values(path: Path, header: NiftiHeader) -> NDArray[np.generic]:
    """All values: [T, Z, Y, X], or [T, Z, Y, X, 3]."""
    kind = _dtype(path, header)
    x, y, z, times = header.size
    count = x * y * z * times
    source, start = header.data_path, header.offset
    if header.code in COMPLEX:
        part = np.dtype(f"{header.endian}{COMPLEX[header.code]}")
        flat = read_numbers(source, Block(start, 2 * count, part))
        complex_values = flat.view(np.dtype(TYPES[header.code]))
        return np.abs(complex_values * header.slope + header.intercept).reshape(times, z, y, x)
    if header.code in (RGB24, RGBA32):
        samples = 3 if header.code == RGB24 else 4
        flat = read_numbers(source, Block(start, count * samples, kind))
        return flat.reshape(times, z, y, x, samples)[..., :3]
    slope, intercept = (1.0, 0.0) if _colored(header) else (header.slope, header.intercept)
    flat = read_numbers(source, Block(start, count, kind), slope=slope, intercept=intercept)
    if _colored(header):
        planes = flat.reshape(header.vector, z, y, x)[:3]
        return np.ascontiguousarray(np.moveaxis(planes, 0, -1))[None]
    return flat.reshape(times, z, y, x)
