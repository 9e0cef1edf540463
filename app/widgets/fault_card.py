"""What went wrong with storing, over the prompt: the whole sentence and a button to try again.

Covers the middle alone, both wings stay as they are. The answer on the screen is not touched.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.keys import with_key


class FaultCard(QFrame):
    """The card.

    Signals:
        retry_asked: try again.
    """

    retry_asked = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("surface", "raised")
        self.setAccessibleName("What went wrong")
        self.sentence = QLabel()
        self.sentence.setWordWrap(True)
        self.retry = QPushButton()
        self.retry.setFocusPolicy(self.retry.focusPolicy().NoFocus)
        self.retry.clicked.connect(lambda: self.retry_asked.emit())
        column = QVBoxLayout(self)
        column.setContentsMargins(*([theme.SPACE_M] * 4))
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.sentence, 1)
        column.addWidget(self.retry)
        self.hide()

    def say(self, sentence: str, room: QRect, least: int) -> None:
        """Show a sentence at the foot of a room; an empty one hides the card.

        Args:
            sentence: what happened and what to do.
            room: where there is room.
            least: height that is covered in any case.
        """
        if not sentence:
            self.hide()
            return
        self.sentence.setText(f"\u2715 Not stored: {sentence}")
        self.retry.setText(with_key("Try again", "confirm"))
        self.place(room, least)
        self.show()
        self.raise_()

    def place(self, room: QRect, least: int) -> None:
        """As high as the sentence needs, at the foot of the room."""
        inner = room.width() - 2 * theme.SPACE_M - 2
        high = self.sentence.heightForWidth(inner) + self.retry.sizeHint().height()
        high = min(room.height(), max(least, high + 3 * theme.SPACE_M))
        self.setGeometry(room.x(), room.bottom() + 1 - high, room.width(), high)
