"""Three planes of one volume with one crosshair, and what lies under it.

Owns the three canvases and their common point in the patient. The crosshair moves by its lines,
by a click, by Shift with the pointer and by scrolling; everything else is as on any canvas.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from app import theme
from app.widgets.canvas_words import position_words
from app.widgets.content import Picture, ViewState, slice_index
from app.widgets.image_canvas import ImageCanvas
from app.widgets.measure import NO_SLICE, index_words, named_value, place_words, value_words
from app.widgets.reslice import NAMES, Planes, can_reslice, in_gap, planes_of
from app.widgets.view_commands import Room, fit_scale

COLORS = dict(zip(NAMES, theme.PLOT_COLORS[:3], strict=True))
# The planes that a view's upright and level line stand for.
CROSSING = {
    "axial": ("sagittal", "coronal"),
    "coronal": ("sagittal", "axial"),
    "sagittal": ("coronal", "axial"),
}
PLACES = {"axial": (0, 0), "coronal": (0, 1), "sagittal": (1, 0)}


class MprView(QWidget):
    """Axial, coronal and sagittal view of a volume and a panel of facts.

    Signals:
        chosen: pointer or focus came to one of the canvases.
        pointed: patient coordinates [3] of the crosshair, moved by the user.
    """

    chosen = Signal(object)
    pointed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Three planes")
        self._picture: Picture | None = None
        self._planes: Planes | None = None
        self._point: NDArray[np.float64] | None = None
        self._large: str | None = None
        self._fit: dict[str, float] = {}
        self.canvases = {name: self._canvas(name) for name in NAMES}
        self._active = "axial"
        self.facts = _Facts()
        self._cells: dict[str, QWidget] = {}
        self._lay_out()

    @property
    def picture(self) -> Picture | None:
        """The volume."""
        return self._picture

    @property
    def point(self) -> NDArray[np.float64] | None:
        """Patient coordinates of the crosshair."""
        return self._point

    @property
    def active(self) -> ImageCanvas:
        """The canvas that commands go to."""
        return self.canvases[self._active]

    def set_picture(self, picture: Picture | None, planes: Planes | None = None) -> bool:
        """Show a volume from its middle; False if it has no three planes (nothing is shown).

        Args:
            picture: the volume, or None.
            planes: ``planes_of(picture)`` where another thread worked it out, which takes a
                moment for slices at uneven distances.
        """
        if planes is None and picture is not None and can_reslice(picture):
            planes = planes_of(picture)
        self._picture = picture if planes is not None else None
        self._planes = planes
        self._point = None
        for name, canvas in self.canvases.items():
            canvas.set_picture(self._planes.of(name) if self._planes else None)
        if self._planes is None:
            self.facts.say(())
            return False
        assert picture is not None
        assert picture.geometry is not None
        slices, rows, columns = picture.array.shape[:3]
        self._go_to(picture.geometry.point((slice_index(0.5, slices), rows // 2, columns // 2)))
        self._even_scale()
        return True

    def refresh(self) -> None:
        """More slices are decoded; once all are, the planes across them appear."""
        waiting = self._planes is not None and any(
            self._planes.of(name).ready is not None for name in NAMES
        )
        picture = self._picture
        if waiting and picture is not None and picture.ready is not None and picture.ready.all():
            self._planes = planes_of(picture)
            for name, canvas in self.canvases.items():
                canvas.set_picture(self._planes.of(name), canvas.state)
            if self._point is not None:
                self._go_to(self._point)
        for canvas in self.canvases.values():
            canvas.refresh()

    def set_point(self, point: NDArray[np.float64]) -> None:
        """Put the crosshair on patient coordinates without telling others."""
        if self._planes is not None:
            self._go_to(point)

    def set_overlays(self, overlays: frozenset[str]) -> None:
        """See ``ImageCanvas.set_overlays``."""
        for canvas in self.canvases.values():
            canvas.set_overlays(overlays)

    def do(self, command_id: str) -> bool:
        """Do a command of a picture in the active plane; tools and words go to all three."""
        return self.active.do(command_id)

    def handle_key(self, event: QKeyEvent) -> bool:
        """Pass a key to the active plane; Escape brings all three back."""
        if event.key() == Qt.Key.Key_Escape and self._large is not None:
            self._enlarge(None)
            return True
        return self.active.handle_key(event)

    # building

    def _canvas(self, name: str) -> ImageCanvas:
        canvas = ImageCanvas(self)
        canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        canvas.setAccessibleName(f"{name.capitalize()} plane")
        canvas.cross_movable = True
        upright, level = CROSSING[name]
        canvas.set_cross_colors(COLORS[upright], COLORS[level])
        canvas.acted.connect(lambda: self._acted(name))
        canvas.pointed.connect(self._pointed)
        canvas.chosen.connect(lambda: self._choose(name))
        canvas.tool_chosen.connect(self._set_tool)
        canvas.words_hidden.connect(self._hide_words)
        canvas.maximise_asked.connect(lambda: self._enlarge(None if self._large == name else name))
        return canvas

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(2)
        for name, (row, column) in PLACES.items():
            self._cells[name] = cell = QWidget()
            inside = QVBoxLayout(cell)
            inside.setContentsMargins(0, 0, 0, 0)
            inside.setSpacing(0)
            head = QLabel(f'<span style="color:{COLORS[name]}">\N{BLACK SQUARE}</span> {name}')
            head.setProperty("role", "small")
            head.setMargin(2)
            inside.addWidget(head)
            inside.addWidget(self.canvases[name], 1)
            grid.addWidget(cell, row, column)
        self._cells["facts"] = self.facts
        grid.addWidget(self.facts, 1, 1)
        for number in (0, 1):
            grid.setRowStretch(number, 1)
            grid.setColumnStretch(number, 1)

    def _enlarge(self, name: str | None) -> None:
        self._large = name
        for other, cell in self._cells.items():
            cell.setVisible(name is None or other == name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_even()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._keep_even()

    def _keep_even(self) -> None:
        """Another size: fit again, unless a plane was zoomed by hand."""
        if all(canvas.state.zoom == self._fit.get(name) for name, canvas in self._canvases()):
            self._even_scale()

    def _canvases(self) -> Iterable[tuple[str, ImageCanvas]]:
        return self.canvases.items()

    def _even_scale(self) -> None:
        """Fit all three planes with one scale: a millimetre is as long in each."""
        if self._planes is None or self._large is not None:
            return
        layout = self.layout()
        if layout is not None:
            layout.activate()
        scales = {}
        for name, canvas in self._canvases():
            picture = self._planes.of(name)
            room = Room(canvas.width(), canvas.height())
            spacing = picture.spacing
            column = spacing[1] if spacing is not None else 1.0
            scales[name] = fit_scale(picture, canvas.state, room) / column
        common = min(scales.values())
        for name, canvas in self._canvases():
            self._fit[name] = common / scales[name]
            canvas.set_state(replace(canvas.state.fitted(), zoom=self._fit[name]))

    # one point for all

    def _choose(self, name: str) -> None:
        self._active = name
        self.chosen.emit(self)

    def _set_tool(self, tool: str) -> None:
        for canvas in self.canvases.values():
            if canvas.tool != tool:
                canvas.set_tool(tool)

    def _hide_words(self, hidden: bool) -> None:
        for canvas in self.canvases.values():
            canvas.hide_words(hidden=hidden)

    def _pointed(self, point: NDArray[np.float64]) -> None:
        self._go_to(point)
        self.pointed.emit(point)

    def _acted(self, name: str) -> None:
        """A plane was scrolled: the point moves along; its window is everyone's."""
        acting = self.canvases[name]
        self._share_window(name, acting.state)
        fits = acting.state == acting.state.fitted()
        if fits and (acting.before != acting.before.fitted()):
            self._even_scale()  # fitted or reset: all three again at one scale
        if self._point is None or acting.picture is None or acting.picture.geometry is None:
            return
        geometry = acting.picture.geometry
        index, _moment = acting.slice_and_moment
        z, y, x = geometry.index(self._point)
        if round(z) != index:
            self._pointed(geometry.point((index, y, x)))

    def _share_window(self, name: str, state: ViewState) -> None:
        for other, canvas in self.canvases.items():
            if other != name:
                canvas.set_state(
                    replace(
                        canvas.state,
                        preset=state.preset,
                        shift=state.shift,
                        factor=state.factor,
                        given=state.given,
                        inverted=state.inverted,
                        moment=state.moment,
                    )
                )

    def _go_to(self, point: NDArray[np.float64]) -> None:
        self._point = point
        for canvas in self.canvases.values():
            picture = canvas.picture
            if picture is None or picture.geometry is None:
                continue
            last = picture.slices - 1
            index = min(last, max(0, round(picture.geometry.index(point)[0])))
            canvas.set_state(replace(canvas.state, depth=index / max(1, last)))
            canvas.set_cross(point)
        self.facts.say(self._facts())

    def _facts(self) -> tuple[str, ...]:
        """What lies under the crosshair, and how the planes were made."""
        if self._planes is None or self._point is None:
            return ()
        said = [place_words(self._point)]
        picture = self._picture
        assert picture is not None
        assert picture.geometry is not None
        z, y, x = (round(part) for part in picture.geometry.index(self._point))
        depth, rows, columns = picture.array.shape[:3]
        if 0 <= z < depth and 0 <= y < rows and 0 <= x < columns and picture.is_ready(z):
            if in_gap(picture.geometry, self._point):
                said.append(NO_SLICE)
            else:
                moment = self.active.slice_and_moment[1]
                said.append(named_value(picture, value_words(picture, z, moment, x, y)))
                said.append(index_words(picture, z, moment, x, y))
        for name in NAMES:
            canvas = self.canvases[name]
            if canvas.picture is not None:
                said.append(f"{name}  {position_words(canvas.picture, canvas.state)}")
        return (*said, *self._planes.notes)


class _Facts(QFrame):
    """The fourth field: words about the crosshair's place."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("surface", "panel")
        self.setAccessibleName("Crosshair")
        column = QVBoxLayout(self)
        column.setContentsMargins(*([theme.SPACE_L] * 4))
        heading = QLabel("Crosshair")
        heading.setProperty("role", "heading")
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        hint = QLabel("Drag its lines, click, or move with Shift.")
        hint.setProperty("role", "small")
        hint.setWordWrap(True)
        for label in (heading, self.words, hint):
            column.addWidget(label)
        column.addStretch(1)

    def say(self, lines: tuple[str, ...]) -> None:
        """Show lines below each other."""
        self.words.setText("\n".join(lines))
