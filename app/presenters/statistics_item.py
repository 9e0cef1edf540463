"""The way down on the Statistics page: the answers behind a mark, and one of them opened.

One of the presenter's two hands. Owns the list in hand and the study file held open for its
pictures; refuses nothing but a blind study, which the file itself refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.failures import sentence
from app.presenters.review_media import board_item
from app.presenters.statistics_behind import (
    FORMS,
    Row,
    answer_words,
    line_of,
    rows_behind,
    stratum_words,
)
from app.services import Services
from app.shown_statistics import Behind, OpenedShown, WingShown
from app.widgets.triptych import BoardItem
from studies.preference.analysis.tables import StudyTables
from studies.preference.kit.words import seconds_words
from studies.preference.opened import OpenedItem, comment_of, open_item
from studies.preference.study import open_study
from studies.preference.unblind import Unblinded

CONFIDENCE = {1: "low", 2: "medium", 3: "high"}


class ItemDesk:
    """Lists answers and opens one.

    Args:
        view: the page.
        services: the program's objects.
    """

    def __init__(self, view: Any, services: Services) -> None:
        self.view = view
        self.services = services
        self._rows: tuple[Row, ...] = ()
        self._title = ""
        self._at = -1
        self._level = "numbers"
        self._unblinded: Unblinded | None = None
        self._models: Mapping[str, str] = {}
        view.answer_wanted.connect(self._open)
        view.step_wanted.connect(self._step)
        view.up_wanted.connect(self._up)

    def list_behind(
        self,
        unblinded: Unblinded,
        tables: StudyTables,
        wanted: Behind,
        *,
        pair: tuple[str, str],
        rater: str | None,
    ) -> None:
        """List the answers of a mark."""
        self._unblinded, self._models = unblinded, tables.models
        self._rows = rows_behind(tables, wanted, pair=pair, rater=rater)
        self._title, self._at, self._level = wanted.title, 0, "list"
        self.view.show_answers(wanted.title, [line_of(row, self._models) for row in self._rows])

    def close(self) -> None:
        """Forget the list."""
        self._rows, self._unblinded, self._level = (), None, "numbers"

    def _up(self) -> None:
        if self._level == "item":
            self._level = "list"
            self.view.show_list(self._at)
        elif self._level == "list":
            self._level = "numbers"
            self.view.show_sheets()

    def _step(self, step: int) -> None:
        if 0 <= self._at + step < len(self._rows):
            self._open(self._at + step)

    def _open(self, place: int) -> None:
        unblinded = self._unblinded
        if unblinded is None or not 0 <= place < len(self._rows):
            return
        self._at = place
        row, models = self._rows[place], self._models
        of = f"{place + 1} of {len(self._rows)}: {self._title}"
        if self._level != "item":
            self._level = "item"
            self.view.show_opening(title_of(row))
        self.services.tasks.run(
            self,
            lambda: (place, *opened(unblinded, row, models, of)),
            self._opened,
            self._not_opened,
        )

    def _opened(self, found: tuple[int, OpenedShown, BoardItem]) -> None:
        place, shown, item = found
        if self._level == "item" and place == self._at:
            self.view.show_item(shown, item)

    def _not_opened(self, error: Exception) -> None:
        if self._level == "item":
            self.view.show_item_problem(title_of(self._rows[self._at]), sentence(error))


def title_of(row: Row) -> str:
    """An item by its number and task."""
    return f"Item {row.number}, {row.item.task_id or 'no task'}"


def opened(
    unblinded: Unblinded, row: Row, models: Mapping[str, str], of: str
) -> tuple[OpenedShown, BoardItem]:
    """Decode an item with everything that was hidden."""
    path: Path = unblinded.info.path
    comment = "" if row.row is None else comment_of(unblinded, row.row)
    with open_study(path) as study:
        found = open_item(study, row.item, row.row, comment=comment)
        board = board_item(found.presentation, study.media)
    return opened_shown(row, found, models, of), board


def opened_shown(row: Row, found: OpenedItem, models: Mapping[str, str], of: str) -> OpenedShown:
    """What stands around the board."""
    answer = "" if row.row is None else row.row.answer
    wings = [
        WingShown(
            models.get(letter, letter),
            "first" if letter == row.item.first else "second",
            gold_words(place, known=row.item.stratum != "unknown"),
            place,
            chosen=answer == side,
        )
        for side, letter, place in (
            ("left", found.left, found.gold_left),
            ("right", found.right, found.gold_right),
        )
    ]
    return OpenedShown(title_of(row), of, wings[0], wings[1], facts_of(row, models), found.comment)


def gold_words(place: int | None, *, known: bool) -> str:
    """Where the right answer stands in a list."""
    if not known:
        return "No right answer is known"
    if place is None:
        return "The right answer is not among the three"
    return f"✓ The right answer is number {place}"


def facts_of(row: Row, models: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Answer, time and the rest, as (name, words)."""
    told = [
        ("Answer", answer_words(row, models) or "none"),
        ("Top answers", stratum_words(row.item, models)),
        ("Form", FORMS.get(row.item.form, row.item.form)),
        ("Family", row.item.family or "none"),
    ]
    shown = row.row
    if shown is None:
        return tuple(told)
    told += [("Rater", shown.rater), ("Time", seconds_words(shown.answer_ms))]
    if row.own_number is not None:
        told.append(("Read as", f"item {row.own_number}"))
    if shown.confidence is not None:
        told.append(("Confidence", CONFIDENCE.get(shown.confidence, str(shown.confidence))))
    if shown.usefulness:
        said = ", ".join(f"{place} {grade}" for place, grade in sorted(shown.usefulness.items()))
        told.append(("Usefulness", said))
    if shown.revisions:
        told.append(("Changed", f"{shown.revisions} times" if shown.revisions > 1 else "once"))
    if shown.answered_utc:
        told.append(("Answered", shown.answered_utc[:16].replace("T", " ") + " UTC"))
    return tuple(told)
