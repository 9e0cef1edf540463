"""What the Statistics page says against what it is made of: every mark and its rows, odd studies.

The numbers come from the analysis, the rows from the tables; here they are held together.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from app.presenters.statistics_behind import behind, line_of, rows_behind
from app.presenters.statistics_look import Look
from app.presenters.statistics_sheets import statistics_shown
from app.shown_statistics import Bars, Behind, Forest, Grid, Matrix, StatisticsShown, Strips
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.schema import Analysis
from studies.preference.analysis.tables import StudyTables
from tests.app.made_tables import made

STUDIES: dict[str, dict[str, Any]] = {
    "two": {},
    "readers": {"items": 40, "raters": ("AB", "CD and EF", "GH"), "repeats": 0.3},
    "three": {"items": 45, "models": 3, "raters": ("AB", "CD")},
    "no gold": {"gold": False, "useful": False},
}
ODD: dict[str, dict[str, Any]] = {
    "empty": {"items": 0, "auto": 0, "guesses": 0, "repeats": 0.0},
    "only ties by rule": {"items": 0, "auto": 3},
    "one": {"items": 1, "auto": 0, "guesses": 0, "repeats": 0.0, "only": "left"},
    "all ties": {"only": "both"},
    "none judged": {"only": "cannot"},
    "one task": {"tasks": 1},
    "no gold": {"gold": False},
    "always left": {"only": "left", "auto": 0},
}
COUNT = re.compile(r"\((\d+) of (\d+)\)")


@cache
def study(name: str, rater: str | None = None) -> tuple[StudyTables, Analysis]:
    tables = made(**STUDIES[name])
    return tables, analyse(tables, rater=rater, draws=20)


def views(name: str) -> list[tuple[StudyTables, Look, str | None]]:
    """Every way to look at a study."""
    found = []
    tables = made(**STUDIES[name])
    raters = list(dict.fromkeys(row.rater for row in tables.presented))
    for rater in (None, raters[-1])[: min(len(raters), 2)]:
        told, analysis = study(name, rater)
        # the bars of the whole are drawn both ways, whichever is chosen
        found += [(told, Look(analysis, pair, "count"), rater) for pair in analysis.pairs]
    return found


def counted(shown: StatisticsShown) -> list[tuple[str, Behind, int]]:
    """Every mark of a page with what it counts."""
    found: list[tuple[str, Behind, int]] = []
    for sheet in shown.sheets:
        for panel in sheet.panels:
            for part in panel.parts:
                found += [(f"{panel.key} {what}", known, n) for what, known, n in _of(part)]
    return [(what, known, n) for what, known, n in found if known is not None]


def _of(part: object) -> list[tuple[str, Any, int]]:
    if isinstance(part, Bars):
        return [
            mark
            for bar in part.bars
            for mark in [
                *((piece.words, piece.behind, piece.count) for piece in bar.pieces),
                # a vote is of several answers, and first answers are not those in force
                *([] if "Majority" in bar.title else [(bar.words, bar.behind, bar.n)]),
            ]
        ]
    if isinstance(part, Forest):
        return [(b.title, b.behind, b.n) for b in part.branches if b.behind is not None]
    if isinstance(part, Matrix):
        return [(c.words, c.behind, c.count) for line in part.cells for c in line]
    if isinstance(part, Grid):
        return [(line.cells[0], line.behind, _number(part, line.cells)) for line in part.lines
                if line.behind is not None and _number(part, line.cells) >= 0]  # fmt: skip
    assert isinstance(part, Strips)
    return [(s.words, s.behind, int(m.group(1))) for strip in part.strips for s in strip.stops
            if (m := re.search(r"of (\d+) answers", s.words))]  # fmt: skip


def _number(grid: Grid, cells: tuple[str, ...]) -> int:
    """What a row of a table counts; -1 where it is of something else."""
    if "n" in grid.head and "Majority" not in cells[0]:
        return int(cells[grid.head.index("n")])
    if grid.head[1] in ("Count", "Places"):
        return int(cells[1].split()[0])
    if grid.head[0] == "What happened":
        found = COUNT.search(cells[1])
        return int(found.group(1)) if found else 0
    return -1


@pytest.mark.parametrize("name", STUDIES)
def test_every_mark_lists_exactly_what_it_counts(name: str) -> None:
    seen = 0
    for tables, look, rater in views(name):
        pair = (look.pair.first, look.pair.second)
        for what, known, n in counted(statistics_shown(look)):
            rows = rows_behind(tables, known, pair=pair, rater=rater)
            terms = dict(known.terms)
            if "again" in terms and ">" not in terms["again"] and n != len(rows):
                every = Behind("", (("again", "any"), ("kind", "repeat"), ("pair", "all")))
                repeats = rows_behind(tables, every, rater=terms.get("rater", rater))
                assert n == len(repeats), what  # a row of the forest plot: its n is all repeats
                continue
            assert len(rows) == n, f"{what}: {known}"
            seen += 1
            for row in rows[:2]:
                told = line_of(row, tables.models)
                assert told.number >= 1
                assert told.task
    assert seen > 100


@pytest.mark.parametrize("name", ODD)
def test_an_odd_study_gets_honest_words(name: str) -> None:
    tables = made(**ODD[name])
    found = analyse(tables, draws=20)
    shown = statistics_shown(Look(found, found.pairs[0]))
    assert len(shown.sheets) == 7
    for sheet in shown.sheets:
        for panel in sheet.panels:
            assert panel.says or panel.parts, panel.title
            for part in panel.parts:
                assert not isinstance(part, Bars) or any(bar.n for bar in part.bars)
                assert not isinstance(part, Grid) or part.lines or part.name == "Usefulness"
    expected = {
        "empty": "nothing to count",
        "only ties by rule": "nothing to count",
        "one": "One answer says nothing about the models",
        "all ties": "none preferred one list: all 60 are ties (60 both useful",
        "none judged": "nothing to count",
        "one task": "this task only",
        "no gold": "nothing is said by top-1 correctness",
        "always left": "60 comparisons were judged",
    }
    assert expected[name] in f"{shown.sentence} {' '.join(shown.facts)}"


def percentages(text: str) -> list[str]:
    """Percentages that stand without an interval and n after them."""
    bare = []
    for match in re.finditer(r"\d+\.\d %", text):
        after = text[match.end() :]
        interval = re.match(r" \[-?\d+\.\d, -?\d+\.\d\] \(\d+ (of \d+|\w+)\)", after)
        if interval is None and not after.startswith(" (no interval"):
            bare.append(text[max(0, match.start() - 40) : match.end() + 20])
    return bare


@pytest.mark.parametrize("name", STUDIES)
def test_no_percentage_stands_without_its_interval_and_n(name: str) -> None:
    for _tables, look, _rater in views(name):
        shown = statistics_shown(look)
        texts = [shown.sentence, *shown.facts]
        for sheet in shown.sheets:
            for panel in sheet.panels:
                texts += [panel.says, *panel.notes]
                for part in panel.parts:
                    if isinstance(part, Grid):
                        texts += [" ".join(line.cells) for line in part.lines]
                    elif isinstance(part, Bars):
                        texts += [p.words for bar in part.bars for p in bar.pieces if p.count]
        assert not [one for text in texts for one in percentages(text)]


def test_an_answer_is_listed_under_the_number_that_its_reader_saw() -> None:
    tables = made(items=12)
    practice = replace(tables.items[0], item_id="practice", kind="warmup")
    rows = tuple(
        replace(row, position=None if row.position is None else row.position + 1)
        for row in tables.presented
    )
    shifted = replace(tables, items=(*tables.items, practice), presented=rows)
    wanted = behind("All")
    plain, later = (
        [line_of(row, one.models).place for row in rows_behind(one, wanted)]
        for one in (tables, shifted)
    )
    assert plain == later
    assert "1" in plain
