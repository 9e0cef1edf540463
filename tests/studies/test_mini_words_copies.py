"""The other copies in which the same questions and texts are about: hub tables, archives, captions.

Each is made from the first miniature by the layouts that the sources' pages tell.
"""

from __future__ import annotations

import csv
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from engine.control import Control
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.job import build_job
from studies.medheb.mini.catalogue import writer
from studies.medheb.mini.files import (
    picture_bytes,
    write_json,
    write_parquet,
    write_picture,
    write_table,
    write_text,
)
from studies.medheb.mini.questions import sentence
from studies.medheb.mini.shared import look
from studies.medheb.release import read_task
from studies.medheb.tasks import load_tasks

Pairs = list[tuple[str, str]]


def asked(source: str, folder: Path, data: Path, **settings: Any) -> Pairs:
    """Question and answer of each row of the source's only task, in order of the texts."""
    card = source_card(source)
    given = {"source": card.id, "folder": str(folder), "data": str(data), "settings": settings}
    build_job(None, given, Control())  # type: ignore[arg-type]
    (plan,) = card.plans
    (task,) = [one for one in load_tasks(data) if one.id == plan.task]
    read = read_task(task, data)
    assert not read.failures
    return sorted((query.item.text or "", query.gold) for query in read.queries)


def both(source: str, tmp_path: Path, change: Callable[[Path, Path], None]) -> tuple[Pairs, Pairs]:
    """The rows of the official layout and of the copy that ``change`` makes from it."""
    official, copy = tmp_path / "official", tmp_path / "copy"
    writer(source)(official, seed=42)
    copy.mkdir()
    change(official, copy)
    return asked(source, official, tmp_path / "a"), asked(source, copy, tmp_path / "b")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_options_counted_from_zero_give_the_same_answers(tmp_path: Path):
    """The hub's copy of MedMCQA; its test part says -1."""

    def change(official: Path, copy: Path) -> None:
        for part, name in (("train", "train"), ("dev", "validation"), ("test", "test")):
            rows = lines(official / f"{part}.json")
            hub = [row | {"cop": row.get("cop", 0) - 1, "exp": row.get("exp")} for row in rows]
            write_parquet(copy / "data" / f"{name}-00000-of-00001.parquet", hub, groups=7)

    first, second = both("medmcqa", tmp_path, change)
    assert first == second
    assert len(first) == 21


def test_the_hubs_pubmedqa_is_cut_by_the_list_of_tests(tmp_path: Path):
    def change(official: Path, copy: Path) -> None:
        document = json.loads((official / "data" / "ori_pqal.json").read_text("utf-8"))
        rows = [
            {
                "pubid": int(pmid),
                "question": row["QUESTION"],
                "context": {
                    "contexts": row["CONTEXTS"], "labels": row["LABELS"], "meshes": row["MESHES"],
                },
                "long_answer": row["LONG_ANSWER"],
                "final_decision": row["final_decision"],
            }
            for pmid, row in document.items()
        ]  # fmt: skip
        write_parquet(copy / "pqa_labeled" / "train-00000-of-00001.parquet", rows, groups=6)
        shutil.copy(official / "data" / "test_ground_truth.json", copy)

    first, second = both("pubmedqa", tmp_path, change)
    assert first == second
    assert len(first) == 10


def test_the_hubs_vqa_rad_asks_the_same(tmp_path: Path):
    def change(official: Path, copy: Path) -> None:
        rows = json.loads((official / "VQA_RAD Dataset Public.json").read_text("utf-8"))
        folder = official / "VQA_RAD Image Folder"
        parts: dict[str, list[dict[str, Any]]] = {"train": [], "test": []}
        for row in rows:
            content = (folder / row["image_name"]).read_bytes()
            part = "test" if row["phrase_type"].startswith("test_") else "train"
            held = {"bytes": content, "path": None}
            parts[part].append(
                {"image": held, "question": row["question"], "answer": str(row["answer"]).strip()}
            )
        for part, found in parts.items():
            write_parquet(copy / "data" / f"{part}-00000-of-00001.parquet", found, groups=5)

    first, second = both("vqa_rad", tmp_path, change)
    assert first == second
    assert len(first) == 16


def test_omnimedvqa_unpacked_once_is_the_same(tmp_path: Path):
    def change(official: Path, copy: Path) -> None:
        (copy / "x").mkdir()
        shutil.copytree(official / "OmniMedVQA" / "OmniMedVQA", copy / "OmniMedVQA")

    first, second = both("omnimedvqa", tmp_path, change)
    assert first == second


@pytest.mark.parametrize("packed", [False, True])
def test_early_revisions_of_pmc_vqa_misspell_a_column(tmp_path: Path, packed: bool):
    def change(official: Path, copy: Path) -> None:
        for name in ("train.csv", "test.csv"):
            text = (official / name).read_text("utf-8")
            assert ",Answer," in text.splitlines()[0]
            write_text(copy / name, text.replace(",Answer,", ",Anwser,", 1))
        if not packed:
            shutil.copytree(official / "images", copy / "images")
            return
        with zipfile.ZipFile(copy / "images.zip", "w") as archive:
            for path in sorted((official / "images").iterdir()):
                archive.write(path, f"images/{path.name}")

    first, second = both("pmc_vqa", tmp_path, change)
    assert first == second
    assert len(first) == 11


