"""The left side of the library: collections, filters, and how things come in.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QScrollArea,
    QWidget,
)

from app.shown import CollectionShown, LibraryFilter
from app.widgets.blocks import button, column, quiet, row, section
from app.widgets.ink import hold, px

FORMS = (("All forms", ""), ("2D images", "2d"), ("3D volumes", "3d"), ("Reports", "text"))
REPORTS = (("With or without report", ""), ("With report", "with"), ("Without report", "without"))
LEAST_LIST = 96  # two collections
MODALITIES, PARTS = "All modalities", "All body parts"
Words = Sequence[tuple[str, str]]


def combo(name: str, choices: Words) -> QComboBox:
    """A list to choose from; the key is the item's data."""
    made = QComboBox()
    made.setAccessibleName(name)
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    made.setMinimumContentsLength(8)
    for words, key in choices:
        made.addItem(words, key)
    return made


def scrolled(inner: QWidget) -> QScrollArea:
    """What is as wide as its place, and rolls where it is higher: nothing is squashed."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(inner)
    return area


class ImportPanel(QWidget):
    """Folder, files, and whether copies that name nobody are made on the way."""

    folder_wanted = Signal()
    files_wanted = Signal()
    clean_changed = Signal(bool)
    clean_folder_wanted = Signal()
    option_changed = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self.folder = button("Folder…", self.folder_wanted.emit, name="Import a folder")
        self.files = button("Files…", self.files_wanted.emit, name="Import files or archives")
        self.clean = QCheckBox("De-identified copies")
        self.clean.setAccessibleName(self.clean.text())
        self.clean.setToolTip(
            "Write copies without names, numbers and dates (DICOM PS3.15, Basic Profile)\n"
            "into a folder of your choice, and take those. Pixels are not treated."
        )
        self.clean.toggled.connect(self.clean_changed)
        self.place = button("Choose folder…", self.clean_folder_wanted.emit,
                            name="Folder for the copies")  # fmt: skip
        self.keep = QPushButton("Keep…")
        self.keep.setAccessibleName("What the copies keep")
        self._menu = QMenu(self.keep)
        self._menu.setToolTipsVisible(True)
        self.keep.setMenu(self._menu)
        self._more = QWidget()
        self._more.setLayout(row(self.place, self.keep))
        self._more.hide()
        layout = column(row(self.folder, self.files), self.clean, self._more)
        self.setLayout(layout)

    def show_clean(self, *, on: bool, folder: str) -> None:
        """Whether copies are made, and where."""
        self.clean.blockSignals(True)
        self.clean.setChecked(on)
        self.clean.blockSignals(False)
        self._more.setVisible(on)
        name = folder.replace("\\", "/").rstrip("/").rpartition("/")[2]
        self.place.setText(f"To {name}" if folder else "Choose folder…")
        self.place.setToolTip(folder)

    def show_options(self, options: Sequence[tuple[str, str]], chosen: Sequence[str]) -> None:
        """What copies may keep: (name in the standard's words, what it does)."""
        self._menu.clear()
        for name, words in options:
            action = QAction(f"{name}: {words}", self._menu, checkable=True)
            action.setChecked(name in chosen)
            action.toggled.connect(lambda on, name=name: self.option_changed.emit(name, on))
            self._menu.addAction(action)
        self.keep.setText(f"Keep {len(chosen)}…" if chosen else "Keep…")


class RemovePanel(QWidget):
    """Takes a collection out of the library: asked for, then confirmed by a key that names it."""

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._key = ""
        self.ask = button("Remove…", self._asked, kind="flat", name="Remove this collection")
        self.words = quiet(small=True)
        self.sure = button("", self._confirmed, kind="danger")
        self.leave = button("Keep it", self._left, name="Keep the collection")
        self.setLayout(column(row(self.ask, 1), self.words, row(self.sure, self.leave, 1)))
        self.offer("", "")

    def offer(self, key: str, name: str) -> None:
        """The collection that could go; a question about another one is withdrawn."""
        if key != self._key or not key:
            self._fold(asking=False)
        self._key = key
        self.setVisible(bool(key))
        self.words.setText(f"Take '{name}' out of the library? Its files stay where they are.")
        self.sure.setText("Remove it")
        self.sure.setAccessibleName(f"Remove collection {name}")

    def _asked(self) -> None:
        self._fold(asking=True)
        self.leave.setFocus()

    def _confirmed(self) -> None:
        self._fold(asking=False)
        self.wanted.emit(self._key)

    def _left(self) -> None:
        self._fold(asking=False)

    def _fold(self, *, asking: bool) -> None:
        self.ask.setVisible(not asking)
        for one in (self.words, self.sure, self.leave):
            one.setVisible(asking)


class LibrarySide(QWidget):
    """Collections, filters and the import panel."""

    collection_chosen = Signal(str)
    remove_wanted = Signal(str)
    filter_changed = Signal(object)
    patient_left = Signal()

    def __init__(self) -> None:
        super().__init__()
        hold(self.setMinimumWidth, 200)
        self.collections = QListWidget()
        self.collections.setAccessibleName("Collections")
        hold(self.collections.setMinimumHeight, LEAST_LIST)
        self.collections.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.collections.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.collections.currentItemChanged.connect(self._collection_moved)
        self.remove = RemovePanel()
        self.remove.wanted.connect(self.remove_wanted)
        self._build_filters()
        self.panel = ImportPanel()
        layout = column(
            section("Collections"),
            self.collections,
            self.remove,
            section("Filters"),
            self.words,
            self.form,
            self.modality,
            self.body_part,
            self.report,
            self.problems,
            self.patient,
            section("Import"),
            self.panel,
            quiet("Or drop folders and archives anywhere here.", small=True),
        )
        layout.setContentsMargins(px(12), px(12), px(8), px(12))
        layout.setStretchFactor(self.collections, 1)
        inner = QWidget()
        inner.setLayout(layout)
        whole = column(scrolled(inner))
        whole.setContentsMargins(0, 0, 0, 0)
        self.setLayout(whole)

    def _build_filters(self) -> None:
        self.words = QLineEdit()
        self.words.setPlaceholderText("Words in name or report")
        self.words.setAccessibleName("Words in name or report")
        self.words.setClearButtonEnabled(True)
        self.words.setAcceptDrops(False)  # what is dropped is to be imported
        self.words.textChanged.connect(self._filters_moved)
        self.form = combo("Form", FORMS)
        self.modality = combo("Modality", ((MODALITIES, ""),))
        self.body_part = combo("Body part", ((PARTS, ""),))
        self.report = combo("Report", REPORTS)
        for box in (self.form, self.modality, self.body_part, self.report):
            box.currentIndexChanged.connect(self._filters_moved)
        self.problems = QCheckBox("Left out or unreadable")
        self.problems.setAccessibleName(self.problems.text())
        self.problems.toggled.connect(self._filters_moved)
        self.patient = button("", self.patient_left.emit, name="Show all patients again")
        self.patient.hide()

    # -- what the presenter says

    def show_collections(self, collections: Sequence[CollectionShown], chosen: str) -> None:
        """List the collections."""
        self.collections.blockSignals(True)
        self.collections.clear()
        for shown in collections:
            told = f"{shown.count:,} objects"
            told += f", {shown.left_out:,} left out" if shown.left_out else ""
            item = QListWidgetItem(f"{shown.name}\n{told}")
            item.setData(Qt.ItemDataRole.UserRole, shown.key)
            item.setToolTip(f"{shown.name}: {told}")
            self.collections.addItem(item)
            if shown.key == chosen:
                self.collections.setCurrentItem(item)
        self.collections.blockSignals(False)
        self.remove.offer(chosen, next((one.name for one in collections if one.key == chosen), ""))

    def show_facets(self, modalities: Words, body_parts: Words) -> None:
        """Offer what the collection holds: (words, key)."""
        _refill(self.modality, ((MODALITIES, ""), *modalities))
        _refill(self.body_part, ((PARTS, ""), *body_parts))

    def show_patient(self, words: str) -> None:
        """Say that only one patient's objects are listed; an empty text says all are."""
        self.patient.setText("One patient only  ✕")
        self.patient.setToolTip(f"{words}; press to list all patients again.")
        self.patient.setVisible(bool(words))

    # -- what the user does

    def _collection_moved(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.collection_chosen.emit(item.data(Qt.ItemDataRole.UserRole))

    def _filters_moved(self) -> None:
        self.filter_changed.emit(
            LibraryFilter(
                form=str(self.form.currentData() or ""),
                modality=str(self.modality.currentData() or ""),
                words=self.words.text().strip(),
                problems=self.problems.isChecked(),
                body_part=str(self.body_part.currentData() or ""),
                report=str(self.report.currentData() or ""),
            )
        )


def _refill(box: QComboBox, choices: Words) -> None:
    """Other choices; the chosen one stays if it is still offered."""
    if [(box.itemText(n), box.itemData(n)) for n in range(box.count())] == list(choices):
        return
    kept = box.currentData()
    box.blockSignals(True)
    box.clear()
    for words, key in choices:
        box.addItem(words, key)
    box.setCurrentIndex(max(0, box.findData(kept)))
    box.blockSignals(False)
