"""Below the answers: confidence, usefulness, comment, "cannot judge", and the keys in force.

Owns the words of what is optional. What the study's protocol turns off is not there. Each button
keeps the width of its longest words, so that nothing moves when something is chosen.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from app import theme
from app.keys import with_key
from app.widgets.key_strip import KeyStrip
from app.widgets.one_line import OneLine

CONFIDENCE = {1: "1 low", 2: "2 medium", 3: "3 high"}
USEFULNESS = {0: "0 not useful", 1: "1 partly useful", 2: "2 useful"}
NONE = "\u2013"
CHECK = "\u2713 "


class DetailsBar(QFrame):
    """One line of optional answers and the keys.

    Signals:
        confidence_asked, usefulness_asked: the next value.
        comment_asked, cannot_asked: what they say.
        comment_kept: the line was written.
        comment_left: the line was closed without keeping it.
    """

    confidence_asked = Signal()
    usefulness_asked = Signal()
    comment_asked = Signal()
    cannot_asked = Signal()
    comment_kept = Signal(str)
    comment_left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "bar")
        self.keys = KeyStrip()
        self.line = OneLine("Comment", "Enter keeps the comment, Esc leaves it")
        self._said: dict[str, str] = {}
        self.buttons = {
            name: self._button(name) for name in ("cannot", "confidence", "usefulness", "comment")
        }
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_M, theme.SPACE_XS)
        self._row.setSpacing(theme.SPACE_XS)
        for button in self.buttons.values():
            self._row.addWidget(button)
        self._row.addWidget(self.line, 1)
        self._row.addWidget(self.keys, 1)
        self.line.hide()
        self.line.kept.connect(self._keep)
        self.line.left.connect(self._leave)
        self.show_said(confidence=None, usefulness=None, comment="", cannot=False)
        theme.theme.scaled.connect(self.name_keys)

    def show_protocol(self, *, confidence: bool, usefulness: bool, comments: bool) -> None:
        """What this study asks for; the rest is not there."""
        for name, asked in (("confidence", confidence), ("usefulness", usefulness),
                            ("comment", comments)):  # fmt: skip
            self.buttons[name].setVisible(asked)

    def show_said(
        self, *, confidence: int | None, usefulness: int | None, comment: str, cannot: bool
    ) -> None:
        """What was said so far; usefulness is that of the chosen candidate."""
        self._said = {
            "confidence": CONFIDENCE.get(confidence or 0, NONE),
            "usefulness": NONE if usefulness is None else USEFULNESS[usefulness],
            "comment": comment,
            "cannot": "cannot" if cannot else "",
        }
        self.name_keys()

    def show_candidate(self, *, chosen: bool) -> None:
        """Whether a candidate is chosen, whose usefulness can be said."""
        self.buttons["usefulness"].setEnabled(chosen)

    def open_comment(self, text: str) -> None:
        """The line, with what was written before."""
        self.keys.hide()
        self.line.open(text)

    @property
    def writing(self) -> bool:
        """True while the line is open and has the keys."""
        return not self.line.isHidden()

    def close_comment(self) -> None:
        """The line goes, the keys come back; nothing is kept."""
        self.line.hide()
        self.keys.show()

    def name_keys(self) -> None:
        """Say the keys in force."""
        for name, button in self.buttons.items():
            words = self._words(name, self._said.get(name, ""))
            button.setText(words)
            button.setAccessibleName(words)
            said = self._said.get(name, NONE) not in ("", NONE)
            button.setStyleSheet(f"font-weight: 600; border-color: {theme.LINE};" if said else "")
            face = QFontMetrics(theme.font("body", bold=True))
            longest = max(face.horizontalAdvance(self._words(name, one)) for one in _ALL[name])
            button.setMinimumWidth(longest + 2 * theme.SPACE_S + 4)
        self.keys.name_keys()

    def _words(self, name: str, said: str) -> str:
        if name == "cannot":
            return with_key(f"{CHECK if said else ''}cannot judge", "answer-cannot")
        if name == "comment":
            return with_key(f"{CHECK if said else ''}comment", "comment")
        return with_key(f"{name} {said}", name)

    def _keep(self, text: str) -> None:
        self.close_comment()
        self.comment_kept.emit(text)

    def _leave(self) -> None:
        self.close_comment()
        self.comment_left.emit()

    def _button(self, name: str) -> QPushButton:
        button = QPushButton()
        button.setProperty("kind", "flat")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        signal = getattr(self, f"{name}_asked")
        button.clicked.connect(lambda: signal.emit())
        return button


_ALL = {
    "cannot": ("", "cannot"),
    "confidence": (NONE, *CONFIDENCE.values()),
    "usefulness": (NONE, *USEFULNESS.values()),
    "comment": ("", "comment"),
}
