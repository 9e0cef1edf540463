"""What each query is ranked against, and the exact score of a random ranking over it.

Owns the choice between the row's own list and the union over rows, and the chance level.
Refuses to widen or narrow a list in silence: the kind of pool has a name that is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from studies.medheb.builders.built import Built
from studies.medheb.release import Candidate, TaskData
from studies.medheb.rows import Query

METRICS = ("hit@1", "hit@5", "mrr@5")
DEPTH = 5
UNKNOWN_POOL = "unknown"  # of imported scores without rankings and without data


class Union(Sequence["NDArray[np.intp] | None"]):
    """The members of queries that share one pool, made when they are asked for.

    A query's own positive comes first. Kept as arrays they would fill queries x candidates numbers.

    Args:
        golds: for each query the index of its positive, [Q].
        count: of candidates.
        gone: indices that are no candidates any more; a query whose positive is one has None.
    """

    def __init__(self, golds: NDArray[np.intp], count: int, gone: Collection[int] = ()) -> None:
        self.golds = golds
        self.left = np.setdiff1d(np.arange(count, dtype=np.intp), np.array(sorted(gone), np.intp))
        self._place = np.full(count, -1, np.intp)
        self._place[self.left] = np.arange(len(self.left))

    def __len__(self) -> int:
        return len(self.golds)

    def positions(self, places: Sequence[int]) -> NDArray[np.intp]:
        """Where the positives of some queries stand among ``left``."""
        return self._place[self.golds[np.asarray(places, np.intp)]]

    @overload
    def __getitem__(self, place: int) -> NDArray[np.intp] | None: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[NDArray[np.intp] | None]: ...

    def __getitem__(
        self, place: int | slice
    ) -> NDArray[np.intp] | Sequence[NDArray[np.intp] | None] | None:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        at = self._place[self.golds[place]]
        if at < 0:
            return None
        member = np.empty_like(self.left)
        member[0] = self.left[at]
        member[1 : at + 1] = self.left[:at]
        member[at + 1 :] = self.left[at + 1 :]
        return member


@dataclass(frozen=True, eq=False)
class Pools:
    """The pools of one task.

    Attributes:
        name: ``rows`` (lists of an imported file); ``exemplars``, ``labels:source``,
            ``labels:family``, ``labels:fixed`` (lists that we made); ``split``, ``answers``,
            ``regions`` (union over rows).
        local: each query has a list of its own.
        candidates: all distinct candidates of the task; the first of a name stands for it.
        members: for each query the indices into ``candidates``, its positive FIRST.
        chance: exact expected scores of a uniformly random ranking, in percent.
    """

    name: str
    candidates: tuple[Candidate, ...]
    members: Sequence[NDArray[np.intp]]
    chance: dict[str, float]
    local: bool

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of candidates of each query, shape [Q]."""
        if not self.local:
            return np.full(len(self.members), len(self.candidates), np.intp)
        return np.array([len(member) for member in self.members], np.intp)


def pool_name(task_family: str, eval_type: str, built: Built | None = None) -> str:
    """The recorded name of a pool: what kind of list the queries are ranked against.

    A file that this program made knows its own; of a file from elsewhere only the way it is ranked
    is known.
    """
    if built is not None:
        return built.pool
    if eval_type == "local":
        return "rows"
    return "regions" if task_family == "VG" else "split"


def build_pools(data: TaskData) -> Pools:
    """The pools of a task as its registry row says."""
    candidates, index = _distinct(data.queries)
    if data.task.eval_type == "local":
        members: Sequence[NDArray[np.intp]] = [_local(query, index) for query in data.queries]
        sizes = [len(member) for member in members]
    else:
        golds = np.array([index[query.gold] for query in data.queries], np.intp)
        members = cast("Sequence[NDArray[np.intp]]", Union(golds, len(index)))
        sizes = [len(index)] * len(golds)
    name = pool_name(data.task.family, data.task.eval_type, data.built)
    chance = chance_level(sizes)
    return Pools(name, candidates, members, chance, data.task.eval_type == "local")


def _distinct(queries: Sequence[Query]) -> tuple[tuple[Candidate, ...], dict[str, int]]:
    first: dict[str, Candidate] = {}
    for query in queries:
        for candidate in query.candidates:
            first.setdefault(candidate.name, candidate)
    return tuple(first.values()), {name: place for place, name in enumerate(first)}


def _local(query: Query, index: dict[str, int]) -> NDArray[np.intp]:
    return np.array([index[candidate.name] for candidate in query.candidates], np.intp)


def without(pools: Pools, lost: Collection[int]) -> tuple[Sequence[NDArray[np.intp] | None], int]:
    """Take candidates away that could not be embedded.

    A row of a local pool falls with any of its candidates, for a shorter list would be easier;
    a shared pool only loses the candidate, and the rows whose positive it is fall.

    Returns:
        For each query its members, or None where the row falls; and the number of candidates lost.
    """
    if not lost:
        return pools.members, 0
    if isinstance(pools.members, Union):
        return Union(pools.members.golds, len(pools.candidates), lost), len(lost)
    gone = np.array(sorted(lost), np.intp)
    kept: list[NDArray[np.intp] | None] = []
    for member in pools.members:
        present = ~np.isin(member, gone)
        falls = not present[0] or (pools.local and not present.all())
        kept.append(None if falls else member[present])
    return tuple(kept), len(gone)


def chance_shares(sizes: Sequence[int] | NDArray[np.intp]) -> tuple[float, ...]:
    """How a uniformly random ranking spreads the positive over ranks 1 to 5 and beyond.

    With one positive among P candidates its rank is uniform on 1..P.

    Args:
        sizes: the number of candidates of each query, at least one each.

    Returns:
        Six shares that sum to 1, the mean over queries.
    """
    counts = np.asarray(sizes, np.float64)
    if counts.size == 0:
        return (0.0,) * DEPTH + (1.0,)
    first = [float(np.mean((counts >= rank) / counts)) for rank in range(1, DEPTH + 1)]
    return (*first, max(0.0, 1.0 - sum(first)))


def chance_level(sizes: Sequence[int] | NDArray[np.intp]) -> dict[str, float]:
    """Exact expected Hit@1, Hit@5 and MRR@5 of a uniformly random ranking, in percent.

    Hit@k is min(k, P) / P, and MRR@5 the sum of 1 / r over r up to min(5, P), over P.
    """
    share_R = np.array(chance_shares(sizes))
    values = 100 * share_R @ worth()
    return {name: float(values[place]) for place, name in enumerate(METRICS)}


def worth() -> NDArray[np.float64]:
    """What a query is worth with its positive at rank 1..5 or beyond: [6, metrics]."""
    ranks = range(1, DEPTH + 2)
    rows = [[rank == 1, rank <= DEPTH, 1 / rank if rank <= DEPTH else 0] for rank in ranks]
    return np.array(rows, np.float64)
