"""What the kit says of a study is true of that study: raters, identical lists, pairs, gaps."""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import replace

import pytest

from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.rated import POOLED
from studies.preference.freezing import PLAN
from studies.preference.kit import figures
from studies.preference.kit.checks import checks
from studies.preference.kit.extras import Extras
from studies.preference.kit.flow import flow_diagram
from studies.preference.kit.layout import grids_of
from studies.preference.kit.methods import methods_text
from studies.preference.kit.publish import write_kit
from studies.preference.kit.report import to_text
from tests.studies.kit_tables import made

DRAWS = 40


def told(tables, **facts):
    """The methods of a study of which this is known besides."""
    known = replace(tables, facts={**tables.facts, **facts})
    return methods_text(known, analyse(known, draws=DRAWS))


@pytest.fixture(scope="module")
def pooled():
    return analyse(made(raters=2), draws=DRAWS)


def test_what_takes_ratings_of_several_raters_as_independent_says_so(pooled):
    pair = pooled.pairs[0]
    for note in (pair.davidson.note, pair.side.sign.note, pair.criterion.test.note):
        assert note == POOLED
    alone = analyse(made(raters=1), draws=DRAWS).pairs[0]
    for note in (alone.davidson.note, alone.side.sign.note, alone.criterion.test.note):
        assert note == ""
    one = analyse(made(raters=2), rater="Reader X", draws=DRAWS).pairs[0]
    assert (one.davidson.note, one.side.sign.note) == ("", "")


def test_of_several_raters_the_vote_is_the_test_to_go_by():
    """Of 500 studies of equal models the test of all ratings flags 16 % (two raters), 26 % (four).

    That of the majority vote 5.6 and 6.4 %.
    """
    said = told(made(raters=2))
    vote = analyse(made(raters=2), draws=DRAWS).pairs[0].majority
    assert "the sign test of the majority vote is the one to go by" in said
    assert "By the majority of the raters of each item A had" in said
    assert f"({vote.first_decided.count} of {vote.first_decided.n}) of the decided" in said
    text = to_text(analyse(made(raters=2), draws=DRAWS))
    assert f"Majority of the raters, {vote.n} votes of {vote.n} items" in text
    assert "Mean of 2 raters, net preference: " in text
    assert "Majority" not in to_text(analyse(made(raters=1), draws=DRAWS))
    assert "majority" not in told(made(raters=1)).split("## Limitations")[0]
    assert "p-values are not adjusted for how many checks there are" in said
    plan = " ".join(PLAN)
    assert "primary test is the sign test of the majority vote" in plan
    assert "Only the primary figure and its test are confirmatory" in plan


def test_an_interval_of_ratings_is_not_said_to_be_of_items(pooled):
    pair = pooled.pairs[0]
    assert (pair.overall.net.unit, pair.majority.net.unit) == ("ratings", "items")
    assert pair.overall.n > pair.overall.items == pair.majority.n


def test_the_methods_say_how_many_repeats_there_truly_were():
    tables = made(raters=1)
    items = sum(one.kind == "item" for one in tables.presented)
    repeats = sum(one.kind == "repeat" for one in tables.presented)
    share = repeats / items
    said = told(tables, protocol={"repeat_share": share})
    assert f"Each order held {repeats} repeats, with sides exchanged" in said
    said = told(tables, protocol={"repeat_share": (repeats + 2) / items})
    assert f"held {repeats} repeats ({repeats + 2} were asked for" in said


def test_notes_beneath_the_tables(pooled):
    notes = {grid.name: " ".join(grid.notes) for grid in grids_of(pooled)}
    assert "not independent" in notes["shares"]
    assert "not independent" in notes["stratum"]
    assert "not independent" not in notes["rater"]
    assert POOLED in notes["davidson"]
    assert POOLED in notes["validity"]
    vote = pooled.pairs[0].majority
    split = vote.tie.count - vote.both.count - vote.neither.count
    assert split > 0
    assert f"{split} of {vote.n} items" in notes["shares"]
    overall = pooled.pairs[0].overall.n
    anatomy = next(t for t in pooled.pairs[0].tables if t.group == "anatomy")
    left = overall - sum(one.n for one in anatomy.blocks)
    assert left > 0
    assert f"{left} of {overall} ratings belong to none" in notes["anatomy"]
    assert "belong to none" not in notes["stratum"]


def test_identical_lists_are_told_as_the_protocol_has_it():
    tables = made(items=30)
    assert "4 items with identical lists were recorded as ties" in told(tables)
    assert "left out before the drawing" in told(made(items=30, ties=0), identical="exclude")
    shown = made(items=30, ties=0)
    first = replace(shown.items[0], overlap="identical")
    shown = replace(shown, items=(first, *shown.items[1:]))
    text = told(shown, identical="show")
    assert "1 item had identical lists" in text
    assert "never shown" not in text.split("## Flow")[0]
    assert "No item had identical lists" in told(made(items=30, ties=0), identical="auto-tie")


