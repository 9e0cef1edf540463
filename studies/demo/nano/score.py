"""How well a nano retrieves among pairs it was not trained on. A check while training, not the
benchmark: pools of a few targets of one task, pessimistic ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from engine.packing import Pair
from engine.train import EncoderTrainee, equal_targets

POOL = 12
BATCH = 12


@dataclass(frozen=True)
class Scores:
    """Hit@1 and chance in percent, by task and by family."""

    tasks: dict[str, tuple[float, float]]
    families: dict[str, tuple[float, float]]

    @property
    def mean(self) -> float:
        """Mean over the families."""
        return sum(hit for hit, _ in self.families.values()) / max(1, len(self.families))

    def to_dict(self) -> dict[str, object]:
        """Plain values, one decimal."""
        return {
            "mean of families": round(self.mean, 1),
            "families": _plain(self.families),
            "tasks": _plain(self.tasks),
        }

    def __str__(self) -> str:
        """One line."""
        parts = [f"{name} {hit:.0f} ({chance:.0f})" for name, (hit, chance) in self.tasks.items()]
        return f"mean {self.mean:.1f}; Hit@1 (chance) {', '.join(parts)}"


def score(trainee: EncoderTrainee, pairs: Sequence[Pair]) -> Scores:
    """Rank every pair's target within pools of ``POOL`` pairs of its task."""
    trainee.module.eval()
    tasks: dict[str, tuple[float, float]] = {}
    families: dict[str, list[tuple[float, float]]] = {}
    for task in sorted({pair.task for pair in pairs}):
        mine = [pair for pair in pairs if pair.task == task]
        pools = [mine[start : start + POOL] for start in range(0, len(mine), POOL)]
        results = [_pool(trainee, pool) for pool in pools if len(pool) == POOL]
        if results:
            tasks[task] = _mean(results)
            families.setdefault(mine[0].family, []).append(tasks[task])
    return Scores(tasks, {name: _mean(families[name]) for name in sorted(families)})


def _pool(trainee: EncoderTrainee, pool: Sequence[Pair]) -> tuple[float, float]:
    with torch.inference_mode():
        query_BD = trainee.embed([pair.query for pair in pool])
        target_BD = trainee.embed([pair.target for pair in pool])
        score_BB = query_BD @ target_BD.T
    same_BB = equal_targets(pool)
    best_B1 = score_BB.masked_fill(~same_BB, -2.0).max(dim=1, keepdim=True).values
    beaten_B = ((score_BB >= best_B1) & ~same_BB).any(dim=1)
    return 100 * float((~beaten_B).float().mean()), 100 * float(same_BB.float().mean())


def _mean(results: Sequence[tuple[float, float]]) -> tuple[float, float]:
    hits, chances = zip(*results, strict=True)
    return sum(hits) / len(hits), sum(chances) / len(chances)


def _plain(scores: dict[str, tuple[float, float]]) -> dict[str, dict[str, float]]:
    return {
        name: {"hit@1": round(hit, 1), "chance": round(chance, 1)}
        for name, (hit, chance) in scores.items()
    }
