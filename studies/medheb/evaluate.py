"""From vectors to ranks: one task under one model.

Owns the scores between a query and its pool and what becomes of items that could not be
embedded. The order itself, ties against the positive, is ``engine.rank``'s. Touches no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.evidence.item import Item
from engine.rank import TIE, Candidates, order_candidates, rank_of
from studies.medheb.outcome import KEEP_NAMES, Outcome, Ranked
from studies.medheb.pools import Pools, chance_level, without
from studies.medheb.release import TaskData


def items_of(data: TaskData, pools: Pools) -> list[Item]:
    """Everything to embed: the queries, then the candidates of the pools."""
    return [query.item for query in data.queries] + [c.item for c in pools.candidates]


def evaluate(
    data: TaskData, pools: Pools, vectors: NDArray[np.float32], failed: Mapping[int, str]
) -> Outcome:
    """Rank every query of a task.

    Args:
        data: the task as read.
        pools: its pools.
        vectors: unit-norm rows [Q + C, D] in the order of ``items_of``; a failed one holds NaN.
        failed: position in that order to the sentence of the failure.
    """
    count = len(data.queries)
    pool = Candidates(vectors[count:])
    gone = {place - count: sentence for place, sentence in failed.items() if place >= count}
    members, lost = without(pools, gone)
    failures = list(data.failures)
    asked: list[int] = []
    for place, (query, member) in enumerate(zip(data.queries, members, strict=True)):
        reason = failed.get(place) or _fallen(pools.members[place], member, gone)
        if reason is None:
            asked.append(place)
        else:
            failures.append((query.row, f"{data.path.name}, row {query.row} (from 0): {reason}"))
    names_C = np.array([candidate.name for candidate in pools.candidates], object)
    ranked = tuple(
        _rank(data.queries[place].row, score_P, names_C[member])
        for place, member, score_P in _scored(asked, members, vectors, pool)
    )
    chance = chance_level([one.pool for one in ranked])
    shared_lost = lost if not pools.local else 0
    return Outcome(ranked, chance, tuple(sorted(failures)), shared_lost)


def _scored(
    asked: Sequence[int],
    members: Sequence[NDArray[np.intp] | None],
    vectors: NDArray[np.float32],
    pool: Candidates,
) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.float64]]]:
    """Query, its candidates and their cosines; wide pools are scored many queries at a time."""
    step = pool.queries_at_once
    for start in range(0, len(asked), step):
        block = asked[start : start + step]
        wide = [place for place in block if 2 * len(_members(members, place)) >= pool.count]
        score_BC = pool.all(vectors[wide]) if wide else np.empty((0, 0))
        rows = {place: row for row, place in enumerate(wide)}
        for place in block:
            member = _members(members, place)
            if place in rows:
                yield place, member, score_BC[rows[place]][member]
            else:
                yield place, member, pool.among(vectors[place], member)


def _members(members: Sequence[NDArray[np.intp] | None], place: int) -> NDArray[np.intp]:
    member = members[place]
    return np.empty(0, np.intp) if member is None else member


def _fallen(
    before: NDArray[np.intp], after: NDArray[np.intp] | None, gone: Mapping[int, str]
) -> str | None:
    """Why a row is not scored though its query could be embedded."""
    if after is not None:
        return None
    return next(gone[int(index)] for index in before if int(index) in gone)


def _rank(row: int, score_P: NDArray[np.float64], name_P: NDArray[np.object_]) -> Ranked:
    """Order one pool; the positive comes first in it."""
    order = order_candidates(score_P, 0, keep=KEEP_NAMES)
    return Ranked(
        row=row,
        gold=name_P[0],
        rank=rank_of(score_P, 0),
        names=tuple(name_P[order].tolist()),
        scores=tuple(score_P[order].tolist()),
        pool=len(score_P),
        tied=bool((np.abs(score_P - score_P[0]) <= TIE).sum() > 1),
    )
