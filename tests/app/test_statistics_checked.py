"""The bias panel on the Statistics page: every check with what it could have found."""

from __future__ import annotations

from dataclasses import replace
from math import log
from re import findall

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
from studies.preference.kit.bias import bias_words
from studies.preference.kit.words import TOO_FEW, least_words
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
    assert "About one check in twenty" in panel.says
    assert sides_sheet(look(made())).panels[0].key == "bias"


def test_nothing_rated_is_said() -> None:
    panel = bias_panel(look(made(items=0, auto=0, guesses=0, repeats=0.0)))
    assert (panel.parts, "nothing can be checked" in panel.says) == ((), True)


def test_an_effect_beyond_what_could_matter_is_too_few_to_say() -> None:
    """Three answers "found" odds ratios of five figures."""
    assert least_words(66078.81, what="odds ratio") == "too few to say"
    assert least_words(10.1, what="a ratio of") == least_words(None, what="ratio") == TOO_FEW
    assert least_words(9.9, what="ratio") == "ratio 9.90"
    assert least_words(log(10.1), what="log odds") == TOO_FEW
    assert least_words(log(9.9), what="log odds of") == "log odds of 2.29"
    assert least_words(0.9, what="Cohen's w") == "Cohen's w 0.90"


def test_of_a_few_answers_no_line_promises_a_power() -> None:
    shown = look(made(6, tasks=3, auto=0, guesses=0))
    panel = bias_panel(shown)
    told = [line.cells[4] for line in grid_of(panel).lines]
    assert TOO_FEW in told
    numbers = [float(found) for one in told for found in findall(r"(?:ratio|odds) ([0-9.]+)", one)]
    assert all(number <= 10 for number in numbers)
    tips = " ".join(dot.words for part in panel.parts if isinstance(part, Forest)
                    for branch in part.branches for dot in branch.dots)  # fmt: skip
    assert "would find too few" not in tips
    assert "Too few to say what 80 % power would find." in tips
    assert "too few to say what 80 % power would find" in bias_words(shown.found)
