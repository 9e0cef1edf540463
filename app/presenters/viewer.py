"""Decides the Viewer page: finds evidence, hangs it by rule, puts it into frames as it is decoded.

Decoding is the business of ``app.presenters.loader``, which series hangs where that of
``hanging``; how one picture is rendered (as stored, as a model sees it, straightened) is here.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.failures import sentence
from app.presenters.base import Presenter
from app.presenters.display import keep_display, picture_bytes
from app.presenters.hanging import Hung, hang
from app.presenters.loader import Loader
from app.presenters.renderings import Renderings
from app.presenters.viewer_opening import Thumbnails, search
from app.presenters.viewer_picture import (
    NO_PICTURE,
    PICTURES,
    heading_of,
    notes_of,
    picture_of,
    pictured,
    row_of,
    title_of,
)
from app.presenters.viewer_reports import parts_of, report_of, text_rows
from app.services import Services
from app.widgets.content import Content
from engine.control import Control
from engine.evidence.study import Evidence

__all__ = ["PICTURES", "ViewerPresenter", "picture_of", "row_of", "title_of"]

FRAMES_OF = {"1": 1, "1x2": 2, "2x2": 4, "mpr": 1}
ORIGIN = "viewer page"


@dataclass(frozen=True)
class OnShow:
    """What a frame shows: a row of the strip, rendered as ``stored``, ``model`` or ``straight``."""

    row: int
    mode: str = "stored"


class ViewerPresenter(Presenter):
    """Opens evidence.

    Args:
        view: ``app.views.viewer.ViewerView`` or a fake.
        services: the program's objects.
    """

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._found: tuple[Evidence, ...] = ()
        self._shown: dict[int, OnShow] = {}
        self._flips: frozenset[int] = frozenset()
        self._search = 0
        self._stop = False
        self._layout = "1"
        self._active = 0
        self._report: int | None = None
        # Equal patients and studies are known as such while the program runs, and never after.
        self._salt = secrets.token_bytes(16)
        self._linked = services.settings.current.linked_viewers
        self._loader = Loader(
            services.tasks, limit=self._limit, told=self._decoded, failed=self._not_decoded
        )
        self._thumbnails = Thumbnails(services.tasks, view.show_thumbnail)
        self._renderings = Renderings(services.tasks, done=self._rendered, failed=self._not_decoded)
        self._connect()
        view.show_link(on=self._linked)
        view.show_statement(services.settings.current.display_statement)

    def shown(self, argument: Any = None) -> None:
        """Open paths that another page handed over."""
        if argument:
            self.open([str(path) for path in argument])

    def close(self) -> None:
        """Stop what runs."""
        self._search += 1
        self._loader.give(())
        self._thumbnails.give(())
        self.view.watch(on=False)

    # opening

    def open(self, paths: Sequence[str]) -> None:
        """Look for evidence in files and folders."""
        self._search += 1
        self._stop = False
        ticket, wanted = self._search, [Path(path) for path in paths]
        control = Control(cancelled=lambda: self._stop or ticket != self._search)
        self.view.show_working("Looking through the files. What cannot be read will be named.")
        self.services.tasks.run(
            self,
            lambda: (ticket, search(wanted, self._salt, control)),
            self._opened,
            self._not_opened,
        )

    def stop(self) -> None:
        """Show what was found so far."""
        self._stop = True

    def _opened(self, result: tuple[int, tuple[Evidence, ...]]) -> None:
        ticket, found = result
        if ticket != self._search:
            return
        self._found = found
        self._shown.clear()
        self._loader.give(found)
        self._renderings.give(found)
        self._report = None
        if not found:
            self.view.watch(on=False)
            self.view.show_empty("Nothing was found there. Open another file or folder.")
            return
        self.view.show_series([row_of(evidence) for evidence in found])
        self._hang(hang(found))
        self._first_report()
        self._thumbnails.give(found)

    def _not_opened(self, error: Exception) -> None:
        self.view.show_empty(sentence(error))

    def _hang(self, hung: Hung | None) -> None:
        """Show what a rule chose, and say which rule."""
        count = f"{len(self._found):,} found"
        self._flips = frozenset() if hung is None else hung.flipped
        if hung is None:
            self._lay_out("1")
            self.view.show_status(count)
            self._explain_nothing()
            self._tell()
            return
        self._lay_out(hung.layout)
        for frame, row in enumerate(hung.rows):
            if row is not None:
                self._shown[frame] = OnShow(row)
        self.view.show_status(f"{hung.text}; {count}" if hung.text else count)
        for frame in sorted(self._shown):
            self._put(frame)
        self._want()

    def _explain_nothing(self) -> None:
        """Without a picture the first thing that says why, or its words, comes up."""
        texts = text_rows(self._found)
        self.show(texts[0] if texts else 0, 0)

    def _first_report(self) -> None:
        """The report of what hangs, or the only one."""
        on_show = self._shown.get(self._active)
        found = None if on_show is None else report_of(self._found, self._found[on_show.row])
        texts = text_rows(self._found)
        if found is None and len(texts) == 1:
            found = texts[0]
        if found is not None:
            self._show_report(found)

    # frames

    def show(self, row: int, frame: int) -> None:
        """Put one object of the strip into a frame, or its text beside."""
        if not 0 <= row < len(self._found):
            return
        evidence = self._found[row]
        if evidence.error is None and evidence.kind not in PICTURES:
            self._show_text(row)
            return
        self._flips -= {frame}
        self._shown[frame] = OnShow(row)
        self._put(frame)
        self._want()
        report = report_of(self._found, evidence)
        if report is not None:
            self._show_report(report)

    def choose_layout(self, name: str) -> None:
        """One, two or four frames; empty ones take the next series."""
        self._lay_out(name)
        self.view.show_status(f"{len(self._found):,} found")
        taken = {shown.row for shown in self._shown.values()}
        free = [row for row, one in enumerate(self._found) if pictured(one) and row not in taken]
        for frame in range(FRAMES_OF[name]):
            if frame not in self._shown and free:
                self._shown[frame] = OnShow(free.pop(0))
                self._put(frame)
        self._want()

    def link(self) -> None:
        """Link or unlink the frames."""
        self._linked = not self._linked
        self.view.show_link(on=self._linked)

    def command(self, command: str) -> None:
        """A command of the page that needs a decision."""
        if command in ("next-series", "previous-series"):
            self._step(1 if command == "next-series" else -1)
        elif command in ("model-view", "straighten"):
            self._render("model" if command == "model-view" else "straight")
        elif command == "reference-lines":
            self.view.switch_lines()

    def choose_frame(self, frame: int) -> None:
        """Another frame is the one that keys speak to."""
        self._active = frame
        self._tell()

    def press_frame(self, frame: int) -> None:
        """A frame was clicked: its report comes beside."""
        shown = self._shown.get(frame)
        report = None if shown is None else report_of(self._found, self._found[shown.row])
        if report is not None:
            self._show_report(report)

    def _step(self, by: int) -> None:
        """The next or the last series into the chosen frame; after the last comes none."""
        shown = self._shown.get(self._active)
        rows = [row for row, one in enumerate(self._found) if one.kind in PICTURES]
        if not rows:
            return
        place = rows.index(shown.row) + by if shown is not None and shown.row in rows else 0
        if 0 <= place < len(rows):
            self.show(rows[place], self._active)

    def _render(self, mode: str) -> None:
        """Another rendering of the chosen picture, or the stored one again."""
        shown = self._shown.get(self._active)
        if shown is None or not pictured(self._found[shown.row]):
            return
        if mode == "straight" and not self._renderings.tilted(shown.row):
            self.view.show_status("This series is straight already.")
            return
        back = shown.mode == mode
        self._shown[self._active] = OnShow(shown.row, "stored" if back else mode)
        self._put(self._active, keep="back" if back else "place")
        self._tell()

    def _put(self, frame: int, *, keep: str = "afresh") -> None:
        """Show what is there of a frame's series."""
        shown = self._shown[frame]
        evidence = self._found[shown.row]
        title = heading_of(evidence)
        if evidence.error is not None:
            self.view.show_notice(frame, sentence(evidence.error), title, kind="error")
            return
        if shown.mode != "stored":
            self._put_rendering(frame, shown, keep)
            return
        entry = self._loader.entry(shown.row)
        if entry is None:
            self.view.show_notice(frame, "Decoding", title, kind="wait")
            return
        entry.shown = True
        self.view.show_content(frame, Content((entry.picture,)), title, keep=keep)
        if frame in self._flips and keep == "afresh":
            self.view.flip_frame(frame)
        self.view.show_loading(frame, title, *entry.progress)

    def _put_rendering(self, frame: int, shown: OnShow, keep: str) -> None:
        made = self._renderings.get(shown.row, shown.mode, self._loader.entry(shown.row))
        if made is None:
            self.view.show_status("Computing")
            return
        title = f"{made.words}   {heading_of(self._found[shown.row])}"
        self.view.show_content(frame, Content((made.picture,)), title, keep=keep)

    def _want(self) -> None:
        """Tell the loader what is on show, the chosen frame first, and what may come next."""
        frames = sorted(self._visible(), key=lambda frame: (frame != self._active, frame))
        rows = [self._shown[frame].row for frame in frames]
        readable = [row for row in rows if pictured(self._found[row])]
        following = [
            row for row, one in enumerate(self._found) if pictured(one) and row not in rows
            and rows and row > rows[0]
        ]  # fmt: skip
        self._loader.want(readable, ahead=following[0] if following else None)
        self.view.watch(on=self._loader.busy)
        self._tell()

    def _visible(self) -> list[int]:
        return [frame for frame in self._shown if frame < FRAMES_OF[self._layout]]

    # decoding

    def tick(self) -> None:
        """While something loads: slices that became ready are seen, and how far it is."""
        for frame in self._visible():
            shown = self._shown[frame]
            entry = self._loader.entry(shown.row)
            if entry is None or shown.mode != "stored":
                continue
            if entry.renew():
                self._put(frame, keep="keep")
            else:
                title = heading_of(self._found[shown.row])
                self.view.show_loading(frame, title, *entry.progress)
        self.view.watch(on=self._loader.busy)

    def _decoded(self, row: int) -> None:
        """The first slice of a row is there, or all of them."""
        entry = self._loader.entry(row)
        for frame, shown in self._shown.items():
            if shown.row == row and shown.mode == "stored" and entry is not None:
                self._put(frame, keep="keep" if entry.shown else "afresh")
        self.view.watch(on=self._loader.busy)
        self._tell()

    def _not_decoded(self, row: int, error: Exception) -> None:
        title = heading_of(self._found[row])
        name = f"{self._found[row].path.name}: "
        self.view.show_problem(row, sentence(error).removeprefix(name))
        for frame, shown in self._shown.items():
            if shown.row == row:
                self.view.show_notice(frame, sentence(error), title, kind="error")
        self.view.watch(on=self._loader.busy)

    def _rendered(self, row: int, mode: str) -> None:
        self.view.show_status("")
        for frame, shown in self._shown.items():
            if (shown.row, shown.mode) == (row, mode):
                self._put(frame, keep="place")
        self._tell()

    # words

    def _tell(self) -> None:
        """Notes, marks and switches of the chosen frame."""
        shown = self._shown.get(self._active)
        rows = [self._shown[frame].row for frame in self._visible()]
        self.view.mark_series(rows, None if shown is None else shown.row)
        if shown is None:
            self.view.show_notes((), warn=False)
            self.view.show_mode(model=False, straight=False, tilted=False)
            return
        evidence, entry = self._found[shown.row], self._loader.entry(shown.row)
        made = self._renderings.kept(shown.row, shown.mode)
        notes = notes_of(evidence, None if entry is None else entry.stack.pixels)
        told = ((made.sentence,) if made is not None else ()) + notes
        self.view.show_notes(told, warn=bool(evidence.warnings))
        self.view.show_mode(
            model=shown.mode == "model",
            straight=shown.mode == "straight",
            tilted=self._renderings.tilted(shown.row),
        )

    def _show_text(self, row: int) -> None:
        """A report into the panel, another object without a picture as a sentence."""
        evidence = self._found[row]
        if evidence.text:
            self._show_report(row)
        else:
            words = "; ".join(evidence.notes) or NO_PICTURE
            self.view.show_status(f"{title_of(evidence)}: {words}")

    def _show_report(self, row: int) -> None:
        if row == self._report:
            return
        self._report = row
        text = self._found[row].text or ""
        alone = not any(one.kind in PICTURES for one in self._found)
        self.view.show_report(text, parts_of(text), alone=alone)

    # settings

    def _limit(self) -> int:
        """Bytes of decoded series that are kept."""
        return picture_bytes(self.services.settings.current.picture_memory_mb)

    def _keep_statement(self, size: str, scale: str, statement: str) -> None:
        problem = keep_display(self.services, size, scale, statement, ORIGIN)
        self.view.show_status(problem or "The statement on the display is kept.")
        self.view.show_statement(statement)

    def _lay_out(self, name: str) -> None:
        self._layout = name
        self.view.show_layout(name)

    def _connect(self) -> None:
        view = self.view
        view.paths_chosen.connect(self.open)
        view.series_wanted.connect(self.show)
        view.stop_asked.connect(self.stop)
        view.layout_chosen.connect(self.choose_layout)
        view.link_asked.connect(self.link)
        view.command_asked.connect(self.command)
        view.frame_chosen.connect(self.choose_frame)
        view.frame_pressed.connect(self.press_frame)
        view.ticked.connect(self.tick)
        view.display_stated.connect(self._keep_statement)
