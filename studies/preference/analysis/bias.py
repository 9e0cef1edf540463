"""What may draw a choice besides the model: the side in each form, longer texts, look-alikes.

Owns what is counted for each and says why where nothing can be. An item counts where its fact was
recorded when the study was built; earlier studies have none. Refuses to call a preference for
longer texts a fault: they may say more.

Several raters answer the same item, so that their ratings do not stand alone: taken as if they
did, unbiased raters were flagged in 7 to 10 % (two) and 15 to 21 % (four) of 300 to 500 simulated
studies of 200 items, and in 3 to 5 % by the tests here: one vote for each item, and errors of the
slope by item. The sides, taken as independent, were flagged in 3 to 4 and in 7 to 8 %.
Source: peers.md 4b, N7; Liang and Zeger 1986 for the errors by item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import chi2, norm
from scipy.stats import t as student

from studies.holm import holm
from studies.preference.analysis.blocks import FORMS
from studies.preference.analysis.counts import FEW, LEAST_FOR_P, share, sign_test, undefined
from studies.preference.analysis.detectable import (
    smallest_coefficient,
    smallest_detectable,
    smallest_effect,
)
from studies.preference.analysis.heterogeneity import heterogeneity_of
from studies.preference.analysis.loglinear import Array, fit, separated
from studies.preference.analysis.numbers import Estimate, Share, Test
from studies.preference.analysis.rated import DECIDED, Rated, pooled, raters_of
from studies.preference.analysis.schema_bias import (
    NOT_RECORDED,
    FormBias,
    LengthBias,
    LookalikeBias,
    SideGroup,
)
from studies.preference.analysis.stream import Replay

NO_WORDS = "no item shows words in both lists"
NO_LOOKALIKE = "no item has a look-alike of the query in exactly one list"
NOTHING = "nothing was rated"
SIDES = "chi-square of left, right"
DOUBLING = "logistic regression on doublings, Wald"
DOUBLING_TEST = "likelihood ratio, no slope"
BY_ITEM = "errors by item"
BY_ITEM_TEST = f"Wald t, no slope, {BY_ITEM}"
VOTES = "one vote for each item"


def side_by_form(rows: Sequence[Rated], numbers: Replay) -> FormBias:
    """Left among the decided of each form, Holm over them, one test of their difference."""
    decided = [one for one in rows if one.preferred in DECIDED]
    there = {one.item.form for one in decided}
    names = [*(n for n in FORMS if n in there), *sorted(n for n in there if n and n not in FORMS)]
    made = [_group(name, [o for o in decided if o.item.form == name]) for name in names]
    adjusted = iter(holm([one.sign.p for one in made if one.sign.p is not None]))
    groups = tuple(
        one if one.sign.p is None else replace(one, sign=replace(one.sign, p_holm=next(adjusted)))
        for one in made
    )
    counts = np.array([[one.left.count, one.left.n - one.left.count] for one in groups])
    test = heterogeneity_of(counts.reshape(-1, 2), numbers)
    if test is None:
        return FormBias(groups, None, None)
    notes = (test.note, pooled(decided) if test.p is not None else "")
    test = replace(test, name=SIDES, note="; ".join(part for part in notes if part))
    return FormBias(groups, test, smallest_effect(test.n, test.df))


def _group(name: str, decided: Sequence[Rated]) -> SideGroup:
    left, n = sum(one.row.answer == "left" for one in decided), len(decided)
    sign = sign_test(left, n - left, note=pooled(decided))
    return SideGroup(name, FORMS.get(name, name), share(left, n), sign, smallest_detectable(n))


def length_bias(rows: Sequence[Rated]) -> LengthBias:
    """How often the longer list is preferred, and the slope on doublings of its words."""
    known = [one for one in rows if one.item.words_first is not None]
    decided = [o for o in known if o.item.doublings is not None and o.preferred in DECIDED]
    unequal = [one for one in decided if one.item.doublings]
    slope, test, smallest = _slope(decided)
    sign = _vote_test([(one, _longer(one)) for one in unequal])
    texts = any(one.item.doublings is not None for one in known)
    return LengthBias(
        longer=share(sum(map(_longer, unequal)), len(unequal)),
        sign=sign,
        smallest_detectable=smallest_detectable(sign.n),
        slope=slope,
        slope_test=test,
        slope_smallest=smallest,
        recorded=len(known),
        note=_why(rows, known, "" if texts else NO_WORDS),
    )


def _longer(one: Rated) -> bool:
    """The list with more words is preferred."""
    return (one.preferred == "first") == ((one.item.doublings or 0.0) > 0)


def _vote_test(found: Sequence[tuple[Rated, bool]]) -> Test:
    """Sign test of the ratings of one rater; of several, of what more of an item's ratings say."""
    if len(raters_of(one for one, _ in found)) < 2:
        hits = sum(hit for _, hit in found)
        return sign_test(hits, len(found) - hits)
    votes: Counter[str] = Counter()
    for one, hit in found:
        votes[one.item.item_id] += 1 if hit else -1
    lost = sum(vote < 0 for vote in votes.values())
    return sign_test(sum(vote > 0 for vote in votes.values()), lost, note=VOTES)


