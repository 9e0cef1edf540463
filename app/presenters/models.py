"""Decides for the models page: which cards, and how a check went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.jobs import JobState
from app.presenters.base import Presenter
from app.presenters.model_facts import models_shown
from app.services import Services
from app.shown import ModelShown


def check_words(result: Mapping[str, Any]) -> str:
    """What a check found, as one line."""
    forms = result.get("forms", ())
    seconds = sum(float(form["seconds"]) for form in forms)
    told = [
        f"Loaded in {float(result.get('load_seconds', 0)):.1f} s",
        f"{len(forms)} items in {seconds:.1f} s",
        f"{result.get('dim', 0)} numbers",
    ]
    if peak := result.get("peak_memory_mb"):
        told.append(f"peak {peak:,} MiB")
    notes = [str(note) for note in result.get("notes", ())][:2]
    return ", ".join(told) + ". " + " ".join(notes)


class ModelsPresenter(Presenter):
    """Cards from the catalogue; checks run in the worker."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._models: tuple[ModelShown, ...] = ()
        self._checked: dict[str, tuple[str, str]] = {}
        self._checking: dict[str, str] = {}
        self._only_usable = False
        view.check_wanted.connect(self._check)
        view.only_usable_toggled.connect(self._only)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front."""
        home, device = self.services.home, self.services.settings.current.device
        self.services.tasks.run(self, lambda: models_shown(home, device), self._take)

    def _take(self, models: tuple[ModelShown, ...]) -> None:
        self._models = models
        usable = sum(model.usable for model in models)
        shown = [
            replace(model, checked="") for model in models if model.usable or not self._only_usable
        ]
        self.view.show_models(shown, f"{len(models)} models, {usable} usable on this machine now")
        for key, (text, tone) in self._checked.items():
            self.view.show_check(key, text, tone=tone)
        for key in self._checking.values():
            self.view.show_check(key, "Checking…", checking=True)

    def _only(self, only: bool) -> None:
        self._only_usable = only
        self._take(self._models)

    def _check(self, key: str) -> None:
        title = next((model.title for model in self._models if model.key == key), key)
        settings = self.services.settings.current
        job = self.services.jobs.start(
            "model-check",
            {"model": key, "device": settings.device, "dtype": settings.dtype},
            title=f"Check {title}",
            done=self._done,
            failed=self._failed,
        )
        self._checking[job] = key
        self.view.show_check(key, "Checking…", checking=True)

    def _done(self, state: JobState) -> None:
        key = self._checking.pop(state.id, str(state.result.get("model", "")))
        self._say(key, check_words(state.result), "good")

    def _failed(self, state: JobState) -> None:
        key = self._checking.pop(state.id, "")
        self._say(key, state.sentence or "The check was stopped.", "error")

    def _say(self, key: str, text: str, tone: str) -> None:
        self._checked[key] = (text, tone)
        self.view.show_check(key, text, tone=tone)
