"""Cards of a user's own: written from a form, taken away by id. Writes no weights, no code."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from app.shown import CardGiven
from db.files import write_whole
from db.home import Home
from engine.card import read_card
from engine.catalog import CARDS, model_cards
from engine.errors import UnknownModel
from engine.families import LOADERS, RANDOM, family_of


def families() -> tuple[str, ...]:
    """Those that load weights."""
    return tuple(family for family in LOADERS if family != RANDOM)


def guess_family(folder: str) -> tuple[str, str]:
    """The family of a folder and, where its files tell none, the reason."""
    try:
        return family_of(Path(folder)), ""
    except (UnknownModel, OSError) as error:
        return "", str(error)


def add_card(home: Home, given: CardGiven) -> str:
    """Write a card and return its id.

    Raises:
        UnknownModel: something is missing or cannot stand in a card; the message says what.
        StoreError: the folder of cards cannot be written.
    """
    values = _values(given)
    key = _free_id(home, given.title)
    content = json.dumps({"id": key, **values}, indent=1, ensure_ascii=False).encode("utf-8")
    with tempfile.TemporaryDirectory() as folder:  # read as it will be, before it is kept
        trial = Path(folder) / f"{key}.json"
        trial.write_bytes(content)
        read_card(trial)
    home.cards.mkdir(parents=True, exist_ok=True)
    write_whole(home.cards / f"{key}.json", content)
    return key


def _values(given: CardGiven) -> dict[str, Any]:
    if not given.title.strip():
        raise UnknownModel("The card needs a name.")
    if bool(given.folder.strip()) == bool(given.hub_id.strip()):
        raise UnknownModel("Name a folder on this machine or an id on the hub, one of the two.")
    values: dict[str, Any] = {"title": given.title.strip(), "family": given.family}
    if given.folder.strip():
        folder = Path(given.folder.strip()).expanduser()
        if not folder.is_dir():
            raise UnknownModel(f"There is no folder {folder}.")
        values["folder"] = str(folder.resolve())
    else:
        values["hub_id"] = given.hub_id.strip()
    if given.revision.strip() and "hub_id" in values:
        values["revision"] = given.revision.strip()
    if given.preset and given.preset != "default":
        values["preset"] = given.preset
    return values


def _free_id(home: Home, title: str) -> str:
    """Letters and digits of the title, and a number where that is taken."""
    plain = re.sub(r"[^A-Za-z0-9._]+", "-", title).strip("-._")[:60] or "model"
    taken = {card.id for card in (*CARDS, *model_cards(home.cards))}
    taken |= {path.stem for path in home.cards.glob("*.json")}
    number = next(n for n in range(1, 10_000) if _numbered(plain, n) not in taken)
    return _numbered(plain, number)


def _numbered(plain: str, number: int) -> str:
    return plain if number == 1 else f"{plain}-{number}"


def forget_card(home: Home, key: str) -> Path:
    """Delete the file of a card of one's own; weights and results stay.

    Raises:
        UnknownModel: no card of one's own has that id.
    """
    for path in sorted(home.cards.glob("*.json")):
        if key in _names(path):
            path.unlink()
            return path
    raise UnknownModel(f"There is no card of your own named {key!r}.")


def _names(path: Path) -> tuple[str, ...]:
    """By what a card is listed: its id, or its file's name while it is broken."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["id"]
        return (str(found), path.stem, path.name)
    except (OSError, ValueError, KeyError, TypeError):
        return (path.stem, path.name)
