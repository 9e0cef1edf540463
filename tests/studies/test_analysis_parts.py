"""Heterogeneity, validity, correctness, fatigue, blinding, missing answers, usefulness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.tools.numdiff import approx_fprime

from studies.preference.analysis.analyse import analyse
from studies.preference.analysis.blinding import bang, blinding, james
from studies.preference.analysis.blocks import block
from studies.preference.analysis.clustering import clustering, effect_of
from studies.preference.analysis.counts import holm, sign_test
from studies.preference.analysis.fatigue import fatigue
from studies.preference.analysis.heterogeneity import heterogeneity_of
from studies.preference.analysis.missing import flow, missing
from studies.preference.analysis.rated import rated
from studies.preference.analysis.readers import READERS
from studies.preference.analysis.simulate import World, simulated
from studies.preference.analysis.stream import Replay
from studies.preference.analysis.tables import Guess
from studies.preference.analysis.usefulness import usefulness
from studies.preference.analysis.validity import correctness, criterion
from tests.studies.analysis_material import how, item, needs_r, r, row, study, vector

# --- heterogeneity


def test_one_chi_square_over_the_groups():
    counts = np.array([[40, 20, 30], [25, 30, 20], [0, 0, 0], [30, 25, 45]])
    found = heterogeneity_of(counts, Replay(1))
    theirs = chi2_contingency(counts[[0, 1, 3]])
    assert (found.statistic, found.df, found.p) == pytest.approx(
        (theirs.statistic, theirs.dof, theirs.pvalue)
    )
    assert found.note == ""


def test_a_word_that_nobody_gave_costs_no_degree_of_freedom():
    assert heterogeneity_of(np.array([[40, 20, 0], [25, 30, 0]]), Replay(1)).df == 1


@needs_r
def test_sparse_groups_are_permuted_as_r_simulates_them():
    counts = np.array([[3, 1, 0], [0, 4, 1], [1, 0, 3], [2, 1, 1], [0, 3, 0]])
    found = heterogeneity_of(counts, Replay(1))
    cells = vector(counts.T.reshape(-1))
    (theirs,) = r(f"""
        set.seed(3); x <- matrix({cells}, ncol = 3)
        cat(chisq.test(x, simulate.p.value = TRUE, B = 200000)$p.value)
    """)
    assert "permutations" in found.note
    assert found.p == pytest.approx(theirs, abs=4 * (theirs / 10_000) ** 0.5)


@pytest.mark.parametrize(
    ("counts", "words"),
    [([[3, 1, 1], [1, 2, 0]], "below 10"), ([[9, 0, 0], [7, 0, 0]], "every rating the same")],
)
def test_too_little_to_compare_says_so(counts, words):
    found = heterogeneity_of(np.array(counts), Replay(1))
    assert (found.p, words in found.note) == (None, True)


def test_one_group_has_no_test():
    assert heterogeneity_of(np.array([[9, 3, 1], [0, 0, 0]]), Replay(1)) is None


def test_holm_within_one_table():
    found = analyse(simulated(World(tasks=20), [READERS["unbiased"]], 3), draws=20)
    (strata,) = [t for t in found.pairs[0].tables if t.group == "stratum"]
    known = [one.sign.p for one in strata.blocks]
    assert [one.sign.p_holm for one in strata.blocks] == pytest.approx(
        multipletests(known, method="holm")[1]
    )
    assert sum(one.n for one in strata.blocks) == found.pairs[0].overall.n
    assert [one.name for one in strata.blocks] == ["both", "only_a", "only_b", "neither"]
    assert found.pairs[0].overall.sign.p_holm is None


@pytest.mark.parametrize("seed", range(6))
def test_holm_is_statsmodels_with_ties_and_with_blocks_without_a_p(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 25, size=(int(rng.integers(1, 9)), 2))
    made = [
        replace(blank(), sign=sign_test(int(a), int(b))) for a, b in [*counts, counts[0], (3, 4)]
    ]
    found = [one.sign.p_holm for one in holm(made)]
    known = [one.sign.p for one in made if one.sign.p is not None]
    theirs = iter(multipletests(known, method="holm")[1] if known else [])
    assert found == [pytest.approx(next(theirs)) if o.sign.p is not None else None for o in made]


def blank():
    return block("all", "all", "All", [], how(10))


# --- validity and correctness


def test_criterion_validity_counts_where_exactly_one_is_right():
    items = [item(n, stratum=s) for n, s in enumerate(["only_a"] * 14 + ["only_b"] * 8 + ["both"])]
    words = (
        ["first"] * 9
        + ["second"] * 2
        + ["both"] * 3
        + ["second"] * 5
        + ["first", "both", "neither"]
    )
    found = criterion(
        rated(study(items, [row(i, w) for i, w in zip(items, [*words, "first"], strict=True)]))
    )
    assert (found.right.count, found.right.n, found.of_all.n) == (14, 17, 22)
    assert found.test.p == pytest.approx(0.0127, abs=5e-4)


def cells(both: int, first: int, second: int, neither: int):
    words = ["both"] * both + ["only_a"] * first + ["only_b"] * second + ["neither"] * neither
    return [item(n, stratum=word, task_id=f"t{n % 30}") for n, word in enumerate(words)]


def test_hit_at_one_by_mcnemar():
    found = correctness([*cells(200, 80, 50, 150), item(900, kind="warmup", stratum="only_a")])
    assert (found.n, found.hit_first.count, found.hit_second.count) == (480, 280, 250)
    theirs = mcnemar([[200, 80], [50, 150]], exact=True)
    assert found.mcnemar.p == pytest.approx(theirs.pvalue)
    assert found.mid_p.p < found.mcnemar.p


def test_mid_p_of_the_published_example():
    """Fagerland, Lydersen and Laake 2013, airway hyper-responsiveness: 7 against 1 of 21 pairs.

    Below ten discordant pairs no p is given here, so the example is checked ten times over.
    """
    assert correctness(cells(1, 7, 1, 12)).mid_p.p is None
    found = correctness(cells(10, 14, 2, 24))
    n, k = 16, 2
    exact = sum(_choose(n, i) for i in range(k + 1)) / 2**n * 2
    assert found.mcnemar.p == pytest.approx(exact)
    assert found.mid_p.p == pytest.approx(exact - _choose(n, k) / 2**n)
    assert correctness(cells(0, 8, 8, 0)).mid_p.p == 1


def _choose(n: int, k: int) -> int:
    return 1 if k == 0 else _choose(n, k - 1) * (n - k + 1) // k


def test_items_without_gold_and_nothing_at_all_have_no_correctness():
    for items in ([], [item(n) for n in range(20)]):
        found = correctness(items)
        assert (found.n, found.hit_first.share, found.mcnemar.p, found.mid_p.p) == (
            0,
            None,
            None,
            None,
        )
        assert found.clustered.p is None


def test_mcnemar_by_task_knows_of_tasks():
    """The same cells: spread over tasks they count; all of one kind in few tasks they do not."""
    loose = correctness(cells(200, 80, 50, 150)).clustered
    apart = [replace(one, task_id=f"t{n // 10}") for n, one in enumerate(cells(200, 80, 50, 150))]
    assert loose.p < 0.05 < correctness(apart).clustered.p
    assert loose.n == 30


# --- fatigue


@pytest.fixture(scope="module")
def two_readers():
    return simulated(World(items=160, tasks=40), [READERS["tiring"], READERS["unbiased"]], 8)


def columns(rows) -> dict[str, list[float]]:
    """The regression's columns anew, from the rows."""
    ends = {
        name: [o.row.position for o in rows if o.row.rater == name]
        for name in {o.row.rater for o in rows}
    }
    return {
        "x": [
            (o.row.position - min(ends[o.row.rater]))
            / (max(ends[o.row.rater]) - min(ends[o.row.rater]))
            for o in rows
        ],
        "tie": [float(o.word == "tie") for o in rows],
        "ms": [float(o.row.answer_ms) for o in rows],
        "form": [float(("2d", "3d", "text").index(o.item.form)) for o in rows],
        "rater": [float(o.row.rater == "unbiased") for o in rows],
    }


