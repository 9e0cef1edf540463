"""The planned size of a study: written, read back, frozen, told in the kit; and on the terminal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from db.home import Home
from studies.errors import BadRequest, BadStudy
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.gather import tables_of
from studies.preference.build import build_from
from studies.preference.frozen import study_hash
from studies.preference.kit.extras import Extras
from studies.preference.kit.methods import methods_text
from studies.preference.kit.reading import read_tables
from studies.preference.kit.tabular import coded, csv_files, rater_codes
from studies.preference.leaks import find_words
from studies.preference.planned import plan_document, plan_of, read_plan, write_plan
from studies.preference.planner import PlanWish, plan
from studies.preference.study import open_study
from studies.preference.unblind import load_unblinded, unblind
from studies.preference.verify import verify
from tests.studies.build_asked import Asked
from tests.studies.packs_on_disk import PROTOCOL, read
from tests.studies.preference_material import (
    MODEL_A,
    PASSPHRASE,
    SECRETS,
    material,
    small_study,
    wish,
)

PLAN = plan(PlanWish(total=9, share=0.7, tasks=3, readers=2, warmup=1, repeat_share=0.2))


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a plan, read by one of the two readers of the plan, unblinded."""
    folder = tmp_path_factory.mktemp("planned")
    path = small_study(folder, per_task=6, total=9, protocol=PROTOCOL, planned=PLAN).path
    assert find_words(path, SECRETS) == ()
    read(path, 100, "Ann")
    unblind(path, PASSPHRASE, "done")
    return path


def test_a_plan_comes_back_as_it_was_written(tmp_path: Path) -> None:
    file = write_plan(PLAN, tmp_path / "plan.json")
    assert read_plan(file) == PLAN
    document = json.loads(file.read_text("utf-8"))
    assert (document["format"], document["sentence"]) == ("triptych-plan-1", PLAN.sentence)
    assert plan_of({"wish": document["wish"]}) == PLAN
    odd = replace(PLAN.wish, forms={"2d": 1 / 3, "3d": 1 / 3, "text": 1 / 3}, icc=0.07)
    assert read_plan(write_plan(plan(odd), file)) == plan(odd)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"sentence": "Trust me."}, "sentence does not follow from the wish. It"),
        ({"items_needed": 3}, r"follow from the wish \(3, not "),
        ({"wish": {"total": 9, "model": "secret"}}, "no 'model'"),
        ({"wish": {"total": "nine"}}, "cannot be 'nine'"),
        ({"wish": {"total": 9.5}}, "cannot be"),
        ({"wish": {"share": float("nan")}}, "cannot be"),
        ({"wish": {"forms": {"secret": 1.0}}}, "forms"),
        ({"wish": {"share": 0.2}}, "share"),
        ({"wish": None}, "no wish"),
        ({"format": "other"}, "no plan"),
    ],
)
def test_a_plan_that_was_altered_is_refused(
    tmp_path: Path, change: dict[str, object], told: str
) -> None:
    file = tmp_path / "plan.json"
    document = {"format": "triptych-plan-1", "wish": {"total": 9}}
    whole = plan_document(PLAN) if "wish" not in change else document
    file.write_text(json.dumps({**whole, **change}), encoding="utf-8")
    with pytest.raises(BadRequest, match=told):
        read_plan(file)


