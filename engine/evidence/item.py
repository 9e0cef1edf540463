"""What is asked about, before any pixel is read: references to evidence, frozen and hashable.

An ``Item`` names its evidence by path; ``engine.evidence.pixels.prepare`` turns it into the
8-bit RGB arrays that a model sees (``ModelInput``). Nothing here opens a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.study import Evidence


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


def item_of(evidence: Evidence) -> Item:
    """The item that stands for one piece of evidence in a search.

    A picture of several pages is shown whole, page after page, as a cine is.

    Raises:
        EvidenceError: the evidence has neither picture nor text.
    """
    evidence = readable(evidence)
    if evidence.kind == "report" or (evidence.kind == "document" and evidence.text):
        return Item(text=evidence.text or "")
    if evidence.kind == "image" and (evidence.shape or (1,))[0] == 1:
        return Item(images=(ImageRef(evidence.path),))
    if evidence.kind in ("image", "volume", "cine"):
        if is_series(evidence):
            return Item(volumes=(VolumeRef(evidence.members, kind="series"),))
        return Item(volumes=(VolumeRef((evidence.path,), kind="file"),))
    reason = f"this is a {evidence.source.get('object', evidence.kind)}; it holds no picture"
    raise EvidenceError(evidence.path, "no_picture", reason)


def readable(evidence: Evidence) -> Evidence:
    """The evidence itself, or its error raised."""
    if evidence.error is not None:
        raise evidence.error
    return evidence


def is_series(evidence: Evidence) -> bool:
    """True for a DICOM series of several files (a header with its data file is none)."""
    return evidence.source.get("format") == "DICOM" and len(evidence.members) > 1