@needs_r
def test_trends_are_r_s(two_readers):
    rows = rated(two_readers)
    given = ";".join(f"{name} <- {vector(values)}" for name, values in columns(rows).items())
    theirs = r(f"""
        {given}
        ties <- glm(tie ~ x + factor(form) + rater, binomial, epsilon = 1e-12)
        without <- glm(tie ~ factor(form) + rater, binomial, epsilon = 1e-12)
        times <- lm(log(ms) ~ x + factor(form) + rater)
        cat(sprintf("%.12g", c(exp(coef(ties)["x"]), exp(confint.default(ties)["x", ]),
            deviance(without) - deviance(ties), exp(coef(times)["x"]), exp(confint(times)["x", ]),
            summary(times)$coefficients["x", 3:4])))
    """)
    found = fatigue(rows)
    mine = [found.tie_trend.value, found.tie_trend.low, found.tie_trend.high]
    mine += [found.tie_test.statistic]
    mine += [found.time_trend.value, found.time_trend.low, found.time_trend.high]
    mine += [found.time_test.statistic, found.time_test.p]
    assert mine == pytest.approx(theirs, rel=1e-6)


def test_windows_are_tenths_of_the_order(two_readers):
    found = fatigue(rated(two_readers))
    assert len(found.windows) == 10
    assert found.windows[0].start == 1
    last = max(one.position for one in two_readers.presented)
    assert found.windows[-1].end in (last, last - 1)  # the very last place may be a repeat
    for before, after in zip(found.windows, found.windows[1:], strict=False):
        assert after.start == before.end + 1
    assert sum(w.n for w in found.windows) == 320
    assert all(w.tie.n == w.n for w in found.windows)


