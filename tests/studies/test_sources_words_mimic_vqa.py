"""Medical-CXR-VQA over the tree of MIMIC-CXR: parts, ordered lists, pictures in three forms."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, SecondaryCaptureImageStorage, generate_uid

from studies.errors import StudyError
from tests.studies.sources_words_checks import (
    built_task,
    jpeg,
    noise,
    records_of,
    rows_of,
    texts,
    write_json,
)

COLUMNS = ("subject_id", "study_id", "dicom_id", "question_type", "question", "answer", "split")
Row = tuple[str, ...]
ROWS: list[Row] = [
    ("10000032", "50414267", "02aa", "abnormality", "what abnormalities are seen?",
     "Pleural Effusion, atelectasis", "test"),
    ("10000032", "50414267", "174f", "abnormality", "what abnormalities are seen?",
     "atelectasis,  pleural effusion", "test"),
    ("10000032", "50414267", "02aa", "location", "where is the effusion?",
     "right, lower lung", "test"),
    ("11000011", "51000001", "3b3b", "presence", "is there edema?", "Yes ", "test"),
    ("11000011", "51000001", "3b3b", "view", "which view is this?", "AP view", "test"),
    ("11000011", "51000001", "3b3b", "presence", "is there edema?", "no", "test"),
    ("12000012", "52000002", "4c4c", "presence", "is there edema?", "no", "train"),
    ("12000012", "52000002", "4c4c", "type", "what type?", "acute", "val"),
    ("13000013", "53000003", "5d5d", "level", "what level?", "mild", "test"),
    ("14000014", "54000004", "", "level", "what level?", "mild", "test"),
]  # fmt: skip


def tree(root: Path, rows: list[Row] = ROWS, *, columns: tuple[str, ...] = COLUMNS) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    with (root / "medical-cxr-vqa-questions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(dict(zip(COLUMNS, row, strict=True)) for row in rows)
    for subject, study, dicom, *_ in rows:
        if dicom and dicom != "5d5d":
            path = root / "files" / f"p{subject[:2]}" / f"p{subject}" / f"s{study}" / f"{dicom}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(jpeg(int(dicom, 16)))
    return root


def test_the_test_part_alone_is_asked_and_lists_have_one_order(tmp_path: Path):
    records, faults = records_of("mimic_cxr_vqa", tree(tmp_path))
    assert [words[1] for words in texts(records)] == [
        "atelectasis, pleural effusion", "atelectasis, pleural effusion", "right, lower lung",
        "yes", "ap view",
    ]  # fmt: skip
    assert {record.group for record in records} == {"10000032", "11000011"}
    assert [fault.reason for fault in faults] == [
        "the same question on the same picture stood there already: left out",
        "its picture is not in the tree of MIMIC-CXR",
        "names no patient, study or picture",
    ]


def test_the_task_reads_back_and_no_text_holds_an_identifier(tmp_path: Path):
    read, pools = built_task(
        "mimic_cxr_vqa", tree(tmp_path / "set"), tmp_path / "data", "mimic_cxr_vqa/vqa"
    )
    assert len(read.queries) == 5
    assert len(pools.candidates) == 4
    for row in rows_of("mimic_cxr_vqa/vqa", tmp_path / "data"):
        shown = " ".join([row["qry_inst"], row["qry_text"], *row["tgt_text"]])
        assert not any(value in shown for one in ROWS for value in one[:3] if value)
        assert row["qry_img_path"].startswith("p1")


def test_settings_of_types_repeats_answers_and_sampling(tmp_path: Path):
    folder = tree(tmp_path / "set")
    assert len(records_of("mimic_cxr_vqa", folder, types="short")[0]) == 3
    first, faults = records_of("mimic_cxr_vqa", folder, repeats="first")
    assert len(first) == 4
    assert any("same study" in fault.reason for fault in faults)
    written, _ = records_of("mimic_cxr_vqa", folder, answers="written")
    assert texts(written)[0][1] == "Pleural Effusion, atelectasis"
    many = [
        ("10000032", "50414267", "02aa", kind, f"{kind} {place}?", "yes", "test")
        for kind, count in (("presence", 30), ("view", 4), ("level", 6))
        for place in range(count)
    ]
    folder = tree(tmp_path / "many", many)
    read, _ = built_task(
        "mimic_cxr_vqa", folder, tmp_path / "data", "mimic_cxr_vqa/vqa", cap=12, sampling="level"
    )
    kinds = Counter((query.item.text or "").split()[0] for query in read.queries)
    assert kinds == {"presence": 4, "view": 4, "level": 4}


def test_a_table_without_parts_is_cut_by_patient(tmp_path: Path):
    records, _ = records_of("mimic_cxr_vqa", tree(tmp_path, columns=COLUMNS[:-1]))
    assert {record.split for record in records} == {""}
    assert {record.group for record in records} == {"10000032", "11000011", "12000012"}


def test_a_zipped_table_with_prefixed_numbers_and_dicom_pictures(tmp_path: Path):
    root = tree(tmp_path / "set", ROWS[:1])
    plain = root / "medical-cxr-vqa-questions.csv"
    text = plain.read_text("utf-8").replace("10000032,50414267", "p10000032,50414267.0")
    with gzip.open(root / "medical-cxr-vqa-questions.csv.gz", "wb") as stream:
        stream.write(text.encode())
    plain.unlink()
    (jpg,) = root.rglob("02aa.jpg")
    dicom(jpg.with_suffix(".dcm"), noise(1)[..., 0])
    jpg.unlink()
    built_task("mimic_cxr_vqa", root, tmp_path / "data", "mimic_cxr_vqa/vqa")
    (row,) = rows_of("mimic_cxr_vqa/vqa", tmp_path / "data")
    assert row["qry_img_path"] == "p10/p10000032/s50414267/02aa.png"


def dicom(path: Path, pixels: np.ndarray) -> None:
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = SecondaryCaptureImageStorage
    meta.MediaStorageSOPInstanceUID = generate_uid()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    one = Dataset()
    one.file_meta = meta
    one.SOPClassUID, one.SOPInstanceUID = SecondaryCaptureImageStorage, generate_uid()
    one.Modality, one.PhotometricInterpretation, one.SamplesPerPixel = "CR", "MONOCHROME2", 1
    one.Rows, one.Columns = pixels.shape
    one.BitsAllocated, one.BitsStored, one.HighBit, one.PixelRepresentation = 8, 8, 7, 0
    one.PixelData = np.ascontiguousarray(pixels).tobytes()
    one.save_as(path, enforce_file_format=True)


def test_sets_of_a_like_name_are_refused(tmp_path: Path):
    write_json(tmp_path / "MIMIC-CXR-VQA" / "dataset" / "test.json", [{"question": "x"}])
    (tmp_path / "mimic_pair_questions.csv").write_text("a,b\n", "utf-8")
    with pytest.raises(StudyError, match="does not look like Medical-CXR-VQA"):
        records_of("mimic_cxr_vqa", tmp_path)
    none = tree(tmp_path / "none", ROWS[6:8])
    with pytest.raises(StudyError, match="no row of it is of the part test"):
        records_of("mimic_cxr_vqa", none)
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "medical-cxr-vqa-questions.csv").write_text(",".join(COLUMNS) + "\n", "utf-8")
    with pytest.raises(StudyError, match="no tree p10 to p19"):
        records_of("mimic_cxr_vqa", alone)
