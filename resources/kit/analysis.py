"""Recomputes every number of summary.json from the CSV files of this folder, and compares.

Usage: python analysis.py [folder]

Needs numpy, scipy, pandas and statsmodels. It shares no code with the program that wrote the
files: shares come from statsmodels, tests from their distributions, Davidson's model and the
trends from Newton's method, the index of James by complex steps. Every interval of the bootstrap
begins at the first number of one stream, which is R's
    set.seed(seed, kind = "L'Ecuyer-CMRG"); runif(n)
so that the same numbers come out here, in analysis.R and in the program.

Writes numbers_python.csv beside numbers.csv and ends with 1 if a number differs by more than
1e-9 (1e-6 for fitted models), measured against the larger of 1 and the number.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import optimize, stats
from statsmodels.stats.proportion import proportion_confint

FITTED = ("davidson", "trend", "slope", "_test")
Z = stats.norm.ppf(0.975)
REACH = Z + stats.norm.ppf(0.8)  # what 80 % power finds, in standard errors
WORDS = ["first", "second", "tie"]
STRATA = ["both", "only_a", "only_b", "neither", "unknown"]
FORMS = ["2d", "3d", "text"]
ORDERS = {
    "stratum": STRATA,
    "family": [],
    "form": FORMS,
    "split": ["id", "held-out"],
    "anatomy": [],
    "difficulty": ["easy", "moderate", "hard", "very_hard"],
    "overlap": ["none", "some", "near_duplicate", "same_set", "identical"],
    "stratum_form": [f"{stratum}:{form}" for stratum in STRATA for form in FORMS],
    "task": [],
    "rater": [],
}
PERMUTATIONS = 10_000
numbers: dict[str, float | None] = {}


def put(name, **values):
    """Keep numbers under a name."""
    for key, value in values.items():
        numbers[f"{name}/{key}" if name else key] = None if value is None else float(value)


# -- the stream -----------------------------------------------------------------------------------

M1, M2 = 2**32 - 209, 2**32 - 22853


def scrambled(seed):
    """Six words of state as R's set.seed makes them."""
    words, value = [], seed % (2**31 - 1)
    for _ in range(50):
        value = (69069 * value + 1) % 2**32
    while len(words) < 6:
        value = (69069 * value + 1) % 2**32
        while value >= M2:
            value = (69069 * value + 1) % 2**32
        words.append(value)
    return words


def times(left, right, modulus):
    """Product of two 3 x 3 matrices of whole numbers."""
    return [
        [sum(left[i][k] * right[k][j] for k in range(3)) % modulus for j in range(3)]
        for i in range(3)
    ]


def lanes(state, step, modulus, each, count):
    """States that lie ``each`` steps apart, as columns of an array [3, count]."""
    jump, power, left = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], step, each
    while left:
        jump = times(jump, power, modulus) if left % 2 else jump
        power, left = times(power, power, modulus), left // 2
    found = [state]
    for _ in range(count - 1):
        found.append(
            [sum(a * b for a, b in zip(row, found[-1], strict=True)) % modulus for row in jump]
        )
    return np.array(found, dtype=np.int64).T


