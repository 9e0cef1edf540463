"""The other arrangements in which the same volumes are about, and other editions of them.

Each is made from the first miniature by the layouts that the sources' pages tell.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from engine.control import Control
from studies.medheb.builders.catalogue import source_card
from studies.medheb.builders.job import build_job
from studies.medheb.mini import medmnist3d
from studies.medheb.mini.catalogue import writer
from studies.medheb.mini.files import write_npz, write_text, write_volume
from studies.medheb.release import TaskData, read_task
from studies.medheb.tasks import load_tasks
from tests.studies.audit import seen
from tests.studies.test_mini_mirrors import Change, doubled, moved

PED = "ASNR-MICCAI-BraTS2023-PED-Challenge"
MEN = "ASNR-MICCAI-BraTS2023-MEN-Challenge-TrainingData"
CT = "dataset"
KNEES = [f"{part}-{n}" for part in ("train", "valid") for n in ("abnormal", "acl", "meniscus")]
Shown = dict[str, list[tuple[str, str, frozenset[str], str, frozenset[str]]]]


def tasks_of(source: str, folder: Path, data: Path, **settings: Any) -> dict[str, TaskData]:
    card = source_card(source)
    given = {"source": card.id, "folder": str(folder), "data": str(data), "settings": settings}
    build_job(None, given, Control())  # type: ignore[arg-type]
    registry = {task.id: task for task in load_tasks(data)}
    return {plan.task: read_task(registry[plan.task], data) for plan in card.plans}


def shown(tasks: dict[str, TaskData]) -> Shown:
    """What each row asks and finds, by what is in the slices and not by their names."""
    rows: Shown = {}
    for name, task in tasks.items():
        rows[name] = [
            (
                query.item.text or "", query.label, frozenset().union(*seen(query.item)),
                query.candidates[0].item.text or "",
                frozenset().union(*seen(query.candidates[0].item)),
            )
            for query in task.queries
        ]  # fmt: skip
        rows[name].sort(key=lambda row: (row[0], row[1], sorted(row[2]), row[3], sorted(row[4])))
    return rows


def prepared_alone(folder: Path) -> None:
    """The arrays of the authors' preparation, no slices."""
    for name in ("ct_case", "ct_quizze"):
        shutil.rmtree(folder / "M3D_Cap" / name)


