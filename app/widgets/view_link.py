"""Links canvases: what is done to one is done to all, so that no picture gets better display.

Scroll goes by relative depth; window, zoom and pan relative to each picture's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.widgets.image_canvas import ImageCanvas


class ViewLink(QObject):
    """Keeps the states of its canvases equal while it is on.

    Signals:
        moved: the canvas that the user acted on.
    """

    moved = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._canvases: list[ImageCanvas] = []
        self._on = True

    @property
    def on(self) -> bool:
        """True while actions are shared."""
        return self._on

    def set_on(self, on: bool) -> None:
        """Share actions or not; switching on does not move anything by itself."""
        self._on = on

    def join(self, canvases: Sequence[ImageCanvas]) -> None:
        """Add canvases for good."""
        for canvas in canvases:
            self._canvases.append(canvas)
            canvas.acted.connect(lambda acting=canvas: self._pass_on(acting))

    def _pass_on(self, acting: ImageCanvas) -> None:
        if self._on:
            for canvas in self._canvases:
                if canvas is not acting:
                    canvas.set_state(acting.state)
        self.moved.emit(acting)
