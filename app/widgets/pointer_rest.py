"""Tells a pointer that came to a frame from one that a frame appeared under.

Owns where the pointer lay when the board last changed by itself. Without it a new item, an
enlarged frame or the way back would choose whatever happens to lie under a mouse nobody moved.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtGui import QCursor


class PointerRest:
    """Where the pointer lay when the board last changed, in pixels of the screen."""

    def __init__(self) -> None:
        self._at: QPoint | None = None

    def note(self) -> None:
        """The board changes now."""
        self._at = QCursor.pos()

    def moved_to(self, place: QPoint) -> bool:
        """Whether a pointer seen at this place was moved since."""
        return place != self._at
