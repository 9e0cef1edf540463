"""The models page: one card per model, as many side by side as fit.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QHBoxLayout, QScrollArea, QWidget

from app.shown import ModelShown
from app.widgets.blocks import (
    badge,
    button,
    column,
    heading,
    label,
    quiet,
    restyle,
    row,
    tell,
    title,
)
from app.widgets.ink import px

CARD_WIDTH = 350


class ModelCardBox(QFrame):
    """One model: what it is, under which terms, whether it can be used here."""

    check_wanted = Signal(str)

    def __init__(self, shown: ModelShown) -> None:
        super().__init__()
        self.key = shown.key
        restyle(self, "surface", "panel")
        self.setAccessibleName(shown.title)
        name = row(heading(shown.title), badge("demo", "warn") if shown.demo else None)
        name.setStretch(0, 1)
        self.usable = label("")
        tell(self.usable, shown.why, "good" if shown.usable else "warn")
        foot = self._foot(shown)
        lines = [quiet(text, small=True) for text in _lines(shown) if text]
        for line in lines:
            line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setLayout(
            column(name, _badges(shown), self.usable, *lines, 1, foot, space=5, margin=px(12))
        )

    def _foot(self, shown: ModelShown) -> QHBoxLayout:
        self.checked = label("")
        tell(self.checked, shown.checked, "good")
        self.check = button(
            "Check", lambda: self.check_wanted.emit(self.key), name=f"Check {shown.title}"
        )
        self.check.setEnabled(shown.has_adapter and shown.on_disk)
        self.check.setToolTip("Load it and embed one item of each form")
        foot = row(self.check, self.checked, 1)
        foot.setStretch(1, 20)
        return foot

    def show_check(self, text: str, tone: str, *, checking: bool) -> None:
        """Say how the check goes or how it ended."""
        tell(self.checked, text, tone)
        self.check.setEnabled(not checking)


def _lines(shown: ModelShown) -> tuple[str, ...]:
    dim = f"{shown.dim} numbers" if shown.dim else ""
    facts = (shown.family, shown.size, dim, shown.forms)
    origin = (shown.source, shown.revision[:10])
    return (
        f"Licence: {shown.licence}",
        " · ".join(part for part in facts if part),
        shown.note,
        " @ ".join(part for part in origin if part),
    )


def _badges(shown: ModelShown) -> QHBoxLayout:
    pieces = [badge("on disk", "good") if shown.on_disk else badge("not on disk")]
    if shown.gated:
        pieces.append(badge("gated", "warn"))
    if not shown.has_adapter:
        pieces.append(badge("no adapter yet", "warn"))
    return row(*pieces, 1, space=4)


class ModelsView(QWidget):
    """Cards in a grid, those that can be used first."""

    check_wanted = Signal(str)
    only_usable_toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.cards: list[ModelCardBox] = []
        self.summary = quiet(wrap=False)
        self.only_usable = QCheckBox("Only those usable here")
        self.only_usable.setAccessibleName("Show only models usable on this machine")
        self.only_usable.toggled.connect(self.only_usable_toggled)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, px(8), 0)
        self._grid.setSpacing(px(10))
        inner = QWidget()
        inner.setLayout(column(self._grid, 1))
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName("Model cards")
        area.setWidget(inner)
        self._across = 0
        layout = column(row(title("Models"), self.summary, 1, self.only_usable, space=12), area)
        layout.setContentsMargins(px(12), px(12), px(4), px(12))
        self.setLayout(layout)

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    def show_models(self, models: Sequence[ModelShown], summary: str) -> None:
        """Show the cards."""
        for card in self.cards:
            self._grid.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = [ModelCardBox(shown) for shown in models]
        for card in self.cards:
            card.check_wanted.connect(self.check_wanted)
        self.summary.setText(summary)
        self._across = 0
        self._arrange()

    def show_check(
        self, key: str, text: str, *, tone: str = "quiet", checking: bool = False
    ) -> None:
        """Say on a card how its check goes."""
        for card in self.cards:
            if card.key == key:
                card.show_check(text, tone, checking=checking)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many cards side by side as fit."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        across = max(1, self.width() // px(CARD_WIDTH))
        if across == self._across:
            return
        for place in range(self._grid.columnCount()):
            self._grid.setColumnStretch(place, 1 if place < across else 0)
        for place, card in enumerate(self.cards):
            self._grid.addWidget(card, place // across, place % across)
        for place in range(across):
            self._grid.setColumnStretch(place, 1)
        self._across = across
