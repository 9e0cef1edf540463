"""The strip of series beside the viewer: a small picture, what it is, what to know of it.

Owns painting and dragging; the presenter says which rows are on show. Refuses to decode.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app import theme
from app.widgets.chart import font_of
from app.widgets.ink import ink, px
from app.widgets.thumbnail_grid import draw_fitted, to_image

SIDE = 64
WIDTH, MOST = 236, 300  # large text must not take the pictures' room
SYMBOLS = {"report": "study", "document": "study", "other": "info", "error": "error"}
WRAPPED = 0.85  # how much of a line is filled where words wrap
MIME = "application/x-triptych-series"
ROW, IMAGE, ON_SHOW = (int(Qt.ItemDataRole.UserRole) + number for number in (1, 2, 3))
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class SeriesRow:
    """One object found.

    Attributes:
        title: what it is, for example ``CT, axial, 64 slices``.
        detail: its file or folder name.
        kind: ``image``, ``volume``, ``cine``, ``report``, ``document``, ``other`` or ``error``.
        problem: why it cannot be shown, empty otherwise.
        facts: which series, how many slices, its kernel or echo.
        warning: what to know before it leaves the house, empty otherwise.
        technique: how it was taken, in the tooltip only.
    """

    title: str
    detail: str
    kind: str
    problem: str = ""
    facts: str = ""
    warning: str = ""
    technique: str = ""

    @property
    def words(self) -> str:
        """Everything, for a screen reader and the tooltip."""
        parts = (self.title, self.facts, self.detail, self.technique, self.problem, self.warning)
        return "\n".join(part for part in parts if part)


class _Delegate(QStyledItemDelegate):
    """One row: picture left, two or three lines of words right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, max(SIDE, px(58)) + 10)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        style: Any = option
        row: SeriesRow = index.data(ROW)
        painter.save()
        box = style.rect.adjusted(0, 0, 0, -1)
        chosen = bool(style.state & QStyle.StateFlag.State_Selected)
        painter.fillRect(box, ink("raised" if chosen else "panel"))
        if index.data(ON_SHOW):
            painter.fillRect(QRect(box.left(), box.top(), 3, box.height()), ink("quiet"))
        picture = QRect(box.left() + 7, box.top() + 5, SIDE, SIDE)
        painter.fillRect(picture, ink("picture"))
        self._picture(painter, picture, row, index.data(IMAGE))
        words = QRect(picture.right() + 8, box.top() + 4, 0, box.height() - 8)
        words.setRight(box.right() - 4)
        self._words(painter, words, row)
        if style.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(ink("accent"))
            painter.drawRect(box.adjusted(0, 0, -1, -1))
        painter.restore()

    def _picture(self, painter: QPainter, box: QRect, row: SeriesRow, image: Any) -> None:
        if image is not None:
            draw_fitted(painter, box, image)
            return
        name = SYMBOLS.get(row.kind)
        if name is not None or row.problem:
            color = theme.ERROR if row.problem else theme.QUIET
            made = theme.pixmap("error" if row.problem else str(name), color, size=24)
            painter.drawPixmap(box.center().x() - 11, box.center().y() - 11, made)

    def _words(self, painter: QPainter, box: QRect, row: SeriesRow) -> None:
        lines = [(row.title, 13, "text"), (row.facts, 11, "quiet"), (row.detail, 11, "quiet")]
        if row.warning and not row.problem:
            lines.append((f"▲ {row.warning}", 11, "warn"))
        top = box.top()
        for words, size, color in (line for line in lines if line[0]):
            metrics = font_of(painter, size)
            painter.setPen(ink(color))
            side = Qt.TextElideMode.ElideMiddle if words == row.detail else _RIGHT
            line = QRect(box.left(), top, box.width(), metrics.height())
            painter.drawText(line, int(_MIDDLE), metrics.elidedText(words, side, box.width()))
            top += metrics.height() + 1
        if row.problem:
            self._problem(painter, QRect(box.left(), top, box.width(), box.bottom() - top), row)

    def _problem(self, painter: QPainter, box: QRect, row: SeriesRow) -> None:
        """As many whole lines as there is room for; the tooltip and the frame say all of it."""
        metrics = font_of(painter, 11)
        painter.setPen(ink("error"))
        lines = max(1, box.height() // metrics.lineSpacing())
        words = f"✕ {row.problem}"
        if metrics.horizontalAdvance(words) > lines * box.width() * WRAPPED:
            words = metrics.elidedText(words, _RIGHT, round(lines * box.width() * WRAPPED))
        room = QRect(box.left(), box.top(), box.width(), lines * metrics.lineSpacing())
        painter.drawText(room, int(Qt.TextFlag.TextWordWrap), words)


_RIGHT = Qt.TextElideMode.ElideRight
_MIDDLE = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


WALKING = frozenset(
    {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp,
     Qt.Key.Key_PageDown, Qt.Key.Key_Return, Qt.Key.Key_Enter}
)  # fmt: skip
_PAD = Qt.KeyboardModifier.KeypadModifier


class SeriesStrip(QListWidget):
    """Lists what was opened; emits which one is wanted; rows can be dragged onto a frame."""

    opened = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._on_show: frozenset[int] = frozenset()
        self.setAccessibleName("Series")
        self.setItemDelegate(_Delegate(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setDragEnabled(True)
        self.setDragDropMode(QListWidget.DragDropMode.DragOnly)
        self.itemActivated.connect(lambda item: self.opened.emit(self.row(item)))
        self.itemClicked.connect(lambda item: self.opened.emit(self.row(item)))
        theme.theme.scaled.connect(self._fit)
        self._fit()

    def show_rows(self, rows: Sequence[SeriesRow]) -> None:
        """Put these rows up, without pictures yet."""
        self.clear()
        self._on_show = frozenset()
        for row in rows:
            item = QListWidgetItem(row.words)
            item.setData(ROW, row)
            item.setToolTip(row.words)
            self.addItem(item)

    def show_thumbnail(self, row: int, values: NDArray[np.uint8]) -> None:
        """A small picture for one row, [H, W, 3]."""
        item = self.item(row)
        if item is not None:
            item.setData(IMAGE, to_image(values))

    def show_problem(self, row: int, problem: str) -> None:
        """Why a row cannot be shown, known only once it was decoded."""
        item = self.item(row)
        if item is not None:
            told = replace(item.data(ROW), problem=problem)
            item.setData(ROW, told)
            item.setText(told.words)
            item.setToolTip(told.words)

    def mark(self, rows: Iterable[int], chosen: int | None) -> None:
        """Say which rows are on show, and which of them is in the chosen frame."""
        on_show = frozenset(rows)
        for number in on_show ^ self._on_show:
            item = self.item(number)
            if item is not None:
                item.setData(ON_SHOW, number in on_show)
        self._on_show = on_show
        if chosen is not None and self.currentRow() != chosen:
            self.setCurrentRow(chosen)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Only what walks and opens; every other key is one of the page's commands."""
        if event.key() in WALKING and not event.modifiers() & ~_PAD:
            super().keyPressEvent(event)
        else:
            event.ignore()

    def mimeTypes(self) -> list[str]:
        """Rows only; never a file's name."""
        return [MIME]

    def mimeData(self, items: Sequence[QListWidgetItem]) -> QMimeData:
        """The dragged row."""
        made = QMimeData()
        made.setData(MIME, str(self.row(items[0])).encode("ascii"))
        return made

    def _fit(self) -> None:
        self.setFixedWidth(min(px(WIDTH), MOST))
        self.doItemsLayout()


def dragged_row(data: QMimeData) -> int | None:
    """The row of the strip that is dragged, None for anything else."""
    if not data.hasFormat(MIME):
        return None
    words = bytes(data.data(MIME).data()).decode("ascii", errors="replace")
    return int(words) if words.isdecimal() else None
