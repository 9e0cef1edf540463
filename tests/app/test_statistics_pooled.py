"""The panel of all readers together: each reader, their mean, what is said of it, and when not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.presenters.statistics_agreement import consistency_sheet
from app.presenters.statistics_look import Look
from app.presenters.statistics_pooled import MEAN, TITLE, TWO
from app.presenters.statistics_summary import sentence_of
from app.shown_statistics import Forest, Grid, Panel
from studies.preference.analysis.analyse import analyse
from studies.preference.kit.words import p_words, points_words, share_words
from tests.app.made_tables import made

RATERS = ("AB", "CD", "EF")


def panel(**options: Any) -> tuple[Panel | None, Look]:
    """The panel of a made-up study, and what it is of."""
    rater = options.pop("rater", None)
    found = analyse(made(**options), rater=rater, draws=20)
    look = Look(found, found.pairs[0])
    panels = consistency_sheet(look).panels
    return next((one for one in panels if one.title == TITLE), None), look


def test_every_reader_stands_beside_the_mean() -> None:
    shown, look = panel(items=60, raters=RATERS)
    assert shown is not None
    forest, grid = shown.parts
    assert isinstance(forest, Forest)
    assert isinstance(grid, Grid)
    assert [branch.title for branch in forest.branches] == [*RATERS, MEAN]
    assert [branch.whole for branch in forest.branches] == [False, False, False, True]
    assert [line.cells[0] for line in grid.lines] == [*RATERS, MEAN]
    pooled = look.pair.pooled
    assert pooled is not None
    assert pooled.net.value is not None
    assert forest.branches[-1].dots[0].value == pytest.approx(100 * pooled.net.value)
    assert grid.lines[-1].cells[2] == points_words(pooled.net)
    assert "readers" in shown.says
    assert TWO not in shown.notes
    edge = forest.fields[0].high
    for branch in forest.branches:
        low, high = branch.dots[0].low, branch.dots[0].high
        assert low is not None
        assert high is not None
        assert -edge <= low <= high <= edge


def test_the_outcome_says_what_it_means_for_other_readers() -> None:
    _, look = panel(items=60, raters=RATERS)
    assert look.pair.pooled is not None
    decided = look.pair.pooled.decided
    assert decided.low is not None
    assert decided.high is not None
    said = sentence_of(look)
    assert f"the mean of the 3 readers is {100 * (decided.value or 0):.1f} % [" in said
    for low, high, words in ((0.4, 0.7, "leaves open"), (0.6, 0.8, "prefer the same")):
        pooled = replace(look.pair.pooled, decided=replace(decided, low=low, high=high))
        changed = replace(look, pair=replace(look.pair, pooled=pooled))
        assert words in sentence_of(changed)
    assert "other readers" not in sentence_of(panel(items=40, raters=RATERS[:1])[1])


def test_the_outcome_of_several_readers_is_tested_by_their_majority() -> None:
    """Answers of one item are alike: counted as independent they reject too often."""
    _, look = panel(items=60, raters=RATERS)
    assert look.pair.majority is not None
    votes = look.pair.majority
    sign = votes.sign
    assert sign.p is not None
    assert sign.n < look.whole.sign.n
    said = sentence_of(look)
    # Each p stands behind the share that it tests.
    share, test = share_words(votes.first_decided), f"(sign test p {p_words(sign.p)})"
    assert votes.first_decided.n == sign.n
    between = said[said.index(share) + len(share) : said.index(test)]
    assert "%" not in between
    assert f"the majority, in {share}" in said
    assert "majority" not in sentence_of(panel(items=40, raters=RATERS[:1])[1])


def test_two_readers_are_said_to_be_few_and_one_has_no_such_panel() -> None:
    shown, _ = panel(items=40, raters=RATERS[:2])
    assert shown is not None
    assert TWO in shown.notes
    assert panel(items=40, raters=RATERS[:1])[0] is None
    assert panel(items=40, raters=RATERS[:2], rater="AB")[0] is None
