"""Whether preference follows truth, and how often each model was right, on the same items.

Owns criterion validity and Hit@1 by McNemar. Refuses items without a gold answer.
Source: Fagerland et al. 2013 (mid-p); Durkalski et al. 2003 (clusters).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom, chi2

from studies.preference.analysis.counts import FEW, LEAST_FOR_P, share, sign_test
from studies.preference.analysis.rated import DECIDED, Rated, pooled
from studies.preference.analysis.schema import Correctness, Criterion, Test
from studies.preference.analysis.tables import ItemFacts

RIGHT = {"only_a": "first", "only_b": "second"}


def criterion(rows: Sequence[Rated]) -> Criterion:
    """How often the list with the right top answer is preferred, where exactly one is right."""
    one_right = [one for one in rows if one.item.stratum in RIGHT]
    decided = [one for one in one_right if one.preferred in DECIDED]
    right = sum(one.preferred == RIGHT[one.item.stratum] for one in decided)
    return Criterion(
        right=share(right, len(decided)),
        of_all=share(right, len(one_right)),
        test=sign_test(right, len(decided) - right, note=pooled(one_right)),
    )


def correctness(items: Sequence[ItemFacts]) -> Correctness:
    """Hit@1 of both models over every sampled item with a gold answer, each once.

    Identical lists count (both are right or both wrong); practice items do not. Read or not
    makes no difference: this is about the models.
    """
    known = [one for one in items if one.kind != "warmup" and one.stratum != "unknown"]
    count = {word: sum(one.stratum == word for one in known) for word in ("both", *RIGHT)}
    both, first, second = count["both"], count["only_a"], count["only_b"]
    n = len(known)
    exact = sign_test(first, second, name="McNemar, exact")
    return Correctness(
        n=n,
        hit_first=share(both + first, n),
        hit_second=share(both + second, n),
        both=both,
        only_first=first,
        only_second=second,
        neither=n - both - first - second,
        mcnemar=exact,
        mid_p=_mid_p(first, second),
        clustered=_clustered(known),
    )


def _mid_p(first: int, second: int) -> Test:
    """The exact p without half of the probability of what was seen, both sides."""
    n, name = first + second, "McNemar, mid-p"
    if n < LEAST_FOR_P:
        return Test(name, float(first), None, None, n, note=FEW)
    low = min(first, second)
    p = 1.0 if first == second else float(2 * binom.cdf(low, n, 0.5) - binom.pmf(low, n, 0.5))
    return Test(name, float(first), None, min(1.0, p), n)


def _clustered(items: Sequence[ItemFacts]) -> Test:
    """Durkalski's statistic: the mean difference of each task, squared over its square sum."""
    name = "McNemar by task (Durkalski)"
    tasks: dict[str, list[int]] = {}
    for one in items:
        tasks.setdefault(one.task_id, []).append({"only_a": 1, "only_b": -1}.get(one.stratum, 0))
    apart = np.array([np.mean(found) for found in tasks.values()])
    n = sum(bool(found) for found in (np.any(values) for values in tasks.values()))
    bottom = float((apart**2).sum())
    if n < LEAST_FOR_P or bottom == 0:
        note = f"no p-value below {LEAST_FOR_P} tasks in which the models differ"
        return Test(name, None, None, None, n, note=note)
    statistic = float(apart.sum() ** 2 / bottom)
    return Test(name, statistic, 1.0, float(chi2.sf(statistic, 1)), n)
