"""The demo's tasks at full size: families, parsers, rows and splits; no chest is drawn."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from studies.demo.bank import Bank
from studies.demo.chest_case import LABELS
from studies.demo.names import Sizes
from studies.demo.registry import DemoTask, demo_tasks
from studies.demo.task_rows import rows_of
from studies.demo.words import brain_report, chest_report

TASKS = demo_tasks()
BANK = Bank(0, "test")
ALL_PARSERS = {
    "image_cls",
    "image_qa",
    "image_i2i",
    "image_i2i_vg",
    "image_t2i",
    "volume_i2t",
    "volume_t2i",
    "volume_i2i",
    "text_qa",
}


def _rows(task: DemoTask) -> list[dict[str, Any]]:
    return rows_of(task, BANK, Sizes())


def _names(row: dict[str, Any], parser: str) -> list[str]:
    """Candidates as comparable strings, in the order of the row."""
    if "tgt_img_path" not in row:
        return list(row["tgt_text"])
    paths = row["tgt_img_path"]
    if parser == "image_i2i":
        return ["+".join(paths)]
    return [path if isinstance(path, str) else path[0] for path in paths]


def test_every_family_has_two_tasks_and_every_parser_is_used() -> None:
    families = Counter(task.family for task in TASKS)
    assert len(families) == 8
    assert min(families.values()) >= 2
    assert {task.parser for task in TASKS} == ALL_PARSERS
    assert sum(task.split == "held-out" for task in TASKS) >= 2
    assert len({task.release_name.lower() for task in TASKS}) == len(TASKS)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_rows_list_distinct_candidates(task: DemoTask) -> None:
    rows = _rows(task)
    assert 20 <= len(rows) <= 24
    for row in rows:
        names = _names(row, task.parser)
        assert len(set(names)) == len(names)
        assert row["qry_inst"] == task.qry_inst
        assert "\n" not in row["qry_text"]


def _label_of(path: str) -> int:
    """The class of a picture: patients go round the classes with their number."""
    digits = path.rpartition("/")[2][-8:-4] if path.endswith(".png") else ""
    return int(digits if digits.isdigit() else path.split("/")[1][-4:])


@pytest.mark.parametrize("name", ["skin/i2i", "pathology/i2i", "brain/i2i"])
def test_the_positive_of_image_to_image_shares_the_class_but_not_the_patient(name: str) -> None:
    task = next(task for task in TASKS if task.id == name)
    for row in _rows(task):
        query = row["qry_img_path"]
        query = query if isinstance(query, str) else query[0].rpartition("/")[0]
        targets = [
            path if isinstance(path, str) else path[0].rpartition("/")[0]
            for path in row["tgt_img_path"]
        ]
        classes = [_label_of(path) % 6 for path in targets]
        assert classes[0] == _label_of(query) % 6
        assert len(set(classes)) == 6
        assert query not in targets


def test_label_rows_start_with_the_true_label_and_list_all() -> None:
    task = next(task for task in TASKS if task.id == "chest_b/i2l")
    for index, row in enumerate(_rows(task)):
        assert row["tgt_text"][0] == LABELS[index % 8]
        assert set(row["tgt_text"]) == set(LABELS)


def test_global_rows_hold_the_patients_own_target() -> None:
    for task in TASKS:
        if task.eval_type == "global" and task.family == "MB-VR":
            for row in _rows(task):
                query = row["qry_img_path"][0]
                target = row["tgt_img_path"][0][0]
                patient = target.split("/")[1]
                assert patient in query
                assert query != target


def test_reports_are_short_and_say_what_is_true() -> None:
    for index in range(24):
        for source in ("chest", "chest_b"):
            case = BANK.chest_case(index, source=source)
            report = chest_report(case)
            assert 15 <= len(report.text.split()) <= 45
            assert 4 <= len(report.impression.split()) <= 15
            for fact in (case.side, case.lobe, case.grade):
                assert fact in report.findings.lower()
            assert case.size_mm == 0 or f"{case.size_mm} mm" in report.findings
        assert brain_report(BANK.brain_case(index)).text.isascii()


def test_most_reports_differ() -> None:
    reports = {chest_report(BANK.chest_case(index)).text for index in range(24)}
    assert len(reports) >= 23


def test_train_and_test_share_no_patient() -> None:
    train = Bank(0, "train")
    for maker in ("chest_case", "brain_case"):
        ids = [{getattr(bank, maker)(i).patient for i in range(24)} for bank in (train, BANK)]
        assert not ids[0] & ids[1]
    assert train.lesion(0).patient != BANK.lesion(0).patient
    assert train.patch(0).patient != BANK.patch(0).patient
