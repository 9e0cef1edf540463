"""Handed DICOM files de-identified here and by an independent program: no value kept here only."""

from __future__ import annotations

from pathlib import Path

import pytest
from dicomanonymizer import anonymize_dataset
from pydicom import dcmread
from pydicom.dataset import Dataset
from pydicom.errors import InvalidDicomError

from engine.evidence.identity.cleaning import DUMMIES
from engine.evidence.identity.deidentify import deidentify
from engine.evidence.quiet import quiet
from tests.shared import shared_path

OVERLAYS = 0x60  # where the data go, their description goes too


def kept(before: Dataset, after: Dataset) -> set[int]:
    """Attributes of the top level that have the same value as before."""
    return {
        int(element.tag)
        for element in before
        if element.VR != "SQ" and element.value not in (None, "", [])
        and element.tag in after and after[element.tag].value == element.value
        and str(element.value) not in map(str, DUMMIES.values())
    }  # fmt: skip


def files() -> list[Path]:
    root = shared_path("data/files")
    return sorted(path for path in root.rglob("*") if path.is_file())


def test_nothing_is_kept_that_the_other_program_takes_out() -> None:
    compared = 0
    for path in files():
        with quiet():
            try:
                before, copy = dcmread(path), dcmread(path)
            except InvalidDicomError:
                continue
            if "DirectoryRecordSequence" in before or "broken" in path.parts:
                continue
            ours = kept(before, deidentify(before, options=frozenset(), salt=b"s"))
            anonymize_dataset(copy, delete_private_tags=True)
        theirs = kept(before, copy)
        assert ours <= theirs, (path.name, [f"{tag:08X}" for tag in ours - theirs])
        lost = {tag for tag in theirs - ours if tag & 0xFFFF and tag >> 24 != OVERLAYS}
        # what was done; a detector's description, which may hold its serial number
        assert lost <= {0x00120063, 0x00187006}, (path.name, [f"{tag:08X}" for tag in lost])
        compared += 1
    assert compared >= 100


def test_the_other_program_can_be_told_from_ours() -> None:
    """The comparison would notice: a name that is left is found by it."""
    before, after = Dataset(), Dataset()
    before.PatientName = after.PatientName = "Muster^Max"
    assert kept(before, after) == {0x00100010}
    with pytest.raises(ValueError, match="secret"):
        deidentify(before, options=frozenset(), salt=b"")
