"""How a picture is put on a canvas: one interpolation for all, overlays, the slice bar, the inset.

Owns the drawing only; the state is ``app.widgets.content.ViewState``, events are the canvas's.
Painted by the CPU: no texture limits, no lost contexts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from app import theme
from app.widgets.content import Picture, ViewState, preset_name, slice_index, window_of

OPPOSITE = {"L": "R", "R": "L", "A": "P", "P": "A", "S": "I", "I": "S", "H": "F", "F": "H"}
LETTER = {"S": "H", "I": "F"}  # the standard says head and feet
SHRINK = 0.75  # below this scale pixels are averaged, above it they are interpolated
INSET_SHARE = 0.3


def to_image(values: NDArray[np.uint8], *, inverted: bool) -> QImage:
    """An image of its own from [Y, X] or [Y, X, 3] values."""
    shown = np.ascontiguousarray(255 - values if inverted else values)
    height, width = shown.shape[:2]
    if shown.ndim == 3:
        form, line = QImage.Format.Format_RGB888, width * 3
    else:
        form, line = QImage.Format.Format_Grayscale8, width
    return QImage(shown.data, width, height, line, form).copy()


class SliceCache:
    """Keeps the last slice drawn, as shown and as scaled, so that a pan costs nothing."""

    def __init__(self) -> None:
        self._key: tuple[Any, ...] = ()
        self._image = QImage()
        self._scaled_key: tuple[int, int] = (0, 0)
        self._scaled = QImage()

    def clear(self) -> None:
        """Forget; the picture changed."""
        self._key, self._scaled_key = (), (0, 0)

    def image(self, picture: Picture, state: ViewState) -> QImage:
        """The slice at the state's depth through its window."""
        index = slice_index(state.depth, picture.slices)
        window = window_of(picture, state)
        key = (index, window, state.inverted)
        if key != self._key:
            values = picture.render(picture.array[index], window)
            self._image = to_image(values, inverted=state.inverted)
            self._key, self._scaled_key = key, (0, 0)
        return self._image

    def scaled(self, image: QImage, size: QSize) -> QImage:
        """``image`` averaged down to device pixels."""
        key = (size.width(), size.height())
        if key != self._scaled_key:
            self._scaled = image.scaled(
                size,
                Qt.AspectRatioMode.IgnoreAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
            self._scaled_key = key
        return self._scaled


def target(picture: Picture, state: ViewState, view: QRectF) -> QRectF:
    """Where the slice lies in the view: fitted, then zoomed and panned, on whole pixels."""
    rows, columns = picture.array.shape[1:3]
    width, height = float(columns), rows * picture.aspect
    scale = min(view.width() / width, view.height() / height) * state.zoom
    middle = view.center() + QPointF(state.pan_x * view.width(), state.pan_y * view.height())
    across = _snap(width * scale, view.width())
    down = _snap(height * scale, view.height())
    return QRectF(round(middle.x() - across / 2), round(middle.y() - down / 2), across, down)


def _snap(length: float, room: float) -> int:
    """Whole pixels with an equal rest on both sides, so that no edge is drawn by halves."""
    whole = max(1, round(length))
    return whole - 1 if whole > 1 and (round(room) - whole) % 2 else whole


def draw_slice(
    painter: QPainter, cache: SliceCache, picture: Picture, state: ViewState, view: QRectF
) -> None:
    """Draw the slice, averaged when it is made smaller and interpolated otherwise."""
    image = cache.image(picture, state)
    place = target(picture, state, view)
    ratio = painter.device().devicePixelRatioF()
    scale = place.width() * ratio / image.width()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, True)
    if scale < SHRINK:
        size = QSize(max(1, round(place.width() * ratio)), max(1, round(place.height() * ratio)))
        image = cache.scaled(image, size)
    painter.drawImage(place, image, QRectF(image.rect()))


def edge_letters(orientation: str | None) -> dict[str, str]:
    """Patient sides at the four edges: left, right, top, bottom."""
    if not orientation or len(orientation) < 2:
        return {}
    right, bottom = orientation[0].upper(), orientation[1].upper()
    sides = {
        "right": right,
        "left": OPPOSITE.get(right, ""),
        "bottom": bottom,
        "top": OPPOSITE.get(bottom, ""),
    }
    return {edge: LETTER.get(letter, letter) for edge, letter in sides.items() if letter}


