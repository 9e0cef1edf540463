"""Where the resources of the program lie, and paths shared by several jobs."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def resources() -> Path:
    """The folder of data files that ships with the program."""
    return Path(str(files("resources")))


def shipped_models() -> Path:
    """The folder of the small demo models."""
    return resources() / "models"
