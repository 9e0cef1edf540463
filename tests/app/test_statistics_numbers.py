"""The page and the kit's summary.json hold the same numbers, rounded alike.

What is expected is formatted here anew from the JSON, so that neither side checks itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.presenters.statistics import StatisticsPresenter
from app.presenters.statistics_look import Look
from app.presenters.statistics_sheets import statistics_shown
from app.shown_statistics import Bars, Forest, Grid, Matrix, StatisticsShown, Strips
from app.views.statistics import StatisticsView
from db.home import Home
from studies.preference.analysis.analyse import analyse
from studies.preference.kit.summary import json_text
from studies.preference.study import open_study
from studies.preference.unblind import unblind
from tests.app.made_tables import made
from tests.app.page_fakes import page_services, view_like
from tests.studies.preference_material import PASSPHRASE, small_study

# Beside the first interval of a group two more are shown in the forest's table only.
FURTHER = ("net_bca", "net_tasks")
IN_FOREST = ("all", "stratum", "family", "form", "split")


def texts_of(shown: StatisticsShown) -> str:
    """Everything the page writes or says."""
    found = [shown.sentence, *shown.facts]
    for sheet in shown.sheets:
        for panel in sheet.panels:
            found += [panel.says, *panel.notes]
            for part in panel.parts:
                found += _texts(part)
    return "\n".join(found)


def _texts(part: object) -> list[str]:
    if isinstance(part, Bars):
        return [words for bar in part.bars for words in (bar.note, bar.words, f"n = {bar.n}",
                *(piece.words for piece in bar.pieces))]  # fmt: skip
    if isinstance(part, Forest):
        return [words for b in part.branches for dot in b.dots for words in (dot.label, dot.words)]
    if isinstance(part, Strips):
        return [stop.words for strip in part.strips for stop in strip.stops]
    if isinstance(part, Matrix):
        return [f"{cell.count} {cell.words}" for line in part.cells for cell in line]
    assert isinstance(part, Grid)
    return [cell for line in part.lines for cell in line.cells]


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every share, estimate and test of summary.json with where it stands."""
    if isinstance(value, dict):
        if {"count", "share"} <= set(value) or {"value", "unit"} <= set(value) or "p" in value:
            yield path, value
        else:
            for key, inner in value.items():
                yield from numbers(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            name = inner.get("group", place) if isinstance(inner, dict) else place
            yield from numbers(inner, f"{path}/{name}")


def expected(path: str, found: dict[str, Any]) -> str:
    """How the number must be written."""
    if "count" in found:
        if found["share"] is None:
            return ""
        low, high = 100 * found["low"], 100 * found["high"]
        of = f"({found['count']} of {found['n']})"
        return f"{100 * found['share']:.1f} % [{low:.1f}, {high:.1f}] {of}"
    if "p" in found:
        p = found["p"]
        return "" if p is None else f"p {p:.1e}" if p < 0.001 else f"p {p:.3f}"
    return _estimate(path, found)


def _estimate(path: str, found: dict[str, Any]) -> str:
    value, low, high = found["value"], found["low"], found["high"]
    if value is None or low is None:
        return ""
    last = path.rsplit("/", 1)[-1]
    if last == "net" or last in FURTHER:
        return f"{100 * value:+.1f} points [{100 * low:.1f}, {100 * high:.1f}]"
    if last == "raw" or path.endswith("pooled/decided"):
        return f"{100 * value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def shown_nowhere(path: str) -> bool:
    """What the page leaves to the kit."""
    parts = path.strip("/").split("/")
    if parts[-1] in FURTHER:
        return not any(group in parts for group in IN_FOREST) and "overall" not in parts
    # identical lists are told of the whole and of groups that have some
    return parts[-1] == "auto_tie" and "with_auto_ties" not in parts


def compare(document: dict[str, Any], told: str) -> int:
    """Every number of a summary on the page; how many there were."""
    missed, seen = [], 0
    for path, found in numbers(document):
        wanted = expected(path, found)
        if not wanted or shown_nowhere(path):
            continue
        seen += 1
        if wanted not in told:
            missed.append(f"{path}: {wanted}")
    assert not missed, missed[:10]
    return seen


@pytest.mark.parametrize("options", [{}, {"items": 80, "raters": ("AB", "CD"), "repeats": 0.4}])
def test_every_number_of_the_summary_stands_on_the_page(options: dict[str, Any]) -> None:
    found = analyse(made(**options), draws=100)
    shown = [texts_of(statistics_shown(Look(found, found.pairs[0], ties)))
             for ties in ("leave out", "count")]  # fmt: skip
    assert compare(json.loads(json_text(found)), "\n".join(shown)) > 300


def test_the_page_and_the_published_kit_agree(tmp_path: Path, qapp: object) -> None:
    small_study(tmp_path)
    home = Home(tmp_path / "home")
    folder = next(home.studies.glob("*/study.sqlite")).parent
    with open_study(folder) as study:
        session = study.session("AB")
        for place in range(1000):
            if session.current() is None:
                break
            session.answer(("left", "right", "both", "left")[place % 4], answer_ms=900 + place)
    unblind(folder, PASSPHRASE, "finished")
    view = view_like(StatisticsView)
    presenter = StatisticsPresenter(view, page_services(home=home))
    presenter.shown()
    view.ask_folder = lambda suggested: str(tmp_path / "kit")
    view.publish_wanted.emit("leave out", "codes")
    told = texts_of(view.last("show_statistics")[0][0])
    view.ties_chosen.emit("count")
    told += texts_of(view.last("show_statistics")[0][0])
    document = json.loads((tmp_path / "kit" / "summary.json").read_text(encoding="utf-8"))
    assert compare(document, told) > 100


@pytest.mark.parametrize("only", ["", "left", "both"])
def test_no_interval_of_the_published_bars_leaves_the_scale_at_n_3(only: str) -> None:
    from studies.preference.kit.bars import stacked_bars

    found = analyse(made(3, tasks=3, auto=0, guesses=0, repeats=0, only=only), draws=10)
    drawn = stacked_bars(found.pairs[0], study_hash="")
    lines = [line for axes in drawn.axes for line in axes.lines]
    ends = [float(end) for line in lines for end in line.get_xdata()]
    assert ends
    assert min(ends) >= -1e-6
    assert max(ends) <= 100 + 1e-6
