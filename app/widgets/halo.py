"""Small words over pictures that read on white and on black alike; each drawn once and kept.

Owns the kept words. Drawn text is dark all around; a line of facts costs one blit.
"""

from __future__ import annotations

from collections import OrderedDict

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter

from app import theme

KEPT = 600
EDGE = 2
GRAPHICS = "#9db8a4"  # one quiet colour for what files draw over their pictures
MEASURE = "#d9cf9a"
# Shares of the room across and down: (0, 0) is the top left corner.
Place = tuple[float, float]
TOP_LEFT, TOP = (0.0, 0.0), (0.5, 0.0)
LEFT, MIDDLE, RIGHT = (0.0, 0.5), (0.5, 0.5), (1.0, 0.5)
BOTTOM_LEFT, BOTTOM, BOTTOM_RIGHT = (0.0, 1.0), (0.5, 1.0), (1.0, 1.0)
_AROUND = ((-1, 0), (1, 0), (0, -1), (0, 1), (1, 1), (-1, -1))
_kept: OrderedDict[tuple[object, ...], QImage] = OrderedDict()


def word(text: str, *, role: str = "small", color: str = theme.TEXT, ratio: float = 1.0) -> QImage:
    """A text with its halo as an image; its device pixel ratio is set."""
    key = (text, role, color, ratio, theme.theme.scale.percent)
    found = _kept.get(key)
    if found is not None:
        _kept.move_to_end(key)
        return found
    made = _drawn(text, role, color, ratio)
    _kept[key] = made
    if len(_kept) > KEPT:
        _kept.popitem(last=False)
    return made


def _drawn(text: str, role: str, color: str, ratio: float) -> QImage:
    font = theme.font("body" if role == "letter" else role, bold=role == "letter")
    metrics = QFontMetricsF(font)
    width = metrics.horizontalAdvance(text) + 2 * EDGE + 1
    height = metrics.height() + 2 * EDGE
    image = QImage(
        max(1, round(width * ratio)),
        max(1, round(height * ratio)),
        QImage.Format.Format_ARGB32_Premultiplied,
    )
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setFont(font)
    base = QPointF(EDGE, EDGE + metrics.ascent())
    painter.setPen(QColor(0, 0, 0, 200))
    for dx, dy in _AROUND:
        painter.drawText(base + QPointF(dx, dy), text)
    painter.setPen(QColor(color))
    painter.drawText(base, text)
    painter.end()
    return image


def size(image: QImage) -> QSizeF:
    """Its size in units of the canvas."""
    return image.deviceIndependentSize()


def put(painter: QPainter, box: QRectF, place: Place, image: QImage) -> None:
    """Draw a word at a place of a box, on whole device pixels."""
    room, ratio = size(image), image.devicePixelRatio()
    across, down = place
    x = box.left() - EDGE + across * (box.width() - room.width() + 2 * EDGE)
    y = box.top() - EDGE + down * (box.height() - room.height() + 2 * EDGE)
    painter.drawImage(QPointF(round(x * ratio) / ratio, round(y * ratio) / ratio), image)


def stack(painter: QPainter, box: QRectF, place: Place, images: list[QImage]) -> None:
    """Draw lines below each other, the whole at a place of a box."""
    height = sum(size(image).height() - 2 * EDGE for image in images)
    top = box.top() + place[1] * (box.height() - height)
    for image in images:
        line = size(image).height() - 2 * EDGE
        put(painter, QRectF(box.left(), top, box.width(), line), place, image)
        top += line
