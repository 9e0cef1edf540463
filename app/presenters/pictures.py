"""Thumbnails off the window thread, kept as small PNG files under the home.

Owns the little files and their names (a hash of place, size and time; never a file's name).
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


def place_of(ref: Ref) -> tuple[Path, ...]:
    """The files behind a reference."""
    return (ref.path,) if isinstance(ref, ImageRef) else ref.paths


def cache_name(ref: Ref, size: int) -> str:
    """A name for a thumbnail that changes with the files behind it."""
    facts = [repr(ref), str(size)]
    for path in place_of(ref)[:3]:
        stat = path.stat()
        facts.append(f"{stat.st_size} {stat.st_mtime_ns}")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:40] + ".png"


def picture_of(ref: Ref, size: int, folder: Path) -> QImage | None:
    """A thumbnail from the folder, else decoded and kept there; None if it has no picture."""
    # Decoding pulls in the file readers; that happens here, on a thread, not with the page.
    from engine.evidence.pixels import thumbnail

    try:
        kept = folder / cache_name(ref, size)
        image = QImage(str(kept)) if kept.is_file() else QImage()
        if not image.isNull():
            return image
        image = to_image(np.ascontiguousarray(thumbnail(ref, size)))
    except (EvidenceError, OSError):
        return None
    _keep(image, kept)
    return image


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
    """Asks for thumbnails on behalf of one presenter."""

    def __init__(self, services: Services, owner: Any) -> None:
        self._services = services
        self._owner = owner

    def want(self, ref: Ref | None, size: int, done: Callable[[QImage | None], None]) -> None:
        """Decode a thumbnail on a thread and hand it on; None at once without a reference."""
        if ref is None:
            done(None)
            return
        folder = self._services.home.thumbnails
        self._services.tasks.run(
            self._owner, lambda: picture_of(ref, size, folder), done, lambda _error: done(None)
        )
