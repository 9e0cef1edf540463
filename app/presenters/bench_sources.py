"""Decides for the sources of the benchmark: what is built here, building one, the miniature.

Reads the cards on a thread (there are many, and they bring their readers); builds in the worker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.jobs import JobState
from app.services import Services
from app.shown_figures import SectionShown, SettingChoice, SourceShown
from app.words import count_of
from studies.errors import StudyError
from studies.medheb.builders.card import ACCESS, COMMON, SourceCard
from studies.medheb.release import find_index
from studies.medheb.tasks import load_tasks

SOURCES = 1  # the tab
FAULTS = 12  # named one by one


def sources_of(root: str) -> tuple[SourceShown, ...]:
    """Every source, with what of it lies at a data root; an empty root has nothing."""
    from studies.medheb.builders.catalogue import source_cards

    there = _there(Path(root)) if root else frozenset()
    return tuple(_shown(card, there) for card in source_cards())


def _there(root: Path) -> frozenset[str]:
    try:
        tasks = load_tasks(root)
    except StudyError:  # the plan says why
        return frozenset()
    return frozenset(task.id for task in tasks if find_index(task, root) is not None)


def _shown(card: SourceCard, there: frozenset[str]) -> SourceShown:
    tasks = tuple(plan.task for plan in card.plans)
    return SourceShown(
        key=card.id, title=card.title, form=card.form, modality=card.modality,
        anatomy=card.anatomy, access=card.access, access_words=ACCESS[card.access],
        licence=card.licence, url=card.url, obtain=card.obtain, tasks=tasks,
        built=tuple(task for task in tasks if task in there),
        settings=tuple(
            SettingChoice(c.name, _words(c.default), tuple(map(_words, c.values)), c.why)
            for c in (*card.settings, *COMMON)
        ),
        held_out=card.held_out,
    )  # fmt: skip


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def build_report(document: Mapping[str, Any]) -> tuple[SectionShown, str]:
    """What a build made, and its tone: good, or a warning where something was left out."""
    tasks: Mapping[str, Any] = document["tasks"]
    rows = tuple(
        (task, f"{one['rows']:,}", one["pool"], f"{one['faulty']:,}") for task, one in tasks.items()
    )
    notes = [f"{task}: {note}" for task, one in tasks.items() for note in one["notes"]]
    faults = [fault for one in tasks.values() for fault in one["faults"]] + document["faults"]
    notes += [f"{fault['where']}: {fault['reason']}" for fault in faults[:FAULTS]]
    left = int(document["faulty"]) + sum(one["faulty"] for one in tasks.values())
    empty = [task for task, one in tasks.items() if not one["rows"]]
    title = f"{document['source']}: {document['records']:,} records read"
    title += f", {left:,} entries left out" if left else ""
    title += f"; no row for {', '.join(empty)}" if empty else ""
    head = ("task", "rows", "pool", "not placed")
    return SectionShown(title + ".", head, rows, tuple(notes)), "warn" if left or empty else "good"


def mini_report(document: Mapping[str, Any]) -> tuple[SectionShown, str]:
    """What the miniature holds, and what it lacks and why."""
    missing = [(str(one["task"]), str(one["reason"])) for one in document["missing"]]
    title = f"{len(document['tasks'])} tasks are ready in {document['data']}"
    title += f", {len(missing)} are missing" if missing else ""
    tone = "warn" if missing else "good"
    return SectionShown(title + ".", ("missing task", "reason"), tuple(missing)), tone


class SourceDesk:
    """The sources tab of the benchmark page; its presenter's second hand.

    Args:
        view: the page.
        services: the program's objects.
        built: called with a data root whose tasks changed.
    """

    def __init__(self, view: Any, services: Services, built: Callable[[str], None]) -> None:
        self.view = view
        self.services = services
        self._built = built
        self._root = ""
        self._seen = False
        self._job = ""
        self._source = ""
        view.tab_shown.connect(self._tab_shown)
        view.build_wanted.connect(self._build)
        view.mini_wanted.connect(self._mini)
        services.jobs.changed.connect(self._job_changed)

    def take(self, root: str) -> None:
        """Another data root."""
        self._root = root
        if self._seen:
            self._read()

    def _tab_shown(self, place: int) -> None:
        if place == SOURCES and not self._seen:
            self._seen = True
            self._read()

    def _read(self) -> None:
        root = self._root
        self.services.tasks.run(self, lambda: (root, sources_of(root)), self._take)

    def _take(self, found: tuple[str, tuple[SourceShown, ...]]) -> None:
        if found[0] == self._root:
            self.view.show_sources(found[1])

    # -- building

    def _build(self, source: str, settings: dict[str, str]) -> None:
        if self._job:
            return
        folder = self.view.ask_folder(f"Folder of the official files of {source}")
        data = folder and (self._root or self.view.ask_folder("Data root that the tasks go into"))
        if not folder or not data:
            return
        arguments = {"source": source, "folder": folder, "data": data, "settings": settings}
        self._start("bench-build", arguments, source, f"Build {source}")

    def _mini(self) -> None:
        data = "" if self._job else self.view.ask_folder("Empty folder for the miniature")
        if data:
            self._start("bench-mini", {"data": data}, "", "Miniature benchmark")

    def _start(self, kind: str, arguments: dict[str, Any], source: str, title: str) -> None:
        self._source = source
        self.view.show_building(source, "Waiting for the worker")
        self._job = self.services.jobs.start(
            kind, arguments, title=title, done=self._done, failed=self._failed
        )

    def _job_changed(self, job: str) -> None:
        state = self.services.jobs.state(job) if job and job == self._job else None
        if state is not None and not state.ended:
            words = state.phase or state.sentence or "Building"
            if state.total:
                words = f"{words}: {count_of(state.done, state.total, state.unit)}"
            self.view.show_building(self._source, words)

    def _done(self, state: JobState) -> None:
        self._job = ""
        self.view.show_building(self._source, "")
        report = build_report if state.kind == "bench-build" else mini_report
        self.view.show_built(*report(state.result))
        self._built(str(state.result["data"]))

    def _failed(self, state: JobState) -> None:
        self._job = ""
        self.view.show_building(self._source, "")
        if state.state != "cancelled":
            self.view.show_built(SectionShown(state.sentence, (), ()), "error")
