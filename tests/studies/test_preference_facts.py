"""What a build counts for the bias panel: words, look-alikes, ranks; in the sealed key alone."""

from __future__ import annotations

import json
from dataclasses import replace
from statistics import median

import pytest

from db.home import Home
from db.study_items import items as item_rows
from db.study_items import study_row
from engine.control import Control
from studies.jobs import load_job
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.gather import tables_of
from studies.preference.build import build_from
from studies.preference.key import key_from_bytes
from studies.preference.kit.extras import Extras
from studies.preference.kit.methods import methods_text
from studies.preference.kit.publish import contents_of
from studies.preference.kit.reading import read_tables
from studies.preference.kit.report import to_text
from studies.preference.lists import difficulty_of
from studies.preference.overlap import Kin, Look, kin_of
from studies.preference.packs import make_pack
from studies.preference.sealing import unseal
from studies.preference.study import open_study
from studies.preference.unblind import load_unblinded, unblind
from studies.queries import task_queries
from studies.run import bench_job
from tests.studies.medheb_tree import small_root
from tests.studies.preference_material import PASSPHRASE, material, wish

MODELS = ("dicethrow", "cointoss")
NEW = ("words_a", "words_b", "near_query", "same_patient", "rank_a", "rank_b", "difficulty")


def key_at(path):
    return key_from_bytes(unseal((path / "key.sealed").read_bytes(), PASSPHRASE))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A small study whose gold has ranks, with texts of different length, and its key."""
    folder = tmp_path_factory.mktemp("facts")
    given = material(folder / "evidence")
    longer = {
        task: tuple(
            replace(one, rank_a=1 + one.row, rank_b=4 + one.row, list_a=_longer(one.list_a))
            for one in found
        )
        for task, found in given.comparisons.items()
    }
    made = build_from(
        Home(folder / "home").make(), replace(given, comparisons=longer), wish(warmup=1)
    )
    return made.path, key_at(made.path)


def _longer(listed):
    """The same list with longer texts, where it has any."""
    return tuple(
        replace(
            one,
            name=f"{one.name}+",
            item=replace(one.item, text=f"{one.item.text}{' with more to say' * (n + 1)}"),
        )
        if one.item.text
        else one
        for n, one in enumerate(listed)
    )


def test_words_are_those_that_are_shown_and_stand_in_the_key_alone(built):
    path, key = built
    with open_study(path) as study:
        rows = {row.item_id: row for row in item_rows(study.store)}
    seen = set()
    for item_id, one in key.items.items():
        if rows[item_id].kind == "auto_tie":
            assert (one.words_a, one.words_b, one.near_query) == (None, None, "")
            continue
        sides = rows[item_id].left, rows[item_id].right
        sides = sides if one.left == one.first else sides[::-1]
        told = [median(len(panel["text"].split()) for panel in listed) for listed in sides]
        assert [one.words_a, one.words_b] == told
        seen.add((one.form, one.words_a > one.words_b))
    assert ("text", True) in seen
    assert {form for form, more in seen if not more} == {"2d", "3d"}
    content = (path / "study.sqlite").read_bytes()
    assert [name for name in NEW[:-1] if name.encode() in content] == []


def test_difficulty_follows_the_ranks_and_needs_a_gold_answer(built):
    for one in built[1].items.values():
        assert (one.rank_a, one.rank_b) == (1 + one.row, 4 + one.row)
        assert one.difficulty == difficulty_of(one.rank_a, one.rank_b) != ""


def test_the_plan_says_what_difficulty_is_before_anything_is_read(built):
    path, key = built
    with open_study(path) as study:
        assert study_row(study.store).settings["plan"] == list(key.plan)
    told = " ".join(key.plan)
    for words in ("easy 1, moderate 2 or 3, hard 4 to 10", "Longer texts", "Look-alikes"):
        assert words in told


def test_a_key_of_the_version_before_has_none_of_it(built):
    document = json.loads(built[1].to_bytes())
    assert document["format"] == 3
    old = {
        item_id: {name: value for name, value in item.items() if name not in NEW}
        for item_id, item in document["items"].items()
    }
    key = key_from_bytes(json.dumps({**document, "format": 2, "items": old}).encode())
    one = next(iter(key.items.values()))
    assert [getattr(one, name) for name in NEW] == [None, None, "", "", None, None, ""]
    assert key_from_bytes(key.to_bytes()) == key


def test_the_facts_go_through_the_kit_and_come_back(built, tmp_path):
    path, _ = built
    with open_study(path) as study:
        session = study.session("Ann")
        while session.current() is not None:
            session.answer(("left", "right", "both")[session.answered % 3])
    unblind(path, PASSPHRASE, "finished")
    tables = tables_of(load_unblinded(path))
    analysis = analyse(tables, draws=20)
    for name, content in contents_of(tables, analysis, Extras()).items():
        if name.endswith(".csv"):
            (tmp_path / name).write_bytes(content)
    assert {one.item_id: one for one in read_tables(tmp_path).items} == {
        one.item_id: one for one in tables.items
    }
    length = analysis.pairs[0].length
    assert (length.note, length.longer.n) == ("", length.slope.n)
    assert length.longer.n > 0
    assert any(one.group == "difficulty" for one in analysis.pairs[0].tables)


def test_a_benchmark_gives_every_item_a_rank(tmp_path):
    root = small_root(tmp_path / "data", queries=6)
    home = Home(tmp_path / "home").make()
    for seed, name in enumerate(MODELS):
        card = {"family": "random", "settings": {"seed": seed}}
        (home.cards / f"{name}.json").write_text(json.dumps(card), encoding="utf-8")
    bench_job(home, {"data": str(root), "models": list(MODELS)}, Control())
    given = {"data": str(root), "models": list(MODELS), "total": 12, "seed": 3, "title": "Chest"}
    result = load_job("study-build")(home, {**given, "passphrase": PASSPHRASE}, Control())
    for one in key_at(home.studies / result["id"]).items.values():
        asked = next(q for q in task_queries(home, root, one.task_id, MODELS) if q.row == one.row)
        ranks = tuple(asked.rankings[model].rank for model in MODELS)
        assert (one.rank_a, one.rank_b) == ranks
        assert (one.difficulty == "easy") == (min(ranks) == 1) == (one.stratum != "neither")


def test_which_list_holds_a_look_alike():
    a, b, c = Look("a", subject="p"), Look("b"), Look("q")
    query = Look("q", subject="p")
    assert kin_of(query, [a, b], [b, c]) == Kin("second", "first")
    assert kin_of(query, [c, a], [c, a]) == Kin("both", "both")
    assert kin_of(query, [b, b], [b, b]) == Kin("none", "unknown")
    assert kin_of(Look("x"), [a], [b]) == Kin("none", "unknown")
    assert kin_of(Look("x", subject="z"), [a], [b]) == Kin("none", "none")


def test_what_a_forced_unblinding_gave_up_goes_into_the_kit(tmp_path):
    """Packs that were out, counted and without names; it needs nothing of a newer log."""
    made = build_from(
        Home(tmp_path / "home").make(), material(tmp_path / "evidence"), wish(warmup=1)
    )
    for name in ("Ann", "Bob"):
        make_pack(made.path, tmp_path / f"{name}.triptych", rater=name)
    tables = tables_of(unblind(made.path, PASSPHRASE, "no time left"))
    left = "2 of 2 packs had not come back and nobody had answered anything"
    assert tables.facts["outstanding"] == left
    analysis = analyse(tables, draws=20)
    assert f"It was unblinded although {left}; this was forced." in methods_text(tables, analysis)
    assert f"no time left (forced: {left})" in to_text(analysis)
    content = contents_of(tables, analysis, Extras())
    assert left in content["study.csv"].decode()
