"""The keys in force on a page, on top of it, until any key is pressed.

Made from ``app.keys.COMMANDS`` each time it opens, so that it never tells of keys that are no
longer so. What the mouse does stands beside it. Owns that all of it fits, in the person's size of
text if it can: long lines wrap before the letters become smaller.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from app import keys, theme
from app.key_names import shown_name
from app.keys import COMMANDS, Command
from app.widgets.blocks import clear
from app.widgets.window_presets import PLAIN_NAMES

TITLES = {"review": "Rating", "viewer": "Viewer", "shared": "Frames", "picture": "Pictures",
          "window": "Window"}  # fmt: skip
MOUSE = (
    ("Wheel", "Slices"),
    ("Left drag", "Window: across for width, down for level"),
    ("Middle drag", "Move; on a laptop left drag with Shift"),
    ("Right drag", "Zoom; or the wheel with Ctrl"),
    ("Double click", "Enlarge the frame, or shrink it"),
    ("Tab, pointer", "Choose a frame"),
)
COLUMNS = 3
WINDOW = frozenset({"full-screen", "quit"})  # of the keys that count everywhere
LINE_GAP = 2
SHEET = 'QLabel {{ font-size: {size}px; }} QLabel[part="key"] {{ font-weight: 600; }}'
WRAPPED = int(Qt.TextFlag.TextWordWrap)

Line = tuple[str, str]
Placed = tuple[Line | str, int, int]
Block = tuple[str, tuple[Line, ...]]


def blocks_of(page: str, without: Collection[str] = ()) -> tuple[Block, ...]:
    """Headings with lines of (keys, what they do) of ``viewer`` or ``review``.

    Args:
        page: whose keys.
        without: commands that are not to be told, with all whose ids begin so (``confidence``).
    """
    places = (page, "shared", "picture", "window")
    left_out = set(keys.NOT_RATING if page == "review" else ())
    left_out |= {one.id for one in COMMANDS if one.id.partition("-")[0] in without}
    left_out |= {one.id for one in COMMANDS if one.page == "window" and one.id not in WINDOW}
    made = [(TITLES[place], tuple(_lines(place, page, left_out))) for place in places]
    return (*made, ("Mouse", MOUSE))


def _lines(place: str, page: str, left_out: Collection[str]) -> list[Line]:
    force = keys.current()
    return [
        (", ".join(map(shown_name, force.keys_of(command.id))), _told(command, page))
        for command in COMMANDS
        if command.page == place and command.id not in left_out and force.keys_of(command.id)
    ]


def _told(command: Command, page: str) -> str:
    """What a command does on that page: while rating no value has a unit, so no window an organ."""
    kind, _, number = command.id.partition("-")
    if page == "review" and kind == "preset":
        return f"Window: {PLAIN_NAMES[number]}"
    return command.text


def placed(blocks: Sequence[Block]) -> list[Placed]:
    """(line, row, column) in columns of about one height; no heading alone at a column's foot."""
    lines: list[Line | str] = []
    for title, inside in blocks:
        lines += [title, *inside]
    high = -(-len(lines) // COLUMNS)
    row, column, made = 0, 0, []
    for line in lines:
        last = row == high - 1 and isinstance(line, str)
        if column < COLUMNS - 1 and (row >= high or last):
            row, column = 0, column + 1
        made.append((line, row, column))
        row += 1
    return made


@dataclass(frozen=True)
class Plan:
    """How the lines lie at one size of the letters.

    Attributes:
        size: of the letters, in pixels.
        keys, words: width of each column's keys and of what they do, in pixels.
        height: of the whole panel, in pixels.
        wide: the keys alone leave no room for words.
    """

    size: int
    keys: tuple[int, ...]
    words: tuple[int, ...]
    height: int
    wide: bool


def plan_of(lines: Sequence[Placed], room: QSize, size: int) -> Plan:
    """Measure the lines in a room without making a single widget."""
    bold, plain = (_metrics(size, bold=heavy) for heavy in (True, False))
    pairs = [(line, row, column) for line, row, column in lines if not isinstance(line, str)]
    keys_ = tuple(
        max((bold.horizontalAdvance(line[0]) + 1 for line, _row, at in pairs if at == column),
            default=0) for column in range(COLUMNS)
    )  # fmt: skip
    natural = [
        max((plain.horizontalAdvance(line[1]) + 1 for line, _row, at in pairs if at == column),
            default=0) for column in range(COLUMNS)
    ]  # fmt: skip
    edges = 2 * theme.SPACE_L + (2 * COLUMNS - 1) * theme.SPACE_M + COLUMNS * theme.SPACE_L + 4
    free = room.width() - edges - sum(keys_)
    words = shared(natural, free)
    rows: dict[int, int] = {}
    for line, row, column in lines:
        high = plain.height()
        if not isinstance(line, str):
            high = _height(plain, line[1], words[column])
        rows[row] = max(rows.get(row, 0), high)
    height = sum(rows.values()) + LINE_GAP * len(rows) + plain.height()
    return Plan(size, keys_, words, height + 2 * theme.SPACE_L + theme.SPACE_M + 4, free < 60)


def shared(wanted: Sequence[int], free: int) -> tuple[int, ...]:
    """Widths for each that together are no more than is free; whoever wants little gets all."""
    given, left = [0] * len(wanted), len(wanted)
    for place in sorted(range(len(wanted)), key=lambda one: wanted[one]):
        given[place] = max(1, min(wanted[place], free // left))
        free -= given[place]
        left -= 1
    return tuple(given)


def _metrics(size: int, *, bold: bool) -> QFontMetrics:
    face = theme.font("body", bold=bold)
    face.setPixelSize(size)
    return QFontMetrics(face)


def _height(metrics: QFontMetrics, words: str, width: int) -> int:
    return metrics.boundingRect(QRect(0, 0, width, 10_000), WRAPPED, words).height()


class KeyHelp(QFrame):
    """A panel with the keys of a page.

    Args:
        parent: what it lies on.
        page: ``viewer`` or ``review``.
    """

    def __init__(self, parent: QWidget, *, page: str) -> None:
        super().__init__(parent)
        self._room, self._page = parent, page
        self._without: frozenset[str] = frozenset()
        self.setProperty("surface", "raised")
        self.setAccessibleName("Keys")
        column = QVBoxLayout(self)
        column.setContentsMargins(*([theme.SPACE_L] * 4))
        column.setSpacing(theme.SPACE_M)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(theme.SPACE_M)
        self._grid.setVerticalSpacing(LINE_GAP)
        column.addLayout(self._grid)
        close = QLabel("Any key closes this. Settings, Keys changes them.")
        close.setProperty("role", "small")
        close.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(close)
        parent.installEventFilter(self)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the middle, and as large as can be, when the page changes its size."""
        if event.type() == QEvent.Type.Resize and watched is self._room and self.isVisible():
            self.hide()  # lines made while it is shown would be measured by and by, not at once
            self.open()
        return False

    def words(self) -> str:
        """Everything that it says, for a look or a test."""
        return "\n".join(label.text() for label in self.findChildren(QLabel))

    def leave_out(self, commands: Collection[str]) -> None:
        """Commands that are not to be told, with all whose ids begin so."""
        self._without = frozenset(commands)

    def open(self) -> None:
        """Show the keys in force, in the middle of its parent."""
        clear(self._grid)
        lines = placed(blocks_of(self._page, self._without))
        plan = self._fitting(lines)
        self.setStyleSheet(SHEET.format(size=plan.size))
        for line, row, column in lines:
            self._add(line, row, column, plan)
        self.adjustSize()
        place = self.rect()
        place.moveCenter(self._room.rect().center())
        self.setGeometry(place)
        self.raise_()
        self.show()

    def _fitting(self, lines: Sequence[Placed]) -> Plan:
        """The largest letters, up to the person's own, with which everything fits."""
        size, room = theme.px("body"), self._room.size()
        plan = plan_of(lines, room, size)
        while (plan.wide or plan.height > room.height()) and size > theme.TYPE_PX["small"] - 2:
            size -= 1
            plan = plan_of(lines, room, size)
        return plan

    def _add(self, line: Line | str, row: int, column: int, plan: Plan) -> None:
        if isinstance(line, str):
            heading = QLabel(line.upper())
            heading.setProperty("role", "quiet")
            self._grid.addWidget(heading, row, column * 2, 1, 2, Qt.AlignmentFlag.AlignTop)
            return
        name, words = QLabel(line[0]), QLabel(line[1])
        name.setProperty("part", "key")
        name.setFixedWidth(plan.keys[column])
        words.setWordWrap(True)
        words.setContentsMargins(0, 0, theme.SPACE_L, 0)
        high = _height(_metrics(plan.size, bold=False), line[1], plan.words[column])
        words.setFixedSize(plan.words[column] + theme.SPACE_L, high)
        top = Qt.AlignmentFlag.AlignTop  # the row may be as high as a wrapped line beside it
        self._grid.addWidget(name, row, column * 2, top)
        self._grid.addWidget(words, row, column * 2 + 1, top)
