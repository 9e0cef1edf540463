"""A heat map of task x model that is painted, scrolled and walked with the arrow keys.

Owns drawing and choosing of one cell; refuses to compute. Heads stay in place while it scrolls.
"""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip

from app.shown import HeatShown
from app.widgets.chart import font_of, shade_text
from app.widgets.ink import ink, px

# One hue from the ground to near-white: order is read from lightness alone.
RAMP = ((0.0, "#15191c"), (0.25, "#1f4a66"), (0.5, "#3680b0"), (0.75, "#86bfe4"), (1.0, "#f2f8fc"))


def ramp(value: float) -> QColor:
    """The colour of a percentage."""
    share = min(1.0, max(0.0, value / 100))
    for (low, dark), (high, light) in pairwise(RAMP):
        if share <= high:
            part = (share - low) / (high - low)
            a, b = QColor(dark), QColor(light)
            return QColor(
                *(
                    round(x + (y - x) * part)
                    for x, y in ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
                )
            )
    return QColor(RAMP[-1][1])


def two_lines(name: str, metrics: QFontMetrics, wide: int) -> str:
    """A name broken where its halves are most even (at a blank or after a hyphen) if it is too
    long, each line elided in its middle.
    """
    parts: tuple[str, ...] = (name,)
    if metrics.horizontalAdvance(name) > wide:
        breaks = [place + 1 for place, letter in enumerate(name[:-1]) if letter in " -"]
        halves = [(name[:place].rstrip(), name[place:]) for place in breaks]
        parts = min(halves, key=lambda two: max(map(metrics.horizontalAdvance, two)), default=parts)
    middle = Qt.TextElideMode.ElideMiddle
    return "\n".join(metrics.elidedText(part, middle, wide) for part in parts)


