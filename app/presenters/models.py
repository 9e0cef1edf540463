"""Decides for the models page: cards, checks, downloads, removals, settings, cards of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.changes import Change
from app.failures import sentence
from app.jobs import JobState
from app.presenters.base import Presenter
from app.presenters.model_facts import models_shown
from app.presenters.model_words import (
    check_tone,
    check_words,
    download_question,
    ended_words,
    forget_question,
    remove_question,
    settings_note,
    settings_of_card,
)
from app.presenters.own_cards import add_card, families, forget_card, guess_family
from app.services import Services
from app.shown import CardGiven, ModelShown, SettingShown
from app.words import count_of
from engine.catalog import find_card
from engine.models.settings import PRESETS

CHECK, DOWNLOAD, REMOVE, FORGET = "model-check", "model-download", "model-remove", "forget"
TITLES = {CHECK: "Check", DOWNLOAD: "Download", REMOVE: "Remove"}


@dataclass(frozen=True)
class _Question:
    """A question on a card and what its answer does."""

    what: str
    text: str
    action: str
    danger: bool = False


class ModelsPresenter(Presenter):
    """Cards from the catalogue; what takes long runs in the worker."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._models: tuple[ModelShown, ...] = ()
        self._listed: tuple[ModelShown, ...] = ()
        self._checked: dict[str, tuple[str, str, str]] = {}  # words, tone, notes
        self._running: dict[str, tuple[str, str]] = {}  # job to what it does and its model
        self._asked: dict[str, _Question] = {}  # by model, as they stand on the cards
        self._only_usable = False
        self._looking = False
        self._connect()
        services.jobs.changed.connect(self._job_changed)
        services.changes.watch("weights", "settings", call=self._changed)

    def _connect(self) -> None:
        view = self.view
        view.check_wanted.connect(self._check)
        view.download_wanted.connect(self._ask_download)
        view.remove_wanted.connect(self._ask_remove)
        view.forget_wanted.connect(self._ask_forget)
        view.sure_wanted.connect(self._sure)
        view.unsure_wanted.connect(self._unsure)
        view.stop_wanted.connect(self._stop)
        view.settings_wanted.connect(self._settings)
        view.page_wanted.connect(self._page)
        view.only_usable_toggled.connect(self._only)
        view.look_wanted.connect(self._look)
        view.add_wanted.connect(lambda: self.view.show_form(families(), PRESETS))
        view.add_given.connect(self._add)
        view.folder_wanted.connect(self._ask_folder)
        view.folder_named.connect(self._folder)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front; the machine is looked at once, then when asked."""
        self._load()
        if not self.services.machine.looked and not self._looking:
            self._look()

    def _changed(self, _change: Change) -> None:
        if self._models:
            self._load()

    def _load(self) -> None:
        home, settings = self.services.home, self.services.settings.current
        machine = self.services.machine
        self.services.tasks.run(
            self,
            lambda: models_shown(home, settings.device, dtype=settings.dtype, machine=machine),
            self._take,
        )

    def _take(self, models: tuple[ModelShown, ...]) -> None:
        self._models = models
        shown = tuple(model for model in models if model.usable or not self._only_usable)
        usable = sum(model.usable for model in models)
        if shown != self._listed:
            self._listed = shown
            summary = f"{len(models)} models, {usable} usable on this machine now"
            self.view.show_models(shown, summary)
            for key, asked in self._asked.items():
                self.view.show_question(key, asked.text, asked.action, danger=asked.danger)
            for key, (text, tone, tip) in self._checked.items():
                self.view.show_check(key, text, tone=tone, tip=tip)
            for job in self._running:
                self._job_changed(job)
        self._show_machine()

    def _only(self, only: bool) -> None:
        self._only_usable = only
        self._take(self._models)

    def _model(self, key: str) -> ModelShown | None:
        return next((model for model in self._models if model.key == key), None)

    def _title(self, key: str) -> str:
        model = self._model(key)
        return model.title if model else key

    # -- the machine

    def _look(self) -> None:
        self._looking = True
        self._show_machine()
        self.services.jobs.start(
            "machine", {}, title="Look at this machine", done=self._looked, failed=self._not_looked
        )

    def _looked(self, state: JobState) -> None:
        self._looking = False
        self.services.machine.take(state.result)
        self._load()

    def _not_looked(self, state: JobState) -> None:
        self._looking = False
        self._show_machine()
        if state.state != "cancelled":
            self.services.notify.error(state.sentence, details=state.details)

    def _show_machine(self) -> None:
        machine = self.services.machine
        words = machine.words()
        if self._looking:
            words = f"Looking at this machine… {words}"
        self.view.show_machine(words, machine.tip(), looking=self._looking)

    # -- questions

    def _ask_download(self, key: str) -> None:
        if (model := self._model(key)) is not None:
            action = "Go on" if model.partial else "Download"
            text = download_question(model, self.services.home)
            self._ask(key, _Question(DOWNLOAD, text, action))

    def _ask_remove(self, key: str) -> None:
        if (model := self._model(key)) is not None:
            self._ask(key, _Question(REMOVE, remove_question(model), "Remove", danger=True))

    def _ask_forget(self, key: str) -> None:
        if (model := self._model(key)) is not None:
            self._ask(key, _Question(FORGET, forget_question(model), "Remove card", danger=True))

    def _ask(self, key: str, question: _Question) -> None:
        self._asked[key] = question
        self.view.show_question(key, question.text, question.action, danger=question.danger)

    def _unsure(self, key: str) -> None:
        self._asked.pop(key, None)
        self.view.show_question(key)

    def _sure(self, key: str) -> None:
        question = self._asked.get(key)
        self._unsure(key)
        if question is None:
            return
        if question.what == FORGET:
            self._forget(key)
        else:
            self._start(question.what, key, {"model": key})

    def _forget(self, key: str) -> None:
        home, title = self.services.home, self._title(key)

        def gone(path: Any) -> None:
            self.services.notify.good(f"The card of {title} was removed ({path.name}).")
            self.services.changes.tell("weights")

        self.services.tasks.run(self, lambda: forget_card(home, key), gone)

    # -- jobs

    def _check(self, key: str) -> None:
        settings = self.services.settings.current
        asked = {"model": key, "device": settings.device, "dtype": settings.dtype}
        self._checked.pop(key, None)
        self._start(CHECK, key, asked)

    def _start(self, what: str, key: str, arguments: dict[str, Any]) -> None:
        if (what, key) in self._running.values():
            return
        job = self.services.jobs.start(
            what,
            arguments,
            title=f"{TITLES[what]} {self._title(key)}",
            done=self._done,
            failed=self._failed,
        )
        self._running[job] = (what, key)
        self._job_changed(job)

    def _stop(self, key: str) -> None:
        for job, running in self._running.items():
            if running == (DOWNLOAD, key):
                self.services.jobs.cancel(job)

    def _job_changed(self, job: str) -> None:
        what, key = self._running.get(job, ("", ""))
        state = self.services.jobs.state(job) if what else None
        if state is None or state.ended:
            return
        if what == CHECK:
            self.view.show_check(key, "Checking…", checking=True)
        elif what == DOWNLOAD:
            permille = round(1000 * state.done / state.total) if state.total else None
            self.view.show_transfer(key, transfer_words(state), permille=permille)
        else:
            self.view.show_transfer(key, "Removing…")

    def _done(self, state: JobState) -> None:
        what, key = self._running.pop(state.id, ("", ""))
        if what == CHECK:
            notes = "\n".join(map(str, state.result.get("notes", ())))
            self._say(key, check_words(state.result), check_tone(state.result), notes)
            return
        self.view.show_transfer(key, "", moving=False)
        self._checked.pop(key, None)
        self.services.notify.good(ended_words(state.result) or state.sentence)
        self._load()

    def _failed(self, state: JobState) -> None:
        what, key = self._running.pop(state.id, ("", ""))
        if what != CHECK:
            self.view.show_transfer(key, "", moving=False)
            self._load()
        stopped = "Stopped. What has arrived stays." if what == DOWNLOAD else "Stopped."
        if state.state == "cancelled":
            self._say(key, stopped, "quiet")
        else:
            self._say(key, state.sentence, "error")

    def _say(self, key: str, text: str, tone: str, tip: str = "") -> None:
        self._checked[key] = (text, tone, tip)
        self.view.show_check(key, text, tone=tone, tip=tip)

    # -- settings, the publisher's page, cards of one's own

    def _settings(self, key: str) -> None:
        home = self.services.home

        def read() -> tuple[str, tuple[SettingShown, ...], str]:
            card = find_card(key, cards_dir=home.cards)
            rows = settings_of_card(card, home)
            return card.title, rows, settings_note(card, rows)

        self.services.tasks.run(self, read, self._show_settings)

    def _show_settings(self, found: tuple[str, tuple[SettingShown, ...], str]) -> None:
        self.view.show_settings(*found)

    def _page(self, key: str) -> None:
        model = self._model(key)
        if model is not None and model.page:
            QDesktopServices.openUrl(QUrl(model.page))

    def _ask_folder(self) -> None:
        if folder := self.view.ask_folder():
            self._folder(folder)

    def _folder(self, folder: str) -> None:
        if folder.strip():
            self.view.show_folder(folder, *guess_family(folder.strip()))

    def _add(self, given: CardGiven) -> None:
        home = self.services.home
        self.services.tasks.run(self, lambda: add_card(home, given), self._added, self._not_added)

    def _added(self, key: str) -> None:
        self.view.show_add_problem("")
        self.services.notify.good(f"The card {key}.json was written.")
        self.services.changes.tell("weights")

    def _not_added(self, error: Exception) -> None:
        self.view.show_add_problem(sentence(error))


def transfer_words(state: JobState) -> str:
    """How far a download is."""
    if state.state == "stopping":
        return "Stopping; what has arrived stays."
    if state.total:
        return count_of(state.done, state.total, state.unit)
    return state.phase or state.sentence or "Waiting for the worker"
