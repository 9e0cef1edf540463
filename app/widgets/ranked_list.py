"""A ranking as a list: rank, thumbnail, words, score; and lines between two rankings.

Owns painting; refuses to rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.shown import RankedShown
from app.tables.ranked import IMAGE, ROW, RankedModel
from app.tables.rows import Index
from app.widgets.chart import font_of
from app.widgets.ink import hold, ink, px, series
from app.widgets.thumbnail_grid import draw_fitted


class RankedDelegate(QStyledItemDelegate):
    """Paints one line of a ranking."""

    def __init__(self, parent: QWidget, lane: int) -> None:
        super().__init__(parent)
        self.lane = lane

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One height for every line."""
        return QSize(px(160), self.lane)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the line; the right one has a mark and a word."""
        style: Any = option
        row: RankedShown = index.data(ROW)
        box = style.rect.adjusted(0, 1, -1, -1)
        chosen = bool(style.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.fillRect(box, ink("raised" if chosen else "panel"))
        font_of(painter, 15)
        painter.setPen(ink("quiet"))
        painter.drawText(
            QRect(box.left(), box.top(), px(34), box.height()),
            int(Qt.AlignmentFlag.AlignCenter),
            str(row.rank),
        )
        side = box.height() - px(6)
        left = box.left() + px(36)
        if row.picture:
            picture = QRect(left, box.top() + px(3), side, side)
            self._picture(painter, picture, index.data(IMAGE))
            left += side + px(8)
        self._words(painter, QRect(left, box.top(), box.right() - left - px(6), box.height()), row)
        if row.gold:
            painter.fillRect(QRect(box.left(), box.top(), px(3), box.height()), ink("good"))
        if chosen:
            painter.setPen(QPen(ink("accent"), 1.5))
            painter.drawRect(box.adjusted(0, 0, -1, -1))
        painter.restore()

    def _picture(self, painter: QPainter, box: QRect, image: Any) -> None:
        painter.fillRect(box, ink("picture"))
        if isinstance(image, QImage) and not image.isNull():
            draw_fitted(painter, box, image)

    def _words(self, painter: QPainter, box: QRect, row: RankedShown) -> None:
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        score = "" if row.score is None else f"{row.score:.3f}"
        metrics = font_of(painter, 13)
        wide = metrics.horizontalAdvance("0.000") + px(12) if score else 0
        room = box.width() - wide
        low = bool(row.detail or row.gold)
        upper = QRect(
            box.left(),
            box.top() + (box.height() // 2 - px(19) if low else 0),
            room,
            px(19) if low else box.height(),
        )
        painter.setPen(ink("text"))
        painter.drawText(
            upper, middle, metrics.elidedText(row.title, Qt.TextElideMode.ElideRight, room)
        )
        painter.drawText(
            QRect(box.right() - wide, box.top(), wide, box.height()),
            middle | int(Qt.AlignmentFlag.AlignRight),
            score,
        )
        lower = QRect(box.left(), box.top() + box.height() // 2, room, px(17))
        metrics = font_of(painter, 11)
        if row.gold:
            painter.setPen(ink("good"))
            painter.drawText(lower, middle, "✓ the right one")
            lower.setLeft(lower.left() + metrics.horizontalAdvance("✓ the right one") + px(10))
        painter.setPen(ink("quiet"))
        painter.drawText(
            lower,
            middle,
            metrics.elidedText(row.detail, Qt.TextElideMode.ElideRight, lower.width()),
        )


class RankedList(QListView):
    """A ranking; ``chosen(key)`` as the choice moves, ``opened(key)`` on click or Enter."""

    chosen = Signal(str)
    opened = Signal(str)

    def __init__(self, name: str, *, lane: int = 56, whole: bool = False) -> None:
        super().__init__()
        self._whole = whole
        self._lane = px(lane)
        self.rows = RankedModel()
        self.setModel(self.rows)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setItemDelegate(RankedDelegate(self, self._lane))
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if whole:
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.selectionModel().currentChanged.connect(self._moved)
        self.activated.connect(self._opened)

    @property
    def lane(self) -> int:
        """The height of a line in pixels."""
        return self._lane

    def show_rows(self, rows: Sequence[RankedShown]) -> None:
        """Show another ranking."""
        self.rows.set_rows(rows)
        if self._whole:
            self.setFixedHeight(self._lane * max(1, len(rows)) + 2)

    def _moved(self, index: QModelIndex) -> None:
        if (row := index.data(ROW)) is not None:
            self.chosen.emit(row.key)

    def _opened(self, index: QModelIndex) -> None:
        if (row := index.data(ROW)) is not None:
            self.opened.emit(row.key)


class RankShift(QWidget):
    """Lines from an object's place in the left ranking to its place in the right one.

    An object in one ranking only ends in a stub; a rise and a fall differ by colour and by dash.
    """

    def __init__(self) -> None:
        super().__init__()
        self._left: tuple[str, ...] = ()
        self._right: tuple[str, ...] = ()
        self._lane = px(56)
        self._held = ""
        hold(self.setFixedWidth, 96)
        self.setAccessibleName("Shifts of rank between the two models")

    def show_ranks(self, left: Sequence[str], right: Sequence[str], lane: int) -> None:
        """Draw the lines between two rankings of keys."""
        self._left, self._right, self._lane = tuple(left), tuple(right), lane
        shared = len(set(left) & set(right))
        self.setAccessibleDescription(f"{shared} objects are in both rankings")
        self.update()

    def hold(self, key: str) -> None:
        """Draw one object's line stronger."""
        self._held = key
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw every line."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for place, key in enumerate(self._left):
            if key in self._right:
                self._line(painter, place, self._right.index(key), key)
            else:
                self._stub(painter, place, 0, px(14))
        for place, key in enumerate(self._right):
            if key not in self._left:
                self._stub(painter, place, self.width() - px(14), self.width())
        painter.end()

    def _y(self, place: int) -> float:
        return place * self._lane + self._lane / 2

    def _line(self, painter: QPainter, left: int, right: int, key: str) -> None:
        strong = key == self._held
        colour = ink("quiet") if left == right else series(0 if right < left else 1)
        dash = Qt.PenStyle.DashLine if right > left else Qt.PenStyle.SolidLine
        painter.setPen(QPen(colour, 3 if strong else 1.5, dash))
        path = QPainterPath(QPointF(px(3), self._y(left)))
        middle = self.width() / 2
        path.cubicTo(
            QPointF(middle, self._y(left)),
            QPointF(middle, self._y(right)),
            QPointF(self.width() - px(3), self._y(right)),
        )
        painter.drawPath(path)

    def _stub(self, painter: QPainter, place: int, start: int, end: int) -> None:
        painter.setPen(QPen(ink("disabled"), 1.5, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(start, self._y(place)), QPointF(end, self._y(place)))
