"""A test pattern for the display, after the uses of TG18-QC: what a reader can look for.

Painted in device pixels with exact grey values: nothing is corrected, smoothed or scaled. Owns
the drawing; what the reader states about the display is kept by ``app.widgets.pattern_screen``.
Source of the elements: AAPM TG18 report, 3.2.1.2 and AAPM report 270.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

GROUND = 128
GRID, BORDER = 192, 255
STEPS = tuple(round(255 * step / 17) for step in range(18))
LOW, HIGH = (0, 13), (255, 242)  # 5 % on black, 95 % on white
PAIRS = (1, 2, 4)
CONTRASTS = ((0, 255), (120, 136))
WORDS = "GREY STEPS"


@dataclass(frozen=True)
class Plan:
    """Where the parts lie, in device pixels.

    Attributes:
        unit: side of a grid cell.
        steps: one square per grey of ``STEPS``.
        low, high: outer squares of the 5 % and the 95 % patch.
        ramps: bars that run through all 256 greys, upwards and downwards.
        pairs: one square per place of line pairs.
        words: the line of fading words.
    """

    unit: int
    steps: tuple[QRect, ...]
    low: QRect
    high: QRect
    ramps: tuple[QRect, QRect]
    pairs: tuple[QRect, ...]
    words: QRect


def plan(width: int, height: int) -> Plan:
    """Lay the pattern out on a display of device pixels."""
    unit = max(8, min(width // 24, height // 12))
    middle_x, middle_y = width // 2, height // 2
    left = middle_x - 9 * unit
    row = [QRect(left + n * unit, middle_y - 3 * unit, unit, unit) for n in range(18)]
    square = 2 * unit
    low = QRect(middle_x - square - unit // 2, middle_y - unit, square, square)
    high = QRect(middle_x + unit // 2, middle_y - unit, square, square)
    ramp = (
        QRect(left, middle_y + 2 * unit, 18 * unit, unit // 2),
        QRect(left, middle_y + 2 * unit + unit // 2, 18 * unit, unit // 2),
    )
    edge = unit // 2
    corners = [
        QRect(edge, edge, square, square),
        QRect(width - edge - square, edge, square, square),
        QRect(edge, height - edge - square, square, square),
        QRect(width - edge - square, height - edge - square, square, square),
    ]
    beside = [
        QRect(middle_x - 6 * unit, middle_y - unit, square, square),
        QRect(middle_x + 4 * unit, middle_y - unit, square, square),
    ]
    words = QRect(left, middle_y + 3 * unit + unit // 4, 18 * unit, unit)
    return Plan(unit, tuple(row), low, high, ramp, (*corners, *beside), words)


def grey(value: int) -> QColor:
    """A neutral grey."""
    return QColor(value, value, value)


def draw(painter: QPainter, width: int, height: int) -> Plan:
    """Draw the whole pattern; the painter must count device pixels."""
    laid = plan(width, height)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillRect(0, 0, width, height, grey(GROUND))
    _grid(painter, width, height, laid.unit)
    for value, box in zip(STEPS, laid.steps, strict=True):
        painter.fillRect(box, grey(value))
    _patch(painter, laid.low, LOW)
    _patch(painter, laid.high, HIGH)
    _ramp(painter, laid.ramps[0], rising=True)
    _ramp(painter, laid.ramps[1], rising=False)
    for box in laid.pairs:
        _pairs(painter, box)
    _words(painter, laid.words)
    return laid


def _grid(painter: QPainter, width: int, height: int, unit: int) -> None:
    """Lines at equal distances and a border on the outermost pixels: squares must look square."""
    for x in range(width // 2 % unit, width, unit):
        painter.fillRect(x, 0, 1, height, grey(GRID))
    for y in range(height // 2 % unit, height, unit):
        painter.fillRect(0, y, width, 1, grey(GRID))
    for edge in (
        QRect(0, 0, width, 1), QRect(0, height - 1, width, 1),
        QRect(0, 0, 1, height), QRect(width - 1, 0, 1, height),
    ):  # fmt: skip
        painter.fillRect(edge, grey(BORDER))


def _patch(painter: QPainter, box: QRect, values: tuple[int, int]) -> None:
    outer, inner = values
    painter.fillRect(box, grey(outer))
    side = box.width() // 2
    small = QRect(0, 0, side, side)
    small.moveCenter(box.center())
    painter.fillRect(small, grey(inner))


def _ramp(painter: QPainter, box: QRect, *, rising: bool) -> None:
    for column in range(box.width()):
        value = column * 256 // box.width()
        value = value if rising else 255 - value
        painter.fillRect(box.left() + column, box.top(), 1, box.height(), grey(value))


def _pairs(painter: QPainter, box: QRect) -> None:
    """Lines of one, two and four pixels, upright left and lying right, high and low contrast."""
    painter.fillRect(box, grey(GROUND))
    cell_x, cell_y = box.width() // 4, box.height() // len(PAIRS)
    for row, wide in enumerate(PAIRS):
        for column in range(4):
            dark, light = CONTRASTS[column // 2]
            cell = QRect(box.left() + column * cell_x, box.top() + row * cell_y, cell_x, cell_y)
            painter.fillRect(cell, grey(dark))
            _lines(painter, cell, wide, light, upright=column % 2 == 0)


def _lines(painter: QPainter, box: QRect, wide: int, value: int, *, upright: bool) -> None:
    room = box.width() if upright else box.height()
    for at in range(0, room, 2 * wide):
        thick = min(wide, room - at)
        if upright:
            painter.fillRect(box.left() + at, box.top(), thick, box.height(), grey(value))
        else:
            painter.fillRect(box.left(), box.top() + at, box.width(), thick, grey(value))


def _words(painter: QPainter, box: QRect) -> None:
    """Letters that fade into dark, middle and light ground: the last one read is the answer."""
    face = QFont()
    face.setPixelSize(max(10, box.height() * 6 // 10))
    painter.setFont(face)
    third = box.width() // 3
    for number, ground in enumerate((0, GROUND, 255)):
        part = QRect(box.left() + number * third, box.top(), third, box.height())
        painter.fillRect(part, grey(ground))
        letter = part.width() // len(WORDS)
        for place, sign in enumerate(WORDS):
            step = 2 * (len(WORDS) - place)
            painter.setPen(grey(ground - step if ground == 255 else ground + step))
            at = QRect(part.left() + place * letter, part.top(), letter, part.height())
            painter.drawText(at, int(Qt.AlignmentFlag.AlignCenter), sign)


class DisplayPattern(QWidget):
    """The pattern as large as the widget, in the display's own pixels."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Test pattern of the display")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        ratio = self.devicePixelRatioF()
        painter.scale(1 / ratio, 1 / ratio)
        draw(painter, round(self.width() * ratio), round(self.height() * ratio))
