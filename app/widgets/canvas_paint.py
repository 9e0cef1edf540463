"""How a picture is put on a canvas: one interpolation for all, words, slice bar, graphics, inset.

Owns the drawing only; the state is ``app.widgets.content.ViewState``, events are the canvas's.
Painted by the CPU: no texture limits, no lost contexts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QPolygonF

from app import theme
from app.widgets import canvas_words as words
from app.widgets import halo, ink
from app.widgets.content import Picture, ViewState, slice_index, window_of
from app.widgets.placement import Placement, oriented
from app.widgets.slice_images import SliceImages, color_image, draw_part

INSET_SHARE = 0.3
SMALL = (250, 190)  # a canvas below this size carries only what cannot be missed
NARROW = 560  # below this width long words are cut short
PLATE = QColor(13, 13, 13, 225)  # theme.GROUND, nearly opaque: warnings on it have 4.5:1 and more
EDGES = {"left": halo.LEFT, "right": halo.RIGHT, "top": halo.TOP, "bottom": halo.BOTTOM}


def to_image(values: NDArray[np.uint8], *, inverted: bool) -> QImage:
    """An image of its own from [Y, X] or [Y, X, 3] values."""
    if values.ndim == 3:
        return color_image(values, inverted=inverted)
    shown = np.ascontiguousarray(255 - values if inverted else values)
    height, width = shown.shape
    return QImage(shown.data, width, height, width, QImage.Format.Format_Grayscale8).copy()


def inner(view: QRectF) -> QRectF:
    """The room of words; the slice bar stands to its right."""
    return view.adjusted(8, 6, -16, -6)


def draw_slice(
    painter: QPainter,
    images: SliceImages,
    picture: Picture,
    state: ViewState,
    placed: Placement,
    view: QRectF,
) -> None:
    """Draw the slice, averaged when it is made smaller and interpolated otherwise."""
    index = slice_index(state.depth, picture.slices)
    if not picture.is_ready(index):
        painter.fillRect(view, QColor(theme.PICTURE))
        painter.fillRect(placed.rect, QColor(theme.PANEL))
        halo.put(painter, view, halo.MIDDLE, _word(painter, "loading", theme.QUIET, "body"))
        return
    if not images.paint(painter, picture, state, placed, view):
        painter.fillRect(view, QColor(theme.PICTURE))
        return
    if picture.absent is not None:
        draw_gaps(painter, picture.absent, placed, view)
    fill_around(painter, placed.rect, view)


def draw_gaps(
    painter: QPainter, absent: NDArray[np.bool_], placed: Placement, view: QRectF
) -> None:
    """Hatch rows or columns of a cut where no slice lies."""
    rows = _runs(np.asarray(absent.all(axis=1)))
    columns = _runs(np.asarray(absent.all(axis=0)))
    regions = [placed.region(0, first, placed.columns, last) for first, last in rows]
    if not rows:
        regions = [placed.region(first, 0, last, placed.rows) for first, last in columns]
    for region in regions:
        part = region.intersected(view)
        painter.fillRect(part, QColor(theme.PANEL))
        painter.fillRect(part, QBrush(QColor(theme.LINE), Qt.BrushStyle.BDiagPattern))


def fill_around(painter: QPainter, inside: QRectF, view: QRectF) -> None:
    """The ground beside the picture."""
    seen = inside.intersected(view)
    ground = QColor(theme.PICTURE)
    for edge in (
        QRectF(view.left(), view.top(), view.width(), seen.top() - view.top()),
        QRectF(view.left(), seen.bottom(), view.width(), view.bottom() - seen.bottom()),
        QRectF(view.left(), seen.top(), seen.left() - view.left(), seen.height()),
        QRectF(seen.right(), seen.top(), view.right() - seen.right(), seen.height()),
    ):
        if not edge.isEmpty():
            painter.fillRect(edge, ground)


def draw_graphics(
    painter: QPainter,
    images: SliceImages,
    picture: Picture,
    state: ViewState,
    placed: Placement,
    view: QRectF,
) -> None:
    """Draw the graphics that the file lays over the slice, in one quiet colour."""
    graphics = images.graphics(picture, state, placed, QColor(halo.GRAPHICS))
    if graphics is not None:
        draw_part(painter, graphics, placed.rect.intersected(view))


def _word(painter: QPainter, text: str, color: str = theme.TEXT, role: str = "small") -> QImage:
    ratio = painter.device().devicePixelRatioF()
    return halo.word(text, role=role, color=color, ratio=ratio)


def draw_letters(painter: QPainter, picture: Picture, state: ViewState, view: QRectF) -> None:
    """Orientation letters in the middle of the edges."""
    for edge, letter in words.edge_letters(picture, state).items():
        halo.put(painter, inner(view), EDGES[edge], _word(painter, letter, role="letter"))


def is_small(view: QRectF) -> bool:
    """True if there is room only for what cannot be missed."""
    return view.width() < ink.px(SMALL[0]) or view.height() < ink.px(SMALL[1])


def draw_badges(
    painter: QPainter,
    picture: Picture,
    state: ViewState,
    view: QRectF,
    shown: frozenset[str],
    tool: str,
) -> None:
    """At the top left: what was done to the picture, the convention, the tool in hand."""
    lines = []
    if "badges" in shown:
        said = words.badges(state)
        if said:
            lines.append(_warned(painter, _word(painter, ", ".join(said), theme.WARN)))
    if "convention" in shown:
        said_so, warning = words.convention(picture, state)
        if view.width() < ink.px(NARROW):
            said_so = said_so.removesuffix(" of the picture")
        if said_so and (warning or not is_small(view)):
            lines.append(_word(painter, said_so, theme.WARN if warning else theme.QUIET))
            if warning:
                lines[-1] = _warned(painter, lines[-1])
    if tool:
        lines.append(_word(painter, tool, theme.QUIET))
    room = inner(view)
    letter = words.edge_letters(picture, state).get("top", "") if "letters" in shown else ""
    if letter:
        room = _below_letter(_word(painter, letter, role="letter"), room, lines)
    halo.stack(painter, room, halo.TOP_LEFT, lines)


def _below_letter(letter: QImage, room: QRectF, lines: list[QImage]) -> QRectF:
    """The room of lines at the top left: below the letter in the middle where they meet it."""
    free = room.width() / 2 - halo.size(letter).width() / 2
    if all(halo.size(line).width() <= free for line in lines[:2]):
        return room
    return room.adjusted(0, halo.size(letter).height() - 2 * halo.EDGE, 0, 0)


def _warned(painter: QPainter, word: QImage) -> QImage:
    """The word behind a small triangle, on a dark plate: colour alone says nothing to some.

    The plate keeps the contrast of the token over any picture, bright and coloured ones too.
    """
    room, ratio = halo.size(word), word.devicePixelRatio()
    side = room.height() - 2 * halo.EDGE
    made = QImage(
        round((room.width() + side) * ratio),
        word.height(),
        QImage.Format.Format_ARGB32_Premultiplied,
    )
    made.setDevicePixelRatio(ratio)
    made.fill(PLATE)
    brush = QPainter(made)
    brush.setRenderHint(QPainter.RenderHint.Antialiasing)
    box = QRectF(halo.EDGE, halo.EDGE + 2, side - 4, side - 5)
    brush.setPen(QPen(QColor(theme.WARN), 1.4))
    brush.drawPolygon(
        QPolygonF([QPointF(box.center().x(), box.top()), box.bottomRight(), box.bottomLeft()])
    )
    brush.drawLine(box.center(), QPointF(box.center().x(), box.bottom() - 2.5))
    brush.drawImage(QPointF(side, 0), word)
    brush.end()
    return made


def draw_facts(
    painter: QPainter,
    picture: Picture,
    state: ViewState,
    view: QRectF,
    shown: frozenset[str],
    extra: tuple[str, ...] = (),
) -> None:
    """Slice and place at the bottom left; window and zoom at the bottom right."""
    left = list(extra)
    if "position" in shown and not is_small(view):
        left.append(words.position_words(picture, state))
    if "slice" in shown:
        left.append(words.slice_words(picture, state))
    scaled = "scale" in shown and picture.spacing is not None and not is_small(view)
    right = [words.source_words(picture.spacing_source)] if scaled else []
    right += [words.zoom_words(state)] if "zoom" in shown else []
    changed = window_of(picture, state) is not None or state.inverted
    if "window" in shown or ("changed window" in shown and changed):
        right.append(words.window_words(picture, state, brief=is_small(view)))
    if picture.source is not None:
        left, right = left + right, []
    for place, said in ((halo.BOTTOM_LEFT, left), (halo.BOTTOM_RIGHT, right)):
        halo.stack(painter, inner(view), place, [_word(painter, one) for one in said if one])


def draw_scale(painter: QPainter, picture: Picture, placed: Placement, view: QRectF) -> None:
    """A bar of round millimetres at the bottom, left of the middle."""
    if picture.spacing is None or picture.source is not None or is_small(view):
        return
    mm = picture.spacing[1] * placed.ratio / placed.pixel_size()[0]
    found = words.scale_bar(picture, mm, view.width())
    if found is None:
        return
    length, said = found
    room = inner(view)
    right, y = room.right(), room.bottom() - 4 * theme.px("small") - 10
    for color, width in ((theme.PICTURE, 3), (theme.TEXT, 1)):
        painter.setPen(QPen(QColor(color), width))
        painter.drawLine(QPointF(right - length, y), QPointF(right, y))
        for x in (right - length, right):
            painter.drawLine(QPointF(x, y - 4), QPointF(x, y))
    above = QRectF(room.left(), room.top(), room.width(), y - 4 - room.top())
    halo.put(painter, above, halo.BOTTOM_RIGHT, _word(painter, said))


def draw_slice_bar(painter: QPainter, picture: Picture, state: ViewState, view: QRectF) -> None:
    """A thin bar on the right: where in the stack, what is decoded, what the model saw."""
    if picture.slices < 2:
        return
    bar = QRectF(view.right() - 7, view.top() + 8, 3, view.height() - 16)
    painter.fillRect(bar, QColor(theme.LINE))
    if picture.ready is not None and not picture.ready.all():
        each = bar.height() / picture.slices
        for first, last in _runs(~picture.ready):
            gap = QRectF(bar.left(), bar.top() + first * each, 3, (last - first) * each)
            painter.fillRect(gap, QColor(theme.GROUND))
    tops = {round(bar.top() + bar.height() * (mark + 0.5) / picture.slices)
            for mark in picture.marks}  # fmt: skip
    for at in tops:
        painter.fillRect(QRectF(bar.left() - 4, at, 3, 1), QColor(theme.TEXT))
    knob = max(10.0, bar.height() / picture.slices)
    top = bar.top() + (bar.height() - knob) * state.depth
    painter.fillRect(QRectF(bar.left(), top, bar.width(), knob), QColor(theme.QUIET))


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """(first, beyond) of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


def draw_inset(painter: QPainter, picture: Picture, state: ViewState, view: QRectF) -> None:
    """The whole picture, small, at the bottom right, with the region's box on it."""
    if picture.source is None or picture.box is None:
        return
    rows, columns = picture.source.shape[:2]
    width, height = float(columns), rows * picture.aspect
    if state.turns % 2:
        width, height = height, width
    scale = min(view.width(), view.height()) * INSET_SHARE / max(width, height)
    size = QRectF(0, 0, width * scale, height * scale)
    size.moveBottomRight(view.bottomRight() - QPointF(14, 6))
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, True)
    painter.drawImage(size, to_image(oriented(picture.source, state), inverted=state.inverted))
    painter.setPen(QPen(QColor(theme.QUIET), 1))
    painter.drawRect(size)
    placed = Placement(size, rows, columns, state.flip_h, state.flip_v, state.turns)
    region = placed.region(*picture.box)
    for color, line in ((theme.PICTURE, 3), (theme.TEXT, 1)):
        painter.setPen(QPen(QColor(color), line))
        painter.drawRect(region)
