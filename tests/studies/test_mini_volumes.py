"""The miniatures of volumes: official layouts, and what their oddities come to."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studies.medheb.mini import brats, cirrmri600, ct_rate, han_seg, m3d, mmdental, mrnet, synthrad
from studies.medheb.release import Query
from studies.medheb.sources.mmdental import TEETH
from studies.medheb.sources.scrubbed import scrubbed
from tests.studies.mini_checks import Mini, check, same_bytes

# source to: records left out on purpose, and names that the official layout holds
SOURCES = {
    # the patient who is on other sides in the two trees
    "cirrmri600_plus": (
        1,
        [
            "Cirrhosis_T1_3D/test_images/???.nii.gz",
            "Cirrhosis_T2_3D/valid_masks/???.nii.gz",
            "Healthy_subjects/T2_W_Healthy/T2_images/1.nii.gz",
            "T1&T2_Paired_age_gender_evaluation.csv",
        ],
    ),
    "mrnet": (
        0,
        [
            "MRNet-v1.0/train/axial/0000.npy",
            "MRNet-v1.0/valid/sagittal/1130.npy",
            "MRNet-v1.0/valid-acl.csv",
        ],
    ),
    "organmnist3d": (0, ["organmnist3d.npz"]),
    "nodulemnist3d": (0, ["nodulemnist3d.npz"]),
    "synapsemnist3d": (0, ["synapsemnist3d.npz"]),
    "brats": (
        0,
        ["ASNR-MICCAI-BraTS2023-PED-Challenge-ValidationData/BraTS-PED-00101-000/*-t2w.nii.gz"],
    ),
    # the text without a volume
    "brats_men_reports": (
        1,
        [
            "RadGenome-Brain_MRI/BraTS_MEN/impression.json",
            "RadGenome-Brain_MRI/train_val_test_split.json",
        ],
    ),
    "han_seg": (0, ["HaN-Seg/set_1/case_01/case_01_IMG_MR_T1.nrrd"]),
    "synthrad2023_brain": (0, ["Task1/brain/1BC001/mr.nii.gz", "Task1/brain/overview/*.png"]),
    "synthrad2023_pelvis": (0, ["Task1/pelvis/1PA001/ct.nii.gz"]),
    "radgenome_chest_ct": (
        0,
        [
            "dataset/valid_preprocessed/valid_1/valid_1a/valid_1_a_1.nii.gz",
            "dataset/radgenome_files/validation_vqa_size.csv",
            "dataset/qa_templates/location_template.json",
        ],
    ),
    "m3d_cap": (0, ["M3D_Cap/ct_quizze/000004/*/0.jpeg", "M3D_Cap/M3D_Cap.json"]),
    "m3d_vqa": (0, ["M3D_VQA_test5k.csv", "M3D_Cap_npy/ct_quizze/000004/*.npy"]),
    "mmdental": (0, ["MMDental/medical_records.csv", "MMDental/???/???.nii.gz"]),
}
LAYOUT_OF_CT_RATE = (
    "dataset/valid_fixed/valid_3/valid_3_a/valid_3_a_2.nii.gz",
    "dataset/radiology_text_reports/validation_reports.csv",
    "dataset/multi_abnormality_labels/valid_predicted_labels.csv",
    "dataset/metadata/no_chest_valid.txt",
    "dataset/vqa/valid_vqa.json",
)
Get = Callable[[str], Mini]


def shown(query: Query) -> str:
    """The folder of a query's volume, or its picture."""
    item = query.item
    return item.volumes[0].paths[0].parent.name if item.volumes else item.images[0].path.stem


def found(query: Query) -> str:
    """The folder of the positive's volume."""
    return query.candidates[0].item.volumes[0].paths[0].parent.name


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_goes_through_its_builder(source: str, mini: Get):
    faulty, names = SOURCES[source]
    made = mini(source)
    check(made, faulty=faulty)
    for name in names:
        assert any(made.official.glob(name)), name


@pytest.mark.parametrize("source", ["ct_rate", *SOURCES])
def test_the_seed_alone_decides_the_bytes(source: str, tmp_path: Path):
    same_bytes(source, tmp_path)