def test_no_window_is_of_practice_alone(two_readers):
    from dataclasses import replace

    rows = [replace(one, row=replace(one.row, position=one.row.position + 30))
            for one in rated(two_readers)]  # fmt: skip
    windows = fatigue(rows).windows
    assert windows[0].start == 31
    assert all(window.n for window in windows)


def test_a_trend_that_cannot_be_told_says_why():
    def trends(words, times=None):
        items = [item(n) for n in range(len(words))]
        spent = times or [1000] * len(words)
        return fatigue(
            rated(
                study(
                    items,
                    [
                        row(i, w, place=n + 1, answer_ms=ms)
                        for n, (i, w, ms) in enumerate(zip(items, words, spent, strict=True))
                    ],
                )
            )
        )

    none = trends([])
    assert (none.windows, none.tie_trend.value, none.time_trend.value) == ((), None, None)
    same = trends(["both"] * 20)
    assert "never varies" in same.tie_trend.note
    assert "every time the same" in same.time_trend.note
    apart = trends(["first"] * 10 + ["both"] * 10, list(range(100, 120)))
    assert "separated" in apart.tie_trend.note
    assert apart.time_trend.value > 1
    few = trends(["first", "both", "first", "neither", "both"], [900, 700, 800, 500, 600])
    assert (few.tie_trend.value is not None, few.tie_test.p, few.time_test.p) == (True, None, None)
    assert [w.n for w in few.windows] == [1] * 5


# --- blinding


@pytest.mark.parametrize(
    ("table", "value"),
    [
        ([[20, 0, 0], [0, 20, 0]], 0.0),
        ([[0, 20, 0], [20, 0, 0]], 1.0),
        ([[10, 10, 0], [10, 10, 0]], 0.5),
        ([[0, 0, 20], [0, 0, 20]], 1.0),
        ([[0, 0, 0], [0, 0, 0]], None),
    ],
)
def test_james_at_its_marks(table, value):
    found = james(np.array(table))
    assert found.value == value
    assert value is None or (found.low is None) == (value != 0.5)


