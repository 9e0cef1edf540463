"""The audit of the whole miniature: what no task may do, and that it is noticed if one does."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from db.home import Home
from engine.control import Control
from engine.evidence.item import ImageRef, Item, VolumeRef
from studies.medheb.builders.card import SourceCard, settle
from studies.medheb.builders.catalogue import source_cards
from studies.medheb.builders.job import read_records
from studies.medheb.builders.record import Record
from studies.medheb.mini import planted
from studies.medheb.mini.catalogue import WRITERS
from studies.medheb.mini.mimic import LABELS
from studies.medheb.pools import build_pools
from studies.medheb.release import read_task
from studies.medheb.tasks import load_tasks
from studies.results import load_results
from studies.run import bench_job
from tests.studies import audit
from tests.studies.mini_checks import LEAST
from tests.studies.mini_root import MiniRoot

FAMILIES = {
    "I-I": 20,
    "MB-VR": 10,
    "I-Lab": 22,
    "I-Rep": 7,
    "T-I": 23,
    "VQA": 11,
    "VG": 7,
    "T-T": 7,
}
# how the names of pictures, volumes and records tell the patient
PATIENTS = {
    "mimic_cxr_lt": r"p(1\d{7})/",
    "mimic_cxr": r"p(1\d{7})/",
    "mimic_cxr_vqa": r"p(1\d{7})/",
    "chest_imagenome": r"p(1\d{7})/",
    "chexpert_plus": r"(patient\d{5})/",
    "brats": r"PED-(\d{5})",
    "brats_men_reports": r"BraTS-MEN-(\d{5})",
    "ct_rate": r"valid_(\d+)_",
    "radgenome_chest_ct": r"valid_(\d+)_",
    "han_seg": r"^(?:ct|mri)/(\d\d)",
    "synthrad2023_brain": r"1B[ABC]\d{3}",
    "synthrad2023_pelvis": r"1P[AC]\d{3}",
    "mmdental": r"^(?:volume|visit)/(\d+)",
    "m3d_cap": r"ct_quizze/(\d{6})",
}
# official files of the part that trains: none of them may be shown
TRAINING = {
    "rfmid": ["Training_Set/**/*.png"],
    "isic2019": ["ISIC_2019_Training_Input/*.jpg"],
    "brain_tumor_mri": ["Training/**/*.jpg"],
    "isic2018": ["ISIC2018_Task1-2_Training_Input/*.jpg"],
}
# where the people of the part that trains lie, and those of the part that tests
FOLDERS = {
    "cirrmri600_plus": (
        "Cirrhosis_T?_3D/train_images/*.nii.gz",
        "Cirrhosis_T1_3D/test_images/*.nii.gz",
    ),
    "mrnet": ("MRNet-v1.0/train/axial/*.npy", "MRNet-v1.0/valid/axial/*.npy"),
    "brats": ("*TrainingData/*TrainingData/*", "*ValidationData/*"),
    "ct_rate": (
        "dataset/train_fixed/*/*/*.nii.gz",
        "dataset/valid_fixed/*/*/*.nii.gz",
    ),
    "radgenome_chest_ct": (
        "dataset/train_preprocessed/*/*/*.nii.gz",
        "dataset/valid_preprocessed/*/*/*.nii.gz",
    ),
    "m3d_cap": ("M3D_Cap/ct_case/*", "M3D_Cap/ct_quizze/*"),
    "m3d_vqa": ("M3D_Cap/ct_case/*", "M3D_Cap/ct_quizze/*"),
    "vindr_cxr": ("vindr-cxr/1.0.0/train/*", "vindr-cxr/1.0.0/test/*"),
}
ARRAYS = ("medmnist",)
SPLIT_BY_SUBJECT = ("mimic_cxr_lt", "mimic_cxr", "mimic_cxr_vqa")


def official(root: MiniRoot, card: SourceCard) -> Path:
    name = next(name for name in (card.id, *card.aliases) if name in WRITERS)
    return root.official / WRITERS[name]


@pytest.fixture(scope="module")
def records(mini_root: MiniRoot) -> dict[str, list[Record]]:
    """The records of every source."""
    return {
        card.id: read_records(card, official(mini_root, card), settle(card, {}), Control())[0]
        for card in source_cards()
    }


def test_all_tasks_are_there_and_read_back_whole(mini_root: MiniRoot):
    document = mini_root.document
    assert document["left_out"] == {}
    assert document["missing"] == {}
    assert document["of"] == len(mini_root.tasks) == 107
    assert Counter(one.task.family for one in mini_root.tasks.values()) == FAMILIES
    for name, data in mini_root.tasks.items():
        assert not data.failures, data.failures
        assert len(data.queries) == data.rows >= LEAST, name
        assert data.built is not None
        assert data.built.rows == data.rows
        assert data.marks_stripped == 0


def test_every_pool_has_the_name_of_its_kind(mini_root: MiniRoot):
    tasks, pools = mini_root.tasks, mini_root.pools
    assert [w for name in tasks for w in audit.pool_named(tasks[name], pools[name])] == []
    kinds = Counter(one.name for one in pools.values())
    ranked = Counter(one.local for one in pools.values())
    # the two tasks by report rank volumes against all of the evaluated rows
    assert kinds["exemplars"] == 20 + 23 - 2
    assert kinds["labels:source"] == 22
    assert ranked[True] == 20 + 21 + 22


def test_the_positive_comes_first(mini_root: MiniRoot):
    tasks, pools = mini_root.tasks, mini_root.pools
    assert [w for name in tasks for w in audit.positive_first(tasks[name], pools[name])] == []


def test_no_query_meets_its_own_picture(mini_root: MiniRoot):
    tasks, pools = mini_root.tasks, mini_root.pools
    assert [w for name in tasks for w in audit.own_picture(tasks[name], pools[name])] == []


def test_pools_of_exemplars_hold_each_class_once(mini_root: MiniRoot):
    tasks, pools = mini_root.tasks, mini_root.pools
    wrong = [
        sentence
        for name, one in pools.items()
        if one.name == "exemplars"
        for sentence in audit.one_of_a_class(tasks[name], one)
    ]
    assert wrong == []


def test_exemplars_are_of_the_classes_that_their_records_have(
    mini_root: MiniRoot, records: dict[str, list[Record]]
):
    """The classes written into the rows are those of the pictures, and no picture has two."""
    checked = 0
    for card in source_cards():
        labels: dict[str, set[str]] = defaultdict(set)
        for record in records[card.id]:
            for name in audit.names_of(record):
                labels[name] |= set(record.labels)
        for plan in card.plans:
            data = mini_root.tasks[plan.task]
            root = mini_root.data / data.task.image_root
            for query in data.queries if mini_root.pools[plan.task].name == "exemplars" else ():
                for one in query.candidates:
                    paths = [image.path for image in one.item.images]
                    paths += [path for volume in one.item.volumes for path in volume.paths[:1]]
                    (name,) = {audit.SLICE.sub("", p.relative_to(root).as_posix()) for p in paths}
                    assert labels[name] == {data.labels[one.name]}, (plan.task, name)
                    checked += 1
    assert checked > 5000


def test_a_positive_is_of_somebody_else(mini_root: MiniRoot, records: dict[str, list[Record]]):
    for card in source_cards():
        groups = {name: r.group for r in records[card.id] for name in audit.names_of(r)}
        for plan in card.plans:
            data = mini_root.tasks[plan.task]
            if data.task.family != "I-I":
                continue
            for query in data.queries:
                pair = replace(data, queries=(replace(query, candidates=query.candidates[:1]),))
                assert len({groups[name] for name in audit.shown_names(pair)}) == 2, plan.task


def test_nobody_is_on_both_sides(mini_root: MiniRoot, records: dict[str, list[Record]]):
    for card in source_cards():
        for plan in card.plans:
            assert audit.sides_apart(plan, records[card.id], settle(card, {})) == []


def test_rows_show_only_what_is_tested(mini_root: MiniRoot, records: dict[str, list[Record]]):
    for card in source_cards():
        settings = settle(card, {})
        for plan in card.plans:
            serving = [r for r in records[card.id] if plan.serves is None or plan.serves(r)]
            share = float(settings["test_share"])
            tested = audit.choose.side_of_test(serving, seed=int(settings["seed"]), share=share)
            names = {name for record in tested for name in audit.names_of(record)}
            shown = audit.shown_names(mini_root.tasks[plan.task])
            assert shown <= names, (plan.task, sorted(shown - names)[:3])


@pytest.mark.parametrize("source", PATIENTS)
def test_a_patient_is_one_group(source: str, records: dict[str, list[Record]]):
    found = audit.patients(records[source], PATIENTS[source])
    assert len(found) >= 3
    several = {patient: groups for patient, groups in found.items() if len(groups) > 1}
    assert several == {}


def used(root: MiniRoot, source: str) -> set[Path]:
    """Every picture that a source's tasks show."""
    (card,) = (card for card in source_cards() if card.id == source)
    items = [
        item
        for plan in card.plans
        for query in root.tasks[plan.task].queries
        for item in (query.item, *(one.item for one in query.candidates))
    ]
    volumes = {path for item in items for volume in item.volumes for path in volume.paths}
    return volumes | {image.path for item in items for image in item.images}


