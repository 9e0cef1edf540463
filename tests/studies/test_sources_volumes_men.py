"""BraTS-MEN from its official layouts: reports by case, a split file by picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from studies.medheb.builders import volumes
from tests.studies.volume_files import ball, build, nii, shown, tasks_of, texts_of

SOURCE = "brats_men_reports"
ORDER = ("t1n", "t1c", "t2w", "t2f")


def case(number: int) -> str:
    return f"BraTS-MEN-{number:05d}-000"


def write(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=4), "utf-8")


def pictures(*numbers: int) -> list[str]:
    return [f"{case(number)}-{name}.nii.gz" for number in numbers for name in ORDER]


@pytest.fixture
def official(tmp_path: Path) -> Path:
    root = tmp_path / "official"
    training = root / "ASNR-MICCAI-BraTS2023-MEN-Challenge-TrainingData" / "BraTS-MEN-Train"
    for number in (1, 2, 3, 4, 5, 8):
        for place, name in enumerate((*ORDER, "seg")):
            values = ball(number + 10 * place, (10, 12, 14))
            nii(training / case(number) / f"{case(number)}-{name}.nii.gz", values)
    reports = root / "RadGenome-Brain_MRI"
    men = range(1, 7)
    write(reports / "BraTS_MEN" / "impression.json", {
        case(n): {"impression": f"Meningioma of kind {'abcdefgh'[n]}.\n", "disease": ["meningioma"]}
        for n in men
    })  # fmt: skip
    write(reports / "BraTS_MEN" / "global_finding.json", {case(n): f"All of {n}." for n in men})
    write(reports / "BraTS_MEN" / "modal_wise_finding.json", {
        f"{case(n)}-{name}": f"The aforementioned lesion on {name}, {n}." for n in men
        for name in ORDER
    })  # fmt: skip
    write(reports / "BraTS_GLI" / "impression.json", {"BraTS-GLI-00001-000": {"impression": "x"}})
    write(reports / "train_val_test_split.json", {
        "BraTS_MEN": {"train": pictures(4), "val": pictures(5)[:3], "test": pictures(1, 2, 3, 6)},
        "BraTS_GLI": {"test": ["BraTS-GLI-00001-000-t1n.nii.gz"]},
    })  # fmt: skip
    return root


def test_the_test_part_comes_with_its_impressions(official: Path, tmp_path: Path):
    document = build(SOURCE, official, tmp_path / "data")
    assert [fault["where"] for fault in document["faults"]] == [case(6)]
    (data,) = tasks_of(SOURCE, tmp_path / "data").values()
    assert data.task.id == "brats_men/i2r"
    assert data.task.eval_type == "global"  # a union over rows
    assert data.built is not None
    assert data.built.pool == "split"
    assert {query.gold for query in data.queries} == {f"Meningioma of kind {n}." for n in "bcd"}
    assert not any(letter.isdigit() for letter in texts_of(data))
    values = ball(1, (10, 12, 14))  # t1n alone
    grey = volumes.stretched(values, 0.5, 99.5)
    wanted = volumes.stacked(grey, volumes.informative(values, 0.015))
    assert np.array_equal(shown(data.queries[0].item), wanted)


@pytest.mark.parametrize(
    "form",
    [
        {"test": pictures(1, 2, 3), "train": pictures(4)},
        {"train": {"BraTS_MEN": pictures(4)}, "test": {"BraTS_MEN": pictures(1, 2, 3)}},
        [{"image": f"MEN/{name}", "split": "test"} for name in pictures(1, 2, 3)],
        dict.fromkeys(pictures(1, 2, 3), "test") | dict.fromkeys(pictures(4), "train"),
    ],
)
def test_the_split_file_is_read_in_whatever_form(official: Path, tmp_path: Path, form: Any):
    write(official / "RadGenome-Brain_MRI" / "train_val_test_split.json", form)
    build(SOURCE, official, tmp_path / "data")
    (data,) = tasks_of(SOURCE, tmp_path / "data").values()
    assert len(data.queries) == 3


def test_a_case_in_two_parts_is_not_tested(official: Path, tmp_path: Path):
    parts = {"train": [*pictures(4), *pictures(1)[:1]], "test": pictures(1, 2, 3)}
    write(official / "RadGenome-Brain_MRI" / "train_val_test_split.json", parts)
    document = build(SOURCE, official, tmp_path / "data")
    assert {"where": case(1), "reason": "stands in the parts test, train: not tested"} in (
        document["faults"]
    )
    (data,) = tasks_of(SOURCE, tmp_path / "data").values()
    assert len(data.queries) == 2


@pytest.mark.parametrize(
    ("report", "text"), [("findings", "All of 1."), ("t1n", "The aforementioned lesion on t1n, 1.")]
)
def test_other_texts_and_all_cases_are_settings(
    official: Path, tmp_path: Path, report: str, text: str
):
    build(SOURCE, official, tmp_path / "data", settings={"report": report, "part": "all"})
    (data,) = tasks_of(SOURCE, tmp_path / "data").values()
    assert len(data.queries) == 5
    assert data.queries[0].gold == text


def test_a_missing_split_file_is_said(official: Path, tmp_path: Path):
    from studies.errors import StudyError

    (official / "RadGenome-Brain_MRI" / "train_val_test_split.json").unlink()
    with pytest.raises(StudyError, match="part=all"):
        build(SOURCE, official, tmp_path / "data")