def _why(rows: Sequence[Rated], known: Sequence[Rated], otherwise: str) -> str:
    if not rows:
        return NOTHING
    return otherwise if known else NOT_RECORDED


def _slope(decided: Sequence[Rated]) -> tuple[Estimate, Test, float | None]:
    """The first model's odds on its doublings; the constant is which model it is."""
    n = len(decided)
    doublings = np.array([one.item.doublings or 0.0 for one in decided])
    outcome = np.array([float(one.preferred == "first") for one in decided])
    design = np.column_stack([np.ones(n), doublings])
    if n < 3 or not np.ptp(doublings) or not np.ptp(outcome):
        return _no_slope(n, "too few, or one of length and choice never varies")
    if separated(design, outcome):
        return _no_slope(n, "separated: no finite odds")
    if len(raters_of(decided)) > 1:
        return _slope_by_item(decided, design, outcome)
    found, plain = (fit(part, outcome, "binomial") for part in (design, design[:, :1]))
    value, error = float(found.params[1]), float(found.bse[1])
    half = float(norm.ppf(0.975)) * error
    slope = Estimate(value, value - half, value + half, n, "ratings", DOUBLING)
    smallest = smallest_coefficient(error)
    if n < LEAST_FOR_P:
        return slope, Test(DOUBLING_TEST, None, None, None, n, note=FEW), smallest
    ratio = max(0.0, float(plain.deviance - found.deviance))
    return slope, Test(DOUBLING_TEST, ratio, 1.0, float(chi2.sf(ratio, 1)), n), smallest


def _slope_by_item(
    decided: Sequence[Rated], design: Array, outcome: Array
) -> tuple[Estimate, Test, float | None]:
    """The same slope; its error from what the items, not the ratings, scatter."""
    names, where = np.unique([one.item.item_id for one in decided], return_inverse=True)
    n, items = len(decided), len(names)
    if items < LEAST_FOR_P:
        return _no_slope(n, f"fewer than {LEAST_FOR_P} items for {BY_ITEM}")
    found = fit(design, outcome, "binomial")
    scores = np.zeros((items, 2))
    np.add.at(scores, where, design * (outcome - found.fittedvalues)[:, None])
    bread = np.asarray(found.normalized_cov_params)
    spread = bread @ scores.T @ scores @ bread * items / (items - 1)
    value, error = float(found.params[1]), float(np.sqrt(spread[1, 1]))
    half = float(student.ppf(0.975, items - 1)) * error
    slope = Estimate(value, value - half, value + half, n, "ratings", f"{DOUBLING}, {BY_ITEM}")
    p = float(2 * student.sf(abs(value / error), items - 1))
    test = Test(BY_ITEM_TEST, value / error, items - 1.0, p, n)
    return slope, test, smallest_coefficient(error)


def _no_slope(n: int, note: str) -> tuple[Estimate, Test, None]:
    slope = undefined(n, note, unit="ratings", method=DOUBLING)
    return slope, Test(DOUBLING_TEST, None, None, None, n, note=note), None


def lookalike_bias(rows: Sequence[Rated]) -> LookalikeBias:
    """How often the one list that holds a look-alike of the query is preferred."""
    known = [one for one in rows if one.item.lookalike]
    found = _preferring(known, lambda one: one.item.lookalike)
    near = _preferring(known, lambda one: one.item.near_query)
    same = _preferring(known, lambda one: one.item.same_patient)
    decided = [o for o in known if o.item.lookalike in DECIDED and o.preferred in DECIDED]
    sign = _vote_test([(one, one.preferred == one.item.lookalike) for one in decided])
    one_holds = any(one.item.lookalike in DECIDED for one in known)
    return LookalikeBias(
        preferred=found,
        sign=sign,
        smallest_detectable=smallest_detectable(sign.n),
        near_query=near,
        near_query_smallest=smallest_detectable(near.n),
        same_patient=same,
        same_patient_smallest=smallest_detectable(same.n),
        recorded=len(known),
        note=_why(rows, known, "" if one_holds else NO_LOOKALIKE),
    )


def _preferring(rows: Sequence[Rated], holder: Callable[[Rated], str]) -> Share:
    """Preferring the list that alone holds something, among the decided."""
    decided = [o for o in rows if holder(o) in DECIDED and o.preferred in DECIDED]
    return share(sum(one.preferred == holder(one) for one in decided), len(decided))
