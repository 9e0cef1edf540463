"""The answers below the triptych, mirror-symmetrical; the chosen one fills.

Owns their drawing and places. Shape and words say what is chosen, not colour alone.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from app import theme
from app.keys import first_key
from app.widgets.board_geometry import GUTTER, MARGIN, mirrored, wing_width

HEIGHT = 56
# answer, words, side of its key, command
ANSWERS = (
    ("left", "left better", "left", "answer-left"),
    ("both", "both useful", "left", "answer-both"),
    ("neither", "neither useful", "right", "answer-neither"),
    ("right", "right better", "right", "answer-right"),
)
GUESSES = (
    ("left", "left list", "left", "answer-left"),
    ("unsure", "cannot tell", "left", "answer-neither"),
    ("right", "right list", "right", "answer-right"),
)
Entry = tuple[str, str, str, str]


_CENTRED = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)


class AnswerButton(QAbstractButton):
    """One answer: its key in a box, its words beside it, filled when chosen."""

    def __init__(self, words: str, side: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._key, self._words, self._side = "", words, side
        self.letters = theme.px("reading")
        self.box_letters = 1
        self.setCheckable(True)
        self.setText(words)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def name_key(self, key: str) -> None:
        """The key in force that chooses this answer."""
        self._key = key
        self.setAccessibleName(f"{self._words[0].upper()}{self._words[1:]} ({key})")
        self.update()

    def nextCheckState(self) -> None:
        """A click asks only; what is chosen is shown by ``AnswerBar.show_answer``."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        chosen, live = self.isChecked(), self.isEnabled()
        ground = theme.QUIET if chosen else theme.RAISED  # seen at once, yet no lamp in the dark
        ink = theme.GROUND if chosen else theme.TEXT if live else theme.DISABLED
        painter.fillRect(self.rect(), QColor(ground))
        painter.setPen(QColor(theme.QUIET if self.hasFocus() or self.underMouse() else theme.LINE))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        words = f"{self._words}  \u2713" if chosen and self._side == "left" else self._words
        words = f"\u2713  {self._words}" if chosen and self._side == "right" else words
        painter.setPen(QColor(ink))
        box, rest = self._rooms()
        face = theme.font("reading", bold=chosen)
        face.setPixelSize(self.letters)
        painter.setFont(face)
        painter.drawText(rest, _CENTRED, words)
        painter.drawRect(box.adjusted(0, 0, -1, -1))
        face.setBold(True)
        painter.setFont(face)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._key)

    def longest(self) -> int:
        """The largest size of type at which the words fit beside the key, chosen and bold."""
        face = theme.font("reading", bold=True)
        for size in range(theme.px("reading"), theme.TYPE_PX["small"], -1):
            face.setPixelSize(size)
            self.letters = size
            rest = self._rooms()[1]
            words = f"{self._words}  \u2713"
            if rest.contains(QFontMetrics(face).boundingRect(rest, _CENTRED, words)):
                return size
        return theme.TYPE_PX["small"]

    def _rooms(self) -> tuple[QRect, QRect]:
        """The key's box on the outer side, and the room for the words."""
        side = self.letters + 11
        wide = side + round((self.box_letters - 1) * self.letters * 0.7)
        box = QRect(0, 0, wide, side)
        box.moveCenter(self.rect().center())
        box.moveLeft(theme.SPACE_M)
        # As much room is kept on the other side, so that the words stand in the middle.
        rest = self.rect().adjusted(box.right() + 5, 0, -(theme.SPACE_XS), 0)
        if self.width() > 3 * box.right() + 10 * self.letters:
            rest = self.rect().adjusted(box.right() + 5, 0, -box.right() - 5, 0)
        if self._side == "right":
            return mirrored(box, self.width()), mirrored(rest, self.width())
        return box, rest


class AnswerBar(QWidget):
    """Buttons under the parts of the triptych that they speak of: two wings, the rest between.

    Args:
        entries: the answers from left to right.
    """

    chosen = Signal(str)

    def __init__(
        self, parent: QWidget | None = None, *, entries: tuple[Entry, ...] = ANSWERS
    ) -> None:
        super().__init__(parent)
        self._grow()
        theme.theme.scaled.connect(self._grow)
        self.buttons: dict[str, AnswerButton] = {}
        self._commands = {answer: command for answer, _words, _side, command in entries}
        for answer, words, side, _command in entries:
            button = AnswerButton(words, side, self)
            button.clicked.connect(lambda _checked, answer=answer: self.chosen.emit(answer))
            self.buttons[answer] = button
        self.name_keys()

    def _grow(self) -> None:
        """A little higher for large type, where words stand in two lines."""
        self.setFixedHeight(HEIGHT + (theme.theme.scale.percent - 100) // 5)

    def name_keys(self) -> None:
        """Say the keys in force. All boxes are as wide as the widest name, for both sides alike."""
        names = {answer: first_key(command) for answer, command in self._commands.items()}
        letters = max(len(name) for name in names.values())
        for answer, button in self.buttons.items():
            button.box_letters = letters
            button.name_key(names[answer])

    def show_answer(self, answer: str | None) -> None:
        """Fill the chosen answer, empty the others."""
        for name, button in self.buttons.items():
            button.setChecked(name == answer)

    def set_live(self, live: bool) -> None:
        """Whether an answer is taken now."""
        for button in self.buttons.values():
            button.setEnabled(live)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for button, place in zip(self.buttons.values(), self._places(), strict=True):
            button.setGeometry(place)
        letters = min(button.longest() for button in self.buttons.values())
        for button in self.buttons.values():
            button.letters = letters

    def _places(self) -> tuple[QRect, ...]:
        """From left to right; the right half is the mirror image of the left one."""
        width, high = self.width(), self.height() - 2 * MARGIN
        wing = wing_width(width)
        middle = QRect(MARGIN + wing + GUTTER, MARGIN, 0, high)
        middle.setWidth(width - 2 * middle.x())
        left = QRect(MARGIN, MARGIN, wing, high)
        if len(self.buttons) == 3:
            return left, middle, mirrored(left, width)
        half = QRect(middle.x(), MARGIN, (middle.width() - GUTTER) // 2, high)
        return left, half, mirrored(half, width), mirrored(left, width)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(theme.GROUND))
