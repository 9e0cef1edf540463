"""Decides the Viewer page: finds evidence, hangs it by rule, says what is to be known of it.

What a frame shows while it is decoded is the business of ``viewer_frames``, which series hangs
where that of ``hanging``, which report stands beside that of ``viewer_reports``.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.failures import sentence
from app.presenters.base import Presenter
from app.presenters.display import keep_display
from app.presenters.hanging import Hung
from app.presenters.viewer_frames import MODEL, NO_PLANES, STRAIGHT, Frames
from app.presenters.viewer_opening import Opened, Thumbnails, search
from app.presenters.viewer_picture import (
    PICTURES,
    notes_of,
    pictured,
)
from app.presenters.viewer_reports import Reports, text_rows
from app.services import Services
from engine.control import Control
from engine.evidence.study import Evidence

ORIGIN = "viewer page"
RENDERINGS = {"model-view": MODEL, "straighten": STRAIGHT}


class ViewerPresenter(Presenter):
    """Opens evidence.

    Args:
        view: ``app.views.viewer.ViewerView`` or a fake.
        services: the program's objects.
    """

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._found: tuple[Evidence, ...] = ()
        self._search = 0
        self._stop = False
        # Equal patients and studies are known as such while the program runs, and never after.
        self._salt = secrets.token_bytes(16)
        self._linked = self._wished = services.settings.current.linked_viewers
        self._frames = Frames(view, services, changed=self._tell)
        self._reports = Reports(view)
        self._thumbnails = Thumbnails(services.tasks, view.show_thumbnail)
        self._connect()
        view.show_link(on=self._linked)
        view.show_statement(services.settings.current.display_statement)

    def shown(self, argument: Any = None) -> None:
        """Open paths that another page handed over."""
        self._follow_settings()
        if argument:
            self.open([str(path) for path in argument])

    def close(self) -> None:
        """Stop what runs."""
        self._search += 1
        self._frames.give(())
        self._thumbnails.give(())

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

    def _opened(self, result: tuple[int, Opened]) -> None:
        ticket, opened = result
        if ticket != self._search:
            return
        self._found = found = opened.found
        self._frames.give(found)
        self._reports.give(found)
        self._thumbnails.give(())
        if not found:
            self.view.show_empty("Nothing was found there. Open another file or folder.")
            return
        self.view.show_series(opened.rows)
        self._hang(opened.hung)
        current = self._frames.current
        self._reports.first(None if current is None else current.row)
        self._thumbnails.give(found)

    def _not_opened(self, error: Exception) -> None:
        self.view.show_empty(sentence(error))

    def _hang(self, hung: Hung | None) -> None:
        """Show what a rule chose, and say which rule; without a picture, the first words."""
        count = f"{len(self._found):,} found"
        if hung is not None:
            self.view.show_status(f"{hung.text}; {count}" if hung.text else count)
            self._frames.hang(hung)
            return
        self.view.show_status(count)
        self._frames.hang(Hung("", "", "1", ()))
        texts = text_rows(self._found)
        self.show(texts[0] if texts else 0, 0)
        self._tell()

    # intents

    def show(self, row: int, frame: int) -> None:
        """Put one object of the strip into a frame, or its text beside."""
        if not 0 <= row < len(self._found):
            return
        evidence = self._found[row]
        if evidence.error is None and evidence.text and evidence.kind not in PICTURES:
            self._reports.show(row)
            return
        self._reports.follow(row)
        self._frames.show(row, frame)

    def choose_layout(self, name: str) -> None:
        """One, two or four frames, or three planes of what is chosen."""
        current = self._frames.current
        if name != "mpr":
            self.view.show_status(f"{len(self._found):,} found")
            self._frames.lay_out(name)
        elif current is not None and pictured(self._found[current.row]):
            self._frames.cut(current.row)
        else:
            self.view.show_status(NO_PLANES)

    def link(self) -> None:
        """Link or unlink the frames."""
        self._linked = not self._linked
        self.view.show_link(on=self._linked)
        self._frames.tell_kin(linked=self._linked)

    def _follow_settings(self) -> None:
        """Another wish for linked viewers; a link switched here by hand stays until then."""
        wanted = self.services.settings.current.linked_viewers
        if wanted != self._wished:
            self._wished = wanted
            if self._linked != wanted:
                self.link()

    def command(self, command: str) -> None:
        """A command of the page that needs a decision."""
        if command in RENDERINGS:
            self.view.show_status(self._frames.render(RENDERINGS[command]))
        elif command in ("next-series", "previous-series"):
            self._step(1 if command == "next-series" else -1)
        elif command == "reference-lines":
            self.view.switch_lines()

    def choose_frame(self, frame: int) -> None:
        """Another frame is the one that keys speak to."""
        self._frames.choose(frame)
        self._tell()

    def press_frame(self, frame: int) -> None:
        """A frame was clicked: its report comes beside."""
        row = self._frames.row_in(frame)
        if row is not None:
            self._reports.follow(row)

    def _step(self, by: int) -> None:
        """The next or the last series into the chosen frame; after the last comes none."""
        current = self._frames.current
        rows = [row for row, one in enumerate(self._found) if one.kind in PICTURES]
        if not rows:
            return
        known = current is not None and current.row in rows
        place = rows.index(current.row) + by if known and current is not None else 0
        if 0 <= place < len(rows):
            self.show(rows[place], self.view.active)

    # words

    def _tell(self) -> None:
        """Notes, marks and switches of what is chosen."""
        current = self._frames.current
        row = None if current is None else current.row
        self.view.mark_series(self._frames.rows, row)
        self._frames.tell_kin(linked=self._linked)
        if current is None:
            self.view.show_notes(())
            self.view.show_mode(model=False, straight=False, tilted=False)
            return
        evidence, entry = self._found[current.row], self._frames.entry(current.row)
        made = self._frames.rendering(current)
        notes = notes_of(evidence, None if entry is None else entry.stack.pixels)
        told = ((made.sentence,) if made is not None else ()) + notes
        self.view.show_notes(told)
        self.view.show_mode(
            model=current.mode == MODEL,
            straight=current.mode == STRAIGHT,
            tilted=self._frames.tilted(current.row),
        )

    def _keep_statement(self, size: str, scale: str, statement: str) -> None:
        problem = keep_display(self.services, size, scale, statement, ORIGIN)
        self.view.show_status(problem or "The statement on the display is kept.")
        self.view.show_statement(statement)

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
        view.report_stepped.connect(self._reports.step)
        view.ticked.connect(self._frames.tick)
        view.display_stated.connect(self._keep_statement)
