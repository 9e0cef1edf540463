"""Decides for the study page: which step comes next, building, verifying, unblinding, export.

Tells no model once a study is built, and no preference ever: only how many items are answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from app.changes import Change
from app.failures import sentence
from app.jobs import JobState
from app.presenters.base import Presenter
from app.presenters.data_sets import DataSet, data_sets
from app.services import Services
from app.shown import StepShown, StudyShown
from studies.preference.study import StudyInfo, list_studies, open_study
from studies.preference.unblind import unblind
from studies.preference.verify import verify


def day(utc: str) -> str:
    """A stored time as a person reads it; as it is if it is none."""
    try:
        return datetime.fromisoformat(utc).strftime("%d %b %Y %H:%M UTC")
    except ValueError:
        return utc


def study_shown(info: StudyInfo) -> StudyShown:
    """A study in the list; counts only."""
    done = info.answered >= info.items > 0
    reading = "reading" if info.answered else "built"
    state = "unblinded" if info.unblinded else "read" if done else reading
    return StudyShown(
        info.id,
        info.title or ("A damaged study" if info.fault else "Untitled study"),
        "damaged" if info.fault else state,
        min(info.answered, info.items),
        info.items,
        info.hash,
        day(info.created_utc),
    )


def steps_of(info: StudyInfo, faults: tuple[str, ...] | None) -> tuple[StepShown, ...]:
    """The life of a study with the one next action of each step.

    Args:
        info: where it stands.
        faults: what verification found, None if it was not run since the page was opened.
    """
    if info.fault:
        return (StepShown("open", "Open", "failed", info.fault),)
    return (
        _build_step(info),
        _read_step(info),
        _verify_step(info, faults),
        _unblind_step(info),
        _export_step(info),
    )


def _build_step(info: StudyInfo) -> StepShown:
    ties = f", {info.auto_ties} identical pairs set aside as ties" if info.auto_ties else ""
    return StepShown(
        "build",
        "Build",
        "done",
        f"{info.items} items{ties}; frozen and sealed on {day(info.created_utc)}.",
    )


def _read_step(info: StudyInfo) -> StepShown:
    readers = ", ".join(f"{name}: {count}" for name, count in info.raters)
    told = f"{info.answered} of {info.items} items answered" + (
        f" ({readers})." if readers else ". Nobody has begun."
    )
    if info.unblinded:
        return StepShown("read", "Read", "done", f"{told} Closed by unblinding.")
    if info.answered >= info.items:
        return StepShown("read", "Read", "done", told, "Another reader…")
    return StepShown("read", "Read", "next", told, "Go on reading" if info.answered else "Read")


def _verify_step(info: StudyInfo, faults: tuple[str, ...] | None) -> StepShown:
    if faults is None:
        state = "next" if info.answered >= info.items and not info.unblinded else "later"
        return StepShown(
            "verify",
            "Verify",
            state,
            "Recomputes the fingerprint and the chain of answers.",
            "Verify",
        )
    if not faults:
        return StepShown("verify", "Verify", "done", "Nothing was altered.", "Verify again")
    more = f" And {len(faults) - 1} more." if len(faults) > 1 else ""
    return StepShown("verify", "Verify", "failed", f"{faults[0]}{more}", "Verify again")


def _unblind_step(info: StudyInfo) -> StepShown:
    if info.unblinded:
        return StepShown("unblind", "Unblind", "done", "The key was opened.", "See statistics")
    left = info.items - info.answered
    if left > 0:
        return StepShown(
            "unblind",
            "Unblind",
            "later",
            f"{left} items are still to be answered; unblinding ends the reading.",
            "Unblind…",
        )
    return StepShown(
        "unblind",
        "Unblind",
        "next",
        "Opens the key with the passphrase; no answer is taken afterwards.",
        "Unblind…",
    )


def _export_step(info: StudyInfo) -> StepShown:
    if info.unblinded:
        return StepShown(
            "export",
            "Export",
            "next",
            "Ratings, items, data dictionary, summary and figures into one folder.",
            "Export…",
        )
    return StepShown(
        "export",
        "Export",
        "later",
        "After unblinding: ratings, items, data dictionary, summary and figures.",
    )


class StudyPresenter(Presenter):
    """Reads study files on threads; builds in the worker."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._studies: tuple[StudyInfo, ...] = ()
        self._extra: dict[str, Path] = {}
        self._chosen = ""
        self._faults: dict[str, tuple[str, ...]] = {}
        self._sets: tuple[DataSet, ...] = ()
        self._building = ""
        self._form_open = False
        self._connect()
        services.changes.watch("study", "rating", call=self._changed)

    def _connect(self) -> None:
        view = self.view
        view.study_chosen.connect(self._choose)
        view.new_wanted.connect(self._new)
        view.build_wanted.connect(self._build)
        view.build_data_chosen.connect(self._data_chosen)
        view.build_left.connect(self._leave_form)
        view.step_wanted.connect(self._step)
        view.unblind_wanted.connect(self._unblind)
        view.open_file_wanted.connect(self._open_file)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; an argument names a study."""
        if isinstance(argument, str) and argument:
            self._chosen = argument
        self._load()

    def hidden(self) -> None:
        """The form names models: nothing of it stays behind the page."""
        if self._form_open:
            self._leave_form()

    def _changed(self, _change: Change) -> None:
        self._load()

    def _load(self) -> None:
        home, extra = self.services.home, dict(self._extra)

        def work() -> tuple[StudyInfo, ...]:
            found = {info.id: info for info in list_studies(home)}
            for path in extra.values():
                with open_study(path) as study:
                    info = study.info()
                found.setdefault(info.id, info)
            return tuple(found.values())

        self.services.tasks.run(self, work, self._take)

    def _take(self, studies: tuple[StudyInfo, ...]) -> None:
        self._studies = studies
        ids = [info.id for info in studies]
        if self._chosen not in ids:
            self._chosen = ids[-1] if ids else ""
        self.view.show_studies([study_shown(info) for info in studies], self._chosen)
        self._show()

    def _show(self) -> None:
        info = self._info()
        if self._form_open:
            return
        if info is None:
            self.view.show_none()
        else:
            self.view.show_steps(study_shown(info), steps_of(info, self._faults.get(info.id)))

    def _info(self) -> StudyInfo | None:
        return next((info for info in self._studies if info.id == self._chosen), None)

    def _choose(self, study: str) -> None:
        self._chosen = study
        self._form_open = False
        self._show()

    def _open_file(self, path: str) -> None:
        folder = Path(path).parent

        def work() -> tuple[str, Path]:
            with open_study(folder) as study:
                return study.info().id, folder

        self.services.tasks.run(self, work, self._opened_file)

    def _opened_file(self, found: tuple[str, Path]) -> None:
        self._chosen, self._extra[found[0]] = found
        self._load()

    # -- the steps

    def _step(self, step: str) -> None:
        info = self._info()
        if info is None:
            return
        if step == "read":
            self.services.go("review", info.id)
        elif step == "verify":
            self.services.tasks.run(self, lambda: (info.id, verify(info.path)), self._verified)
        elif step == "unblind" and info.unblinded:
            self.services.go("statistics", info.id)
        elif step == "unblind":
            self.view.show_unblind(info.title)
        elif step == "export":
            self._export(info)

    def _verified(self, found: tuple[str, tuple[str, ...]]) -> None:
        self._faults[found[0]] = found[1]
        self._show()

    def _unblind(self, passphrase: str, reason: str) -> None:
        info = self._info()
        if info is None:
            return
        self.services.tasks.run(
            self,
            lambda: unblind(info.path, passphrase, reason).info,
            self._unblinded,
            self._not_unblinded,
        )

    def _unblinded(self, info: StudyInfo) -> None:
        self.services.notify.good(
            f"Study '{info.title}' is unblinded.",
            action="See statistics",
            act=lambda: self.services.go("statistics", info.id),
        )
        self.services.changes.tell("study", origin="study page")

    def _not_unblinded(self, error: Exception) -> None:
        self.view.show_unblind_problem(sentence(error))

    def _export(self, info: StudyInfo) -> None:
        folder = self.view.ask_folder(f"Export '{info.title}' into a folder")
        if not folder:
            return

        def work() -> tuple[str, int]:
            # Figures pull in matplotlib; only here, on a thread.
            from studies.preference.export import export

            return folder, len(export(info.path, Path(folder)))

        self.services.tasks.run(self, work, self._exported)

    def _exported(self, found: tuple[str, int]) -> None:
        self.services.notify.good(f"{found[1]} files written to {found[0]}.")

    # -- building

    def _new(self) -> None:
        self._form_open = True
        home, store = self.services.home, self.services.store
        self.services.tasks.query(self, lambda: data_sets(home, store), self._offer)

    def _offer(self, sets: tuple[DataSet, ...]) -> None:
        if not self._form_open:
            return
        self._sets = sets
        first = sets[0].models if sets else ()
        self.view.show_build([(one.root, one.words) for one in sets], first)

    def _data_chosen(self, root: str) -> None:
        found = next((one for one in self._sets if one.root == root), None)
        self.view.show_build_models(found.models if found else ())

    def _leave_form(self) -> None:
        self._form_open = False
        self._sets = ()
        self.view.clear_build()
        self._show()

    def _build(self, wish: Any) -> None:
        arguments: Mapping[str, Any] = {
            "data": wish.data, "model_a": wish.model_a, "model_b": wish.model_b,
            "total": wish.total, "seed": wish.seed, "title": wish.title,
            "passphrase": wish.passphrase,
        }  # fmt: skip
        self._building = self.services.jobs.start(
            "study-build",
            arguments,
            title=f"Build study '{wish.title}'",
            done=self._built,
            failed=self._not_built,
        )
        self.view.show_build_state(
            "Building: drawing, freezing and sealing the items.", building=True
        )

    def _built(self, state: JobState) -> None:
        self._chosen = str(state.result.get("id", self._chosen))
        self.services.notify.good(
            f"{state.result.get('items', '')} items are sealed.".strip(),
            action="Read",
            act=lambda: self.services.go("review", self._chosen),
        )
        self._leave_form()
        self._load()

    def _not_built(self, state: JobState) -> None:
        self.view.show_build_state(state.sentence or "Building was stopped.", tone="error")
