"""The middle of the Viewer: the frames, or three planes of one volume in their place.

Owns which of both is seen and passes commands to the one that is. Decides nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QStackedLayout, QVBoxLayout, QWidget

from app import theme
from app.views.viewer_frames import FrameGrid
from app.widgets.content import Picture
from app.widgets.image_canvas import ImageCanvas
from app.widgets.link_geometry import middle_point
from app.widgets.mpr import MprView
from app.widgets.reslice import Planes


class ViewerCenter(QWidget):
    """Frames and planes.

    Signals:
        acted: something was done to a picture, or another one was chosen.
    """

    acted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.grid = FrameGrid()
        self.planes: MprView | None = None
        self._points: dict[str, NDArray[np.float64]] = {}
        self._title = QLabel()
        self._title.setProperty("role", "small")
        self._title.setContentsMargins(theme.SPACE_S, 2, 0, 2)
        self._apart = QWidget()
        self._column = QVBoxLayout(self._apart)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._title)
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self.grid)
        self._stack.addWidget(self._apart)
        self.grid.changed.connect(lambda number: self._told(number))
        self.grid.chosen.connect(lambda _number: self.acted.emit())

    @property
    def in_planes(self) -> bool:
        """True while three planes are seen."""
        return self._stack.currentWidget() is self._apart

    @property
    def canvas(self) -> ImageCanvas | None:
        """The picture that keys speak to."""
        if self.in_planes and self.planes is not None:
            return self.planes.active
        return self.grid.canvas

    def show_planes(self, picture: Picture, planes: Planes, title: str) -> None:
        """Three planes of a volume, from where one was in it: by its crosshair or its slice."""
        shown = self._made()
        if shown.picture is not None and shown.point is not None and shown.picture.token:
            self._points[shown.picture.token] = shown.point
        point = self._start(picture)
        shown.set_picture(picture, planes)
        if point is not None:
            shown.set_point(np.asarray(point))
        self._title.setText(title)
        self._stack.setCurrentWidget(self._apart)
        self.acted.emit()

    def _start(self, picture: Picture) -> NDArray[np.float64] | None:
        """Where the crosshair begins: the slice of the chosen frame, else where it was left."""
        canvas = None if self.in_planes else self.grid.canvas
        seen = None if canvas is None else canvas.picture
        if picture.token is None or canvas is None or seen is None:
            return self._points.get(picture.token or "")
        if seen.token != picture.token or seen.geometry is None:
            return self._points.get(picture.token)
        return middle_point(seen, canvas.slice_and_moment[0])

    def forget(self) -> None:
        """Other evidence: no place is known in it."""
        self._points.clear()

    def show_frames(self) -> None:
        """The frames again; the volume of the planes is let go."""
        if self.planes is not None:
            self.planes.set_picture(None)
        self._stack.setCurrentWidget(self.grid)
        self.acted.emit()

    def refresh(self, number: int) -> None:
        """More slices are decoded of a frame's series."""
        self.grid.refresh(number)

    def do(self, command: str) -> bool:
        """A picture's command; False if it means nothing now."""
        if self.in_planes and self.planes is not None:
            return self.planes.do(command)
        return self.grid.do(command)

    def to_moment(self, number: int) -> None:
        """Another time point of the chosen picture."""
        canvas = self.canvas
        if canvas is not None and canvas.picture is not None:
            step = number - canvas.slice_and_moment[1]
            canvas.act(canvas.state.at_moment(step, canvas.picture.moments))

    def maximise(self, number: int) -> None:
        """Let one frame or plane fill the room, or bring all back."""
        if self.in_planes and self.planes is not None:
            self.planes.active.maximise_asked.emit()
        else:
            self.grid.maximise(number)

    def handle_key(self, event: QKeyEvent) -> bool:
        """A key of a picture or a text."""
        if self.in_planes and self.planes is not None:
            return self.planes.handle_key(event)
        return self.grid.frames[self.grid.active].handle_key(event)

    def _made(self) -> MprView:
        if self.planes is None:
            self.planes = MprView()
            self._column.addWidget(self.planes, 1)
            self.planes.chosen.connect(lambda _view: self.acted.emit())
            for canvas in self.planes.canvases.values():
                canvas.acted.connect(self.acted)
        return self.planes

    def _told(self, number: int) -> None:
        if number == self.grid.active:
            self.acted.emit()
