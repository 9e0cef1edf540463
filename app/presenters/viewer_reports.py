"""Which text belongs to which picture, and how a text is cut into sections. Plain functions."""

from __future__ import annotations

from collections.abc import Sequence

from app.widgets.report_panel import ReportPart
from engine.evidence.sections import sections
from engine.evidence.study import Evidence


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
