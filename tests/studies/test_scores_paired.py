"""Paired differences: the interval, the randomisation test and Holm against other programs."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from studies.holm import holm
from studies.medheb.paired import Difference, draw, mean_difference, query_values
from studies.medheb.scores import mrr_at_k


def compare_tasks(differences: dict[str, np.ndarray]) -> Difference:
    """The mean difference over tasks, from one difference per query of each, in points."""
    return mean_difference([draw(task, each) for task, each in differences.items()])


def two_models(seed, queries=150, better=0.15):
    random = np.random.default_rng(seed)
    second = random.integers(1, 9, queries)
    first = np.where(random.random(queries) < better, 1, second)
    return first, second


def test_values_are_those_of_the_scores():
    ranks, _ = two_models(0)
    assert query_values(ranks, "mrr@5").mean() == pytest.approx(100 * mrr_at_k(ranks, 5))
    assert list(query_values([1, 2, 5, 6], "hit@5")) == [100, 100, 100, 0]


def test_hits_agree_with_the_exact_mcnemar_test():
    for seed in range(4):
        first, second = two_models(seed, better=0.05)
        difference = query_values(first, "hit@1") - query_values(second, "hit@1")
        won, lost = int((difference > 0).sum()), int((difference < 0).sum())
        exact = stats.binomtest(won, won + lost).pvalue
        assert compare_tasks({"t": difference}).p == pytest.approx(exact, abs=0.01)


def test_mrr_agrees_with_scipys_permutation_test():
    first, second = two_models(7, queries=60, better=0.03)
    second = second[::-1]
    one, other = query_values(first, "mrr@5"), query_values(second, "mrr@5")
    theirs = stats.permutation_test(
        (one, other), lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples",
        n_resamples=20_000, vectorized=True, rng=np.random.default_rng(0),
    )  # fmt: skip
    ours = compare_tasks({"t": one - other})
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.02)
    assert 0.05 < ours.p < 1


def test_the_interval_agrees_with_the_plain_bootstrap():
    first, second = two_models(3, queries=400)
    difference = query_values(first, "mrr@5") - query_values(second, "mrr@5")
    ours = compare_tasks({"t": difference})
    plain = stats.bootstrap(
        (difference,), np.mean, method="percentile", n_resamples=2000, rng=np.random.default_rng(0)
    ).confidence_interval
    assert ours.value == pytest.approx(difference.mean())
    assert ours.interval == pytest.approx((plain.low, plain.high), abs=0.7)
    assert ours.p < 0.001


def test_equal_models_differ_in_nothing_and_prove_nothing():
    same = compare_tasks({"t": np.zeros(20)})
    assert (same.value, same.p) == (0, 1)
    low, high = same.interval
    assert low < 0 < high, "twenty equal answers are no proof"


def test_the_interval_of_a_mean_over_many_small_tasks_is_not_pulled_to_zero():
    """Forty points apart by truth: inside about 19 times in 20, and not always beyond one end."""
    random, sizes = np.random.default_rng(3), [6 + place % 9 for place in range(60)]
    covered = below = 0
    for _ in range(100):
        found = {
            str(n): 100 * random.choice([1.0, 0.0, -1.0], size, p=[0.55, 0.3, 0.15])
            for n, size in enumerate(sizes)
        }
        low, high = compare_tasks(found).interval
        covered += low <= 40 <= high
        below += high < 40
    assert covered >= 90
    assert below <= 7


def test_a_family_is_a_mean_over_tasks_not_over_queries():
    found = compare_tasks({"a": np.full(10, 100.0), "b": np.zeros(1000)})
    assert found.value == 50
    assert (found.tasks, found.queries) == (2, 1010)


def test_p_is_uniform_where_nothing_differs():
    random = np.random.default_rng(5)
    found = []
    for trial in range(300):
        one, other = random.integers(1, 9, (2, 80))
        found.append(
            compare_tasks({str(trial): query_values(one, "mrr@5") - query_values(other, "mrr@5")}).p
        )
    assert stats.kstest(found, "uniform").pvalue > 0.01
    assert np.mean(np.array(found) < 0.05) < 0.09


def test_holm_equals_statsmodels():
    random = np.random.default_rng(6)
    for count in (1, 2, 8, 107):
        p = random.random(count) ** 3
        assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)
    assert holm([]) == ()
