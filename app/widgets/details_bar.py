"""Below the answers: confidence, usefulness, comment, "cannot judge", and the keys in force.

Owns the words of what is optional. What the study's protocol turns off is not there. Each button
keeps the width of its longest words, so that nothing moves when something is chosen.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app import theme
from app.keys import with_key
from app.widgets.key_strip import KeyStrip
from app.widgets.one_line import OneLine

CONFIDENCE = {1: "1 low", 2: "2 medium", 3: "3 high"}
USEFULNESS = {0: "0 not", 1: "1 partly", 2: "2 useful"}
NOTES = {0: "0 not useful", 1: "1 partly useful", 2: "2 useful"}  # behind a title
NONE = "\u2013"
WRITING = "Enter keeps it, Esc leaves it"
CHECK = "\u2713 "
LONGEST = "Enter stores it and goes on, or so"  # a sentence that finds room beside the buttons


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
        self.line = OneLine("Comment", "Comment on this item")
        self._said: dict[str, str] = {}
        self._dressed: dict[str, str] = {}
        self._asked = dict.fromkeys(_ALL, True)
        self._writing = False
        self._room = self.width()
        self.buttons = {
            name: self._button(name) for name in ("cannot", "confidence", "usefulness", "comment")
        }
        for widget in (*self.buttons.values(), self.line, self.keys):
            widget.setParent(self)
        self.line.setStyleSheet(f"QLineEdit:focus {{ border: 1px solid {theme.QUIET}; }}")
        self.line.hide()
        self.line.kept.connect(self._keep)
        self.line.left.connect(self._leave)
        self.show_said(confidence=None, usefulness=None, comment="", cannot=False)
        self.name_keys()
        theme.theme.scaled.connect(self.name_keys)

    def show_protocol(self, *, confidence: bool, usefulness: bool, comments: bool) -> None:
        """What this study asks for; the rest is not there."""
        self._asked = {"cannot": True, "confidence": confidence, "usefulness": usefulness,
                       "comment": comments}  # fmt: skip
        self._arrange()

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
        self._dress()

    def show_candidate(self, *, chosen: bool) -> None:
        """Whether a candidate is chosen, whose usefulness can be said."""
        self.buttons["usefulness"].setEnabled(chosen)

    def open_comment(self, text: str) -> None:
        """The line in place of the buttons, with what was written before."""
        self._writing = True
        self.keys.show_over(WRITING)
        self._arrange()
        self.line.open(text)

    @property
    def writing(self) -> bool:
        """True while the line is open and has the keys."""
        return self._writing

    def keep_comment(self) -> None:
        """As by Enter: what is written so far is kept."""
        if self._writing:
            self._keep(self.line.text().strip())

    def leave_comment(self) -> None:
        """As by Esc: nothing is kept."""
        if self._writing:
            self._leave()

    def close_comment(self) -> None:
        """The line goes, the rest comes back; nothing is kept."""
        self._writing = False
        self.keys.show_over("")
        self._arrange()

    def fit_to(self, width: int) -> None:
        """Take the places and the height of this width at once."""
        self._room = width
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_to(self.width())

    def _arrange(self) -> None:
        """One row, or two where the keys and a sentence would not fit beside the buttons.

        The height hangs on the width, the type and the protocol alone, never on the item.
        """
        shown = [button for name, button in self.buttons.items() if self._asked[name]]
        high = self.keys.sizeHint().height() + theme.SPACE_S
        room = self._room - 2 * theme.SPACE_XS - theme.SPACE_S
        wide = sum(button.minimumWidth() + theme.SPACE_XS for button in shown)
        two = room - wide < QFontMetrics(theme.font("body")).horizontalAdvance(LONGEST)
        self.setFixedHeight((2 if two else 1) * high)
        x = theme.SPACE_XS
        for button in self.buttons.values():
            button.setVisible(button in shown and not self._writing)
        for button in shown:
            button.setGeometry(x, 0, button.minimumWidth(), high - theme.SPACE_XS)
            x += button.minimumWidth() + theme.SPACE_XS
        if two:
            self.keys.setGeometry(theme.SPACE_XS, high - 2, room, high - theme.SPACE_XS)
        else:
            self.keys.setGeometry(x + theme.SPACE_S, 0, room - x, high - theme.SPACE_XS)
        end = self._room - theme.SPACE_XS if two else self.keys.x() - theme.SPACE_S
        self.line.setVisible(self._writing)
        self.line.setGeometry(theme.SPACE_XS, 0, end - theme.SPACE_XS, high - theme.SPACE_XS)

    def name_keys(self) -> None:
        """Say the keys in force; each button is as wide as its longest words."""
        face = QFontMetrics(theme.font("body", bold=True))
        for name, button in self.buttons.items():
            longest = max(face.horizontalAdvance(self._words(name, one)) for one in _ALL[name])
            button.setMinimumWidth(longest + 2 * theme.SPACE_S + 4)
        self._dressed = {}
        self._dress()
        self.keys.name_keys()
        self._arrange()

    def _dress(self) -> None:
        """Words and look of what changed; style sheets are dear, and items follow fast."""
        for name, button in self.buttons.items():
            value = self._said.get(name, "")
            if self._dressed.get(name) == value:
                continue
            self._dressed[name] = value
            button.setText(self._words(name, value))
            button.setAccessibleName(button.text())
            look = _SAID if value not in ("", NONE) else _UNSAID
            if button.styleSheet() != look:
                button.setStyleSheet(look)

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


_UNSAID = f"text-align: left; padding: 3px {theme.SPACE_S}px;"
_SAID = f"{_UNSAID} font-weight: 600; border-color: {theme.QUIET};"
_ALL = {
    "cannot": ("", "cannot"),
    "confidence": (NONE, *CONFIDENCE.values()),
    "usefulness": (NONE, *USEFULNESS.values()),
    "comment": ("", "comment"),
}
