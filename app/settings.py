"""The settings in force. Owns the current frozen ``Settings``; knows nothing of how they look."""

from __future__ import annotations

from pathlib import Path

from app.changes import Changes
from db.settings import Settings, load_settings, save_settings


class SettingsKeeper:
    """Holds the current settings, saves new ones, and says that they changed.

    Args:
        path: the settings file.
        changes: told ``settings`` after each save.
    """

    def __init__(self, path: Path, changes: Changes) -> None:
        self._path = path
        self._changes = changes
        self._current = load_settings(path)

    @property
    def current(self) -> Settings:
        """The settings in force."""
        return self._current

    def save(self, settings: Settings, *, origin: str = "") -> None:
        """Keep ``settings`` on disk and in force.

        Raises:
            StoreError: the file cannot be written; then the old settings stay in force.
        """
        save_settings(self._path, settings)
        self._current = settings
        self._changes.tell("settings", origin=origin)
