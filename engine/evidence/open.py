"""From paths to evidence (filled in next)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.errors import EvidenceError
from engine.evidence.raster import SUFFIXES, describe_picture, load_picture
from engine.evidence.study import Evidence, Pixels


def read_file(path: Path) -> Evidence:
    """Describe one file."""
    if path.suffix.lower() in SUFFIXES:
        return describe_picture(path)
    raise EvidenceError(path, "unsupported", "the reader for this format is on its way")


def read_series(paths: Sequence[Path]) -> Evidence:
    """Describe the files of one series."""
    raise EvidenceError(paths[0], "unsupported", "the reader for this format is on its way")


def load_pixels(evidence: Evidence) -> Pixels:
    """Decode what an ``Evidence`` describes."""
    return load_picture(evidence.path)
