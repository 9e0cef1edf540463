"""Lists for a study from a collection of one's own: neighbours under each model, no gold answers.

Each object asked about is a query; its candidates are the objects of the same kind of evidence
that a model puts next by cosine, as the neighbours job does. Left out are the query itself, copies
of it, repeated copies of one candidate and, if wished, everything of the same patient or study.
Runs in the worker alone: models are loaded here. Refuses to compare a picture with a report, and
to say who a patient is: tokens go no further than to the question whether two are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from db.collections import EvidenceRow
from db.home import Home
from db.session import open_store
from engine.cache import VectorCache
from engine.catalog import find_card
from engine.control import Control
from engine.encode import encode_items
from engine.evidence.item import Item
from engine.evidence.pixels import digest
from engine.index import ExactIndex
from engine.models.load import load_encoder
from studies.errors import BadStudy
from studies.evidence_rows import item_of_row
from studies.neighbours import Who, usable_rows
from studies.places import shipped_models
from studies.preference.key import Arm
from studies.preference.lists import TOP, Comparison, Listed
from studies.preference.prompts import SIMILAR
from studies.preference.sample import generator
from studies.preference.source import weights_of
from studies.preference.wish import (
    LETTERS,
    Material,
    Search,
    Wish,
    check_arms,
    check_models,
    pairs_of,
)

EXTRA = 32  # hits fetched beyond the first three, since copies and kin are dropped
SPARE = 2  # queries drawn for each item wanted, so that unreadable ones can be replaced
QUERIES = 4  # stream of the sample's seed


@dataclass(frozen=True, eq=False)
class _Pool:
    """The objects of one form.

    Attributes:
        rows: as indexed.
        items: what they show.
        names: content hash of each; copies have one name.
        vectors: for each model [N, D], NaN where an object failed.
    """

    form: str
    rows: Sequence[EvidenceRow]
    items: Sequence[Item]
    names: Sequence[str]
    vectors: Sequence[NDArray[np.float32]]

    @property
    def task(self) -> str:
        """What stands for a task."""
        return f"collection/{self.form}"


def read_collection(
    home: Home,
    collection: str,
    models: Sequence[str],
    *,
    wish: Wish,
    search: Search = Search(),
    control: Control = Control(),
) -> Material:
    """The neighbours of a collection's objects under every model.

    Args:
        home: holds the collection, the vectors and the weights.
        collection: its name.
        models: ids, hub ids or folders, the tested one first.
        wish: how many items; twice as many queries are drawn.
        search: which queries, same patients or not, and the device.
        control: asked between batches.

    Returns:
        One task for each form (``collection/2d`` and so on), stratum unknown.

    Raises:
        NoRun: the collection is empty.
        UnknownModel: no such model.
        BadStudy: one model twice, or a query that is not in the collection.
    """
    cards = [find_card(name, cards_dir=home.cards) for name in models]
    check_models([card.id for card in cards])
    with open_store(home) as store:
        rows = usable_rows(store, collection)
    _asked(rows, search)  # before hours of embedding
    items = [item_of_row(row) for row in rows]
    found = [
        _embedded(home, model, items, search, Veiled(control, letter))
        for model, letter in zip(models, LETTERS, strict=False)
    ]
    arms = tuple(
        Arm(card.id, card.title, card.revision or "", weights_of(home, card), one.fingerprint)
        for card, one in zip(cards, found, strict=True)
    )
    check_arms(wish, Material(arms, {}))
    made, missing = _by_form(rows, items, found, wish=wish, search=search)
    return Material(arms, made, missing, notes=_notes(rows))


def _by_form(
    rows: Sequence[EvidenceRow],
    items: Sequence[Item],
    found: Sequence[_Vectors],
    *,
    wish: Wish,
    search: Search,
) -> tuple[dict[str, tuple[Comparison, ...]], dict[str, str]]:
    """The comparisons of each form, and what gave none."""
    asked = _asked(rows, search)
    failed = {n: why for one in found for n, why in one.failures.items()}
    missing = {f"collection, object {rows[n].id}": why for n, why in failed.items()}
    comparisons: dict[str, tuple[Comparison, ...]] = {}
    for form in sorted({form_of(row) for row in rows}):
        kept = [n for n, row in enumerate(rows) if form_of(row) == form and n not in failed]
        pool = _Pool(
            form,
            rows=[rows[n] for n in kept],
            items=[items[n] for n in kept],
            names=[digest(items[n]) for n in kept],
            vectors=[one.vectors[kept] for one in found],
        )
        made = _of_pool(pool, asked, wish, others_only=search.other_patients)
        if made:
            comparisons[pool.task] = made
        else:
            missing[pool.task] = "It has no object with enough others to be compared with."
    return comparisons, missing


class Veiled(Control):
    """Progress that names no model: the tray and the list of jobs keep what is said.

    Args:
        control: of the build.
        letter: of the model.
    """

    def __init__(self, control: Control, letter: str) -> None:
        super().__init__()
        self._outer = control
        self._letter = letter

    def check(self) -> None:
        """Raise ``Cancelled`` if the user asked to stop."""
        self._outer.check()

    def begin(self, total: int, *, unit: str, phase: str) -> None:
        """Start a phase, called by the letter."""
        self._outer.begin(total, unit=unit, phase=f"Embedding with model {self._letter}")

    def begin_part(self, name: str, total: int) -> None:
        """Start a piece, whose name is left out."""
        self._outer.begin_part("", total)

    def step(self, count: int = 1) -> None:
        """Say that more steps are done."""
        self._outer.step(count)

    def say(self, sentence: str) -> None:
        """Sentences of a model are left out."""


def form_of(row: EvidenceRow) -> str:
    """``2d``, ``3d`` or ``text``, of a row that can be searched with."""
    return row.form or ("text" if row.kind in ("report", "document") else "2d")


@dataclass(frozen=True, eq=False)
class _Vectors:
    """What one model made of the collection: [N, D], NaN where an object failed, and why."""

    fingerprint: str
    vectors: NDArray[np.float32]
    failures: Mapping[int, str]


def _asked(rows: Sequence[EvidenceRow], search: Search) -> set[int]:
    """Ids of the objects that may be asked about."""
    known = {row.id for row in rows}
    if not search.queries:
        return known
    odd = next((one for one in search.queries if one not in known), None)
    if odd is not None:
        raise BadStudy(f"The collection has no object {odd} to ask about. Choose among its own.")
    return set(search.queries)


def _embedded(
    home: Home, model: str, items: Sequence[Item], search: Search, control: Control
) -> _Vectors:
    encoder = load_encoder(
        model,
        weights_dir=home.weights,
        shipped_dir=shipped_models(),
        cards_dir=home.cards,
        device=search.device,
        dtype=search.dtype,
        control=control,
    )
    cache = VectorCache(home.vectors)
    encoded = encode_items(items, encoder, cache=cache, control=control)
    return _Vectors(encoder.fingerprint, encoded.vectors, encoded.failures)


def _of_pool(
    pool: _Pool, asked: set[int], wish: Wish, *, others_only: bool
) -> tuple[Comparison, ...]:
    """The comparisons of one form: queries by lot, each under every pair of models."""
    wanted = [n for n, row in enumerate(pool.rows) if row.id in asked]
    lots = generator(wish.seed, QUERIES).permutation(len(wanted))
    queries = sorted(wanted[place] for place in lots[: max(1, wish.total) * SPARE])
    indexes = [ExactIndex(found) for found in pool.vectors] if queries else []
    made = []
    for query in queries:
        lists = {
            letter: _list(pool, index, vectors, query, others_only=others_only)
            for letter, index, vectors in zip(LETTERS, indexes, pool.vectors, strict=False)
        }
        if len({len(listed) for listed in lists.values()}) == 1 and all(lists.values()):
            made += [_comparison(pool, query, pair, lists) for pair in pairs_of(indexes)]
    return tuple(made)


def _list(
    pool: _Pool,
    index: ExactIndex,
    vectors: NDArray[np.float32],
    query: int,
    *,
    others_only: bool,
) -> tuple[Listed, ...]:
    """The nearest under one model, best first: no copy of the query, no candidate twice."""
    who = Who(pool.rows[query].subject, pool.rows[query].study)
    most = TOP + EXTRA
    while True:
        found: dict[str, Listed] = {}
        hits = index.search(vectors[query], most)
        for place, _ in hits:
            other, name = pool.rows[place], pool.names[place]
            if place == query or name == pool.names[query] or (others_only and _kin(who, other)):
                continue
            if name not in found and len(found) < TOP:
                found[name] = Listed(f"object {other.id}", pool.items[place], other.subject)
        if len(found) == TOP or len(hits) < most:
            return tuple(found.values())
        most *= 4


def _kin(who: Who, other: EvidenceRow) -> bool:
    return who.same_patient(other) or who.same_study(other)


def _comparison(
    pool: _Pool,
    query: int,
    pair: tuple[str, str],
    lists: Mapping[str, tuple[Listed, ...]],
) -> Comparison:
    row = pool.rows[query]
    return Comparison(
        task_id=pool.task,
        family=SIMILAR,
        form=pool.form,
        split="",
        row=row.id,
        query=pool.items[query],
        gold=None,
        list_a=lists[pair[0]],
        list_b=lists[pair[1]],
        first=pair[0],
        second=pair[1],
        anatomy=(row.body_part or "").lower(),
        subject=row.subject,
    )


def _notes(rows: Sequence[EvidenceRow]) -> tuple[str, ...]:
    """What a coordinator should look at before the study is handed out."""
    burned = sum("burned_in_text" in (row.warnings or ()) for row in rows)
    if not burned:
        return ()
    return (
        f"{burned} objects of the collection may show words burned into their pixels. The study "
        "shows pixels as they are; look at them before you hand it out.",
    )
