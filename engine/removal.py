"""Deleting a model's weights: only what this program downloaded, told by the record beside it.

Refuses a user's own folder, the models that ship with the program, and the hub's cache.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.alone import alone
from engine.card import ModelCard
from engine.errors import WeightsRefused
from engine.hub import cached
from engine.weights import RECORD, growing_folder, missing_files, read_record


@dataclass(frozen=True)
class Removed:
    """What a removal did.

    Attributes:
        folder: of the model.
        freed: bytes.
        kept: files that this program did not bring and left in place.
    """

    folder: Path
    freed: int
    kept: tuple[str, ...]


def remove(card: ModelCard, *, weights_dir: Path) -> Removed:
    """Delete what this program downloaded for a card, a half download too, and nothing else.

    Raises:
        WeightsRefused: nothing here was downloaded by this program.
        WeightsMissing: a download is at it just now.
    """
    folder = weights_dir / card.plain_id
    growing = growing_folder(folder)
    record = None if folder.is_symlink() else read_record(folder)
    if card.folder is not None or (record is None and not growing.is_dir()):
        raise WeightsRefused(_not_ours(card, folder))
    with alone(folder, card.title):
        half = 0
        if growing.is_dir():
            half = sum(path.stat().st_size for path in growing.rglob("*") if path.is_file())
            shutil.rmtree(growing)
        # without a record nothing in the folder is ours, also where a link leads to one that is
        freed, kept = delete_recorded(folder, record) if record is not None else (0, ())
    return Removed(folder, freed + half, kept)


def delete_recorded(folder: Path, record: Mapping[str, Any]) -> tuple[int, tuple[str, ...]]:
    """Delete the files of a record, and the folder if nothing else is in it.

    Returns:
        Bytes freed, and the files that are left because no record names them.
    """
    freed, gone = 0, set(missing_files(folder, record))
    for file in record["files"]:
        path = folder / str(file["path"])
        inside = path.resolve().is_relative_to(folder.resolve())
        if inside and str(file["path"]) not in gone:
            freed += path.stat().st_size
            path.unlink()
    (folder / RECORD).unlink(missing_ok=True)
    if not folder.is_dir():
        return freed, ()
    below = sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True)
    for one in (*below, folder):
        if one.is_dir() and not any(one.iterdir()):
            one.rmdir()
    left = (path for path in folder.rglob("*") if path.is_file())
    return freed, tuple(sorted(path.relative_to(folder).as_posix() for path in left))


def _not_ours(card: ModelCard, folder: Path) -> str:
    if card.folder is not None:
        where = f"its weights lie in {card.folder}"
    elif folder.exists():
        where = f"{folder} was put there by somebody else"
    elif (found := cached(card)) is not None:
        where = f"its weights lie in the hub's own cache, {found}"
    else:
        where = "and it is not here"
    return f"{card.title} was not downloaded by this program: {where}. Nothing was deleted."
