"""Where the resources of the program lie, and paths shared by several jobs."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from db.home import Home
from engine.catalog import RANDOM, ModelCard


def resources() -> Path:
    """The folder of data files that ships with the program."""
    return Path(str(files("resources")))


def shipped_models() -> Path:
    """The folder of the small demo models."""
    return resources() / "models"


def weights_folder(card: ModelCard, home: Home) -> Path:
    """Where a card's weights lie, or would lie."""
    return shipped_models() / card.folder if card.folder else home.weights / card.plain_id


def on_disk(card: ModelCard, home: Home) -> bool:
    """Whether a card's weights lie on this machine; the random encoder needs none."""
    folder = weights_folder(card, home)
    return card.family == RANDOM or (folder.is_dir() and any(folder.glob("*.safetensors")))
