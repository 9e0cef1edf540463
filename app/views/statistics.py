"""The statistics page: locked before unblinding and says why; after it, bars and table.

Lays out and emits intents; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.shown import ShareShown, StatisticsShown, StudyShown
from app.tables.rows import RowsModel
from app.tables.shares import columns_for
from app.widgets.blocks import (
    EmptyState,
    button,
    column,
    label,
    quiet,
    row,
    section,
    table_view,
    title,
)
from app.widgets.chart import StackedShares
from app.widgets.ink import hold, px

FORMATS = ("CSV", "JSON", "PNG", "SVG", "PDF")


class StatisticsView(QWidget):
    """One study's outcome, or the lock."""

    study_chosen = Signal(str)
    export_wanted = Signal(str)
    study_page_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.study = QComboBox()
        self.study.setAccessibleName("Study")
        hold(self.study.setMinimumWidth, 280)
        self.study.currentIndexChanged.connect(
            lambda: self.study_chosen.emit(str(self.study.currentData() or ""))
        )
        self.exports = [
            button(
                name,
                partial(self.export_wanted.emit, name.lower()),
                name=f"Export as {name}",
            )
            for name in FORMATS
        ]
        self._export_words = section("Export")
        head = row(
            section("Study"),
            self.study,
            1,
            self._export_words,
            row(*self.exports, space=4),
            space=12,
        )
        self._pages = QStackedWidget()
        self._none = EmptyState(
            "No study yet",
            "Build a study, let it be read, unblind it: then its outcome is here.",
            [button("Go to Study", self.study_page_wanted.emit, kind="primary")],
        )
        self._pages.addWidget(self._none)
        self._pages.addWidget(self._locked())
        self._pages.addWidget(self._open())
        layout = column(head, self._pages, space=12)
        layout.setContentsMargins(px(12), px(12), px(12), px(12))
        self.setLayout(layout)

    def sizeHint(self) -> QSize:
        """A page."""
        return QSize(px(1160), px(740))

    def _locked(self) -> QWidget:
        sign = label("")
        sign.setPixmap(theme.pixmap("lock", theme.QUIET, size=px(40)))
        sign.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        sign.setAccessibleName("Locked")
        self.lock_title = title("Sealed")
        self.lock_title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.lock_text = label("", "reading")
        hold(self.lock_text.setFixedWidth, 520)
        self.lock_text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        key = button("Go to Study", self.study_page_wanted.emit, name="Go to the study's steps")
        page = QWidget()
        page.setLayout(
            column(1, sign, self.lock_title, row(1, self.lock_text, 1), row(1, key, 1), 1, space=16)
        )
        return page

    def _open(self) -> QWidget:
        self.heading = title()
        self.hash = quiet(small=True)
        self.hash.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bars = StackedShares()
        self.bars_note = quiet(
            "Whiskers: Wilson 95 % intervals, of the first model at its right border, of the "
            "second at its left border. Tie: both useful or neither useful.",
            small=True,
        )
        self.model = RowsModel[ShareShown](columns_for("A", "B"))
        self.table = table_view("Shares with intervals and sign test")
        self.table.setModel(self.model)
        self.sentences = label("")
        self.sentences.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        inner = QWidget()
        layout = QVBoxLayout(inner)
        layout.setContentsMargins(0, 0, px(8), 0)
        layout.setSpacing(px(8))
        for piece in (
            self.heading,
            self.hash,
            self.bars,
            self.bars_note,
            self.table,
            self.sentences,
        ):
            layout.addWidget(piece)
        layout.setStretchFactor(self.bars, 1)
        layout.addStretch(0)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(inner)
        return area

    # -- what the presenter says

    def show_studies(self, studies: Sequence[StudyShown], chosen: str) -> None:
        """Offer the studies; none shows the empty state."""
        self.study.blockSignals(True)
        self.study.clear()
        for shown in studies:
            self.study.addItem(shown.title, shown.key)
        self.study.setCurrentIndex(max(0, self.study.findData(chosen)) if studies else -1)
        self.study.blockSignals(False)
        self.study.setVisible(bool(studies))
        if not studies:
            self._show(0)

    def show_locked(self, heading_words: str, text: str) -> None:
        """Say that the study is sealed, why, and who can open it."""
        self.lock_title.setText(heading_words)
        self.lock_text.setText(text)
        self.model.set_rows([])
        self.model.set_columns(columns_for("A", "B"))
        self.bars.show_bars("", "", ())
        self.sentences.setText("")
        self.heading.setText("")
        self._show(1)

    def show_statistics(self, shown: StatisticsShown) -> None:
        """Show the outcome."""
        self.heading.setText(shown.title)
        self.hash.setText(f"Fingerprint {shown.hash}" if shown.hash else "")
        self.bars.show_bars(shown.arm_a, shown.arm_b, shown.bars)
        self.model.set_columns(columns_for(shown.arm_a, shown.arm_b))
        self.model.set_rows(shown.bars)
        self.sentences.setText("\n".join(shown.sentences))
        self._fit_table(len(shown.bars))
        self._show(2)

    def _fit_table(self, count: int) -> None:
        header = self.table.horizontalHeader()
        # A number is never elided: the columns are as wide as they need, the table scrolls.
        header.setSectionResizeMode(header.ResizeMode.ResizeToContents)
        self.table.setFixedHeight(px(26) * min(count, 16) + px(36))

    def ask_file(self, suggested: str) -> str:
        """Let the user name a file to write; an empty text if none."""
        return QFileDialog.getSaveFileName(self, "Export statistics", suggested)[0]

    def _show(self, page: int) -> None:
        self._pages.setCurrentIndex(page)
        for piece in (*self.exports, self._export_words):
            piece.setVisible(page == 2)