def draw_letters(painter: QPainter, orientation: str | None, view: QRectF) -> None:
    """Orientation letters in the middle of the edges."""
    inner = view.adjusted(6, 4, -14, -4)
    flags = Qt.AlignmentFlag
    places = {
        "left": flags.AlignLeft | flags.AlignVCenter,
        "right": flags.AlignRight | flags.AlignVCenter,
        "top": flags.AlignHCenter | flags.AlignTop,
        "bottom": flags.AlignHCenter | flags.AlignBottom,
    }
    painter.setFont(theme.font("body", bold=True))
    for edge, letter in edge_letters(orientation).items():
        halo_text(painter, inner, places[edge], letter)


def draw_facts(
    painter: QPainter, picture: Picture, state: ViewState, view: QRectF, shown: frozenset[str]
) -> None:
    """Slice at the bottom left; window and zoom at the bottom right."""
    inner = view.adjusted(6, 4, -14, -4)
    painter.setFont(theme.font("small"))
    flags = Qt.AlignmentFlag
    if "slice" in shown and picture.slices > 1:
        index = slice_index(state.depth, picture.slices)
        place = flags.AlignLeft | flags.AlignBottom
        halo_text(painter, inner, place, f"{index + 1} / {picture.slices}")
    words = []
    if "zoom" in shown and abs(state.zoom - 1.0) > 0.005:
        words.append(f"{state.zoom:.1f}x")
    changed = window_of(picture, state) is not None or state.inverted
    if "window" in shown or ("changed window" in shown and changed):
        words.append(window_words(picture, state))
    text = "   ".join(word for word in words if word)
    if picture.source is None:
        halo_text(painter, inner, flags.AlignRight | flags.AlignBottom, text)
    else:
        halo_text(painter, inner, flags.AlignLeft | flags.AlignTop, text)


def window_words(picture: Picture, state: ViewState) -> str:
    """Width and level in force, or the preset's name where values have no unit."""
    if picture.color:
        return "inverted" if state.inverted else ""
    center, width = window_of(picture, state) or picture.window
    name = preset_name(picture, state.preset) if state.preset != "9" else ""
    touched = state.shift != 0.0 or state.factor != 1.0
    words = f"W {width:.0f}  L {center:.0f}"
    if name and not touched:
        words = f"{name}  {words}"
    return words + ("  inverted" if state.inverted else "")


def draw_slice_bar(painter: QPainter, picture: Picture, state: ViewState, view: QRectF) -> None:
    """A thin bar on the right: where in the stack."""
    if picture.slices < 2:
        return
    bar = QRectF(view.right() - 7, view.top() + 8, 3, view.height() - 16)
    painter.fillRect(bar, QColor(theme.LINE))
    knob = max(10.0, bar.height() / picture.slices)
    top = bar.top() + (bar.height() - knob) * state.depth
    painter.fillRect(QRectF(bar.left(), top, bar.width(), knob), QColor(theme.QUIET))


def draw_inset(painter: QPainter, picture: Picture, view: QRectF) -> None:
    """The whole picture, small, at the bottom right, with the region's box on it."""
    if picture.source is None or picture.box is None:
        return
    rows, columns = picture.source.shape[:2]
    side = min(view.width(), view.height()) * INSET_SHARE
    scale = side / max(columns, rows * picture.aspect)
    size = QRectF(0, 0, columns * scale, rows * picture.aspect * scale)
    size.moveBottomRight(view.bottomRight() - QPointF(14, 6))
    painter.drawImage(size, to_image(picture.source, inverted=False))
    painter.setPen(QPen(QColor(theme.QUIET), 1))
    painter.drawRect(size)
    left, top, right, bottom = picture.box
    region = QRectF(
        size.left() + left * scale,
        size.top() + top * picture.aspect * scale,
        (right - left) * scale,
        (bottom - top) * picture.aspect * scale,
    )
    painter.setPen(QPen(QColor(theme.PICTURE), 3))
    painter.drawRect(region)
    painter.setPen(QPen(QColor(theme.TEXT), 1))
    painter.drawRect(region)


def halo_text(painter: QPainter, box: QRectF, place: Qt.AlignmentFlag, text: str) -> None:
    """Text that reads on white and on black: dark all around it."""
    if not text:
        return
    painter.setPen(QColor(0, 0, 0, 200))
    for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1), (1, 1), (-1, -1)):
        painter.drawText(box.translated(dx, dy), place, text)
    painter.setPen(QColor(theme.TEXT))
    painter.drawText(box, place, text)
