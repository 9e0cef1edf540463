"""Files with bytes changed or cut off at seeded places: an error or a picture, never a crash."""

from __future__ import annotations

import contextlib
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk
from PIL import Image
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

from engine.errors import EvidenceError
from engine.evidence.open import find_evidence
from engine.evidence.pixels import item_of, prepare
from engine.evidence.show import describe
from tests.engine.evidence_files import dicom, picture, ramp, slices

ROUNDS = 60


def make_dicom(folder: Path) -> Path:
    node = Dataset()
    node.ValueType, node.TextValue = "TEXT", "words"
    values = np.arange(64, dtype=np.int16).reshape(8, 8)
    return dicom(folder / "a.dcm", values, ContentSequence=Sequence([node, node]), WindowWidth=9)


def make_slice(folder: Path) -> Path:
    return slices(folder, [1.5])[0]


def make_png(folder: Path) -> Path:
    return picture(folder / "a.png", ramp())


def make_tiff(folder: Path) -> Path:
    return picture(folder / "a.tif", ramp().astype(np.uint16), compression="tiff_deflate")


def make_palette(folder: Path) -> Path:
    path = folder / "a.gif"
    Image.fromarray(ramp()).convert("P").save(path)
    return path


def make_grid(folder: Path) -> Path:
    path = folder / "a.nrrd"
    sitk.WriteImage(sitk.GetImageFromArray(ramp().reshape(2, 3, 8)), str(path), True)
    return path


def make_nifti(folder: Path) -> Path:
    path = folder / "a.nii.gz"
    sitk.WriteImage(sitk.GetImageFromArray(ramp().reshape(2, 3, 8).astype(np.float32)), str(path))
    return path


MAKERS = [make_dicom, make_slice, make_png, make_tiff, make_palette, make_grid, make_nifti]


def damage(raw: bytes, seed: int) -> bytes:
    """Cut the bytes, or change one to sixty of them."""
    chance = random.Random(seed)
    if chance.random() < 0.4:
        return raw[: chance.randrange(len(raw))]
    changed = bytearray(raw)
    for _ in range(chance.choice((1, 4, 15, 60))):
        changed[chance.randrange(len(raw))] = chance.choice((0, 1, 255, chance.randrange(256)))
    return bytes(changed)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_damage_ends_in_a_sentence(tmp_path: Path, make: object) -> None:
    (tmp_path / "whole").mkdir()
    whole = make(tmp_path / "whole")  # type: ignore[operator]
    errors = 0
    for seed in range(ROUNDS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / whole.name).write_bytes(damage(whole.read_bytes(), seed))
        for evidence in find_evidence([folder]):
            shown = describe(evidence, probes=[(0, 0, 0)], with_text=True)
            if shown["error"] is not None:
                errors += 1
                assert shown["error"]["message"]
                continue
            with contextlib.suppress(EvidenceError):
                prepare(item_of(evidence))
        shutil.rmtree(folder)
    assert errors > ROUNDS // 10
