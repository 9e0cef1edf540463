"""The bar that shows one notice: icon, word, sentence, at most one action, close.

Owns the order of waiting notices. Info and good go by themselves after a while; the others stay.
"""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from app import theme
from app.notify import Notice

WORDS = {"info": "Note", "good": "Done", "warn": "Warning", "error": "Error"}
COLORS = {
    "info": theme.TEXT,
    "good": theme.GOOD,
    "warn": theme.WARN,
    "error": theme.ERROR,
}
SHOWN_MS = 8000
READ_MS = 3000  # on show for that long, a sentence was seen


class NoticeBar(QFrame):
    """Shows notices one after the other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "raised")
        self.setAccessibleName("Notice")
        self._waiting: list[Notice] = []
        self._current: Notice | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.dismiss)
        self._age = QElapsedTimer()
        self._icon, self._word, self._text = QLabel(), QLabel(), QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._act = QPushButton()
        self._copy = QPushButton("Copy details")
        self._copy.setProperty("kind", "flat")
        self._close = QToolButton()
        self._build()
        self.hide()

    @property
    def current(self) -> Notice | None:
        """The notice on show."""
        return self._current

    def post(self, notice: Notice) -> None:
        """Show ``notice`` after those before it; the same sentence is not shown twice."""
        shown = [*self._waiting, *([self._current] if self._current else [])]
        if any(other.text == notice.text for other in shown):
            return
        self._waiting.append(notice)
        if self._current is None or self._current.kind in ("info", "good"):
            self._next()

    def recall(self, text: str) -> None:
        """Take a sentence away that holds no longer."""
        self._waiting = [notice for notice in self._waiting if notice.text != text]
        if self._current is not None and self._current.text == text:
            self.dismiss()

    def leave_page(self, to: str = "") -> None:
        """Another page comes: what was read on the one before does not go along.

        Args:
            to: the page that comes; what only led there is done with.
        """
        self._waiting = [notice for notice in self._waiting if not to or notice.leads != to]
        shown = self._current
        if shown is not None and to and shown.leads == to:
            self.dismiss()
            return
        if shown is None or shown.act is not None or not self._age.isValid():
            return
        if self._age.elapsed() >= READ_MS:
            self.dismiss()

    def dismiss(self) -> None:
        """Take the notice away and show the next."""
        self._current = None
        self._next()

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        row.setSpacing(theme.SPACE_S)
        self._close.setProperty("kind", "flat")
        self._close.setIcon(theme.icon("close", size=16))
        self._close.setToolTip("Dismiss")
        self._close.setAccessibleName("Dismiss notice")
        self._close.clicked.connect(self.dismiss)
        self._act.clicked.connect(self._do)
        self._copy.clicked.connect(self._copy_details)
        row.addWidget(self._icon)
        row.addWidget(self._word)
        row.addWidget(self._text, 1)
        for button in (self._act, self._copy, self._close):
            row.addWidget(button)

    def _next(self) -> None:
        self._timer.stop()
        if not self._waiting:
            self.setVisible(self._current is not None)
            return
        self._current = self._waiting.pop(0)
        self._age.start()
        notice = self._current
        color = COLORS[notice.kind]
        self._icon.setPixmap(theme.pixmap(notice.kind, color, ratio=self.devicePixelRatioF()))
        self._word.setText(WORDS[notice.kind])
        self._word.setStyleSheet(f"color: {color}; font-weight: 600;")
        self._text.setText(notice.text)
        self.setAccessibleDescription(f"{WORDS[notice.kind]}: {notice.text}")
        self._act.setVisible(notice.action is not None)
        self._act.setText(notice.action or "")
        self._copy.setVisible(bool(notice.details))
        self.show()
        if notice.kind in ("info", "good") and notice.act is None:
            self._timer.start(SHOWN_MS)

    def _do(self) -> None:
        act = self._current.act if self._current else None
        self.dismiss()
        if act is not None:
            act()

    def _copy_details(self) -> None:
        if self._current is not None:
            QGuiApplication.clipboard().setText(self._current.details)
