"""One step of a life: its number, state, sentence, one action, and a body that folds out below.

Stays the same widget while its values change, so that focus and typed words are kept. Decides
nothing.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from app.widgets.blocks import button, column, heading, label, restyle, row
from app.widgets.ink import INK, hold, px

WIDEST = 980  # lines of a form are not as long as a wide screen
MARKS = {
    "done": ("✓", "done", "good"), "next": ("▸", "next", "text"),
    "later": ("○", "later", "quiet"), "failed": ("✕", "needs attention", "error"),
    "busy": ("…", "at work", "accent"), "begun": ("…", "under way", "text"),
    "away": ("–", "not here", "quiet"), "any": ("○", "any time", "quiet"),
    "held": ("✓", "any time", "good"), "ready": ("▸", "any time", "text"),
    "closed": ("–", "closed", "quiet"),
}  # fmt: skip
RAISED = ("next", "ready", "failed", "busy")


class StepCard(QFrame):
    """A step; ``wanted`` says that its action was chosen.

    Args:
        body: what folds out below.

    Attributes:
        shuts: while the body is open, the action shuts it.
    """

    wanted = Signal()

    def __init__(self, body: QWidget | None = None) -> None:
        super().__init__()
        self.sign, self.name = label("", wrap=False), heading()
        self.state, self.told = label("", "quiet", wrap=False), label("")
        self.name.setWordWrap(False)
        self.action = button("", self.wanted.emit, name="Action of this step")
        hold(self.sign.setFixedWidth, 24)
        hold(self.action.setMinimumWidth, 164)
        words = column(row(self.name, self.state, 1), self.told, space=3)
        top = row(self.sign, words, self.action, space=8)
        top.setStretch(1, 1)
        top.setAlignment(self.sign, Qt.AlignmentFlag.AlignTop)
        top.setAlignment(self.action, Qt.AlignmentFlag.AlignVCenter)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(px(12), px(10), px(12), px(10))
        self._layout.setSpacing(px(12))
        self._layout.addLayout(top)
        self.body = body
        self.shuts = True
        self._act, self._primary, self._open = "", False, False
        if body is not None:
            hold(body.setMaximumWidth, WIDEST)
            beside = row(body, 1)  # a row asks for its height at the width the body truly gets
            beside.setStretch(0, 1000)
            self._layout.addLayout(beside)
            body.hide()

    def show_step(
        self, number: int, title: str, state: str, sentence: str, action: str, *, enabled: bool
    ) -> None:
        """Show where the step stands; without an action there is no button."""
        mark, word, tone = MARKS[state]
        self.sign.setText(mark)
        self.sign.setStyleSheet(f"color: {INK[tone]}; font-size: {px(20)}px;")
        self.name.setText(f"{number}  {title}" if number else title)
        self.state.setText(word)
        restyle(self.state, "role", tone if tone in ("good", "error") else "quiet")
        self.told.setText(sentence)
        restyle(self.told, "role", "quiet" if state in ("later", "away", "any", "closed") else "")
        self.setAccessibleName(f"{title}, {word}")
        restyle(self, "surface", "raised" if state in RAISED else "panel")
        self._act, self._primary = action, state in ("next", "ready")
        self.action.setVisible(bool(action))
        self.action.setEnabled(enabled)
        self._name_action()

    def fold(self, *, opened: bool) -> None:
        """Show or hide the body; while it is open the action shuts it."""
        if self.body is not None:
            self._open = opened
            self.body.setVisible(opened)
            self._name_action()

    def _name_action(self) -> None:
        words = "Close" if self._open and self.shuts else self._act
        self.action.setText(words)
        self.action.setAccessibleName(
            f"{self.name.text()}: {words}" if words else self.name.text() or "Step"
        )
        primary = self._primary and not (self._open and self.shuts)
        restyle(self.action, "kind", "primary" if primary else "")

    def enter(self) -> None:
        """Put the focus on the first field of the body."""
        for field in [] if self.body is None else self.body.findChildren(QWidget):
            takes = bool(field.focusPolicy() & Qt.FocusPolicy.TabFocus)
            if takes and field.isVisibleTo(self) and not isinstance(field, QLabel):
                field.setFocus()
                return