@pytest.mark.parametrize("content", [b"", b"[1]", b"\xff\xfe", b"{", b"[" * 90_000, b" " * 2**21])
def test_what_is_no_plan_is_said(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "plan.json"
    with pytest.raises(BadRequest, match="no plan"):
        read_plan(file)
    file.write_bytes(content)
    with pytest.raises(BadRequest, match="is no plan"):
        read_plan(file)


def test_the_plan_is_frozen_and_hashed(planned: Path) -> None:
    with open_study(planned) as study:
        row = study.row
    assert plan_of(row.settings["planned"]) == PLAN
    assert row.settings["planned"]["sentence"] == PLAN.sentence
    assert verify(planned) == ()
    other = {**row.settings["planned"], "decided_needed": 1}
    assert study_hash(replace(row, settings={**row.settings, "planned": other})) != row.hash


def test_a_plan_for_other_models_or_that_tells_one_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").make()
    found = material(tmp_path / "evidence", per_task=2)
    three = plan(PlanWish(models=3))
    with pytest.raises(BadRequest, match="for 3 models, the study compares 2"):
        build_from(home, found, wish(planned=three))
    first = replace(found.arms[0], model_id="Decided Comparisons")
    with pytest.raises(BadStudy, match="The plan holds 'Decided Comparisons'"):
        build_from(home, replace(found, arms=(first, found.arms[1])), wish(planned=PLAN))


def test_what_is_asked_for_beside_the_plan_is_said(tmp_path: Path) -> None:
    notes = small_study(tmp_path, per_task=3, total=6, planned=PLAN).notes
    assert [note.partition(";")[0] for note in notes] == [
        "Planned were 9 items, asked for are 6",
        "Planned were 1 practice items, asked for are 0",
        "Planned were 20 % repeats, asked for are 0",
    ]


def test_the_kit_gives_the_reason_and_what_was_read(planned: Path, tmp_path: Path) -> None:
    tables = tables_of(load_unblinded(planned))
    tables = coded(tables, rater_codes(tables))
    analysis = analyse(tables, draws=20)
    text = methods_text(tables, analysis)
    assert text.count(PLAN.sentence) == 3, "Sample size, CLAIM 19, STARD 18"
    read_count = sum(one.kind == "item" for one in tables.presented)
    decided = analysis.pairs[0].overall.first_decided.n
    assert (
        text.count(f"judged were: R1 {read_count}; decided of all raters: A and B {decided}.") == 3
    )
    assert f"Planned were 9 items for 2 raters and {PLAN.decided} decided comparisons for" in text
    assert "expected share" not in text
    for name, content in csv_files(tables, Extras(), {}, draws=20).items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    back = read_tables(tmp_path)
    assert back.facts["planned"] == tables.facts["planned"]
    assert methods_text(back, analyse(back, draws=20)) == text


def test_without_a_plan_the_blank_stays(tmp_path: Path) -> None:
    path = small_study(tmp_path, per_task=3, total=6).path
    read(path, 100, "Ann")
    unblind(path, PASSPHRASE, "done")
    tables = tables_of(load_unblinded(path))
    assert "planned" not in tables.facts
    text = methods_text(tables, analyse(tables, draws=20))
    assert text.count("____ (to be filled: expected share") == 3


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Asked:
    monkeypatch.setenv("TRIPTYCH_PASSPHRASE", PASSPHRASE)
    return Asked(monkeypatch, tmp_path / "home")


def test_the_terminal_writes_a_plan_and_builds_by_it(asked: Asked, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    told = asked("plan", "--total", "40", "--warmup", "2", "--session", "30", "--out", file)
    assert "--plan" in told
    build = ("build", "--data", tmp_path, "--models", f"{MODEL_A},b", "--plan", file)
    assert "Look here." in asked(*build)
    arguments = asked.arguments
    assert arguments["total"] == 40
    protocol = arguments["protocol"]
    assert (protocol["warmup"], protocol["rest_minutes"], protocol["repeat_share"]) == (2, 30, 0.1)
    assert arguments["planned"] == json.loads(file.read_text("utf-8"))
    asked(*build, "--total", "12")
    assert asked.arguments["total"] == 12, "what is asked for holds"
    asked("build", "--data", tmp_path, "--models", "a,b")
    assert "planned" not in asked.arguments
    assert "There is no plan" in asked(*build[:-1], tmp_path / "gone.json", code=1)
    asked("plan", "--total", "41", "--out", file)
    assert read_plan(file).wish.total == 41, "an earlier plan is replaced"
    file.write_text("my thesis")
    assert "holds something else" in asked("plan", "--out", file, code=1)
    assert file.read_text() == "my thesis"
