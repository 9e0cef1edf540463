"""Pictures drawn before they are shown, so that the next item appears at the price of a copy.

Owns what was drawn ahead: of the latest pictures, and for as long as somebody keeps the picture
itself. Refuses to stand in for drawing: in another size, window or slice it is not found, and the
canvas draws as ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from PySide6.QtCore import QRectF

from app.widgets.content import Content, Picture, ViewState
from app.widgets.placement import place
from app.widgets.slice_images import ImageStore, SliceImages

MOST = 21  # pictures of three items: the one to come, the one after it, the one just shown

_DRAWN: WeakKeyDictionary[Picture, dict[Place, SliceImages]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Place:
    """The room of a frame's only picture.

    Attributes:
        width, height: in logical pixels.
        ratio: device pixels of one logical pixel.
    """

    width: int
    height: int
    ratio: float


def draw(contents: Sequence[Content], places: Sequence[Place]) -> None:
    """Draw what frames will show at first, on any thread; all of them or none.

    Frames side by side must cost the same: where one holds no picture, or more than one, all are
    drawn when they are shown.
    """
    alone = all(len(one.pictures) == 1 and one.text is None for one in contents)
    if not alone or len(contents) != len(places):
        return
    for content, room in zip(contents, places, strict=True):
        picture = content.pictures[0]
        made = dict(_DRAWN.get(picture, {}))
        if room not in made and room.width > 0 and room.height > 0:
            made[room] = _drawn(picture, room)
            _DRAWN[picture] = made
    for picture in list(_DRAWN.keys())[:-MOST]:
        del _DRAWN[picture]


def find(picture: Picture, room: Place) -> SliceImages | None:
    """What was drawn ahead of that picture for that room."""
    return _DRAWN.get(picture, {}).get(room)


def _drawn(picture: Picture, room: Place) -> SliceImages:
    view, state = QRectF(0, 0, room.width, room.height), ViewState()
    images = SliceImages(ImageStore())
    images.draw_ahead(picture, state, place(picture, state, view, room.ratio), view)
    return images