@pytest.mark.parametrize("source", [name for name in SOURCES if not name.startswith("brats_men")])
def test_slices_are_pictures_with_something_on_them(source: str, mini: Get):
    for task in mini(source).tasks.values():
        items = [c.item for q in task.queries[:2] for c in (q, q.candidates[0])]
        for volume in (volume for item in items for volume in item.volumes):
            with Image.open(volume.paths[len(volume.paths) // 2]) as picture:
                pixels = np.asarray(picture)
            assert pixels.std() > 5, volume.paths[0]


def test_healthy_livers_are_the_fourth_class_and_pairs_are_one_patient(mini: Get):
    made = mini("cirrmri600_plus")
    labels = Counter(query.label for query in made.tasks["cirrmri600/i2l"].queries)
    assert labels == {"mild": 3, "moderate": 3, "severe": 3, "No liver cirrhosis": 3}
    tested = {p.name.split(".")[0] for p in made.official.glob("Cirrhosis_T1_3D/test_images/*")}
    asked = {shown(query) for query in made.tasks["cirrmri600/i2l"].queries}
    assert tested < asked
    assert all("healthy" in name for name in asked - tested), "numbers that start again stay apart"
    for task in ("cirrmri600/t1-t2", "cirrmri600/t2-t1"):
        queries = made.tasks[task].queries
        assert [shown(query) for query in queries] == [found(query) for query in queries]
        # one on another side, one without T2; three healthy
        assert len(queries) == len(tested) - 2 + 3


def test_severity_is_what_the_table_says(mini: Get):
    made = mini("cirrmri600_plus")
    (path,) = made.official.glob("T1_age*.csv")
    rows = path.read_text("utf-8-sig").splitlines()
    assert rows[0].endswith(f"{cirrmri600.EVALUATION} ")
    grades = {row.split(",")[0]: int(row.split(",")[-1]) for row in rows[1:]}
    names = {1: "mild", 2: "moderate", 3: "severe"}
    for query in made.tasks["cirrmri600/i2l"].queries:
        if shown(query) in grades:
            assert query.label == query.gold == names[grades[shown(query)]]


def test_knees_have_one_of_four_classes_and_thirty_slices(mini: Get):
    made = mini("mrnet")
    words = ("healthy", "ACL", "menisc", "other")
    queries = made.tasks["mrnet/i2l"].queries
    assert len(queries) == 12, "exams with both tears are left out"
    for query in queries:
        kind = (int(re.sub(r"\D", "", shown(query))) - 1130) % len(mrnet.CLASSES)
        assert words[kind] in query.gold
        assert len(query.item.volumes[0].paths) == 30


@pytest.mark.parametrize("source", ["organmnist3d", "nodulemnist3d", "synapsemnist3d"])
def test_labels_of_arrays_follow_their_own_order(source: str, mini: Get):
    made = mini(source)
    order = {
        "organmnist3d": [
            "liver", "kidney-right", "kidney-left", "femur-right", "femur-left", "bladder",
            "heart", "lung-right", "lung-left", "spleen", "pancreas",
        ],
        "nodulemnist3d": ["benign", "malignant"],
        "synapsemnist3d": ["inhibitory synapse", "excitatory synapse"],
    }[source]  # fmt: skip
    with np.load(made.official / f"{source}.npz") as arrays:
        labels = arrays["test_labels"][:, 0]
    queries = made.tasks[f"{source}/i2l"].queries
    assert [order[label] for label in labels] == [query.gold for query in queries]


@pytest.mark.parametrize("task", ["brats/t1-t2", "brats/t2-t1"])
def test_brains_are_paired_by_case_and_time_point(task: str, mini: Get):
    queries = mini("brats").tasks[task].queries
    assert [shown(query) for query in queries] == [found(query) for query in queries]
    asked = {tuple(map(int, re.findall(r"\d+", shown(query)))) for query in queries}
    assert asked == set(brats.VALIDATION)
    first, second = (query.item.volumes[0].paths[0] for query in queries[:2])
    assert first.parents[1].name == second.parents[1].name


def test_meningiomas_of_the_test_part_ask_for_their_impression(mini: Get):
    made = mini("brats_men_reports")
    queries = made.tasks["brats_men/i2r"].queries
    split = made.official / "RadGenome-Brain_MRI" / "train_val_test_split.json"
    listed = json.loads(split.read_text("utf-8"))["test"]
    cases = {name[:-4] for name in listed if name.startswith("BraTS-MEN")}
    assert {shown(query) for query in queries} == cases - {"BraTS-MEN-01999-000"}
    assert all(query.gold.startswith("Meningioma, ") for query in queries)
    assert sum("accession number: ___" in query.gold for query in queries) == 2


def test_heads_pair_mr_with_ct_of_their_case(mini: Get):
    queries = mini("han_seg").tasks["han_seg/mri-ct"].queries
    assert len(queries) == round(0.3 * han_seg.CASES)
    assert [shown(query) for query in queries] == [found(query) for query in queries]
    sizes = {len(query.candidates[0].item.volumes[0].paths) for query in queries}
    assert sizes == {han_seg.CT[0]}, "fewer slices than 64 are all shown"


@pytest.mark.parametrize("region", synthrad.REGIONS)
def test_centres_are_level_on_the_test_side(region: str, mini: Get):
    made = mini(f"synthrad2023_{region}")
    for task in made.tasks.values():
        assert [shown(query) for query in task.queries] == [found(query) for query in task.queries]
        centres = Counter(shown(query)[2] for query in task.queries)
        counts = synthrad.REGIONS[region][1]
        assert centres == {centre: round(0.3 * count) for centre, count in counts.items()}


def test_a_chest_ct_stands_once_and_heads_and_ruins_do_not(mini: Get):
    made = mini("ct_rate")
    for name in LAYOUT_OF_CT_RATE:
        assert any(made.official.glob(name)), name
    assert not made.document["faulty"]
    scans = {scan.name: scan for scan in ct_rate.scans(*ct_rate.PARTS[1])}
    gone = {ct_rate.HEAD, ct_rate.BROKEN}
    there = {name for name, scan in scans.items() if scan.patient not in gone}
    for name, task in made.tasks.items():
        assert not task.failures
        told = made.document["tasks"][name]
        assert all("valid_7_a_1" in fault["reason"] for fault in told["faults"])
        assert told["faulty"] == (2 if name == "ct_rate_vqa/vqa" else 1)
    crossed = made.tasks["ct_rate/xray-ct"].queries
    assert {shown(query).removesuffix("_1") for query in crossed} == there
    assert [shown(query) for query in crossed] == [found(query) for query in crossed]
    labelled = {shown(q).removesuffix("_1"): q.gold for q in made.tasks["ct_rate/i2l"].queries}
    several = {ct_rate.MANY, ct_rate.NONE}
    assert set(labelled) == {name for name in there if scans[name].patient not in several}
    for name, label in labelled.items():
        assert label == ct_rate.LABELS[scans[name].kind]
    told = {found(q).removesuffix("_1") for q in made.tasks["ct_rate/t2i"].queries}
    assert told == {name for name in there if scans[name].patient != ct_rate.UNTOLD}


def test_questions_lose_the_marks_of_their_turns(mini: Get):
    queries = mini("ct_rate").tasks["ct_rate_vqa/vqa"].queries
    texts = [query.item.text or "" for query in queries] + [query.gold for query in queries]
    assert not any("<" in text for text in texts)
    per_scan = Counter(shown(query) for query in queries)
    assert set(per_scan.values()) == {2}, "two short questions of a talk"


def test_sentences_stand_once_and_questions_ask_at_the_deepest_level(mini: Get):
    made = mini("radgenome_chest_ct")
    for query in made.tasks["radgenome_chestct/i2r"].queries:
        sentences = re.findall(r"A \w+ of \d+ mm", query.gold)
        assert len(sentences) == len(set(sentences)) == 2
        assert "accession number: ___" in query.gold
    asked = made.tasks["radgenome_chestct_vqa/vqa"].queries
    assert len(asked) == 9 * 5
    answers = {query.gold.rstrip(".").lower() for query in asked}
    assert not {"yes", "no"} & answers
    assert not any("{" in (query.item.text or "") for query in asked)


def test_a_case_is_shown_by_one_axial_series_in_order(mini: Get):
    made = mini("m3d_cap")
    for query in made.tasks["m3d_cap/i2r"].queries:
        paths = query.item.volumes[0].paths
        case = int(paths[0].parents[1].name)
        raw = made.official / "M3D_Cap" / paths[0].parents[2].name / paths[0].parents[1].name
        kept = m3d.SLICES - (case == 4)
        assert len(paths) == kept, "the slice of another size is left out"
        axial = [folder for folder in raw.iterdir() if folder.name.startswith("Axial")]
        assert not axial or paths[0].parent.name.startswith("Axial")
        (tenth,) = (raw / paths[0].parent.name).glob("10.*")
        with Image.open(tenth) as first, Image.open(paths[10 if kept > 10 else -1]) as second:
            assert np.array_equal(np.asarray(first.convert("L")), np.asarray(second.convert("L")))
    texts = [query.gold for query in made.tasks["m3d_cap/i2r"].queries]
    assert len(set(texts)) == len(texts)


def test_no_question_shows_the_report_it_was_made_from(mini: Get):
    queries = mini("m3d_vqa").tasks["m3d_vqa/vqa"].queries
    texts = [query.item.text or "" for query in queries] + [query.gold for query in queries]
    assert not any(re.search(r"of \d+ mm", text) for text in texts)
    assert {"Which plane is this?", "Which phase is this?"} <= set(texts)


def test_teeth_are_shown_in_three_planes_and_told_of_once(mini: Get):
    made = mini("mmdental")
    asked = made.tasks["mmdental/i2r"].queries
    assert {len(query.item.volumes[0].paths) for query in asked} == {60}
    both = made.tasks["mmdental/t2t"].queries
    assert len(both) == round(0.3 * mmdental.PATIENTS) == 9
    texts = [query.item.text or "" for query in both] + [query.gold for query in both]
    assert not any("&amp;" in text or "Suture" in text for text in texts)
    assert any(" & crown" in text for text in texts)
    assert {query.gold for query in asked} <= {query.item.text for query in both}


def test_a_list_of_teeth_is_no_day():
    told = "36-37-38 cyst, K04.8, seen on 12.03.2019 and 11/12/2019, tooth 11-12-13."
    assert scrubbed(told, keep=TEETH) == (
        "36-37-38 cyst, K04.8, seen on ___ and ___, tooth 11-12-13."
    )
    assert "36-37-38" not in scrubbed(told)