def test_pairs_gaps_and_gold_are_told_as_they_were():
    two, three = told(made(items=30)), told(made(items=45, models=3, raters=3))
    assert "two models were compared on the same queries" in two
    assert "same queries" not in three
    assert "one pair of models" in three
    assert "not adjusted for the number of pairs" in three
    assert "number of pairs" not in two
    assert "Ratings of all raters are pooled" in three
    assert "pooled" not in two
    gone = told(made(items=30), missing=["source/gone", "source/t1, row 7"])
    assert "1 task gave no query on this machine: source/gone." in gone
    assert "replaced by other queries: source/t1, row 7." in gone
    blank = told(made(items=30, gold="no"))
    assert "There was no gold answer" in blank
    assert "in - of" not in blank


def test_practice_pauses_and_blocks_are_told_as_they_were():
    tables = made(items=30)
    text = told(tables, protocol={"warmup": 3, "rest_minutes": 45})
    assert "Each began with 3 practice items" in text
    assert "proposed after 45 minutes at the latest" in text
    assert "2D, 3D and text were read in separate blocks" in text
    plain = replace(tables, items=tuple(replace(one, form="2d") for one in tables.items))
    text = told(plain, protocol={"warmup": 0, "rest_minutes": 0})
    assert "no practice items" in text
    assert "proposed no pause" in text
    assert "All items were 2D." in text
    assert "separate blocks" not in text


def test_what_nobody_decided_is_said_in_words():
    tables = made(items=24, ties=0)
    tied = [replace(r, answer="both", preferred="both") for r in tables.presented]
    text = told(replace(tables, presented=tuple(tied)))
    assert "No rating preferred one list" in text
    assert "No decided rating had exactly one list" in text
    for broken in ("had -", "in - of", "no p-value (no p-value"):
        assert broken not in text
    few = told(made(items=8, ties=0))
    assert "no p-value below 10, n = " in few
    assert "(no p-value" not in few


def test_one_item_was_drawn_and_nothing_judged_is_no_dash():
    tables = made(items=1, ties=0)
    said = told(replace(tables, presented=(), guesses=()))
    assert "1 item was drawn from" in said
    assert "No rating of A (Model A_1) against B (Model B_1) was judged." in said
    assert "in - of the ratings" not in said
    assert "2 items were drawn from" in told(made(items=2, ties=0))


def test_words_under_the_session_do_not_run_into_each_other(pooled):
    tables = made(items=400)
    analysis = analyse(tables, draws=DRAWS)
    assert len(analysis.fatigue.windows) == 10
    figure = checks(analysis, analysis.pairs[0])
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in figure.axes[1].get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
    below = figure.axes[1].xaxis.label.get_window_extent()
    assert below.y1 <= min(box.y0 for box in boxes)
    assert below.y0 > 0


@pytest.mark.skipif(os.name == "nt", reason="access is told otherwise there")
def test_every_file_of_a_kit_may_be_read_by_whom_the_umask_allows(tmp_path, monkeypatch):
    tables = made(items=20)
    monkeypatch.setattr(figures, "drawings", lambda found: {"flow": lambda: flow_diagram(found)})
    before = os.umask(0o027)
    try:
        written = write_kit(tables, analyse(tables, draws=DRAWS), Extras(), tmp_path)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in written} == {0o640}
    assert sorted(tmp_path.iterdir()) == sorted(written)


def test_places_are_counted_from_the_first_item_after_practice(pooled):
    found = pooled.fatigue
    assert (found.practice, found.windows[0].start) == (1, 2)
    (grid,) = (one for one in grids_of(pooled) if one.name == "fatigue")
    assert grid.rows[0][0] == f"1 to {found.windows[0].end - 1}"
    assert "in summary.json count the 1 before it too" in grid.notes[-1]
    axes = checks(pooled, pooled.pairs[0]).axes[1]
    assert axes.get_xticklabels()[0].get_text().startswith("1\u2013\n")


def test_kinds_of_evidence_add_to_what_was_drawn():
    tables = made(items=30, ties=4)
    text = told(tables)
    kinds = re.search(r"by kind of evidence: ([^.]+)\.", text)[1]
    assert "34 items were drawn" in text
    assert sum(int(part.split()[-1]) for part in kinds.split(", ")) == 34
    repeats = [one for one in tables.presented if one.kind == "repeat"]
    answered = sum(bool(one.answer) for one in repeats)
    assert "1 rater, 30 items shown of 34 drawn, " in text
    assert f", {answered} of {len(repeats)} repeats with sides exchanged answered." in text


def test_a_gap_of_a_model_is_named_once():
    text = told(made(items=12), models={"A": {"model_id": "nano", "weights": "abc"}})
    assert "(nano, ____ (to be filled: revision), weights abc)" in text


def test_a_forced_unblinding_is_told():
    left = "1 of 2 packs had not come back"
    assert f"It was unblinded although {left}; this was forced." in told(
        made(items=12), outstanding=left
    )
    assert "forced" not in told(made(items=12))


def test_a_p_value_beside_a_share_says_where_it_is_of_votes(pooled):
    found = pooled.pairs[0].length
    assert found.sign.n != found.longer.n
    text, said = to_text(pooled), told(made(raters=2))
    assert f"({found.longer.count} of {found.longer.n}), by one vote for each item: " in text
    assert "; sign test of all ratings p " in text
    assert ", sign test of all ratings p " in said
    assert " of the decided, sign test of the votes " in said
    assert "sign test of all ratings" not in told(made(raters=1))
    names = [row[0] for grid in grids_of(pooled) if grid.name == "bias" for row in grid.rows]
    assert f"longer texts preferred; p of {found.sign.n} items, one vote for each item" in names
