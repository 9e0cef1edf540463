"""The jobs behind ``triptych models download`` and ``remove``, and the page's buttons."""

from __future__ import annotations

from typing import Any

from db.home import Home
from engine.catalog import find_card
from engine.control import Control
from engine.download import download
from engine.errors import WeightsMissing
from engine.families import RANDOM
from engine.hub import in_words
from engine.removal import remove
from studies.places import model_places, weights_here

CHANGED = ("weights",)  # what pages that list models listen for


def download_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Fetch a model and the base it sits on.

    Args:
        home: gets the files.
        arguments: ``model``, an id, hub id or the folder of an adapter.
        control: told sentences and bytes, asked whether to stop.

    Returns:
        ``model``, ``spoken`` (what to type), ``folder``, ``revision``, ``size`` and ``fetched`` in
        bytes, ``said``.
    """
    card = find_card(arguments["model"], cards_dir=home.cards)
    if card.family == RANDOM:
        raise WeightsMissing(f"{card.title} has no weights; there is nothing to download.")
    done = download(card, model_places(home), control=control)
    return {
        "model": card.plain_id,
        "spoken": card.spoken,
        "folder": str(done.folder),
        "revision": done.revision,
        "size": done.size,
        "fetched": done.fetched,
        "said": list(done.said),
        "saved": CHANGED,
    }


def remove_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Delete what was downloaded for a model; its base stays, since others may sit on it.

    Args:
        home: holds the files.
        arguments: ``model``, an id or hub id.
        control: told what happened.

    Returns:
        ``model``, ``folder``, ``freed`` bytes, ``kept`` files that are not ours, ``said``.
    """
    card = find_card(arguments["model"], cards_dir=home.cards)
    here = weights_here(card, home)
    gone = remove(card, weights_dir=home.weights)
    said = [f"{card.title} was removed from {gone.folder}: {in_words(gone.freed)} freed."]
    if gone.kept:
        said.append(f"Left in place, not of this program: {', '.join(gone.kept)}.")
    if here.base is not None and here.base_place and here.base_place.kind == "download":
        said.append(
            f"Its base {here.base.title} stays, other models may sit on it: "
            f"triptych models remove {here.base.plain_id}"
        )
    return {
        "model": card.plain_id,
        "folder": str(gone.folder),
        "freed": gone.freed,
        "kept": list(gone.kept),
        "said": said,
        "saved": CHANGED,
    }