class HeatMap(QAbstractScrollArea):
    """Task x model. ``cell_chosen(task index, model index)`` on click, Enter or Space."""

    cell_chosen = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._data = HeatShown((), (), (), ())
        self._current = (-1, -1)
        self._named = 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName("Heat map of tasks and models")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)

    def show_data(self, data: HeatShown) -> None:
        """Draw other scores; the chosen cell is kept where it still exists."""
        self._data = data
        self._named = 0
        task, model = self._current
        if task >= len(data.tasks) or model >= len(data.models):
            self._current = (-1, -1)
        self.setAccessibleDescription(
            f"{len(data.tasks)} tasks, {len(data.models)} models; arrow keys move, Enter opens"
        )
        self._fit()
        self.viewport().update()

    @property
    def current(self) -> tuple[int, int]:
        """The chosen (task, model), or (-1, -1)."""
        return self._current

    def _head(self) -> int:
        return px(40)

    def _names(self) -> int:
        """Width of the names; measured once per data, for it is asked for every cell."""
        if self._named == 0:
            metrics = self.fontMetrics()
            longest = max((metrics.horizontalAdvance(name) for name in self._data.tasks), default=0)
            self._named = min(longest, px(320)) + px(74)
        return self._named

    def _lane(self) -> int:
        rows = max(1, len(self._data.tasks))
        room = (self.viewport().height() - self._head()) // rows
        return max(px(22), min(room, px(34)))

    def _wide(self) -> int:
        count = max(1, len(self._data.models))
        return max(px(92), min((self.viewport().width() - self._names()) // count, px(190)))

    def _fit(self) -> None:
        high = self._lane() * len(self._data.tasks)
        page = max(1, self.viewport().height() - self._head())
        self.verticalScrollBar().setRange(0, max(0, high - page))
        self.verticalScrollBar().setPageStep(page)
        self.verticalScrollBar().setSingleStep(self._lane())
        wide = self._wide() * len(self._data.models)
        page = max(1, self.viewport().width() - self._names())
        self.horizontalScrollBar().setRange(0, max(0, wide - page))
        self.horizontalScrollBar().setPageStep(page)
        self.horizontalScrollBar().setSingleStep(self._wide() // 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the scroll bars right."""
        super().resizeEvent(event)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """A few rows at least."""
        return QSize(px(320), px(140))

    def cell_box(self, task: int, model: int) -> QRect:
        """Where a cell lies in the viewport."""
        x = self._names() + model * self._wide() - self.horizontalScrollBar().value()
        y = self._head() + task * self._lane() - self.verticalScrollBar().value()
        return QRect(x, y, self._wide(), self._lane())

    def cell_at(self, place: QPoint) -> tuple[int, int]:
        """The (task, model) under a point, or (-1, -1)."""
        if place.x() < self._names() or place.y() < self._head():
            return -1, -1
        model = (place.x() - self._names() + self.horizontalScrollBar().value()) // self._wide()
        task = (place.y() - self._head() + self.verticalScrollBar().value()) // self._lane()
        inside = task < len(self._data.tasks) and model < len(self._data.models)
        return (task, model) if inside else (-1, -1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the cells that are seen, then the heads over them."""
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), ink("panel"))
        if self._data.tasks and self._data.models:
            self._paint_cells(painter)
            self._paint_tasks(painter)
            self._paint_models(painter)
        painter.end()

    def _seen(self) -> range:
        first = self.verticalScrollBar().value() // self._lane()
        count = self.viewport().height() // self._lane() + 2
        return range(first, min(len(self._data.tasks), first + count))

    def _paint_cells(self, painter: QPainter) -> None:
        font_of(painter, 12)
        for task in self._seen():
            for model in range(len(self._data.models)):
                box = self.cell_box(task, model).adjusted(0, 0, -2, -2)
                value = self._data.cells[task][model]
                fill = ink("raised") if value is None else ramp(value)
                painter.fillRect(box, fill)
                painter.setPen(ink("disabled") if value is None else shade_text(fill))
                text = "–" if value is None else f"{value:.1f}"
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
                if (task, model) == self._current:
                    painter.setPen(QPen(ink("accent" if self.hasFocus() else "text"), 2))
                    painter.drawRect(box.adjusted(1, 1, -1, -1))

    def _paint_tasks(self, painter: QPainter) -> None:
        names = self._names()
        area = QRect(0, 0, names - px(4), self.viewport().height())
        painter.fillRect(area, ink("panel"))
        for task in self._seen():
            box = self.cell_box(task, 0)
            self._paint_name(painter, QRectF(0, box.y(), names - px(10), box.height()), task)

    def _paint_name(self, painter: QPainter, box: QRectF, task: int) -> None:
        group = self._data.groups[task]
        if task == 0 or self._data.groups[task - 1] != group or task == self._seen().start:
            font_of(painter, 11, bold=True)
            painter.setPen(ink("quiet"))
            painter.drawText(box.adjusted(px(6), 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, group)
        metrics = font_of(painter, 12)
        painter.setPen(ink("text"))
        text = metrics.elidedText(
            self._data.tasks[task], Qt.TextElideMode.ElideMiddle, int(box.width()) - px(64)
        )
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box, right, text)

    def _paint_models(self, painter: QPainter) -> None:
        painter.fillRect(0, 0, self.viewport().width(), self._head() - 2, ink("panel"))
        metrics = font_of(painter, 11, bold=True)
        painter.setPen(ink("text"))
        for model, name in enumerate(self._data.models):
            box = self.cell_box(0, model)
            box.moveTop(0)
            box.setHeight(self._head())
            if box.left() < self._names() - px(8):
                continue
            text = two_lines(name, metrics, box.width() - px(6))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def choose(self, task: int, model: int) -> None:
        """Move to a cell and bring it into sight."""
        self._current = (task, model)
        box = self.cell_box(task, model)
        bar = self.verticalScrollBar()
        if box.top() < self._head():
            bar.setValue(bar.value() - (self._head() - box.top()))
        elif box.bottom() > self.viewport().height():
            bar.setValue(bar.value() + box.bottom() - self.viewport().height())
        across = self.horizontalScrollBar()
        if box.left() < self._names():
            across.setValue(across.value() - (self._names() - box.left()))
        elif box.right() > self.viewport().width():
            across.setValue(across.value() + box.right() - self.viewport().width())
        self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click chooses and opens a cell."""
        task, model = self.cell_at(event.position().toPoint())
        if task >= 0:
            self.choose(task, model)
            self.cell_chosen.emit(task, model)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk, Enter and Space open."""
        steps = {
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
        }
        key = Qt.Key(event.key())
        task, model = self._current
        if key in steps and self._data.tasks and self._data.models:
            down, across = steps[key]
            self.choose(
                min(max(task + down, 0), len(self._data.tasks) - 1),
                min(max(model + across, 0), len(self._data.models) - 1),
            )
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and task >= 0:
            self.cell_chosen.emit(task, model)
        else:
            super().keyPressEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """A tooltip says the whole cell in words."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            task, model = self.cell_at(event.pos())
            QToolTip.showText(event.globalPos(), self.cell_words(task, model), self.viewport())
            return True
        return super().viewportEvent(event)

    def cell_words(self, task: int, model: int) -> str:
        """A cell as one sentence; empty outside the map."""
        if task < 0:
            return ""
        if self._data.words:
            return self._data.words[task][model]
        value = self._data.cells[task][model]
        told = "not computed" if value is None else f"{value:.1f} %"
        chance = f", chance {self._data.chance[task]:.1f} %" if self._data.chance else ""
        return f"{self._data.tasks[task]} · {self._data.models[model]}: {told}{chance}"
