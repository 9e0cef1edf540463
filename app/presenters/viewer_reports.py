"""Which text stands beside which picture, and how it is cut into sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.presenters.viewer_picture import PICTURES
from app.widgets.report_panel import ReportPart
from engine.evidence.study import Evidence
from engine.evidence.words.sections import sections


def text_rows(found: Sequence[Evidence]) -> list[int]:
    """Rows that hold words."""
    return [row for row, one in enumerate(found) if one.text]


def report_of(found: Sequence[Evidence], evidence: Evidence) -> int | None:
    """The row of the text that belongs to a picture: of its study, else alone in its folder."""
    texts = text_rows(found)
    for row in texts:
        if evidence.study is not None and found[row].study == evidence.study:
            return row
    place = evidence.members[0].parent
    near = [row for row in texts if found[row].members[0].parent == place]
    return near[0] if len(near) == 1 else None


def parts_of(text: str) -> tuple[ReportPart, ...]:
    """The sections of a report."""
    return tuple(ReportPart(one.name, one.heading, one.text) for one in sections(text))


class Reports:
    """Shows one report at a time.

    Args:
        view: has ``show_report(text, parts, alone=...)``.
    """

    def __init__(self, view: Any) -> None:
        self._view = view
        self._found: tuple[Evidence, ...] = ()
        self._row: int | None = None

    def give(self, found: Sequence[Evidence]) -> None:
        """Other evidence; nothing is shown yet."""
        self._found, self._row = tuple(found), None

    def first(self, row: int | None) -> None:
        """The report of what hangs, or the only one there is."""
        found = None if row is None else report_of(self._found, self._found[row])
        texts = text_rows(self._found)
        if found is None and len(texts) == 1:
            found = texts[0]
        if found is not None:
            self.show(found)

    def follow(self, row: int) -> None:
        """The report that belongs to a picture; the one on show stays if none does."""
        found = report_of(self._found, self._found[row])
        if found is not None:
            self.show(found)

    def show(self, row: int) -> None:
        """The words of a row; alone on the page where nothing has a picture."""
        if row == self._row:
            return
        self._row = row
        text = self._found[row].text or ""
        alone = not any(one.kind in PICTURES for one in self._found)
        self._view.show_report(text, parts_of(text), alone=alone)