@pytest.mark.parametrize("source", TRAINING)
def test_no_picture_of_a_training_part_is_shown(mini_root: MiniRoot, source: str):
    folder = mini_root.official / WRITERS[source]
    training = {audit.looks(path) for name in TRAINING[source] for path in folder.glob(name)}
    assert len(training) >= 2
    assert not training & {audit.looks(path) for path in used(mini_root, source)}


def test_no_picture_of_a_training_array_is_shown(mini_root: MiniRoot):
    for source in (name for name, module in WRITERS.items() if module in ARRAYS):
        shown = {audit.looks(path) for path in used(mini_root, source)}
        found = 0
        for path in (mini_root.official / "medmnist").glob(f"{source}*.npz"):
            with np.load(path) as arrays:
                assert not shown & {audit.shown(one) for one in arrays["train_images"]}
                found += len(shown & {audit.shown(one) for one in arrays["test_images"]})
        assert found, f"{source}: nothing of the test part is shown either"


@pytest.mark.parametrize("source", SPLIT_BY_SUBJECT)
def test_no_subject_of_the_training_part_is_shown(mini_root: MiniRoot, source: str):
    folder = mini_root.official / WRITERS[source]
    (path,) = folder.rglob("mimic-cxr-2.0.0-split.csv.gz")
    lines = audit.gzip.decompress(path.read_bytes()).decode().splitlines()
    rows = list(audit.csv.DictReader(lines))
    training = {row["subject_id"] for row in rows if row["split"] == "train"}
    shown = {part[1:] for one in used(mini_root, source) for part in one.parts}
    assert training
    assert shown & {row["subject_id"] for row in rows}
    assert not shown & training


