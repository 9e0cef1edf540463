"""What one object on disk is (``Evidence``) and what it looks like (``Pixels``): plain facts.

Owns the two frozen dataclasses that cross the border of this package. Refuses to open a file,
and has no field that could hold a patient's name, date or identifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.geometry import Geometry

if TYPE_CHECKING:
    from engine.evidence.dicom.native import Native

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class VoiLut:
    """A value-of-interest table (PS3.3 C.11.2.1.1).

    Attributes:
        first: the value that the first entry stands for; lower values take the first entry,
            values beyond the end take the last one.
        table: the entries scaled to 0..255, shape [N].
    """

    first: float
    table: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Evidence:
    """One object found on disk, described from its header; pixels come by ``load_pixels``.

    Attributes:
        path: the file, or the folder of a series with several files.
        members: the files that make it up; a series is sorted along the slice normal.
        kind: image, volume, cine, report, document, other or error.
        form: ``2d``, ``3d``, ``text`` or None.
        modality: the DICOM modality, or None where the format has none.
        shape: [slices or frames, rows, columns], with a last 3 for colour.
        color: True if the values are RGB.
        dtype: number format of the stored values.
        window: (center, width) to show it with, None if it must be derived from the values.
        window_source: ``header``, ``lut``, ``derived`` or None.
        display_inverted: True if low values are white (MONOCHROME1).
        spacing_mm: (slice, row, column) distances; the first is 0 where the file knows none.
        spacing_source: where the distances were found.
        orientation: patient sides to which columns, rows and slices run, for example ``LPS``.
        text: the report's words.
        notes: sentences about what was found, without any patient attribute.
        source: ``transfer_syntax`` and ``object`` (and ``format``).
        subject: salted pseudonym of the patient, None if the file names none.
        error: why it cannot be read.
        photometric: how stored values mean grey or colour, in DICOM's word.
        window_function: ``linear``, ``linear_exact`` or ``sigmoid`` (PS3.3 C.11.2.1.2, .3).
        times: time points of a 4D file; shape speaks of one of them.
        body_part: the DICOM body part examined, for filters.
        aspect: height of one pixel over its width.
        windows: every usable (center, width) of the header, the first one included.
        geometry: where the slices lie in the patient, None where the file does not say.
        series: token of the series, study: token of the study; salted hashes, None if unnamed.
        day: day of the study, shifted by a secret distance for each patient: differences are
            true, dates cannot be known; None if the file names none.
        laterality: side of a paired body part: ``L``, ``R``, ``B`` or ``U``; view: its projection
            (``PA``, ``LL``, ``CC``, ``MLO``); defined terms only.
        directions: patient sides to which columns and rows of a projection run, for example
            ``LI``, as the file states them (Patient Orientation); None where ``orientation`` is
            known from the geometry or nothing is said.
        frame_ms: milliseconds of one frame of a cine, None where the file says none.
        technique: numbers of how it was taken with their units, for example ``120 kV``.
        warnings: words a program acts on: ``burned_in_text``, ``head`` (recognisable face).
        order: which of ``members`` (of a series) or which stored frame (of one file) each slice
            is, the slices of the first time point first; empty where they stand as delivered.
        at_detector: True if distances are those at the detector, larger than in the body, even
            where ``spacing_source`` is Pixel Spacing, which then was never calibrated.
        calibrated: (left, top, right, bottom) in pixels, right and bottom excluded, outside which
            distances do not hold (ultrasound regions); None where they hold everywhere.
        native: how to read the pixels of each of ``members`` without parsing it again, None or
            missing where that cannot be done.
    """

    path: Path
    members: tuple[Path, ...]
    kind: str
    form: str | None = None
    modality: str | None = None
    shape: tuple[int, ...] | None = None
    color: bool = False
    dtype: str | None = None
    window: tuple[float, float] | None = None
    window_source: str | None = None
    display_inverted: bool = False
    spacing_mm: tuple[float, float, float] | None = None
    spacing_source: str | None = None
    orientation: str | None = None
    text: str | None = None
    notes: tuple[str, ...] = ()
    source: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    subject: str | None = None
    error: EvidenceError | None = None
    photometric: str | None = None
    window_function: str = "linear"
    times: int = 1
    body_part: str | None = None
    aspect: float = 1.0
    windows: tuple[tuple[float, float], ...] = ()
    geometry: Geometry | None = None
    series: str | None = None
    study: str | None = None
    day: int | None = None
    warnings: tuple[str, ...] = ()
    laterality: str | None = None
    view: str | None = None
    directions: str | None = None
    technique: tuple[str, ...] = ()
    frame_ms: float | None = None
    order: tuple[int, ...] = ()
    native: tuple[Native | None, ...] = ()
    at_detector: bool = False
    calibrated: tuple[int, int, int, int] | None = None


@dataclass(frozen=True, eq=False)
class Overlay:
    """Graphics over a picture (PS3.3 C.9.2): drawn by a viewer, never burned into values.

    Attributes:
        mask: [F, Y, X] bool; F is 1 for a plane that lies over every frame.
        first_frame: the frame, from 0, that ``mask[0]`` lies over.
        top, left: pixel of the picture, from 0, under ``mask[0, 0, 0]``; may be negative.
        kind: ``graphics`` or ``roi``.
    """

    mask: NDArray[np.bool_]
    first_frame: int = 0
    top: int = 0
    left: int = 0
    kind: str = "graphics"


@dataclass(frozen=True, eq=False)
class Pixels:
    """Decoded values, after the modality transform, in stored order.

    Attributes:
        array: [Z, Y, X], or [Z, Y, X, 3] for RGB; Z = 1 for a plain picture.
        spacing_mm: (slice, row, column) distances or None.
        orientation: patient sides to which columns, rows and slices run, or None.
        window: (center, width), always usable with ``window_function``.
        window_source: ``header``, ``lut`` or ``derived``.
        display_inverted: True if low values are white.
        aspect: height of one pixel over its width; a viewer draws rows this much farther apart.
        window_function: ``linear``, ``linear_exact`` or ``sigmoid``.
        lut: the value-of-interest table that replaces the window, or None.
        times: [T, Z, Y, X] of a 4D file (``array`` is its first time point), or None.
        padding: (low, high) values that are no picture, both included, or None.
        display_order: True if rows and columns are stored as they are to be shown (DICOM,
            plain pictures); False for NIfTI, NRRD and MetaImage, which store grids: ``upright``
            turns them.
        windows: every usable (center, width) of the header.
        geometry: where each slice of ``array`` lies in the patient, or None.
        overlays: graphics to draw over it.
        calibrated: (left, top, right, bottom) in pixels, right and bottom excluded, outside which
            distances do not hold; None where they hold everywhere.
        notes: sentences on what only decoding shows.
    """

    array: NDArray[np.generic]
    spacing_mm: tuple[float, float, float] | None = None
    orientation: str | None = None
    window: tuple[float, float] = (128.0, 256.0)
    window_source: str = "derived"
    display_inverted: bool = False
    aspect: float = 1.0
    window_function: str = "linear"
    lut: VoiLut | None = None
    times: NDArray[np.generic] | None = None
    padding: tuple[float, float] | None = None
    display_order: bool = True
    windows: tuple[tuple[float, float], ...] = ()
    geometry: Geometry | None = None
    overlays: tuple[Overlay, ...] = ()
    calibrated: tuple[int, int, int, int] | None = None
    notes: tuple[str, ...] = ()

    @property
    def color(self) -> bool:
        """True if the values are RGB."""
        return self.array.ndim == 4
