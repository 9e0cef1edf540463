"""The library page: collections and filters, thumbnails or table, a preview with its report.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QImage,
    QKeyEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from app.shown import CollectionShown, EvidenceShown, ImportShown, KinShown, PreviewShown
from app.tables.evidence import NARROW, EvidenceModel
from app.views.import_strip import ImportStrip
from app.views.library_side import LibrarySide
from app.views.preview import PreviewPanel
from app.widgets.blocks import (
    EmptyState,
    button,
    column,
    heading,
    label,
    quiet,
    row,
    stretch_columns,
    table_view,
)
from app.widgets.ink import INK, px
from app.widgets.thumbnail_grid import ThumbnailGrid

# a narrow table does without some columns, and its others are as wide as they must be
NARROW_TABLE = 760
WIDTHS = {
    True: {2: 78, 3: 84, 4: 112, 6: 66, 7: 108},
    False: {1: 84, 2: 86, 3: 120, 4: 140, 5: 70, 6: 76, 7: 160},
}


class LibraryView(QWidget):
    """Collections left, objects in the centre, preview right."""

    collection_chosen = Signal(str)
    remove_wanted = Signal(str)
    filter_changed = Signal(object)
    patient_wanted = Signal(str)
    patient_left = Signal()
    item_chosen = Signal(str)
    item_opened = Signal(str)
    neighbours_wanted = Signal(str)
    import_wanted = Signal(list)
    folder_wanted = Signal()
    files_wanted = Signal()
    clean_changed = Signal(bool)
    clean_folder_wanted = Signal()
    option_changed = Signal(str, bool)
    stop_wanted = Signal()
    demo_wanted = Signal()
    more_wanted = Signal(int)
    picture_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self.model = EvidenceModel()
        self.model.more_wanted.connect(self.more_wanted)
        self.model.picture_wanted.connect(self.picture_wanted)
        self._build_side()
        self._build_preview()
        split = QSplitter()
        split.setChildrenCollapsible(False)
        for piece, stretch in ((self.side, 0), (self._centre(), 1), (self.preview, 0)):
            split.addWidget(piece)
            split.setStretchFactor(split.count() - 1, stretch)
        split.setSizes([px(216), px(730), px(320)])
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty())
        self._pages.addWidget(split)
        self.strip = ImportStrip()
        self.strip.stop_wanted.connect(self.stop_wanted)
        self.strip.problems_wanted.connect(lambda: self.side.problems.setChecked(True))
        layout = column(self.strip, self._pages, space=0)
        layout.setStretchFactor(self._pages, 1)
        self.setLayout(layout)
        self._build_landing()

    def _build_side(self) -> None:
        self.side = LibrarySide()
        self.side.collection_chosen.connect(self.collection_chosen)
        self.side.remove_wanted.connect(self.remove_wanted)
        self.side.filter_changed.connect(self.filter_changed)
        self.side.patient_left.connect(self.patient_left)
        panel = self.side.panel
        panel.folder_wanted.connect(self.folder_wanted)
        panel.files_wanted.connect(self.files_wanted)
        panel.clean_changed.connect(self.clean_changed)
        panel.clean_folder_wanted.connect(self.clean_folder_wanted)
        panel.option_changed.connect(self.option_changed)

    def _build_preview(self) -> None:
        self.preview = PreviewPanel()
        self.preview.open_wanted.connect(self.item_opened)
        self.preview.neighbours_wanted.connect(self.neighbours_wanted)
        self.preview.patient_wanted.connect(self.patient_wanted)

    def _build_landing(self) -> None:
        """What is laid over the page while files hang above it."""
        self._landing = label("", "title", wrap=True)
        self._landing.setParent(self)
        self._landing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._landing.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._landing.setStyleSheet(
            f"background: rgba(13, 13, 13, 200); border: 2px dashed {INK['accent']};"
        )
        self._landing.hide()

    def _empty(self) -> EmptyState:
        self._import_first = button("Import a folder", self.folder_wanted.emit, kind="primary")
        self._demo_first = button("Open the demo", self.demo_wanted.emit)
        return EmptyState(
            "Nothing here yet",
            "Drop a folder here, or open the demo.",
            [self._import_first, self._demo_first],
        )

    def _centre(self) -> QWidget:
        self.heading = heading()
        self.count = quiet(wrap=False)
        self.grid = ThumbnailGrid()
        self.grid.setModel(self.model)
        self.table = table_view("Objects of the collection")
        self.table.setModel(self.model)
        self._narrow: bool | None = None
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
        self.side.show_collections(collections, chosen)
        name = next((shown.name for shown in collections if shown.key == chosen), "")
        self.heading.setText(name)

    def show_facets(
        self, modalities: Sequence[tuple[str, str]], body_parts: Sequence[tuple[str, str]]
    ) -> None:
        """Offer the modalities and body parts that the collection holds: (words, key)."""
        self.side.show_facets(modalities, body_parts)

    def show_patient(self, words: str) -> None:
        """Say that only one patient's objects are listed."""
        self.side.show_patient(words)

    def show_clean(self, *, on: bool, folder: str) -> None:
        """Say whether de-identified copies are made, and where."""
        self.side.panel.show_clean(on=on, folder=folder)

    def show_options(self, options: Sequence[tuple[str, str]], chosen: Sequence[str]) -> None:
        """Offer what copies may keep."""
        self.side.panel.show_options(options, chosen)

    def show_import(self, shown: ImportShown | None) -> None:
        """Say how an import stands and what it left out."""
        self.strip.show_import(shown)

    def show_items(self, total: int, rows: Sequence[EvidenceShown], *, chosen: str = "") -> None:
        """Show the first page of a collection under the filter; the chosen object stays so."""
        self.model.restart(total, rows)
        self._count(total)
        self._shape_chosen()
        if rows:
            place = self.model.place_of(chosen) or 0
            for shape in (self.grid, self.table):
                shape.setCurrentIndex(self.model.index(place, 0))

    def add_items(self, rows: Sequence[EvidenceShown]) -> None:
        """Show the page that was asked for."""
        self.model.append(rows)

    def show_lost(self, total: int, shown: EvidenceShown) -> None:
        """An object whose picture cannot be had stays in its place, and is no longer counted."""
        self.model.replace(shown)
        self._count(total)

    def show_picture(self, key: str, image: QImage | None) -> None:
        """Show a thumbnail."""
        self.model.set_picture(key, image)

    def forget_picture(self, key: str) -> None:
        """A thumbnail will not come unless it is asked for again."""
        self.model.forget_picture(key)

    def show_preview(self, shown: PreviewShown | None, image: QImage | None = None) -> None:
        """Show the chosen object, or that none is chosen."""
        self.preview.show_object(shown, image)

    def show_report(
        self, key: str, title: str, text: str, sections: Sequence[tuple[str, str, str]]
    ) -> None:
        """Show the report that belongs to the chosen picture."""
        self.preview.show_report(key, title, text, sections)

    def show_kin(self, key: str, kin: KinShown | None) -> None:
        """Say what else there is of the chosen object's patient."""
        self.preview.show_kin(key, kin)

    def show_preview_picture(self, key: str, image: QImage | None) -> None:
        """Show the large picture of the chosen object once it is decoded."""
        self.preview.show_picture(key, image)

    def ask_folder(self, words: str = "Import a folder") -> str:
        """Let the user choose a folder; an empty text if none."""
        return QFileDialog.getExistingDirectory(self, words)

    def ask_files(self) -> list[str]:
        """Let the user choose files; an empty list if none."""
        return list(QFileDialog.getOpenFileNames(self, "Import files or archives")[0])

    def _count(self, total: int) -> None:
        self.count.setText(f"{total:,} object{'' if total == 1 else 's'}")

    # -- what the user does

    def _shape_chosen(self) -> None:
        place = 2 if self.model.total == 0 else self._group.checkedId()
        self._shapes.setCurrentIndex(place)

    def _item_moved(self, index: QModelIndex) -> None:
        shown = self.model.row_at(index)
        if shown is None:
            return
        for shape in (self.grid, self.table):  # one choice, however it is looked at
            if shape.currentIndex().row() != index.row():
                shape.setCurrentIndex(self.model.index(index.row(), 0))
        self.item_chosen.emit(shown.key)

    def _item_activated(self, index: QModelIndex) -> None:
        shown = self.model.row_at(index)
        if shown is not None:
            self.item_opened.emit(shown.key)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter opens the chosen object; a narrow table does without some columns."""
        if watched is self.table and event.type() == QEvent.Type.Resize:
            self._fit_table(narrow=self.table.width() < px(NARROW_TABLE))
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            and watched in (self.grid, self.table)
        ):
            self._item_activated(watched.currentIndex())
            return True
        return super().eventFilter(watched, event)

    def _fit_table(self, *, narrow: bool) -> None:
        """Widths for a narrow or a wide table; those that a reader drew stay until it changes."""
        if narrow == self._narrow:
            return
        self._narrow = narrow
        for place in NARROW:
            self.table.setColumnHidden(place, narrow)
        stretch_columns(self.table, 0, WIDTHS[narrow])

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files and folders, and say what will become of them."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()
            into = f" into '{self.heading.text()}'" if self.heading.text() else ""
            self._landing.setText(f"Drop to import{into}")
            self._landing.setGeometry(self.rect())
            self._landing.raise_()
            self._landing.show()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Nothing hangs above the page any more."""
        self._landing.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        """Import what was dropped."""
        self._landing.hide()
        paths = [
            str(Path(url.toLocalFile())) for url in event.mimeData().urls() if url.isLocalFile()
        ]
        if paths:
            event.acceptProposedAction()
            self.import_wanted.emit(paths)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._landing.setGeometry(self.rect())
