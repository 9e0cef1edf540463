"""The test pattern on the whole display, with what is known of it and the reader's statement.

Owns the words beside the pattern. The program alters no grey value of the display: it only asks
how the display was calibrated, and hands on what was stated.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget

from app import keys, theme
from app.widgets.blocks import button, label, panel, row
from app.widgets.display_pattern import DisplayPattern
from app.widgets.ink import hold

LOOK_FOR = (
    "Look for: both inner squares (5 % on black, 95 % on white) seen apart; all 18 steps apart; "
    "lines of one pixel even in the middle and in the corners; ramps without bands or tint; grid "
    "squares square. The program alters nothing: what you see is your display."
)
STATEMENTS = "for example: calibrated to GSDF in May, 350 cd/m², reading room"


class PatternScreen(QWidget):
    """Covers the display until it is closed.

    Signals:
        stated: size of the display, its scale factor, the reader's statement.
    """

    stated = Signal(str, str, str)

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle("Test pattern")
        self.setAccessibleName("Test pattern of the display")
        self.pattern, self.facts = DisplayPattern(), label("", "quiet")
        self.statement = QLineEdit()
        self.statement.setAccessibleName("Statement on the display")
        self.statement.setPlaceholderText(STATEMENTS)
        hold(self.statement.setMinimumWidth, 240)
        self.statement.returnPressed.connect(self._keep)
        self._kept: QLabel = label("", "good", wrap=False)
        bar = panel("bar")
        keep = button("Keep", self._keep, kind="primary", name="Keep the statement")
        leave = button("Close  Esc", self.close)
        told = label(LOOK_FOR, "small")
        inside = QVBoxLayout(bar)
        inside.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_M, theme.SPACE_XS)
        inside.setSpacing(2)
        inside.addWidget(told)
        line = row(self.facts, self.statement, self._kept, keep, leave)
        line.setStretch(0, 2)
        line.setStretch(1, 3)
        inside.addLayout(line)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.pattern, 1)
        column.addWidget(bar)

    def open(self, beside: QWidget, statement: str = "") -> None:
        """Cover the display that shows ``beside``."""
        self.setStyleSheet(f"PatternScreen {{ background: {theme.GROUND}; }}")
        self.statement.setText(statement)
        self._kept.setText("")
        self.setGeometry(beside.screen().geometry())
        self.showFullScreen()
        self.facts.setText("; ".join(self.display()))
        self.pattern.setFocus()
        self.setFocus()

    def display(self) -> tuple[str, str]:
        """Size and scale factor of the display in words, as the system tells them."""
        screen = self.screen()
        ratio = screen.devicePixelRatio()
        size, millimetres = screen.geometry().size(), screen.physicalSize()
        pixels = f"{round(size.width() * ratio)} x {round(size.height() * ratio)} pixels"
        physical = f"{millimetres.width():.0f} x {millimetres.height():.0f} mm"
        known = millimetres.width() > 0 and millimetres.height() > 0
        return (f"{pixels}, {physical}" if known else pixels), f"scale {ratio:g}"

    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = keys.current().command_of(event, "viewer")
        if command in ("back", "test-pattern"):
            self.close()
        else:
            event.ignore()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange and self.isVisible():
            self.pattern.update()

    def _keep(self) -> None:
        size, scale = self.display()
        self.stated.emit(size, scale, self.statement.text().strip())
        self._kept.setText("✓ kept")
        self.setFocus(Qt.FocusReason.OtherFocusReason)


def screen_of(page: QWidget, stated: SignalInstance) -> PatternScreen:
    """The pattern of a page: made once, gone with the page; what is stated goes to ``stated``."""
    made = PatternScreen()
    made.stated.connect(stated)
    page.destroyed.connect(made.deleteLater)
    return made
