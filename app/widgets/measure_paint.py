"""Draws measures, crosshair and reference lines: thin, crisp, dark-edged, true under any view.

Owns the drawing only; places come in pixels of the picture and go through ``Placement``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app import theme
from app.widgets import halo, measure
from app.widgets.content import Picture
from app.widgets.measure import Measure, Point
from app.widgets.measure_hand import outline
from app.widgets.placement import Placement

HANDLE = 3.0
LABEL_GAP = 5.0
LABEL_ROOM = (4.0, 4.0, -12.0, -4.0)  # the slice bar stands on the right
DOT_EVERY, DOTS = 6.0, 200
CROSS_GAP = 10.0  # the crosshair leaves its middle free: the lesion is there
Line = tuple[Point, Point]


def _lines(painter: QPainter, color: str, width: float, *paths: QPolygonF) -> None:
    """Polylines with a dark edge."""
    for shade, breadth in ((QColor(0, 0, 0, 190), width + 2), (QColor(color), width)):
        painter.setPen(QPen(shade, breadth, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        for path in paths:
            painter.drawPolyline(path)


def draw_measures(
    painter: QPainter,
    picture: Picture,
    measures: list[Measure],
    placed: Placement,
    view: QRectF,
    *,
    chosen: Measure | None,
) -> list[QRectF]:
    """Measures with their numbers beside them; gives the boxes of the numbers."""
    paths = [QPolygonF([placed.to_screen(*spot) for spot in outline(one)]) for one in measures]
    for one, path in zip(measures, paths, strict=True):
        _draw_mark(painter, one, path, placed, chosen=one is chosen)
    ratio = painter.device().devicePixelRatioF()
    lines = [spot for path in paths for spot in dotted(path)]
    taken: list[QRectF] = []
    for one, path in zip(measures, paths, strict=True):
        color = theme.TEXT if one is chosen else halo.MEASURE
        said = measure.words(picture, one)
        images = [halo.word(word, color=color, ratio=ratio) for word in said]
        if not images or not path.size():
            continue
        width = max(halo.size(image).width() for image in images)
        height = sum(halo.size(image).height() - 2 * halo.EDGE for image in images)
        room = view.adjusted(*LABEL_ROOM)
        box = label_place(anchors(one, path), QSizeF(width, height), room, taken, lines)
        halo.stack(painter, box, halo.TOP_LEFT, images)
        taken.append(box)
    return taken


def _draw_mark(
    painter: QPainter, one: Measure, path: QPolygonF, placed: Placement, *, chosen: bool
) -> None:
    color = theme.TEXT if chosen else halo.MEASURE
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
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


def dotted(path: QPolygonF) -> list[QPointF]:
    """Points along a line, close enough that no word between them goes unnoticed."""
    spots = path.toList()
    made = spots[:1]
    for start, end in itertools.pairwise(spots):
        way = end - start
        count = max(1, min(DOTS, math.ceil(max(abs(way.x()), abs(way.y())) / DOT_EVERY)))
        made += [start + way * (step / count) for step in range(1, count + 1)]
    return made


def anchors(one: Measure, path: QPolygonF) -> tuple[QRectF, QRectF, QRectF, QRectF]:
    """What words stand right of, left of, below and above: of an angle its vertex."""
    if one.kind == "angle" and path.size() > 1:
        return (_around(path.at(1)),) * 4
    if one.kind == "distance":
        spots = path.toList()
        across, down = sorted(spots, key=QPointF.x), sorted(spots, key=QPointF.y)
        ends = across[-1], across[0], down[-1], down[0]
        return _around(ends[0]), _around(ends[1]), _around(ends[2]), _around(ends[3])
    return (path.boundingRect(),) * 4


def _around(spot: QPointF) -> QRectF:
    return QRectF(spot - QPointF(HANDLE, HANDLE), spot + QPointF(HANDLE, HANDLE))


def label_place(
    beside: tuple[QRectF, QRectF, QRectF, QRectF],
    size: QSizeF,
    room: QRectF,
    taken: list[QRectF],
    lines: list[QPointF],
) -> QRectF:
    """Where words stand: beside their mark, in the room, off other words and off lines.

    Args:
        beside: what they may stand right of, left of, below and above, the first preferred.
        size: of the words.
        room: they must not leave.
        taken: boxes of other words.
        lines: points of every line drawn.
    """
    wide, high = size.width(), size.height()
    right, left, below, above = beside
    corners = [
        QPointF(right.right() + LABEL_GAP, right.center().y() - high / 2),
        QPointF(left.left() - LABEL_GAP - wide, left.center().y() - high / 2),
        QPointF(below.center().x() - wide / 2, below.bottom() + LABEL_GAP),
        QPointF(above.center().x() - wide / 2, above.top() - LABEL_GAP - high),
    ]
    corners += [QPointF(corners[at].x(), corners[up].y()) for at in (0, 1) for up in (2, 3)]
    best, least = QRectF(), math.inf
    for order, corner in enumerate(corners):
        x = max(room.left(), min(corner.x(), room.right() - wide))
        y = max(room.top(), min(corner.y(), room.bottom() - high))
        box = QRectF(x, y, wide, high)
        covered = sum(_area(box.intersected(other)) for other in taken) / max(1.0, _area(box))
        crossed = sum(box.contains(spot) for spot in lines)
        aside = abs(x - corner.x()) + abs(y - corner.y())
        cost = 1000 * covered + 10 * crossed + aside + order
        if cost < least:
            best, least = box, cost
    return best


def _area(box: QRectF) -> float:
    return box.width() * box.height()


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
