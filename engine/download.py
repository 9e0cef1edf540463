"""Fetching a model from the hub, only when a person asks: which repositories, which files, room.

Owns the choice of files, what is told before the first byte (sizes, commit, licence, base) and
the room asked for. The bytes themselves are moved by ``engine.transfer``. Refuses repositories
that hold nothing but pickles, and folders that it did not make.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from engine.card import ModelCard
from engine.catalog import find_base
from engine.control import Control
from engine.errors import UnknownModel, WeightsMissing, WeightsRefused
from engine.families import ADAPTER_FILE, CONFIG_ENDINGS, DISGUISED, UNWANTED, WANTED_BELOW
from engine.hub import Cut, Hub, HubFile, Listing, in_words
from engine.meter import Meter
from engine.transfer import Part, fetch
from engine.weights import (
    ADAPTER_WEIGHTS,
    CONVERT,
    MEMO,
    PICKLES,
    RECORD,
    Place,
    base_card,
    find_weights,
    read_record,
)

SPARE = 100_000_000  # bytes left free, so that a disk is not filled to the brim
CONVERTER = "https://huggingface.co/spaces/safetensors/convert"
WHERE = {
    "shipped": "it comes with the program",
    "folder": "a folder of yours",
    "home": "a folder that was copied there",
    "download": "downloaded",
    "cache": "the hub's own cache, fetched by another program",
}


@dataclass(frozen=True)
class Downloaded:
    """What a download did.

    Attributes:
        folder: of the model.
        revision: the commit, or ``local``.
        size: bytes of its files, base included, as the hub lists them; 0 if all was here.
        fetched: bytes that came over the network.
        said: sentences for a person.
    """

    folder: Path
    revision: str
    size: int
    fetched: int
    said: tuple[str, ...]


@dataclass(frozen=True)
class Places:
    """Where models lie.

    Attributes:
        weights: gets one folder per downloaded model.
        shipped: the models that come with the program.
        cards: the user's own cards.
    """

    weights: Path
    shipped: Path
    cards: Path | None = None

    def find(self, card: ModelCard) -> Place | None:
        """Where a card's own files lie whole."""
        return find_weights(card, weights_dir=self.weights, shipped_dir=self.shipped)


def download(card: ModelCard, places: Places, *, control: Control = Control()) -> Downloaded:
    """Fetch a model, and the base it sits on, unless they are here.

    Args:
        card: of the model.
        places: where models lie.
        control: told sizes and bytes, asked whether to stop.

    Raises:
        WeightsMissing: not to be had now; what has arrived stays and is taken up again.
        WeightsRefused: only pickles, a wrong checksum, or a folder that is not ours.
        EngineMissing: the hub's library is not installed.
        Cancelled: the user asked to stop; what has arrived stays.
    """
    told = _Told(control)
    parts = tuple(_parts(card, places, told))
    _tell(card, parts, told)
    _ask_room(card, parts, places.weights)
    size = sum(part.size for part in parts)
    meter = Meter(control)
    if parts:
        control.begin(size, unit="bytes", phase=f"Fetching {card.title}")
    for part in reversed(parts):  # the base first: an adapter without it is of no use
        fetch(part, meter, memo=places.weights / MEMO)
        told.say(
            f"{part.card.title} is whole, every checksum as the hub lists it: "
            f"{in_words(part.size)} in {part.folder}."
        )
    place = places.find(card)
    folder = place.folder if place else places.weights / card.plain_id
    revision = place.revision if place else "local"
    return Downloaded(folder, revision, size, meter.fetched, tuple(told.sentences))


class _Told:
    """Says sentences and keeps them."""

    def __init__(self, control: Control) -> None:
        self.control = control
        self.sentences: list[str] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)
        self.control.say(sentence)


def _parts(card: ModelCard, places: Places, told: _Told) -> Iterator[Part]:
    """The repositories to fetch: the model's own, then its base's."""
    place = places.find(card)
    if place is not None:
        told.say(_is_here(card, place))
        if not (place.folder / ADAPTER_FILE).is_file():
            return
        base = base_card(card, place.folder, cards_dir=places.cards)
    else:
        part = _part(card, places.weights)
        yield part
        if not any(file.path == ADAPTER_FILE for file in part.files):
            return
        base = _base(card, part, places)
    found = places.find(base)
    if found is not None:
        told.say(_is_here(base, found))
    else:
        yield _part(base, places.weights)


def _is_here(card: ModelCard, place: Place) -> str:
    commit = "" if place.revision == "local" else f", commit {place.revision}"
    return f"{card.title} is on this machine: {place.folder} ({WHERE[place.kind]}{commit})."


