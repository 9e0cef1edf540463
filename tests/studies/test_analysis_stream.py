"""The stream of the bootstrap is R's, to the last bit; the bootstrap is SciPy's and R's."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.stats import bootstrap as scipy_bootstrap

from studies.preference.analysis.bootstrap import (
    Draws,
    clusters,
    intervals,
    resampled,
    tasks_resampled,
)
from studies.preference.analysis.stream import KEPT, Replay, Stream
from tests.studies.analysis_material import how, needs_r, r, vector

# set.seed(SEED, kind = "L'Ecuyer-CMRG"); x <- runif(200003); sprintf("%a", x[PLACES]) of R 4.2.2
PLACES = (1, 2, 3, 1000, 65536, 131072, 200003)
RECORDED = {
    11: (
        "0x1.353c11af40ce6p-1",
        "0x1.1f3971e95eac9p-2",
        "0x1.c8798286e2ba2p-1",
        "0x1.3c4f7413008e6p-1",
        "0x1.d765771d0270dp-1",
        "0x1.4db2afdf212efp-3",
        "0x1.e86a400cd6541p-3",
    )
}


def test_the_numbers_are_those_recorded_from_r():
    for seed, words in RECORDED.items():
        made = Stream(seed).uniform(200_003)
        assert tuple(made[place - 1] for place in PLACES) == tuple(map(float.fromhex, words))


@needs_r
@pytest.mark.parametrize("seed", [0, 1, 20261130, 2**31 - 2])
def test_the_numbers_are_r_s_own(seed):
    places = "c(1:50, 4095:4100, 99990:100000)"
    words = r(
        f'set.seed({seed}, kind = "L\'Ecuyer-CMRG"); x <- runif(100000)[{places}];'
        'cat(sprintf("%.17g", x))'
    )
    made = Stream(seed).uniform(100_000)
    wanted = [*range(50), *range(4094, 4100), *range(99_989, 100_000)]
    assert [float(made[place]) for place in wanted] == words


@pytest.mark.parametrize("parts", [(1, 1, 7), (63, 64, 65), (5000, 1, 70_001), (0, 3)])
def test_any_cutting_gives_the_same_stream(parts):
    stream = Stream(5)
    cut = np.concatenate([stream.uniform(n) for n in parts])
    assert np.array_equal(cut, Stream(5).uniform(sum(parts)))
    stream.skip(1000)
    assert stream.uniform(3).tolist() == Stream(5).uniform(sum(parts) + 1003)[-3:].tolist()


def test_a_replay_reads_anywhere_and_beyond_what_it_keeps():
    replay, whole = Replay(9), Stream(9).uniform(5000)
    for begin, n in ((10, 20), (0, 5000), (4990, 10), (3, 0)):
        assert np.array_equal(replay.uniform(begin, n), whole[begin : begin + n])
    far = Stream(9)
    far.skip(KEPT - 2)
    assert np.array_equal(replay.uniform(KEPT - 2, 5), far.uniform(5))


def test_numbers_are_uniform_between_the_ends():
    made = Stream(3).uniform(1_000_000)
    assert made.min() > 0
    assert made.max() < 1
    assert abs(made.mean() - 0.5) < 4 / np.sqrt(12e6)
    counts = np.bincount((made * 100).astype(int), minlength=100)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 160  # chi-square, 99 degrees: 148 at 0.1 %


ROWS = [
    (f"t{task}", f"i{task}-{place}", value)
    for task, values in enumerate(
        [(1, 0, -1), (1, 1), (0, 0, 1, 1, -1), (-1,), (1, 1, 1, 0), (0, -1), (1, 0)]
    )
    for place, value in enumerate(map(float, values))
]


@needs_r
def test_r_draws_the_same_bootstrap():
    """The rule of the module's docstring, written anew in R; equal to the last digits."""
    data = clusters(ROWS)
    script = f"""
        v <- {vector(data.top)}; size <- {vector(data.size)}; draws <- 500
        start <- cumsum(size) - size; tasks <- length(size)
        set.seed(77, kind = "L'Ecuyer-CMRG")
        pick <- floor(runif(draws * tasks) * tasks) + 1
        m <- rep(size[pick], size[pick])
        item <- rep(start[pick], size[pick]) + floor(runif(length(m)) * m) + 1
        draw <- rep(rep(1:draws, each = tasks), size[pick])
        net <- tapply(v[item], draw, mean)
        cat(sprintf("%.17g", quantile(net, c(.025, .975))), sprintf("%.17g", net))
    """
    theirs = r(script)
    mine = resampled(data, how(500, 77))
    assert mine == pytest.approx(theirs[2:], abs=1e-15)
    found = intervals(ROWS, how(500, 77))[0]
    assert (found.low, found.high) == pytest.approx(theirs[:2], abs=1e-14)