def stream(seed, n):
    """The first n uniform numbers of MRG32k3a (L'Ecuyer 1999)."""
    words = scrambled(seed)
    count = max(1, min(4096, n // 256))
    each = -(-n // count)
    x = list(lanes(words[:3], [[0, 1, 0], [0, 0, 1], [-810728, 1403580, 0]], M1, each, count))
    y = list(lanes(words[3:], [[0, 1, 0], [0, 0, 1], [-1370589, 0, 527612]], M2, each, count))
    out = np.empty((each, count))
    for place in range(each):
        x = [x[1], x[2], (1403580 * x[1] - 810728 * x[0]) % M1]
        y = [y[1], y[2], (527612 * y[2] - 1370589 * y[0]) % M2]
        apart = x[2] - y[2]
        out[place] = np.where(apart <= 0, apart + M1, apart) * 2.328306549295727688e-10
    return out.T.ravel()[:n]


class Uniform:
    """The stream from its beginning, made once and made longer when needed."""

    def __init__(self, seed):
        self.seed, self.held = seed, np.empty(0)

    def first(self, n):
        """The first n numbers."""
        if n > len(self.held):
            self.held = stream(self.seed, int(n * 1.2) + 1024)
        return self.held[:n]


# -- plain counting -------------------------------------------------------------------------------


def share(name, count, n):
    """Count, n, share, Wilson interval."""
    if n == 0:
        return put(name, count=count, n=0, share=None, low=None, high=None)
    low, high = proportion_confint(count, n, method="wilson")
    return put(name, count=count, n=n, share=count / n, low=low, high=high)


def keep_test(name, statistic, df, p, n, p_holm=None):
    """A test; p is None below ten."""
    put(name, statistic=statistic, df=df, p=p, n=n, p_holm=p_holm)


def sign_p(first, second):
    """Exact two-sided sign test; None below ten."""
    n, low = first + second, min(first, second)
    return None if n < 10 else min(1.0, 2 * stats.binom.cdf(low, n, 0.5))


def sign_test(name, first, second, p_holm=None):
    """The sign test with its statistic, how often the first."""
    keep_test(name, first, None, sign_p(first, second), first + second, p_holm)


def estimate(name, value, low, high, n):
    """A number with interval and n."""
    put(name, value=value, low=low, high=high, n=n)


def holm(ps):
    """Holm's adjustment of those that are there."""
    known = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    adjusted, highest = [None] * len(ps), 0.0
    for rank, (p, place) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        adjusted[place] = highest
    return adjusted


# -- bootstrap: tasks, then the items drawn in them -----------------------------------------------


def bootstrap(names, tasks, items, values, how):
    """Percentile, BCa and tasks-only interval of the mean of the values.

    ``draws * T`` numbers choose the tasks of all draws; then, draw by draw and task by task as
    drawn, one number for each item of the task chooses an item. Tasks and items stand sorted.
    """
    plain, bca, whole = names
    n = len(values)
    if n == 0:
        for name in names:
            if name:
                estimate(name, None, None, None, 0)
        return
    data = pd.DataFrame({"task": tasks, "item": items, "value": np.asarray(values, float)})
    held = data.groupby(["task", "item"], sort=True)["value"].agg(["sum", "count"])
    top, bottom = held["sum"].to_numpy(), held["count"].to_numpy(float)
    sizes = held.groupby(level=0, sort=True).size().to_numpy()
    value = top.sum() / bottom.sum()
    ratio = top / bottom
    if ratio.max() == ratio.min():
        for name in names:
            if name:
                estimate(name, value, None, None, n)
        return
    found = two_stages(top, bottom, sizes, how)
    estimate(plain, value, *np.quantile(found, [0.025, 0.975]), n)
    if bca:
        estimate(bca, value, *bca_interval(found, value, top, bottom, sizes), n)
        estimate(whole, value, *tasks_only(top, bottom, sizes, how), n)


def two_stages(top, bottom, sizes, how):
    """The ratio in every draw."""
    draws, uniform = how
    count, begin = len(sizes), np.concatenate([[0], np.cumsum(sizes)])
    picks = np.floor(uniform.first(draws * count) * count).astype(int).reshape(draws, count)
    needed = draws * count + int(sizes[picks].sum())
    numbers, place = uniform.first(needed), draws * count
    found = np.empty(draws)
    for draw, tasks in enumerate(picks):
        m = np.repeat(sizes[tasks], sizes[tasks])
        chosen = np.floor(numbers[place : place + len(m)] * m).astype(int)
        chosen += np.repeat(begin[tasks], sizes[tasks])
        place += len(m)
        found[draw] = top[chosen].sum() / bottom[chosen].sum()
    return found


def tasks_only(top, bottom, sizes, how):
    """Percentile interval when whole tasks are drawn."""
    draws, uniform = how
    count = len(sizes)
    if count == 1:
        return None, None
    task = np.repeat(np.arange(count), sizes)
    tops, bottoms = np.bincount(task, top), np.bincount(task, bottom)
    picks = np.floor(uniform.first(draws * count) * count).astype(int).reshape(draws, count)
    found = tops[picks].sum(axis=1) / bottoms[picks].sum(axis=1)
    return (None, None) if found.max() == found.min() else np.quantile(found, [0.025, 0.975])


def bca_interval(found, value, top, bottom, sizes):
    """Efron's interval; the acceleration leaves out one task at a time (one item of one task)."""
    below = (np.mean(found < value) + np.mean(found <= value)) / 2
    if not 0 < below < 1:
        return None, None
    if len(sizes) > 1:
        task = np.repeat(np.arange(len(sizes)), sizes)
        top, bottom = np.bincount(task, top), np.bincount(task, bottom)
    without = np.array(
        [np.delete(top, k).sum() / np.delete(bottom, k).sum() for k in range(len(top))]
    )
    away = without.mean() - without
    bend = 0.0 if not away.any() else (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    shift = stats.norm.ppf(below)
    z = shift + stats.norm.ppf([0.025, 0.975])
    return np.quantile(found, stats.norm.cdf(shift + z / (1 - bend * z)))


# -- one group of ratings -------------------------------------------------------------------------


def block(name, rows, how, p_holm=None):
    """Everything that is said of one group."""
    n, count = len(rows), rows["preferred"].value_counts()
    first, second, both, neither, auto = (
        int(count.get(word, 0)) for word in ("first", "second", "both", "neither", "auto_tie")
    )
    median = rows["answer_ms"].median()
    put(
        name,
        n=n,
        items=rows["item_id"].nunique(),
        tasks=rows["task_id"].nunique(),
        median_ms=None if np.isnan(median) else median,
    )
    for part, found in (
        ("first", first),
        ("second", second),
        ("tie", n - first - second),
        ("both", both),
        ("neither", neither),
        ("auto_tie", auto),
    ):
        share(f"{name}/{part}", found, n)
    share(f"{name}/first_decided", first, first + second)
    sign_test(f"{name}/sign", first, second, p_holm)
    names = [f"{name}/{part}" for part in ("net", "net_bca", "net_tasks")]
    bootstrap(names, rows["task_id"], rows["item_id"], rows["sign"], how)


def grouped(name, group, rows, how):
    """The blocks of one table, Holm over them, one test of heterogeneity."""
    there = set(rows[group])
    members = [word for word in ORDERS[group] if word in there]
    members += sorted(word for word in there if word and word not in ORDERS[group])
    parts = [rows[rows[group] == word] for word in members]
    signs = [(int((p.sign == 1).sum()), int((p.sign == -1).sum())) for p in parts]
    adjusted = holm([sign_p(*pair) for pair in signs])
    for word, part, p in zip(members, parts, adjusted, strict=True):
        block(f"{name}/{group}/blocks/{word}", part, how, p)
    if len(parts) > 1:
        counts = np.array([[int((p.word == w).sum()) for w in WORDS] for p in parts])
        heterogeneity(f"{name}/{group}/heterogeneity", counts, how[1])


def heterogeneity(name, counts, uniform):
    """Chi-square; by permutation where cells are sparse."""
    n = int(counts.sum())
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2:
        return keep_test(name, None, None, None, n)
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(rows, columns) / n
    observed = ((counts - expected) ** 2 / expected).sum()
    df = (len(rows) - 1) * (len(columns) - 1)
    if n < 10:
        return keep_test(name, observed, df, None, n)
    if expected.min() >= 1 and (expected < 5).mean() <= 0.2:
        return keep_test(name, observed, df, stats.chi2.sf(observed, df), n)
    numbers = uniform.first(PERMUTATIONS * n).reshape(PERMUTATIONS, n)
    group = np.repeat(np.arange(len(rows)), rows)
    word = np.repeat(np.arange(len(columns)), columns)
    reached = 0
    for some in np.array_split(numbers, 1 + PERMUTATIONS * n // 2_000_000):
        cell = group * len(columns) + word[np.argsort(some, axis=1)]
        cell += counts.size * np.arange(len(some))[:, None]
        seen = np.bincount(cell.ravel(), minlength=counts.size * len(some))
        away = seen.reshape(len(some), *counts.shape) - expected
        reached += int(((away**2 / expected).sum(axis=(1, 2)) >= observed * (1 - 1e-9)).sum())
    return keep_test(name, observed, df, (1 + reached) / (1 + PERMUTATIONS), n)


# -- Davidson's model -----------------------------------------------------------------------------


def davidson(name, rows, models):
    """Worth of each model, ties, order; by maximum likelihood over settings (pair, side)."""
    table = rows.groupby(["first_model", "second_model", "left_model"])["word"].value_counts()
    settings = {}
    for (first, second, left, word), count in table.items():
        settings.setdefault((first, second, left), [0, 0, 0])[WORDS.index(word)] = count
    n = len(rows)
    full, plain = (newton(settings, models, order=order) for order in (True, False))
    best = full or plain
    estimate(f"{name}/log_worth/{models[0]}", 0.0, None, None, n)
    for model in models[1:]:
        fitted(f"{name}/log_worth/{model}", best, model, n)
    fitted(f"{name}/log_tie", best, "tie", n)
    fitted(f"{name}/order", full, "order", n)
    if len(models) == 2:
        fitted(f"{name}/log_ratio", best, models[1], n, -1)
        fitted(f"{name}/without_order", plain, models[1], n, -1)
    put(name, converged=best is not None)
    put(name, order_smallest=REACH * full[0]["order"][1] if full else None)
    if full and plain and n >= 10:
        ratio = max(0.0, 2 * (full[1] - plain[1]))
        keep_test(f"{name}/order_test", ratio, 1, stats.chi2.sf(ratio, 1), n)
    else:
        keep_test(f"{name}/order_test", None, None, None, n)


def fitted(name, fit, parameter, n, sign=1):
    """One parameter with its Wald interval."""
    if fit is None or parameter not in fit[0]:
        return estimate(name, None, None, None, n)
    value, error = fit[0][parameter]
    return estimate(name, sign * value, sign * value - Z * error, sign * value + Z * error, n)


def newton(settings, models, order):
    """Parameters with standard errors and the log likelihood; None without a finite maximum."""
    counts = np.array(list(settings.values()), float).reshape(-1, 3)
    if counts[:, :2].sum() == 0:
        return None
    ties = counts[:, 2].sum() > 0
    names = [*models[1:], *(["tie"] if ties else []), *(["order"] if order else [])]
    counts = counts if ties else counts[:, :2]
    design = np.zeros((*counts.shape, len(names)))  # setting, outcome, parameter
    for s, (first, second, left) in enumerate(settings):
        for k, name in enumerate(names):
            if name == "tie":
                design[s, 2, k] = 1
            elif name == "order":
                design[s, 0, k], design[s, 1, k] = (0.5, -0.5) if left == first else (-0.5, 0.5)
            else:
                design[s, :, k] = [name == first, name == second, 0.5 * (name in (first, second))][
                    : counts.shape[1]
                ]
    centred = (design - design.mean(axis=1, keepdims=True)).reshape(-1, len(names))
    if np.linalg.matrix_rank(centred) < len(names):
        return None
    beta, sums = np.zeros(len(names)), counts.sum(axis=1, keepdims=True)
    for _ in range(100):
        chance = np.exp(design @ beta)
        chance /= chance.sum(axis=1, keepdims=True)
        mean = np.einsum("so,sok->sk", chance, design)
        slope = np.einsum("so,sok->k", counts - sums * chance, design)
        bend = np.einsum("so,sok,sol->kl", sums * chance, design, design)
        bend -= np.einsum("sk,sl->kl", sums * mean, mean)
        if (sums * chance)[counts == 0].size and (sums * chance)[counts == 0].min() < 1e-9:
            return None  # an empty cell runs to zero: no finite maximum
        step = np.linalg.solve(bend, slope)
        beta = beta + step * min(1.0, 2.0 / max(1e-300, np.abs(step).max()))
        if np.abs(step).max() < 1e-12:
            break
    errors = np.sqrt(np.diag(np.linalg.inv(bend)))
    likelihood = (counts * np.log(chance)).sum()
    return dict(zip(names, zip(beta, errors, strict=True), strict=True)), likelihood


# -- the session ----------------------------------------------------------------------------------


def fatigue(rows, many, practice):
    """Tenths of the reading order and three trends along it."""
    put("fatigue", practice=practice)
    rows = rows[rows["position"].notna()]
    decided = rows[rows["sign"] != 0]
    if len(rows):
        before = int(rows["position"].min()) - 1  # practice items
        span = int(rows["position"].max()) - before
        edges = before + np.round(np.arange(min(10, span) + 1) * (span / min(10, span)))
        for place, (start, end) in enumerate(itertools.pairwise(edges), 1):
            name = f"fatigue/windows/{place}"
            inside = rows[(rows["position"] > start) & (rows["position"] <= end)]
            first, second = (int((inside["sign"] == sign).sum()) for sign in (1, -1))
            median = inside["answer_ms"].median()
            put(
                name,
                start=start + 1,
                end=end,
                n=len(inside),
                median_ms=None if np.isnan(median) else median,
            )
            share(f"{name}/tie", len(inside) - first - second, len(inside))
            share(f"{name}/first_decided", first, first + second)
    odds("tie", rows.assign(hit=rows["sign"] == 0))
    liked = decided["answer"] == "left" if many else decided["sign"] == 1
    odds("preference", decided.assign(hit=liked))
    slower(rows[rows["answer_ms"] > 0])


def columns_of(rows):
    """Constant, place from 0 to 1 for each rater, form, rater; None where they cannot be told."""
    low = rows.groupby("rater")["position"].transform("min")
    high = rows.groupby("rater")["position"].transform("max")
    place = ((rows["position"] - low) / (high - low).where(high > low, 1)).to_numpy(float)
    columns = [np.ones(len(rows)), place]
    for key in ("form", "rater"):
        for word in sorted(set(rows[key]))[1:]:
            columns.append((rows[key] == word).to_numpy(float))
    kept = []
    for column in columns:
        if np.linalg.matrix_rank(np.column_stack([*kept, column])) > len(kept):
            kept.append(column)
        elif len(kept) < 2:
            return None
    return np.column_stack(kept) if len(kept) < len(rows) else None


def odds(name, rows):
    """Logistic regression on place; forms and raters that never vary say nothing."""
    while len(rows):
        fixed = pd.Series(False, index=rows.index)
        for key in ("form", "rater"):
            fixed |= rows.groupby(key)["hit"].transform("nunique") < 2
        if not fixed.any():
            break
        rows = rows[~fixed]
    n, design = len(rows), columns_of(rows) if len(rows) else None
    hit = rows["hit"].to_numpy(float)
    fit = None if design is None else logistic(design, hit)
    if fit is None:
        estimate(f"fatigue/{name}_trend", None, None, None, n)
        return keep_test(f"fatigue/{name}_test", None, None, None, n)
    beta, error, likelihood = fit
    smallest = REACH * error[1]
    put("fatigue", **{f"{name}_trend_smallest": np.exp(smallest) if smallest < 100 else None})
    bounds = np.exp([beta[1], beta[1] - Z * error[1], beta[1] + Z * error[1]])
    estimate(f"fatigue/{name}_trend", *bounds, n)
    if n < 10:
        return keep_test(f"fatigue/{name}_test", None, None, None, n)
    ratio = max(0.0, 2 * (likelihood - logistic(np.delete(design, 1, 1), hit)[2]))
    return keep_test(f"fatigue/{name}_test", ratio, 1, stats.chi2.sf(ratio, 1), n)


def logistic(design, hit):
    """Coefficients, standard errors, log likelihood; None where chances run to 0 or 1."""
    beta = np.zeros(design.shape[1])
    for _ in range(100):
        chance = 1 / (1 + np.exp(-design @ beta))
        if np.minimum(chance, 1 - chance).min() < 1e-9:
            return None
        bend = design.T @ (design * (chance * (1 - chance))[:, None])
        step = np.linalg.solve(bend, design.T @ (hit - chance))
        beta = beta + step * min(1.0, 4.0 / max(1e-300, np.abs(step).max()))
        if np.abs(step).max() < 1e-12:
            break
    errors = np.sqrt(np.diag(np.linalg.inv(bend)))
    return beta, errors, np.log(np.where(hit == 1, chance, 1 - chance)).sum()


def slower(rows):
    """Log time on place by least squares."""
    n, design = len(rows), columns_of(rows) if len(rows) else None
    logs = np.log(rows["answer_ms"].to_numpy(float))
    if design is None or logs.max() == logs.min():
        estimate("fatigue/time_trend", None, None, None, n)
        return keep_test("fatigue/time_test", None, None, None, n)
    beta, *_ = np.linalg.lstsq(design, logs, rcond=None)
    df = n - design.shape[1]
    spread = ((logs - design @ beta) ** 2).sum() / df
    error = np.sqrt(spread * np.linalg.inv(design.T @ design)[1, 1])
    half = stats.t.ppf(0.975, df) * error
    estimate("fatigue/time_trend", *np.exp([beta[1], beta[1] - half, beta[1] + half]), n)
    statistic = beta[1] / error
    smallest = (stats.t.ppf(0.975, df) + stats.t.ppf(0.8, df)) * error
    put("fatigue", time_trend_smallest=np.exp(smallest) if smallest < 100 else None)
    p = 2 * stats.t.sf(abs(statistic), df) if n >= 10 else None
    return keep_test("fatigue/time_test", statistic, df, p, n)


# -- agreement ------------------------------------------------------------------------------------


def agreement(name, pairs, alpha):
    """Two readings of the same items: observed, Cohen, AC1, alpha."""
    n = len(pairs)
    table = np.zeros((3, 3), int)
    for before, after in pairs:
        table[WORDS.index(before), WORDS.index(after)] += 1
    put(name, n=n)
    for i, j in itertools.product(range(3), range(3)):
        numbers[f"{name}/table/{i + 1}/{j + 1}"] = float(table[i, j])
    same = int(np.trace(table))
    low, high = proportion_confint(same, n, method="wilson") if n else (None, None)
    estimate(f"{name}/raw", same / n if n else None, low, high, n)
    cohen(f"{name}/kappa", table)
    counts = np.array([[pair.count(w) for w in WORDS] for pair in pairs], float).reshape(-1, 3)
    gwet(f"{name}/ac1", counts)
    if alpha:
        krippendorff(f"{name}/alpha", counts)


def cohen(name, table):
    """Cohen's kappa with the large-sample variance of Fleiss, Cohen and Everitt (1969)."""
    n = table.sum()
    if n == 0:
        return estimate(name, None, None, None, 0)
    p = table / n
    row, column = p.sum(axis=1), p.sum(axis=0)
    seen, chance = np.trace(p), row @ column
    if chance == 1:
        return estimate(name, None, None, None, n)
    if np.trace(table) == n:
        return estimate(name, 1.0, None, None, n)
    kappa = (seen - chance) / (1 - chance)
    variance = 0.0
    for i, j in itertools.product(range(3), range(3)):
        if i == j:
            variance += p[i, i] * (1 - (row[i] + column[i]) * (1 - kappa)) ** 2
        else:
            variance += p[i, j] * (1 - kappa) ** 2 * (column[i] + row[j]) ** 2
    variance -= (kappa - chance * (1 - kappa)) ** 2
    half = Z * np.sqrt(max(0.0, variance) / n) / (1 - chance)
    if half <= 5e-7:  # one of the two gave one answer only
        return estimate(name, kappa, None, None, n)
    return estimate(name, kappa, max(-1, kappa - half), min(1, kappa + half), n)


def scatter(name, value, influence):
    """Interval from the influence of each item, Student's t."""
    n = len(influence)
    if n < 2 or np.ptp(influence) < 1e-12:
        return estimate(name, value, None, None, n)
    error = np.sqrt(((influence - value) ** 2).sum() / (n * (n - 1)))
    half = stats.t.ppf(0.975, n - 1) * error
    return estimate(name, value, max(-1, value - half), min(1, value + half), n)


def agreeing(counts):
    """Share of agreeing pairs of readings of each item."""
    read = counts.sum(axis=1)
    return (counts * (counts - 1)).sum(axis=1) / (read * (read - 1))


def beyond_chance(name, counts, chance_of):
    """AC1 or Fleiss' kappa: items read once count for the chance only (Gwet 2014)."""
    counts = counts[counts.sum(axis=1) >= 1]
    twice = counts.sum(axis=1) >= 2
    if not twice.any():
        return estimate(name, None, None, None, 0)
    part = counts / counts.sum(axis=1, keepdims=True)
    by_item = chance_of(part, part.mean(axis=0))
    chance = by_item.mean()
    if np.isclose(chance, 1):
        return estimate(name, None, None, None, twice.sum())
    own = np.zeros(len(counts))
    own[twice] = (agreeing(counts[twice]) - chance) / (1 - chance) * len(counts) / twice.sum()
    value = own.mean()
    influence = own - 2 * (1 - value) * (by_item - chance) / (1 - chance)
    return scatter(name, value, influence)


def gwet(name, counts):
    """AC1: chance is that of a random answer to an uncertain item."""
    beyond_chance(name, counts, lambda part, mean: part @ (1 - mean) / (len(WORDS) - 1))


def krippendorff(name, counts):
    """Nominal alpha from coincidences; influence of each item after Gwet (2014)."""
    counts = counts[counts.sum(axis=1) >= 2]
    n = len(counts)
    if n == 0:
        return estimate(name, None, None, None, 0)
    read = counts.sum(axis=1)
    coincidences = sum((np.outer(row, row) - np.diag(row)) / (row.sum() - 1) for row in counts)
    totals, whole = coincidences.sum(axis=0), coincidences.sum()
    mean, marginal = read.mean(), counts.mean(axis=0) / read.mean()
    chance = (marginal**2).sum()
    if np.isclose(chance, 1):
        return estimate(name, None, None, None, n)
    disagree = 1 - np.trace(coincidences) / whole
    expected = (whole**2 - (totals**2).sum()) / (whole * (whole - 1))
    value = 1 - disagree / expected
    agree = (counts * (counts - 1)).sum(axis=1) / (mean * (read - 1))
    uneven = (read - mean) / mean
    plain = (agree.mean() - chance) / (1 - chance)
    own = agree - agree.mean() * uneven - chance
    by_item = counts @ marginal / mean - chance * uneven - chance
    influence = (own - 2 * (1 - plain) * by_item) / (1 - chance)
    return scatter(name, value, influence - plain + value)


def between(rows):
    """Each two raters, and all of them where there are more than two."""
    raters = list(dict.fromkeys(rows["rater"]))
    wide = {rater: p.set_index("item_id")["word"].to_dict() for rater, p in rows.groupby("rater")}
    items = list(dict.fromkeys(rows["item_id"]))
    for one, other in itertools.combinations(raters, 2):
        pairs = [
            (wide[one][i], wide[other][i]) for i in items if i in wide[one] and i in wide[other]
        ]
        agreement(f"between/{one} and {other}", pairs, alpha=True)
    if len(raters) > 2:
        said = [[wide[r][i] for r in raters if i in wide[r]] for i in items]
        counts = np.array([[words.count(w) for w in WORDS] for words in said], float)
        name, twice = "between/all raters", counts[counts.sum(axis=1) >= 2]
        put(name, n=len(twice))
        if len(twice):
            scatter(f"{name}/raw", agreeing(twice).mean(), agreeing(twice))
        else:
            estimate(f"{name}/raw", None, None, None, 0)
        beyond_chance(f"{name}/kappa", counts, lambda part, mean: part @ mean)
        gwet(f"{name}/ac1", counts)
        krippendorff(f"{name}/alpha", counts)


def repeats(shown, judged):
    """Swapped repeats against the first reading, by rater and together."""
    raters = list(dict.fromkeys(shown.loc[shown["kind"] == "repeat", "rater"]))
    found = {}
    for rater in raters:
        own = judged[judged["rater"] == rater]
        first = own[own["kind"] == "item"].set_index("item_id")["word"].to_dict()
        again = own.loc[own["kind"] == "repeat", ["item_id", "word"]].to_numpy()
        found[rater] = [(first[item], word) for item, word in again if item in first]
    if len(raters) > 1:
        found["all raters"] = [pair for pairs in found.values() for pair in pairs]
    place = {"first": 1, "tie": 0, "second": -1}
    for rater, pairs in found.items():
        name, n = f"repeats/{rater}", len(pairs)
        moved = [place[after] - place[before] for before, after in pairs]
        put(name, n=n)
        share(f"{name}/same", sum(b == a for b, a in pairs), n)
        share(f"{name}/flipped", sum({b, a} == {"first", "second"} for b, a in pairs), n)
        share(f"{name}/to_tie", sum(b != "tie" and a == "tie" for b, a in pairs), n)
        share(f"{name}/from_tie", sum(b == "tie" and a != "tie" for b, a in pairs), n)
        sign_test(f"{name}/drift", sum(m > 0 for m in moved), sum(m < 0 for m in moved))
        agreement(f"{name}/agreement", pairs, alpha=False)


# -- truth, sides, blinding -----------------------------------------------------------------------


def truth(name, rows, items):
    """Criterion validity of the readers, correctness of the models."""
    right_word = {"only_a": "first", "only_b": "second"}
    one_right = rows[rows["stratum"].isin(right_word)]
    decided = one_right[one_right["sign"] != 0]
    right = int((decided["preferred"] == decided["stratum"].map(right_word)).sum())
    share(f"{name}/criterion/right", right, len(decided))
    share(f"{name}/criterion/of_all", right, len(one_right))
    sign_test(f"{name}/criterion/test", right, len(decided) - right)
    known = items[(items["kind"] != "warmup") & (items["stratum"] != "unknown")]
    n = len(known)
    both, first, second = (int((known["stratum"] == s).sum()) for s in STRATA[:3])
    name = f"{name}/correctness"
    put(
        name,
        n=n,
        both=both,
        only_first=first,
        only_second=second,
        neither=n - both - first - second,
    )
    share(f"{name}/hit_first", both + first, n)
    share(f"{name}/hit_second", both + second, n)
    sign_test(f"{name}/mcnemar", first, second)
    apart, p = first + second, None
    if apart >= 10:
        low = min(first, second)
        p = 2 * stats.binom.cdf(low, apart, 0.5) - stats.binom.pmf(low, apart, 0.5)
        p = 1.0 if first == second else min(1.0, p)
    keep_test(f"{name}/mid_p", first, None, p, apart)
    gain = (known["stratum"] == "only_a").astype(float) - (known["stratum"] == "only_b")
    mean = gain.groupby(known["task_id"]).mean()
    varied = int((gain != 0).groupby(known["task_id"]).any().sum())
    if varied < 10 or (mean == 0).all():
        return keep_test(f"{name}/clustered", None, None, None, varied)
    statistic = mean.sum() ** 2 / (mean**2).sum()
    return keep_test(f"{name}/clustered", statistic, 1, stats.chi2.sf(statistic, 1), varied)


def sides(name, rows):
    """Left among the decided and the smallest bias 80 % power would find."""
    decided = rows[rows["sign"] != 0]
    n, left = len(decided), int((decided["answer"] == "left").sum())
    share(f"{name}/left", left, n)
    sign_test(f"{name}/sign", left, n - left)
    means = []
    for part, model in (("first_when_left", "first_model"), ("first_when_right", "second_model")):
        own = decided[decided["left_model"] == decided[model]]
        share(f"{name}/{part}", int((own["sign"] == 1).sum()), len(own))
        means.append((own["sign"] == 1).mean() if len(own) else np.nan)
    put(
        name,
        averaged=None if np.isnan(means).any() else np.mean(means),
        smallest_detectable=detectable(n),
    )


def detectable(n):
    """The distance of a share from one half that 80 % power finds among n."""
    found = REACH / 2 / np.sqrt(n) if n else 0.5
    return found if found < 0.5 else None


def by_form(name, rows, how):
    """Left among the decided of each form, Holm over them, one test of their difference."""
    decided = rows[rows["sign"] != 0]
    there = set(decided["form"]) - {""}
    forms = [form for form in FORMS if form in there] + sorted(there - set(FORMS))
    found = []
    for form in forms:
        left = decided.loc[decided["form"] == form, "answer"] == "left"
        found.append((int(left.sum()), int((~left).sum())))
    adjusted = holm([sign_p(*pair) for pair in found])
    for form, (left, right), p in zip(forms, found, adjusted, strict=True):
        share(f"{name}/groups/{form}/left", left, left + right)
        sign_test(f"{name}/groups/{form}/sign", left, right, p)
        put(f"{name}/groups/{form}", smallest_detectable=detectable(left + right))
    if len(forms) > 1:
        heterogeneity(f"{name}/heterogeneity", np.array(found), how[1])
        df, n = (numbers[f"{name}/heterogeneity/{part}"] for part in ("df", "n"))
        put(name, smallest_effect=effect(n, df) if df else None)


def effect(n, df):
    """Cohen's w that a chi-square test of n finds with 80 % power; None from 1 on."""
    edge = stats.chi2.ppf(0.95, df)
    far = optimize.brentq(lambda nc: stats.ncx2.cdf(edge, df, nc) - 0.2, 1e-6, 1e3, xtol=1e-13)
    found = np.sqrt(far / n)
    return found if found < 1 else None


def length(name, rows):
    """How often the longer list is preferred; log odds on doublings of its words."""
    known = rows[rows["words_first"].notna()]
    both = known[(known["words_first"] > 0) & (known["words_second"] > 0) & (known["sign"] != 0)]
    doublings = np.log2(both["words_first"].to_numpy() / both["words_second"].to_numpy())
    hit = (both["sign"] == 1).to_numpy(float)
    unequal = doublings != 0
    longer, n = int(((hit == 1) == (doublings > 0))[unequal].sum()), int(unequal.sum())
    share(f"{name}/longer", longer, n)
    vote_test(name, both[unequal], ((hit == 1) == (doublings > 0))[unequal], len(known))
    n, fit = len(both), None
    design = np.column_stack([np.ones(n), doublings])
    if n > 2 and np.ptp(doublings) > 0 and np.ptp(hit) > 0:
        fit = logistic(design, hit)
    if fit is None:
        estimate(f"{name}/slope", None, None, None, n)
        return keep_test(f"{name}/slope_test", None, None, None, n)
    if both["rater"].nunique() > 1:
        return slope_by_item(name, both["item_id"], design, hit, fit[0])
    slope, error = fit[0][1], fit[1][1]
    estimate(f"{name}/slope", slope, slope - Z * error, slope + Z * error, n)
    put(name, slope_smallest=REACH * error)
    if n < 10:
        return keep_test(f"{name}/slope_test", None, None, None, n)
    ratio = max(0.0, 2 * (fit[2] - logistic(design[:, :1], hit)[2]))
    return keep_test(f"{name}/slope_test", ratio, 1, stats.chi2.sf(ratio, 1), n)


def slope_by_item(name, items, design, hit, beta):
    """The slope of several raters: its error from what items, not ratings, scatter."""
    n, chance = len(hit), 1 / (1 + np.exp(-design @ beta))
    scores = pd.DataFrame(design * (hit - chance)[:, None]).groupby(items.to_numpy()).sum()
    k = len(scores)
    if k < 10:
        estimate(f"{name}/slope", None, None, None, n)
        return keep_test(f"{name}/slope_test", None, None, None, n)
    bread = np.linalg.inv(design.T @ (design * (chance * (1 - chance))[:, None]))
    spread = bread @ (scores.T @ scores).to_numpy() @ bread * k / (k - 1)
    error, edge = np.sqrt(spread[1, 1]), stats.t.ppf(0.975, k - 1)
    estimate(f"{name}/slope", beta[1], beta[1] - edge * error, beta[1] + edge * error, n)
    put(name, slope_smallest=REACH * error)
    value = beta[1] / error
    return keep_test(f"{name}/slope_test", value, k - 1, 2 * stats.t.sf(abs(value), k - 1), n)


def vote_test(name, rows, hit, recorded):
    """Sign test of one rater's answers; of several, of what more of an item's answers say."""
    won, lost = int(hit.sum()), int((~hit).sum())
    if rows["rater"].nunique() > 1:
        votes = pd.Series(np.where(hit, 1, -1)).groupby(rows["item_id"].to_numpy()).sum()
        won, lost = int((votes > 0).sum()), int((votes < 0).sum())
    sign_test(f"{name}/sign", won, lost)
    put(name, smallest_detectable=detectable(won + lost), recorded=recorded)


def lookalike(name, rows):
    """How often the one list that holds a look-alike of the query is preferred."""
    known = rows[(rows["near_query"] != "") | (rows["same_patient"] != "")]
    holds = {
        word: known[["near_query", "same_patient"]].isin([word, "both"]).any(axis=1)
        for word in WORDS[:2]
    }
    alone = pd.Series("", index=known.index)
    alone[holds["first"] & ~holds["second"]] = "first"
    alone[holds["second"] & ~holds["first"]] = "second"
    for part, holder in (
        ("preferred", alone),
        ("near_query", known["near_query"]),
        ("same_patient", known["same_patient"]),
    ):
        own = holder.isin(WORDS[:2]) & (known["sign"] != 0)
        count, n = int((known["word"] == holder)[own].sum()), int(own.sum())
        share(f"{name}/{part}", count, n)
        if part == "preferred":
            hit = (known["word"] == holder)[own].to_numpy(bool)
            vote_test(name, known[own], hit, len(known))
        else:
            put(name, **{f"{part}_smallest": detectable(n)})


def clustering(name, rows):
    """Intraclass correlation of items within tasks by analysis of variance."""
    each = rows.groupby(["task_id", "item_id"])["sign"].mean()
    tasks = each.groupby(level=0).agg(["size", "mean"])
    k, n = len(tasks), len(each)
    put(name, tasks=k, items=n)
    if k < 2 or k == n:
        return put(name, mean_size=None, icc=None, design_effect=None, effective_n=None)
    size, mean = tasks["size"].to_numpy(), tasks["mean"].to_numpy()
    across = (size * (mean - each.mean()) ** 2).sum() / (k - 1)
    inside = (each - each.groupby(level=0).transform("mean")).pow(2).sum() / (n - k)
    alike, weighed = (n - (size**2).sum() / n) / (k - 1), (size**2).sum() / n
    put(name, mean_size=weighed, icc=None, design_effect=None, effective_n=None)
    spread = across + (alike - 1) * inside
    if spread == 0:
        return None
    icc = (across - inside) / spread
    effect = max(1.0, 1 + (weighed - 1) * icc)
    return put(name, icc=icc, design_effect=effect, effective_n=n / effect)


def blinding(guesses, items, tested):
    """The indices of James (1996) and Bang (2004); arms are sides of the tested model."""
    pair = guesses.merge(
        items[["item_id", "first_model", "second_model"]], on="item_id", how="left"
    )
    took_part = (pair["first_model"] == tested) | (pair["second_model"] == tested)
    known = pair[took_part & pair["answer"].isin(["left", "right", "unsure"])]
    if known.empty:
        return
    arms = {
        "left": known[known["left_model"] == tested],
        "right": known[known["left_model"] != tested],
    }
    put("blinding", n=len(known))
    table = np.array(
        [
            [int((a["answer"] == w).sum()) for w in ("left", "right", "unsure")]
            for a in arms.values()
        ]
    )
    for (side, _), counts, other in zip(arms.items(), table, ("right", "left"), strict=True):
        by_word = dict(zip(("left", "right", "unsure"), (int(c) for c in counts), strict=True))
        right, wrong, unsure = by_word[side], by_word[other], by_word["unsure"]
        name = f"{tested} {side}"
        for place, count in enumerate((right, wrong, unsure), 1):
            numbers[f"blinding/counts/{name}/{place}"] = float(count)
        n = right + wrong + unsure
        if n == 0:
            estimate(f"blinding/bang/{name}", None, None, None, 0)
            continue
        index = (right - wrong) / n
        normal(f"blinding/bang/{name}", index, ((right + wrong) / n - index**2) / n, n, -1.0)
    james_interval(table)


def normal(name, value, variance, n, lowest):
    """A normal interval within bounds; none where nothing varies."""
    if variance <= 1e-15:
        return estimate(name, value, None, None, n)
    half = Z * np.sqrt(variance)
    return estimate(name, value, max(lowest, value - half), min(1.0, value + half), n)


def chance_level(p):
    """Expected disagreement of guesses that know nothing."""
    left, right = p[0, 0] + p[1, 0], p[0, 1] + p[1, 1]
    return (right * (p[0, 0] + p[0, 1]) + left * (p[1, 0] + p[1, 1])) / 2


def james(p):
    """James's index as a function of the six chances."""
    unsure = p[0, 2] + p[1, 2]
    wrong = (p[0, 1] + p[1, 0]) / 2
    return unsure + (1 - unsure) ** 2 * wrong / (2 * chance_level(p))


def james_interval(table):
    """Its variance by the delta method, slopes by complex steps."""
    n = table.sum()
    p = table / n
    if p[:, 2].sum() == 1:
        return estimate("blinding/james", 1.0, None, None, n)
    if chance_level(p) == 0:
        return estimate("blinding/james", None, None, None, n)
    slopes = np.zeros((2, 3))
    for cell in itertools.product(range(2), range(3)):
        moved = p.astype(complex)
        moved[cell] += 1e-30j
        slopes[cell] = james(moved).imag / 1e-30
    variance = ((p * slopes**2).sum() - (p * slopes).sum() ** 2) / n
    return normal("blinding/james", james(p), variance, n, 0.0)


# -- the study ------------------------------------------------------------------------------------


def read(folder, name):
    """One file, every cell a text."""
    return pd.read_csv(folder / name, dtype=str, keep_default_na=False)


def prepared(folder):
    """Presentations joined with their items, with words and signs."""
    ratings, items = read(folder, "ratings.csv"), read(folder, "items.csv")
    facts = [
        "item_id",
        "first_model",
        "second_model",
        "task_id",
        "family",
        "form",
        "split",
        "stratum",
        "anatomy",
        "overlap",
        "words_first",
        "words_second",
        "near_query",
        "same_patient",
        "difficulty",
    ]
    shown = ratings.merge(items[facts], on="item_id", how="left")
    for column in ("preferred", "first_preferred"):
        for word in ("first", "second"):
            shown.loc[shown[column] == shown[f"{word}_model"], column] = word
    for column in ("position", "answer_ms", "revisions", "words_first", "words_second"):
        shown[column] = pd.to_numeric(shown[column])
    shown["stratum_form"] = shown["stratum"] + ":" + shown["form"]
    shown["task"] = shown["task_id"]
    return shown, items


def judged_of(shown, column="preferred"):
    """Presentations with a judgement, as first, second or tie."""
    rows = shown[~shown[column].isin(["", "cannot"])].copy()
    rows["preferred"] = rows[column]
    rows["word"] = rows["preferred"].where(rows["preferred"].isin(WORDS[:2]), "tie")
    rows["sign"] = rows["word"].map({"first": 1, "second": -1, "tie": 0}).astype(int)
    return rows


def majority(rows):
    """One vote per item: what more than half of its raters said, else a tie."""
    votes = []
    for _, cast in rows.groupby("item_id", sort=False):
        word, count = cast["word"].value_counts().index[0], cast["word"].value_counts().iloc[0]
        both, neither = ((cast["preferred"] == w).sum() for w in ("both", "neither"))
        if 2 * count <= len(cast) or (word == "tie" and both == neither):
            winner = "split"
        else:
            winner = word if word != "tie" else "both" if both > neither else "neither"
        votes.append(cast.iloc[[0]].assign(preferred=winner, answer_ms=np.nan))
    found = pd.concat(votes)
    found["sign"] = found["preferred"].map({"first": 1, "second": -1}).fillna(0).astype(int)
    return found


def pooled(name, rows):
    """Means of the raters with the variance of Obuchowski and Rockette (1995), by task."""
    raters = rows["rater"].nunique()
    net = across(f"{name}/net", rows, rows["sign"].astype(float), -1.0)
    decided = rows[rows["sign"] != 0]
    across(f"{name}/decided", decided, (decided["sign"] == 1).astype(float), 0.0)
    put(name, raters=raters, rater_sd=None, from_raters=None)
    if net is not None:
        scatter, shared, own = net
        variance = scatter / raters + shared
        put(name, rater_sd=np.sqrt(max(0.0, scatter - own)))
        put(name, from_raters=scatter / raters / variance if variance > 1e-15 else None)


def across(name, rows, value, lowest):
    """Mean of the raters' means; their scatter and covariances over tasks (items of one task)."""
    n, cluster = len(rows), "task_id" if rows["task_id"].nunique() > 1 else "item_id"
    if rows["rater"].nunique() < 2 or rows[cluster].nunique() < 2:
        return estimate(name, None, None, None, n)
    by_rater = value.groupby(rows["rater"])
    away = (value - by_rater.transform("mean")) / by_rater.transform("size")
    errors = away.groupby([rows["rater"], rows[cluster]]).sum().unstack(fill_value=0.0)
    raters, clusters = errors.shape
    covariance = np.cov(errors.to_numpy()) * clusters  # each row has mean 0
    single = np.diag(covariance).mean()
    two = covariance[~np.eye(raters, dtype=bool)].mean()
    mean, scatter, shared = by_rater.mean().mean(), by_rater.mean().var(), max(0.0, two)
    part, variance = scatter / raters, scatter / raters + shared
    if variance <= 1e-15:
        estimate(name, mean, None, None, n)
    else:  # each part has a t-quantile of its own (Cochran 1964)
        quantile = stats.t.ppf(0.975, [raters - 1, clusters - 1])
        half = (quantile[0] * part + quantile[1] * shared) / np.sqrt(variance)
        estimate(name, mean, max(lowest, mean - half), min(1.0, mean + half), n)
    return scatter, shared, single - two


def usefulness(name, rows, first, second, how):
    """Mean grade of each model's candidates."""
    graded = {first: [], second: []}
    for place in (f"{side}{k}" for side in ("left", "right") for k in (1, 2, 3)):
        given = rows[rows[f"useful_{place}"] != ""]
        for _, row in given.iterrows():
            on_left = row["left_model"]
            model = on_left if place.startswith("left") else second if on_left == first else first
            graded[model].append((row["task_id"], row["item_id"], int(row[f"useful_{place}"])))
    if any(graded.values()):
        for model, found in graded.items():
            tasks, items, grades = zip(*found, strict=True) if found else ((), (), ())
            bootstrap([f"{name}/usefulness/{model}", None, None], tasks, items, grades, how)


def of_pair(first, second, shown, items, how):
    """Everything about one pair of models."""
    name = f"pairs/{first}-{second}"
    of = lambda part: part[(part["first_model"] == first) & (part["second_model"] == second)]  # noqa: E731
    shown, items = of(shown), of(items)
    judged, own = judged_of(shown), shown[shown["kind"] == "item"]
    rows = judged[judged["kind"] == "item"]
    block(f"{name}/overall", rows, how)
    block(f"{name}/first_answers", judged_of(own, "first_preferred"), how)
    block(f"{name}/with_auto_ties", judged[judged["kind"].isin(["item", "auto_tie"])], how)
    for group in ORDERS:
        grouped(f"{name}/tables", group, rows, how)
    davidson(f"{name}/davidson", rows, [first, second])
    sides(f"{name}/side", rows)
    by_form(f"{name}/side_by_form", rows, how)
    length(f"{name}/length", rows)
    lookalike(f"{name}/lookalike", rows)
    truth(name, rows, items)
    clustering(f"{name}/clustering", rows)
    usefulness(name, rows, first, second, how)
    if rows["rater"].nunique() > 1:
        block(f"{name}/majority", majority(rows), how)
        pooled(f"{name}/pooled", rows)


def gaps(shown, items):
    """Missing and changed answers, the flow of items."""
    places = shown[shown["kind"].isin(["item", "repeat"])]
    flagged = places[places["answer"] == "cannot"]["reason"].replace("", "no reason given")
    put(
        "missing",
        places=len(places),
        unanswered=(places["answer"] == "").sum(),
        changed=(places["revisions"] > 0).sum(),
    )
    for reason, count in flagged.value_counts().items():
        put("missing/cannot", **{reason: count})
    own = shown[shown["kind"] == "item"]
    answered, cannot = (own["answer"] != "").sum(), (own["answer"] == "cannot").sum()
    put(
        "flow",
        sampled=(items["kind"] != "warmup").sum(),
        auto_ties=(items["kind"] == "auto_tie").sum(),
        shown=len(own),
        answered=answered,
        flagged=cannot,
        analysed=answered - cannot,
        repeats=((shown["kind"] == "repeat") & (shown["answer"] != "")).sum(),
    )


def main(folder):
    """Compute all, write them, compare."""
    study = read(folder, "study.csv").set_index("name")["value"]
    seed, draws = int(study["bootstrap_seed"]), int(study["bootstrap_draws"])
    models = [
        n.split("/")[1] for n in study.index if n.startswith("models/") and n.endswith("/title")
    ]
    how = (draws, Uniform(seed))
    shown, items = prepared(folder)
    guesses, only = read(folder, "guesses.csv"), study.get("only_rater", "")
    if only:
        shown, guesses = shown[shown["rater"] == only], guesses[guesses["rater"] == only]
    put("", draws=draws, seed=seed)
    read_items = items[items["kind"] != "warmup"]
    pairs = sorted(
        set(read_items[["first_model", "second_model"]].itertuples(index=False, name=None))
    )
    for first, second in pairs or [tuple(models[:2])]:
        of_pair(first, second, shown, items, how)
    judged = judged_of(shown)
    rows = judged[judged["kind"] == "item"]
    if len(pairs) > 1:
        davidson("davidson", rows, models)
    fatigue(rows, len(pairs) > 1, (items["kind"] == "warmup").sum())
    repeats(shown, judged)
    if not only:
        between(rows)
    blinding(guesses, items, models[0])
    gaps(shown, items)
    pd.Series(numbers, name="value").rename_axis("name").to_csv(folder / "numbers_python.csv")
    return compared(folder)


def compared(folder):
    """Say how far the numbers are from numbers.csv; 1 if one is too far."""
    theirs = pd.to_numeric(read(folder, "numbers.csv").set_index("name")["value"])
    ours = pd.Series(numbers, dtype=float)
    names = theirs.index.union(ours.index)
    a, b = theirs.reindex(names), ours.reindex(names)
    plain = (a - b).abs()
    plain[a.isna() != b.isna()] = np.inf
    plain = plain.fillna(0.0)
    away = plain / np.maximum(1, a.abs().fillna(1))
    allowed = [1e-6 if any(word in n for word in FITTED) else 1e-9 for n in names]
    bad = away[away > allowed]
    for name in bad.index:
        sys.stdout.write(f"differs: {name}: {a[name]} in numbers.csv, {b[name]} here\n")
    sys.stdout.write(
        f"{int(a.notna().sum())} numbers compared, {len(bad)} differ, largest difference "
        f"{plain.max():.1e} ({plain.idxmax()}), measured against the larger of 1 and the number "
        f"{away.max():.1e}\n"
    )
    return 1 if len(bad) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)))
