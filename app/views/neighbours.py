"""The neighbours page: the query left, two rankings with lines between them right.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QPlainTextEdit,
    QScrollArea,
    QSpinBox,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from app.shown import CollectionShown, ModelShown, PreviewShown, RankedShown
from app.views.preview import FactList
from app.widgets.blocks import (
    EmptyState,
    button,
    column,
    heading,
    label,
    margins,
    quiet,
    row,
    section,
    tell,
)
from app.widgets.content import Picture
from app.widgets.image_canvas import ImageCanvas
from app.widgets.ink import hold, px
from app.widgets.ranked_list import RankedList, RankShift

SIDES = ("left", "right")


class NeighboursView(QWidget):
    """One query, one collection, one or two models."""

    query_wanted = Signal(str)
    collection_chosen = Signal(str)
    model_chosen = Signal(str, str)
    count_chosen = Signal(int)
    others_chosen = Signal(bool)
    search_wanted = Signal()
    cancel_wanted = Signal()
    open_wanted = Signal(str)
    query_open_wanted = Signal()
    picture_wanted = Signal(str)
    library_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._keys: dict[str, tuple[str, ...]] = {"left": (), "right": ()}
        split = QSplitter()
        split.setChildrenCollapsible(False)
        split.addWidget(self._query_side())
        split.addWidget(self._ranking_side())
        split.setStretchFactor(1, 1)
        split.setSizes([px(340), px(820)])
        self.setLayout(column(split))

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    def _query_side(self) -> QWidget:
        self.query_title = heading("Query")
        self.picture = ImageCanvas()
        self.picture.setAccessibleName("Picture of the query")
        hold(self.picture.setMinimumHeight, 260)
        self.facts = FactList()
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName("Report of the query")
        self.report_head = section("Report")
        keys = row(
            button("Open in viewer", self.query_open_wanted.emit),
            button("Choose a file…", self._ask_file, name="Choose a file as query"),
            1,
        )
        full = QWidget()
        layout = column(
            self.query_title, self.picture, keys, self.facts, self.report_head, self.text
        )
        layout.setStretchFactor(self.picture, 3)
        layout.setStretchFactor(self.text, 2)
        layout.addStretch(0)
        full.setLayout(layout)
        self._query = QStackedWidget()
        none = self._no_query()
        self._query.addWidget(none)
        self._query.addWidget(full)
        side = QWidget()
        hold(side.setMinimumWidth, 300)
        side.setLayout(column(self._query))
        margins(side, px(12), px(12), px(8), px(12))
        return side

    def _no_query(self) -> EmptyState:
        none = EmptyState(
            "No query",
            "Choose an object in the library and find its neighbours, or choose a file.",
            [
                button("Go to Library", self.library_wanted.emit, kind="primary"),
                button("Choose a file…", self._ask_file, name="Choose a file to search with"),
            ],
        )
        hold(none.text.setFixedWidth, 250)
        return none

    def _ranking_side(self) -> QWidget:
        side = QWidget()
        self.state = label("")
        self.state.hide()
        self._scroll = self._lanes()
        self._pages = QStackedWidget()
        self._none = EmptyState("", "Choose a query and a collection, then search.")
        self._pages.addWidget(self._none)
        self._pages.addWidget(self._scroll)
        self.heads = {name: heading() for name in SIDES}
        names = row(self.heads["left"], self.heads["right"], space=px(96))
        names.setStretch(0, 1)
        names.setStretch(1, 1)
        self._key = quiet(
            "Lines join the same object. Solid: ranked higher on the right. "
            "Dashed: lower. Dotted: in one ranking only.",
            small=True,
        )
        self._key.hide()
        layout = column(self._choices(), self.state, names, self._pages, self._key)
        layout.setStretchFactor(self._pages, 1)
        layout.setContentsMargins(px(8), px(12), px(12), px(12))
        side.setLayout(layout)
        return side

    def _lanes(self) -> QScrollArea:
        self.lists = {name: RankedList(f"Neighbours, {name} model", whole=True) for name in SIDES}
        self.shift = RankShift()
        for ranking in self.lists.values():
            ranking.opened.connect(self.open_wanted)
            ranking.chosen.connect(self.shift.hold)
            ranking.rows.picture_wanted.connect(self.picture_wanted)
        lanes = row(self.lists["left"], self.shift, self.lists["right"], space=0)
        for piece in (*self.lists.values(), self.shift):
            lanes.setAlignment(piece, Qt.AlignmentFlag.AlignTop)
        inner = QWidget()
        inner.setLayout(lanes)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(inner)
        area.setAccessibleName("Rankings")
        return area

    def _choices(self) -> QWidget:
        self.collection = QComboBox()
        self.collection.setAccessibleName("Collection to search")
        self.collection.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        hold(self.collection.setMinimumWidth, 136)
        hold(self.collection.setMaximumWidth, 260)
        self.collection.currentTextChanged.connect(self.collection.setToolTip)
        self.collection.currentIndexChanged.connect(
            lambda: self.collection_chosen.emit(str(self.collection.currentData() or ""))
        )
        self.models = {name: self._model_box(name) for name in SIDES}
        self.count = QSpinBox()
        self.count.setRange(1, 100)
        self.count.setValue(10)
        self.count.setAccessibleName("How many neighbours")
        self.count.valueChanged.connect(self.count_chosen)
        self.others = QCheckBox("Other patients")
        self.others.setAccessibleName(self.others.text())
        self.others.setToolTip("Leave out what is of the same patient or study as the query.")
        self.others.toggled.connect(self.others_chosen)
        self.search_button = button(
            "Search", self.search_wanted.emit, kind="primary", name="Search for neighbours"
        )
        self.cancel_button = button("Cancel", self.cancel_wanted.emit, name="Cancel the search")
        self.cancel_button.hide()
        bar = QWidget()
        pieces = (
            column(section("In collection"), self.collection, space=3),
            column(section("Left model"), self.models["left"], space=3),
            column(section("Right model"), self.models["right"], space=3),
            column(section("How many"), self.count, space=3),
        )
        keys = column(self.others, row(self.search_button, self.cancel_button), space=3)
        layout = row(*pieces, 1, keys, space=12)
        bar.setLayout(layout)
        return bar

    def _model_box(self, side: str) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(f"{side.capitalize()} model")
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        hold(box.setMinimumWidth, 130)
        box.currentIndexChanged.connect(
            lambda: self.model_chosen.emit(side, str(box.currentData() or ""))
        )
        box.currentTextChanged.connect(box.setToolTip)
        return box

    # -- what the presenter says

    def show_query(self, shown: PreviewShown | None) -> None:
        """Show the query; its picture comes once it is decoded."""
        self._query.setCurrentIndex(0 if shown is None else 1)
        if shown is None:
            return
        self.query_title.setText(shown.title)
        self.picture.set_picture(None)
        self.picture.setVisible(not (shown.text and dict(shown.facts).get("Kind") == "report"))
        self.facts.show_facts(shown.facts)
        self.text.setPlainText(shown.text)
        self.text.setVisible(bool(shown.text))
        self.report_head.setVisible(bool(shown.text))

    def show_query_picture(self, picture: Picture | None) -> None:
        """Show the picture or volume of the query, to be scrolled and windowed."""
        self.picture.set_picture(picture)

    def show_collections(self, collections: Sequence[CollectionShown], chosen: str) -> None:
        """Offer the collections."""
        _fill(self.collection, [(f"{c.name} ({c.count:,})", c.key) for c in collections], chosen)

    def show_models(self, models: Sequence[ModelShown], left: str, right: str) -> None:
        """Offer the models that can be used; the right one may be none."""
        usable = [(model.title, model.key) for model in models if model.usable]
        _fill(self.models["left"], usable, left)
        _fill(self.models["right"], [("none", ""), *usable], right)

    def show_state(
        self, text: str, *, tone: str = "quiet", can_search: bool = True, searching: bool = False
    ) -> None:
        """Say what goes on or what is missing."""
        tell(self.state, text, tone)
        self.search_button.setEnabled(can_search)
        self.search_button.setVisible(not searching)
        self.cancel_button.setVisible(searching)

    def show_ranking(self, side: str, title: str, rows: Sequence[RankedShown]) -> None:
        """Show one model's ranking; no rows and no title hides that side."""
        self.heads[side].setText(title)
        self.lists[side].show_rows(rows)
        self._keys[side] = tuple(shown.key for shown in rows)
        self.lists["right"].setVisible(bool(self._keys["right"]))
        both = all(self._keys.values())
        self.shift.setVisible(both)
        self._key.setVisible(both)
        self.heads["right"].setVisible(bool(self._keys["right"]))
        self.shift.show_ranks(self._keys["left"], self._keys["right"], self.lists["left"].lane)
        self.shift.setFixedHeight(max(self.lists[name].height() for name in SIDES))
        self._pages.setCurrentIndex(1 if any(self._keys.values()) else 0)

    def show_picture(self, key: str, image: QImage | None) -> None:
        """Show a thumbnail in both rankings."""
        for ranking in self.lists.values():
            ranking.rows.set_picture(key, image)

    def _ask_file(self) -> None:
        path = QFileDialog.getOpenFileName(self, "Choose a query")[0]
        if path:
            self.query_wanted.emit(path)


def _fill(box: QComboBox, entries: Sequence[tuple[str, str]], chosen: str) -> None:
    box.blockSignals(True)
    box.clear()
    for words, key in entries:
        box.addItem(words, key)
    box.setCurrentIndex(max(0, box.findData(chosen)) if entries else -1)
    box.blockSignals(False)
