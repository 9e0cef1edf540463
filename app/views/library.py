"""The library page: collections and filters, thumbnails or table, a preview with its report.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage, QKeyEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from app.shown import CollectionShown, EvidenceShown, LibraryFilter, PreviewShown
from app.tables.evidence import EvidenceModel
from app.views.preview import PreviewPanel
from app.widgets.blocks import (
    EmptyState,
    button,
    column,
    heading,
    quiet,
    row,
    section,
    stretch_columns,
    table_view,
)
from app.widgets.ink import px
from app.widgets.thumbnail_grid import ThumbnailGrid

FORMS = (("All forms", ""), ("2D images", "2d"), ("3D volumes", "3d"), ("Reports", "text"))


class LibraryView(QWidget):
    """Collections left, objects in the centre, preview right."""

    collection_chosen = Signal(str)
    filter_changed = Signal(object)
    item_chosen = Signal(str)
    item_opened = Signal(str)
    neighbours_wanted = Signal(str)
    import_wanted = Signal(list)
    folder_wanted = Signal()
    demo_wanted = Signal()
    more_wanted = Signal(int)
    picture_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self._modalities: tuple[str, ...] = ()
        self.model = EvidenceModel()
        self.model.more_wanted.connect(self.more_wanted)
        self.model.picture_wanted.connect(self.picture_wanted)
        self.preview = PreviewPanel()
        self.preview.open_wanted.connect(self.item_opened)
        self.preview.neighbours_wanted.connect(self.neighbours_wanted)
        split = QSplitter()
        split.setChildrenCollapsible(False)
        for piece, stretch in ((self._side(), 0), (self._centre(), 1), (self.preview, 0)):
            split.addWidget(piece)
            split.setStretchFactor(split.count() - 1, stretch)
        split.setSizes([px(210), px(720), px(320)])
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty())
        self._pages.addWidget(split)
        layout = column(self._pages)
        layout.setContentsMargins(0, 0, 0, 0)
        self.setLayout(layout)

    def _empty(self) -> EmptyState:
        self._import_first = button("Import a folder", self.folder_wanted.emit, kind="primary")
        self._demo_first = button("Open the demo", self.demo_wanted.emit)
        return EmptyState(
            "Nothing here yet",
            "Drop a folder here, or open the demo.",
            [self._import_first, self._demo_first],
        )

    def _side(self) -> QWidget:
        self.collections = QListWidget()
        self.collections.setAccessibleName("Collections")
        self.collections.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.collections.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.collections.currentItemChanged.connect(self._collection_moved)
        self.form = QComboBox()
        self.form.setAccessibleName("Form")
        for text, key in FORMS:
            self.form.addItem(text, key)
        self.modality = QComboBox()
        self.modality.setAccessibleName("Modality")
        self.modality.addItem("All modalities", "")
        self.words = QLineEdit()
        self.words.setPlaceholderText("Words in name or report")
        self.words.setAccessibleName("Words in name or report")
        self.words.setClearButtonEnabled(True)
        self.words.textChanged.connect(self._filters_moved)
        self.problems = QCheckBox("Could not be read")
        for box in (self.form, self.modality):
            box.currentIndexChanged.connect(self._filters_moved)
        self.problems.setAccessibleName(self.problems.text())
        self.problems.toggled.connect(self._filters_moved)
        side = QWidget()
        side.setMinimumWidth(px(180))
        layout = column(
            section("Collections"),
            self.collections,
            section("Filters"),
            self.words,
            self.form,
            self.modality,
            self.problems,
            button("Import…", self.folder_wanted.emit, name="Import a folder"),
        )
        layout.setContentsMargins(px(12), px(12), px(8), px(12))
        layout.setStretchFactor(self.collections, 1)
        side.setLayout(layout)
        return side

    def _centre(self) -> QWidget:
        self.heading = heading()
        self.count = quiet(wrap=False)
        self.grid = ThumbnailGrid()
        self.grid.setModel(self.model)
        self.table = table_view("Objects of the collection")
        self.table.setModel(self.model)
        stretch_columns(self.table, 0, {1: 76, 2: 50, 3: 78, 4: 112, 5: 90})
        self._shapes = QStackedWidget()
        self._none = EmptyState("Nothing matches", "No object matches these filters.")
        for shape in (self.grid, self.table, self._none):
            self._shapes.addWidget(shape)
        for shape in (self.grid, self.table):
            shape.selectionModel().currentChanged.connect(self._item_moved)
            shape.doubleClicked.connect(self._item_activated)
            shape.installEventFilter(self)
        centre = QWidget()
        head = row(self.heading, self.count, 1, *self._switch())
        layout = column(head, self._shapes)
        layout.setContentsMargins(px(8), px(12), px(8), px(12))
        centre.setLayout(layout)
        return centre

    def _switch(self) -> tuple[QPushButton, QPushButton]:
        self._group = QButtonGroup(self)
        made = []
        for place, (text, name) in enumerate(
            (("Grid", "Show as a grid of thumbnails"), ("Table", "Show as a table"))
        ):
            key = button(text, self._shape_chosen, name=name)
            key.setCheckable(True)
            self._group.addButton(key, place)
            made.append(key)
        made[0].setChecked(True)
        return made[0], made[1]

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    # -- what the presenter says

    def show_collections(self, collections: Sequence[CollectionShown], chosen: str) -> None:
        """List the collections; none at all shows the empty state."""
        self._pages.setCurrentIndex(1 if collections else 0)
        self.collections.blockSignals(True)
        self.collections.clear()
        for shown in collections:
            item = QListWidgetItem(f"{shown.name}\n{shown.count:,} objects")
            item.setData(Qt.ItemDataRole.UserRole, shown.key)
            item.setToolTip(f"{shown.name}: {shown.count:,} objects")
            self.collections.addItem(item)
            if shown.key == chosen:
                self.collections.setCurrentItem(item)
                self.heading.setText(shown.name)
        self.collections.blockSignals(False)

    def show_modalities(self, modalities: Sequence[str]) -> None:
        """Offer the modalities that the collection holds."""
        if tuple(modalities) == self._modalities:
            return
        self._modalities = tuple(modalities)
        kept = self.modality.currentData()
        self.modality.blockSignals(True)
        self.modality.clear()
        self.modality.addItem("All modalities", "")
        for name in modalities:
            self.modality.addItem(name, name)
        self.modality.setCurrentIndex(max(0, self.modality.findData(kept)))
        self.modality.blockSignals(False)

    def show_items(self, total: int, rows: Sequence[EvidenceShown]) -> None:
        """Show the first page of a collection under the filter."""
        self.model.restart(total, rows)
        self.count.setText(f"{total:,} object{'' if total == 1 else 's'}")
        self._shape_chosen()
        if rows:
            self.grid.setCurrentIndex(self.model.index(0, 0))

    def add_items(self, rows: Sequence[EvidenceShown]) -> None:
        """Show the page that was asked for."""
        self.model.append(rows)

    def show_picture(self, key: str, image: QImage | None) -> None:
        """Show a thumbnail."""
        self.model.set_picture(key, image)

    def show_preview(self, shown: PreviewShown | None, image: QImage | None = None) -> None:
        """Show the chosen object, or that none is chosen."""
        self.preview.show_object(shown, image)

    def show_preview_picture(self, key: str, image: QImage | None) -> None:
        """Show the large picture of the chosen object once it is decoded."""
        self.preview.show_picture(key, image)

    def ask_folder(self) -> str:
        """Let the user choose a folder; an empty text if none."""
        return QFileDialog.getExistingDirectory(self, "Import a folder")

    # -- what the user does

    def _collection_moved(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.collection_chosen.emit(item.data(Qt.ItemDataRole.UserRole))

    def _filters_moved(self) -> None:
        self.filter_changed.emit(
            LibraryFilter(
                str(self.form.currentData() or ""),
                str(self.modality.currentData() or ""),
                self.words.text().strip(),
                self.problems.isChecked(),
            )
        )

    def _shape_chosen(self) -> None:
        place = 2 if self.model.total == 0 else self._group.checkedId()
        self._shapes.setCurrentIndex(place)

    def _item_moved(self, index: QModelIndex) -> None:
        shown = self.model.row_at(index)
        if shown is not None:
            self.item_chosen.emit(shown.key)

    def _item_activated(self, index: QModelIndex) -> None:
        shown = self.model.row_at(index)
        if shown is not None:
            self.item_opened.emit(shown.key)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter opens the chosen object."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            and watched in (self.grid, self.table)
        ):
            self._item_activated(watched.currentIndex())
            return True
        return super().eventFilter(watched, event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files and folders."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Import what was dropped."""
        paths = [
            str(Path(url.toLocalFile())) for url in event.mimeData().urls() if url.isLocalFile()
        ]
        if paths:
            event.acceptProposedAction()
            self.import_wanted.emit(paths)
