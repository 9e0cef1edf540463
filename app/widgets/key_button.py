"""A small tool button that says its key: icon, then the key's name in small letters."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QColor, QFontMetrics, QIcon, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolButton, QWidget

from app import theme

ICON = 18
SIDE, GAP = 5, 3
HIGH = 28


class KeyButton(QToolButton):
    """Shows and triggers an action; narrower than the style's own button with words.

    Args:
        action: icon, key name (its text), tooltip, checked and enabled come from it.
    """

    def __init__(self, action: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDefaultAction(action)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        action.changed.connect(self.updateGeometry)
        theme.theme.scaled.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        words = self.text()
        wide = QFontMetrics(theme.font("small")).horizontalAdvance(words) + GAP if words else 0
        return QSize(2 * SIDE + ICON + wide, max(HIGH, theme.px("small") + 14))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        box = self.rect().adjusted(0, 1, -1, -2)
        on, live = self.isChecked(), self.isEnabled()
        if on or (live and (self.underMouse() or self.isDown())):
            painter.fillRect(box, QColor(theme.LINE if on else theme.RAISED))
        if on or self.hasFocus():
            painter.setPen(QColor(theme.ACCENT if self.hasFocus() else theme.QUIET))
            painter.drawRect(box)
        top = (self.height() - ICON) // 2
        mode = QIcon.Mode.Normal if live else QIcon.Mode.Disabled
        painter.drawPixmap(SIDE, top, self.icon().pixmap(ICON, mode))
        ink = theme.TEXT if on else theme.QUIET if live else theme.DISABLED
        painter.setPen(QColor(ink))
        painter.setFont(theme.font("small"))
        words = self.rect().adjusted(SIDE + ICON + GAP, 0, 0, 0)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter), self.text())
