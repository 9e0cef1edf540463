"""The four answers below the triptych, mirror-symmetrical; the chosen one fills.

Owns their drawing and places. Shape and words say what is chosen, not colour alone.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from app import theme
from app.keys import first_key
from app.widgets.triptych import GUTTER, MARGIN, mirrored, wing_width

HEIGHT = 56
# answer, words, side of its key
ANSWERS = (
    ("left", "left better", "left"),
    ("both", "both useful", "left"),
    ("neither", "neither useful", "right"),
    ("right", "right better", "right"),
)


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
        ground = theme.TEXT if chosen else theme.RAISED
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
        painter.drawText(rest, Qt.AlignmentFlag.AlignCenter, words)
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
            words = QFontMetrics(face).horizontalAdvance(f"{self._words}  \u2713")
            if words <= self._rooms()[1].width():
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
    """Four buttons under the parts of the triptych that they speak of."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(HEIGHT)
        self.buttons: dict[str, AnswerButton] = {}
        for answer, words, side in ANSWERS:
            button = AnswerButton(words, side, self)
            button.clicked.connect(lambda _checked, answer=answer: self.chosen.emit(answer))
            self.buttons[answer] = button
        self.name_keys()

    def name_keys(self) -> None:
        """Say the keys in force. All boxes are as wide as the widest name, for both sides alike."""
        names = {answer: first_key(f"answer-{answer}") for answer in self.buttons}
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
        width, high = self.width(), self.height() - 2 * MARGIN
        wing = wing_width(width)
        middle = width - 2 * (MARGIN + wing + GUTTER)
        left = QRect(MARGIN, MARGIN, wing, high)
        both = QRect(MARGIN + wing + GUTTER, MARGIN, (middle - GUTTER) // 2, high)
        self.buttons["left"].setGeometry(left)
        self.buttons["both"].setGeometry(both)
        self.buttons["neither"].setGeometry(mirrored(both, width))
        self.buttons["right"].setGeometry(mirrored(left, width))
        letters = min(button.longest() for button in self.buttons.values())
        for button in self.buttons.values():
            button.letters = letters

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(theme.GROUND))
