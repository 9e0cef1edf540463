"""From a study's presentation to what the board shows: media decoded, texts typeset alike.

Runs in the pool, never on the window thread. Knows nothing of models: there is nothing to know
in what a study hands out. Refuses to hold more decoded pixels than there is room for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.widgets.content import Content, Picture, crop, eight_bit
from app.widgets.triptych import ROWS, BoardItem

Media = Callable[[str], NDArray[np.uint8]]
SHORT_TEXT = 60


class NoRoom(Exception):
    """Decoding ahead would take more memory than there is room for; the reader sees nothing."""


def board_item(presentation: Any, media: Media, *, room: int | None = None) -> BoardItem:
    """Decode everything of one presentation.

    Args:
        presentation: ``studies.preference.study.Presentation``.
        media: gives the pixels of a medium by its id.
        room: bytes that may be taken; None for the item that is to be read now.

    Raises:
        NoRoom: it takes more.
    """
    kept: dict[str, Picture] = {}
    taken = 0

    def picture(media_id: str) -> Picture:
        nonlocal taken
        if media_id not in kept:
            kept[media_id] = eight_bit(media(media_id))
            taken += kept[media_id].array.nbytes
            if room is not None and taken > room:
                raise NoRoom
        return kept[media_id]

    left = _wing([content_of(panel, picture) for panel in presentation.left])
    right = _wing([content_of(panel, picture) for panel in presentation.right])
    return BoardItem(
        query=content_of(presentation.query, picture),
        left=left,
        right=right,
        prompt=presentation.prompt,
        text_role=text_role((*left, *right)),
    )


def bytes_of(item: BoardItem) -> int:
    """Bytes of all pixels of an item; what two frames share counts once."""
    arrays: dict[int, int] = {}
    for content in (item.query, *item.left, *item.right):
        for picture in content.pictures:
            arrays[id(picture.array)] = picture.array.nbytes
            if picture.source is not None:
                arrays[id(picture.source)] = picture.source.nbytes
    return sum(arrays.values())


def _wing(contents: list[Content]) -> tuple[Content, ...]:
    """Always three: a task may have fewer candidates than that."""
    return tuple((contents + [Content()] * ROWS)[:ROWS])


def content_of(panel: Any, picture: Callable[[str], Picture]) -> Content:
    """What a frame shows for one panel."""
    pictures = tuple(picture(media_id) for media_id in panel.media_ids)
    if panel.box is not None and pictures:
        pictures = (region(pictures, panel.box),)
    elif panel.boxes:  # several crops: each on its own source
        pairs = zip(pictures, panel.boxes, strict=True)
        pictures = tuple(one if box is None else region((one,), box) for one, box in pairs)
    return Content(pictures, panel.text or None)


def region(pictures: tuple[Picture, ...], box: tuple[int, int, int, int]) -> Picture:
    """A region crop with the inset of its source, from the source (the last picture)."""
    source = pictures[-1]
    rows, columns = source.array.shape[1:3]
    left, top, right, bottom = box
    inside = 0 <= left < right <= columns and 0 <= top < bottom <= rows
    whole = (left, top, right, bottom) == (0, 0, columns, rows)
    return crop(source, box) if inside and not whole else pictures[0]


def text_role(contents: tuple[Content, ...]) -> str:
    """One size for all candidates: large only if each is a few words and nothing else."""
    texts = [content.text for content in contents if content.text or content.pictures]
    short = bool(texts) and all(text is not None and len(text) <= SHORT_TEXT for text in texts)
    return "title" if short and not any(content.pictures for content in contents) else "reading"
