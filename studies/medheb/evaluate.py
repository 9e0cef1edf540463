"""From vectors to ranks: one task under one model.

Owns the scores between a query and its pool and what becomes of items that could not be
embedded. The order itself, ties against the positive, is ``engine.rank``'s. Touches no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from engine.evidence.item import Item
from engine.rank import TIE, Candidates, order_candidates, order_rows, rank_of, rank_rows
from studies.medheb.outcome import KEEP_NAMES, KEEP_SCORES, Outcome, Ranked
from studies.medheb.pools import Pools, Union, chance_level, without
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
    ranker = _shared if isinstance(members, Union) else _single
    ranked = tuple(ranker(data, asked, members, vectors, pool, names_C))
    chance = chance_level([one.pool for one in ranked])
    shared_lost = lost if not pools.local else 0
    return Outcome(ranked, chance, tuple(sorted(failures)), shared_lost)


def _shared(
    data: TaskData,
    asked: Sequence[int],
    members: Sequence[NDArray[np.intp] | None],
    vectors: NDArray[np.float32],
    pool: Candidates,
    names_C: NDArray[np.object_],
) -> Iterator[Ranked]:
    """Queries against one pool, many at a time."""
    union = cast(Union, members)
    whole = len(union.left) == pool.count
    name_P = names_C if whole else names_C[union.left]
    for start in range(0, len(asked), pool.queries_at_once):
        block = list(asked[start : start + pool.queries_at_once])
        score_BC = pool.all(vectors[block])
        score_BP = score_BC if whole else score_BC[:, union.left]
        gold_B = union.positions(block)
        rank_B, tied_B = rank_rows(score_BP, gold_B)
        orders = order_rows(score_BP, gold_B, rank_B, keep=KEEP_NAMES)
        for row, place in enumerate(block):
            order = orders[row]
            yield Ranked(
                row=data.queries[place].row,
                gold=str(name_P[gold_B[row]]),
                rank=int(rank_B[row]),
                names=tuple(name_P[order].tolist()),
                scores=tuple(score_BP[row][order[:KEEP_SCORES]].tolist()),
                pool=len(name_P),
                tied=bool(tied_B[row]),
            )


def _single(
    data: TaskData,
    asked: Sequence[int],
    members: Sequence[NDArray[np.intp] | None],
    vectors: NDArray[np.float32],
    pool: Candidates,
    names_C: NDArray[np.object_],
) -> Iterator[Ranked]:
    """Queries each against a list of its own, its positive first."""
    for place in asked:
        member = members[place]
        if member is None:
            continue
        score_P, name_P = pool.among(vectors[place], member), names_C[member]
        order = order_candidates(score_P, 0, keep=KEEP_NAMES)
        yield Ranked(
            row=data.queries[place].row,
            gold=str(name_P[0]),
            rank=rank_of(score_P, 0),
            names=tuple(name_P[order].tolist()),
            scores=tuple(score_P[order[:KEEP_SCORES]].tolist()),
            pool=len(score_P),
            tied=bool((np.abs(score_P - score_P[0]) <= TIE).sum() > 1),
        )


def _fallen(
    before: NDArray[np.intp], after: NDArray[np.intp] | None, gone: Mapping[int, str]
) -> str | None:
    """Why a row is not scored though its query could be embedded."""
    if after is not None:
        return None
    return next(gone[int(index)] for index in before if int(index) in gone)
