"""Finished images and averaged values of all canvases, the least used forgotten first.

Owns how many bytes of them are kept. Refuses to keep more than ``STORE_BYTES``, whatever is opened.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

STORE_BYTES = 256 * 1024 * 1024


class ImageStore:
    """Images and averaged values, the least used ones forgotten first."""

    def __init__(self, limit: int = STORE_BYTES) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[Any, ...], tuple[Any, int]] = OrderedDict()
        self.bytes = 0

    def get(self, key: tuple[Any, ...]) -> Any:
        """What was kept under the key, or None."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: tuple[Any, ...], thing: Any, size: int) -> None:
        """Keep a thing of so many bytes, in place of an older one; too large ones are not kept."""
        if key in self._kept:
            self.bytes -= self._kept.pop(key)[1]
        if size > self._limit // 2:
            return
        self._kept[key] = (thing, size)
        self.bytes += size
        while self.bytes > self._limit:
            _key, (_thing, gone) = self._kept.popitem(last=False)
            self.bytes -= gone

    def of(self, owner: object) -> Iterator[tuple[tuple[Any, ...], Any, int]]:
        """Key, thing and bytes of everything whose key begins with ``owner``."""
        return ((key, *kept) for key, kept in self._kept.items() if key[0] is owner)

    def drop(self, owner: object) -> None:
        """Forget everything whose key begins with ``owner``."""
        for key in [key for key in self._kept if key[0] is owner]:
            self.bytes -= self._kept.pop(key)[1]


STORE = ImageStore()
