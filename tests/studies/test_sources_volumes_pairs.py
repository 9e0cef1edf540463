"""BraTS, HaN-Seg and SynthRAD from their official layouts: pairs of one patient, truly paired."""

from __future__ import annotations

import shutil
from pathlib import Path

import nrrd
import numpy as np
import pytest

from studies.medheb.builders import volumes
from studies.medheb.release import TaskData
from tests.studies.volume_files import ball, build, chest, nii, shown, slices_of, tasks_of

PED = "ASNR-MICCAI-BraTS2023-PED-Challenge"


def names(data: TaskData) -> list[tuple[str, str]]:
    """Folder of the query and of its positive, below the role."""
    return [
        (Path(slices_of(q.item)[0]).parent.name, Path(slices_of(q.candidates[0].item)[0]).parent
         .name) for q in data.queries
    ]  # fmt: skip


def truly_paired(data: TaskData) -> None:
    assert data.task.eval_type == "global"
    assert data.built is not None
    assert data.built.pool == "split"
    pairs = names(data)
    assert all(first == second for first, second in pairs)
    assert len(set(pairs)) == len(pairs)


def brats_case(folder: Path, kind: str, patient: int, day: int, *, seg: bool = True) -> None:
    name = f"BraTS-{kind}-{patient:05d}-{day:03d}"
    for place, sequence in enumerate(("t1n", "t1c", "t2w", "t2f", *(["seg"] if seg else []))):
        nii(folder / name / f"{name}-{sequence}.nii.gz", ball(patient + 20 * place, (12, 14, 16)))


@pytest.fixture(scope="module")
def brats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("brats")
    training = root / f"{PED}-TrainingData"
    for patient in (2, 3):
        brats_case(training, "PED", patient, 0)
    validation = root / f"{PED}-ValidationData" / f"{PED}-ValidationData"  # repeated when unpacked
    for patient, day in ((11, 0), (11, 1), (12, 0)):
        brats_case(validation, "PED", patient, day, seg=False)
    brats_case(root / "ASNR-MICCAI-BraTS2023-MEN-Challenge-TrainingData", "MEN", 5, 0)
    brats_case(root / "ASNR-MICCAI-BraTS2023-GLI-Challenge-TrainingData", "GLI", 6, 0)
    return root


def test_brats_takes_the_childrens_validation_part_and_both_directions(brats: Path, tmp_path: Path):
    build("brats", brats, tmp_path)
    tasks = tasks_of("brats", tmp_path)
    assert tasks.keys() == {"brats/t1-t2", "brats/t2-t1"}
    for data in tasks.values():
        truly_paired(data)
        assert {first for first, _ in names(data)} == {
            "PED-00011-000", "PED-00011-001", "PED-00012-000",
        }  # fmt: skip
    query = tasks["brats/t1-t2"].queries[0]
    native, t2 = ball(11, (12, 14, 16)), ball(51, (12, 14, 16))  # neither t1c (31) nor t2f (71)
    for item, values in ((query.item, native), (query.candidates[0].item, t2)):
        grey = volumes.stretched(values, 0.5, 99.5)
        wanted = volumes.stacked(grey, volumes.informative(values, 0.015))
        assert np.array_equal(shown(item), wanted)


def test_brats_reads_the_part_below_the_folder_not_above_it(brats: Path, tmp_path: Path):
    above = tmp_path / "validation_study" / "brats"
    shutil.copytree(brats / f"{PED}-TrainingData", above / f"{PED}-TrainingData")
    alone = brats / f"{PED}-ValidationData"
    for root, count in ((above, 1), (alone, 3)):  # a cut of two patients; the whole part
        build("brats", root, tmp_path / str(count), tasks="brats/t1-t2")
        (data,) = tasks_of("brats", tmp_path / str(count)).values()
        assert len(data.queries) == count


def test_brats_can_cut_all_patients(brats: Path, tmp_path: Path):
    given = {"test_part": "cut", "test_share": 0.5}
    build("brats", brats, tmp_path, settings=given, tasks="brats/t1-t2")
    (data,) = tasks_of("brats", tmp_path).values()
    assert {first.split("-")[1] for first, _ in names(data)} != {"00011", "00012"}
    assert len({first.split("-")[1] for first, _ in names(data)}) == 2


def test_brats_tests_no_patient_that_is_trained_on(brats: Path, tmp_path: Path):
    copy = tmp_path / "copy"
    shutil.copytree(brats, copy)
    brats_case(copy / f"{PED}-TrainingData", "PED", 11, 2)
    document = build("brats", copy, tmp_path / "data", tasks="brats/t1-t2")
    assert {fault["where"] for fault in document["faults"]} == {"PED 00011-000", "PED 00011-001"}
    (data,) = tasks_of("brats", tmp_path / "data").values()
    assert {first for first, _ in names(data)} == {"PED-00012-000"}


def test_brats_is_cut_by_patient_without_a_validation_part(tmp_path: Path):
    root = tmp_path / "official"
    for patient in range(1, 7):
        for day in (0, 1):
            brats_case(root / f"{PED}-TrainingData", "PED", patient, day)
    name = "BraTS-PED-00009-000"
    nii(root / f"{PED}-TrainingData" / name / f"{name}-t1n.nii.gz", ball(1))
    document = build("brats", root, tmp_path / "data")
    assert [fault["where"] for fault in document["faults"]] == ["PED 00009-000"]
    (data, _) = tasks_of("brats", tmp_path / "data").values()
    truly_paired(data)
    patients = [first.split("-")[1] for first, _ in names(data)]
    assert len(set(patients)) == 2
    assert all(patients.count(patient) == 2 for patient in patients)