@pytest.mark.parametrize("source", FOLDERS)
def test_nobody_of_a_training_folder_is_shown(mini_root: MiniRoot, source: str):
    """By the names of the official files of the part that trains, and of the part that tests."""
    folder, shown = mini_root.official / WRITERS[source], used(mini_root, source)
    parts = {re.sub(r"\.\w+$", "", part) for one in shown for part in one.parts}
    training, tested = (_called(folder, pattern) for pattern in FOLDERS[source])
    assert training
    assert tested & parts, f"names of {source} cannot be told from its pictures"
    assert not training & parts


def _called(folder: Path, pattern: str) -> set[str]:
    """Names of files or folders without their endings, the digits alone after a prefix."""
    names = {path.name.split(".")[0] for path in folder.glob(pattern)}
    return names | {name.removeprefix("BraTS-") for name in names}


def test_no_text_names_anybody(mini_root: MiniRoot):
    """Neither what files and id columns are called, nor what was planted in reports."""
    for card in source_cards():
        found = audit.identifiers(official(mini_root, card))
        for plan in card.plans:
            texts = audit.texts_of(mini_root.tasks[plan.task])
            assert audit.told(texts, found | set(planted.MARKS)) == [], plan.task


def test_something_was_planted_and_the_rest_of_its_text_stays(mini_root: MiniRoot):
    english = [mark for mark in planted.MARKS if mark != planted.DAY_IN_CHINESE]
    for module in ("chexpert_plus", "ct_rate", "radgenome", "brats_men", "m3d", "mmdental"):
        assert all(mark in whole(mini_root.official / module) for mark in english), module
    for mark in (planted.NUMBER, planted.DAY_IN_CHINESE):
        assert mark in whole(mini_root.official / "usdata")
    (archive,) = (mini_root.official / "mimic_cxr").glob("*.zip")
    with zipfile.ZipFile(archive) as packed:
        texts = [packed.read(name).decode() for name in packed.namelist()]
    assert all(any(mark in text for text in texts) for mark in english)
    for task in ("ct_rate/t2i", "mimic_cxr/t2t", "chexpert_plus/t2t", "mmdental/t2t"):
        texts = audit.texts_of(mini_root.tasks[task])
        assert any("Compared with ___, accession number: ___" in text for text in texts), task
    texts = audit.texts_of(mini_root.tasks["usdata/i2r"])
    assert any("与___比较，检查号：___" in text for text in texts)