def index_of(p: np.ndarray) -> float:
    """James's index as it is published: kappa-like, with 0.5 for a wrong and 1 for no guess."""
    p = p.reshape(2, 3)
    known = 1 - p[:, 2].sum()
    observed = 0.5 * (p[0, 1] + p[1, 0]) / known
    rows = p.sum(axis=1) - p[:, 2]
    expected = 0.5 * (p[:, 1].sum() * rows[0] + p[:, 0].sum() * rows[1]) / known**2
    return (1 + (1 - known) + known * (observed - expected) / expected) / 2


def test_james_and_its_error_are_the_published_formula_s():
    """Answers of the trial in Bang et al. 2004; the error by differentiating the formula itself."""
    table = np.array([[82, 25, 170], [27, 29, 83]])
    p = (table / table.sum()).reshape(-1)
    slope = approx_fprime(p, index_of, centered=True)
    error = np.sqrt(((p * slope**2).sum() - (p @ slope) ** 2) / table.sum())
    found = james(table)
    assert found.value == pytest.approx(index_of(p), abs=1e-12)
    assert (found.high - found.low) / (2 * 1.959964) == pytest.approx(error, rel=1e-5)


def test_bang_by_arm():
    """The same trial: 0.21 in the treated, 0.01 in the others, as published."""
    treated, others = bang(82, 25, 170), bang(29, 27, 83)
    assert (round(treated.value, 2), round(others.value, 2)) == (0.21, 0.01)
    draws = np.random.default_rng(1).multinomial(277, np.array([82, 25, 170]) / 277, 20_000)
    spread = ((draws[:, 0] - draws[:, 1]) / 277).std()
    assert (treated.high - treated.low) / (2 * 1.959964) == pytest.approx(spread, rel=0.02)
    assert (bang(9, 0, 0).value, bang(9, 0, 0).low, bang(0, 9, 0).value) == (1.0, None, -1.0)
    assert bang(0, 0, 0).value is None


def test_guesses_are_counted_by_the_side_of_the_tested_model():
    items = [item(0, left="A"), item(1, left="B"), item(2, first="B", second="C", left="B")]
    told = [
        ("i0000", "A", "left"),
        ("i0001", "B", "left"),
        ("i0001", "B", "unsure"),
        ("i0002", "B", "left"),
    ]
    guesses = tuple(Guess("r", *one) for one in told)
    found = blinding(study(items, [], models="ABC", guesses=guesses))
    assert found.counts == {"A left": (1, 0, 0), "A right": (0, 1, 1)}
    assert found.n == 3  # the pair without the tested model cannot be guessed
    assert blinding(study(items, [], guesses=guesses), rater="x") is None
    assert blinding(study(items, [])) is None


# --- missing answers, usefulness, clustering


def test_first_answers_alone_are_told_for_each_pair():
    pairs = (("A", "B"), ("A", "C"), ("B", "C"))
    items = [item(n, first=pairs[n % 3][0], second=pairs[n % 3][1]) for n in range(12)]
    early = ("first", "second", "both")
    rows = [row(one, "first", first_preferred=early[n % 3]) for n, one in enumerate(items)]
    found = analyse(study(items, rows, models="ABC"), draws=20).pairs
    told = [(p.first_answers.first.count, p.first_answers.second.count, p.first_answers.tie.count)
            for p in found]  # fmt: skip
    assert told == [(4, 0, 0), (0, 4, 0), (0, 0, 4)]
    assert [pair.overall.first.count for pair in found] == [4, 4, 4]


