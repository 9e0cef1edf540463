"""What each frame of the Viewer shows: which series in which rendering, as it is decoded.

Owns the frames' content and the three planes; asks the loader, tells the view. What is opened,
hung and said of it is the business of ``app.presenters.viewer``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.failures import sentence
from app.presenters.display import picture_bytes
from app.presenters.hanging import Hung
from app.presenters.loader import Entry, Loader
from app.presenters.renderings import Rendering, Renderings
from app.presenters.viewer_kin import NO_MORE, may_hang, remarks
from app.presenters.viewer_picture import heading_of, nothing_to_see, pictured
from app.services import Services
from app.widgets.content import Content, Picture
from app.widgets.reslice import Planes, can_reslice, planes_of
from engine.evidence.study import Evidence

FRAMES_OF = {"1": 1, "1x2": 2, "2x2": 4}
STORED, MODEL, STRAIGHT = "stored", "model", "straight"
NO_PLANES = "Three planes need several slices whose places in the patient the file names."
IS_STRAIGHT = "This series is straight already."


@dataclass(frozen=True)
class OnShow:
    """A row of the strip, rendered as ``stored``, ``model`` or ``straight``."""

    row: int
    mode: str = STORED


class Frames:
    """Fills frames and planes.

    Args:
        view: ``app.views.viewer.ViewerView`` or a fake.
        services: the program's objects.
        changed: called when something else is on show, or more is known of it.
    """

    def __init__(self, view: Any, services: Services, *, changed: Callable[[], None]) -> None:
        self._view, self._services, self._changed = view, services, changed
        self._found: tuple[Evidence, ...] = ()
        self._shown: dict[int, OnShow] = {}
        self._flips: frozenset[int] = frozenset()
        self._anchors: dict[int, float] = {}
        self._layout, self._active = "1", 0
        self._cut: OnShow | None = None
        self._asked: Picture | None = None  # whose planes are cut or shown
        self._loader = Loader(
            services.tasks, limit=self._limit, told=self._decoded, failed=self._refused
        )
        self._renderings = Renderings(services.tasks, done=self._rendered, failed=self._refused)

    def give(self, found: Sequence[Evidence]) -> None:
        """Other evidence: nothing is on show."""
        self._found = tuple(found)
        self._shown.clear()
        self._flips, self._anchors, self._cut = frozenset(), {}, None
        self._loader.give(found)
        self._renderings.give(found)
        self._view.watch(on=False)

    # what is on show

    @property
    def current(self) -> OnShow | None:
        """What the planes or the chosen frame show."""
        return self._cut or self._shown.get(self._active)

    @property
    def rows(self) -> list[int]:
        """Rows on show, the chosen one first."""
        if self._cut is not None:
            return [self._cut.row]
        frames = [frame for frame in self._shown if frame < FRAMES_OF[self._layout]]
        frames.sort(key=lambda frame: (frame != self._active, frame))
        return [self._shown[frame].row for frame in frames]

    def row_in(self, frame: int) -> int | None:
        """The row in a frame, None if it is empty."""
        return self._shown[frame].row if frame in self._shown else None

    def entry(self, row: int) -> Entry | None:
        """What is decoded of a row."""
        return self._loader.entry(row)

    def rendering(self, shown: OnShow) -> Rendering | None:
        """The rendering on show, None for the stored one."""
        return self._renderings.kept(shown.row, shown.mode)

    def tilted(self, row: int) -> bool:
        """True if a series can be straightened."""
        return self._renderings.tilted(row)

    # intents

    def choose(self, frame: int) -> None:
        """Another frame is the one that keys speak to."""
        self._active = frame

    def hang(self, hung: Hung) -> None:
        """What a hanging rule chose."""
        self._flips, self._anchors = hung.flipped, dict(hung.anchors)
        self._lay_out(hung.layout)
        for frame, row in enumerate(hung.rows):
            if row is not None:
                self._shown[frame] = OnShow(row)
                self._put(frame)
        self._want()

    def lay_out(self, layout: str) -> None:
        """Another layout; empty frames take the next series."""
        seen, anchor, cut = self.on_show(), self.current, self._cut
        self._lay_out(layout)
        if cut is not None and self.row_in(self._active) != cut.row:
            self._place(cut.row, self._active)  # the series of the planes stays
        first = None if anchor is None else self._found[anchor.row]
        for frame in set(self._shown) - set(seen):  # what hung there before may be of another
            if first is not None and not may_hang(first, self._found[self._shown[frame].row]):
                del self._shown[frame]
        taken = {shown.row for shown in self._shown.values()}
        free = [
            row for row, one in enumerate(self._found)
            if row not in taken and pictured(one) and (first is None or may_hang(first, one))
        ]  # fmt: skip
        for frame in range(FRAMES_OF[layout]):
            if frame not in self._shown and free:
                self._shown[frame] = OnShow(free.pop(0))
                self._put(frame)
            elif frame not in self._shown:
                self._view.show_notice(frame, NO_MORE if first else "", "", kind="hint")
        self._want()

    def tell_kin(self, *, linked: bool) -> None:
        """Say which frames show another patient or scroll by depth only."""
        shown = {frame: self._found[one.row] for frame, one in self.on_show().items()}
        subjects = {frame: one.subject for frame, one in shown.items()}
        self._view.show_remarks(remarks(shown, linked=linked), subjects)

    def on_show(self) -> dict[int, OnShow]:
        """What the frames of the layout show."""
        limit = FRAMES_OF[self._layout]
        return {frame: one for frame, one in self._shown.items() if frame < limit}

    def _lay_out(self, layout: str) -> None:
        self._cut, self._layout = None, layout
        self._view.show_layout(layout)

    def show(self, row: int, frame: int) -> None:
        """A row into a frame, or into the planes if they are seen."""
        if self._cut is not None and pictured(self._found[row]):
            self.cut(row)
            return
        if self._cut is not None:  # no planes of what has no picture: the frames come back
            self._cut = None
            self._view.show_layout(self._layout)
        self._place(row, frame)
        self._want()

    def _place(self, row: int, frame: int) -> None:
        """A row into a frame, no longer as hung."""
        self._flips -= {frame}
        self._anchors.pop(frame, None)
        self._shown[frame] = OnShow(row)
        self._put(frame)

    def cut(self, row: int) -> None:
        """Three planes of a row, as soon as its first slice is there."""
        self._cut, self._asked = OnShow(row), None
        self._put_planes()
        self._want()

    def render(self, mode: str) -> str:
        """Another rendering of what is chosen, or the stored one again; why not, or empty."""
        shown = self.current
        if shown is None or not pictured(self._found[shown.row]):
            return ""
        if mode == STRAIGHT and not self.tilted(shown.row):
            return IS_STRAIGHT
        back = shown.mode == mode
        wanted = OnShow(shown.row, STORED if back else mode)
        if self._cut is not None:
            if mode == STRAIGHT:
                self._cut, self._asked = wanted, None
                self._put_planes()
        else:
            self._shown[self._active] = wanted
            self._put(self._active, keep="back" if back else "place")
        self._changed()
        return ""

    def tick(self) -> None:
        """While something loads: slices that became ready are seen, and how far it is."""
        for frame, shown in list(self._shown.items()):
            entry = self._loader.entry(shown.row)
            if entry is None or shown.mode != STORED or frame >= FRAMES_OF[self._layout]:
                continue
            if entry.renew():
                self._put(frame, keep="keep")
            else:
                title = heading_of(self._found[shown.row])
                self._view.show_loading(frame, title, *entry.progress)
        if self._cut is not None and self._cut.mode == STORED:
            cut = self._loader.entry(self._cut.row)
            if cut is not None:
                cut.renew()
                self._put_planes()
        self._view.watch(on=self._loader.busy)

    # frames and planes

    def _put(self, frame: int, *, keep: str = "afresh") -> None:
        """Show what is there of a frame's series."""
        shown = self._shown[frame]
        evidence = self._found[shown.row]
        title = heading_of(evidence)
        if evidence.error is not None:
            self._view.show_notice(frame, sentence(evidence.error), title, kind="error")
            return
        if not pictured(evidence):
            self._view.show_notice(frame, nothing_to_see(evidence), title, kind="hint")
            return
        made = self._picture(shown)
        if made is None:
            if shown.mode == STORED:
                self._view.show_notice(frame, "Decoding", title, kind="wait")
            return
        picture, title = made
        if frame in self._anchors:
            picture = replace(picture, anchor=self._anchors[frame])
        key = f"{shown.row} {shown.mode}"
        self._view.show_content(frame, Content((picture,)), title, keep=keep, key=key)
        if frame in self._flips and keep == "afresh":
            self._view.flip_frame(frame)
        entry = self._loader.entry(shown.row)
        if entry is not None and shown.mode == STORED:
            entry.shown = True
            self._view.show_loading(frame, title, *entry.progress)

    def _put_planes(self) -> None:
        """Cut planes off the window thread, once every slice is there."""
        assert self._cut is not None
        made = self._picture(self._cut)
        if made is None or (made[0].ready is not None and can_reslice(made[0])):
            self._view.show_status("Three planes come once every slice is decoded")
            return
        picture, title = made
        if not can_reslice(picture):
            self._leave_planes()
        elif picture is not self._asked:
            self._asked = picture
            self._services.tasks.run(
                self,
                lambda: planes_of(picture),
                lambda planes: self._planes_cut(picture, title, planes),
            )

    def _planes_cut(self, picture: Picture, title: str, planes: Planes) -> None:
        if self._cut is not None and picture is self._asked:
            self._view.show_planes(picture, planes, title)
            self._view.show_status("")

    def _leave_planes(self) -> None:
        """What cannot be cut: the frames come back, with it in the chosen one."""
        assert self._cut is not None
        row, self._cut = self._cut.row, None
        self._view.show_layout(self._layout)
        if self.row_in(self._active) != row:
            self.show(row, self._active)
        else:
            self._want()
        self._view.show_status(NO_PLANES)

    def _picture(self, shown: OnShow) -> tuple[Picture, str] | None:
        """Picture and title of what is to be shown, None while it is being made."""
        entry, title = self._loader.entry(shown.row), heading_of(self._found[shown.row])
        if shown.mode == STORED:
            return None if entry is None else (entry.picture, title)
        made = self._renderings.get(shown.row, shown.mode, entry)
        if made is None:
            self._view.show_status("Computing")
            return None
        return made.picture, f"{made.words}   {title}"

    def _want(self) -> None:
        """Tell the loader what is on show, and what may come next."""
        rows = self.rows
        readable = [row for row in rows if pictured(self._found[row])]
        following = [
            row for row, one in enumerate(self._found)
            if rows and row > rows[0] and row not in rows and pictured(one)
        ]  # fmt: skip
        self._loader.want(readable, ahead=following[0] if following else None)
        self._view.watch(on=self._loader.busy)
        self._changed()

    # what the pool says

    def _decoded(self, row: int) -> None:
        """The first slice of a row is there, or all of them."""
        entry = self._loader.entry(row)
        assert entry is not None
        for frame, shown in list(self._shown.items()):
            if shown == OnShow(row):
                self._put(frame, keep="keep" if entry.shown else "afresh")
        if self._cut == OnShow(row):
            self._put_planes()
        self._view.watch(on=self._loader.busy)
        self._changed()

    def _rendered(self, row: int, mode: str) -> None:
        self._view.show_status("")
        for frame, shown in list(self._shown.items()):
            if shown == OnShow(row, mode):
                self._put(frame, keep="place")
        if self._cut == OnShow(row, mode):
            self._put_planes()
        self._changed()

    def _refused(self, row: int, error: Exception) -> None:
        """A row cannot be decoded: said in its frames and in the strip."""
        title, words = heading_of(self._found[row]), sentence(error)
        self._view.show_problem(row, words.removeprefix(f"{self._found[row].path.name}: "))
        for frame, shown in self._shown.items():
            if shown.row == row:
                self._view.show_notice(frame, words, title, kind="error")
        if self._cut is not None and self._cut.row == row:
            self._cut = None
            self._view.show_layout(self._layout)
            self._view.show_status(words)
        self._view.watch(on=self._loader.busy)

    def _limit(self) -> int:
        """Bytes of decoded series that are kept."""
        return picture_bytes(self._services.settings.current.picture_memory_mb)
