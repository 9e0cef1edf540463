"""A text to be read: report, question, answer, label. Headings kept, long ones scroll.

Owns typesetting only: a known heading stands on a line of its own wherever it is in the text, no
word is changed. The text is set as plain text: nothing in it is ever taken for markup.
"""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QKeyEvent,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from app import theme
from engine.evidence.words.sections import sections

# "FINDINGS:", "Findings:" at the start of a line, or a line all in capitals.
HEADING = re.compile(
    r"^(?P<head>[A-Z][A-Z /&()-]{2,40}:?|"
    r"(?:Findings?|Impressions?|Indication|Technique|Comparison|History|Clinical history|"
    r"Conclusion|Recommendations?|Examination|Question|Answer|Report):)(?P<rest>\s.*)?$"
)
LINE_LETTERS = 78  # a comfortable line
LINE_HEIGHT, LARGE_LINE_HEIGHT = 130, 105  # percent of the type's own
LARGE = 140  # percent: from here on room is dear, and large type needs less between its lines
_SCROLL = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -8,
    Qt.Key.Key_PageDown: 8,
    Qt.Key.Key_Home: -10_000,
    Qt.Key.Key_End: 10_000,
}


def split_heading(line: str) -> tuple[str, str]:
    """A line's heading and the rest; the heading is empty for a plain line."""
    match = HEADING.match(line.strip())
    if match is None or (match["rest"] and not match["head"].endswith(":")):
        return "", line
    return match["head"], (match["rest"] or "").strip()


def set_lines(text: str) -> tuple[tuple[str, str], ...]:
    """A text's lines as (heading, rest), cut before known headings inside a line too.

    A heading that is no more than a word on its own needs a colon or capitals: it may be an answer.
    """
    lines: list[tuple[str, str]] = []
    for part in sections(text):
        body = text[part.start : part.end]
        if part.heading.strip(" \t*_").endswith((":", "：")):
            first, _, body = body[len(part.heading) :].lstrip(" \t*_").partition("\n")
            lines.append((part.heading.strip(), first.strip()))
        lines += [split_heading(line) for line in body.strip().splitlines()]
    return tuple(lines)


class TextPanel(QTextEdit):
    """Shows one text.

    Args:
        selectable: False while rating, so that nothing reaches the clipboard.
    """

    def __init__(self, parent: QWidget | None = None, *, selectable: bool = True) -> None:
        super().__init__(parent)
        self._text = ""
        self._role = "reading"
        self._fitting = False
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet(f"QTextEdit {{ background: {theme.PANEL}; border: none; padding: 0; }}")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Text")
        if not selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        theme.theme.scaled.connect(self._set)

    @property
    def words(self) -> str:
        """The text as given."""
        return self._text

    def show_text(self, text: str, *, role: str = "reading") -> None:
        """Show ``text`` in a size of the type scale (``reading`` or ``title``), from its top."""
        self._text, self._role = text, role
        self._set()

    def handle_key(self, event: QKeyEvent) -> bool:
        """Scroll by keys; False if the key means nothing here."""
        steps = _SCROLL.get(Qt.Key(event.key()))
        bar = self.verticalScrollBar()
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if steps is None or held or self.isHidden():
            return False
        bar.setValue(bar.value() + steps * theme.px(self._role) * 2)
        return True

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _set(self) -> None:
        self.clear()
        cursor = QTextCursor(self.document())
        for number, (heading, rest) in enumerate(set_lines(self._text)):
            self._add(cursor, heading, rest, first=number == 0)
        # The panel's own cursor went along to the end; a resize would scroll to it.
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self._fit()
        self.verticalScrollBar().setValue(0)

    def _add(self, cursor: QTextCursor, heading: str, rest: str, *, first: bool) -> None:
        if heading:
            self._block(cursor, first=first, above=theme.SPACE_M)
            cursor.insertText(heading, self._face(bold=True))
            if rest:
                self._block(cursor, first=False, above=theme.SPACE_XS)
                cursor.insertText(rest, self._face(bold=False))
            return
        self._block(cursor, first=first, above=theme.SPACE_XS)
        cursor.insertText(rest, self._face(bold=False))

    def _block(self, cursor: QTextCursor, *, first: bool, above: int) -> None:
        form = QTextBlockFormat()
        form.setTopMargin(0 if first else above)
        kind = QTextBlockFormat.LineHeightTypes.ProportionalHeight
        form.setLineHeight(_line_height(), kind.value)
        if first:
            cursor.setBlockFormat(form)
        else:
            cursor.insertBlock(form)

    def _face(self, *, bold: bool) -> QTextCharFormat:
        form = QTextCharFormat()
        face = theme.font(self._role)
        face.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        form.setFont(face)
        return form

    def _fit(self) -> None:
        """Lines short enough to read, and a bar only where words would be out of sight."""
        self._fit_margins()
        if self._fitting:
            return
        self._fitting = True
        bar = self.verticalScrollBar()
        place = bar.value()
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if bar.maximum() > self._spare():
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
            bar.setValue(place)
        self._fitting = False

    def _spare(self) -> int:
        """Below the last line nothing stands: its leading and the margin may go out of sight."""
        line = QFontMetrics(theme.font(self._role)).height()
        return _margin() + round(line * (_line_height() - 100) / 100)

    def _fit_margins(self) -> None:
        """The rest of the width stays empty on both sides."""
        letter = self.fontMetrics().averageCharWidth() * theme.px(self._role) / theme.px("body")
        room = self.viewport().width()
        side = max(theme.SPACE_M, round((room - LINE_LETTERS * letter) / 2))
        frame = self.document().rootFrame()
        form = frame.frameFormat()
        if round(form.leftMargin()) == side and round(form.topMargin()) == _margin():
            return
        form.setLeftMargin(side)
        form.setRightMargin(side)
        form.setTopMargin(_margin())
        form.setBottomMargin(_margin())
        frame.setFrameFormat(form)


def _line_height() -> int:
    return LARGE_LINE_HEIGHT if theme.theme.scale.percent > LARGE else LINE_HEIGHT


def _margin() -> int:
    """Above and below the text."""
    return theme.SPACE_XS if theme.theme.scale.percent > LARGE else theme.SPACE_S
