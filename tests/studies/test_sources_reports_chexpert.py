"""CheXpert-Plus: one row a picture, JSON lines of labels, sections that are mostly empty."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from studies.errors import StudyError
from studies.medheb.builders.built import read_built
from studies.medheb.builders.card import settle
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.record import Fault
from studies.medheb.release import read_task
from studies.medheb.sources.chexpert_plus import study_labels
from studies.medheb.sources.fourteen import FINDINGS, StudyLabels
from studies.medheb.tasks import load_tasks
from tests.studies.sources_2d_checks import build, noise, records_of, rows_of, save
from tests.studies.sources_report_checks import free_of, report_task, texts_of

I2L, T2I, I2R, T2T = (f"chexpert_plus/{kind}" for kind in ("i2l", "t2i", "i2r", "t2t"))
HEADER = (
    ",path_to_image,path_to_dcm,frontal_lateral,ap_pa,deid_patient_id,patient_report_date_order,"
    "report,section_narrative,section_clinical_history,section_history,section_comparison,"
    "section_technique,section_procedure_comments,section_findings,section_impression,"
    "section_end_of_impression,section_summary,section_accession_number,age,sex,race,ethnicity,"
    "interpreter_needed,insurance_type,recent_bmi,deceased,split"
)
COLUMNS = HEADER.split(",")
# patient, study: positive findings, uncertain ones
STUDIES: dict[tuple[int, int], tuple[tuple[str, ...], tuple[str, ...]]] = {
    (1, 1): (("Edema",), ()),
    (1, 2): (("Edema",), ("Pneumonia",)),
    (2, 1): (("No Finding", "Support Devices"), ()),
    (3, 1): (("Pneumonia",), ()),
    (4, 1): (("No Finding",), ()),
    (5, 1): (("Edema",), ()),
    (6, 1): ((), ()),
}
PATIENTS = [f"patient{number + 42100:05d}" for number in range(9)]


def path_of(patient: int, study: int, view: str, part: str = "train") -> str:
    return f"{part}/{PATIENTS[patient]}/study{study}/{view}.jpg"


def row(image: str, findings: str, impression: str, part: str = "train") -> dict[str, str]:
    patient = image.split("/")[1]
    narrative = f"ACCESSION NUMBER: AC7788\nPATIENT {patient}\n{findings}\n{impression}"
    return {
        "path_to_image": image, "path_to_dcm": image.replace(".jpg", ".dcm"),
        "frontal_lateral": "Lateral" if "lateral" in image else "Frontal",
        "deid_patient_id": patient, "report": narrative, "section_narrative": narrative,
        "section_findings": findings, "section_impression": impression,
        "section_accession_number": "AC7788", "age": "61", "sex": "Female", "split": part,
    }  # fmt: skip


def rows() -> list[dict[str, str]]:
    made = []
    for place, (patient, study) in enumerate(STUDIES):
        findings = f"Finding number {place}\nof {PATIENTS[patient]}, seen 1-23-2012." * (place < 3)
        impression = f"1.  IMPRESSION {place}, accession AC7788." if place != 4 else "nan"
        for view in ("view2_lateral", "view3_frontal", "view1_frontal"):
            made.append(row(path_of(patient, study, view), findings, impression))
    made.append(row(path_of(7, 1, "view1_frontal", "valid"), "  ", "1.  Of valid.", "valid"))
    made.append(row(path_of(8, 1, "view1_frontal"), "Same words.", "Same words."))
    made.append(row("nowhere/else.jpg", "", "1. Lost."))
    return made


def stated(image: str, positive: tuple[str, ...], uncertain: tuple[str, ...]) -> str:
    values: dict[str, float | str | None] = dict.fromkeys(sorted(FINDINGS))
    values |= dict.fromkeys(positive, 1.0) | dict.fromkeys(uncertain, -1.0)
    values["Fracture"] = values["Fracture"] if "Fracture" in positive else 0.0
    return json.dumps({"path_to_image": image, **values})


@pytest.fixture
def official(tmp_path: Path) -> Path:
    folder = tmp_path / "chexpertplus"
    folder.mkdir()
    with (folder / "df_chexpert_plus_240401.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows({"": str(number), **one} for number, one in enumerate(rows()))
    for place, one in enumerate(rows()[:-1]):
        path = folder / "PNG" / "PNG" / one["path_to_image"].replace(".jpg", ".png")
        save(path, noise(place))
    lines = [
        stated(path_of(*study, view), *labels)
        for study, labels in STUDIES.items()
        for view in ("view1_frontal", "view2_lateral", "view3_frontal")
    ]
    lines.append(stated(path_of(8, 1, "view1_frontal"), (), ()))
    lines.append(stated(path_of(7, 1, "view1_frontal", "valid"), ("Fracture",), ()))
    for name in ("impression_fixed", "findings_fixed", "report_fixed"):
        target = folder / "chexbert_labels" / f"{name}.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text("\n".join(lines if name != "findings_fixed" else lines[:3]) + "\n")
    return folder


def images(task: str, data: Path) -> list[str]:
    found = rows_of(task, data)
    return [row.get("qry_img_path", row.get("tgt_img_path", [""])[0]) for row in found]


def test_pictures_of_one_class_alone_have_labels(official: Path, tmp_path: Path):
    build("chexpert_plus", official, tmp_path / "data")
    tasks = {task.id: task for task in load_tasks(tmp_path / "data")}
    read = read_task(tasks[I2L], tmp_path / "data")
    assert not read.failures
    assert sorted(query.gold for query in read.queries) == [
        "Edema", "Edema", "No Finding", "Pneumonia",
    ]  # fmt: skip
    assert all({c.name for c in q.candidates} == set(FINDINGS) for q in read.queries)
    assert {name.rsplit("/", 1)[1] for name in images(I2L, tmp_path / "data")} == {
        "view1_frontal.png"
    }
    asked = read_task(tasks[T2I], tmp_path / "data")
    assert not asked.failures
    assert {len(query.candidates) for query in asked.queries} == {3}
    for row in rows_of(T2I, tmp_path / "data"):
        assert row["tgt_label"].count(row["qry_text"]) == 1


def test_reports_are_findings_or_else_the_impression(official: Path, tmp_path: Path):
    build("chexpert_plus", official, tmp_path / "data")
    read = report_task(I2R, tmp_path / "data")
    golds = {query.gold for query in read.queries}
    assert "Finding number 0 of ___, seen ___." in golds
    assert "1. IMPRESSION 3, accession ___." in golds
    assert len(golds) == 7  # one study says nothing, one of eight is of the valid part
    free_of(texts_of(read), [*PATIENTS, "421", "AC7788", "AC77"])


def test_findings_lead_to_the_impression_of_the_same_study(official: Path, tmp_path: Path):
    build("chexpert_plus", official, tmp_path / "data")
    read = report_task(T2T, tmp_path / "data")
    pairs = {query.item.text: query.gold for query in read.queries}
    assert pairs == {
        f"Finding number {n} of ___, seen ___.": f"1. IMPRESSION {n}, accession ___."
        for n in range(3)
    }
    free_of(texts_of(read), [*PATIENTS, "AC7788"])
    assert not (tmp_path / "data" / "train").exists()


def test_one_record_a_study_with_its_first_frontal_view(official: Path):
    records, faults = records_of("chexpert_plus", official)
    assert [record.key for record in records] == [
        *(f"train/{PATIENTS[p]}/study{s}" for p, s in STUDIES), f"train/{PATIENTS[8]}/study1",
    ]  # fmt: skip
    assert {record.pictures[0].name.rsplit("/")[-1] for record in records} == {"view1_frontal.png"}
    assert records[0].group == records[1].group == PATIENTS[1]
    assert records[0].labels == ("Edema",)
    assert records[1].labels == ()  # one uncertain label is enough
    assert records[2].labels == ("Support Devices", "No Finding")
    (fault,) = faults
    assert "nowhere/else.jpg" in fault.reason


def test_what_is_open_can_be_chosen(official: Path, tmp_path: Path):
    valid, _ = records_of("chexpert_plus", official, part="valid")
    assert [(one.labels, one.texts["report"]) for one in valid] == [(("Fracture",), "1. Of valid.")]
    every, _ = records_of("chexpert_plus", official, part="all", studies="one")
    assert len(every) == len({record.group for record in every}) == 8
    other, faults = records_of("chexpert_plus", official, label_file="findings_fixed")
    assert (faults[-1].where, faults[-1].reason) == (
        "findings_fixed.json", "7 studies have no labels in it",
    )  # fmt: skip
    assert [record.key for record in other if record.labels] == [f"train/{PATIENTS[1]}/study1"]
    both, _ = records_of("chexpert_plus", official, report="both")
    assert both[0].texts["report"].endswith("seen ___. 1. IMPRESSION 0, accession ___.")
    build("chexpert_plus", official, tmp_path / "data", label_file="report_fixed")
    assert read_built(tmp_path / "data")[I2L].settings["label_file"] == "report_fixed"


@pytest.mark.parametrize("arrangement", ["flat", "chunks"])
def test_pictures_are_found_in_every_arrangement(official: Path, arrangement: str):
    inner = official / "PNG" / "PNG"
    if arrangement == "flat":
        for part in ("train", "valid"):
            (inner / part).rename(official / part)
    else:
        for number, patient in enumerate(sorted((inner / "train").iterdir())):
            chunk = official / f"png_chexpert_plus_chunk_{number % 3}" / "PNG" / "train"
            chunk.mkdir(parents=True, exist_ok=True)
            patient.rename(chunk / patient.name)
    records, faults = records_of("chexpert_plus", official)
    assert all(record.pictures for record in records)
    assert len(faults) == 1


def test_what_is_missing_is_told_and_the_rest_goes_on(official: Path, tmp_path: Path):
    lost = official / "PNG" / "PNG" / "train" / PATIENTS[1] / "study1" / "view1_frontal.png"
    lost.unlink()
    labels = official / "chexbert_labels" / "impression_fixed.json"
    labels.write_text(labels.read_text().replace('"Edema": 1.0', '"Edema": "x"') + "{broken\n")
    records, faults = records_of("chexpert_plus", official)
    told = [fault.reason for fault in faults]
    assert sum("could not convert" in reason for reason in told) == 3
    assert sum("is no JSON" in reason for reason in told) == 1
    assert sum("words alone" in reason for reason in told) == 1
    assert len(records) == 8
    labels.unlink()
    document = build("chexpert_plus", official, tmp_path / "data")
    assert document["tasks"][I2R]["rows"] == 6
    assert document["tasks"][I2L]["rows"] == 0
    small = tmp_path / "CheXpert-v1.0-small"
    small.mkdir()
    (small / "train.csv").write_text("Path,Sex,Age,Frontal/Lateral,AP/PA\n")
    with pytest.raises(StudyError, match="does not look like CheXpert Plus"):
        records_of("chexpert_plus", small)


def test_labels_of_studies_tell_uncertain_findings_apart(official: Path):
    settings = settle(source_card("chexpert_plus"), {})
    every = list(study_labels(official, settings))
    good = {one.key: one for one in every if isinstance(one, StudyLabels)}
    assert len([one for one in every if isinstance(one, Fault)]) == 1
    assert list(good) == [f"train/{PATIENTS[p]}/study{s}" for p, s in [*STUDIES, (8, 1)]]
    second = good[f"train/{PATIENTS[1]}/study2"]
    assert (second.positive, second.uncertain) == ({"Edema"}, {"Pneumonia"})
    assert second.group == PATIENTS[1]
    assert good[f"train/{PATIENTS[6]}/study1"].positive == frozenset()
    records, _ = records_of("chexpert_plus", official)
    assert set(good) == {record.key for record in records}
