"""RFMiD 1.0 in both layouts it is handed out in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from studies.errors import StudyError
from studies.medheb.builders.built import read_built
from studies.medheb.sources.rfmid import CODES
from tests.studies.sources_2d_checks import build, checked, noise, records_of, rows_of, save

HEADER = (
    "DR", "ARMD", "MH", "DN", "MYA", "BRVO", "TSLN", "ERM", "LS", "MS", "CSR", "ODC", "CRVO",
    "TV", "AH", "ODP", "ODE", "ST", "AION", "PT", "RT", "RS", "CRS", "EDN", "RPEC", "MHL", "RP",
    "CWS", "CB", "ODPM", "PRH", "MNF", "HR", "CRAO", "TD", "CME", "PTCR", "CF", "VH", "MCA",
    "VS", "BRAO", "PLQ", "HPED", "CL",
)  # fmt: skip
USED = ("DR", "MH", "MHL", "ODC")
PARTS = {
    "Training": ("Training_Set/Training", "Training_Set/RFMiD_Training_Labels.csv"),
    "Validation": ("Evaluation_Set/Validation", "Evaluation_Set/RFMiD_Validation_Labels.csv"),
    "Test": ("Test_Set/Test", "Test_Set/RFMiD_Testing_Labels.csv"),
}
BUNDLE = {
    "Training": ("1. Original Images/a. Training Set", "a. RFMiD_Training_Labels.csv"),
    "Validation": ("1. Original Images/b. Validation Set", "b. RFMiD_Validation_Labels.csv"),
    "Test": ("1. Original Images/c. Testing Set", "c. RFMiD_Testing_Labels.csv"),
}


def line(number: int, codes: tuple[str, ...], risk: int | None = None) -> str:
    values = ",".join("1" if code in codes else "0" for code in HEADER)
    return f"{number},{int(bool(codes)) if risk is None else risk},{values}"


def labelled() -> list[tuple[str, ...]]:
    """Three pictures of each used class, three normal ones, one of a rare class, one of two."""
    return [(code,) for code in USED for _ in range(3)] + [(), (), (), ("CL",), ("DR", "MH")]


def write(folder: Path, parts: dict[str, tuple[str, str]], *, blanks: str = "") -> Path:
    for place, (pictures, table) in enumerate(parts.values()):
        rows = [line(number, codes) for number, codes in enumerate(labelled(), start=1)]
        for number in range(1, len(rows) + 1):
            save(folder / pictures / f"{number}.png", noise(place, number))
        header = ",".join(f"{name}{blanks}" for name in ("ID", "Disease_Risk", *HEADER))
        path = folder / table
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([header, *rows]) + "\n")
    return folder


@pytest.fixture
def official(tmp_path: Path) -> Path:
    return write(tmp_path / "rfmid", PARTS)


def test_two_tasks_of_the_test_part(official: Path, tmp_path: Path):
    document = build("rfmid", official, tmp_path / "data")
    assert document["faults"] == []
    assert set(document["tasks"]) == {"rfmid/i2i", "rfmid/t2i"}
    records, _ = records_of("rfmid", official)
    tasks = checked("rfmid", tmp_path / "data", records, classes=5)
    assert {len(one.queries) for one in tasks.values()} == {15}
    assert {row["qry_text"] for row in rows_of("rfmid/t2i", tmp_path / "data")} == {
        "diabetic retinopathy", "media haze", "macular hole", "optic disc cupping", "normal",
    }  # fmt: skip
    assert "5 classes" in read_built(tmp_path / "data")["rfmid/i2i"].notes[0]


def test_numbers_are_unique_in_a_part_only(official: Path):
    records, _ = records_of("rfmid", official)
    assert len(records) == 3 * 16  # all but the rare class
    assert len({record.pictures[0].name for record in records}) == len(records)
    first = {
        record.split: record.pictures[0].file for record in records if record.key.endswith("/1")
    }
    assert {path.parent.name for path in first.values() if path} == set(PARTS)


@pytest.mark.parametrize("nested", ["", "archive/A. RFMiD_All_Classes_Dataset"])
def test_the_bundle_of_the_challenge(tmp_path: Path, nested: str):
    parts = {part: (images, f"2. Groundtruths/{name}") for part, (images, name) in BUNDLE.items()}
    write(tmp_path / "in" / nested, parts)
    records, faults = records_of("rfmid", tmp_path / "in")
    assert (len(records), faults) == (48, [])


def test_a_mirror_repeats_folders_has_blanks_in_names_and_another_case(tmp_path: Path):
    twice = {
        part: tuple(f"{name.split('/')[0]}/{name}" for name in names)
        for part, names in PARTS.items()
    }
    folder = write(tmp_path / "in", twice, blanks=" ")  # type: ignore[arg-type]
    table = folder / "Test_Set" / "Test_Set" / "RFMiD_Testing_Labels.csv"
    table.rename(table.with_name("RFMiD_Testing_labels.csv"))
    records, faults = records_of("rfmid", folder)
    assert (len(records), faults) == (48, [])


def test_media_haze_is_not_macular_hole():
    assert (CODES["MH"], CODES["MHL"]) == ("media haze", "macular hole")
    assert tuple(CODES) == HEADER


def test_the_test_part_alone_is_enough_and_choices_work(tmp_path: Path):
    folder = write(tmp_path / "in", {"Test": PARTS["Test"]})
    records, _ = records_of("rfmid", folder, least=1, normal="drop", wording="codes")
    single = [record.labels[0] for record in records if len(record.labels) == 1]
    assert set(single) == {*USED, "CL"}
    assert [record.labels for record in records if len(record.labels) == 2] == [("DR", "MH")]


def test_contradictions_doubles_and_missing_pictures_are_named(official: Path):
    (official / "Test_Set" / "Test" / "2.png").unlink()
    table = official / "Test_Set" / "RFMiD_Testing_Labels.csv"
    with table.open("a") as stream:
        stream.write("\n".join([line(1, ("DR",)), line(3, ("MH",), risk=0), "4,x" + ",0" * 45]))
    _, faults = records_of("rfmid", official)
    assert [fault.where.split(", ")[1] for fault in faults] == [
        "line 3", "line 19", "line 20", "line 21",
    ]  # fmt: skip
    assert "no disease risk, but MH" in faults[2].reason


def test_a_new_column_is_a_class_of_its_own(official: Path):
    table = official / "Test_Set" / "RFMiD_Testing_Labels.csv"
    lines = table.read_text().splitlines()
    lines = [lines[0] + ",XYZ", *(text + (",1" if place in (0, 12, 13) else ",0")
             for place, text in enumerate(lines[1:]))]  # fmt: skip
    lines[13] = lines[13].replace("13,0", "13,1")
    lines[14] = lines[14].replace("14,0", "14,1")
    table.write_text("\n".join(lines))
    records, faults = records_of("rfmid", official)
    assert faults == []
    labels = {record.key: record.labels for record in records}
    assert labels["test/1"] == ("diabetic retinopathy", "XYZ")
    assert labels["test/13"] == labels["test/14"] == ("XYZ",)


def test_the_second_edition_is_another_set(official: Path, tmp_path: Path):
    folder = tmp_path / "second"
    save(folder / "Test_set" / "1.jpg", noise(1))
    (folder / "RFMiD_2_Testing_labels.csv").write_text("ID,WNL,DR\n1,1,0\n")
    with pytest.raises(StudyError, match=r"does not look like Retinal .*RFMiD 1\.0"):
        records_of("rfmid", folder)
    shutil.rmtree(official / "Training_Set")
    shutil.rmtree(official / "Evaluation_Set")
    table = official / "Test_Set" / "RFMiD_Testing_Labels.csv"
    table.write_text(table.read_text().replace("Disease_Risk", "Risk"))
    with pytest.raises(StudyError, match="no column Disease_Risk"):
        records_of("rfmid", official)
