"""The Viewer page: series on the left, frames in the middle, the report on the right.

Lays out, emits intents, takes plain values. Tools are keys first, a slim bar second.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app import keys, theme
from app.views.viewer_bar import ViewerBar, preset_words
from app.views.viewer_center import ViewerCenter
from app.views.viewer_doors import Doors
from app.views.viewer_frames import AFRESH, LAYOUTS
from app.widgets.content import Content, Picture
from app.widgets.evidence_frame import Remark
from app.widgets.key_help import KeyHelp
from app.widgets.pattern_screen import PatternScreen, screen_of
from app.widgets.report_panel import ReportPanel, ReportPart
from app.widgets.reslice import Planes
from app.widgets.series_strip import SeriesRow, SeriesStrip, dragged_row
from app.widgets.two_lines import TwoLines

__all__ = ["LAYOUTS", "ViewerView"]

LAYOUT_COMMANDS = {f"layout-{name}": name for name in ("1", "1x2", "2x2", "mpr")}
TICK_MS = 100
# Decided by the presenter; every other command is done here or by the picture.
ASKED = frozenset({"next-series", "previous-series", "reference-lines", "model-view", "straighten"})


class ViewerView(QWidget):
    """Everything of the page.

    Signals:
        series_wanted: (row of the strip, frame) to be shown there.
        paths_chosen: files or folders to open.
        stop_asked: stop looking for evidence.
        layout_chosen: ``1``, ``1x2``, ``2x2`` or ``mpr``.
        link_asked: link or unlink.
        command_asked: one of ``ASKED``.
        frame_chosen: the frame that keys speak to. frame_pressed: a mouse button went down in it.
        ticked: while something loads, ten times a second.
        report_stepped: -1 or 1, the report before or the next one.
        display_stated: size and scale of the display, and the reader's statement.
    """

    series_wanted = Signal(int, int)
    paths_chosen = Signal(list)
    stop_asked = Signal()
    layout_chosen = Signal(str)
    link_asked = Signal()
    command_asked = Signal(str)
    frame_chosen = Signal(int)
    frame_pressed = Signal(int)
    report_stepped = Signal(int)
    ticked = Signal()
    display_stated = Signal(str, str, str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Viewer")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.strip, self.report, self.center = SeriesStrip(), ReportPanel(), ViewerCenter()
        self.grid = self.center.grid
        self.bar = ViewerBar(self.presets)
        self.link, self.frames = self.grid.link, self.grid.frames
        self._statement = ""
        self._pattern: PatternScreen | None = None
        self._body, self.doors = QWidget(), Doors(self)
        self.empty, self.working = self.doors.empty, self.doors.working
        self._notes, self._status = TwoLines("Notes"), TwoLines("Status")
        self._stack = QStackedLayout(self)
        self._tick = QTimer(self, interval=TICK_MS)
        self._tick.timeout.connect(self.ticked)
        self.help = KeyHelp(self, page="viewer")
        self._lay_out()
        self._order_tabs()
        self._connect()
        self.bar.check("fold-series", on=True)
        self.show_empty("Open a file or a folder, or drop it here.")
        self.show_layout("1")

    @property
    def active(self) -> int:
        """The frame that keys and the strip speak to."""
        return self.grid.active

    # setters

    def show_empty(self, sentence: str) -> None:
        """Nothing is open."""
        self.empty.say(sentence)
        self._turn_to(self.empty)

    def show_working(self, sentence: str) -> None:
        """Looking through files takes a while."""
        self.working.say(sentence)
        self._turn_to(self.working)

    def show_series(self, rows: Sequence[SeriesRow]) -> None:
        """The strip; all frames empty."""
        self.strip.show_rows(rows)
        self.grid.clear()
        self.center.forget()
        self._follow()
        self.show_report("")
        self._turn_to(self._body)
        self.setFocus()

    def show_thumbnail(self, row: int, values: NDArray[np.uint8]) -> None:
        """A small picture in the strip."""
        self.strip.show_thumbnail(row, values)

    def show_problem(self, row: int, problem: str) -> None:
        """A row of the strip turned out not to be readable."""
        self.strip.show_problem(row, problem)

    def mark_series(self, rows: Sequence[int], chosen: int | None) -> None:
        """Which rows are on show."""
        self.strip.mark(rows, chosen)

    def show_content(
        self, frame: int, content: Content, title: str, *, keep: str = AFRESH, key: str = ""
    ) -> None:  # fmt: skip
        """Put something into a frame; ``keep`` and ``key`` as in ``FrameGrid.show_content``."""
        self.grid.show_content(frame, content, keep=keep, key=key)
        self.grid.set_title(frame, title)
        self._follow()

    def show_notice(self, frame: int, sentence: str, title: str, *, kind: str) -> None:
        """A sentence in the place of a picture: ``wait`` or ``error``."""
        self.grid.show_notice(frame, sentence, kind=kind)
        self.grid.set_title(frame, title)
        self._follow()

    def show_remarks(
        self, remarks: Mapping[int, Remark], patients: Mapping[int, str | None]
    ) -> None:
        """What the heads of frames say of their patients; see ``FrameGrid.show_remarks``."""
        self.grid.show_remarks(remarks, patients)

    def show_loading(self, frame: int, title: str, done: int, total: int) -> None:
        """How far the decoding is; what is there can be looked at."""
        self.grid.set_title(frame, title, f"loading {done} / {total}" if done < total else "")
        self.center.refresh(frame)

    def flip_frame(self, frame: int) -> None:
        """Flip a picture left to right."""
        self.grid.flip(frame)

    def watch(self, *, on: bool) -> None:
        """Tick while something loads."""
        if on != self._tick.isActive():
            self._tick.start() if on else self._tick.stop()

    def show_report(
        self, text: str, parts: Sequence[ReportPart] = (), *, alone: bool = False
    ) -> None:
        """The report beside the pictures, or alone where there are none; folded away if empty."""
        self.center.setVisible(not alone)
        if text != self.report.words or not text:
            self.report.show_report(text, parts)
            self._fold("report", shown=bool(text))

    def show_report_place(self, number: int, count: int, *, doubt: str = "") -> None:
        """Which of several reports is shown, and why it may not belong to the picture."""
        self.report.show_place(number, count, doubt=doubt)

    def unfold_report(self) -> None:
        """A report was asked for by hand: it is seen."""
        self._fold("report", shown=True)

    def show_notes(self, notes: Sequence[str]) -> None:
        """What is to be known of the chosen picture, in a quiet line."""
        self._notes.say(";  ".join(notes))

    def show_status(self, sentence: str) -> None:
        """One quiet line at the foot."""
        self._status.say(sentence)

    def show_layout(self, name: str) -> None:
        """One, two or four frames."""
        self.center.show_frames()
        self.grid.show_layout(name)
        self._check_layout(name)

    def show_planes(self, picture: Picture, planes: Planes, title: str) -> None:
        """Three planes of a volume in the place of the frames."""
        self.center.show_planes(picture, planes, title)
        self._check_layout("mpr")

    def _check_layout(self, name: str) -> None:
        for command, layout in LAYOUT_COMMANDS.items():
            self.bar.check(command, on=layout == name)

    def switch_lines(self) -> None:
        """Reference lines on or off."""
        self.link.set_lines(on=not self.link.lines)
        self._follow()

    def show_link(self, *, on: bool) -> None:
        """Whether the frames are linked."""
        self.link.set_on(on)
        self.bar.check("link", on=on)

    def show_mode(self, *, model: bool, straight: bool, tilted: bool) -> None:
        """How the chosen picture is rendered, and whether it can be straightened."""
        self.bar.check("model-view", on=model)
        self.bar.check("straighten", on=straight)
        self.bar.allow("straighten", on=tilted)

    def show_statement(self, statement: str) -> None:
        """What was stated about the display before."""
        self._statement = statement

    def activate(self, number: int) -> None:
        """Choose a frame."""
        self.grid.activate(number)

    def presets(self) -> list[tuple[str, str]]:
        """Window presets of the chosen picture: command and words."""
        canvas = self.center.canvas
        return preset_words(None if canvas is None else canvas.picture)

    # events

    def do(self, command: str) -> None:
        """Do a command of the page or of the chosen picture."""
        if command in ASKED:
            self.command_asked.emit(command)
        elif command in LAYOUT_COMMANDS:
            self.layout_chosen.emit(LAYOUT_COMMANDS[command])
        elif command in ("fold-series", "fold-report"):
            part = command.removeprefix("fold-")
            self._fold(part, shown=not self.bar.checked(command))
            self._status.say(self._folded(part))
        elif command in ("findings", "impression"):
            if not self.report.isHidden() or self.report.words:
                self._fold("report", shown=True)
                self.report.jump(command)
        elif command in self._own:
            self._own[command]()
        else:
            self.center.do(command)
            self._follow()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = keys.current().command_of(event, "viewer")
        if self.help.isVisible():
            self.help.hide()
        elif command == "back" and (self._handle(event) or self._shrink()):
            return
        elif command is not None and command != "back":
            self.do(command)
        elif not self._handle(event):
            event.ignore()

    def showEvent(self, event: QShowEvent) -> None:
        """Keys count at once, before anything is clicked; they may have been changed meanwhile."""
        super().showEvent(event)
        self.bar.name_keys()
        self.report.name_keys()
        self.setFocus()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls() or dragged_row(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if (row := dragged_row(event.mimeData())) is not None:
            event.acceptProposedAction()
            self.series_wanted.emit(row, self.active)
        elif paths:
            event.acceptProposedAction()
            self.paths_chosen.emit(paths)

    def _handle(self, event: QKeyEvent) -> bool:
        handled = self.center.handle_key(event)
        self._follow()
        return handled

    def _turn_to(self, page: QWidget) -> None:
        self.help.hide()
        self._stack.setCurrentWidget(page)

    def _shrink(self) -> bool:
        return self.grid.single and self._maximise(self.active)

    def _maximise(self, number: int) -> bool:
        self.center.maximise(number)
        self._follow()
        return True

    def _follow(self) -> None:
        """The bar says what the chosen picture is under."""
        canvas = self.center.canvas
        picture = None if canvas is None else canvas.picture
        tool = "window" if canvas is None else canvas.tool.removesuffix("-box")
        for name in ("window", "distance", "angle", "roi", "probe"):
            self.bar.check(f"tool-{name}", on=name == tool)
        self.bar.check("reference-lines", on=self.link.lines)
        self.bar.check("cine", on=canvas is not None and canvas.playing)
        moments = 1 if picture is None else picture.moments
        self.bar.show_moments(0 if canvas is None else canvas.slice_and_moment[1], moments)

    # building

    def _lay_out(self) -> None:
        middle = QSplitter()
        middle.addWidget(self.center)
        middle.addWidget(self.report)
        middle.setChildrenCollapsible(False)
        middle.setStretchFactor(0, 1)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XS)
        row.addWidget(self.strip)
        row.addWidget(middle, 1)
        column = QVBoxLayout(self._body)
        column.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self.bar)
        column.addLayout(row, 1)
        column.addLayout(self._foot())
        self._stack.setContentsMargins(0, 0, 0, 0)
        for page in (self._body, self.empty, self.working):
            self._stack.addWidget(page)

    def _foot(self) -> QHBoxLayout:
        """Two lines of fixed height, so that nothing moves when the words change."""
        row = QHBoxLayout()
        row.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_XS, theme.SPACE_XS)
        row.addWidget(self._notes, 3)
        row.addWidget(self._status, 1)
        return row

    def _order_tabs(self) -> None:
        """Tab goes as the eye does: bar, series, frames, report."""
        steps = [self.report.before, self.report.after]
        report = [*self.report.buttons.values(), *steps, self.report.text]
        chain = [*self.bar.tab_chain(), self.strip, *self.frames, *report]
        for before, after in itertools.pairwise(chain):
            QWidget.setTabOrder(before, after)

    def _connect(self) -> None:
        grid = self.grid
        self._own: dict[str, Callable[[], object]] = {
            "link": self.link_asked.emit,
            "maximise": lambda: self._maximise(self.active),
            "help": lambda: self.help.open(),
            "open": self.doors.choose_folder,
            "open-files": self.doors.choose_files,
            "test-pattern": self.open_pattern,
        }
        self.bar.asked.connect(self.do)
        self.doors.chosen.connect(self.paths_chosen)
        self.doors.stop_asked.connect(self.stop_asked)
        self.bar.time.moved.connect(self.center.to_moment)
        self.strip.opened.connect(lambda row: self.series_wanted.emit(row, self.active))
        self.report.step_asked.connect(self.report_stepped)
        grid.row_dropped.connect(self.series_wanted)
        grid.paths_dropped.connect(self.paths_chosen)
        self.center.acted.connect(self._follow)
        grid.chosen.connect(self.frame_chosen)
        grid.pressed.connect(self.frame_pressed)
        grid.maximise_asked.connect(self._maximise)

    def open_pattern(self) -> None:
        """The test pattern on the display that shows this window."""
        self._pattern = self._pattern or screen_of(self, self.display_stated)
        self._pattern.open(self, self._statement)

    def _folded(self, part: str) -> str:
        """What is hidden now, and the key that brings it back."""
        if self.bar.checked(f"fold-{part}"):
            return ""
        key = keys.first_key(f"fold-{part}")
        return f"The {'list' if part == 'series' else 'report'} is hidden; {key} shows it again"

    def _fold(self, part: str, *, shown: bool) -> None:
        (self.strip if part == "series" else self.report).setVisible(shown)
        self.bar.check(f"fold-{part}", on=shown)
