"""The Viewer page: series on the left, one, two or four frames, the report on the right.

Lays out, emits intents, takes plain values. Tools are keys first, a slim bar second.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.views.review_pages import SentencePage
from app.widgets.content import Content
from app.widgets.evidence_frame import EvidenceFrame
from app.widgets.key_help import KeyHelp
from app.widgets.series_strip import SeriesRow, SeriesStrip
from app.widgets.text_panel import TextPanel
from app.widgets.view_link import ViewLink

LAYOUTS = {"1": (1, 1), "1x2": (1, 2), "2x2": (2, 2)}
FRAMES = 4
REPORT_WIDTH = 340


class ViewerView(QWidget):
    """Everything of the page.

    Signals:
        series_wanted: (row of the strip, frame) to be shown there.
        paths_chosen: files or folders to open.
        stop_asked: stop looking for evidence.
        layout_chosen: ``1``, ``1x2`` or ``2x2``.
        link_asked: link or unlink.
    """

    series_wanted = Signal(int, int)
    paths_chosen = Signal(list)
    stop_asked = Signal()
    layout_chosen = Signal(str)
    link_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Viewer")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.link = ViewLink(self)
        self.strip, self.report = SeriesStrip(), TextPanel()
        self.frames = tuple(self._frame(number) for number in range(FRAMES))
        self._active = 0
        self._single: int | None = None
        self._layout = "1"
        self._body, self.empty = QWidget(), SentencePage("Viewer")
        self.working = SentencePage("Looking")
        self._grid = QGridLayout()
        self._buttons: dict[str, QToolButton] = {}
        self._status = QLabel()
        self._stack = QStackedLayout(self)
        self._lay_out()
        self._ask_for_files()
        self.help = KeyHelp(self, page="viewer")
        self.strip.opened.connect(lambda row: self.series_wanted.emit(row, self._active))
        self.show_empty("Open a file or a folder, or drop it here.")
        self.show_layout("1")

    @property
    def active(self) -> int:
        """The frame that keys and the strip speak to."""
        return self._active

    # setters

    def show_empty(self, sentence: str) -> None:
        """Nothing is open."""
        self.empty.say(sentence)
        self._stack.setCurrentWidget(self.empty)

    def show_working(self, sentence: str) -> None:
        """Looking through files takes a while."""
        self.working.say(sentence)
        self._stack.setCurrentWidget(self.working)

    def show_series(self, rows: Sequence[SeriesRow]) -> None:
        """The strip; all frames empty."""
        self.strip.show_rows(rows)
        for frame in self.frames:
            frame.set_title("")
            frame.clear()
        self.show_report("")
        self._stack.setCurrentWidget(self._body)
        self.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        """Keys count at once, before anything is clicked."""
        super().showEvent(event)
        self.setFocus()

    def show_thumbnail(self, row: int, values: NDArray[np.uint8]) -> None:
        """A small picture in the strip."""
        self.strip.show_thumbnail(row, values)

    def show_content(self, frame: int, content: Content, title: str) -> None:
        """Put something into a frame."""
        self.frames[frame].set_title(title)
        self.frames[frame].show_content(content)

    def show_report(self, text: str) -> None:
        """The report beside the pictures; folded away without one."""
        self.report.show_text(text)
        self._fold("report", shown=bool(text))

    def show_status(self, sentence: str) -> None:
        """One quiet line in the bar."""
        self._status.setText(sentence)

    def show_layout(self, name: str) -> None:
        """One, two or four frames."""
        self._layout, self._single = name, None
        rows, columns = LAYOUTS[name]
        for number, frame in enumerate(self.frames):
            self._grid.removeWidget(frame)
            if number < rows * columns:
                self._grid.addWidget(frame, number // columns, number % columns)
            # After adding: a new parent hides what it takes in.
            frame.setVisible(number < rows * columns)
        for layout, button in self._buttons.items():
            if layout in LAYOUTS:
                button.setChecked(layout == name)
        self.activate(min(self._active, rows * columns - 1))

    def show_link(self, *, on: bool) -> None:
        """Whether the frames are linked."""
        self.link.set_on(on)
        self._buttons["link"].setChecked(on)

    def activate(self, number: int) -> None:
        """Make a frame the one that keys and the strip speak to."""
        self._active = number
        for other, frame in enumerate(self.frames):
            frame.set_selected(other == number and self._layout != "1")

    # events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if self.help.isVisible():
            self.help.hide()
        elif key == Qt.Key.Key_M or (key == Qt.Key.Key_Escape and self._single is not None):
            self._maximise(self._active)
        elif key == Qt.Key.Key_K:
            self.link_asked.emit()
        elif event.text() == "?":
            self.help.open()
        elif not self.frames[self._active].handle_key(event):
            event.ignore()

    def dragEnterEvent(self, event: object) -> None:
        if event.mimeData().hasUrls():  # type: ignore[attr-defined]
            event.acceptProposedAction()  # type: ignore[attr-defined]

    def dropEvent(self, event: object) -> None:
        urls = event.mimeData().urls()  # type: ignore[attr-defined]
        paths = [url.toLocalFile() for url in urls if url.isLocalFile()]
        if paths:
            self.paths_chosen.emit(paths)

    # building

    def _frame(self, number: int) -> EvidenceFrame:
        frame = EvidenceFrame("", self)
        frame.set_title("", align=Qt.AlignmentFlag.AlignLeft)
        frame.canvas_made.connect(lambda canvas: self.link.join([canvas]))
        frame.chosen.connect(lambda _frame: self.activate(number))
        frame.maximise_asked.connect(lambda _frame: self._maximise(number))
        return frame

    def _maximise(self, number: int) -> None:
        """Let one frame fill the room, or bring the layout back."""
        if self._layout == "1":
            return
        if self._single is not None:
            self.show_layout(self._layout)
            return
        self._single = number
        for other, frame in enumerate(self.frames):
            frame.setVisible(other == number)

    def _lay_out(self) -> None:
        self._grid.setSpacing(theme.SPACE_XS)
        self._grid.setContentsMargins(0, 0, 0, 0)
        middle = QVBoxLayout()
        middle.setSpacing(theme.SPACE_XS)
        middle.addWidget(self._bar())
        middle.addLayout(self._grid, 1)
        row = QHBoxLayout(self._body)
        row.setContentsMargins(*([theme.SPACE_XS] * 4))
        row.setSpacing(theme.SPACE_XS)
        self.report.setFixedWidth(REPORT_WIDTH)
        self.report.setAccessibleName("Report")
        row.addWidget(self.strip)
        row.addLayout(middle, 1)
        row.addWidget(self.report)
        self._stack.setContentsMargins(0, 0, 0, 0)
        for page in (self._body, self.empty, self.working):
            self._stack.addWidget(page)

    def _bar(self) -> QFrame:
        bar = QFrame()
        bar.setProperty("surface", "bar")
        row = QHBoxLayout(bar)
        row.setContentsMargins(theme.SPACE_XS, 2, theme.SPACE_XS, 2)
        row.setSpacing(theme.SPACE_XS)
        row.addWidget(self._tool("series", "panel-left", "Series strip", checkable=True))
        for name, icon in (("1", "layout-1"), ("1x2", "layout-2"), ("2x2", "layout-4")):
            row.addWidget(self._tool(name, icon, f"Layout {name}", checkable=True))
        row.addWidget(self._tool("link", "link", "Link the frames (K)", checkable=True))
        self._status.setProperty("role", "quiet")
        row.addWidget(self._status, 1, Qt.AlignmentFlag.AlignCenter)
        row.addWidget(self._tool("open", "open", "Open a folder", checkable=False))
        row.addWidget(self._tool("help", "help", "Keys (?)", checkable=False))
        row.addWidget(self._tool("report", "panel-right", "Report", checkable=True))
        self._wire()
        return bar

    def _wire(self) -> None:
        buttons = self._buttons
        buttons["series"].setChecked(True)
        buttons["link"].setChecked(True)
        buttons["series"].clicked.connect(lambda on: self._fold("series", shown=on))
        buttons["report"].clicked.connect(lambda on: self._fold("report", shown=on))
        buttons["link"].clicked.connect(self.link_asked)
        buttons["help"].clicked.connect(lambda: self.help.open())
        buttons["open"].clicked.connect(self._choose_folder)
        for name in LAYOUTS:
            buttons[name].clicked.connect(partial(self.layout_chosen.emit, name))

    def _tool(self, name: str, icon: str, words: str, *, checkable: bool) -> QToolButton:
        button = QToolButton()
        button.setIcon(theme.icon(icon))
        button.setProperty("kind", "flat")
        button.setCheckable(checkable)
        button.setToolTip(words)
        button.setAccessibleName(words)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._buttons[name] = button
        return button

    def _fold(self, part: str, *, shown: bool) -> None:
        (self.strip if part == "series" else self.report).setVisible(shown)
        self._buttons[part].setChecked(shown)

    def _ask_for_files(self) -> None:
        folder = self.empty.add_button("Open a folder", primary=True)
        folder.clicked.connect(self._choose_folder)
        files: QPushButton = self.empty.add_button("Open files")
        files.clicked.connect(self._choose_files)
        self.working.add_button("Stop").clicked.connect(self.stop_asked)

    def _choose_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Open a folder")
        if folder:
            self.paths_chosen.emit([folder])

    def _choose_files(self) -> None:
        files, _kind = QFileDialog.getOpenFileNames(self, "Open files")
        if files:
            self.paths_chosen.emit(files)