def test_brats_of_2021_has_other_names(brats: Path, tmp_path: Path):
    root = tmp_path / "official"
    for patient in range(4):
        for sequence in ("flair", "t1", "t1ce", "t2", "seg"):
            name = f"BraTS2021_{patient:05d}"
            nii(root / name / f"{name}_{sequence}.nii.gz", ball(patient, (8, 8, 8)))
    build("brats", root, tmp_path / "data", settings={"subset": "2021"}, tasks="brats/t1-t2")
    (data,) = tasks_of("brats", tmp_path / "data").values()
    truly_paired(data)
    assert len(data.queries) == 1
    build("brats", brats, tmp_path / "gli", settings={"subset": "GLI"}, tasks="brats/t1-t2")


def han_case(folder: Path, case: int) -> None:
    base = folder / f"case_{case:02d}"
    base.mkdir(parents=True)
    header = {"space": "left-posterior-superior", "kinds": ["domain"] * 3,
              "space directions": np.diag([1.0, 1.0, 3.0]), "space origin": [0, 0, 0],
              "Some odd:field": "x"}  # fmt: skip
    parts = {"IMG_CT.nrrd": chest(case, (24, 20, 18)), "IMG_MR_T1.nrrd": ball(case, (16, 18, 12)),
             "OAR_BrainStem.seg.nrrd": ball(case), "OAR_IMG_CT.seg.nrrd": ball(case)}  # fmt: skip
    for name, values in parts.items():
        nrrd.write(str(base / f"case_{case:02d}_{name}"), values, header)


def test_han_seg_pairs_mr_with_ct_in_the_files_own_order(tmp_path: Path):
    root = tmp_path / "HaN-Seg"
    for case in range(1, 11):
        han_case(root / "set_1", case)
    (root / "set_1" / "case_02" / "case_02_IMG_CT.nrrd").unlink()
    document = build("han_seg", root, tmp_path / "data")
    assert [fault["where"] for fault in document["faults"]] == ["case_02"]
    (data,) = tasks_of("han_seg", tmp_path / "data").values()
    assert data.task.id == "han_seg/mri-ct"
    truly_paired(data)
    assert len(data.queries) == 3  # 30 % of nine
    query = data.queries[0]
    case = int(names(data)[0][0])
    ct, mri = chest(case, (24, 20, 18)), ball(case, (16, 18, 12))
    wanted = volumes.stacked(volumes.windowed(ct, level=50, width=350), list(range(18)))
    assert np.array_equal(shown(query.candidates[0].item), wanted)
    grey = volumes.stretched(mri, 0.5, 99.5)
    assert np.array_equal(shown(query.item), volumes.stacked(grey, volumes.informative(mri, 0.015)))


def synth_case(folder: Path, name: str, *, ct: bool = True) -> None:
    number = int(name[3:])
    nii(folder / name / "mr.nii.gz", ball(number, (14, 12, 10)))
    nii(folder / name / "mask.nii.gz", (ball(number, (14, 12, 10)) > 0).astype(np.uint8))
    if ct:
        nii(folder / name / "ct.nii.gz", chest(number, (14, 12, 10)))


@pytest.fixture(scope="module")
def synthrad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("synthrad")
    for region, letter, centres in (("brain", "B", "ABC"), ("pelvis", "P", "AC")):
        base = root / "Task 1" / region  # some descriptions have the blank
        for centre in centres:
            for number in range(1, 5):
                synth_case(base, f"1{letter}{centre}{number:03d}")
        (base / "overview").mkdir()
        (base / "overview" / f"1{letter}A001_train.png").write_bytes(b"x")
    synth_case(root / "Task 1" / "brain", "1BC009", ct=False)
    for number in (61, 62):
        synth_case(root / "Task1_val" / "brain", f"1BA{number:03d}")
    nii(root / "Task2" / "brain" / "2BA001" / "ct.nii.gz", chest(1))
    return root


@pytest.mark.parametrize(("region", "count"), [("brain", 3), ("pelvis", 2)])
def test_synthrad_is_cut_level_over_centres(
    synthrad: Path, tmp_path: Path, region: str, count: int
):
    source = f"synthrad2023_{region}"
    document = build(source, synthrad, tmp_path)
    tasks = tasks_of(source, tmp_path)
    assert tasks.keys() == {f"{source}/mri-ct", f"{source}/ct-mri"}
    for data in tasks.values():
        truly_paired(data)
        tested = {first for first, _ in names(data)}
        assert len(tested) == count
        assert len({name[2] for name in tested}) == count  # one of each centre
    assert [f["where"] for f in document["faults"]] == (["1BC009"] if count == 3 else [])
    query = tasks[f"{source}/ct-mri"].queries[0]
    name = names(tasks[f"{source}/ct-mri"])[0][0]
    hu, mri = chest(int(name[3:]), (14, 12, 10)), ball(int(name[3:]), (14, 12, 10))
    level, width, share, low = (40, 80, 0.015, 0.5) if count == 3 else (35, 350, 0.02, 1)
    window = volumes.windowed(hu, level=level, width=width)
    assert np.array_equal(shown(query.item), volumes.stacked(window, list(range(10))))
    grey = volumes.stretched(mri, low, 99.5)
    wanted = volumes.stacked(grey, volumes.informative(mri, share))
    assert np.array_equal(shown(query.candidates[0].item), wanted)


def test_synthrad_validation_cases_are_a_variant(synthrad: Path, tmp_path: Path):
    copy = tmp_path / "copy"
    shutil.copytree(synthrad, copy)
    build("synthrad2023_brain", copy, tmp_path / "data", settings={"test_part": "validation"})
    data = tasks_of("synthrad2023_brain", tmp_path / "data")["synthrad2023_brain/mri-ct"]
    assert {first for first, _ in names(data)} == {"1BA061", "1BA062"}
