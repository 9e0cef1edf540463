"""One line at the foot of the Review page: the keys in force, or one sentence in their place.

Owns which keys are named and that what does not fit is left out whole, never cut. A command
without a key is not named.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from app.keys import first_key

GAP = "     "
# words, the commands whose first keys are named; the last entry is always there
ENTRIES = (
    ("choose", ("select-left", "select-right", "select-up", "select-down")),
    ("scroll", ("slice-up", "slice-down")),
    ("window", ("grey-narrower", "grey-wider", "grey-darker", "grey-brighter")),
    ("enlarge", ("maximise",)),
    ("hold: compare", ("flip",)),
    ("zoom", ("zoom-in", "zoom-out")),
    ("move", ("pan-left", "pan-right", "pan-up", "pan-down")),
    ("fit", ("fit",)),
    ("all keys", ("help",)),
)
ARROWS = {"Left": "\u2190", "Right": "\u2192", "Up": "\u2191", "Down": "\u2193"}
LASTING = 1  # entries at the end that are kept when others give way


def keys_of(commands: tuple[str, ...]) -> str:
    """First keys in force, shortly: ``Shift+arrows`` where all four are there, ``Up/Down``."""
    names = [name for name in map(first_key, commands) if name]
    parts = [name.rpartition("+") for name in names]
    held = {part[0] for part in parts}
    arrows = [ARROWS.get(part[2], "") for part in parts]
    if len(held) == 1 and names and all(arrows):
        prefix = f"{held.pop()}+" if parts[0][0] else ""
        return prefix + ("arrows" if len(names) == 4 else " ".join(arrows))
    return " ".join(names)


class KeyStrip(QWidget):
    """Draws the line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hint = self._over = ""
        self._entries: list[tuple[str, str]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.name_keys()

    @property
    def words(self) -> str:
        """What is drawn now."""
        if self._over or self._hint:
            return self._over or self._hint
        return GAP.join(f"{name} {said}" for name, said in self._fitting(self.width()))

    def name_keys(self) -> None:
        """Say the keys in force."""
        told = [(keys_of(commands), said) for said, commands in ENTRIES]
        self._entries = [(name, said) for name, said in told if name]
        self.setAccessibleName(self.words)
        self.update()

    def show_hint(self, sentence: str, *, kind: str = "quiet") -> None:
        """One sentence instead of the keys; empty shows the keys again."""
        word = {"warn": "Note: ", "error": "Error: "}.get(kind, "")
        self._hint = f"{word}{sentence}" if sentence else ""
        self.setAccessibleName(self.words)
        self.update()

    def show_over(self, words: str) -> None:
        """A sentence above all others for a while; empty gives way to them again."""
        self._over = words
        self.setAccessibleName(self.words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, QFontMetrics(theme.font("body")).height() + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        said = self._over or self._hint
        if said:
            painter.setFont(self._face_for(said))
            painter.setPen(QColor(theme.TEXT))  # no tint on a screen with pictures to be judged
            room = QFontMetrics(painter.font())
            words = room.elidedText(said, Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(self.rect(), _RIGHT, words)
            return
        self._draw_keys(painter)

    def _draw_keys(self, painter: QPainter) -> None:
        plain, bold = theme.font("small"), theme.font("small", bold=True)
        right = self.width()
        for name, said in reversed(self._fitting(self.width())):
            for words, face, ink in ((said, plain, theme.QUIET), (name, bold, theme.TEXT)):
                wide = QFontMetrics(face).horizontalAdvance(words)
                painter.setFont(face)
                painter.setPen(QColor(ink))
                painter.drawText(QRect(right - wide, 0, wide, self.height()), _RIGHT, words)
                right -= wide + 5
            right -= theme.SPACE_M

    def _fitting(self, room: int) -> list[tuple[str, str]]:
        """The entries that fit whole: the first ones, and always the last."""
        last = self._entries[-LASTING:]
        room -= sum(map(_width, last))
        kept = []
        for entry in self._entries[:-LASTING]:
            room -= _width(entry)
            if room < 0:
                break
            kept.append(entry)
        return [*kept, *last]

    def _face_for(self, words: str) -> QFont:
        """The largest face in which a sentence fits, not below the small one at 100 %."""
        face = theme.font("body")
        for size in range(theme.px("body"), theme.TYPE_PX["small"] - 1, -1):
            face.setPixelSize(size)
            if QFontMetrics(face).horizontalAdvance(words) <= self.width():
                break
        return face


_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


def _width(entry: tuple[str, str]) -> int:
    name, said = entry
    bold = QFontMetrics(theme.font("small", bold=True)).horizontalAdvance(name)
    return bold + QFontMetrics(theme.font("small")).horizontalAdvance(said) + 10 + theme.SPACE_M
