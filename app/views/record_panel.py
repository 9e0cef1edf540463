"""How one result was computed: facts, then every setting with who states it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QWidget

from app.shown import RecordShown, SettingShown
from app.tables.rows import Column, RowsModel
from app.widgets.blocks import (
    clear,
    column,
    heading,
    label,
    margins,
    quiet,
    row,
    section,
    stretch_columns,
    table_view,
    tell,
)
from app.widgets.ink import INK, hold, px

COLUMNS: tuple[Column[SettingShown], ...] = (
    Column("Setting", lambda shown: shown.name.replace("_", " "), tip=lambda shown: shown.name),
    Column("Value", lambda shown: shown.value),
    Column(
        "Stated by",
        lambda shown: shown.tip.partition(": ")[2] or shown.origin,
        colour=lambda shown: INK["quiet"],
    ),
)


class RecordPanel(QWidget):
    """A model or a cell is chosen; its record is shown."""

    model_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.models = QComboBox()
        self.models.setAccessibleName("Model whose settings are shown")
        hold(self.models.setMinimumWidth, 260)
        self.models.activated.connect(
            lambda _place: self.model_chosen.emit(str(self.models.currentData() or ""))
        )
        self.heading = heading()
        self.warning = label("", "warn")
        self.warning.hide()
        self._facts = QGridLayout()
        self._facts.setHorizontalSpacing(px(16))
        self._facts.setVerticalSpacing(px(4))
        self._facts.setColumnStretch(1, 1)
        self.model = RowsModel[SettingShown](COLUMNS)
        self.table = table_view("Settings of the result")
        self.table.setModel(self.model)
        stretch_columns(self.table, 2, {0: 190, 1: 220})
        self.setLayout(
            column(
                row(section("Model"), self.models, 1), self.heading, self.warning, self._facts,
                section("Settings that change a vector"), self.table,
            )
        )  # fmt: skip
        margins(self, 0, px(8), 0, 0)

    def show_models(self, models: Sequence[tuple[str, str]]) -> None:
        """List the models as (key, title)."""
        kept = self.models.currentData()
        self.models.clear()
        for key, words in models:
            self.models.addItem(words, key)
        self.models.setCurrentIndex(max(0, self.models.findData(kept)))

    def show_record(self, shown: RecordShown, key: str) -> None:
        """Show one record."""
        self.models.setCurrentIndex(self.models.findData(key))
        self.heading.setText(shown.title)
        self.heading.setToolTip(shown.title)
        tell(self.warning, shown.warning, "warn")
        clear(self._facts)
        for place, (name, words) in enumerate(shown.facts):
            self._facts.addWidget(quiet(name, wrap=False), place, 0)
            self._facts.addWidget(_value(words), place, 1)
        self.model.set_rows(shown.settings)


def _value(words: str) -> QLabel:
    told = label(words)
    told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    told.setToolTip(words)
    return told
