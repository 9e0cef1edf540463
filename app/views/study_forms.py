"""The one act of unblinding: named, with passphrase and reason, confirmed by its one button.

A passphrase is taken from its field, emitted once and wiped; it is never shown or kept.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.views.study_panels import grid
from app.widgets.blocks import button, column, heading, label, quiet, row, tell

ENDS = (
    "This cannot be undone. It is logged with its reason and time. From then on the names are "
    "shown, no further answer is taken, and no pack or file of answers is accepted any more."
)


class UnblindForm(QWidget):
    """Names the act, says what ends, takes passphrase and reason."""

    unblind_wanted = Signal(str, str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.heading = heading()
        self.secret, self.reason = QLineEdit(), QLineEdit()
        self.secret.setEchoMode(QLineEdit.EchoMode.Password)
        self.reason.setPlaceholderText("For example: all readers have finished")
        self.outstanding, self.problem = label("", "warn"), label("")
        self.confirm = button("Unblind", self._confirm, kind="danger")
        self.leave = button("Keep it blind", self.left.emit)
        self.setLayout(
            column(
                self.heading,
                quiet(ENDS),
                self.outstanding,
                grid(("Passphrase of the key", self.secret), ("Reason", self.reason)),
                self.problem,
                row(self.confirm, self.leave, 1),
            )
        )
        for box in (self.secret, self.reason):
            box.textChanged.connect(self._check)
        tell(self.outstanding, "")
        tell(self.problem, "")

    def ask(self, study_title: str, outstanding: str = "") -> None:
        """Ask about one study; say what would be lost by opening it now."""
        self.heading.setText(f"Unblind study '{study_title}'")
        self.confirm.setText(f"Unblind '{study_title}'")
        self.confirm.setAccessibleName(f"Unblind study {study_title}")
        self.secret.clear()
        self.reason.clear()
        tell(self.outstanding, outstanding, "warn")
        tell(self.problem, "")
        self._check()
        self.secret.setFocus()

    def show_problem(self, text: str) -> None:
        """Say why the key did not open, or that it is being opened."""
        tell(self.problem, text, "error")
        self._check()
        if text:
            self.secret.setFocus()  # it was wiped, and its button is shut until it is typed again

    def _check(self) -> None:
        self.confirm.setEnabled(bool(self.secret.text() and self.reason.text().strip()))

    def _confirm(self) -> None:
        secret, reason = self.secret.text(), self.reason.text().strip()
        self.secret.clear()
        self.confirm.setEnabled(False)
        self.unblind_wanted.emit(secret, reason)
