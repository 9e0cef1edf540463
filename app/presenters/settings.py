"""Decides for the settings page: keeps what was edited, says why it cannot, lists the keys."""

from __future__ import annotations

from typing import Any

from app.actions import COMMANDS, PAGES
from app.changes import Change
from app.presenters.base import Presenter
from app.services import Services
from app.shown import KeyShown
from app.widgets.key_help import LOOKING_KEYS, RATING_KEYS
from db.errors import StoreError
from db.settings import Settings

ORIGIN = "settings page"


def all_keys() -> tuple[KeyShown, ...]:
    """Every key of the window with its place; a clash is named on both lines."""
    keys = [KeyShown(page.text, "everywhere", page.shortcut) for page in PAGES]
    keys += [KeyShown(command.text, "everywhere", command.shortcut) for command in COMMANDS]
    keys += [KeyShown(words[0].upper() + words[1:], "Review", key) for key, words in RATING_KEYS]
    keys += [
        KeyShown(words[0].upper() + words[1:], "Review, Viewer", key)
        for key, words in LOOKING_KEYS
        if key != "F11"
    ]
    return tuple(_with_conflict(key, keys) for key in keys)


def _with_conflict(key: KeyShown, keys: list[KeyShown]) -> KeyShown:
    others = [
        other.command
        for other in keys
        if other is not key
        and other.keys == key.keys
        and (
            set(other.page.split(", ")) & set(key.page.split(", "))
            or "everywhere" in (other.page, key.page)
        )
    ]
    return KeyShown(key.command, key.page, key.keys, ", ".join(others))


class SettingsPresenter(Presenter):
    """Saves each edit at once; a value that may not stand is refused with its reason."""

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        view.edited.connect(self._edited)
        view.defaults_wanted.connect(self._defaults)
        services.changes.watch("settings", call=self._changed)

    def shown(self, argument: Any = None) -> None:
        """The page came to the front."""
        self.view.show_settings(self.services.settings.current, str(self.services.home.settings))
        self.view.show_keys(all_keys())

    def _changed(self, change: Change) -> None:
        if change.origin != ORIGIN:
            self.view.show_settings(
                self.services.settings.current, str(self.services.home.settings)
            )

    def _edited(self, _name: str) -> None:
        try:
            self._save(self.view.settings())
        except ValueError as error:
            self.view.show_state(str(error), tone="error")

    def _defaults(self) -> None:
        self._save(Settings())
        self.view.show_settings(self.services.settings.current, str(self.services.home.settings))

    def _save(self, settings: Settings) -> None:
        try:
            self.services.settings.save(settings, origin=ORIGIN)
        except StoreError as error:
            self.view.show_state(str(error), tone="error")
        else:
            self.view.show_state("Saved", tone="good")
