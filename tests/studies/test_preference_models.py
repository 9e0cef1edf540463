"""Warm-up items besides the sample, studies of several models, and studies from a collection."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from db import study_items
from db.collections import items as collection_items
from db.home import Home
from db.session import open_store
from engine.control import Control
from engine.evidence.item import ImageRef, Item
from studies.collection import import_job
from studies.errors import BadStudy, NoRun
from studies.jobs import load_job
from studies.neighbours import neighbours_job
from studies.preference.build import build_from
from studies.preference.freezing import sides_of
from studies.preference.key import Arm, Key, KeyItem, key_from_bytes
from studies.preference.leaks import find_words
from studies.preference.sealing import unseal
from studies.preference.study import open_study
from studies.preference.verify import verify
from studies.preference.wish import Material
from tests.engine.evidence_files import dicom
from tests.studies.preference_material import PASSPHRASE, material, small_study, wish

PAIRS = (("A", "B"), ("A", "C"), ("B", "C"))


def key_of(path: Path, passphrase: str = PASSPHRASE) -> Key:
    return key_from_bytes(unseal((path / "key.sealed").read_bytes(), passphrase))


def rows_of(path: Path) -> dict[str, study_items.ItemRow]:
    with open_study(path) as study:
        return {row.item_id: row for row in study_items.items(study.store)}


# ------------------------------------------------------------------ warm-up items


def test_warm_ups_are_drawn_besides_the_sample_from_different_forms(tmp_path):
    built = small_study(tmp_path, total=15, warmup=3)
    key, rows = key_of(built.path), rows_of(built.path)
    kinds = Counter(row.kind for row in rows.values())
    assert built.warmups == kinds["warmup"] == 3
    assert built.items + built.auto_ties == 15
    assert {row.block for row in rows.values() if row.kind == "warmup"} == {"2d", "3d", "text"}
    assert sum(key.tasks.values()) == 15, "warm-up items are left out of every number"
    places = [(item.task_id, item.row) for item in key.items.values()]
    assert len(set(places)) == 18, "no query comes twice"
    without = key_of(small_study(tmp_path / "without", total=15, warmup=0).path)
    sample = {(i.task_id, i.row) for name, i in key.items.items() if rows[name].kind != "warmup"}
    assert sample == {(i.task_id, i.row) for i in without.items.values()}


def test_a_sample_that_takes_everything_leaves_fewer_warm_ups(tmp_path):
    built = small_study(tmp_path, per_task=4, total=100, warmup=3)
    assert (built.items + built.auto_ties, built.warmups) == (10, 0)
    assert small_study(tmp_path / "two", per_task=4, total=8, warmup=5).warmups == 2


def test_unreadable_warm_ups_are_replaced_too(tmp_path):
    given = material(tmp_path / "evidence")
    task = "hiddensource/i2i"
    broken = Item(images=(ImageRef(tmp_path / "gone.png"),))
    rows = tuple(replace(c, query=broken) if c.row % 2 else c for c in given.comparisons[task])
    given = replace(given, comparisons={task: rows})
    built = build_from(Home(tmp_path / "h").make(), given, wish(total=3, warmup=2))
    assert (built.items + built.auto_ties, built.warmups) == (3, 2)
    assert {item.row % 2 for item in key_of(built.path).items.values()} == {0}


def test_other_tasks_fill_in_for_one_that_cannot_be_read(tmp_path):
    given = material(tmp_path / "evidence")
    broken = Item(images=(ImageRef(tmp_path / "gone.png"),))
    task = "hiddensource/i2i"
    rows = tuple(replace(c, query=broken) for c in given.comparisons[task])
    given = replace(given, comparisons={**given.comparisons, task: rows})
    built = build_from(Home(tmp_path / "h").make(), given, wish(total=15, identical="show"))
    assert built.items == 15
    assert key_of(built.path).tasks == {"hiddensource/bridge": 6, "hiddensource/t2t": 9}
    assert sum(place.startswith(task) for place in built.missing) == 12


# ------------------------------------------------------------------ several models


def of_three(root: Path, per_task: int = 12) -> Material:
    """Three models: C answers a query as A and B answer the next one."""
    two = material(root, per_task=per_task)
    arms = (*two.arms, Arm("shroudedmodel-gamma", "Shrouded Title", "rev-1", "w-1", "f-1"))
    made = {}
    for task, listed in two.comparisons.items():
        found = []
        for number, one in enumerate(listed):
            pool = {c.name: c for c in (*one.list_a, *one.list_b)}
            names = sorted(pool)
            turned = names[number % len(names) :] + names[: number % len(names)]
            lists = {"A": one.list_a, "B": one.list_b, "C": tuple(pool[n] for n in turned[:3])}
            for first, second in PAIRS:
                found.append(
                    replace(one, first=first, second=second, list_a=lists[first],
                            list_b=lists[second])
                )  # fmt: skip
        made[task] = tuple(found)
    return Material(arms, made)


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    folder = tmp_path_factory.mktemp("three")
    given = of_three(folder / "evidence")
    built = build_from(Home(folder / "home").make(), given, wish(total=27, warmup=2))
    return given, built, key_of(built.path)


def test_every_item_compares_one_pair_and_pairs_are_balanced(three):
    _, built, key = three
    assert list(key.arms) == ["A", "B", "C"]
    rows = rows_of(built.path)
    sample = [item for name, item in key.items.items() if rows[name].kind != "warmup"]
    assert len({(item.task_id, item.row) for item in sample}) == len(sample) == 27
    for task in key.tasks:
        found = Counter((i.first, i.second) for i in sample if i.task_id == task)
        counts = [found[pair] for pair in PAIRS]
        assert max(counts) - min(counts) <= 1
    whole = Counter((item.first, item.second) for item in sample)
    assert set(whole.values()) == {9}


def test_the_key_holds_the_lists_of_its_pair(three):
    given, built, key = three
    known = {
        (c.task_id, c.row, c.first, c.second): c for f in given.comparisons.values() for c in f
    }
    rows = rows_of(built.path)
    for name, item in key.items.items():
        one = known[item.task_id, item.row, item.first, item.second]
        assert (item.names_a, item.names_b) == (one.names_a, one.names_b)
        assert item.stratum == one.stratum
        assert item.left in (item.first, item.second)
        row = rows[name]
        if row.kind != "auto_tie" and item.form == "text":
            left = one.list_a if item.left == item.first else one.list_b
            assert [panel["text"] for panel in row.left] == [c.item.text for c in left]


def test_sides_are_balanced_within_each_pair_for_many_seeds(three):
    from studies.preference.draw import Drawing
    from studies.preference.media import MediaPool

    given, *_ = three
    drawing = Drawing(wish(total=27, warmup=0), MediaPool(lambda row: None), {}, Control())
    drawn = [one for one in drawing.run(given) if one.kind == "item"]
    for seed in range(200):
        sides = sides_of(drawn, seed)
        cells: dict[tuple, list[int]] = {}
        for one in drawn:
            c = one.comparison
            cell = (c.stratum, c.family, c.form, c.first, c.second)
            cells.setdefault(cell, []).append(1 if sides[one.item_id] == c.first else -1)
        assert all(abs(sum(found)) <= 1 for found in cells.values())
        assert abs(sum(itertools.chain(*cells.values()))) <= 1


def test_nothing_in_a_study_of_three_models_names_one(three):
    _, built, _ = three
    words = ("shrouded", "veiledmodel", "maskedmodel", "only_a", "hiddensource")
    assert find_words(built.path, words) == ()
    assert verify(built.path) == ()


def test_too_many_models_and_one_twice_are_refused(tmp_path):
    two = material(tmp_path, per_task=1)
    home = Home(tmp_path / "home").make()
    for arms, words in (
        (two.arms[:1], "2 to 6 models, not 1"),
        ((*two.arms, two.arms[0]), "with itself"),
        (tuple(Arm(f"model-{n}", f"T{n}") for n in range(7)), "not 7"),
    ):
        with pytest.raises(BadStudy, match=words):
            build_from(home, replace(two, arms=arms), wish())


def test_a_key_of_format_1_is_still_read():
    item = {
        "left": "B", "stratum": "both", "task_id": "t", "family": "I-I", "form": "2d",
        "split": "id", "row": 3, "gold": "g", "names_a": ["g"], "names_b": ["h"],
        "overlap": "none",
    }  # fmt: skip
    arm = {"model_id": "m", "title": "M", "revision": "", "weights": "", "fingerprint": ""}
    document = {
        "format": 1, "study_id": "s", "seed": 1, "side_seed": 2, "arms": {"A": arm, "B": arm},
        "items": {"x": item}, "tasks": {"t": 1}, "missing": {}, "plan": ["p"], "nonce": "n",
    }  # fmt: skip
    key = key_from_bytes(json.dumps(document).encode())
    assert key.items["x"] == KeyItem(
        left="B", first="A", second="B", stratum="both", task_id="t", family="I-I", form="2d",
        split="id", row=3, gold="g", names_a=("g",), names_b=("h",), overlap="none",
    )  # fmt: skip
    assert key_from_bytes(key.to_bytes()) == key
    with pytest.raises(BadStudy, match="newest version"):
        key_from_bytes(json.dumps({**document, "format": 9}).encode())


# ------------------------------------------------------------------ from a collection

PATIENTS = 8
MODELS = ("dicethrow", "cointoss")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Eight patients with two pictures and a report each, and two models that guess."""
    folder = tmp_path_factory.mktemp("library")
    random = np.random.default_rng(0)
    for number in range(PATIENTS):
        for side in "lr":
            name = folder / "scans" / f"p{number}{side}.dcm"
            name.parent.mkdir(exist_ok=True)
            dicom(name, random.integers(0, 4000, (24, 20)).astype(np.int16),
                  PatientID=f"quietpatient{number}", StudyInstanceUID=f"1.2.{number}",
                  SeriesInstanceUID=f"1.2.3.{number}.{ord(side)}")  # fmt: skip
        said = f"FINDINGS:\nNodule of {number + 3} mm in the left lung.\n"
        (folder / "scans" / f"report{number}.txt").write_text(said, encoding="utf-8")
    home = Home(folder / "home").make()
    for seed, name in enumerate(MODELS):
        card = {"family": "random", "settings": {"seed": seed}, "revision": f"r{seed}"}
        (home.cards / f"{name}.json").write_text(json.dumps(card), encoding="utf-8")
    import_job(home, {"paths": [str(folder / "scans")], "collection": "Scans"}, Control())
    return home


