"""Decides how things come into the library: folders, files, drops, de-identified copies.

Owns the import in hand and what is said of it while it runs and after.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.jobs import JobState
from app.services import Services
from app.shown import ImportShown
from engine.evidence.identity.profile import OPTIONS, checked

TOLD_LINES = 2000
LOOK_SECONDS = 2.0


def import_shown(state: JobState) -> ImportShown:
    """How an import stands, in words."""
    if state.state == "done":
        return result_shown(state.result)
    if state.state == "cancelled":
        told = "Stopped. What was read is kept; import the same folder again to go on."
        return ImportShown("stopped", told)
    if state.ended:
        return ImportShown("failed", state.sentence)
    far = f"{state.done:,} of {state.total:,} {state.unit}" if state.total else ""
    words = ": ".join(part for part in (state.phase.capitalize(), far) if part)
    permille = round(1000 * state.done / state.total) if state.total else None
    return ImportShown("running", f"{state.title}. {words}".rstrip(". "), permille)


def result_shown(result: Mapping[str, Any]) -> ImportShown:
    """What an import did: counts, reasons, each file that was left out."""
    left = list(result.get("left_out", ()))
    count = int(result.get("left_out_count", len(left)))
    told = [f"{int(result.get('added', 0)):,} added to '{result.get('collection', '')}'"]
    if unchanged := int(result.get("unchanged", 0)):
        told.append(f"{unchanged:,} files unchanged")
    if count:
        told.append(f"{count:,} left out")
    reasons = [f"{many:,} × {reason}" for reason, many in dict(result.get("reasons", {})).items()]
    lines = [f"{row['path']}: {row['reason']}" for row in left[:TOLD_LINES]]
    if count > len(lines):
        lines.append(f"and {count - len(lines):,} more")
    copies = result.get("deidentified")
    warnings = () if copies is None else copies_told(copies)
    heads = [*reasons, ""] if len(reasons) > 1 or count > 1 else []
    return ImportShown("done", f"{', '.join(told)}.", None, (*heads, *lines), warnings)


def copies_told(copies: Mapping[str, Any]) -> tuple[str, ...]:
    """What is to be known of de-identified copies before they leave."""
    made = f"{copies['written']} copies written to {copies['folder']}"
    told = [f"{made}; {copies['sentence']}."]
    if lost := int(copies.get("not_copied", 0)):
        told.append(f"{lost:,} of those left out were not copied: they are not in the collection.")
    return (*told, *(f"{row['count']} × {row['sentence']}." for row in copies["warnings"]))


class LibraryImport:
    """Starts imports and follows the one in hand.

    Args:
        view: the library's view, or a fake.
        services: the program's objects.
        chosen: the collection on show; drops go there.
        going: called with the collection that an import fills.
        look: called now and then while one runs, to show what is stored already.
        now: seconds that only grow.
    """

    def __init__(
        self,
        view: Any,
        services: Services,
        *,
        chosen: Callable[[], str],
        going: Callable[[str], None],
        look: Callable[[], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._view = view
        self._services = services
        self._chosen = chosen
        self._going = going
        self._look = look
        self._now = now
        self._looked = 0.0
        self._clean_to = ""
        self._options: tuple[str, ...] = ()
        self._job = self._into = ""
        self._failures: list[str] = []
        self.in_front = False
        view.import_wanted.connect(self._dropped)
        view.folder_wanted.connect(self._folder)
        view.files_wanted.connect(self._files)
        view.clean_changed.connect(self._clean)
        view.clean_folder_wanted.connect(self._clean_folder)
        view.option_changed.connect(self._option)
        view.stop_wanted.connect(self._stop)
        services.jobs.changed.connect(self._job_changed)

    def show(self) -> None:
        """Say what the panel offers."""
        self._view.show_clean(on=bool(self._clean_to), folder=self._clean_to)
        offered = [(option.name, option.words) for option in OPTIONS]
        self._view.show_options(offered, self._options)

    # -- where things come from

    def _folder(self) -> None:
        path = self._view.ask_folder()
        if path:
            self.start([path], Path(path).name)

    def _files(self) -> None:
        paths = self._view.ask_files()
        if paths:
            self._dropped(paths)

    def _dropped(self, paths: Sequence[str]) -> None:
        self.start(list(paths), self._chosen() or Path(paths[0]).stem or "Collection")

    def start(self, paths: list[str], name: str) -> None:
        """Import into a collection."""
        arguments: dict[str, Any] = {"paths": paths, "collection": name}
        if self._clean_to:
            arguments |= {"deidentify_to": self._clean_to, "options": list(self._options)}
        self._into = name
        self._going(name)
        self._job = self._services.jobs.start(
            "import", arguments, title=f"Import '{name}'", done=self._ended, failed=self._ended
        )
        self._job_changed(self._job)

    def fills(self, name: str) -> bool:
        """Whether the import in hand is filling that collection."""
        state = self._services.jobs.state(self._job) if self._job else None
        return state is not None and not state.ended and self._into == name

    def _stop(self) -> None:
        if self._job:
            self._services.jobs.cancel(self._job)

    # -- copies that name nobody

    def _clean(self, on: bool) -> None:
        if not on:
            self._clean_to = ""
        elif not self._clean_to:
            self._clean_folder()
        self.show()

    def _clean_folder(self) -> None:
        path = self._view.ask_folder("Folder for the de-identified copies")
        self._clean_to = path or self._clean_to
        self.show()

    def _option(self, name: str, on: bool) -> None:
        chosen = {*self._options, name} if on else {*self._options} - {name}
        try:
            self._options = tuple(option.name for option in checked(frozenset(chosen)))
        except ValueError as error:
            self._services.notify.warn(f"{str(error)[:1].upper()}{str(error)[1:]}.")
        self.show()

    # -- how it goes

    def _job_changed(self, job: str) -> None:
        if not job or job != self._job:
            return
        state = self._services.jobs.state(job)
        if state is not None and not state.ended:
            self._view.show_import(import_shown(state))
            if state.done and self._now() - self._looked > LOOK_SECONDS:
                self._looked = self._now()
                self._look()

    def _ended(self, state: JobState) -> None:
        shown = import_shown(state)
        self._view.show_import(shown)
        if shown.state == "failed":
            self._failures.append(shown.sentence)
            self._services.notify.error(shown.sentence, details=state.details)
            return
        if shown.state == "done":  # what failed before has come well
            while self._failures:
                self._services.notify.recall(self._failures.pop())
        if not self.in_front:  # the page itself says it
            self._tell(state, shown)

    def _tell(self, state: JobState, shown: ImportShown) -> None:
        """One sentence for a reader who is on another page."""
        if shown.lines:
            left = list(state.result.get("left_out", ()))
            first = f"{Path(left[0]['path']).name}, {left[0]['reason']}" if left else ""
            self._services.notify.warn(f"{shown.sentence} The first: {first}.")
        elif shown.state == "done":
            self._services.notify.good(shown.sentence)
