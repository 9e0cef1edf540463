"""The README's main job, whole: evidence, four models, a blinded study, read and opened."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from db.home import Home
from studies.demo_run import COLLECTION, MODELS, PASSPHRASE
from studies.preference.study import open_study

FAMILIES = {"I-I", "MB-VR", "I-Lab", "I-Rep", "T-I", "VQA", "VG", "T-T"}
METRICS = ("hit@1", "hit@5", "mrr@5")


def triptych(home, *words):
    command = [sys.executable, "-P", "-m", "studies.cli", "--home", str(home), *words]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo's home and what the command printed."""
    home = tmp_path_factory.mktemp("demo") / "home"
    return home, triptych(home, "demo", "--no-window", "--json")


def model(document, name):
    return next(row for row in document["benchmark"]["models"] if row["model"] == name)


@pytest.mark.timeout(900)
def test_the_document_has_the_promised_shape(demo):
    _, document = demo
    assert set(document) == {"benchmark", "study", "seconds"}
    tasks, models = document["benchmark"]["tasks"], document["benchmark"]["models"]
    assert len(tasks) >= 16
    assert {row["model"] for row in models} == set(MODELS)
    for family in FAMILIES:
        assert sum(task["family"] == family for task in tasks) >= 2
    for task in tasks:
        assert task["n"] >= 20
        assert {"task", "family", "form", "split", "n", "chance", "scores"} <= set(task)
        assert set(task["scores"]) == set(MODELS)
    assert any(task["split"] == "held-out" for task in tasks)
    for row in models:
        assert set(row["families"]) == FAMILIES
        for part in (row["all"], row["id"], row["held_out"], *row["families"].values()):
            assert all(0 <= part[metric] <= 100 for metric in METRICS)
    assert set(document["study"]) == {"items", "hash", "path"}


def test_medemb_leads_its_base_clearly(demo):
    _, document = demo
    ours, base = model(document, "medemb-nano"), model(document, "qwen3-vl-embedding-nano")
    assert ours["all"]["interval"]["hit@1"][0] > base["all"]["interval"]["hit@1"][1]


def test_random_lies_within_its_interval_of_chance_in_every_family(demo):
    _, document = demo
    tasks, row = document["benchmark"]["tasks"], model(document, "random")
    for family, scores in row["families"].items():
        chances = [task["chance"] for task in tasks if task["family"] == family]
        for metric in METRICS:
            chance = sum(one[metric] for one in chances) / len(chances)
            low, high = scores["interval"][metric]
            assert low <= chance <= high, (family, metric)


def test_show_prints_the_same_numbers(demo):
    home, document = demo
    shown = triptych(home, "bench", "show", "--format", "json")
    assert shown["tasks"] == document["benchmark"]["tasks"]
    assert shown["models"] == document["benchmark"]["models"]


def test_a_second_demo_computes_nothing_again(demo):
    home, document = demo
    vectors = sorted((home / "vectors").rglob("*.vec"))
    times = [path.stat().st_mtime_ns for path in vectors]
    again = triptych(home, "demo", "--no-window", "--json")
    assert [path.stat().st_mtime_ns for path in vectors] == times
    assert sorted((home / "vectors").rglob("*.vec")) == vectors
    assert again["benchmark"] == document["benchmark"]
    assert again["study"] == document["study"]


def test_neighbours_of_an_imported_study(demo):
    home, _ = demo
    film = next((home / "demo" / "Evidence" / "chest").glob("*/film.png"))
    words = ("--collection", COLLECTION, "--model", "medemb-nano", "--k", "5", "--json")
    found = triptych(home, "neighbours", str(film), *words)
    scores = [hit["score"] for hit in found["neighbours"]]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    assert str(film) not in [hit["path"] for hit in found["neighbours"]]


VERIFIED = {"verified": True, "faults": [], "remarks": []}


def test_the_study_is_read_verified_unblinded_and_exported(demo, tmp_path):
    """Last in the file: after it the study takes no more answers."""
    home, document = demo
    [folder] = Home(home).studies.iterdir()
    assert str(folder) == document["study"]["path"]
    with open_study(folder) as study:
        session = study.session("reader")
        while session.current() is not None:
            session.answer("left", answer_ms=1000)
    assert triptych(home, "study", "verify", "--json") == VERIFIED
    words = ("--reason", "test", "--passphrase", PASSPHRASE, "--json")
    summary = json.dumps(triptych(home, "study", "unblind", *words))
    assert document["study"]["hash"] in summary
    written = triptych(home, "study", "export", "--out", str(tmp_path / "out"), "--json")["files"]
    assert {name.rsplit(".", 1)[-1] for name in written} >= {"csv", "json", "png", "svg", "pdf"}
