"""Below the query: the task in the reader's words, the query's text, and the two steps."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.keys import with_key
from app.widgets.text_panel import TextPanel


class PromptPanel(QFrame):
    """Shows prompt and text.

    Signals:
        back_asked, on_asked: the buttons for those who rate with the mouse.
    """

    back_asked = Signal()
    on_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "panel")
        self.prompt = QLabel()
        self.prompt.setProperty("role", "heading")
        self.prompt.setWordWrap(True)
        self.prompt.setTextFormat(Qt.TextFormat.PlainText)
        self.prompt.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter)
        self.text = TextPanel(selectable=False)
        theme.theme.scaled.connect(self._fit)
        self.back, self.on = QPushButton(), QPushButton()
        self.name_keys()
        for button in (self.back, self.on):
            button.setProperty("kind", "flat")
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.back.setAccessibleName("Go back one step")
        self.on.setAccessibleName("Confirm the answer and go on")
        self.back.clicked.connect(self.back_asked)
        self.on.clicked.connect(self.on_asked)
        self._lay_out()

    def name_keys(self) -> None:
        """Say the keys in force."""
        self.back.setText(with_key("Back", "undo"))
        self.on.setText(with_key("Go on", "confirm"))

    def show_prompt(self, prompt: str, text: str | None) -> None:
        """The task, and the query's own text where its pictures fill the frame above."""
        self.prompt.setText(prompt)
        self.text.setVisible(text is not None)
        self.text.show_text(text or "")
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The largest type, not above the reading size, in which the whole task can be read."""
        room = self.height() - self.on.sizeHint().height() - 4 * theme.SPACE_S
        if self.text.isVisibleTo(self):
            room = max(room * 2 // 5, room - 6 * theme.px("reading"))
        inner = self.width() - 2 * theme.SPACE_M - 4
        for size in range(theme.px("reading"), theme.TYPE_PX["small"] - 1, -1):
            self.prompt.setStyleSheet(f"font-size: {size}px;")
            if self.prompt.heightForWidth(inner) <= room:
                break

    def handle_key(self, event: QKeyEvent) -> bool:
        """Scroll the query's text; False if there is none."""
        return self.text.isVisible() and self.text.handle_key(event)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_XS)
        column.setSpacing(theme.SPACE_XS)
        row = QHBoxLayout()
        row.addWidget(self.back)
        row.addStretch(1)
        row.addWidget(self.on)
        column.addWidget(self.prompt, 1)
        column.addWidget(self.text, 4)
        column.addLayout(row)
