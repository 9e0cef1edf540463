"""CT-RATE from its official layout: first reconstructions, honest units, lists, radiographs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studies.errors import StudyError
from studies.medheb.builders import projection, volumes
from studies.medheb.sources import chest_ct
from studies.medheb.sources.ct_rate import LABELS
from tests.studies.volume_files import (
    build,
    chest,
    nii,
    no_query_in_its_pool,
    shown,
    slices_of,
    tasks_of,
    texts_of,
)

# scan: (positive labels, findings, impression)
SCANS = {
    "valid_1_a": ((0,), "Stents are seen.", "Stable."),
    "valid_1_b": ((7,), "Emphysema\nin both lungs.", "Not given."),
    "valid_2_a": ((8,), "Not given.", "Atelectasis."),
    "valid_3_a": ((7, 8), "Two findings here.", ""),
    "valid_4_a": ((), "Nothing of note.", "Normal."),
    "valid_5_a": ((9,), "A head.", "A head."),
    "valid_6_a": ((9,), "A nodule.", "A nodule."),
}
SPACING = (0.7, 0.8, 1.5)


def table(path: Path, columns: list[str], rows: list[list[str]], *, mark: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8-sig" if mark else "utf-8") as stream:
        csv.writer(stream).writerows([columns, *rows])


def hu(name: str) -> np.ndarray:
    return chest(sum(map(ord, name)), (32, 30, 12))


def turn(question: str, answer: str, kind: str = "short_answer") -> list[dict[str, str]]:
    return [
        {"from": "human", "value": f"<image>\n{question}<{kind}>", "type": kind},
        {"from": "gpt", "value": answer},
    ]


def questions() -> list[dict]:
    name = "valid_1_a_1.nii.gz"
    return [
        {"id": "short_answer_0", "image": name,
         "conversations": turn("Is there a stent?", "Yes.") + turn("Where?", "Left main artery")},
        {"id": "short_answer_1", "image": "valid_4_a_1.nii.gz",
         "conversations": turn("Is there effusion?", "yes")},
        {"id": "short_answer_2", "image": "valid_1_a_2.nii.gz",
         "conversations": turn("Of another reconstruction?", "Never")},
        {"id": "short_answer_3", "image": "valid_5_a_1.nii.gz",
         "conversations": turn("Of a head?", "Never")},
        {"id": "short_answer_4", "image": "valid_9_a_1.nii.gz",
         "conversations": turn("Of nothing?", "Never")},
        {"id": "long_answer_5", "image": name,
         "conversations": turn("Describe it.", "A long text.", "long_answer")},
        {"id": "multiple_choice_6", "image": name, "conversations": [
            {"from": "human", "value": "<image>\nWhich? (a) x (b) y <multiple_choice>"},
            {"from": "gpt", "value": "(a)"}]},
        {"id": "short_answer_7", "image": "valid_6_a_1.nii.gz",
         "conversations": turn("Is the answer empty?", " ")},
    ]  # fmt: skip


def tables(base: Path) -> None:
    names = [f"{scan}_{number}.nii.gz" for scan in SCANS for number in (1, 2)]
    rows = []
    for name in names:
        positive = SCANS[name[:9]][0]
        rows.append([name, *("1" if place in positive else "0" for place in range(18))])
    table(base / "multi_abnormality_labels" / "valid_predicted_labels.csv",
          ["VolumeName", *LABELS], rows, mark=True)  # fmt: skip
    reports = [[name, "Not given.", "Without contrast", *SCANS[name[:9]][1:]] for name in names]
    table(base / "radiology_text_reports" / "validation_reports.csv",
          ["VolumeName", "ClinicalInformation_EN", "Technique_EN", "Findings_EN",
           "Impressions_EN"], reports)  # fmt: skip
    table(
        base / "metadata" / "validation_metadata.csv",
        ["VolumeName", "Manufacturer", "RescaleSlope", "RescaleIntercept", "XYSpacing", "ZSpacing"],
        [[name, "X", "1", "-1024", "[0.7, 0.8]", "1.5"] for name in names],
    )
    (base / "metadata" / "no_chest_valid.txt").write_text(
        "dataset/valid/valid_5/valid_5_a/valid_5_a_1.nii.gz\nvalid_5_a_2.nii.gz\n"
    )
    (base / "vqa").mkdir()
    (base / "vqa" / "valid_vqa.json").write_text(json.dumps(questions()))


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("ctrate") / "dataset"
    for scan in SCANS:
        for number in (1, 2):
            name = f"{scan}_{number}"
            folder = Path(scan[:7]) / scan
            # corrected: the header holds the slope; first release: raw numbers and no header
            nii(base / "valid_fixed" / folder / f"{name}.nii.gz", hu(name), SPACING)
            raw = (hu(name).astype(np.int32) + 1024).astype(np.int16)
            nii(base / "valid" / folder / f"{name}.nii.gz", raw)
    (base / "valid_fixed" / "valid_6" / "valid_6_a" / "valid_6_a_1.nii.gz").write_bytes(b"broken")
    tables(base)
    return base.parent


@pytest.fixture(scope="module")
def built(official: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, dict]:
    data = tmp_path_factory.mktemp("data")
    return build("ct_rate", official, data), tasks_of("ct_rate", data)


def names(items: list) -> set[str]:
    return {Path(slices_of(item)[0]).parent.name for item in items}


def test_four_tasks_of_first_reconstructions_without_heads(built: tuple[dict, dict]):
    document, tasks = built
    assert tasks.keys() == {
        "ct_rate/i2l", "ct_rate/t2i", "ct_rate/xray-ct", "ct_rate_vqa/vqa",
    }  # fmt: skip
    labels = tasks["ct_rate/i2l"]
    found = {(*names([query.item]), query.gold) for query in labels.queries}
    assert found == {
        ("valid_1_a_1", "Medical material"), ("valid_1_b_1", "Emphysema"),
        ("valid_2_a_1", "Atelectasis"),
    }  # fmt: skip
    assert {len(query.candidates) for query in labels.queries} == {18}
    told = document["tasks"]["ct_rate/i2l"]
    assert [fault["where"] for fault in told["faults"]] == ["scan/valid_6_a_1"]
    for data in tasks.values():
        assert not any("valid_5" in path or "_2/" in path for path in _paths(data))


def _paths(data) -> list[str]:
    items = [i for q in data.queries for i in (q.item, *(c.item for c in q.candidates))]
    return [path for item in items if item.volumes for path in slices_of(item)]


def test_reports_ask_for_volumes_and_what_is_not_given_does_not_ask(built: tuple[dict, dict]):
    data = built[1]["ct_rate/t2i"]
    assert data.task.eval_type == "global"
    asked = {q.item.text: names([q.candidates[0].item]) for q in data.queries}
    assert asked == {
        "Stents are seen.": {"valid_1_a_1"}, "Emphysema in both lungs.": {"valid_1_b_1"},
        "Two findings here.": {"valid_3_a_1"}, "Nothing of note.": {"valid_4_a_1"},
    }  # fmt: skip
    assert all(len(query.candidates) == 1 for query in data.queries)


def test_slices_are_in_the_lung_window_and_units_are_not_scaled_twice(built: tuple[dict, dict]):
    query = built[1]["ct_rate/i2l"].queries[0]
    (name,) = names([query.item])
    window = volumes.windowed(hu(name), level=-600, width=1500)
    assert np.array_equal(shown(query.item), volumes.stacked(window, list(range(12))))


def test_the_first_release_takes_its_scale_and_distances_from_the_table(
    official: Path, built: tuple[dict, dict], tmp_path: Path
):
    build("ct_rate", official, tmp_path, settings={"edition": "first"}, tasks="ct_rate/xray-ct")
    data = tasks_of("ct_rate", tmp_path)["ct_rate/xray-ct"]
    fixed = {q.item.images[0].path.name: q for q in built[1]["ct_rate/xray-ct"].queries}
    assert len(data.queries) == 6
    for query in data.queries:
        name = query.item.images[0].path.name
        if name in fixed:  # all but the broken one
            assert np.array_equal(
                np.asarray(Image.open(query.item.images[0].path)),
                np.asarray(Image.open(fixed[name].item.images[0].path)),
            )
            assert np.array_equal(
                shown(query.candidates[0].item), shown(fixed[name].candidates[0].item)
            )


def test_a_radiograph_is_paired_with_the_ct_it_comes_from(built: tuple[dict, dict]):
    data = built[1]["ct_rate/xray-ct"]
    no_query_in_its_pool(data)
    assert data.task.eval_type == "global"
    for query in data.queries:
        picture = query.item.images[0].path
        assert names([query.candidates[0].item]) == {picture.stem}
        # slices are those of the sister tasks, not written twice
        assert "valid_fixed_sliced" in slices_of(query.candidates[0].item)[0]
        wanted = projection.radiograph(hu(picture.stem), SPACING)
        assert np.array_equal(np.asarray(Image.open(picture)), wanted)
    assert len(data.queries) == 5


def test_questions_lose_their_marks_and_answers_their_spellings(built: tuple[dict, dict]):
    document, tasks = built
    data = tasks["ct_rate_vqa/vqa"]
    asked = {query.item.text: query.gold for query in data.queries}
    assert asked.keys() == {"Is there a stent?", "Where?", "Is there effusion?"}
    assert asked["Is there a stent?"] == asked["Is there effusion?"]  # Yes. and yes are one
    assert data.built is not None
    assert data.built.pool == "answers"
    assert "<" not in texts_of(data)
    reasons = {fault["where"]: fault["reason"] for fault in document["faults"]}
    assert "there is no answer" in reasons["valid_vqa.json, entry 7, question 0"]
    assert "no such volume" in reasons["valid_9_a_1"]
    assert "valid_5_a_1" not in reasons


def test_other_kinds_of_question_and_one_scan_a_patient(official: Path, tmp_path: Path):
    given = {"vqa_kind": "all", "xray_scans": "patient", "no_finding": True, "report": "impression"}
    build("ct_rate", official, tmp_path, settings=given)
    tasks = tasks_of("ct_rate", tmp_path)
    asked = {query.item.text for query in tasks["ct_rate_vqa/vqa"].queries}
    assert {"Describe it.", "Which? (a) x (b) y"} <= asked
    pairs = tasks["ct_rate/xray-ct"].queries
    assert names([q.candidates[0].item for q in pairs]) == {
        "valid_1_a_1", "valid_2_a_1", "valid_3_a_1", "valid_4_a_1",
    }  # fmt: skip
    assert "No finding" in {query.gold for query in tasks["ct_rate/i2l"].queries}
    assert "Stable." in {query.item.text for query in tasks["ct_rate/t2i"].queries}


def test_a_missing_list_of_heads_is_told(official: Path, tmp_path: Path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(official / "dataset" / "valid_fixed", copy / "valid_fixed")
    document = build("ct_rate", copy, tmp_path / "data", tasks="ct_rate/xray-ct")
    reasons = {fault["where"]: fault["reason"] for fault in document["faults"]}
    assert "head cannot be left out" in reasons["metadata/no_chest_valid.txt"]
    assert len(reasons) == 4  # labels, reports and questions are missing too
    assert len(tasks_of("ct_rate", tmp_path / "data")["ct_rate/xray-ct"].queries) == 6


def test_deepdrr_is_named_and_refused(official: Path, tmp_path: Path):
    with pytest.raises(StudyError, match="DeepDRR is not built in"):
        build("ct_rate", official, tmp_path, settings={"radiograph": "deepdrr"})


def test_units_that_fit_neither_way_are_refused(tmp_path: Path):
    from engine.errors import EvidenceError

    raw = nii(tmp_path / "valid_1_a_1.nii.gz", (chest(1) + 1024).astype(np.int16))
    twice = nii(tmp_path / "valid_1_b_1.nii.gz", (chest(1) - 1024).astype(np.int16))
    scale = chest_ct.Scale(1, -1024)
    assert chest_ct.is_hu(chest_ct.read_hu(raw, scale, "auto").values)
    for path, known in ((raw, None), (twice, scale)):
        with pytest.raises(EvidenceError, match="no Hounsfield units"):
            chest_ct.read_hu(path, known, "auto")
    assert chest_ct.read_hu(raw, None, "header").values.min() >= 0
    assert chest_ct._spacing("[0.7, 0.65]", "1.5") == (0.7, 0.65, 1.5)
    assert chest_ct._spacing("", "1") is None


def test_the_corrected_edition_is_not_shown_by_pictures_of_the_first(
    official: Path, tmp_path: Path
):
    old = tmp_path / "old"
    tables(old)
    name = "valid_1_a_1.nii.gz"
    path = old / "valid" / "valid_1" / "valid_1_a" / name
    nii(path, hu("something else"), SPACING)
    task = "ct_rate/t2i"
    for folder, values in ((old, hu("something else")), (official, hu("valid_1_a_1"))):
        build("ct_rate", folder, tmp_path / "data", tasks=task)
        query = tasks_of("ct_rate", tmp_path / "data")[task].queries[0]
        window = volumes.windowed(values, level=-600, width=1500)
        stack = volumes.stacked(window, list(range(12)))
        assert np.array_equal(shown(query.candidates[0].item), stack)
