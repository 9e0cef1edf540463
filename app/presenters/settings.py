"""Decides for the settings page: keeps what was edited, says why it cannot.

The keys are the business of ``app.presenters.settings_keys``.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from app.changes import Change
from app.presenters.base import Presenter
from app.presenters.display import display_words, keep_display
from app.presenters.settings_keys import ORIGIN, KeysPresenter
from app.services import Services
from db.errors import StoreError
from db.settings import Settings


class SettingsPresenter(Presenter):
    """Saves each edit at once; a value that may not stand is refused with its reason."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        view.edited.connect(self._edited)
        view.defaults_wanted.connect(self._defaults)
        view.display_stated.connect(self._keep_display)
        self._refused = False  # what stands in a field is not what is kept
        self.keys = KeysPresenter(view.keys_page, services)
        services.changes.watch("settings", call=self._changed)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front."""
        self._show()
        self.keys.shown()

    def _show(self) -> None:
        now = self.services.settings.current
        self.view.show_settings(now, str(self.services.home.settings))
        self.view.show_display(display_words(now), now.display_statement)

    def _changed(self, change: Change) -> None:
        if change.origin != ORIGIN:
            self._show()

    def _keep_display(self, size: str, scale: str, statement: str) -> None:
        problem = keep_display(self.services, size, scale, statement, ORIGIN)
        self._show()
        if problem:
            self.view.show_state(problem, tone="error")

    def _edited(self, _name: str) -> None:
        """A field was left: nothing is saved, and nothing said, unless a value changed."""
        try:
            wanted = self.view.settings()
        except ValueError as error:
            self._refused = True
            self.view.show_state(str(error), tone="error")
            return
        if wanted != self.services.settings.current:
            self._save(wanted)
        elif self._refused:
            self.view.show_state("")
        self._refused = False

    def _defaults(self) -> None:
        # What has a page of its own (the keys) is reset there.
        now = self.services.settings.current
        apart = [one.name for one in fields(Settings) if one.metadata["hidden"]]
        self._save(replace(Settings(), **{name: getattr(now, name) for name in apart}))
        self.view.show_settings(self.services.settings.current, str(self.services.home.settings))

    def _save(self, settings: Settings) -> None:
        try:
            self.services.settings.save(settings, origin=ORIGIN)
        except StoreError as error:
            self.view.show_state(str(error), tone="error")
        else:
            self.view.show_state("Saved", tone="good")
