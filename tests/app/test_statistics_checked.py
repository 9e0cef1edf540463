"""The bias panel on the Statistics page: every check with what it could have found."""

from __future__ import annotations

from dataclasses import replace

from app.presenters.statistics_bias import sides_sheet
from app.presenters.statistics_checked import HEAD, bias_panel
from app.presenters.statistics_look import Look
from app.presenters.statistics_preference import DIFFICULTY, preference_sheet
from app.shown_statistics import Forest, Grid, Panel
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.readers import READERS
from studies.preference.analysis.schema_bias import NOT_RECORDED
from studies.preference.analysis.simulate import World, simulated
from studies.preference.analysis.tables import StudyTables
from tests.app.made_tables import made

UNKNOWN = {"words_first": None, "words_second": None, "near_query": "", "same_patient": "",
           "difficulty": ""}  # fmt: skip


def look(tables: StudyTables) -> Look:
    found = analyse(tables, draws=20)
    return Look(found, found.pairs[0])


def grid_of(panel: Panel) -> Grid:
    return next(part for part in panel.parts if isinstance(part, Grid))


def groups(shown: Look) -> Panel:
    return next(one for one in preference_sheet(shown).panels if one.key == "groups")


def test_every_check_has_n_and_what_it_would_find() -> None:
    panel = bias_panel(look(made()))
    grid = grid_of(panel)
    assert grid.head == HEAD
    names = [line.cells[0] for line in grid.lines]
    assert names[:2] == ["Left list chosen", "Advantage of the left side, log odds"]
    assert {"Longer texts preferred", "Log odds for each doubling of words"} <= set(names)
    assert "Look-alike of the query preferred" in names
    assert names[-1] == "Time to answer along the session"
    for line in grid.lines:
        assert int(line.cells[2]) > 0
        told = line.cells[4]
        assert told.startswith("too few") or told.split()[-1].replace(".", "").isdigit() or (
            "points away from one half" in told
        )  # fmt: skip
    (forest,) = [part for part in panel.parts if isinstance(part, Forest)]
    assert {branch.title for branch in forest.branches} <= set(names)


def test_a_study_of_the_version_before_says_what_it_did_not_record() -> None:
    tables = made()
    old = replace(tables, items=tuple(replace(one, **UNKNOWN) for one in tables.items))
    shown = look(old)
    panel = bias_panel(shown)
    assert panel.says.count(NOT_RECORDED) == 2
    lines = {line.cells[0]: line for line in grid_of(panel).lines}
    assert lines["Longer texts preferred"].cells[1:] == (NOT_RECORDED, "0", "-", "-")
    assert lines["Longer texts preferred"].behind is None
    assert f"Difficulty: {NOT_RECORDED}." in groups(shown).notes
    assert DIFFICULTY in groups(look(tables)).notes
    assert not any("Difficulty" in note for note in groups(look(made(gold=False))).notes)


def test_the_reader_of_long_texts_is_named_and_one_chance_finding_is_put_right() -> None:
    world = World(guess_items=0)
    panel = bias_panel(look(simulated(world, [READERS["length-biased"]], 4)))
    assert "longer texts preferred" in panel.says
    assert "Of twenty checks" in panel.says
    assert sides_sheet(look(made())).panels[0].key == "bias"


def test_nothing_rated_is_said() -> None:
    panel = bias_panel(look(made(items=0, auto=0, guesses=0, repeats=0.0)))
    assert (panel.parts, "nothing can be checked" in panel.says) == ((), True)
