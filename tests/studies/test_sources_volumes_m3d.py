"""M3D from both of its layouts: slices by number, one series a case, a report never shown."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studies.medheb.sources import m3d_files
from tests.studies.volume_files import build, shown, slices_of, tasks_of, texts_of

COLUMNS = ["Image Path", "Text", "Question Type", "Question", "Choice A", "Choice B", "Choice C",
           "Choice D", "Answer", "Answer Choice"]  # fmt: skip
RAW = "title: x\nstudy_findings:\n{}\n"


def folder(path: Path, grey: list[int], *, ending: str = "jpeg", colour: bool = False) -> None:
    path.mkdir(parents=True)
    for place, level in enumerate(grey):
        shape = (16, 20, 3) if colour else (16, 20)
        pixels = np.full(shape, level, np.uint8)
        if colour:
            pixels[..., 2] = 255 - level
        Image.fromarray(pixels).save(path / f"{place}.{ending}")


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    base = tmp_path / "official" / "M3D_Cap"
    first = base / "ct_quizze" / "000007"
    folder(first / "Coronal_non_contrast", [10] * 3)
    folder(first / "Axial_bone_window", [20 * n for n in range(12)])  # 10 comes after 9
    Image.new("L", (9, 9)).save(first / "Axial_bone_window" / "12.jpeg")  # another size
    (first / "text.txt").write_text(RAW.format("A fracture of\nthe rib."))
    second = base / "ct_quizze" / "000008"
    folder(second / "Axial_Pöschl", [5, 50], ending="png", colour=True)
    (second / "text.txt").write_text("study_findings: \n discussion: A stone in the duct.")
    third = base / "ct_case" / "000009"
    folder(third / "Axial_C__portal_venous_phase", list(range(0, 200, 2)))
    (third / "text.txt").write_text("Only a line without headings.")
    (base / "ct_quizze" / "000010").mkdir()
    return base.parent


def test_without_a_list_the_quiz_cases_are_tested_one_series_each(raw: Path, tmp_path: Path):
    document = build("m3d_cap", raw, tmp_path / "data")
    assert [fault["where"] for fault in document["faults"]] == ["ct_quizze/000010"]
    tasks = tasks_of("m3d_cap", tmp_path / "data")
    golds = {Path(slices_of(q.item)[0]).parent.name: q.gold for q in tasks["m3d_cap/i2r"].queries}
    assert golds == {
        "Axial_bone_window": "A fracture of the rib.", "Axial_Poschl": "A stone in the duct.",
    }  # fmt: skip
    back = tasks["m3d_cap/t2i"]
    assert back.task.eval_type == "global"
    for query in back.queries:
        name = Path(slices_of(query.candidates[0].item)[0]).parent.name
        assert golds[name] == query.item.text


def test_slices_are_in_order_of_their_numbers_and_of_one_size(raw: Path, tmp_path: Path):
    build("m3d_cap", raw, tmp_path / "data", tasks="m3d_cap/i2r")
    (data,) = tasks_of("m3d_cap", tmp_path / "data").values()
    pictures = {Path(slices_of(q.item)[0]).parent.name: shown(q.item) for q in data.queries}
    assert pictures["Axial_bone_window"].shape == (12, 16, 20)
    levels = pictures["Axial_bone_window"][:, 8, 8].astype(int)
    assert np.abs(levels - 20 * np.arange(12)).max() <= 2
    assert pictures["Axial_Poschl"].shape == (2, 16, 20, 3)


def listed(root: Path, edition: str = "M3D_Cap_npy") -> None:
    def entry(part: str, case: str, name: str) -> dict[str, str]:
        base = f"{edition}/{part}/{case}"
        return {"image": f"{base}/{name}.npy", "text": f"{base}/text.txt"}

    seven = [entry("ct_quizze", "000007", name) for name in
             ("Axial_bone_window", "Coronal_non_contrast")]  # fmt: skip
    parts = {"train": [entry("ct_case", "000001", "Axial")], "validation": [],
             "test100": seven, "test": [*seven, entry("ct_case", "000009", "Axial_C__portal_venous_"
                                                      "phase")]}  # fmt: skip
    (root / "M3D_Cap").mkdir(exist_ok=True)
    (root / "M3D_Cap" / "M3D_Cap.json").write_text(json.dumps(parts))


def test_the_list_names_the_test_part_and_all_its_subsets(raw: Path, tmp_path: Path):
    from studies.errors import StudyError

    listed(raw)
    for part, count in (("test*", 2), ("test100", 1)):
        build("m3d_cap", raw, tmp_path / part[:5], settings={"part": part}, tasks="m3d_cap/i2r")
        (data,) = tasks_of("m3d_cap", tmp_path / part[:5]).values()
        assert len(data.queries) == count
        if count == 2:
            assert {len(slices_of(query.item)) for query in data.queries} == {12, 64}
        (tmp_path / part[:5]).rename(tmp_path / f"{count}")
    with pytest.raises(StudyError, match="it has train, validation"):
        build("m3d_cap", raw, tmp_path / "data", settings={"part": "dev"})


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    root = tmp_path / "prepared"
    for case, name in (("000007", "Axial_bone_window"), ("000008", "Axial_Poschl")):
        base = root / "M3D_Cap_npy" / "ct_quizze" / case
        base.mkdir(parents=True)
        values = np.linspace(0, 1, 32, dtype=np.float32)[None, :, None, None]
        np.save(base / f"{name}.npy", np.broadcast_to(values, (1, 32, 16, 16)))
        (base / "text.txt").write_text(f"Findings of {name}.")
    listed(root)
    return root


def test_prepared_arrays_serve_where_there_are_no_slices(prepared: Path, tmp_path: Path):
    build("m3d_cap", prepared, tmp_path / "data", settings={"part": "test100"})
    data = tasks_of("m3d_cap", tmp_path / "data")["m3d_cap/i2r"]
    (query,) = data.queries
    assert query.gold == "Findings of Axial_bone_window."
    pictures = shown(query.item)
    assert pictures.shape == (32, 16, 16)
    assert pictures[:, 0, 0].tolist() == (np.linspace(0, 1, 32) * 255).astype(int).tolist()


def questions(root: Path, name: str = "test5k") -> None:
    secret = "The report nobody may see"
    base = "M3D_Cap_npy/ct_quizze"

    def row(case: str, series: str, kind: str, question: str, answer: str) -> list[str]:
        path = f"{base}/{case}/{series}.npy"
        return [path, secret, kind, question, "Left", "Right", "Both", "None", answer, "A"]

    rows = [
        row("000007", "Axial_bone_window", "1", "Which plane?", "Axial"),
        row("000007", "Axial_bone_window", "5", "Where is it?", "Left rib."),
        row("000008", "Axial_Poschl", "5", "Where is the stone?", "left rib"),
        row("000008", "Axial_Poschl", "3", "Which organ?", ""),
        row("000099", "Axial", "3", "Of nothing?", "x"),
        row("000099", "Axial", "4", "Of nothing again?", "x"),
    ]
    with (root / f"M3D_VQA_{name}.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([COLUMNS, *rows])


def test_questions_are_asked_without_report_and_choices(raw: Path, tmp_path: Path):
    questions(raw)
    document = build("m3d_vqa", raw, tmp_path / "data")
    (data,) = tasks_of("m3d_vqa", tmp_path / "data").values()
    golds = {query.item.text: query.gold for query in data.queries}
    assert golds.keys() == {"Which plane?", "Where is it?", "Where is the stone?"}
    assert golds["Where is it?"] == golds["Where is the stone?"]  # one spelling
    assert "nobody" not in texts_of(data)
    assert data.built is not None
    assert data.built.pool == "answers"
    wheres = [fault["where"] for fault in document["faults"]]
    assert len(wheres) == 2  # an empty answer; a series that is not there, once
    assert "Axial_Poschl" in {Path(slices_of(q.item)[0]).parent.name for q in data.queries}


def test_kinds_and_choices_of_questions_are_settings(prepared: Path, tmp_path: Path):
    questions(prepared, "test")
    given = {"table": "test", "questions": "no plane or phase", "choices": True, "frames": 8}
    build("m3d_vqa", prepared, tmp_path / "data", settings=given)
    (data,) = tasks_of("m3d_vqa", tmp_path / "data").values()
    assert {query.item.text for query in data.queries} == {
        "Where is it? A. Left B. Right C. Both D. None",
        "Where is the stone? A. Left B. Right C. Both D. None",
    }
    assert {len(slices_of(query.item)) for query in data.queries} == {8}


def test_findings_fall_back_from_heading_to_heading_to_all():
    assert m3d_files.findings("a\nstudy_findings: one two\nthree") == "one two three"
    assert m3d_files.findings("study_findings: .\ndiscussion: four five") == "four five"
    assert m3d_files.findings("study_findings: one two\ndiscussion: four five") == "one two"
    assert m3d_files.findings("discussion: four five\nstudy_findings: one two") == "one two"
    assert m3d_files.findings("discussion: four five") == "four five"
    assert m3d_files.findings("nothing at all") == "nothing at all"
    assert m3d_files.place_of("x/ct_case/000001") is None
