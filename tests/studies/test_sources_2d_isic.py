"""ISIC 2019 from the challenge's own tables and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.errors import StudyError
from studies.medheb.builders import choose
from studies.medheb.builders.built import read_built
from tests.studies.sources_2d_checks import build, checked, noise, records_of, rows_of, save

COLUMNS = ("MEL", "NV", "BCC", "AK", "BKL", "DF", "VASC", "SCC", "UNK")
WORDS = {"MEL": "melanoma", "SCC": "squamous cell carcinoma", "DF": "dermatofibroma"}


def table(rows: dict[str, tuple[str, ...]], *, more: str = "") -> str:
    """One-hot floats, as the challenge writes them."""
    cells = "".join(f",{column}" for column in more.split())
    lines = [f"image,{','.join(COLUMNS)}{cells}"]
    for image, codes in rows.items():
        values = ",".join("1.0" if column in codes else "0.0" for column in COLUMNS)
        lines.append(f"{image},{values}" + ",1.0" * len(more.split()))
    return "\n".join(lines) + "\n"


@pytest.fixture
def official(tmp_path: Path) -> Path:
    folder, rows = tmp_path / "isic", {}
    for number, column in enumerate(COLUMNS):
        for place in range(4):
            image = f"ISIC_{number:03d}{place:04d}"
            rows[image] = (column,)
            save(folder / "ISIC_2019_Test_Input" / f"{image}.jpg", noise(number, place))
    (folder / "ISIC_2019_Test_GroundTruth.csv").write_text(
        table(rows, more="score_weight validation_weight")
    )
    (folder / "ISIC_2019_Test_Metadata.csv").write_text(
        "image,age_approx,anatom_site_general,sex\nISIC_0000000,55.0,anterior torso,male\n"
    )
    return folder


@pytest.fixture
def training(tmp_path: Path) -> Path:
    folder, rows, lines = tmp_path / "train", {}, []
    for number, column in enumerate(COLUMNS[:8]):
        for place in range(8):
            small = "_downsampled" if place % 2 else ""
            image = f"ISIC_{number:03d}{place:04d}{small}"
            rows[image] = (column,)
            lesion = f"HAM_{number}{place // 2}" if place < 6 else ""
            lines.append(f"{image},55.0,anterior torso,{lesion},male")
            # the mirror nests the folder
            inner = folder / "ISIC_2019_Training_Input" / "ISIC_2019_Training_Input"
            save(inner / f"{image}.jpg", noise(number, place))
    (folder / "ISIC_2019_Training_GroundTruth.csv").write_text(table(rows))
    (folder / "ISIC_2019_Training_Metadata.csv").write_text(
        "image,age_approx,anatom_site_general,lesion_id,sex\n" + "\n".join(lines)
    )
    return folder


def test_the_official_test_part_without_the_unknown(official: Path, tmp_path: Path):
    document = build("isic2019", official, tmp_path / "data")
    assert document["faults"] == []
    assert document["records"] == 32
    records, _ = records_of("isic2019", official)
    tasks = checked("isic2019", tmp_path / "data", records, classes=8)
    assert {len(one.queries) for one in tasks.values()} == {32}
    rows = rows_of("isic2019/i2l", tmp_path / "data")
    named = {row["qry_img_path"]: row["qry_label"] for row in rows}
    for column, words in WORDS.items():
        assert named[f"ISIC_{COLUMNS.index(column):03d}0002.jpg"] == words
    assert "4 of 36 pictures" in read_built(tmp_path / "data")["isic2019/i2i"].notes[0]
    kept, _ = records_of("isic2019", official, unknown="keep", wording="codes")
    assert (len(kept), kept[-1].labels) == (36, ("UNK",))


def test_classes_are_found_by_the_name_of_their_column(official: Path):
    path = official / "ISIC_2019_Test_GroundTruth.csv"
    lines = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("\ufeff" + "\n".join(",".join([*line[::-1]]) for line in lines), "utf-8")
    records, faults = records_of("isic2019", official)
    assert faults == []
    assert {r.labels[0] for r in records if r.key.startswith("ISIC_007")} == {WORDS["SCC"]}


def test_a_training_part_is_cut_by_lesion_and_keeps_odd_names(training: Path, tmp_path: Path):
    document = build("isic2019", training, tmp_path / "data", part="train")
    assert document["faults"] == []
    records, _ = records_of("isic2019", training, part="train")
    assert sum(record.key.endswith("_downsampled") for record in records) == 32
    tested = choose.side_of_test(records)
    groups = {record.group for record in tested}
    assert all((record.group in groups) == (record in tested) for record in records)
    assert len({r.group for r in records if r.key.startswith("ISIC_000")}) == 3 + 2
    data = tmp_path / "data"
    names = {record.pictures[0].name: record.group for record in records}
    for row in rows_of("isic2019/i2i", data):
        assert names[row["qry_img_path"]] not in [names[name] for name in row["tgt_img_path"]]


def test_rows_that_cannot_be_used_are_named(official: Path, tmp_path: Path):
    with (official / "ISIC_2019_Test_GroundTruth.csv").open("a") as stream:
        stream.write("ISIC_9999999,1.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0\n")
        stream.write("ISIC_0000001,0.5,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0\n")
    records, faults = records_of("isic2019", official)
    assert [fault.where.split(", ")[1] for fault in faults] == ["line 38", "line 39"]
    assert len(records) == 32
    (official / "ISIC_2019_Test_GroundTruth.csv").rename(official / "ISIC_2019_X_GroundTruth.csv")
    with pytest.raises(StudyError, match="published on the challenge"):
        build("isic2019", official, tmp_path / "data")


def test_two_diagnoses_are_no_query(official: Path, tmp_path: Path):
    path = official / "ISIC_2019_Test_GroundTruth.csv"
    path.write_text(path.read_text().replace("ISIC_0000000,1.0,0.0", "ISIC_0000000,1.0,1.0"))
    build("isic2019", official, tmp_path / "data")
    assert len(rows_of("isic2019/i2l", tmp_path / "data")) == 31