# source, its change: the very same slices and texts come out
SAME: dict[str, tuple[str, Change]] = {
    "tables in their archive": (
        "cirrmri600_plus",
        moved(
            *(
                (name, f"Metadata/{name}")
                for name in (
                    "T1_age_gender_evaluation.csv", "T2_age_gender_evaluation.csv",
                    "T1&T2_Paired_age_gender_evaluation.csv", "Healthy_demographics.csv",
                    "CirrMRI600+_CompleteData_age_gender_evaluation.csv",
                )
            )
        ),
    ),
    "knees without their top folder": (
        "mrnet",
        moved(
            ("MRNet-v1.0/train", "train"), ("MRNet-v1.0/valid", "valid"),
            *((f"MRNet-v1.0/{name}.csv", f"{name}.csv") for name in KNEES),
        ),
    ),
    "validation unpacked into itself": ("brats", doubled(f"{PED}-ValidationData")),
    "meningiomas in an inner folder": (
        "brats_men_reports",
        moved((MEN, "held"), ("held", f"{MEN}/BraTS-MEN-Train")),
    ),
    "heads without their top folder": ("han_seg", moved(("HaN-Seg/set_1", "set_1"))),
    "a blank in a task's name": ("synthrad2023_brain", moved(("Task1", "Task 1"))),
    "a blank there for the pelvis": ("synthrad2023_pelvis", moved(("Task1", "Task 1"))),
    "reports by the other word": (
        "ct_rate",
        moved(
            (
                f"{CT}/radiology_text_reports/validation_reports.csv",
                f"{CT}/radiology_text_reports/valid_reports.csv",
            )
        ),
    ),
    "chests named as in CT-RATE": (
        "radgenome_chest_ct",
        moved(
            *(
                (
                    f"{CT}/valid_preprocessed/valid_{n}/valid_{n}a",
                    f"{CT}/valid_preprocessed/valid_{n}/valid_{n}_a",
                )
                for n in range(1, 10)
            )
        ),
    ),
    "teeth deeper down": ("mmdental", moved(("MMDental", "held/MMDental"))),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_another_arrangement_shows_the_same(name: str, tmp_path: Path):
    source, change = SAME[name]
    writer(source)(tmp_path / "official", seed=42)
    first = shown(tasks_of(source, tmp_path / "official", tmp_path / "a"))
    change(tmp_path / "official")
    second = shown(tasks_of(source, tmp_path / "official", tmp_path / "b"))
    assert first == second


def test_the_first_release_of_ct_rate_takes_its_scale_from_the_table(tmp_path: Path):
    """Raw values without intercept or spacing become the Hounsfield units of the second release."""
    folder = tmp_path / "official"
    writer("ct_rate")(folder, seed=42)
    fixed = tasks_of("ct_rate", folder, tmp_path / "a")
    (folder / CT / "valid_fixed").rename(folder / CT / "valid")
    shutil.rmtree(folder / CT / "train_fixed")
    for path in (folder / CT / "valid").rglob("*.nii.gz"):
        if path.stat().st_size > 100:
            raw = sitk.GetArrayFromImage(sitk.ReadImage(str(path))) + 1024
            write_volume(path, raw.astype(np.int16))
    first = tasks_of("ct_rate", folder, tmp_path / "b")
    for name, task in fixed.items():
        assert len(first[name].queries) == len(task.queries)
    for task in ("ct_rate/i2l", "ct_rate/t2i", "ct_rate_vqa/vqa"):
        assert shown(fixed)[task] == shown(first)[task], "the scale is laid on once, in either"


def test_the_larger_edition_of_arrays_is_taken_and_gives_64_slices(tmp_path: Path):
    folder = tmp_path / "official"
    writer("organmnist3d")(folder, seed=42)
    with np.load(folder / "organmnist3d.npz") as small:
        arrays = {name: small[name] for name in small.files}
    for name in ("train_images", "val_images", "test_images"):
        arrays[name] = np.repeat(arrays[name][:, :16, :16, :16], 4, 1).repeat(4, 2).repeat(4, 3)
    write_npz(folder / "organmnist3d_64.npz", arrays)
    large = tasks_of("organmnist3d", folder, tmp_path / "a")
    small_tasks = tasks_of("organmnist3d", folder, tmp_path / "b", size="28")
    paths = large["organmnist3d/i2l"].queries[0].item.volumes[0].paths
    assert len(paths) == 64
    assert len(small_tasks["organmnist3d/i2l"].queries[0].item.volumes[0].paths) == medmnist3d.SIDE
    golds = [[q.gold for q in t["organmnist3d/i2l"].queries] for t in (large, small_tasks)]
    assert golds[0] == golds[1]


def test_the_adults_of_2021_have_other_names(tmp_path: Path):
    base = tmp_path / "official"
    writer("brats")(tmp_path / "ped", seed=42)
    names = {"t1n": "t1", "t1c": "t1ce", "t2w": "t2", "t2f": "flair"}
    for path in (tmp_path / "ped").rglob("*ValidationData/*/*.nii.gz"):
        number = int(path.parent.name.split("-")[2]) * 10 + int(path.parent.name[-1])
        case = f"BraTS2021_{number:05d}"
        ending = names[path.name.removesuffix(".nii.gz").rpartition("-")[2]]
        (base / case).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, base / case / f"{case}_{ending}.nii.gz")
    children = tasks_of("brats", tmp_path / "ped", tmp_path / "a")
    adults = tasks_of("brats", base, tmp_path / "b", subset="2021")
    # no validation part: three of ten of the patients are tested
    for name, task in adults.items():
        assert 1 <= len(task.queries) < len(children[name].queries)
        assert set(shown(adults)[name]) < set(shown(children)[name])


