"""One frame that shows a picture, a volume, a text, a region crop or a mixture, all alike.

Owns the place of canvases and text inside the frame and the frame's border. The border never
changes its width, so that nothing moves; no accent colour is used, since it stands beside
pictures that are being judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from app import theme
from app.widgets.content import Content, ViewState
from app.widgets.drawn_ahead import Place
from app.widgets.image_canvas import OVERLAYS, ImageCanvas
from app.widgets.pointer_rest import PointerRest
from app.widgets.text_panel import LARGE, TextPanel

BORDER = 3
GAP = 2
MOST_PICTURES = 16
TEXT_SHARE = 0.4  # of a frame that shows pictures and text
LARGE_TEXT_SHARE = 0.55
LEAST_TEXT = 200  # a column narrower than this breaks words
WIDE = 1.35  # a frame wider than this times its height puts the text beside the pictures


@dataclass(frozen=True)
class Remark:
    """A lasting sentence at the start of a frame's head; ``warn`` draws it as a warning."""

    words: str = ""
    warn: bool = False

    @property
    def text(self) -> str:
        """With its sign."""
        return f"▲ {self.words}" if self.warn and self.words else self.words


class EvidenceFrame(QWidget):
    """A titled frame.

    Signals:
        chosen: pointer or focus came into it.
        maximise_asked: double click.
        painted: a canvas finished painting new content (not emitted for text alone).
        canvas_made: a canvas was added, so that a link can take it in.

    Args:
        title: the word in its head; empty for none.
        selectable: whether text may be selected and copied.
        measures: whether measuring tools are there.
        pointer: tells a pointer that came from one that lay there; without it all count.
    """

    chosen = Signal(object)
    maximise_asked = Signal(object)
    painted = Signal()
    canvas_made = Signal(object)

    def __init__(
        self,
        title: str = "",
        parent: QWidget | None = None,
        *,
        selectable: bool = True,
        measures: bool = True,
        pointer: PointerRest | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # else it is painted twice
        self._measures = measures
        self._pointer = pointer
        self._selected = False
        self._content = Content()
        self._overlays = OVERLAYS
        self.canvases: list[ImageCanvas] = []
        self._pointed: ImageCanvas | None = None
        self._title = QLabel(title, self)
        self._title.setProperty("role", "small")
        self.remark = Remark()
        self._remark = QLabel(self)
        self._remark.setProperty("role", "small")
        self._remark.hide()
        self.text = TextPanel(self, selectable=selectable)
        self.text.hide()
        self.text.viewport().installEventFilter(self)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(title or "Frame")

    @property
    def content(self) -> Content:
        """What is shown."""
        return self._content

    @property
    def shown_canvases(self) -> list[ImageCanvas]:
        """The canvases that hold a picture now."""
        return self.canvases[: len(self._content.pictures[:MOST_PICTURES])]

    def set_title(self, title: str, *, align: Qt.AlignmentFlag | None = None) -> None:
        """The word in the head and its side."""
        self._title.setText(title)
        self.setAccessibleName(title or "Frame")
        if align is not None:
            self._title.setAlignment(align | Qt.AlignmentFlag.AlignVCenter)
        self._arrange()

    def set_remark(self, remark: Remark) -> None:
        """What stands before the title and is never cut."""
        if remark == self.remark:
            return
        self.remark = remark
        self._remark.setText(remark.text)
        self._remark.setStyleSheet(f"color: {theme.WARN if remark.warn else theme.TEXT};")
        self._arrange()

    @property
    def remark_width(self) -> int:
        """Room of the head that the remark takes."""
        return self._remark.sizeHint().width() + theme.SPACE_M if self.remark.words else 0

    def set_overlays(self, overlays: frozenset[str]) -> None:
        """What is written over pictures; see ``ImageCanvas.set_overlays``."""
        self._overlays = overlays
        for canvas in self.canvases:
            canvas.set_overlays(overlays)

    def show_content(
        self, content: Content, *, state: ViewState | None = None, text_role: str = "reading"
    ) -> None:
        """Show ``content`` whole; pictures afresh or in ``state``."""
        self._content = content
        pictures = content.pictures[:MOST_PICTURES]
        while len(self.canvases) < len(pictures):
            self._add_canvas()
        for number, canvas in enumerate(self.canvases):
            picture = pictures[number] if number < len(pictures) else None
            canvas.set_picture(picture, state)
            canvas.setVisible(picture is not None)
        self.text.setVisible(content.text is not None)
        if content.text is not None or self.text.words:  # typesetting nothing takes its time too
            self.text.show_text(content.text or "", role=text_role)
        self._arrange()

    def clear(self) -> None:
        """Show nothing."""
        self.show_content(Content())

    def set_selected(self, selected: bool) -> None:
        """Draw the border brighter; its width stays."""
        if selected != self._selected:
            self._selected = selected
            self.update()

    def first_state(self) -> ViewState | None:
        """How the first picture is looked at, None without pictures."""
        return self.canvases[0].state if self._content.pictures else None

    def viewing(self) -> dict[str, object]:
        """How the first picture is looked at and which share of its slices was seen."""
        canvas = self.canvases[0]
        state = canvas.state
        return {
            "depth": round(state.depth, 4),
            "seen": [round(part, 4) for part in canvas.seen],
            "preset": state.preset,
            "shift": round(state.shift, 4),
            "factor": round(state.factor, 4),
            "zoom": round(state.zoom, 4),
            "inverted": state.inverted,
            "flipped": state.mirrored,
            "turned": state.degrees,
        }

    def handle_key(self, event: QKeyEvent) -> bool:
        """Pass a key to the picture, or to the text if there is none."""
        shown = self.shown_canvases
        if shown:
            # One picture acts; the others of the frame follow through the link.
            return (self._pointed if self._pointed in shown else shown[0]).handle_key(event)
        return self._content.text is not None and self.text.handle_key(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = theme.QUIET if self._selected else theme.LINE
        painter.fillRect(self.rect(), QColor(theme.PANEL))
        line = BORDER if self._selected else 1
        for edge in self._edges(line):
            painter.fillRect(edge, QColor(color))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def focusInEvent(self, event: QEvent) -> None:
        self.chosen.emit(self)

    def enterEvent(self, event: QEnterEvent) -> None:
        if self._pointer is None or self._pointer.moved_to(event.globalPosition().toPoint()):
            self.chosen.emit(self)

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """A double click on text maximises the frame as on a picture."""
        if event.type() == QEvent.Type.MouseButtonDblClick:
            self.maximise_asked.emit(self)
            return True
        return False

    def _edges(self, line: int) -> tuple[QRect, QRect, QRect, QRect]:
        width, height = self.width(), self.height()
        return (
            QRect(0, 0, width, line),
            QRect(0, height - line, width, line),
            QRect(0, 0, line, height),
            QRect(width - line, 0, line, height),
        )

    def _add_canvas(self) -> None:
        canvas = ImageCanvas(self)
        canvas.pointer = self._pointer
        canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        canvas.set_overlays(self._overlays)
        canvas.set_measuring(on=self._measures)
        canvas.chosen.connect(lambda: self._point(canvas))
        canvas.maximise_asked.connect(lambda: self.maximise_asked.emit(self))
        canvas.painted.connect(self.painted)
        self.canvases.append(canvas)
        self.canvas_made.emit(canvas)

    def _point(self, canvas: ImageCanvas) -> None:
        self._pointed = canvas
        self.chosen.emit(self)

    def room(self) -> Place:
        """Where a picture on its own is drawn."""
        head = head_height() if self._title.text() or self.remark.words else 0
        inner = self.rect().adjusted(BORDER, BORDER + head, -BORDER, -BORDER)
        return Place(inner.width(), inner.height(), self.devicePixelRatioF())

    def _arrange(self) -> None:
        inner = self.rect().adjusted(BORDER, BORDER, -BORDER, -BORDER)
        if self._title.text() or self.remark.words:
            head = head_height()
            line = QRect(inner.left(), inner.top(), inner.width(), head)
            line.adjust(theme.SPACE_S, 0, -theme.SPACE_S, 0)
            self._remark.setGeometry(line)
            self._title.setGeometry(line.adjusted(self.remark_width, 0, 0, 0))
            inner.setTop(inner.top() + head)
        self._title.setVisible(bool(self._title.text()))
        self._remark.setVisible(bool(self.remark.words))
        count = len(self.shown_canvases)
        has_text = self._content.text is not None
        pictures, text = split(inner, pictures=count > 0, text=has_text)
        self.text.setGeometry(text)
        for canvas, cell in zip(self.shown_canvases, grid(pictures, count), strict=True):
            canvas.setGeometry(cell)


def head_height() -> int:
    """Of the line with the title; large type has air enough of its own."""
    return theme.px("small") + (5 if theme.theme.scale.percent > LARGE else 9)


def split(inner: QRect, *, pictures: bool, text: bool) -> tuple[QRect, QRect]:
    """The room of pictures and of text inside a frame."""
    if not (pictures and text):
        return inner, inner
    first, second = QRect(inner), QRect(inner)
    if inner.width() > WIDE * inner.height() and inner.width() * TEXT_SHARE > LEAST_TEXT:
        share = round(inner.width() * TEXT_SHARE)
        first.setWidth(inner.width() - share - GAP)
        second.setLeft(inner.right() - share + 1)
    else:
        large = theme.theme.scale.percent > LARGE  # else large type would show a line or two
        share = round(inner.height() * (LARGE_TEXT_SHARE if large else TEXT_SHARE))
        first.setHeight(inner.height() - share - GAP)
        second.setTop(inner.bottom() - share + 1)
    return first, second


def grid(room: QRect, count: int) -> list[QRect]:
    """Cells of equal size for ``count`` pictures, in rows as even as they go: two and two, not
    three and one.
    """
    if count < 2:
        return [room] * count
    columns = math.ceil(math.sqrt(count * room.width() / max(1, room.height())))
    columns = max(1, min(count, columns))
    rows = math.ceil(count / columns)
    columns = math.ceil(count / rows)
    width = (room.width() - GAP * (columns - 1)) // columns
    height = (room.height() - GAP * (rows - 1)) // rows
    return [
        QRect(
            room.left() + (number % columns) * (width + GAP),
            room.top() + (number // columns) * (height + GAP),
            width,
            height,
        )
        for number in range(count)
    ]
