"""The analysis at its ends: nobody, nothing, one of each, all the same. No number is made up."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, is_dataclass, replace

import pytest

from studies.preference.analysis import schema
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.schema import Estimate, Share
from studies.preference.analysis.tables import RaterFacts
from tests.studies.analysis_material import counted, item, row, study


def nobody():
    return study([item(n) for n in range(12)], [], raters=(RaterFacts("Ann"),))


def unanswered():
    items = [item(n) for n in range(12)]
    return study(items, [row(one, "", place=n + 1) for n, one in enumerate(items)])


ENDS = {
    "no items": lambda: study([], []),
    "nobody read": nobody,
    "nobody answered": unanswered,
    "one answer": lambda: counted({("A", "first"): 1}),
    "one tie": lambda: counted({("B", "neither"): 1}),
    "all ties": lambda: counted({("A", "both"): 20, ("B", "neither"): 20}),
    "all first": lambda: counted({("A", "first"): 20, ("B", "first"): 20}),
    "always left": lambda: counted({("A", "first"): 20, ("B", "second"): 20}),
    "one task": lambda: counted(
        {("A", "first"): 20, ("B", "second"): 9, ("A", "both"): 9}, tasks=1
    ),
    "one stratum": lambda: counted({("A", "first"): 9, ("B", "second"): 9}, stratum="only_a"),
    "below ten": lambda: counted({("A", "first"): 4, ("B", "second"): 3, ("A", "both"): 2}),
    "all flagged": lambda: counted({("A", "cannot"): 15}),
    "nine hundred tasks": lambda: counted({("A", "first"): 30, ("B", "second"): 20}, tasks=900),
}


@pytest.fixture(scope="module", params=list(ENDS))
def found(request):
    return analyse(ENDS[request.param](), draws=60)


def walk(value, path=""):
    """Every value below, with its path."""
    yield path, value
    if is_dataclass(value):
        for one in fields(value):
            yield from walk(getattr(value, one.name), f"{path}.{one.name}")
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from walk(one, f"{path}[{name}]")
    elif isinstance(value, tuple):
        for place, one in enumerate(value):
            yield from walk(one, f"{path}[{place}]")


def test_every_number_is_a_number_or_says_why_not(found):
    for path, value in walk(found):
        assert value == value, path
        if isinstance(value, float):
            assert abs(value) < 1e6, path
        if isinstance(value, Estimate) and value.value is None:
            assert value.note, path
        if isinstance(value, Estimate) and value.low is not None:
            assert value.low <= value.value <= value.high, path
            assert value.low < value.high, path
        if isinstance(value, schema.Test) and value.p is None:
            assert value.note, path
        if isinstance(value, Share):
            assert (value.share is None) == (value.n == 0), path
            assert 0 <= value.count <= value.n, path
        if isinstance(value, schema.Test) and value.n < 10:
            assert value.p is None, path


def test_it_can_be_written_as_json(found):
    again = json.loads(json.dumps(asdict(found), allow_nan=False))
    assert again["pairs"][0]["overall"]["n"] == found.pairs[0].overall.n


def test_tables_add_up(found):
    for pair in found.pairs:
        for table in pair.tables:
            assert all(one.n > 0 for one in table.blocks)
            if table.group not in ("anatomy",):
                assert sum(one.n for one in table.blocks) == pair.overall.n


def test_counts_of_the_ends():
    nothing = analyse(nobody(), draws=20)
    assert nothing.raters == ("Ann",)
    assert (nothing.pairs[0].overall.n, nothing.pairs[0].tables, nothing.repeats) == (0, (), ())
    assert (nothing.blinding, nothing.between, nothing.davidson) == (None, (), None)
    assert nothing.flow["sampled"] == 12
    waiting = analyse(unanswered(), draws=20)
    assert (waiting.missing.places, waiting.missing.unanswered) == (12, 12)
    flagged = analyse(counted({("A", "cannot"): 15}), draws=20)
    assert (flagged.flow["flagged"], flagged.flow["analysed"]) == (15, 0)
    assert flagged.missing.cannot == {"no reason given": 15}


def test_one_rater_or_all_of_them():
    items = [item(n, left="AB"[n % 2]) for n in range(20)]
    rows = [row(one, "first", rater="Ann", place=n + 1) for n, one in enumerate(items)]
    rows += [row(one, "second", rater="Bob", place=n + 1) for n, one in enumerate(items)]
    both = analyse(study(items, rows), draws=60)
    assert both.raters == ("Ann", "Bob")
    (pair,) = both.pairs
    assert (pair.overall.n, pair.overall.items, pair.overall.net.value) == (40, 20, 0)
    assert (pair.majority.n, pair.majority.tie.count) == (20, 20)
    assert "several raters" in pair.overall.sign.note
    (by_rater,) = [table for table in pair.tables if table.group == "rater"]
    assert [one.name for one in by_rater.blocks] == ["Ann", "Bob"]
    assert [one.first.count for one in by_rater.blocks] == [20, 0]
    assert "several raters" in by_rater.heterogeneity.note
    assert both.between[0].raw.value == 0
    ann = analyse(study(items, rows), rater="Ann", draws=60)
    assert (ann.rater, ann.raters, ann.pairs[0].overall.n) == ("Ann", ("Ann",), 20)
    assert (ann.pairs[0].majority, ann.between) == (None, ())
    assert ann.pairs[0].overall == replace(
        by_rater.blocks[0],
        **{
            name: getattr(ann.pairs[0].overall, name) for name in ("group", "name", "title", "sign")
        },
    )


def test_items_without_gold_stand_in_a_stratum_of_their_own():
    found = analyse(counted({("A", "first"): 15, ("B", "second"): 9}), draws=20).pairs[0]
    (strata,) = [table for table in found.tables if table.group == "stratum"]
    assert [(one.name, one.title) for one in strata.blocks] == [("unknown", "No gold answer")]
    assert strata.heterogeneity is None
    assert (found.correctness.n, found.criterion.right.n) == (0, 0)


def test_the_same_tables_give_the_same_numbers():
    tables = counted({("A", "first"): 30, ("B", "second"): 20, ("A", "both"): 9})
    assert analyse(tables, draws=200) == analyse(tables, draws=200)
    other = analyse(replace(tables, seed=2), draws=200).pairs[0].overall.net
    assert other != analyse(tables, draws=200).pairs[0].overall.net
