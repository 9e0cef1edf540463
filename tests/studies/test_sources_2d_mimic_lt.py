"""MIMIC-CXR-LT: the repository's tables beside the folder of MIMIC-CXR-JPG."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from studies.errors import StudyError
from studies.medheb.builders.built import read_built
from studies.medheb.release import read_task
from studies.medheb.tasks import load_tasks
from tests.studies.sources_2d_checks import build, checked, noise, records_of, rows_of, save

HEADER = (
    "Atelectasis", "Cardiomegaly", "Consolidation", "Edema", "Enlarged Cardiomediastinum",
    "Fracture", "Lung Lesion", "Lung Opacity", "No Finding", "Pleural Effusion", "Pleural Other",
    "Pneumonia", "Pneumothorax", "Support Devices", "Pneumoperitoneum", "Pneumomediastinum",
    "Subcutaneous Emphysema", "Tortuous Aorta", "Calcification of the Aorta",
)  # fmt: skip
NAME = "mimic-cxr-lt_single-label_{}.csv"
Row = tuple[str, str, str, tuple[str, ...]]


def material(each: int = 4) -> list[Row]:
    """Patient, study, picture, classes: two pictures a patient, one class a patient."""
    rows = []
    for number, label in enumerate(HEADER):
        for place in range(each):
            patient = str(10_000_000 + number * 100 + place // 2)
            study = str(50_000_000 + number * 100 + place // 2)
            rows.append((patient, study, f"{number:08x}-{place:08x}", (label,)))
    return rows


def path_of(row: Row) -> str:
    return f"files/p{row[0][:2]}/p{row[0]}/s{row[1]}/{row[2]}.jpg"


def table(rows: list[Row], columns: tuple[str, ...] = HEADER) -> str:
    lines = ["subject_id,study_id,dicom_id,path," + ",".join(columns)]
    for row in rows:
        values = ",".join("1" if column in row[3] else "0" for column in columns)
        lines.append(f"{row[0]},{row[1]},{row[2]},{path_of(row)},{values}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def official(tmp_path: Path) -> Path:
    folder, rows = tmp_path / "mimic", material()
    for number, row in enumerate(rows):
        save(folder / path_of(row), noise(number, shape=(20, 24)))
    labels = folder / "labels"
    labels.mkdir()
    (labels / NAME.format("test")).write_text(table(rows))
    (labels / NAME.format("balanced-test")).write_text(table(rows[::2]))
    return folder


def test_three_tasks_of_the_long_tailed_table(official: Path, tmp_path: Path):
    document = build("mimic_cxr_lt", official, tmp_path / "data")
    assert document["faults"] == []
    records, _ = records_of("mimic_cxr_lt", official)
    tasks = checked("mimic_cxr_lt", tmp_path / "data", records, classes=19)
    assert {len(one.queries) for one in tasks.values()} == {76}
    notes = read_built(tmp_path / "data")["mimic_cxr_lt/i2l"].notes
    assert notes == (f"Rows of the long-tailed test table ({NAME.format('test')}).",)
    balanced, _ = records_of("mimic_cxr_lt", official, test_file="balanced-test")
    assert len(balanced) == 38


def test_classes_follow_the_columns_names_not_their_order(official: Path):
    shuffled = list(HEADER)
    random.Random(3).shuffle(shuffled)
    (official / "labels" / NAME.format("test")).write_text(table(material(), tuple(shuffled)))
    records, _ = records_of("mimic_cxr_lt", official)
    assert {r.labels[0] for r in records if "00000010-" in r.key} == {"Subcutaneous Emphysema"}


def test_no_positive_is_of_the_same_patient(official: Path, tmp_path: Path):
    build("mimic_cxr_lt", official, tmp_path / "data")
    for row in rows_of("mimic_cxr_lt/i2i", tmp_path / "data"):
        patient = row["qry_img_path"].split("/")[2]
        assert patient not in [name.split("/")[2] for name in row["tgt_img_path"]]


def test_no_identifier_is_in_what_a_model_reads(official: Path, tmp_path: Path):
    build("mimic_cxr_lt", official, tmp_path / "data")
    patients = {row[0] for row in material()} | {row[1] for row in material()}
    for task in load_tasks(tmp_path / "data"):
        if task.source != "mimic_cxr_lt":
            continue
        for query in read_task(task, tmp_path / "data").queries:
            texts = [query.item.text, query.item.instruction]
            texts += [one.item.text for one in query.candidates]
            assert not any(patient in (text or "") for text in texts for patient in patients)


@pytest.mark.parametrize("place", ["", "LongTailCXR/labels"])
def test_tables_elsewhere_and_under_the_loaders_older_name(official: Path, place: str):
    text = (official / "labels" / NAME.format("test")).read_text()
    for path in (official / "labels").iterdir():
        path.unlink()
    target = official / place / "mimic-lt_single-label_test.csv"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    assert len(records_of("mimic_cxr_lt", official)[0]) == 76


def test_pictures_in_a_folder_of_a_mirror(official: Path):
    inner = official / "physionet.org" / "files" / "mimic-cxr-jpg" / "2.1.0"
    inner.mkdir(parents=True)
    (official / "files").rename(inner / "files")
    records, faults = records_of("mimic_cxr_lt", official)
    assert (len(records), faults) == (76, [])


def test_a_pointer_is_named(official: Path):
    (official / "labels" / NAME.format("test")).write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 7000000\n"
    )
    with pytest.raises(StudyError, match="Git LFS pointer"):
        records_of("mimic_cxr_lt", official)


def test_several_findings_missing_pictures_and_strange_rows(official: Path, tmp_path: Path):
    rows = material()
    rows[0] = (*rows[0][:3], ("Edema", "Fracture"))
    rows[1] = (*rows[1][:3], ())
    (official / path_of(rows[2])).unlink()
    bad = (rows[3][0], rows[3][1], "../../x", ("Edema",))
    text = table([*rows, rows[3], bad]).replace("\n", "\r\n")
    (official / "labels" / NAME.format("test")).write_text("\ufeff" + text, "utf-8")
    records, faults = records_of("mimic_cxr_lt", official)
    assert [fault.where.split(", ")[1] for fault in faults] == ["line 4", "line 78", "line 79"]
    assert len(records) == 75
    build("mimic_cxr_lt", official, tmp_path / "data")
    assert len(rows_of("mimic_cxr_lt/i2l", tmp_path / "data")) == 73


def test_frontal_views_by_the_metadata(official: Path):
    with pytest.raises(StudyError, match="tell frontal views"):
        records_of("mimic_cxr_lt", official, views="frontal")
    views = ("PA", "AP", "LATERAL", "LL")
    lines = ["dicom_id,subject_id,study_id,ViewPosition"]
    for row in material():
        lines.append(f"{row[2]},{row[0]},{row[1]},{views[int(row[2][-1])]}")
    with gzip.open(official / "mimic-cxr-2.0.0-metadata.csv.gz", "wt") as stream:
        stream.write("\n".join(lines))
    assert len(records_of("mimic_cxr_lt", official, views="frontal")[0]) == 38
