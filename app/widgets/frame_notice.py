"""What a frame says while it has no picture: loading, or why not and what to do.

Lies over its frame and takes no mouse or key away from it.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app import theme
from app.widgets.evidence_frame import BORDER, head_height

SIDE_SHARE = 0.1
BLINK_MS = 300
TITLES = {"error": "Cannot be shown", "wait": "Loading", "hint": ""}
ICONS = {"error": ("error", theme.ERROR), "wait": ("", ""), "hint": ("", "")}


class FrameNotice(QWidget):
    """One sentence in the middle of a frame."""

    def __init__(self, frame: QWidget) -> None:
        super().__init__(frame)
        self._frame = frame
        self.sentence, self.kind = "", "hint"
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # Words that come and go within a blink only disturb.
        self._late = QTimer(self, singleShot=True, interval=BLINK_MS)
        self._late.timeout.connect(self.update)
        frame.installEventFilter(self)
        self.hide()

    def say(self, sentence: str, *, kind: str = "hint") -> None:
        """Show a sentence; an empty one hides it. ``kind`` is error, wait or hint."""
        self.sentence, self.kind = sentence, kind
        words = ": ".join(part for part in (TITLES[kind], sentence) if part)
        self.setAccessibleName(words)
        self._place()
        self._late.stop()
        if sentence and kind == "wait":
            self._late.start()
        self.setVisible(bool(sentence))
        self.raise_()
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay as large as the frame."""
        if event.type() == QEvent.Type.Resize:
            self._place()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(theme.PICTURE))
        if self._late.isActive():
            return
        side = round(self.width() * SIDE_SHARE)
        box = self.rect().adjusted(side, 0, -side, 0)
        wrap = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignHCenter)
        painter.setFont(theme.font("reading"))
        words = painter.boundingRect(box, wrap, self.sentence)
        name, color = ICONS[self.kind]
        head = theme.px("reading") + 34 if name else 0
        top = max(4, (self.height() - words.height() - head) // 2)
        if name:
            self._head(painter, QRect(box.left(), top, box.width(), head), name, color)
        painter.setPen(QColor(theme.TEXT if self.kind == "error" else theme.QUIET))
        painter.setFont(theme.font("reading"))
        painter.drawText(QRect(box.left(), top + head, box.width(), self.height()), wrap,
                         self.sentence)  # fmt: skip

    def _head(self, painter: QPainter, box: QRect, name: str, color: str) -> None:
        icon = theme.pixmap(name, color, size=22)
        painter.drawPixmap(box.center().x() - 11, box.top(), icon)
        painter.setFont(theme.font("reading", bold=True))
        painter.setPen(QColor(theme.ERROR))
        below = box.adjusted(0, 24, 0, 0)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignHCenter), TITLES[self.kind])

    def _place(self) -> None:
        head = BORDER + head_height()
        self.setGeometry(self._frame.rect().adjusted(BORDER, head, -BORDER, -BORDER))