def test_children_without_a_validation_part_are_cut_by_patient(tmp_path: Path):
    folder = tmp_path / "official"
    writer("brats")(folder, seed=42)
    shutil.rmtree(folder / f"{PED}-ValidationData")
    for task in tasks_of("brats", folder, tmp_path / "a", test_share=0.5).values():
        cases = [query.item.volumes[0].paths[0].parent.name for query in task.queries]
        patients = {case[:-4] for case in cases}
        assert len(patients) == 1
        assert len(cases) in (1, 2)


def test_m3d_is_shown_from_arrays_where_there_are_no_slices(tmp_path: Path):
    folder = tmp_path / "official"
    writer("m3d_cap")(folder, seed=42)
    slices = tasks_of("m3d_cap", folder, tmp_path / "a")["m3d_cap/i2r"]
    prepared_alone(folder)
    arrays = tasks_of("m3d_cap", folder, tmp_path / "b")["m3d_cap/i2r"]
    assert [query.gold for query in arrays.queries] == [query.gold for query in slices.queries]
    assert {len(query.item.volumes[0].paths) for query in arrays.queries} == {32}
    asked = tasks_of("m3d_vqa", folder, tmp_path / "c")["m3d_vqa/vqa"]
    assert len(asked.queries) == 30


def test_the_challenge_edition_of_teeth_has_its_own_table(tmp_path: Path):
    folder, copy = tmp_path / "official", tmp_path / "copy"
    writer("mmdental")(folder, seed=42)
    first = tasks_of("mmdental", folder, tmp_path / "a")
    (copy / "Train-Labeled").mkdir(parents=True)
    for path in (folder / "MMDental").iterdir():
        if path.is_dir():
            shutil.copytree(path, copy / "Train-Labeled" / path.name)
    text = (folder / "MMDental" / "medical_records.csv").read_text("gb18030")
    write_text(copy / "Train-Labeled.csv", text, encoding="utf-8-sig")
    assert shown(first) == shown(tasks_of("mmdental", copy, tmp_path / "b"))


def test_all_cases_or_another_text_of_meningiomas(tmp_path: Path):
    folder = tmp_path / "official"
    writer("brats_men_reports")(folder, seed=42)
    every = tasks_of("brats_men_reports", folder, tmp_path / "a", part="all")["brats_men/i2r"]
    assert len(every.queries) == 12
    found = tasks_of("brats_men_reports", folder, tmp_path / "b", report="findings")[
        "brats_men/i2r"
    ]
    assert len(found.queries) == 8
    told = json.loads(
        (folder / "RadGenome-Brain_MRI" / "BraTS_MEN" / "global_finding.json").read_text("utf-8")
    )
    assert {query.gold for query in found.queries} <= set(told.values())


def test_presence_is_asked_only_when_wanted(tmp_path: Path):
    folder = tmp_path / "official"
    writer("radgenome_chest_ct")(folder, seed=42)
    name = "radgenome_chestct_vqa/vqa"
    asked = tasks_of("radgenome_chest_ct", folder, tmp_path / "a", questions="presence")[name]
    assert {query.gold for query in asked.queries} == {"Yes.", "No."}
    (path,) = folder.rglob("validation_vqa_presence.csv")
    with path.open(encoding="utf-8") as stream:
        assert len(asked.queries) == len(list(csv.DictReader(stream)))
    levels = tasks_of("radgenome_chest_ct", folder, tmp_path / "b", levels="all")[name]
    assert len(levels.queries) > 45


@pytest.mark.parametrize("pair_part", ["t1", "t2"])
def test_a_patient_on_two_sides_goes_with_the_sequence_asked_for(tmp_path: Path, pair_part: str):
    folder = tmp_path / "official"
    writer("cirrmri600_plus")(folder, seed=42)
    tasks = tasks_of("cirrmri600_plus", folder, tmp_path / "a", pair_part=pair_part)
    # by T1 the patient is tested, by T2 not
    assert len(tasks["cirrmri600/t1-t2"].queries) == (11 if pair_part == "t1" else 10)
