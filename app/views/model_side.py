"""The right side of the models page: one model's settings, or the form for a card of one's own.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QStackedWidget, QWidget

from app.shown import CardGiven, SettingShown
from app.tables.rows import Column, RowsModel
from app.widgets.blocks import (
    button,
    column,
    heading,
    label,
    panel,
    quiet,
    row,
    section,
    stretch_columns,
    table_view,
    tell,
)
from app.widgets.ink import INK, hold, px

WIDTH = 418
COLUMNS: tuple[Column[SettingShown], ...] = (
    Column("Setting", lambda shown: shown.name.replace("_", " "), tip=lambda shown: shown.name),
    Column("Value", lambda shown: shown.value, tip=lambda shown: shown.value),
    Column(
        "Release",
        lambda shown: (shown.release if shown.differs else "same") if shown.release else "–",
        colour=lambda shown: INK["warn" if shown.differs else "quiet"],
        tip=lambda shown: f"{shown.name}: {shown.value}, under the release preset {shown.release}",
    ),
    Column(
        "By",
        lambda shown: shown.origin,
        colour=lambda shown: INK["quiet"],
        tip=lambda shown: shown.tip,
    ),
)


class SettingsPanel(QWidget):
    """Every setting of one model."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.heading = heading()
        self.table = table_view("Settings of the model")
        self.model = RowsModel[SettingShown](COLUMNS)
        self.table.setModel(self.model)
        stretch_columns(self.table, 3, {0: 116, 1: 112, 2: 88})
        self.note = quiet(small=True)
        self.close_key = button("Close", self.closed.emit, name="Close the settings")
        head = row(self.heading, self.close_key)
        head.setStretch(0, 1)
        self.setLayout(column(head, self.table, self.note, margin=px(12)))

    def show_settings(self, title: str, rows: Sequence[SettingShown], note: str) -> None:
        """Show another model's."""
        self.heading.setText(title)
        self.heading.setToolTip(title)
        self.model.set_rows(rows)
        self.note.setText(note)
        self.table.setFocus()


class AddForm(QWidget):
    """A card of one's own: name, family, folder or hub id."""

    given = Signal(object)
    closed = Signal()
    folder_wanted = Signal()
    folder_named = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.name = _line("Name of the model", "as it shall be listed")
        self.folder = _line("Folder on this machine", "holds config.json and safetensors")
        self.folder.editingFinished.connect(lambda: self.folder_named.emit(self.folder.text()))
        self.hub_id = _line("Id on the hub", "organisation/name")
        self.revision = _line("Commit on the hub", "40 digits; empty takes the newest")
        self.family, self.preset = QComboBox(), QComboBox()
        self.family.setAccessibleName("Family of the model")
        self.preset.setAccessibleName("Preset of settings")
        self.problem = label("", "error")
        self.problem.hide()
        self.add = button("Add", self._give, kind="primary", name="Add the model")
        self.close_key = button("Close", self.closed.emit, name="Close the form")
        self.browse = button("Choose…", self.folder_wanted.emit, name="Choose the model's folder")
        folder = row(self.folder, self.browse)
        head = row(heading("Add a model"), self.close_key)
        head.setStretch(0, 1)
        told = quiet(
            "A checkpoint of a known family, or any sentence-transformers model. This writes a "
            "card, a small file in your home; no code of the model is ever run.",
            small=True,
        )
        lines = (
            ("Name", self.name), ("Folder", folder), ("or hub id", self.hub_id),
            ("Commit", self.revision), ("Family", self.family), ("Settings", self.preset),
        )  # fmt: skip
        pieces = [piece for words, field in lines for piece in (section(words), field)]
        self.setLayout(
            column(head, told, *pieces, self.problem, row(self.add, 1), 1, space=6, margin=px(12))
        )

    def show_form(self, families: Sequence[str], presets: Sequence[str]) -> None:
        """Begin anew."""
        for box, names in ((self.family, families), (self.preset, presets)):
            box.clear()
            box.addItems(list(names))
        for field in (self.name, self.folder, self.hub_id, self.revision):
            field.clear()
        tell(self.problem, "")
        self.name.setFocus()

    def show_folder(self, folder: str, family: str, why_not: str) -> None:
        """Show a chosen folder and the family its files tell, or why they tell none."""
        self.folder.setText(folder)
        if not self.name.text().strip():
            self.name.setText(folder.replace("\\", "/").rstrip("/").rpartition("/")[2])
        if family:
            self.family.setCurrentText(family)
        tell(self.problem, why_not, "warn")

    def _give(self) -> None:
        self.given.emit(
            CardGiven(
                self.name.text(), self.family.currentText(), self.folder.text(),
                self.hub_id.text(), self.revision.text(), self.preset.currentText(),
            )
        )  # fmt: skip


class ModelSide(QStackedWidget):
    """Settings or form, hidden while neither is asked for; Escape closes it."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.settings, self.form = SettingsPanel(), AddForm()
        for inner in (self.settings, self.form):
            framed = panel()
            framed.setLayout(column(inner))
            self.addWidget(framed)
            inner.closed.connect(self.leave)
        hold(self.setFixedWidth, WIDTH)
        self.hide()

    def show_settings(self, title: str, rows: Sequence[SettingShown], note: str) -> None:
        """Bring the settings of a model to the front."""
        self.setCurrentIndex(0)
        self.show()
        self.settings.show_settings(title, rows, note)

    def show_form(self, families: Sequence[str], presets: Sequence[str]) -> None:
        """Bring the form to the front."""
        self.setCurrentIndex(1)
        self.show()
        self.form.show_form(families, presets)

    def leave(self) -> None:
        """Close."""
        self.hide()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def stops(self) -> list[QWidget]:
        """What the Tab key reaches, in reading order."""
        form = self.form
        return [self.settings.close_key, self.settings.table, form.close_key, form.name,
                form.folder, form.browse, form.hub_id, form.revision, form.family, form.preset,
                form.add]  # fmt: skip

    def ask_folder(self) -> str:
        """Let the user choose a model's folder; an empty text if none."""
        return QFileDialog.getExistingDirectory(self, "Choose the folder of a model")


def _line(name: str, hint: str) -> QLineEdit:
    field = QLineEdit()
    field.setAccessibleName(name)
    field.setPlaceholderText(hint)
    return field
