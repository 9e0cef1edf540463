"""Where the resources of the program lie, where models lie, and paths shared by several jobs."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from db.home import Home
from engine.card import ModelCard
from engine.catalog import RANDOM
from engine.download import Places
from engine.errors import ModelError
from engine.families import ADAPTER_FILE
from engine.weights import Place, base_card, growing_folder, weight_files


@dataclass(frozen=True)
class Here:
    """What of a model is on this machine.

    Attributes:
        place: of its own files, None where they are not here.
        base: the card of what an adapter sits on, None for a whole model.
        base_place: where that lies, None where it is not here.
        size: bytes of all files here, base included.
        half: bytes of a download that is not whole yet.
        missing: what is missing, in words; empty if nothing is.
    """

    place: Place | None
    base: ModelCard | None = None
    base_place: Place | None = None
    size: int = 0
    half: int = 0
    missing: str = ""

    @property
    def whole(self) -> bool:
        """Whether the model can be loaded."""
        return not self.missing

    @property
    def removable(self) -> bool:
        """Whether this program downloaded it, so that it may delete it again."""
        return self.half > 0 or (self.place is not None and self.place.kind == "download")


def resources() -> Path:
    """The folder of data files that ships with the program."""
    return Path(str(files("resources")))


def shipped_models() -> Path:
    """The folder of the small demo models."""
    return resources() / "models"


def model_places(home: Home) -> Places:
    """Where models lie for a home."""
    return Places(home.weights, shipped_models(), home.cards)


def weights_here(card: ModelCard, home: Home) -> Here:
    """What of a model is on this machine; looks at names and sizes, reads no weights."""
    if card.family == RANDOM:
        return Here(None)
    places = model_places(home)
    half = _bytes(growing_folder(home.weights / card.plain_id))
    place = places.find(card)
    if place is None:
        return Here(None, half=half, missing="weights not on this machine")
    size = _bytes(place.folder)
    if not (place.folder / ADAPTER_FILE).is_file():
        bare = not any(True for _ in weight_files(place.folder, family=card.family))
        return Here(place, size=size, half=half, missing=f"no safetensors in {place.folder}" * bare)
    try:
        base = base_card(card, place.folder, cards_dir=home.cards)
    except ModelError as error:
        return Here(place, size=size, half=half, missing=str(error))
    below = places.find(base)
    missing = "" if below else f"its base {base.title} is not on this machine"
    size += _bytes(below.folder) if below else 0
    return Here(place, base, below, size, half, missing)


def on_disk(card: ModelCard, home: Home) -> bool:
    """Whether a model's weights lie on this machine; the random encoder needs none."""
    return weights_here(card, home).whole


def _bytes(folder: Path) -> int:
    try:
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    except OSError:  # a folder that goes while it is looked at
        return 0
