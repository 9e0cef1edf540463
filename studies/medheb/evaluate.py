"""From vectors to ranks: one task under one model.

Owns the scores between a query and its pool and what becomes of items that could not be
embedded. The order itself, ties against the positive, is ``engine.rank``'s. Touches no file.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from engine.evidence.item import Item
from engine.rank import TIE, order_candidates, unit
from studies.medheb.outcome import Outcome, Ranked
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
    # Failed rows hold NaN and stand in no pool; zeros keep the products quiet.
    unit_ND = np.nan_to_num(unit(vectors), nan=0.0)
    query_QD, candidate_CD = unit_ND[:count], unit_ND[count:]
    gone = {place - count: sentence for place, sentence in failed.items() if place >= count}
    members, lost = without(pools, gone)
    ranked: list[Ranked] = []
    failures = list(data.failures)
    for place, (query, member) in enumerate(zip(data.queries, members, strict=True)):
        reason = failed.get(place) or _fallen(pools.members[place], member, gone)
        if reason is not None or member is None:
            failures.append((query.row, f"{data.path.name}, row {query.row} (from 0): {reason}"))
            continue
        ranked.append(_rank(query.row, query_QD[place], candidate_CD, member, pools))
    chance = chance_level([len(one.names) for one in ranked])
    shared_lost = lost if not pools.local else 0
    return Outcome(tuple(ranked), chance, tuple(sorted(failures)), shared_lost)


def _fallen(
    before: NDArray[np.intp], after: NDArray[np.intp] | None, gone: Mapping[int, str]
) -> str | None:
    """Why a row is not scored though its query could be embedded."""
    if after is not None:
        return None
    return next(gone[int(index)] for index in before if int(index) in gone)


def _rank(
    row: int,
    query_D: NDArray[np.float64],
    candidate_CD: NDArray[np.float64],
    member: NDArray[np.intp],
    pools: Pools,
) -> Ranked:
    """Order one pool; the positive is the first of ``member``."""
    if 2 * len(member) < len(candidate_CD):
        score_P = candidate_CD[member] @ query_D
    else:
        score_P = (candidate_CD @ query_D)[member]
    order = order_candidates(score_P, 0)
    return Ranked(
        row=row,
        gold=pools.candidates[int(member[0])].name,
        rank=order.index(0) + 1,
        names=tuple(pools.candidates[int(member[place])].name for place in order),
        scores=tuple(float(score_P[place]) for place in order),
        tied=bool((np.abs(score_P - score_P[0]) <= TIE).sum() > 1),
    )
