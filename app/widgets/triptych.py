"""The board of the Review page: query in the middle, three candidates in each wing.

Owns the geometry, which is mirror-symmetrical to the pixel, and the seven frames with their
link, flip and maximise. Both wings are made by the same code and painted in the same frame; no
ornament, colour or word favours a side. Decides nothing about answers.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app import theme
from app.widgets.content import Content
from app.widgets.evidence_frame import EvidenceFrame
from app.widgets.prompt_panel import PromptPanel
from app.widgets.view_link import ViewLink

MARGIN, GUTTER = 4, 6
OUTLINE = 4
ROWS = 3
QUERY_SHARE = 0.66
# The window's numbers appear once they are changed: nothing stands before the pictures unasked.
SHOWN = frozenset({"letters", "slice", "bar", "zoom", "changed window", "badges"})
WING_AT = ((1280, 380), (1920, 560))


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


@dataclass(frozen=True)
class BoardGeometry:
    """Where everything lies."""

    left: QRect
    right: QRect
    query: QRect
    prompt: QRect
    left_frames: tuple[QRect, ...]
    right_frames: tuple[QRect, ...]


def wing_width(width: int) -> int:
    """Width of a wing: 380 of 1280, 560 of 1920, in line between and beyond."""
    (small, at_small), (large, at_large) = WING_AT
    return round(at_small + (width - small) * (at_large - at_small) / (large - small))


def mirrored(rect: QRect, width: int) -> QRect:
    """The mirror image of ``rect`` in a board of ``width``."""
    return QRect(width - rect.x() - rect.width(), rect.y(), rect.width(), rect.height())


def geometry(width: int, height: int) -> BoardGeometry:
    """Lay the board out; the right wing is the mirror image of the left one."""
    wing = wing_width(width)
    left = QRect(MARGIN, MARGIN, wing, height - 2 * MARGIN)
    # As high as the frames of the wings, whose outline keeps some room around them.
    inner = left.adjusted(0, OUTLINE, 0, -OUTLINE)
    middle = QRect(MARGIN + wing + GUTTER, inner.y(), 0, inner.height())
    middle.setWidth(width - 2 * (MARGIN + wing + GUTTER))
    query = QRect(middle)
    query.setHeight(round(middle.height() * QUERY_SHARE))
    prompt = QRect(middle)
    prompt.setTop(query.bottom() + 1 + GUTTER)
    frames = _stack(left.adjusted(OUTLINE, OUTLINE, -OUTLINE, -OUTLINE))
    return BoardGeometry(
        left=left,
        right=mirrored(left, width),
        query=query,
        prompt=prompt,
        left_frames=frames,
        right_frames=tuple(mirrored(frame, width) for frame in frames),
    )


def _stack(room: QRect) -> tuple[QRect, ...]:
    each = (room.height() - GUTTER * (ROWS - 1)) // ROWS
    return tuple(
        QRect(room.x(), room.y() + row * (each + GUTTER), room.width(), each) for row in range(ROWS)
    )


class TriptychBoard(QWidget):
    """Seven frames and the prompt.

    Signals:
        revealed: a new item has been painted, all of it.
    """

    revealed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.link = ViewLink(self)
        self.query = self._frame("QUERY", Qt.AlignmentFlag.AlignHCenter)
        self.left = self._wing("LEFT", Qt.AlignmentFlag.AlignLeft)
        self.right = self._wing("RIGHT", Qt.AlignmentFlag.AlignRight)
        self.prompt = PromptPanel(self)
        self.large = self._frame("", Qt.AlignmentFlag.AlignHCenter)
        self.large.hide()
        self._item: BoardItem | None = None
        self._selected: EvidenceFrame | None = None
        self._enlarged: EvidenceFrame | None = None
        self._flipped = False
        self._marked: tuple[str, ...] = ()
        self._fresh = False
        frames = [*self.left, self.query, *self.right]
        for before, after in itertools.pairwise(frames):
            QWidget.setTabOrder(before, after)

    @property
    def frames(self) -> tuple[EvidenceFrame, ...]:
        """Query, then left, then right."""
        return (self.query, *self.left, *self.right)

    @property
    def selected(self) -> EvidenceFrame | None:
        """The frame under the pointer or the focus."""
        return self._selected

    @property
    def enlarged(self) -> bool:
        """True while one frame covers the board."""
        return self._enlarged is not None

    def show_item(self, item: BoardItem) -> None:
        """Put a whole item on the board; it appears in one frame."""
        self.setUpdatesEnabled(False)
        self.shrink()
        self._flipped, self._item = False, item
        self._marked = ()
        apart = bool(item.query.pictures) and item.query.text is not None
        self.query.set_title("QUERY")
        self.query.show_content(Content(item.query.pictures) if apart else item.query)
        self.prompt.show_prompt(item.prompt, item.query.text if apart else None)
        for frame, content in zip(
            (*self.left, *self.right), (*item.left, *item.right), strict=True
        ):
            frame.show_content(content, text_role=item.text_role)
        self._fresh = True
        self.setUpdatesEnabled(True)
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self.shrink()
        self._item = None
        for frame in self.frames:
            frame.clear()
        self.prompt.show_prompt("", None)

    def mark(self, wings: Sequence[str]) -> None:
        """Thicken the outline of ``left``, ``right``, both or none."""
        self._marked = tuple(wings)
        self.update()

    def flip(self) -> None:
        """Show the selected candidate in the query's place, in the same geometry."""
        frame = self._selected
        if self._flipped or self._item is None or frame is None or frame is self.query:
            return
        self._flipped = True
        self._kept = (self.query.content, self.query.first_state())
        self.query.set_title(frame.accessibleName())
        self.query.show_content(frame.content, state=frame.first_state())

    def flip_back(self) -> None:
        """Show the query again, looked at as the candidate was if they are linked."""
        if not self._flipped:
            return
        self._flipped = False
        content, state = self._kept
        if self.link.on:
            state = self.query.first_state() or state
        self.query.set_title("QUERY")
        self.query.show_content(content, state=state)

    def enlarge(self, frame: EvidenceFrame | None = None) -> None:
        """Let a frame (or the selected one) cover the board; again shrinks it."""
        frame = frame or self._selected
        if self._enlarged is not None:
            self.shrink()
            return
        if frame is None or self._item is None:
            return
        self._enlarged = frame
        self.large.set_title(frame.accessibleName())
        role = self._item.text_role
        self.large.show_content(frame.content, state=frame.first_state(), text_role=role)
        self.large.setGeometry(self.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN))
        self.large.raise_()
        self.large.show()

    def shrink(self) -> None:
        """Return from the enlarged frame, keeping how it was looked at."""
        if self._enlarged is None:
            return
        pairs = zip(self._enlarged.shown_canvases, self.large.shown_canvases, strict=True)
        for canvas, large in pairs:
            canvas.set_state(large.state)
        self._enlarged = None
        self.large.hide()
        self.large.clear()

    def handle_key(self, event: QKeyEvent) -> bool:
        """Pass a key on to the enlarged, the selected, or the query's frame."""
        frame = self.large if self.enlarged else self._selected or self.query
        if frame.handle_key(event):
            return True
        return not self.enlarged and frame is self.query and self.prompt.handle_key(event)

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
        if self._fresh:
            self._fresh = False
            # Children are painted in the same pass; the signal is queued behind it.
            self.revealed.emit()

    def viewing(self) -> dict[str, dict[str, object]]:
        """How each frame is looked at: plain values, kept with an answer."""
        names = ("query", "left1", "left2", "left3", "right1", "right2", "right3")
        return {
            name: frame.viewing()
            for name, frame in zip(names, self.frames, strict=True)
            if frame.shown_canvases
        }

    def select(self, frame: EvidenceFrame | None) -> None:
        """Select a frame."""
        if frame is self.large:
            return
        self._selected = frame
        for other in self.frames:
            other.set_selected(other is frame)

    def _frame(self, title: str, side: Qt.AlignmentFlag) -> EvidenceFrame:
        # Measures would be on one side only: there are none while rating.
        frame = EvidenceFrame(title, self, selectable=False, measures=False)
        frame.set_overlays(SHOWN)
        frame.set_title(title, align=side)
        frame.canvas_made.connect(lambda canvas: self.link.join([canvas]))
        frame.chosen.connect(self.select)
        frame.maximise_asked.connect(self._enlarge_or_shrink)
        return frame

    def _enlarge_or_shrink(self, frame: EvidenceFrame) -> None:
        if frame is self.large:
            self.shrink()
        else:
            self.enlarge(frame)

    def _wing(self, word: str, side: Qt.AlignmentFlag) -> tuple[EvidenceFrame, ...]:
        return tuple(self._frame(f"{word} {row + 1}", side) for row in range(ROWS))
