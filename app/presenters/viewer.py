"""Decides the Viewer page: finds evidence, decodes it in the pool, puts it into frames."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.failures import sentence
from app.presenters.base import Presenter
from app.services import Services
from app.widgets.content import Content, Picture
from app.widgets.series_strip import SIDE, SeriesRow
from engine.control import Control
from engine.errors import Cancelled
from engine.evidence.open import find_evidence, load_pixels
from engine.evidence.orient import upright
from engine.evidence.pixels import thumbnail
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import show_array

PICTURES = ("image", "volume", "cine")
KEPT = 4
KEPT_BYTES = 1_000_000_000
WORDS = {"report": "Report", "document": "Document", "other": "Other", "error": "Cannot be read"}
FRAMES_OF = {"1": 1, "1x2": 2, "2x2": 4}


class ViewerPresenter(Presenter):
    """Opens evidence.

    Args:
        view: ``app.views.viewer.ViewerView`` or a fake.
        services: the program's objects.
    """

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._found: tuple[Evidence, ...] = ()
        self._shown: dict[int, int] = {}
        self._decoded: OrderedDict[int, Picture] = OrderedDict()
        self._search = 0
        self._stop = False
        self._layout = "1"
        self._linked = services.settings.current.linked_viewers
        view.paths_chosen.connect(self.open)
        view.series_wanted.connect(self.show)
        view.stop_asked.connect(self.stop)
        view.layout_chosen.connect(self.choose_layout)
        view.link_asked.connect(self.link)
        view.show_link(on=self._linked)

    def shown(self, argument: Any = None) -> None:
        """Open paths that another page handed over."""
        if argument:
            self.open([str(path) for path in argument])

    def open(self, paths: Sequence[str]) -> None:
        """Look for evidence in files and folders."""
        self._search += 1
        self._stop = False
        ticket, wanted = self._search, [Path(path) for path in paths]
        control = Control(cancelled=lambda: self._stop or ticket != self._search)
        self.view.show_working("Looking through the files. What cannot be read will be named.")
        self.services.tasks.run(
            self,
            lambda: (ticket, _search(wanted, control)),
            self._opened,
            self._not_opened,
        )

    def stop(self) -> None:
        """Show what was found so far."""
        self._stop = True

    def show(self, row: int, frame: int) -> None:
        """Put one object of the strip into a frame, or its text beside."""
        if not 0 <= row < len(self._found):
            return
        evidence = self._found[row]
        if evidence.error is not None:
            self.view.show_status(sentence(evidence.error))
            return
        if evidence.kind not in PICTURES:
            self.view.show_report(evidence.text or "This object holds nothing that can be shown.")
            return
        self._shown[frame] = row
        if row in self._decoded:
            self._put(row)
            return
        self.view.show_status("Decoding")
        search = self._search
        self.services.tasks.run(
            self,
            lambda: (search, row, picture_of(evidence, load_pixels(evidence))),
            self._keep,
            self._not_decoded,
        )

    def choose_layout(self, name: str) -> None:
        """One, two or four frames; empty ones take the next series."""
        self._layout = name
        self.view.show_layout(name)
        self._fill()

    def link(self) -> None:
        """Link or unlink the frames."""
        self._linked = not self._linked
        self.view.show_link(on=self._linked)

    def _opened(self, result: tuple[int, tuple[Evidence, ...]]) -> None:
        ticket, found = result
        if ticket != self._search:
            return
        self._found = found
        self._shown.clear()
        self._decoded.clear()
        if not self._found:
            self.view.show_empty("Nothing was found there. Open another file or folder.")
            return
        self.view.show_series([row_of(evidence) for evidence in self._found])
        self.view.show_status(f"{len(self._found):,} found")
        self._fill()
        reports = [one.text for one in self._found if one.text]
        if len(reports) == 1:
            self.view.show_report(reports[0])
        for row, evidence in enumerate(self._found):
            if evidence.kind in PICTURES and evidence.error is None:
                self._thumbnail(row, evidence)

    def _fill(self) -> None:
        rows = [row for row, one in enumerate(self._found) if one.kind in PICTURES]
        rows = [row for row in rows if row not in self._shown.values()]
        for frame in range(FRAMES_OF[self._layout]):
            if frame not in self._shown and rows:
                self.show(rows.pop(0), frame)

    def _thumbnail(self, row: int, evidence: Evidence) -> None:
        search = self._search

        def show(values: Any) -> None:
            if search == self._search:
                self.view.show_thumbnail(row, values)

        self.services.tasks.run(self, lambda: thumbnail(evidence, SIDE), show, lambda _error: None)

    def _not_opened(self, error: Exception) -> None:
        self.view.show_empty(sentence(error))

    def _not_decoded(self, error: Exception) -> None:
        self.view.show_status(sentence(error))

    def _keep(self, result: tuple[int, int, Picture]) -> None:
        search, row, picture = result
        if search != self._search:
            return
        self._decoded[row] = picture
        while len(self._decoded) > KEPT and self._weight() > KEPT_BYTES:
            self._decoded.popitem(last=False)
        self._put(row)

    def _weight(self) -> int:
        return sum(picture.array.nbytes for picture in self._decoded.values())

    def _put(self, row: int) -> None:
        evidence = self._found[row]
        content = Content((self._decoded[row],))
        for frame, shown in self._shown.items():
            if shown == row:
                title = f"{title_of(evidence)}   {evidence.path.name}"
                self.view.show_content(frame, content, title)
        self.view.show_status("; ".join(evidence.notes))
        if evidence.text:
            self.view.show_report(evidence.text)


def _search(paths: list[Path], control: Control) -> tuple[Evidence, ...]:
    """Everything found; what was found before a stop is kept."""
    found: list[Evidence] = []
    try:
        for evidence in find_evidence(paths, control=control):
            found.append(evidence)
    except Cancelled:
        pass
    return tuple(found)


def picture_of(evidence: Evidence, pixels: Pixels) -> Picture:
    """What a canvas shows of decoded values, the right way up."""
    turned = upright(pixels)
    # Only the array may change hands: the rendering needs window, table and inversion alone.
    shown = replace(turned, times=None)
    return Picture(
        array=turned.array,
        window=turned.window,
        render=lambda values, window: show_array(shown, values, window=window),
        aspect=turned.aspect,
        orientation=turned.orientation,
        hounsfield=evidence.modality == "CT",
    )


def row_of(evidence: Evidence) -> SeriesRow:
    """What the strip says of one object; never a patient's attribute."""
    problem = sentence(evidence.error) if evidence.error is not None else ""
    return SeriesRow(title_of(evidence), evidence.path.name, evidence.kind, problem)


def title_of(evidence: Evidence) -> str:
    """``CT, 64 slices, 512 x 512``."""
    if evidence.kind not in PICTURES:
        return WORDS.get(evidence.kind, evidence.kind)
    parts = [evidence.modality or {"image": "Picture", "cine": "Cine"}.get(evidence.kind, "Volume")]
    if evidence.shape is not None:
        slices, rows, columns = evidence.shape[:3]
        if slices > 1:
            parts.append(f"{slices} {'frames' if evidence.kind == 'cine' else 'slices'}")
        parts.append(f"{columns} x {rows}")
    return ", ".join(parts)