def asked(**changes: object) -> dict[str, object]:
    given = {"collection": "Scans", "models": list(MODELS), "total": 12, "seed": 5}
    return {**given, "title": "Own cases", "passphrase": "open sesame", **changes}


def test_a_study_without_gold_answers_is_built_from_a_collection(library):
    result = load_job("study-build")(library, asked(), Control())
    path = Path(result["path"])
    assert result["items"] + result["auto_ties"] == 12
    assert result["warmups"] == 3
    assert verify(path) == ()
    key = key_of(path, "open sesame")
    assert {item.stratum for item in key.items.values()} == {"unknown"}
    assert {item.gold for item in key.items.values()} == {None}
    assert {item.form for item in key.items.values()} == {"2d", "text"}
    assert [arm.revision for arm in key.arms.values()] == ["r0", "r1"]
    prompts = {row.prompt for row in rows_of(path).values()} - {""}
    assert prompts == {"Find a picture of a similar case.", "Find a report of a similar case."}
    assert find_words(path, ["quietpatient", "dicethrow", "cointoss", "scans"]) == ()


def test_its_lists_are_those_of_the_neighbours_job(library):
    result = load_job("study-build")(library, asked(), Control())
    key = key_of(Path(result["path"]), "open sesame")
    with open_store(library) as store:
        known = {row.id: row for row in collection_items(store, "Scans", limit=100)}
    for item in key.items.values():
        for names, model in ((item.names_a, MODELS[0]), (item.names_b, MODELS[1])):
            given = {"id": item.row, "collection": "Scans", "model": model, "k": 40}
            hits = neighbours_job(library, given, Control())["neighbours"]
            form = known[item.row].form
            same = [hit["id"] for hit in hits if known[hit["id"]].form == form]
            assert names == tuple(f"object {number}" for number in same[:3])