def whole(folder: Path) -> str:
    """All tables and texts of a folder."""
    files = [path for path in folder.rglob("*") if path.suffix in (".csv", ".json", ".txt")]
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in files)


def test_identifiers_of_every_form_are_known(mini_root: MiniRoot):
    """The harvest finds what each kind of file holds, so its silence means something."""
    forms = {
        "mimic_cxr": r"p1\d{7}",
        "mimic_cxr_vqa": r"1\d{7}",
        "chexpert_plus": r"patient\d{5}",
        "ct_rate": r"valid_1_a_1",
        "brats_men": r"BraTS-MEN-00000-000(-t1n)?",
        "pubmedqa": r"\d{8}",
        "medmcqa": r"[0-9a-f]{8}-[0-9a-f]{4}-4.*",
        "medpix": r"MPX\d{4}(_synpic\d{5})?",
        "roco_vqa": r"ROCO_\d{5}",
        "vqa_rad": r"synpic\d{5}",
        "vindr_mammo": r"[0-9a-f]{32}",
    }
    for module, form in forms.items():
        found = audit.identifiers(mini_root.official / module)
        assert any(audit.re.fullmatch(form, one) for one in found), module
    assert audit.told(["the case of valid_1_a_1, seen"], {"Valid_1_A_1"}) == ["Valid_1_A_1"]
    assert audit.tokens("files/p10/p10234567/s50000001.dcm") == {"p10234567", "s50000001"}
    assert not any(audit.tokens(label) for label in LABELS)


@pytest.fixture
def copied(mini_root: MiniRoot, tmp_path: Path) -> Path:
    """A task of exemplars alone, to be broken."""
    task = mini_root.tasks["bloodmnist/i2i"].task
    shutil.copytree(mini_root.data / task.image_root, tmp_path / task.image_root)
    path = tmp_path / task.data_path
    path.parent.mkdir(parents=True)
    shutil.copy(mini_root.data / task.data_path, path)
    shutil.copy(mini_root.data / "2D_Task.yaml", tmp_path)
    return path


def reread(path: Path, rows: list[dict]) -> tuple:
    path.write_text(json.dumps(rows), "utf-8")
    root = path.parents[2]
    (task,) = (one for one in load_tasks(root) if one.id == "bloodmnist/i2i")
    data = read_task(task, root)
    return data, build_pools(data)