def test_bca_is_scipy_s_from_the_same_draws():
    """Each item a task of its own, so that leaving tasks out is leaving items out."""
    rng = np.random.default_rng(4)
    values = rng.choice([1.0, 0.0, -1.0], size=80, p=[0.6, 0.3, 0.1])
    rows = [(f"{place:03}", "i", float(value)) for place, value in enumerate(values)]
    data, draws = clusters(rows), how(4000, 3)
    percentile, bca, of_tasks = intervals(rows, draws)
    mine = resampled(data, draws)

    class Drawn:
        bootstrap_distribution = mine
        confidence_interval = standard_error = None

    for found, method in ((percentile, "percentile"), (bca, "BCa")):
        theirs = scipy_bootstrap(
            (values,), np.mean, n_resamples=0, bootstrap_result=Drawn, method=method
        ).confidence_interval
        assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert (of_tasks.low, of_tasks.high) == (percentile.low, percentile.high)  # items are alone


def test_readings_of_one_item_stay_together():
    """Twice the readings of every item carry no more information."""
    once, twice = intervals(ROWS, how(800)), intervals([*ROWS, *ROWS], how(800))
    for a, b in zip(once, twice, strict=True):
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), abs=1e-12)
        assert (a.n, b.n) == (len(ROWS), 2 * len(ROWS))


def test_chunks_do_not_show(monkeypatch):
    whole = resampled(clusters(ROWS), how(300))
    monkeypatch.setattr("studies.preference.analysis.bootstrap.CHUNK", 100)
    assert np.array_equal(resampled(clusters(ROWS), how(300)), whole)


def test_unequal_readings_weigh_by_number():
    rows = [("a", "1", 1.0), ("a", "1", 1.0), ("a", "2", -1.0), ("b", "3", 0.0)]
    data = clusters(rows)
    assert data.value == pytest.approx(0.25)
    assert set(np.round(tasks_resampled(data, how(200)), 6)) == {0.0, 0.25, round(1 / 3, 6)}


@pytest.mark.parametrize(
    ("rows", "value", "words"),
    [
        ([], None, "nothing rated"),
        ([("t", "i", 1.0)], 1.0, "one item"),
        ([("t", str(n), 0.0) for n in range(30)], 0.0, "no spread"),
    ],
)
def test_nothing_to_draw_from_gives_no_interval(rows, value, words):
    for found in intervals(rows, how(50)):
        assert (found.value, found.low, found.high) == (value, None, None)
        assert words in found.note


def test_one_task_says_so():
    plain, bca, of_tasks = intervals([("t", str(n), float(n % 2)) for n in range(20)], how(500))
    assert plain.low < 0.5 < plain.high
    assert bca.low is not None
    assert "one task" in plain.note
    assert of_tasks.low is None


def test_ten_thousand_draws_of_530_items_are_quick():
    rows = [(f"t{n % 107}", str(n), float(n % 3 - 1)) for n in range(530)]
    began = time.process_time()
    intervals(rows, Draws(10_000, Replay(2)))
    assert time.process_time() - began < 8  # a third of a second on an idle core
