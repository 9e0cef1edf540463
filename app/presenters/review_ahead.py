"""Decoded items, kept for the reader: the one before, the one on the screen, the next two.

Owns which items are decoded, in which order and within how many bytes; the least recently used
goes first. Refuses to decode ahead what does not fit: the reader waits rather than the machine.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.presenters.review_media import Media, NoRoom, board_item, bytes_of
from app.widgets.drawn_ahead import Place
from app.widgets.triptych import BoardItem, draw_ahead

AHEAD = 2
Key = tuple[str, int]


def key_of(presentation: Any) -> Key:
    """An item at its place: a repeat is the same item with its sides exchanged."""
    return presentation.item_id, presentation.position


@dataclass(frozen=True, eq=False)
class _Asked:
    """The item that is to be read now, and whom to tell."""

    presentation: Any
    done: Callable[[BoardItem], None]
    failed: Callable[[Exception], None]


class ItemStore:
    """Decoded items within a number of bytes, the least recently used forgotten first.

    Args:
        limit: bytes; the item used last is kept whatever it takes.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.bytes = 0
        self.most_bytes = 0
        self._kept: OrderedDict[Key, tuple[BoardItem, int]] = OrderedDict()

    def get(self, key: Key) -> BoardItem | None:
        """A decoded item, now the one used last; None if it is not there."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def put(self, key: Key, item: BoardItem) -> None:
        """Keep an item as the one used last."""
        if key in self._kept:
            self.bytes -= self._kept.pop(key)[1]
        size = bytes_of(item)
        self._kept[key] = (item, size)
        self.bytes += size
        while self.bytes > self.limit and len(self._kept) > 1:
            self.bytes -= self._kept.popitem(last=False)[1][1]
        self.most_bytes = max(self.most_bytes, self.bytes)

    def room_for_ahead(self, keep: Sequence[Key]) -> int:
        """Bytes that are free once all but the items ``keep`` are forgotten."""
        return self.limit - sum(self._kept[key][1] for key in keep if key in self._kept)

    def put_ahead(self, key: Key, item: BoardItem, keep: Sequence[Key]) -> bool:
        """Keep an item for later, never at the cost of those in ``keep``; False if it cannot be."""
        size = bytes_of(item)
        if size > self.room_for_ahead(keep):
            return False
        for other in [one for one in self._kept if one not in keep]:
            if self.bytes + size <= self.limit:
                break
            self.bytes -= self._kept.pop(other)[1]
        self.put(key, item)
        return True

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self.bytes = 0


class Ahead:
    """Decodes the next items one after the other while the reader looks at the current one.

    Args:
        tasks: the pool.
        limit: bytes of all decoded items together.
        rooms: where the board would draw now; what is decoded ahead is drawn for it as well.
    """

    def __init__(
        self, tasks: Any, limit: int, rooms: Callable[[], Sequence[Place]] = tuple
    ) -> None:
        self.store = ItemStore(limit)
        self._tasks, self._rooms = tasks, rooms
        self._media: Media | None = None
        self._wanted: list[Any] = []
        self._keep: list[Key] = []
        self._busy: Key | None = None
        self._waiting: _Asked | None = None

    def open(self, media: Media) -> None:
        """Another study."""
        self.close()
        self._media = media

    def close(self) -> None:
        """Forget everything, also what is being decoded."""
        self._media, self._busy, self._waiting = None, None, None
        self._wanted, self._keep = [], []
        self.store.clear()

    def get(
        self,
        presentation: Any,
        done: Callable[[BoardItem], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Hand over a decoded item, at once where it is there; the work ahead waits for it."""
        key = key_of(presentation)
        self._wanted, self._keep = [], [key]
        item = self.store.get(key)
        if item is not None:
            done(item)
            return
        self._waiting = _Asked(presentation, done, failed)
        if self._busy != key:  # else it is on its way already
            self._decode(presentation, None)

    def look(self, presentations: Sequence[Any]) -> None:
        """Decode these next, in this order, as far as there is room."""
        self._wanted = list(presentations)
        self._keep = [*self._keep[:1], *map(key_of, presentations)]
        self._next()

    def _next(self) -> None:
        while self._busy is None and self._wanted and self._media is not None:
            presentation = self._wanted.pop(0)
            if key_of(presentation) not in self.store:
                self._decode(presentation, self.store.room_for_ahead(self._keep))

    def _decode(self, presentation: Any, room: int | None) -> None:
        key, media = key_of(presentation), self._media
        assert media is not None
        self._busy = key

        def arrived(item: BoardItem) -> None:
            if media is self._media:
                self._arrived(key, item)

        def failed(error: Exception) -> None:
            if media is self._media:
                self._not_decoded(key, error)

        rooms = () if room is None else self._rooms()

        def work() -> BoardItem:
            item = board_item(presentation, media, room=room)
            draw_ahead(item, rooms)
            return item

        self._tasks.run(self, work, arrived, failed)

    def _arrived(self, key: Key, item: BoardItem) -> None:
        if self._busy == key:
            self._busy = None
        asked = self._waiting
        if asked is not None and key_of(asked.presentation) == key:
            self._waiting = None
            self.store.put(key, item)
            asked.done(item)
        else:
            self.store.put_ahead(key, item, self._keep)
        self._next()

    def _not_decoded(self, key: Key, error: Exception) -> None:
        """What failed ahead is tried again once it is its turn, and says why then."""
        if self._busy == key:
            self._busy = None
        asked = self._waiting
        if asked is not None and key_of(asked.presentation) == key:
            if isinstance(error, NoRoom):
                self._decode(asked.presentation, None)
                return
            self._waiting = None
            asked.failed(error)
            return
        if isinstance(error, NoRoom):
            self._wanted = []
        self._next()
