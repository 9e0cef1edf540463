"""What is asked about, before any pixel is read: references to evidence, frozen and hashable.

An ``Item`` names its evidence by path; ``engine.evidence.pixels.prepare`` turns it into the
8-bit RGB arrays that a model sees (``ModelInput``). Nothing here opens a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ImageRef:
    """One picture on disk.

    Attributes:
        path: the file (PNG, JPEG, TIFF, or a DICOM file).
        frame: page or frame number, from 0.
        box: crop as (left, top, right, bottom) in upright pixels, right and bottom excluded.
    """

    path: Path
    frame: int = 0
    box: tuple[int, int, int, int] | None = None


@dataclass(frozen=True)
class VolumeRef:
    """One volume on disk.

    Attributes:
        paths: slice pictures in order (``kind="slices"``), one volume file (``"file"``),
            or the members of a DICOM series in any order (``"series"``).
        kind: ``slices``, ``file`` or ``series``.
        shown_as: ``video`` (one sequence) or ``images`` (separate pictures); the release's
            ``qry_modality`` / ``tgt_modality``.
    """

    paths: tuple[Path, ...]
    kind: str = "slices"
    shown_as: str = "video"


@dataclass(frozen=True)
class Item:
    """One query or candidate: fields of text, pictures, volumes, and an instruction.

    ``text`` None means no text field; an empty string is a field that is empty. ``instruction``
    None means the model's default.
    """

    text: str | None = None
    images: tuple[ImageRef, ...] = ()
    volumes: tuple[VolumeRef, ...] = ()
    instruction: str | None = None


@dataclass(frozen=True, eq=False)
class ModelInput:
    """What a model sees: everything decoded, windowed, 8-bit RGB, slices sampled.

    Attributes:
        instruction: the query's instruction or None for the model's default.
        texts: text fields.
        images: arrays of shape [H, W, 3], uint8.
        volumes: arrays of shape [S, H, W, 3], uint8, S at most the model's ``max_slices``.
    """

    instruction: str | None
    texts: tuple[str, ...]
    images: tuple[NDArray[np.uint8], ...]
    volumes: tuple[NDArray[np.uint8], ...]