def test_metadata_may_be_a_text_and_kinds_have_hyphens(tmp_path: Path):
    def change(official: Path, copy: Path) -> None:
        name = "benchmark/test-00000-of-00001.parquet"
        rows = pq.read_table(official / name).to_pylist()
        for row in rows:
            row["metadata"] = json.dumps(row["metadata"])
            row["question_type"] = row["question_type"].replace("_", "-")
        write_parquet(copy / name, rows, groups=9)

    first, second = both("radimagenet_vqa", tmp_path, change)
    assert first == second
    assert len(first) == 18


def test_roco_asks_by_captions_where_there_are_no_questions(tmp_path: Path):
    """Version 1 as fetched: tabs and blanks astray, pictures that could not be had."""
    for part in ("train", "validation", "test"):
        base = tmp_path / "roco" / "data" / part / "radiology"
        told = []
        for place in range(6):
            name = f"ROCO_{place:05d}"
            told.append(f"{name}\t {sentence(place, part)}\t\n" if place else f"{name}\t\n")
            if place != 4:
                pixels = look(place, part, place, grey=True)
                write_picture(base / "images" / f"{name}.jpg", pixels, quality=90)
        write_text(base / "captions.txt", "".join(told))
    rows = asked("roco_vqa", tmp_path / "roco", tmp_path / "data", route="captions-1")
    # one without a caption, one without a picture
    assert [answer for _, answer in rows] == sorted(sentence(n, "test") for n in (1, 2, 3, 5))
    assert len({question for question, _ in rows}) == 1


def test_the_second_roco_has_tables_and_other_names(tmp_path: Path):
    for part in ("train", "valid", "test"):
        rows = []
        for place in range(5):
            name = f"ROCOv2_2023_{part}_{place:06d}"
            rows.append({"ID": name, "Caption": sentence(place, part)})
            pixels = look(place, part, place, grey=True)
            write_picture(tmp_path / "roco" / part / f"{name}.jpg", pixels, quality=90)
        write_table(tmp_path / "roco" / f"{part}_captions.csv", rows, ["ID", "Caption"])
    rows = asked("roco_vqa", tmp_path / "roco", tmp_path / "data", route="captions-2")
    assert [answer for _, answer in rows] == sorted(sentence(n, "test") for n in range(5))


def test_medpix_asks_the_shorter_copy_too(tmp_path: Path):
    for part in ("Train", "Valid", "Test"):
        rows = [
            {
                "image_id": {"bytes": picture_bytes(look(n, part, n)), "path": None},
                "case_id": f"MPX{1000 + n}",
                "question": f"What is it, {n}?",
                "answer": f"{part} {n}",
                "ans_len": 2,
                "mode": "CT",
                "split": part.lower(),
            }
            for n in range(5)
        ]
        path = tmp_path / "MEDPIX-ShortQA" / "data" / f"{part}-00000-of-00001.parquet"
        write_parquet(path, rows)
    rows = asked("medpix", tmp_path, tmp_path / "data")
    assert rows == [(f"What is it, {n}?", f"Test {n}") for n in range(5)]


def test_a_table_may_start_with_a_mark_of_its_encoding(tmp_path: Path):
    def change(official: Path, copy: Path) -> None:
        for path in (official / "data").iterdir():
            write_text(copy / path.name, path.read_text("utf-8"), encoding="utf-8-sig")

    first, second = both("public_health_qa", tmp_path, change)
    assert first == second
    assert len(first) == 18


def test_titles_join_their_texts(tmp_path: Path):
    writer("medical_qa")(tmp_path / "official", seed=42)
    joined = asked("medical_qa", tmp_path / "official", tmp_path / "a")
    alone = asked("medical_qa", tmp_path / "official", tmp_path / "b", title="text")
    assert [question for question, _ in joined] == [question for question, _ in alone]
    longer = [len(a) > len(b) for (_, a), (_, b) in zip(joined, alone, strict=True)]
    assert 0 < sum(longer) < len(longer), "most titles are empty"


def test_a_view_that_repeats_a_question_can_be_left_out(tmp_path: Path):
    folder = tmp_path / "official"
    writer("mimic_cxr_vqa")(folder, seed=42)
    with (folder / "medical-cxr-vqa-questions.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["split"] == "test"]
    once = {(row["study_id"], row["question"]) for row in rows}
    kept = asked("mimic_cxr_vqa", folder, tmp_path / "a", repeats="first")
    assert len(kept) == len(once) < len(rows)


def test_the_pictures_are_not_needed_twice(tmp_path: Path):
    """Two questions about a figure are two rows with one picture."""
    folder = tmp_path / "official"
    writer("pmc_vqa")(folder, seed=42)
    asked("pmc_vqa", folder, tmp_path / "data")
    names = {path.name for path in (tmp_path / "data" / "2D_Images" / "PMC").rglob("*.jpg")}
    with (folder / "test.csv").open(encoding="utf-8") as stream:
        figures = {row["Figure_path"] for row in csv.DictReader(stream)}
    assert names == figures


def test_a_damaged_row_costs_itself_alone(tmp_path: Path):
    folder = tmp_path / "official"
    writer("omnimedvqa")(folder, seed=42)
    path = next(folder.rglob("ACRIMA.json"))
    rows = json.loads(path.read_text("utf-8"))
    del rows[0]["gt_answer"]
    rows[1]["image_path"] = "Images/../../../secret.png"
    write_json(path, rows)
    assert len(asked("omnimedvqa", folder, tmp_path / "data")) == 25 - 2