def test_what_breaks_a_rule_is_noticed(copied: Path):
    rows = json.loads(copied.read_text("utf-8"))
    broken = reread(copied, rows)
    assert audit.own_picture(*broken) == audit.positive_first(*broken) == []
    assert audit.one_of_a_class(*broken) == []
    assert audit.pool_named(*broken) == ["bloodmnist/i2i: nothing is known about how it was made"]

    own = [dict(row) for row in rows]
    own[0]["tgt_img_path"] = [
        own[0]["tgt_img_path"][0],
        own[0]["qry_img_path"],
        *own[0]["tgt_img_path"][2:],
    ]
    assert len(audit.own_picture(*reread(copied, own))) == 1

    turned = [dict(row) for row in rows]
    for column in ("tgt_img_path", "tgt_label"):
        turned[1][column] = turned[1][column][::-1]
    assert len(audit.positive_first(*reread(copied, turned))) == 1

    second = [dict(row) for row in rows]
    taken = (rows[0]["qry_img_path"], rows[0]["tgt_img_path"][0])
    same = [row for row in rows if row["qry_label"] == rows[0]["qry_label"]]
    other = next(row for row in same if row["qry_img_path"] not in taken)
    second[0]["tgt_img_path"] = [*rows[0]["tgt_img_path"][:-1], other["qry_img_path"]]
    second[0]["tgt_label"] = [*rows[0]["tgt_label"][:-1], other["qry_label"]]
    assert audit.one_of_a_class(*reread(copied, second))

    named = [dict(row) for row in rows]
    named[0]["qry_text"] = f"of {planted.remark(1)}"
    told = audit.told(audit.texts_of(reread(copied, named)[0]), planted.MARKS)
    assert told == sorted(set(planted.MARKS) - {planted.DAY_IN_CHINESE})


def test_a_picture_is_known_again_whatever_its_format(copied: Path, tmp_path: Path):
    image, other = sorted(copied.parents[2].rglob("*.png"))[:2]
    with audit.Image.open(image) as picture:
        picture.save(tmp_path / "again.tif")
    audit.Image.new("RGB", (9, 9)).save(tmp_path / "black.png")
    first, again = (Item(images=(ImageRef(p),)) for p in (image, tmp_path / "again.tif"))
    black = VolumeRef((tmp_path / "black.png",) * 3)
    assert audit.same_picture(first, again)
    assert not audit.same_picture(first, Item(images=(ImageRef(other),)))
    assert not audit.same_picture(first, Item(text="a"))
    assert not audit.same_picture(Item(volumes=(black,)), Item(volumes=(black,)))
    volume = VolumeRef((tmp_path / "black.png", image))
    assert audit.same_picture(Item(volumes=(volume,)), Item(volumes=(VolumeRef((image, other)),)))


def test_random_lies_at_chance_in_every_task(mini_root: MiniRoot, tmp_path: Path):
    home = Home(tmp_path / "home").make()
    report = bench_job(home, {"data": str(mini_root.data), "models": ["random"]}, Control())
    assert report["computed"] == 107
    assert report["missing"] == report["failures"] == []
    results = load_results(home)
    (line,) = results.models
    # the columns as in the smaller test of chance
    for column, chance in results.chance.columns.items():
        for metric, (low, high) in chance.interval.items():
            value = line.columns[column].values[metric]
            far = abs(value - chance.values[metric])
            assert far <= 4.5 * (high - low) / 3.92 + 1e-9, (column, metric)
    by_task = {}
    for task in results.tasks:
        score = task.scores["random"]
        by_task[task.task.id] = score.ranks
        assert dict(score.chance) == dict(task.chance) == mini_root.pools[task.task.id].chance
        assert score.n == task.n == len(mini_root.tasks[task.task.id].queries)
        assert score.failed == 0
    rare = 1e-6  # 214 looks: one in five thousand would be an accident
    spread = []
    for name, pools in mini_root.pools.items():
        ranks = by_task[name]
        for k in (1, 5):
            shares = [min(k, size) / size for size in pools.sizes]
            hits = sum(ranks[:k])
            assert audit.tail(shares, hits) > rare, (name, k, hits)
            width = sum(share * (1 - share) for share in shares)
            if width > 0.5:
                spread.append((hits - sum(shares)) ** 2 / width)
    assert len(spread) > 150
    assert 0.6 < np.mean(spread) < 1.7, "as far from chance as chance goes"


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("model", ["siglip-nano", "qwen3-vl-embedding-nano", "medemb-nano"])
def test_every_task_runs_with_a_real_model(mini_root: MiniRoot, tmp_path: Path, model: str):
    home = Home(tmp_path / "home").make()
    report = bench_job(home, {"data": str(mini_root.data), "models": [model]}, Control())
    assert report["computed"] == 107
    assert report["missing"] == report["failures"] == report["refused"] == []
    (line,) = load_results(home).models
    assert set(FAMILIES) <= set(line.columns)
    assert line.missing == ()
    assert line.cv is not None
