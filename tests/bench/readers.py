"""How often simulated readers are flagged and intervals cover: ``python -m tests.bench.readers``.

For each reader ``--studies`` studies of 530 items over 107 tasks that truly differ: the share of
studies in which each check of the panel says "biased" at 5 %, and the share of 95 % intervals of
the net preference that hold the true value over endless tasks (two stages: tasks, then items;
its BCa; tasks alone), with the binomial error of the last digit. Also times one whole analysis.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np

from studies.preference.analysis.agreement import repeats
from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.bias import length_bias, lookalike_bias
from studies.preference.analysis.blinding import blinding
from studies.preference.analysis.bootstrap import Draws, intervals
from studies.preference.analysis.davidson import davidson
from studies.preference.analysis.fatigue import fatigue
from studies.preference.analysis.rated import Rated, rated
from studies.preference.analysis.readers import READERS, Reader
from studies.preference.analysis.schema import Blinding, Estimate, Test
from studies.preference.analysis.side import side_bias
from studies.preference.analysis.simulate import World, simulated
from studies.preference.analysis.stream import Replay
from studies.preference.analysis.validity import criterion

FIRST = 100_000  # seed of the first study
COVER = ("covered", "BCa", "tasks only")  # no one true value for a reader who changes on the way


def flagged(test: Test) -> bool:
    """Significant at 5 %."""
    return test.p is not None and test.p < 0.05


def seen_through(found: Blinding) -> bool:
    """Bang's interval of an arm lies above chance (two arms at 2.5 %, one-sided)."""
    return any(
        (one.low if one.low is not None else one.value or 0) > 0 for one in found.bang.values()
    )


def holds(found: Estimate, truth: float) -> bool:
    """The interval covers the true value."""
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def checks(world: World, reader: Reader, seed: int, draws: int, truth: float) -> dict[str, float]:
    """What one study says."""
    tables = simulated(world, [reader], seed)
    rows = rated(tables)
    tired, guesses, words = fatigue(rows), blinding(tables), length_bias(rows)
    assert guesses is not None
    kappa = repeats(tables)[0].agreement.kappa
    two, bca, tasks = intervals(net_rows(rows), Draws(draws, Replay(seed)))
    return {
        "side": flagged(side_bias(rows).sign),
        "order term": flagged(davidson(rows, ("A", "B")).order_test),
        "ties": flagged(tired.tie_test),
        "times": flagged(tired.time_test),
        "length": flagged(words.slope_test),
        "longer": flagged(words.sign),
        "look-alike": flagged(lookalike_bias(rows).sign),
        "blind": seen_through(guesses),
        "preference": flagged(tired.preference_test),
        "right of decided": criterion(rows).right.share or 0.0,
        "kappa": kappa.value or 0.0,
        "least kappa": kappa.low or 0.0,
        "net": two.value or 0.0,
        "covered": holds(two, truth),
        "BCa": holds(bca, truth),
        "tasks only": holds(tasks, truth),
    }


def net_rows(rows: Sequence[Rated]) -> list[tuple[str, str, float]]:
    """What the bootstrap takes."""
    return [(one.item.task_id, one.item.item_id, float(one.sign)) for one in rows]


def rates(world: World, reader: Reader, studies: int, draws: int) -> dict[str, float]:
    """Means over many studies."""
    truth = world.net(reader)
    found = [checks(world, reader, FIRST + seed, draws, truth) for seed in range(studies)]
    means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    kept = [name for name in means if not (reader.tiring and name in COVER)]
    return {name: means[name] for name in kept}


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("--studies", type=int, default=200)
    wanted.add_argument("--draws", type=int, default=1000)
    wanted.add_argument("--only", nargs="*", default=list(READERS))
    chosen = wanted.parse_args()
    tables = simulated(World(), [READERS["unbiased"]], 0)
    analyse(tables, draws=10)
    began = time.perf_counter()
    analyse(tables)
    sys.stdout.write(f"one analysis, 10,000 draws: {time.perf_counter() - began:.2f} s\n")
    for task_sd in (0.0, 0.4):
        for reader in map(READERS.__getitem__, chosen.only):
            world = World(task_sd=task_sd, guess_items=40)
            found = rates(world, reader, chosen.studies, chosen.draws)
            told = "  ".join(f"{name} {value:.3f}" for name, value in found.items())
            sys.stdout.write(f"tasks differ by {task_sd}  {reader.name:12} {told}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
