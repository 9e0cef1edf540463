"""Which text stands beside which picture, and how it is cut into sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.presenters.viewer_kin import report_doubt, report_of
from app.presenters.viewer_picture import PICTURES
from app.widgets.report_panel import ReportPart
from engine.evidence.study import Evidence
from engine.evidence.words.sections import sections


def text_rows(found: Sequence[Evidence]) -> list[int]:
    """Rows that hold words."""
    return [row for row, one in enumerate(found) if one.text]


def parts_of(text: str) -> tuple[ReportPart, ...]:
    """The sections of a report."""
    return tuple(ReportPart(one.name, one.heading, one.text) for one in sections(text))


class Reports:
    """Shows one report at a time.

    Args:
        view: has ``show_report(text, parts, alone=..., doubt=..., place=...)``.
    """

    def __init__(self, view: Any) -> None:
        self._view = view
        self._found: tuple[Evidence, ...] = ()
        self._row: int | None = None
        self._beside: Evidence | None = None
        self._asked = False  # for by hand: what a person chose stays

    def give(self, found: Sequence[Evidence]) -> None:
        """Other evidence; nothing is shown yet."""
        self._found, self._row, self._beside, self._asked = tuple(found), None, None, False

    def first(self, row: int | None) -> None:
        """The report of what hangs, or the only one there is."""
        if row is not None:
            self.follow(row)
        texts = text_rows(self._found)
        if self._row is None and len(texts) == 1 and not self._doubt(texts[0]):
            self._put(texts[0])

    def follow(self, row: int) -> None:
        """The report that belongs to a picture; one of somebody else goes, or says so."""
        self._beside = self._found[row]
        found = report_of(self._found, self._beside)
        if found is not None:
            self._asked = self._asked and found == self._row
            self._put(found)
        elif self._row is not None and (self._asked or not self._doubt(self._row)):
            self._put(self._row)
        elif self._row is not None:
            self._row = None
            self._view.show_report("")

    def show(self, row: int) -> None:
        """The words of a row that a person asked for, unfolded."""
        self._asked = True
        self._put(row)
        self._view.unfold_report()

    def step(self, by: int) -> None:
        """The next or the last report."""
        texts = text_rows(self._found)
        if self._row in texts and 0 <= texts.index(self._row) + by < len(texts):
            self.show(texts[texts.index(self._row) + by])

    def _doubt(self, row: int) -> str:
        return report_doubt(self._found, self._found[row], self._beside)

    def _put(self, row: int) -> None:
        """A report; alone on the page where nothing has a picture."""
        again, self._row = row == self._row, row
        texts = text_rows(self._found)
        place = (texts.index(row) + 1, len(texts))
        if not again:
            text = self._found[row].text or ""
            alone = not any(one.kind in PICTURES for one in self._found)
            self._view.show_report(text, parts_of(text), alone=alone)
        self._view.show_report_place(*place, doubt=self._doubt(row))
