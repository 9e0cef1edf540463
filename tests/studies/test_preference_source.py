"""From a finished benchmark to a study: the lists are those that the run stored."""

from __future__ import annotations

import json

import pytest

from db.home import Home
from engine.control import Control
from studies.errors import BadStudy, NoRun
from studies.jobs import load_job
from studies.preference.key import key_from_bytes
from studies.preference.leaks import find_words
from studies.preference.sealing import unseal
from studies.preference.source import read_material
from studies.preference.study import list_studies, open_study
from studies.preference.verify import verify
from studies.queries import task_queries
from studies.run import bench_job
from tests.studies.medheb_tree import small_root

MODELS = ("dicethrow", "cointoss")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A run of two models that answer at random, each in its own way."""
    folder = tmp_path_factory.mktemp("source")
    root = small_root(folder / "data", queries=8)
    home = Home(folder / "home").make()
    for seed, name in enumerate(MODELS):
        card = {"family": "random", "settings": {"seed": seed}, "revision": f"r{seed}"}
        (home.cards / f"{name}.json").write_text(json.dumps(card), encoding="utf-8")
    (root / "Text_Task" / "notes" / "notes_new.json").rename(root / "moved.json")
    bench_job(home, {"data": str(root), "models": list(MODELS)}, Control())
    return home, root


def arguments(root, **changes):
    given = {"data": str(root), "models": list(MODELS), "total": 20}
    return {**given, "seed": 3, "title": "Chest", "passphrase": "open sesame", **changes}


def test_the_lists_are_those_of_the_run(done):
    home, root = done
    material = read_material(home, root, MODELS)
    assert [arm.model_id for arm in material.arms] == list(MODELS)
    assert [arm.revision for arm in material.arms] == ["r0", "r1"]
    assert len({arm.fingerprint for arm in material.arms} - {""}) == 2
    assert set(material.missing) == {"notes/t2t"}
    for task_id, comparisons in material.comparisons.items():
        queries = task_queries(home, root, task_id, MODELS, 3)
        assert len(comparisons) == len(queries) == 8
        for one, query in zip(comparisons, queries, strict=True):
            for names, model in ((one.names_a, MODELS[0]), (one.names_b, MODELS[1])):
                assert names == tuple(c.name for c in query.rankings[model].top)
            right = tuple(query.rankings[model].rank == 1 for model in MODELS)
            words = {
                (True, True): "both", (True, False): "only_a",
                (False, True): "only_b", (False, False): "neither",
            }  # fmt: skip
            assert one.stratum == words[right]


def test_the_job_builds_a_study_that_can_be_read(done):
    home, root = done
    result = load_job("study-build")(home, arguments(root), Control())
    assert json.loads(json.dumps(result))["saved"] == ["study"]
    (info,) = [info for info in list_studies(home) if info.id == result["id"]]
    assert (info.items, info.auto_ties, info.hash) == (
        result["items"], result["auto_ties"], result["hash"],
    )  # fmt: skip
    assert result["items"] + result["auto_ties"] == 20
    assert verify(info.path) == ()
    key = key_from_bytes(unseal((info.path / "key.sealed").read_bytes(), "open sesame"))
    assert set(key.tasks.values()) == {2, 3}
    assert set(key.missing) == {"notes/t2t"}
    kinds = set()
    with open_study(info.path) as study:
        session = study.session("Ann")
        while (now := session.current()) is not None:
            kinds |= {panel.kind for panel in (now.query, *now.left, *now.right)}
            for media_id in now.media_ids:
                study.media(media_id)
            session.answer("both")
    assert kinds == {"image", "volume", "text", "mixed"}


def test_models_without_results_are_named_with_the_line_that_helps(done):
    home, root = done
    with pytest.raises(NoRun, match="triptych bench run --data") as caught:
        load_job("study-build")(home, arguments(root, models=[MODELS[0], "random"]), Control())
    assert "dicethrow,random" in str(caught.value)


def test_rows_that_tell_a_group_flag_the_same_patient(tmp_path):
    """``bench own`` tells in its rows which are of one patient, by a number drawn by lot."""
    table = tmp_path / "cases.csv"
    lines = ["patient,findings,impression"]
    for number in range(24):
        lines.append(f"Quiet Person {number // 2},finding {number} here,impression {number} there")
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    home, data = Home(tmp_path / "home").make(), tmp_path / "data"
    wish = {"table": str(table), "data": str(data), "name": "cases",
            "settings": {"test_share": 0.9}}  # fmt: skip
    made = load_job("bench-own")(home, wish, Control())
    (task,) = made["tasks"]
    for seed, name in enumerate(MODELS):
        card = {"family": "random", "settings": {"seed": seed}}
        (home.cards / f"{name}.json").write_text(json.dumps(card), encoding="utf-8")
    bench_job(home, {"data": str(data), "models": list(MODELS)}, Control())
    read = task_queries(home, data, task, MODELS, 24)
    people: dict[str, set[str]] = {}
    for one in read:
        people.setdefault(one.group, set()).add(one.item.text or "")
        gold = next(c for c in one.rankings[MODELS[0]].top if c.is_gold)
        assert gold.group == one.group
    assert all(len(found) == 2 for found in people.values())
    assert all(name.startswith("g") and name[1:].isdigit() for name in people)
    result = load_job("study-build")(home, arguments(data, total=24), Control())
    path = next(info.path for info in list_studies(home) if info.id == result["id"])
    key = key_from_bytes(unseal((path / "key.sealed").read_bytes(), "open sesame"))
    of = {one.row: one for one in read}
    for item in key.items.values():
        known = {c.name: c.group for c in of[item.row].rankings[MODELS[0]].top}
        same = any(known[name] == of[item.row].group for name in (*item.names_a, *item.names_b))
        assert ("same_patient" in item.flags) == (same and item.overlap != "identical")
    assert any("same_patient" in item.flags for item in key.items.values())
    assert find_words(path, ["Quiet Person", "qry_group", "subject"]) == ()


def test_a_title_that_tells_is_refused_before_anything_is_read(done, monkeypatch):
    home, root = done
    monkeypatch.setattr("studies.preference.source.read_material", None)
    with pytest.raises(BadStudy, match="would tell raters a model"):
        load_job("study-build")(home, arguments(root, title="Is cointoss good"), Control())
