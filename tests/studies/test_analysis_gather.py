"""From real sessions, read by simulated readers, to the rows that are analysed."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from studies.errors import StillBlind
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.gather import tables_of
from studies.preference.analysis.readers import READERS, Hidden, at_guessing, at_work
from studies.preference.analysis.tables import KINDS, PREFERRED
from studies.preference.key import key_from_bytes
from studies.preference.study import open_study
from studies.preference.unblind import load_unblinded, unblind
from studies.preference.verify import OPEN_KEY
from tests.studies.preference_material import PASSPHRASE, SECRETS, small_study

TOTAL = 22


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Read by an expert to the end and by a left-biased reader in part, then unblinded."""
    folder = tmp_path_factory.mktemp("gather")
    made = small_study(folder, total=TOTAL, warmup=2, repeat_share=0.2, repeat_gap=3, guess_items=4)
    hidden = hidden_of(folder, made.path)
    with open_study(made.path) as study:
        read(study.session("Ann", specialty="chest", years=9), "expert", hidden)
        read(study.session("Bob"), "left-biased", hidden, stop=9)
        careful = study.session("Cho")
        while careful.current().kind == "warmup":
            careful.answer("left")
        careful.answer("left", confidence=2, usefulness={"left1": 2, "right1": 1})
        careful.undo()
        careful.answer("both", comment="a secret remark")
        careful.answer("cannot", reason="too dark")
        careful.answer("right")
        careful.undo()
    unblind(made.path, PASSPHRASE, "reading finished")
    return made.path


def hidden_of(folder, path) -> dict[str, Hidden]:
    """What decides about each item, from a copy's opened key."""
    import shutil

    copy = folder / "copy" / path.name
    shutil.copytree(path, copy)
    unblind(copy, PASSPHRASE, "for the simulated readers")
    key = key_from_bytes((copy / OPEN_KEY).read_bytes())
    worth = {"only_a": 1.0, "only_b": -1.0}
    found = {}
    for item_id, one in key.items.items():
        better = worth.get(one.stratum, 0.0) * (1 if one.left == "A" else -1)
        found[item_id] = Hidden(better, one.stratum == "both", one.left == "A")
    return found


def read(session, name: str, hidden: dict[str, Hidden], stop: int = 10_000) -> None:
    answer, guess = at_work(READERS[name], hidden, 5), at_guessing(READERS[name], hidden, 5)
    while (shown := session.current()) is not None and session.answered < stop:
        word, details = answer(shown)
        session.answer(word, item_id=shown.item_id, **details)
    for shown in session.guesses():
        session.guess(shown.item_id, guess(shown))


@pytest.fixture(scope="module")
def tables(path):
    return tables_of(load_unblinded(path))


def test_every_presentation_is_a_row(tables):
    assert {row.kind for row in tables.presented} == set(KINDS)
    assert {row.preferred for row in tables.presented} <= set(PREFERRED)
    by_rater = {
        name: [r for r in tables.presented if r.rater == name] for name in ("Ann", "Bob", "Cho")
    }
    shown = [one for one in tables.items if one.kind == "item"]
    auto = [one for one in tables.items if one.kind == "auto_tie"]
    assert len(shown) + len(auto) == TOTAL
    for rows in by_rater.values():
        assert sum(r.kind == "item" for r in rows) == len(shown)
        assert sum(r.kind == "auto_tie" for r in rows) == len(auto)
        assert sum(r.kind == "warmup" for r in rows) == 2
    assert all(r.answer for r in by_rater["Ann"])
    assert sum(bool(r.answer) for r in by_rater["Bob"] if r.position) == 9
    assert [one.name for one in tables.raters] == ["Ann", "Bob", "Cho"]
    assert (tables.raters[0].specialty, tables.raters[0].years) == ("chest", 9)


def test_repeats_stand_the_other_way_round(tables):
    items = {one.item_id: one for one in tables.items}
    repeats = [row for row in tables.presented if row.kind == "repeat"]
    assert repeats
    for row in tables.presented:
        if row.kind in ("item", "warmup"):
            assert row.left == items[row.item_id].left
        if row.kind == "repeat":
            assert {row.left, items[row.item_id].left} == {"A", "B"}
        if row.answer in ("left", "right"):
            assert (row.preferred == "first") == ((row.answer == "left") == (row.left == "A"))


def test_an_answer_taken_back_keeps_its_first(tables):
    places = [r for r in tables.presented if r.rater == "Cho" and r.kind == "item"]
    first, second, third = sorted(places, key=lambda row: row.position)[:3]
    assert (first.answer, first.revisions, first.first_preferred in ("first", "second")) == (
        "both",
        1,
        True,
    )
    assert (first.confidence, dict(first.usefulness)) == (None, {})  # of the answer in force
    assert (second.answer, second.preferred, second.reason) == ("cannot", "cannot", "too dark")
    assert (third.answer, third.revisions, bool(third.first_preferred)) == ("", 1, True)


def test_the_expert_of_a_real_session_comes_back(tables):
    found = analyse(tables, rater="Ann", draws=50)
    (pair,) = found.pairs
    assert pair.criterion.right.share == 1
    assert pair.criterion.right.n > 0
    assert found.repeats[0].same.share == 1
    assert found.repeats[0].n > 0
    assert (found.missing.unanswered, found.missing.changed) == (0, 0)
    assert found.flow["analysed"] == pair.overall.n
    assert (found.blinding.n, len(tables.guesses)) == (4, 4)
    assert found.fatigue.windows


def test_everybody_together(tables):
    found = analyse(tables, draws=50)
    assert (found.seed, found.draws, found.raters) == (11, 50, ("Ann", "Bob", "Cho"))
    assert found.missing.cannot == {"too dark": 1}
    assert found.missing.changed == 2
    assert len(found.between) == 4
    assert found.hash == tables.hash
    (pair,) = found.pairs
    assert pair.correctness.n == TOTAL
    assert pair.with_auto_ties.auto_tie.count == 3 * found.flow["auto_ties"]


def test_no_candidate_no_path_and_no_comment_comes_along(tables, path):
    told = str(asdict(tables))
    names = [word for word in SECRETS if "title" in word.lower() or word.startswith("rev-")]
    allowed = {"only_a", "only_b", "hiddensource", *names}
    allowed |= {"veiledmodel-alpha", "maskedmodel-beta", "weights-0815-def", "fingerprint-99"}
    for word in (*(set(SECRETS) - allowed), "a secret remark", str(path.parent), ".png"):
        assert word not in told, word


def test_a_blind_study_is_refused(tmp_path):
    made = small_study(tmp_path, per_task=6, total=6)
    with pytest.raises(StillBlind):
        tables_of(load_unblinded(made.path))
