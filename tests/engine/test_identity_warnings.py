"""Burned-in text and heads: what header rules warn of, and what they stay silent about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence

from engine.evidence.identity import risks
from engine.evidence.identity.tokens import warnings_of
from engine.evidence.open import find_evidence
from engine.evidence.terms import body_part_of, modality_of
from tests.engine.evidence_files import slices
from tests.engine.report_files import code

SHAPE = (1, 256, 256)
CAPTURE = "1.2.840.10008.5.1.4.1.1.7"


def warned(kind: str = "image", shape: tuple[int, ...] = SHAPE, **elements: Any) -> set[str]:
    dataset = Dataset()
    for keyword, value in elements.items():
        setattr(dataset, keyword, value)
    found = warnings_of(
        dataset, kind=kind, shape=shape, modality=modality_of(str(elements.get("Modality", ""))),
        body_part=body_part_of(str(elements.get("BodyPartExamined", ""))),
    )  # fmt: skip
    assert set(found) <= set(risks.SENTENCES)
    return set(found)


@pytest.mark.parametrize(
    "elements",
    [
        {"BurnedInAnnotation": "YES", "Modality": "CT", "BodyPartExamined": "CHEST"},
        {"Modality": "US"}, {"Modality": "ES"}, {"Modality": "OT"}, {"Modality": "SC"},
        {"Modality": "DOC"}, {"SOPClassUID": CAPTURE}, {"SOPClassUID": f"{CAPTURE}.4"},
        {"Modality": "XA", "ImageType": ["DERIVED", "PRIMARY", "SCREEN SAVE"]},
        {"Modality": "CT", "ImageType": ["DERIVED", "SECONDARY", "DOSE_INFO"],
         "BodyPartExamined": "CHEST"},
        {"Modality": "CR", "ConversionType": "DF"},
    ],
)  # fmt: skip
def test_text_is_possible(elements: dict[str, Any]) -> None:
    assert warned(**elements) == {"burned_in_text"}


@pytest.mark.parametrize(
    "elements",
    [
        {"BurnedInAnnotation": "NO", "Modality": "US"},
        {"BurnedInAnnotation": "NO", "SOPClassUID": CAPTURE},
        {"Modality": "CT", "BodyPartExamined": "CHEST"}, {"Modality": "DX"}, {"Modality": "MG"},
        {"Modality": "US", "DeidentificationMethodCodeSequence":
            Sequence([code("113101", "Clean Pixel Data Option")])},
    ],
)  # fmt: skip
def test_nothing_was_noticed(elements: dict[str, Any]) -> None:
    assert warned(**elements) == set()


REGION = Sequence([code("69536005", "Head", "SCT")])
OLD_REGION = Sequence([code("T-D1600", "Neck", "SRT")])


def frames_of_a_head() -> Sequence:
    anatomy, group = Dataset(), Dataset()
    anatomy.AnatomicRegionSequence = Sequence([code("12738006", "Brain", "SCT")])
    group.FrameAnatomySequence = Sequence([anatomy])
    return Sequence([group])


@pytest.mark.parametrize(
    "elements",
    [
        {"Modality": "CT", "BodyPartExamined": "HEAD"},
        {"Modality": "MR", "BodyPartExamined": "BRAIN"},
        {"Modality": "PT", "BodyPartExamined": "WHOLEBODY"},
        {"Modality": "CT", "BodyPartExamined": "NECK"},
        {"Modality": "CT", "BodyPartExamined": "SINUS"},
        {"Modality": "CT", "AnatomicRegionSequence": REGION},
        {"Modality": "MR", "AnatomicRegionSequence": OLD_REGION},
        {"Modality": "MR", "SharedFunctionalGroupsSequence": frames_of_a_head()},
        {"Modality": "CT", "SeriesDescription": "Schädel nativ"},
        {"Modality": "MR", "ProtocolName": "t1_mprage_sag"},
        {"Modality": "MR", "ReceiveCoilName": "HeadNeck_64"},
        {"Modality": "CT", "StudyDescription": "TDM crâne"},
        {"Modality": "CT", "PixelSpacing": [0.9, 0.9]},  # a field of 230 mm and nothing else said
        {"Modality": "PT"}, {"Modality": "XC", "BurnedInAnnotation": "NO"},
        {"Modality": "CT", "BodyPartExamined": "CHEST", "RecognizableVisualFeatures": "YES"},
    ],
)  # fmt: skip
def test_a_head_may_be_in_it(elements: dict[str, Any]) -> None:
    assert warned(**elements) == {"head"}


@pytest.mark.parametrize(
    "elements",
    [
        {"Modality": "CT", "BodyPartExamined": "HEAD", "RecognizableVisualFeatures": "NO"},
        {"Modality": "MR", "BodyPartExamined": "BRAIN", "DeidentificationMethodCodeSequence":
            Sequence([code("113102", "Clean Recognizable Visual Features Option")])},
        {"Modality": "CT", "BodyPartExamined": "CHEST", "PixelSpacing": [0.9, 0.9]},
        {"Modality": "MR", "SeriesDescription": "Knie sag PD", "PixelSpacing": [0.6, 0.6]},
        {"Modality": "CT", "PixelSpacing": [1.9, 1.9]},
        {"Modality": "CR", "BodyPartExamined": "SKULL"},
        {"Modality": "CT"},
    ],
)  # fmt: skip
def test_no_head_is_claimed(elements: dict[str, Any]) -> None:
    assert warned(**elements) == set()


def test_long_scans_reach_the_head() -> None:
    long = {"Modality": "CT", "SliceThickness": 2.0, "PixelSpacing": [1.9, 1.9]}
    assert warned("volume", (400, 256, 256), **long) == {"head"}
    assert warned("volume", (100, 256, 256), **long) == set()


@pytest.mark.parametrize("kind", ["report", "other", "error"])
def test_what_is_no_picture_has_no_warning(kind: str) -> None:
    assert warned(kind, BurnedInAnnotation="YES", Modality="CT", BodyPartExamined="HEAD") == set()


def test_documents_may_be_scans() -> None:
    assert warned("document", Modality="DOC") == {"burned_in_text"}
    assert warned("document", Modality="DOC", BurnedInAnnotation="NO") == set()


def test_formats_without_a_header_claim_nothing() -> None:
    def of(kind: str, shape: tuple[int, ...]) -> tuple[str, ...]:
        return warnings_of(None, kind=kind, modality=None, body_part=None, shape=shape)

    assert of("volume", (20, 64, 64)) == ("head_unknown",)
    assert of("image", (1, 64, 64)) == ()


def test_sentences_never_claim_clean_pixels() -> None:
    for sentence in risks.SENTENCES.values():
        assert "clean" not in sentence
    assert "not claimed clean" in risks.NEVER_CLEAN


def test_a_series_carries_the_warning(tmp_path: Path) -> None:
    slices(tmp_path, [0.0, 2.0, 4.0], BodyPartExamined="HEAD")
    (found,) = find_evidence([tmp_path])
    assert found.kind == "volume"
    assert found.warnings == ("head",)
    assert np.prod(found.shape or ()) == 60
