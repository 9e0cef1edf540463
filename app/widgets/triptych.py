"""The board of the Review page: query in the middle, three candidates in each wing.

Owns the seven frames with their link, choice, flip and enlarging, and when a new item counts as
painted. Both wings are made by the same code and painted in the same frame; no ornament, colour
or word favours a side. Decides nothing about answers.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QColor,
    QCursor,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QWidget

from app import theme
from app.widgets import board_view, drawn_ahead
from app.widgets.board_geometry import (
    GUTTER,
    MARGIN,
    OUTLINE,
    ROWS,
    geometry,
    mirrored,
    wing_width,
)
from app.widgets.content import Content
from app.widgets.drawn_ahead import Place
from app.widgets.evidence_frame import EvidenceFrame
from app.widgets.image_canvas import ImageCanvas
from app.widgets.pointer_rest import PointerRest
from app.widgets.prompt_panel import PromptPanel
from app.widgets.text_panel import TextPanel
from app.widgets.view_link import ViewLink

__all__ = [
    "GUTTER", "MARGIN", "NAMES", "ROWS", "BoardItem", "TriptychBoard", "draw_ahead", "geometry",
    "mirrored",
    "wing_width",
]  # fmt: skip

NAMES = ("query", "left1", "left2", "left3", "right1", "right2", "right3")
# The window's numbers appear once they are changed: nothing stands before the pictures unasked.
SHOWN = frozenset({"letters", "slice", "bar", "zoom", "changed window", "badges"})


@dataclass(frozen=True, eq=False)
class BoardItem:
    """One presentation, decoded: what the board shows at once.

    Attributes:
        query, left, right: contents; three in each wing.
        prompt: the task in the reader's words.
        text_role: size of the candidates' text, one for all six.
    """

    query: Content
    left: tuple[Content, ...]
    right: tuple[Content, ...]
    prompt: str
    text_role: str = "reading"


def draw_ahead(item: BoardItem, rooms: Sequence[Place]) -> None:
    """Draw a decoded item before it is shown, on any thread; both wings alike or not at all."""
    if len(rooms) == len(NAMES):
        beside = bool(item.query.pictures)  # then its text stands in the prompt
        query = Content(item.query.pictures) if beside else item.query
        drawn_ahead.draw((query,), rooms[:1])
        drawn_ahead.draw((*item.left, *item.right), rooms[1:])


class TriptychBoard(QWidget):
    """Seven frames and the prompt.

    Signals:
        revealed: a new item has been painted, every picture of it.
        selected_changed: another frame is chosen: its name out of ``NAMES``, or empty.
    """

    revealed = Signal()
    selected_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.link = ViewLink(self)
        self._pointer = PointerRest()
        self.query = self._frame("QUERY", Qt.AlignmentFlag.AlignHCenter)
        self.left = self._wing("LEFT", Qt.AlignmentFlag.AlignLeft)
        self.right = self._wing("RIGHT", Qt.AlignmentFlag.AlignRight)
        self.prompt = PromptPanel(self)
        self.large = self._frame("", Qt.AlignmentFlag.AlignHCenter)
        self.large.hide()
        self._titles = {frame: frame.accessibleName() for frame in self.frames}
        self._item: BoardItem | None = None
        self._selected: EvidenceFrame | None = None
        self._enlarged: EvidenceFrame | None = None
        self._flipped: EvidenceFrame | None = None
        self._marked: tuple[str, ...] = ()
        self._awaited: set[ImageCanvas | TriptychBoard] = set()
        frames = [*self.left, self.query, *self.right]
        for before, after in itertools.pairwise(frames):
            QWidget.setTabOrder(before, after)

    @property
    def frames(self) -> tuple[EvidenceFrame, ...]:
        """Query, then left, then right; in the order of ``NAMES``."""
        return (self.query, *self.left, *self.right)

    @property
    def selected(self) -> EvidenceFrame | None:
        """The frame the pointer, a press, a key or the focus came to last."""
        return self._selected

    @property
    def selected_name(self) -> str:
        """Its name, empty if none is chosen."""
        return "" if self._selected is None else self.name_of(self._selected)

    @property
    def enlarged(self) -> bool:
        """True while one frame covers the board."""
        return self._enlarged is not None

    @property
    def enlarged_name(self) -> str:
        """Which one, empty if none."""
        return "" if self._enlarged is None else self.name_of(self._enlarged)

    def name_of(self, frame: EvidenceFrame) -> str:
        """A frame's name out of ``NAMES``."""
        return NAMES[self.frames.index(frame)]

    def frame_of(self, name: str) -> EvidenceFrame | None:
        """The frame of a name, None for another word."""
        return self.frames[NAMES.index(name)] if name in NAMES else None

    def show_item(self, item: BoardItem, *, view: Mapping[str, Any] | None = None) -> None:
        """Put a whole item on the board; it appears in one frame, and no frame of it is chosen.

        Args:
            item: what is shown.
            view: how it was looked at when reading stopped, as ``looking`` gave it.
        """
        self.setUpdatesEnabled(False)
        self.shrink()
        self._pointer.note()
        self._flipped, self._item = None, item
        self._marked = ()
        self.show_notes({})
        apart = bool(item.query.pictures) and item.query.text is not None
        self.query.show_content(Content(item.query.pictures) if apart else item.query)
        self.prompt.show_prompt(item.prompt, item.query.text if apart else None)
        for frame, content in zip(
            (*self.left, *self.right), (*item.left, *item.right), strict=True
        ):
            frame.show_content(content, text_role=item.text_role)
        self.select(None)  # the choice in the item before marks no side of this one
        board_view.look_as(self, view or {})
        shown = (canvas for frame in self.frames for canvas in frame.shown_canvases)
        self._awaited = {self, *shown}
        self.setUpdatesEnabled(True)
        self.update()

    def rooms(self) -> tuple[Place, ...]:
        """Of the seven frames in the order of ``NAMES``; for ``draw_ahead``."""
        return tuple(frame.room() for frame in self.frames)

    def clear(self) -> None:
        """Show nothing."""
        self.shrink()
        self._item = None
        self._awaited = set()
        for frame in self.frames:
            frame.clear()
        self.show_notes({})
        self.prompt.show_prompt("", None)

    def show_notes(self, notes: Mapping[str, str]) -> None:
        """What the reader said of a candidate, behind its title; by name out of ``NAMES``."""
        for name, frame in zip(NAMES, self.frames, strict=True):
            said = notes.get(name, "")
            title = f"{self._titles[frame]}   {said}" if said else self._titles[frame]
            if frame.accessibleName() != title:
                frame.set_title(title)
        if self._enlarged is not None:
            self.large.set_title(self._enlarged.accessibleName())

    def mark(self, wings: Sequence[str]) -> None:
        """Thicken the outline of ``left``, ``right``, both or none."""
        self._marked = tuple(wings)
        self.update()

    def flip(self) -> None:
        """Show the chosen candidate in the query's place, in the same geometry.

        While a candidate is enlarged the query takes its place there instead.
        """
        frame = self._enlarged or self._selected
        if self._flipped or self._item is None or frame is None or frame is self.query:
            return
        shown, put = (self.query, self.large) if self.enlarged else (frame, self.query)
        self._flipped = put
        self._kept = (put.content, put.first_state(), put.accessibleName())
        put.set_title(shown.accessibleName())
        put.show_content(shown.content, state=put.first_state() or shown.first_state(),
                         text_role=self._role_of(shown))  # fmt: skip

    def flip_back(self) -> None:
        """Show again what was there, looked at as the other was if they are linked."""
        put, self._flipped = self._flipped, None
        if put is None:
            return
        content, state, title = self._kept
        if self.link.on:
            state = put.first_state() or state
        put.set_title(title)
        role = self._role_of(self._enlarged if put is self.large else self.query)
        put.show_content(content, state=state, text_role=role)

    def enlarge(self, frame: EvidenceFrame | None = None) -> None:
        """Let a frame (or the chosen one, or that under the pointer) cover the board.

        Again shrinks it; with none of the three nothing happens.
        """
        frame = frame or self._selected or self._under_pointer()
        if self._enlarged is not None:
            self.shrink()
            return
        if frame is None or self._item is None:
            return
        self._pointer.note()
        self._enlarged = frame
        self.large.set_title(frame.accessibleName())
        self.large.show_content(
            frame.content, state=frame.first_state(), text_role=self._role_of(frame)
        )
        self.large.setGeometry(self.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN))
        self.large.raise_()
        self.large.show()

    def _under_pointer(self) -> EvidenceFrame | None:
        """The frame over which the pointer rests; it need not have moved since it appeared."""
        place = self.mapFromGlobal(QCursor.pos())
        over = (frame for frame in self.frames if frame.geometry().contains(place))
        return next(over, None) if self.rect().contains(place) and self.isVisible() else None

    def shrink(self) -> None:
        """Return from the enlarged frame, keeping how it was looked at."""
        self.flip_back()
        if self._enlarged is None:
            return
        pairs = zip(self._enlarged.shown_canvases, self.large.shown_canvases, strict=True)
        for canvas, large in pairs:
            canvas.set_state(large.state)
        self._pointer.note()
        self._enlarged = None
        self.large.hide()
        self.large.clear()

    def step(self, dx: int, dy: int) -> None:
        """Choose the next frame in a direction; an enlarged one gives its place to it.

        With nothing chosen the way goes from the query, so that both wings are one step away.
        """
        columns = (self.left, (self.query,), self.right)
        now = self._enlarged or self._selected
        column = next((n for n, one in enumerate(columns) if now in one), 1)
        row = columns[column].index(now) if now in columns[column] else 0
        column = min(2, max(0, column + dx))
        row = min(len(columns[column]) - 1, max(0, row + dy))
        frame = columns[column][row]
        large = self.enlarged
        self.select(frame)
        if large and frame is not now:
            self.setUpdatesEnabled(False)  # no blank frame between the two
            self.shrink()
            self.enlarge(frame)
            self.setUpdatesEnabled(True)

    def handle_key(self, event: QKeyEvent) -> bool:
        """Pass a key on to the enlarged, the chosen, or the query's frame."""
        frame = self._active()
        flat = all(canvas.picture.slices < 2 for canvas in frame.shown_canvases if canvas.picture)
        if flat and self._text_of(frame).handle_key(event):
            return True  # where there is nothing to scroll through, the text is scrolled
        return frame.handle_key(event)

    def turn_text(self, way: int) -> None:
        """Scroll the text of the frame on which keys act, most of a page back or on."""
        bar = self._text_of(self._active()).verticalScrollBar()
        bar.setValue(bar.value() + way * round(bar.pageStep() * 0.8))

    def _active(self) -> EvidenceFrame:
        return self.large if self.enlarged else self._selected or self.query

    def _text_of(self, frame: EvidenceFrame) -> TextPanel:
        """A frame's text; the query's may stand below it, with the task."""
        beside = frame.content.text is None and self._enlarged in (None, self.query)
        below = beside and (frame is self.query or frame is self.large)
        return self.prompt.text if below else frame.text

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._pointer.note()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        plan = geometry(self.width(), self.height())
        self.query.setGeometry(plan.query)
        self.prompt.setGeometry(plan.prompt)
        for frame, place in zip(self.left, plan.left_frames, strict=True):
            frame.setGeometry(place)
        for frame, place in zip(self.right, plan.right_frames, strict=True):
            frame.setGeometry(place)
        self.large.setGeometry(self.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(theme.GROUND))
        plan = geometry(self.width(), self.height())
        for side, wing in (("left", plan.left), ("right", plan.right)):
            if side in self._marked:
                painter.fillRect(wing, QColor(theme.QUIET))
                inside = wing.adjusted(OUTLINE, OUTLINE, -OUTLINE, -OUTLINE)
                painter.fillRect(inside, QColor(theme.GROUND))
        painter.end()
        self._painted(self)

    def viewing(self) -> dict[str, dict[str, object]]:
        """How each frame is looked at: plain values, kept with an answer."""
        return {
            name: frame.viewing()
            for name, frame in zip(NAMES, self.frames, strict=True)
            if frame.shown_canvases
        }

    def looking(self) -> dict[str, Any]:
        """All that is needed to look at this item again as now: plain values."""
        return board_view.looking(self)

    def select(self, frame: EvidenceFrame | None) -> None:
        """Choose a frame."""
        if frame is self.large or frame is self._selected:
            return
        self._selected = frame
        for other in self.frames:
            other.set_selected(other is frame)
        self.selected_changed.emit(self.selected_name)

    def _painted(self, part: ImageCanvas | TriptychBoard) -> None:
        """One part of a new item is painted; with the last of them it is revealed."""
        if self._awaited:
            self._awaited.discard(part)
            if not self._awaited:
                self.revealed.emit()

    def _role_of(self, frame: EvidenceFrame | None) -> str:
        """Size of a frame's text: one for all candidates, the reading size for the query."""
        return "reading" if frame is self.query or self._item is None else self._item.text_role

    def _frame(self, title: str, side: Qt.AlignmentFlag) -> EvidenceFrame:
        # Measures would be on one side only: there are none while rating.
        frame = EvidenceFrame(title, self, selectable=False, measures=False, pointer=self._pointer)
        frame.set_overlays(SHOWN)
        frame.set_title(title, align=side)
        frame.canvas_made.connect(self._take_canvas)
        frame.chosen.connect(self.select)
        frame.maximise_asked.connect(self._enlarge_or_shrink)
        return frame

    def _take_canvas(self, canvas: ImageCanvas) -> None:
        self.link.join([canvas])
        canvas.painted.connect(lambda: self._painted(canvas))

    def _enlarge_or_shrink(self, frame: EvidenceFrame) -> None:
        if frame is self.large:
            self.shrink()
        else:
            self.enlarge(frame)

    def _wing(self, word: str, side: Qt.AlignmentFlag) -> tuple[EvidenceFrame, ...]:
        return tuple(self._frame(f"{word} {row + 1}", side) for row in range(ROWS))