def test_the_same_patient_is_left_out_or_flagged(library):
    with open_store(library) as store:
        known = {row.id: row for row in collection_items(store, "Scans", limit=100)}
    flagged = {}
    for others in (False, True):
        result = load_job("study-build")(library, asked(other_patients=others), Control())
        key = key_of(Path(result["path"]), "open sesame")
        rows = rows_of(Path(result["path"]))
        pictures = [(rows[name], item) for name, item in key.items.items() if item.form == "2d"]
        flagged[others] = sum("same_patient" in item.flags for _, item in pictures)
        for row, item in pictures:
            listed = [int(name.split()[1]) for name in (*item.names_a, *item.names_b)]
            same = any(known[n].subject == known[item.row].subject for n in listed)
            assert not (others and same)
            if row.kind != "auto_tie":
                assert same == ("same_patient" in item.flags)
    assert flagged[True] == 0
    assert flagged[False] > 0


def test_only_some_objects_are_asked_about(library):
    with open_store(library) as store:
        ids = [row.id for row in collection_items(store, "Scans", limit=100)][:5]
    result = load_job("study-build")(library, asked(queries=ids, total=50), Control())
    key = key_of(Path(result["path"]), "open sesame")
    assert {item.row for item in key.items.values()} == set(ids)
    with pytest.raises(BadStudy, match="no object 99999"):
        load_job("study-build")(library, asked(queries=[99999]), Control())


def test_what_cannot_be_a_study_of_a_collection_is_said(library):
    with pytest.raises(NoRun, match="holds nothing to search"):
        load_job("study-build")(library, asked(collection="Nothing"), Control())
    with pytest.raises(BadStudy, match="one thing"):
        load_job("study-build")(library, asked(data="somewhere"), Control())
    with pytest.raises(BadStudy, match="would tell raters a model"):
        load_job("study-build")(library, asked(title="Is dicethrow good"), Control())
    with pytest.raises(BadStudy, match="no 'colour'"):
        load_job("study-build")(library, asked(protocol={"colour": "red"}), Control())
    for odd in ({"warmup": "3"}, {"warmup": True}, {"identical": 1}, {"repeat_share": "0.1"}):
        with pytest.raises(BadStudy, match="cannot be"):
            load_job("study-build")(library, asked(protocol=odd), Control())


def test_progress_and_the_list_of_jobs_name_no_model(library):
    said: list[str] = []
    control = Control(
        report=lambda done, total, unit, phase: said.append(f"{unit} {phase}"), log=said.append
    )
    result = load_job("study-build")(library, asked(), control)
    assert any("Embedding with model B" in line for line in said)
    told = " ".join([*said, json.dumps({**result, "missing": {}})])
    assert [model for model in MODELS if model in told] == []