def test_missing_and_changed_answers():
    items = [item(n) for n in range(6)] + [item(6, kind="warmup"), item(7, kind="auto_tie")]
    rows = [
        row(items[0], "first", revisions=2, first_preferred="second"),
        row(items[1], "both"),
        row(items[2], "cannot", reason="too dark", first_preferred="first"),
        row(items[3], ""),
        row(items[4], "", first_preferred="neither", revisions=1),
        row(items[5], "second"),
        row(items[5], "second", kind="repeat", left="B"),
        row(items[6], "first", kind="warmup"),
        row(items[7], "auto_tie", kind="auto_tie", left=""),
    ]
    tables = study(items, rows)
    found = missing(tables)
    assert (found.places, found.unanswered, found.changed) == (7, 2, 2)
    assert found.cannot == {"too dark": 1}
    first = analyse(tables, draws=20).pairs[0].first_answers
    assert (first.n, first.first.count, first.second.count, first.tie.count) == (5, 1, 2, 2)
    assert flow(tables) == {
        "sampled": 7,
        "auto_ties": 1,
        "shown": 6,
        "answered": 4,
        "flagged": 1,
        "analysed": 3,
        "repeats": 1,
    }
    whole = analyse(tables, draws=20).pairs[0]
    assert (whole.overall.n, whole.with_auto_ties.n, whole.with_auto_ties.auto_tie.count) == (
        3,
        4,
        1,
    )
    assert analyse(tables, rater="nobody", draws=20).missing.places == 0


def test_usefulness_belongs_to_the_model_on_that_side():
    items = [item(0, left="A"), item(1, left="B"), item(2, left="A")]
    grades = [{"left1": 2, "left2": 1, "right1": 0}, {"left1": 1, "right3": 2}, {}]
    rows = [row(i, "first", usefulness=g) for i, g in zip(items, grades, strict=True)]
    found = usefulness(rated(study(items, rows)), ("A", "B"), how())
    assert (found["A"].value, found["A"].n) == (pytest.approx(5 / 3), 3)
    assert (found["B"].value, found["B"].n, found["B"].unit) == (0.5, 2, "candidates")
    assert usefulness(rated(study(items, rows[2:])), ("A", "B"), how()) == {}


@pytest.mark.parametrize(("icc", "effective"), [(0.02, 491), (0.05, 443), (0.10, 380), (0.20, 296)])
def test_effective_numbers_of_the_plan(icc, effective):
    assert 530 / effect_of(icc, 530 / 107) == pytest.approx(effective, abs=0.6)


def test_likeness_within_tasks_is_the_analysis_of_variance():
    """statsmodels' mixed model agrees where tasks are equally large and differ."""
    import statsmodels.api as sm

    tables = simulated(World(items=500, tasks=50, task_sd=1.0), [READERS["unbiased"]], 2)
    rows = rated(tables)
    found = clustering(rows)
    mixed = sm.MixedLM(
        np.array([float(o.sign) for o in rows]),
        np.ones((len(rows), 1)),
        groups=np.array([o.item.task_id for o in rows]),
    ).fit()
    between = float(mixed.cov_re[0, 0])
    assert found.icc == pytest.approx(between / (between + mixed.scale), abs=0.005)
    assert found.mean_size == pytest.approx(10)
    assert found.effective_n == pytest.approx(500 / (1 + 9 * found.icc))


def test_the_design_effect_of_unequal_tasks_is_that_of_the_variance_of_a_mean():
    """One task of 12 items, six of 2; of the first all prefer the second model."""
    task = np.repeat(np.arange(7), [12, *[2] * 6])
    items = [item(n, task_id=f"t{one}") for n, one in enumerate(task)]
    words = ["first" if one.task_id != "t0" else "second" for one in items]
    words[:3], words[-1] = ["first"] * 3, "second"
    rows = [row(one, word, place=n) for n, (one, word) in enumerate(zip(items, words, strict=True))]
    found = clustering(rated(study(items, rows)))
    alike = np.where(task[:, None] == task, found.icc, 0.0)
    np.fill_diagonal(alike, 1.0)
    assert found.design_effect == pytest.approx(alike.sum() / 24)
    assert found.mean_size == pytest.approx((144 + 6 * 4) / 24)
