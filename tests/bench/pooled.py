"""How often the mean of raters covers the truth about all raters: ``python -m tests.bench.pooled``.

Simulated studies of 530 items over 107 tasks that differ, read by two, three and five raters whose
taste for the tested model scatters by ``lean`` (in the units of a list's worth). The truth is that
of endless raters, tasks and items. Beside the interval in use stand that with degrees of freedom
after Hillis 2007 and that of the bootstrap of tasks then items, which knows of no other raters.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import t as student

from studies.preference.analysis.bootstrap import Draws, intervals
from studies.preference.analysis.crossing import Parts, across_raters, parts_of
from studies.preference.analysis.rated import Rated, rated
from studies.preference.analysis.readers import Reader
from studies.preference.analysis.schema import Estimate
from studies.preference.analysis.simulate import World, simulated
from studies.preference.analysis.stream import Replay

FIRST = 500_000  # seed of the first study
PLAIN = Reader("reader")


def truth(world: World, lean: float) -> tuple[float, float]:
    """Mean net preference and mean share among the decided over endless raters."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    found = np.array([world.chances(replace(PLAIN, lean=float(lean * x))) for x in points])
    weights = weights / weights.sum()
    net = weights @ (found[:, 0] - found[:, 1])
    return float(net), float(weights @ (found[:, 0] / found.sum(axis=1)))


def study(world: World, raters: int, lean: float, seed: int) -> tuple[Rated, ...]:
    """The judged rows of one study, read by raters drawn anew."""
    drawn = lean * np.random.default_rng([seed, 77]).standard_normal(raters)
    readers = [replace(PLAIN, name=f"R{n}", lean=float(one)) for n, one in enumerate(drawn, 1)]
    return rated(simulated(world, readers, seed))


def holds(found: Estimate, true: float) -> bool:
    """The interval covers the true value."""
    return found.low is not None and found.high is not None and found.low <= true <= found.high


def hillis(parts: Parts) -> float:
    """Half the width of the interval with one number of degrees of freedom."""
    of_raters = max(1e-300, parts.scatter**2 / (parts.raters - 1))
    df = min(1e9, parts.variance**2 / of_raters)  # without scatter: normal
    return float(student.ppf(0.975, df) * np.sqrt(parts.variance))


def checked(rows: Sequence[Rated], true: tuple[float, float], draws: int) -> list[bool]:
    """Whether net, share among the decided, Hillis's net and the bootstrap's hold the truth."""
    found = across_raters(rows)
    parts = parts_of(rows, [float(one.sign) for one in rows])
    assert found is not None
    assert parts is not None
    values = [(one.item.task_id, one.item.item_id, float(one.sign)) for one in rows]
    boot, *_ = intervals(values, Draws(draws, Replay(1)))
    return [
        holds(found.net, true[0]),
        holds(found.decided, true[1]),
        abs(parts.value - true[0]) <= hillis(parts),
        holds(boot, true[0]),
    ]


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("--studies", type=int, default=300)
    wanted.add_argument("--draws", type=int, default=500)
    chosen = wanted.parse_args()
    world = World(repeat_share=0.0, guess_items=0)
    for raters in (2, 3, 5):
        for lean in (0.0, 0.1, 0.3):
            true = truth(world, lean)
            rows = (study(world, raters, lean, FIRST + n) for n in range(chosen.studies))
            held = np.mean([checked(one, true, chosen.draws) for one in rows], axis=0)
            names = ("net", "decided", "Hillis", "bootstrap")
            told = "  ".join(f"{n} {v:.3f}" for n, v in zip(names, held, strict=True))
            sys.stdout.write(f"{raters} raters, lean {lean}:  {told}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