def _base(card: ModelCard, part: Part, places: Places) -> ModelCard:
    """The base of an adapter on the hub: by its card, else named in its config there."""
    named = card.base or _base_on_hub(part)
    try:
        return find_base(named, cards_dir=places.cards)
    except UnknownModel as error:
        raise WeightsMissing(
            f"{card.title} is an adapter and its base {named or 'is not named'!r} is not known "
            f"here. Write a card of your own with its hub id as base. {error}"
        ) from error


def _base_on_hub(part: Part) -> str:
    """What an adapter's config on the hub names; a few hundred bytes are read."""
    file = next(one for one in part.files if one.path == ADAPTER_FILE)
    try:
        with part.hub.stream(part.listing, file, start=0) as stream:
            content = json.loads(b"".join(stream.chunks))
        return str(content.get("base_model_name_or_path") or "")
    except (ValueError, AttributeError, RecursionError):
        return ""
    except Cut as cut:
        raise WeightsMissing(
            f"{ADAPTER_FILE} of {part.card.title} did not arrive ({cut}); try again."
        ) from cut


def _part(card: ModelCard, weights_dir: Path) -> Part:
    folder = weights_dir / card.plain_id
    if card.hub_id is None or card.folder is not None:
        base = f" Its base can be: triptych models download {card.base}" if card.base else ""
        raise WeightsMissing(
            f"{card.title} is not published, so it cannot be downloaded. Copy the folder its "
            f"authors gave you to {card.folder or folder}.{base}"
        )
    if folder.exists() and read_record(folder) is None:
        raise WeightsRefused(
            f"There is a folder {folder} that this program did not download and that is not "
            "whole. Complete it, or move it away and try again."
        )
    hub = Hub(card, folder)
    listing = hub.listing()
    files = tuple(sorted(wanted(card, listing), key=lambda file: file.size))
    return Part(card, folder, hub, listing, files)


def wanted(card: ModelCard, listing: Listing) -> list[HubFile]:
    """The files of a repository that a model needs.

    Raises:
        WeightsRefused: there are only pickles, or no weights at all.
    """
    weights = (".safetensors", *DISGUISED.get(card.family, ()))
    files = [file for file in listing.files if _is_wanted(file.path, card.family, weights)]
    if any(file.path.endswith(weights) for file in files):
        return files
    pickles = sorted(file.path for file in listing.files if file.path.endswith(PICKLES))
    if pickles:
        raise WeightsRefused(
            f"{listing.hub_id} holds {pickles[0]}, a pickled file, and no safetensors; nothing "
            f"was fetched. Ask its authors for safetensors, or let the hub convert it: "
            f"{CONVERTER} . {CONVERT}"
        )
    raise WeightsRefused(f"{listing.hub_id} holds no weights ({ADAPTER_WEIGHTS} or the like).")


def _is_wanted(path: str, family: str, weights: tuple[str, ...]) -> bool:
    """Files at the top, or those of the family's own layout; no copies in other formats."""
    patterns = WANTED_BELOW.get(family, ("*",))
    return (
        path.endswith((*weights, *CONFIG_ENDINGS))
        and ("/" not in path or family in WANTED_BELOW)
        and any(fnmatchcase(path, pattern) for pattern in patterns)
        and not any(fnmatchcase(path, pattern) for pattern in UNWANTED)
        and not path.startswith(".")
        and path != RECORD
    )


def _tell(card: ModelCard, parts: tuple[Part, ...], told: _Told) -> None:
    """Sizes, commits and licences, before the first byte."""
    for part in parts:
        pinned = "pinned" if part.card.pinned else "the newest now; it is written down"
        told.say(
            f"{part.card.title}: {in_words(part.size)} in {len(part.files)} files, from "
            f"{part.card.hub_id} at {part.listing.commit} ({pinned}). Licence: "
            f"{part.card.licence}. Page: {part.card.page}"
        )
    if len(parts) > 1:
        total = in_words(sum(part.size for part in parts))
        told.say(f"{card.title} is an adapter; with its base {parts[1].card.title}: {total}.")
    here = sum(part.here for part in parts)
    if here:
        told.say(f"{in_words(here)} are here from an earlier try and are taken up.")


def _ask_room(card: ModelCard, parts: tuple[Part, ...], weights_dir: Path) -> None:
    """Refuse before the first byte where the disk has no room.

    Raises:
        WeightsMissing: says what is needed, what is free and where.
    """
    need = sum(part.size - part.here for part in parts)
    place = weights_dir
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if need and need + SPARE > free:
        raise WeightsMissing(
            f"{card.title} needs {in_words(need)}, {in_words(free)} free at {place}. Make room "
            f"for {in_words(need + SPARE - free)} more there, or choose a home on another disk "
            "(--home)."
        )
