"""The data that has benchmark results: where it lay, when, under which models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from db.home import Home
from db.runs import data_digests, task_results
from db.session import Store
from engine.catalog import PRESET, model_cards
from engine.errors import UnknownModel
from studies.errors import NoRun
from studies.medheb.manifest import read_manifest


@dataclass(frozen=True)
class DataSet:
    """One data root with results.

    Attributes:
        digest: names its content.
        root: where it lay.
        words: what it is called in a list.
        models: (model id, title) with results.
    """

    digest: str
    root: str
    words: str
    models: tuple[tuple[str, str], ...]


def titles(home: Home) -> dict[str, str]:
    """Model id to title, also under the release's settings; a damaged user's card costs only the
    user's titles.
    """
    try:
        cards = model_cards(home.cards)
    except UnknownModel:
        cards = model_cards()
    named = {card.id: card.title for card in cards}
    return named | {f"{key}@{PRESET}": f"{title}, release settings" for key, title in named.items()}


def data_sets(home: Home, store: Store) -> tuple[DataSet, ...]:
    """Every data set with results, newest first; one whose manifest is gone is left out."""
    named = titles(home)
    found = []
    for digest, when in data_digests(store):
        try:
            root = read_manifest(home.runs, digest).root
        except NoRun:
            continue
        rows = task_results(store, digest)
        models = sorted({row.model_id for row in rows})
        tasks = len({row.task_id for row in rows})
        words = f"{Path(root).name}, {tasks} tasks, {when[:16].replace('T', ' ')}"
        found.append(DataSet(digest, root, words, tuple((m, named.get(m, m)) for m in models)))
    return tuple(found)
