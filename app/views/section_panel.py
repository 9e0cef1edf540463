"""A further table of results: its title, its rows, and the sentences under it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHeaderView, QScrollArea, QStackedWidget, QWidget

from app.shown_figures import SectionShown
from app.tables.rows import Column, RowsModel
from app.widgets.blocks import EmptyState, clear, column, heading, quiet, table_view, tell
from app.widgets.ink import px

Line = tuple[str, ...]
NOTHING = "There is nothing for this table yet."


def _cell(place: int) -> Callable[[Line], str]:
    return lambda line: line[place] if place < len(line) else ""


class SectionPanel(QWidget):
    """One table; numbers stand right and are never cut."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.heading = heading()
        self.model = RowsModel[Line](())
        self.table = table_view(name)
        self.table.setModel(self.model)
        self.notes = quiet(small=True)
        self.notes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = column(self.heading, self.table, self.notes, space=6)
        layout.setContentsMargins(0, px(8), 0, 0)
        self.setLayout(layout)
        self.show_section(None)

    def show_section(self, shown: SectionShown | None, *, why_not: str = NOTHING) -> None:
        """Show another table, or why there is none."""
        self.table.setVisible(shown is not None and bool(shown.rows))
        if shown is None:
            self.heading.setText("")
            self.model.set_rows([])
            tell(self.notes, why_not)
            return
        self.heading.setText(shown.title)
        places = range(len(shown.head))
        self.model.set_columns(
            [Column[Line](shown.head[n], _cell(n), right=n > 0, tip=_cell(n)) for n in places]
        )
        self.model.set_rows(shown.rows)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(False)
        tell(self.notes, "\n".join(shown.notes))

    def fit(self, most: int = 24) -> None:
        """Be as high as the rows, up to so many."""
        rows = min(self.model.rowCount(), most)
        head = self.table.horizontalHeader().sizeHint().height()
        self.table.setFixedHeight(
            head + rows * self.table.verticalHeader().defaultSectionSize() + px(16)
        )


class SectionList(QScrollArea):
    """Several tables, one below the other, each as high as its rows."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._why = EmptyState("", "")
        inner = QWidget()
        self._lines = column(space=18)
        margin = column(self._lines, 1)
        margin.setContentsMargins(0, 0, px(8), 0)
        inner.setLayout(margin)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._why)
        self._pages.addWidget(inner)
        self.setWidget(self._pages)

    def show_sections(self, sections: Sequence[SectionShown], *, why_not: str = NOTHING) -> None:
        """Show other tables, or why there is none."""
        clear(self._lines)
        self._why.say("", why_not)
        self._pages.setCurrentIndex(1 if sections else 0)
        for shown in sections:
            panel = SectionPanel(shown.title)
            panel.show_section(shown)
            panel.fit()
            self._lines.addWidget(panel)
