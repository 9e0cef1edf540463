"""One item of an unblinded study, read-only: the board as the rater saw it, with the names.

Lays out and emits intents; decides nothing. There is no way to answer here.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app import keys, theme
from app.shown_statistics import OpenedShown, WingShown
from app.widgets.blocks import button, column, forget, heading, label, quiet, row
from app.widgets.ink import hold, ink, px
from app.widgets.plot_ink import LEFT, MIDDLE, RIGHT, colour_of, elided, face, swatch
from app.widgets.triptych import BoardItem, TriptychBoard

WINGS = (("left", "LEFT"), ("right", "RIGHT"))
SIDES = {"left": Qt.AlignmentFlag.AlignLeft, "right": Qt.AlignmentFlag.AlignRight}


class WingName(QWidget):
    """Whose list stands in a wing, and where the right answer is in it; in words and colour."""

    def __init__(self, side: str) -> None:
        super().__init__()
        self._side = side
        self._shown = WingShown("", "both", "")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        hold(self.setFixedHeight, 44)

    def show_wing(self, shown: WingShown) -> None:
        """Name another wing."""
        self._shown = shown
        self.setAccessibleName(f"{self._side}: {shown.model}")
        chosen = "Preferred. " if shown.chosen else ""
        self.setAccessibleDescription(f"{chosen}{shown.gold}")
        self.setToolTip(f"{shown.model}\n{chosen}{shown.gold}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(240), px(44))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        mirrored = self._side == "right"
        side = RIGHT if mirrored else LEFT
        half = self.height() / 2
        box = QRectF(px(4), 0, self.width() - px(8), half)
        square = QRectF(box.left(), half / 2 - px(5), px(10), px(10))
        if mirrored:
            square.moveLeft(box.right() - px(10))
        swatch(painter, square, self._shown.fill)
        face(painter, 15, bold=True)
        painter.setPen(colour_of(self._shown.fill))
        room = box.adjusted(0, 0, -px(16), 0) if mirrored else box.adjusted(px(16), 0, 0, 0)
        name = f"{self._shown.model}  ✓ preferred" if self._shown.chosen else self._shown.model
        painter.drawText(room, MIDDLE | side, elided(painter, name, room.width()))
        face(painter, 13)
        painter.setPen(ink("text"))
        below = QRectF(px(4), half, self.width() - px(8), half)
        painter.drawText(below, MIDDLE | side, elided(painter, self._shown.gold, below.width()))
        painter.end()


class ItemView(QWidget):
    """A board with names above it and the answer below.

    Signals:
        stepped: +1 or -1, to another answer of the list.
        left: back to the list.
    """

    stepped = Signal(int)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Item, unblinded")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.board = TriptychBoard()
        self.wings = {side: WingName(side) for side, _word in WINGS}
        self.title, self.of = heading(), quiet(small=True, wrap=False)
        self.title.setWordWrap(False)
        self.back = button("Back to the list", self.left.emit, name="Back to the list")
        self.before = button("Item before", lambda: self.stepped.emit(-1), name="Item before")
        self.next = button("Next item", lambda: self.stepped.emit(1), name="Next item")
        self.facts = label("")
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.comment = label("", "reading")
        self.comment.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.wait = QLabel("Opening the item")
        self.wait.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.wait.setProperty("role", "reading")
        self._lay_out()
        self._name_keys()

    def _lay_out(self) -> None:
        for name in ("back", "on"):
            if (key := getattr(self.board.prompt, name, None)) is not None:
                key.hide()  # nothing is answered here
        for told in (self.title, self.of):
            told.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        words = column(self.title, self.of, space=0)
        head = row(self.back, words, self.before, self.next, space=12)
        head.setStretch(1, 1)
        names = row(*self.wings.values(), space=12)
        for place in (0, 1):
            names.setStretch(place, 1)
        self.board.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        layout = column(head, names, self.board, self.wait, self.facts, self.comment, space=6)
        layout.setStretch(2, 1)
        layout.setStretch(3, 1)
        layout.setContentsMargins(0, theme.SPACE_S, 0, 0)
        self.setLayout(layout)

    def show_opening(self, title: str) -> None:
        """Say that an item is being decoded."""
        self.title.setText(title)
        self.wait.setText("Opening the item")
        self._reveal(opened=False)

    def show_problem(self, title: str, words: str) -> None:
        """Say why an item cannot be shown."""
        self.title.setText(title)
        self.wait.setText(words)
        self._reveal(opened=False)

    def show_item(self, shown: OpenedShown, item: BoardItem) -> None:
        """Show an item with everything that was hidden."""
        self.title.setText(shown.title)
        self.title.setToolTip(shown.title)
        self.of.setText(shown.of)
        self.of.setToolTip(shown.of)
        self.facts.setText("   ".join(f"{name}: {words}" for name, words in shown.facts))
        self.comment.setText(f"Comment: {shown.comment}" if shown.comment else "")
        self.comment.setVisible(bool(shown.comment))
        self.board.show_item(item)
        for (side, word), wing in zip(WINGS, (shown.left, shown.right), strict=True):
            self.wings[side].show_wing(wing)
            self._name_frames(side, word, wing)
        self.board.mark([s for s, w in (("left", shown.left), ("right", shown.right)) if w.chosen])
        self._reveal(opened=True)
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def clear(self) -> None:
        """Hold nothing of an item."""
        self.board.clear()
        for wing in self.wings.values():
            wing.show_wing(WingShown("", "both", ""))
        for told in (self.title, self.of, self.facts, self.comment):
            forget(told)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = keys.current().command_of(event, "statistics") or ""
        if command == "back":
            self.board.shrink() if self.board.enlarged else self.left.emit()
        elif command in ("next-item", "item-before"):
            self.stepped.emit(1 if command == "next-item" else -1)
        elif command == "maximise":
            self.board.enlarge()
        elif command == "link" and not event.isAutoRepeat():
            self.board.link.set_on(not self.board.link.on)
        elif not self.board.handle_key(event):
            event.ignore()

    def _name_keys(self) -> None:
        self.back.setText(keys.with_key("Back to the list", "back"))
        self.before.setText(keys.with_key("Item before", "item-before"))
        self.next.setText(keys.with_key("Next item", "next-item"))

    def _name_frames(self, side: str, word: str, wing: WingShown) -> None:
        frames = self.board.left if side == "left" else self.board.right
        for place, frame in enumerate(frames, start=1):
            right = "  ✓ right answer" if place == wing.gold_place else ""
            frame.set_title(f"{word} {place}{right}", align=SIDES[side])

    def _reveal(self, *, opened: bool) -> None:
        for piece in (self.board, *self.wings.values(), self.facts):
            piece.setVisible(opened)
        self.comment.setVisible(opened and bool(self.comment.text()))
        self.wait.setVisible(not opened)
