"""The models page: one card per model, as many side by side as fit; settings and form beside them.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QHBoxLayout, QScrollArea, QWidget

from app.shown import ModelShown, SettingShown
from app.views.model_card import ModelCardBox
from app.views.model_side import ModelSide
from app.widgets.blocks import button, column, quiet, row, tell, title
from app.widgets.ink import px

CARD_WIDTH, GAP = 362, 10
PASSED = ("check_wanted", "download_wanted", "stop_wanted", "remove_wanted", "forget_wanted",
          "settings_wanted", "page_wanted", "sure_wanted",
          "unsure_wanted")  # fmt: skip


class ModelsView(QWidget):
    """Cards in a grid, those that can be used first."""

    check_wanted = Signal(str)
    download_wanted = Signal(str)
    stop_wanted = Signal(str)
    remove_wanted = Signal(str)
    forget_wanted = Signal(str)
    settings_wanted = Signal(str)
    page_wanted = Signal(str)
    sure_wanted = Signal(str)
    unsure_wanted = Signal(str)
    only_usable_toggled = Signal(bool)
    look_wanted = Signal()
    add_wanted = Signal()
    add_given = Signal(object)
    folder_wanted = Signal()
    folder_named = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.cards: list[ModelCardBox] = []
        self.side = ModelSide()
        self.side.form.given.connect(self.add_given)
        self.side.form.folder_wanted.connect(self.folder_wanted)
        self.side.form.folder_named.connect(self.folder_named)
        self.side.closed.connect(self._side_closed)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, px(8), 0)
        self._grid.setSpacing(px(GAP))
        inner = QWidget()
        inner.setLayout(column(self._grid, 1))
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setAccessibleName("Model cards")
        self.area.setWidget(inner)
        self.area.viewport().installEventFilter(self)
        self._across = 0
        self._asked_by: QWidget | None = None
        body = row(self.area, self.side)
        body.setStretch(0, 1)
        layout = column(self._head(), self._machine_line(), body)
        layout.setContentsMargins(px(12), px(12), px(4), px(12))
        self.setLayout(layout)

    def _head(self) -> QHBoxLayout:
        self.summary = quiet(wrap=False)
        self.only_usable = QCheckBox("Only those usable here")
        self.only_usable.setAccessibleName("Show only models usable on this machine")
        self.only_usable.toggled.connect(self.only_usable_toggled)
        self.add = button("Add a model…", self.add_wanted.emit, name="Add a model of your own")
        self.add.setToolTip("From a folder or a hub id: writes a card, no code")
        head = row(title("Models"), self.summary, 1, self.only_usable, self.add, space=12)
        head.setContentsMargins(0, 0, px(8), 0)
        return head

    def _machine_line(self) -> QHBoxLayout:
        self.machine = quiet()
        self.look = button("Look again", self.look_wanted.emit, name="Look at this machine again")
        self.look.setToolTip("Ask again for devices and memory, and read the cards again")
        line = row(self.machine, self.look)
        line.setStretch(0, 1)
        line.setContentsMargins(0, 0, px(8), 0)
        return line

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    # -- what the presenter says

    def show_models(self, models: Sequence[ModelShown], summary: str) -> None:
        """Show the cards; the one that had the keyboard keeps it."""
        focus = self.focusWidget()
        held = next((one.key for one in self.cards if focus and one.isAncestorOf(focus)), "")
        for card in self.cards:
            self._grid.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = [ModelCardBox(shown) for shown in models]
        for card in self.cards:
            for name in PASSED:
                getattr(card, name).connect(getattr(self, name))
        self.summary.setText(summary)
        self._across = 0
        self._arrange()
        if self.cards:
            self._side_last(self.cards[-1].remove)
        if (again := self.card(held)) is not None and (keys := again.pressable()):
            keys[0].setFocus()

    def _side_last(self, last: QWidget) -> None:
        """The side is read after the cards, which are newer than it."""
        for stop in self.side.stops():
            QWidget.setTabOrder(last, stop)
            last = stop

    def card(self, key: str) -> ModelCardBox | None:
        """The card of a model."""
        return next((card for card in self.cards if card.key == key), None)

    def show_machine(self, text: str, tip: str, *, looking: bool = False) -> None:
        """Say what this machine is."""
        tell(self.machine, text)
        self.machine.setToolTip(tip)
        self.look.setEnabled(not looking)

    def show_check(
        self, key: str, text: str, *, tone: str = "quiet", checking: bool = False, tip: str = ""
    ) -> None:
        """Say on a card how its check goes."""
        if (card := self.card(key)) is not None:
            card.show_check(text, tone, checking=checking, tip=tip)

    def show_transfer(
        self, key: str, text: str, *, permille: int | None = None, moving: bool = True
    ) -> None:
        """Say on a card how its download goes."""
        if (card := self.card(key)) is not None:
            card.show_transfer(text, permille=permille, moving=moving)

    def show_question(
        self, key: str, text: str = "", action: str = "", *, danger: bool = False
    ) -> None:
        """Ask on a card; an empty text takes the question away, an empty action only tells."""
        if (card := self.card(key)) is not None:
            card.show_question(text, action, danger=danger)

    def show_settings(self, title: str, rows: Sequence[SettingShown], note: str) -> None:
        """Show one model's settings on the right."""
        self._asked_by = self.focusWidget()
        self.side.show_settings(title, rows, note)

    def show_form(self, families: Sequence[str], presets: Sequence[str]) -> None:
        """Show the form for a card of one's own."""
        self._asked_by = self.add
        self.side.show_form(families, presets)

    def show_folder(self, folder: str, family: str, why_not: str) -> None:
        """Show a folder in the form, with the family its files tell."""
        self.side.form.show_folder(folder, family, why_not)

    def show_add_problem(self, text: str) -> None:
        """Say what the form lacks; an empty text closes it."""
        tell(self.side.form.problem, text, "error")
        if not text:
            self.side.leave()

    def ask_folder(self) -> str:
        """Let the user choose a model's folder; an empty text if none."""
        return self.side.ask_folder()

    # -- layout

    def _side_closed(self) -> None:
        """The keyboard goes back to what opened the side."""
        if self._asked_by is not None and self._asked_by.isVisible():
            self._asked_by.setFocus()
        self._asked_by = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """As many cards side by side as fit, also when the side opens."""
        if event.type() == QEvent.Type.Resize:
            self._arrange()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many cards side by side as fit."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        across = max(1, self.area.viewport().width() // px(CARD_WIDTH + GAP))
        if across == self._across:
            return
        for place in range(self._grid.columnCount()):
            self._grid.setColumnStretch(place, 1 if place < across else 0)
        for place, card in enumerate(self.cards):
            self._grid.addWidget(card, place // across, place % across)
        for place in range(across):
            self._grid.setColumnStretch(place, 1)
        self._across = across
