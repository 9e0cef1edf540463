"""Draws measures, crosshair and reference lines: thin, crisp, dark-edged, true under any view.

Owns the drawing only; places come in pixels of the picture and go through ``Placement``.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app import theme
from app.widgets import halo, measure
from app.widgets.content import Picture
from app.widgets.measure import Measure, Point
from app.widgets.measure_hand import outline
from app.widgets.placement import Placement

HANDLE = 3.0
CROSS_GAP = 10.0  # the crosshair leaves its middle free: the lesion is there
Line = tuple[Point, Point]


def _lines(painter: QPainter, color: str, width: float, *paths: QPolygonF) -> None:
    """Polylines with a dark edge."""
    for shade, breadth in ((QColor(0, 0, 0, 190), width + 2), (QColor(color), width)):
        painter.setPen(QPen(shade, breadth, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        for path in paths:
            painter.drawPolyline(path)


def draw_measure(
    painter: QPainter,
    picture: Picture,
    one: Measure,
    placed: Placement,
    view: QRectF,
    *,
    chosen: bool,
) -> None:
    """One measure with its numbers beside it."""
    color = theme.TEXT if chosen else halo.MEASURE
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    path = QPolygonF([placed.to_screen(*spot) for spot in outline(one)])
    if path.size() > 1:
        _lines(painter, color, 1.2, path)
    for spot in one.points:
        at = placed.to_screen(*spot)
        if chosen:
            painter.setPen(QPen(QColor(color), 1.2))
            painter.drawEllipse(at, HANDLE, HANDLE)
        elif one.kind in ("distance", "angle", "probe"):
            arm = QPointF(HANDLE, 0), QPointF(0, HANDLE)
            _lines(painter, color, 1.2, *(QPolygonF([at - way, at + way]) for way in arm))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    _label(painter, measure.words(picture, one), path, view, color)


def _label(
    painter: QPainter, words: tuple[str, ...], path: QPolygonF, view: QRectF, color: str
) -> None:
    """The numbers to the right of the measure, inside the canvas."""
    ratio = painter.device().devicePixelRatioF()
    images = [halo.word(word, color=color, ratio=ratio) for word in words]
    if not images:
        return
    around = path.boundingRect()
    width = max(halo.size(image).width() for image in images)
    height = sum(halo.size(image).height() - 2 * halo.EDGE for image in images)
    x = around.right() + 8
    if x + width > view.right() - 12:
        x = max(view.left() + 4, around.left() - 8 - width)
    y = min(max(view.top() + 4, around.center().y() - height / 2), view.bottom() - height - 4)
    halo.stack(painter, QRectF(x, y, width, height), halo.TOP_LEFT, images)


def draw_lines(painter: QPainter, lines: Iterable[Line], placed: Placement) -> None:
    """Where other viewers' planes cut this slice: dashed, quiet."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    for first, last in lines:
        start, end = placed.to_screen(*first), placed.to_screen(*last)
        painter.setPen(QPen(QColor(0, 0, 0, 170), 3))
        painter.drawLine(start, end)
        painter.setPen(QPen(QColor(theme.WARN), 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(start, end)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def draw_cross(
    painter: QPainter,
    at: QPointF,
    view: QRectF,
    colors: tuple[str, str] = (theme.ACCENT, theme.ACCENT),
) -> None:
    """A crosshair through a place: upright line in the first colour, level in the second."""
    x, y = at.x(), at.y()
    arms = (
        (colors[0], QPointF(x, view.top()), QPointF(x, y - CROSS_GAP)),
        (colors[0], QPointF(x, y + CROSS_GAP), QPointF(x, view.bottom())),
        (colors[1], QPointF(view.left(), y), QPointF(x - CROSS_GAP, y)),
        (colors[1], QPointF(x + CROSS_GAP, y), QPointF(view.right(), y)),
    )
    for color, start, end in arms:
        painter.setPen(QPen(QColor(0, 0, 0, 150), 3))
        painter.drawLine(start, end)
        painter.setPen(QPen(QColor(color), 1))
        painter.drawLine(start, end)
