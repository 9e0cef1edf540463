"""Compressed frames that lost their end and got a new one: never shown as whole pictures.

Decoders fill what is missing with grey, with zeros or by going on as before, and say nothing.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pydicom
import pytest
from pydicom.encaps import encapsulate, generate_frames
from pydicom.uid import DeflatedExplicitVRLittleEndian, RLELossless

from engine.errors import EvidenceError
from engine.evidence.open import load_pixels, read_file
from tests.fuzz import bases, makers_dicom
from tests.shared import SHARED, shared_path

SHARES = (0.4, 0.8, 0.95, 0.99, 0.999)
END = b"\xff\xd9"
MADE = [name for name in makers_dicom.MADE if "cine" in name]


def compressed() -> list[str]:
    """Handed and synthetic files with compressed frames."""
    handed = sorted((SHARED / "data/files/dicom").glob("*"))
    marks = ("jpeg", "j2k", "jls", "rle", "cine", "mg_", "pt_", "cr_")
    return [path.name for path in handed if any(mark in path.name for mark in marks)] + MADE


def raw_of(name: str) -> bytes:
    if name in MADE:
        return bases.load(f"made:{name}").raw
    return shared_path(f"data/files/dicom/{name}").read_bytes()


@pytest.mark.parametrize("name", compressed())
def test_a_frame_with_a_new_end_is_a_cut_frame(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.dcm"
    path.write_bytes(raw_of(name))
    dataset = pydicom.dcmread(io.BytesIO(raw_of(name)), force=True)
    syntax = dataset.file_meta.get("TransferSyntaxUID")
    if syntax in (None, DeflatedExplicitVRLittleEndian) or not syntax.is_compressed:
        pytest.skip("not compressed")
    whole = load_pixels(read_file(path)).array
    count = int(dataset.get("NumberOfFrames") or 1)
    frames = list(generate_frames(dataset.PixelData, number_of_frames=count))
    shares = SHARES[:3] if syntax == RLELossless else SHARES  # a lost last byte is padding's
    for share in shares:
        last = frames[-1][: int(share * len(frames[-1]))] + END
        dataset.PixelData = encapsulate([*frames[:-1], last + b"\0" * (len(last) % 2)])
        dataset["PixelData"].is_undefined_length = True
        dataset.save_as(path)
        try:
            shown = load_pixels(read_file(path)).array
        except EvidenceError:
            continue
        assert np.array_equal(shown, whole), share
