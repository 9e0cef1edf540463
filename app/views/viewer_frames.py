"""The frames of the Viewer: one, two or four, or three planes; titles, notices and drops.

Owns which frame is chosen and which are seen. Decides nothing about what they show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QDropEvent, QFontMetrics
from PySide6.QtWidgets import QGridLayout, QWidget

from app import theme
from app.views.viewer_memory import Looks, give_back
from app.widgets.content import Content, ViewState
from app.widgets.evidence_frame import EvidenceFrame, Remark
from app.widgets.frame_notice import FrameNotice
from app.widgets.image_canvas import ImageCanvas
from app.widgets.series_strip import dragged_row
from app.widgets.view_link import ViewLink

LAYOUTS = {"1": (1, 1), "1x2": (1, 2), "2x2": (2, 2)}
FRAMES = 4
AFRESH, KEEP, PLACE, BACK = "afresh", "keep", "place", "back"


class FrameGrid(QWidget):
    """Four frames, of which a layout shows some.

    Signals:
        chosen: a frame became the one that keys speak to.
        pressed: a mouse button went down in a frame.
        changed: a canvas of a frame was acted on.
        row_dropped: row of the strip, frame.
        paths_dropped: files and folders.
        maximise_asked: frame.
    """

    chosen = Signal(int)
    pressed = Signal(int)
    changed = Signal(int)
    row_dropped = Signal(int, int)
    paths_dropped = Signal(list)
    maximise_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.link = ViewLink(self, by_position=True)
        self.link.set_lines(on=True)
        self._titles: dict[int, tuple[str, str]] = {}
        self._before: dict[int, ViewState] = {}
        self._looks = Looks()
        self._watched: dict[int, int] = {}  # id of a widget: its frame
        self._patients: Mapping[int, str | None] = {}
        self.link.group_of = self._patient_in
        self._active, self._single, self._layout = 0, False, "1"
        self.frames = tuple(self._frame(number) for number in range(FRAMES))
        self.notices = tuple(FrameNotice(frame) for frame in self.frames)
        self._grid = QGridLayout(self)
        self._grid.setSpacing(theme.SPACE_XS)
        self._grid.setContentsMargins(0, 0, 0, 0)
        theme.theme.scaled.connect(self._retitle)

    @property
    def active(self) -> int:
        """The frame that keys and the strip speak to."""
        return self._active

    @property
    def layout_name(self) -> str:
        """The layout in force."""
        return self._layout

    @property
    def single(self) -> bool:
        """True while one frame of several fills the room."""
        return self._single

    @property
    def canvas(self) -> ImageCanvas | None:
        """The first picture of the chosen frame."""
        shown = self.frames[self._active].shown_canvases
        return shown[0] if shown else None

    def show_layout(self, name: str) -> None:
        """One, two or four frames."""
        self._layout, self._single = name, False
        rows, columns = LAYOUTS[name]
        for number, frame in enumerate(self.frames):
            self._grid.removeWidget(frame)
            if number < rows * columns:
                self._grid.addWidget(frame, number // columns, number % columns)
            # After adding: a new parent hides what it takes in.
            frame.setVisible(number < rows * columns)
        for row in range(2):
            self._grid.setRowStretch(row, int(row < rows))
            self._grid.setColumnStretch(row, int(row < columns))
        self.activate(min(self._active, rows * columns - 1))

    def maximise(self, number: int) -> None:
        """Let one frame fill the room, or bring the layout back."""
        if self._layout == "1":
            return
        if self._single:
            self.show_layout(self._layout)
            return
        self._single = True
        self.activate(number)
        for other, frame in enumerate(self.frames):
            frame.setVisible(other == number)

    def activate(self, number: int) -> None:
        """Make a frame the one that keys and the strip speak to."""
        before, self._active = self._active, number
        for other, frame in enumerate(self.frames):
            frame.set_selected(other == number and self._layout != "1")
        if before != number:
            self.chosen.emit(number)

    def clear(self) -> None:
        """All frames empty."""
        self._titles.clear()
        self._before.clear()
        self._looks.clear()
        for number in range(FRAMES):
            self.clear_frame(number)

    def clear_frame(self, number: int, hint: str = "") -> None:
        """One frame empty, perhaps with a word what belongs there."""
        self.set_title(number, "")
        self._looks.leave(number, self.frames[number].shown_canvases)
        self.frames[number].clear()
        self.notices[number].say(hint)

    def show_content(
        self, number: int, content: Content, *, keep: str = AFRESH, key: str = ""
    ) -> None:
        """Put something into a frame; what was looked at before comes back as it was left.

        Args:
            number: of the frame.
            content: pictures or text.
            keep: ``afresh``; ``keep`` the state of looking at it (more was decoded); ``place``
                keeps all but the window (another rendering); ``back`` returns to the window from
                before ``place``.
            key: names the series and its rendering, for as long as the evidence is open.
        """
        frame = self.frames[number]
        state = frame.first_state() if keep != AFRESH else None
        look = self._looks.enter(number, key, frame.shown_canvases)
        state = self._state_for(number, state, keep)
        if look is not None and (keep in (AFRESH, KEEP) or state is None):
            state = look.state
        frame.show_content(content, state=state)
        if look is not None:
            give_back(look, frame.shown_canvases)
        self.notices[number].say("")
        self.link.draw_lines()

    def _state_for(self, number: int, state: ViewState | None, keep: str) -> ViewState | None:
        """The state of another picture in a frame, made from that of the one before."""
        if keep == PLACE and state is not None:
            self._before.setdefault(number, state)
            fresh = ViewState()
            state = replace(
                state,
                preset=fresh.preset,
                shift=0.0,
                factor=1.0,
                given=0,
                inverted=False,
                moment=0.0,
            )
        elif keep == BACK and state is not None and number in self._before:
            old = self._before.pop(number)
            state = replace(old, depth=state.depth, zoom=state.zoom, pan_x=state.pan_x,
                            pan_y=state.pan_y)  # fmt: skip
        elif keep == AFRESH:
            self._before.pop(number, None)
        return state

    def flip(self, number: int) -> None:
        """Flip a frame's picture left to right, as hanging asks; the badge says so."""
        for canvas in self.frames[number].shown_canvases:
            canvas.set_state(replace(canvas.state, flip_h=True))

    def show_notice(self, number: int, sentence: str, *, kind: str) -> None:
        """Say something in the place of the picture; keys must not reach the one before."""
        self._looks.leave(number, self.frames[number].shown_canvases)
        self.frames[number].clear()
        self.notices[number].say(sentence, kind=kind)

    def set_title(self, number: int, words: str, suffix: str = "") -> None:
        """The frame's head; the suffix is never cut."""
        self._titles[number] = (words, suffix)
        self._retitle_one(number)

    def show_remarks(
        self, remarks: Mapping[int, Remark], patients: Mapping[int, str | None]
    ) -> None:
        """Lasting words in the heads, and whose pictures the frames show: others never link."""
        self._patients = patients
        for number, frame in enumerate(self.frames):
            frame.set_remark(remarks.get(number, Remark()))
            self._retitle_one(number)
        self.link.draw_lines()

    def _patient_in(self, canvas: ImageCanvas) -> str | None:
        return self._patients.get(self._watched.get(id(canvas), -1))

    def refresh(self, number: int) -> None:
        """More slices are there; paint again."""
        for canvas in self.frames[number].shown_canvases:
            canvas.refresh()

    def do(self, command: str) -> bool:
        """A picture's command on the chosen frame; False if it means nothing there."""
        canvas = self.canvas
        return canvas is not None and canvas.do(command)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Presses, drops and sizes of the frames; takes only drops away."""
        number = self._watched.get(id(watched))
        if number is None:
            return False
        kind = event.type()
        if kind == QEvent.Type.MouseButtonPress:
            self.activate(number)
            self.pressed.emit(number)
        elif kind == QEvent.Type.Resize:
            self._retitle_one(number)
        elif kind in (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop):
            return self._dragged(number, event)  # type: ignore[arg-type]
        return False

    def _dragged(self, number: int, event: QDropEvent) -> bool:
        data = event.mimeData()
        row, dropped = dragged_row(data), event.type() == QEvent.Type.Drop
        paths = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
        if row is None and not paths:
            return False
        event.acceptProposedAction()
        self.activate(number)
        if dropped and row is not None:
            self.row_dropped.emit(row, number)
        elif dropped:
            self.paths_dropped.emit(paths)
        return True

    def _frame(self, number: int) -> EvidenceFrame:
        frame = EvidenceFrame("", self)
        frame.set_title("", align=Qt.AlignmentFlag.AlignLeft)
        frame.setAcceptDrops(True)
        frame.text.setAcceptDrops(False)
        frame.canvas_made.connect(lambda canvas: self._join(canvas, number))
        frame.chosen.connect(lambda _frame: self.activate(number))
        frame.maximise_asked.connect(lambda _frame: self.maximise_asked.emit(number))
        self._watch(frame, number)
        return frame

    def _join(self, canvas: ImageCanvas, number: int) -> None:
        self.link.join([canvas])
        canvas.acted.connect(lambda: self.changed.emit(number))
        self._watch(canvas, number)

    def _watch(self, widget: QWidget, number: int) -> None:
        self._watched[id(widget)] = number
        widget.installEventFilter(self)

    def _retitle(self) -> None:
        for number in range(FRAMES):
            self._retitle_one(number)

    def _retitle_one(self, number: int) -> None:
        """Cut a title at its end, where the file's name stands, never in its beginning."""
        words, suffix = self._titles.get(number, ("", ""))
        tail = f"   {suffix}" if suffix else ""
        metrics = QFontMetrics(theme.font("small"))
        frame = self.frames[number]
        room = frame.width() - 4 * theme.SPACE_S - metrics.horizontalAdvance(tail)
        room -= frame.remark_width
        cut = metrics.elidedText(words, Qt.TextElideMode.ElideRight, max(0, room))
        frame.set_title(f"{cut}{tail}")
        said = f"{frame.remark.words}   {words}{tail}".strip()
        frame.setAccessibleName(said or "Frame")
