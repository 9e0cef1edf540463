"""Thumbnails off the window thread, kept as small PNG files under the home.

Owns the little files, their names (a hash of place, size and time; never a file's name), how many
there may be, and which of the waiting is decoded next.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtGui import QImage

from app.services import Services
from app.widgets.thumbnail_grid import to_image
from engine.errors import EvidenceError
from engine.evidence.item import ImageRef, VolumeRef

Ref = ImageRef | VolumeRef
Done = Callable[[QImage | None], None]
Lost = Callable[[str, EvidenceError], None]
AT_ONCE = 2  # of the pool's threads; the rest is for what the user looks at
KEPT_FILES, PRUNED_TO = 20_000, 15_000


def place_of(ref: Ref) -> tuple[Path, ...]:
    """The files behind a reference."""
    return (ref.path,) if isinstance(ref, ImageRef) else ref.paths


def cache_name(ref: Ref, size: int) -> str:
    """A name for a thumbnail that changes with the files behind it."""
    from engine.evidence.files import facts_of

    facts = [repr(ref), str(size)]
    for path in place_of(ref)[:3]:
        found = facts_of(path)
        facts.append(f"{found.size} {found.mtime_ns}")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:40] + ".png"


def picture_of(ref: Ref, size: int, folder: Path) -> QImage | None:
    """A thumbnail from the folder, else decoded and kept there; None if it has no picture."""
    found = picture_or_why(ref, size, folder)
    return found if isinstance(found, QImage) else None


def picture_or_why(ref: Ref, size: int, folder: Path) -> QImage | EvidenceError | None:
    """The same, or what the readers say of a picture that cannot be had."""
    # Decoding pulls in the file readers; that happens here, on a thread, not with the page.
    from engine.evidence.pixels import thumbnail

    try:
        kept = folder / cache_name(ref, size)
        image = QImage(str(kept)) if kept.is_file() else QImage()
        if not image.isNull():
            return image
        image = to_image(np.ascontiguousarray(thumbnail(ref, size)))
    except EvidenceError as error:
        return error
    except OSError:
        return None
    _keep(image, kept)
    return image


def prune(folder: Path, *, most: int = KEPT_FILES, left: int = PRUNED_TO) -> int:
    """Remove the oldest thumbnails once there are too many; how many went."""
    try:
        with os.scandir(folder) as listed:
            found = [(one.stat().st_mtime_ns, one.path) for one in listed if one.is_file()]
    except OSError:
        return 0
    if len(found) <= most:
        return 0
    old = sorted(found)[: len(found) - left]
    for _, path in old:
        try:
            Path(path).unlink(missing_ok=True)
        except OSError:  # in use elsewhere; the next time
            continue
    return len(old)


def _keep(image: QImage, path: Path) -> None:
    """Write in one step; a full disk only costs the thumbnail."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        os.close(handle)
        part = Path(name)
        if image.save(name, "PNG"):  # type: ignore[call-overload]
            part.replace(path)
        part.unlink(missing_ok=True)
    except OSError:
        return


class Pictures:
    """Asks for thumbnails on behalf of one presenter: the newest wish first, few at a time.

    Args:
        services: the program's objects.
        owner: the presenter; what comes after it is gone is dropped.
        most: wishes that may wait; older ones are forgotten, told by ``forgotten``.
        forgotten: called with the key of a wish that was dropped, so that it can come again.
        lost: called with the key of a wish that cannot be had, and why, after ``done``.
    """

    def __init__(
        self,
        services: Services,
        owner: Any,
        *,
        most: int = 400,
        forgotten: Callable[[str], None] | None = None,
        lost: Lost | None = None,
    ) -> None:
        self._services = services
        self._owner = owner
        self._most = most
        self._forgotten = forgotten
        self._lost = lost
        self._waiting: dict[str, tuple[Ref, int, Done]] = {}
        self._running = 0
        self._pruned = False
        self._count = 0

    def want(self, ref: Ref | None, size: int, done: Done, *, key: str = "") -> None:
        """Decode a thumbnail on a thread and hand it on; None at once without a reference.

        Args:
            ref: what to decode.
            size: longest side in pixels.
            done: gets the picture on the window thread, or None.
            key: names the wish; a newer wish of the same name takes its place.
        """
        if ref is None:
            done(None)
            return
        self._count += 1
        name = key or f"\0{self._count}"
        self._waiting.pop(name, None)
        self._waiting[name] = (ref, size, done)
        while len(self._waiting) > self._most:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            if self._forgotten is not None:
                self._forgotten(oldest)
        self._next()

    def forget(self) -> None:
        """Drop every wish that still waits: another page of objects is on show."""
        self._waiting.clear()

    def _next(self) -> None:
        if self._running >= AT_ONCE or not self._waiting:
            return
        key, (ref, size, done) = self._waiting.popitem()
        folder, first = self._services.home.thumbnails, not self._pruned
        self._running, self._pruned = self._running + 1, True

        def work() -> QImage | EvidenceError | None:
            if first:
                prune(folder)
            return picture_or_why(ref, size, folder)

        def took(found: QImage | EvidenceError | None) -> None:
            self._running -= 1
            done(found if isinstance(found, QImage) else None)
            if self._lost is not None and isinstance(found, EvidenceError):
                self._lost(key, found)
            self._next()

        self._services.tasks.run(self._owner, work, took, lambda _error: took(None))
