"""The strip of series beside the viewer: a small picture, what it is, from which file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app import theme
from app.widgets.canvas_paint import to_image

SIDE = 64


@dataclass(frozen=True)
class SeriesRow:
    """One object found.

    Attributes:
        title: what it is, for example ``CT, 64 slices``.
        detail: its file or folder name.
        kind: ``image``, ``volume``, ``cine``, ``report``, ``document``, ``other`` or ``error``.
        problem: why it cannot be shown, empty otherwise.
    """

    title: str
    detail: str
    kind: str
    problem: str = ""


class SeriesStrip(QListWidget):
    """Lists what was opened; emits which one is wanted."""

    opened = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Series")
        self.setIconSize(QSize(SIDE, SIDE))
        self.setFixedWidth(228)
        self.setWordWrap(True)
        self.setSpacing(1)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemActivated.connect(lambda item: self.opened.emit(self.row(item)))
        self.itemClicked.connect(lambda item: self.opened.emit(self.row(item)))

    def show_rows(self, rows: Sequence[SeriesRow]) -> None:
        """Put these rows up, without pictures yet."""
        self.clear()
        blank = QIcon(_square(None))
        for row in rows:
            item = QListWidgetItem(blank, f"{row.title}\n{row.problem or row.detail}")
            item.setToolTip(row.problem or row.detail)
            item.setSizeHint(QSize(0, SIDE + 12))
            if row.problem:
                item.setForeground(QColor(theme.QUIET))
                item.setIcon(QIcon(_symbol("error", theme.ERROR)))
            elif row.kind in ("report", "document"):
                item.setIcon(QIcon(_symbol("study", theme.QUIET)))
            self.addItem(item)

    def show_thumbnail(self, row: int, values: NDArray[np.uint8]) -> None:
        """A small picture for one row, [H, W, 3]."""
        item = self.item(row)
        if item is not None:
            item.setIcon(QIcon(_square(values)))


def _square(values: NDArray[np.uint8] | None) -> QPixmap:
    made = QPixmap(SIDE, SIDE)
    made.fill(QColor(theme.PICTURE))
    if values is not None:
        image = to_image(values, inverted=False)
        painter = QPainter(made)
        painter.drawImage((SIDE - image.width()) // 2, (SIDE - image.height()) // 2, image)
        painter.end()
    return made


def _symbol(name: str, color: str) -> QPixmap:
    made = QPixmap(SIDE, SIDE)
    made.fill(QColor(theme.PICTURE))
    painter = QPainter(made)
    painter.drawPixmap((SIDE - 24) // 2, (SIDE - 24) // 2, theme.pixmap(name, color, size=24))
    painter.end()
    return made
