"""Where the parts of the Review page lie: mirror-symmetrical to the pixel.

Owns the arithmetic only; it never knows what is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect

MARGIN, GUTTER = 4, 6
OUTLINE = 4
ROWS = 3
QUERY_SHARE = 0.66
WING_AT = ((1280, 380), (1920, 560))
LEAST = (1280, 800)
MOST_TEXT = 150  # percent of text for which the least room is laid out with ease


@dataclass(frozen=True)
class BoardGeometry:
    """Where everything lies."""

    left: QRect
    right: QRect
    query: QRect
    prompt: QRect
    left_frames: tuple[QRect, ...]
    right_frames: tuple[QRect, ...]


def large_enough(width: int, height: int, *, ratio: float = 1.0, percent: int = 100) -> bool:
    """Whether pictures may be compared on a window.

    Pixels of the display count, not points: a laptop of 1920 x 1080 on which everything is drawn
    at 150 % has 1280 x 720 points, and its pictures are no smaller for it. What the scale takes is
    room for words, as larger text would.

    Args:
        width: points.
        height: points.
        ratio: pixels of the display for each point.
        percent: the text scale.
    """
    if width >= LEAST[0] and height >= LEAST[1]:
        return True
    shown = ((width, LEAST[0]), (height, LEAST[1]))
    sharp = all(round(points * ratio) >= least for points, least in shown)
    return sharp and all(points * MOST_TEXT >= least * percent for points, least in shown)


def wing_width(width: int) -> int:
    """Width of a wing: 380 of 1280, 560 of 1920, in line between and beyond."""
    (small, at_small), (large, at_large) = WING_AT
    return round(at_small + (width - small) * (at_large - at_small) / (large - small))


def mirrored(rect: QRect, width: int) -> QRect:
    """The mirror image of ``rect`` in a board of ``width``."""
    return QRect(width - rect.x() - rect.width(), rect.y(), rect.width(), rect.height())


def geometry(width: int, height: int) -> BoardGeometry:
    """Lay the board out; the right wing is the mirror image of the left one."""
    wing = wing_width(width)
    left = QRect(MARGIN, MARGIN, wing, height - 2 * MARGIN)
    # As high as the frames of the wings, whose outline keeps some room around them.
    inner = left.adjusted(0, OUTLINE, 0, -OUTLINE)
    middle = QRect(MARGIN + wing + GUTTER, inner.y(), 0, inner.height())
    middle.setWidth(width - 2 * (MARGIN + wing + GUTTER))
    query = QRect(middle)
    query.setHeight(round(middle.height() * QUERY_SHARE))
    prompt = QRect(middle)
    prompt.setTop(query.bottom() + 1 + GUTTER)
    frames = _stack(left.adjusted(OUTLINE, OUTLINE, -OUTLINE, -OUTLINE))
    return BoardGeometry(
        left=left,
        right=mirrored(left, width),
        query=query,
        prompt=prompt,
        left_frames=frames,
        right_frames=tuple(mirrored(frame, width) for frame in frames),
    )


def _stack(room: QRect) -> tuple[QRect, ...]:
    each = (room.height() - GUTTER * (ROWS - 1)) // ROWS
    return tuple(
        QRect(room.x(), room.y() + row * (each + GUTTER), room.width(), each) for row in range(ROWS)
    )
