"""A painted chart whose marks can be pointed at, reached by keys, and opened.

Owns pointing, focus, tooltips and what a screen reader hears; a chart below it owns the drawing.
Arrow keys walk from mark to mark, Enter or a click opens what stands behind one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app import theme
from app.shown_statistics import Behind
from app.widgets.ink import ink, px

OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


@dataclass(frozen=True)
class Mark:
    """Something of a chart that means something.

    Attributes:
        box: where it is.
        words: what it says, with n, interval and definition.
        behind: the answers it counts, None where there are none to list.
        row: marks of one row lie side by side.
    """

    box: QRectF
    words: str
    behind: Behind | None = None
    row: int = 0


class MarkedChart(QWidget):
    """A chart with marks; a subclass lays them out and draws.

    Signals:
        opened: the ``Behind`` of a mark.
        pointed: the words of the mark under pointer or focus, empty for none.

    Args:
        name: what is shown, for a screen reader.
    """

    opened = Signal(object)
    pointed = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._marks: list[Mark] = []
        self._at = -1  # under the keys
        self._under = -1  # under the pointer
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.theme.scaled.connect(self.refit)

    # what a chart below says

    def wanted_height(self) -> int:
        """Room in which everything can be read, at the text scale in force."""
        raise NotImplementedError

    def lay_out(self) -> list[Mark]:
        """Where every mark is, in reading order."""
        raise NotImplementedError

    def draw(self, painter: QPainter) -> None:
        """Paint everything but focus and pointer."""
        raise NotImplementedError

    # what a view may ask

    @property
    def marks(self) -> Sequence[Mark]:
        """Every mark in reading order."""
        return tuple(self._marks)

    def refit(self) -> None:
        """Lay out again: other data, another text scale."""
        self.setMinimumHeight(self.wanted_height())
        self._marks = self.lay_out()
        self.setAccessibleDescription(". ".join(mark.words for mark in self._marks))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(560), self.wanted_height())

    # events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._marks = self.lay_out()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw(painter)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if 0 <= self._under < len(self._marks):
            painter.setPen(QPen(ink("text"), 1))
            painter.drawRect(self._marks[self._under].box.adjusted(-1, -1, 1, 1))
        if self.hasFocus() and 0 <= self._at < len(self._marks):
            painter.setPen(QPen(ink("accent"), 2))
            painter.drawRoundedRect(self._marks[self._at].box.adjusted(-2, -2, 2, 2), 2, 2)
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in OPENING and 0 <= self._at < len(self._marks):
            self._open(self._at)
        elif key == Qt.Key.Key_Home:
            self.walk_to(0)
        elif key == Qt.Key.Key_End:
            self.walk_to(len(self._marks) - 1)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.walk_to(self._at + (1 if key == Qt.Key.Key_Right else -1))
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._walk_rows(1 if key == Qt.Key.Key_Down else -1)
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        backwards = event.reason() == Qt.FocusReason.BacktabFocusReason
        if self._at < 0 and event.reason() != Qt.FocusReason.MouseFocusReason:
            self._at = len(self._marks) - 1 if backwards else 0
        self._say(self._at)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._say(-1)
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        under = self.mark_at(event.position())
        if under == self._under:
            return
        self._under = under
        opens = under >= 0 and self._marks[under].behind is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if opens else Qt.CursorShape.ArrowCursor)
        self._say(under)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._under = -1
        self._say(self._at if self.hasFocus() else -1)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        at = self.mark_at(event.position())
        if at >= 0:
            self._at = at
            self._open(at)

    def event(self, event: QEvent) -> bool:
        """Say what is under the pointer in a tooltip."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = self.mark_at(QPointF(event.pos()))
            if at >= 0:
                box = self._marks[at].box.toAlignedRect()
                QToolTip.showText(event.globalPos(), self._marks[at].words, self, box)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    # steps

    def mark_at(self, point: QPointF) -> int:
        """The mark under a point, the smallest of several; -1 for none."""
        hit = [n for n, mark in enumerate(self._marks) if mark.box.contains(point)]
        size = {n: self._marks[n].box.width() * self._marks[n].box.height() for n in hit}
        return min(hit, key=size.__getitem__, default=-1)

    def walk_to(self, at: int) -> None:
        """Put the focus on a mark; the ends hold."""
        if self._marks:
            self._at = min(max(0, at), len(self._marks) - 1)
            self._say(self._at)
            self.update()

    def _walk_rows(self, step: int) -> None:
        if not self._marks:
            return
        here = self._marks[max(0, self._at)]
        rows = sorted({mark.row for mark in self._marks})
        place = rows.index(here.row) + step
        if not 0 <= place < len(rows):
            return
        middle = here.box.center().x()
        in_row = [n for n, mark in enumerate(self._marks) if mark.row == rows[place]]
        self.walk_to(min(in_row, key=lambda n: abs(self._marks[n].box.center().x() - middle)))

    def _open(self, at: int) -> None:
        behind = self._marks[at].behind
        if behind is not None:
            self.opened.emit(behind)

    def _say(self, at: int) -> None:
        words = self._marks[at].words if 0 <= at < len(self._marks) else ""
        if words and self.hasFocus():
            self.setAccessibleDescription(words)
            told = QAccessibleEvent(self, QAccessible.Event.DescriptionChanged)
            QAccessible.updateAccessibility(told)
        self.pointed.emit(words)
