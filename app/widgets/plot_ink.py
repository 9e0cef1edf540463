"""Pens, fonts and hatchings that the plots of the Statistics page share.

Owns how each kind of answer looks: a colour of the colour-blind-safe set and a hatching, so that
no meaning hangs on colour alone. Owns no data.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter, QPen

from app import theme
from app.widgets.chart import font_of as face
from app.widgets.chart import shade_text
from app.widgets.ink import ink, px, series

MIDDLE = Qt.AlignmentFlag.AlignVCenter
LEFT, RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
CENTRE = Qt.AlignmentFlag.AlignHCenter
WRAP = Qt.TextFlag.TextWordWrap.value
SERIES = {"first": 0, "second": 1, "time": 2}
BOTH, NEITHER, AUTO, SPLIT = "#b4b4b4", "#6c6c6c", "#484848", "#8c8c8c"
# What is no model and no tie: greys of the theme, never the colours of the models.
GREYS = {"both": BOTH, "neither": NEITHER, "split": SPLIT,
         "right": theme.TEXT, "unsure": theme.QUIET, "wrong": theme.DISABLED}  # fmt: skip


def metrics(size: int = 13, *, bold: bool = False) -> QFontMetrics:
    """Metrics of that face without a painter."""
    font = theme.font("body", bold=bold)
    font.setPixelSize(px(size))
    return QFontMetrics(font)


def colour_of(fill: str) -> QColor:
    """The colour of a kind of answer."""
    if fill in SERIES:
        return series(SERIES[fill])
    return QColor(GREYS.get(fill, AUTO))


def pattern_of(fill: str) -> Qt.BrushStyle:
    """The hatching of a kind of answer; the first model has none."""
    return {
        "second": Qt.BrushStyle.BDiagPattern,
        "neither": Qt.BrushStyle.FDiagPattern,
        "auto": Qt.BrushStyle.DiagCrossPattern,
        "split": Qt.BrushStyle.HorPattern,
        "unsure": Qt.BrushStyle.Dense7Pattern,
        "wrong": Qt.BrushStyle.BDiagPattern,
    }.get(fill, Qt.BrushStyle.NoBrush)


def fill_box(painter: QPainter, box: QRectF, fill: str) -> None:
    """A box in the colour and the hatching of a kind of answer."""
    painter.fillRect(box, colour_of(fill))
    pattern = pattern_of(fill)
    if pattern != Qt.BrushStyle.NoBrush:
        shade = QColor(0, 0, 0, 70)
        painter.fillRect(box, QBrush(shade, pattern))


def swatch(painter: QPainter, box: QRectF, fill: str) -> None:
    """A small box of a kind, beside its word."""
    fill_box(painter, box, fill)
    painter.setPen(QPen(ink("line"), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(box)


def name_in(
    painter: QPainter, box: QRectF, text: str, side: Qt.AlignmentFlag, *, bold: bool = False
) -> None:
    """A name in a box: smaller, then in two lines, and only then cut in its middle."""
    for size in (13, 11):
        if face(painter, size, bold=bold).horizontalAdvance(text) <= box.width():
            painter.drawText(box, MIDDLE | side, text)
            return
    found = painter.fontMetrics()
    flags = (MIDDLE | side).value | WRAP
    wrapped = found.boundingRect(box.toRect(), flags, text)
    high = min(2 * found.lineSpacing() + px(4), box.height() + px(4))
    if wrapped.height() <= high and wrapped.width() <= box.width():
        painter.drawText(box.adjusted(0, -px(2), 0, px(2)), flags, text)
    else:
        painter.drawText(box, MIDDLE | side, elided(painter, text, box.width()))


def number_on(painter: QPainter, box: QRectF, percent: float, fill: str) -> bool:
    """A share in the middle of a filled box where it has room; True if it was drawn.

    A narrow box has it smaller, then without its unit, then upright.
    """
    place = _place_of(painter, box, percent)
    if place is None:
        return False
    text, upended = place
    painter.save()
    painter.translate(box.center())
    room = QRectF(-box.width() / 2, -box.height() / 2, box.width(), box.height())
    if upended:
        painter.rotate(-90)
        room = QRectF(room.top(), room.left(), room.height(), room.width())
    ground = colour_of(fill)
    if pattern_of(fill) != Qt.BrushStyle.NoBrush:  # no letters on a hatching
        found = painter.fontMetrics()
        plate = QRectF(0, 0, found.horizontalAdvance(text) + px(6), found.height())
        plate.moveCenter(room.center())
        painter.fillRect(plate.intersected(room), ground)
    painter.setPen(shade_text(ground))
    painter.drawText(room, MIDDLE | CENTRE, text)
    painter.restore()
    return True


def _place_of(painter: QPainter, box: QRectF, percent: float) -> tuple[str, bool] | None:
    """The words that a box has room for and whether they stand upright; sets their face."""
    for size, text in ((13, f"{percent:.1f} %"), (11, f"{percent:.1f} %"), (11, f"{percent:.1f}")):
        if face(painter, size).horizontalAdvance(text) + px(4) <= box.width():
            return text, False
    found, text = painter.fontMetrics(), f"{percent:.1f}"
    fits = (
        found.capHeight() + px(2) <= box.width() and found.horizontalAdvance(text) <= box.height()
    )
    return (text, True) if fits else None


def interval(
    painter: QPainter, low: float, high: float, y: float, *, colour: QColor, thick: float = 1.6
) -> None:
    """A horizontal interval with end caps and a dark rim, so that it shows on any ground."""
    half = px(3)
    for ground, width in ((ink("picture"), thick + 2), (colour, thick)):
        painter.setPen(QPen(ground, width))
        painter.drawLine(QPointF(low, y), QPointF(high, y))
        for x in (low, high):
            painter.drawLine(QPointF(x, y - half), QPointF(x, y + half))


def upright(painter: QPainter, x: float, low: float, high: float, *, colour: QColor) -> None:
    """A vertical interval with end caps."""
    half = px(4)
    painter.setPen(QPen(colour, 1.6))
    painter.drawLine(QPointF(x, low), QPointF(x, high))
    for y in (low, high):
        painter.drawLine(QPointF(x - half, y), QPointF(x + half, y))


def elided(painter: QPainter, text: str, wide: float) -> str:
    """Text cut in its middle to a width."""
    return painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, int(wide))


def group_line(painter: QPainter, box: QRectF, text: str) -> None:
    """The head of a group of rows: small words and a rule to the right edge."""
    found = face(painter, 11, bold=True)
    painter.setPen(ink("quiet"))
    painter.drawText(box, MIDDLE | LEFT, elided(painter, text, box.width()))
    wide = min(found.horizontalAdvance(text), box.width()) + px(8)
    painter.setPen(QPen(ink("line"), 1))
    y = box.center().y()
    painter.drawLine(QPointF(box.left() + wide, y), QPointF(box.right(), y))
