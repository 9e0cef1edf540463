"""The bias panel as one table and as sentences: each line with interval, n and what it could find.

Owns the order of the lines and their words. A fact that a study did not record is said to be so.
Refuses to say that there is no bias: it says how large one would have been found.
"""

from __future__ import annotations

from collections.abc import Iterator

from studies.preference.analysis.schema import Analysis, Pair, Test
from studies.preference.kit.grid import Cell, Grid, PValue, test_told
from studies.preference.kit.words import (
    TOO_FEW,
    away_words,
    estimate_words,
    least_words,
    no_p_words,
    share_words,
    test_words,
)

HEADS = ("line", "share", "estimate", "p", "p (Holm)", "found with 80 % power from")
LOG_ODDS, ODDS, TIMES = "log odds", "odds ratio", "ratio"
NOTES = (
    "Shares among the decided with Wilson 95 % intervals and exact sign tests. The last column is "
    "the smallest effect that 80 % power would find at a two-sided 5 % level with as many ratings: "
    "a smaller one may well be there.",
    "Longer texts: words of the candidates as shown, median of each list. The share does not know "
    "which model has the longer texts; the slope is adjusted for that. Longer texts may be "
    "preferred because they say more.",
    "Look-alike: exactly one list holds a near-duplicate of the query or a candidate of its own "
    "patient.",
    "The form of an item stands for its modality: no table of the tasks names the modality.",
    "Along the session: ratio from the first item to the last, adjusted for form and rater.",
)
Row = tuple[Cell, ...]


def bias_grid(analysis: Analysis) -> Grid:
    """Every line of every pair, then those along the session."""
    many = len(analysis.pairs) > 1
    rows: list[Row] = []
    for pair in analysis.pairs:
        lead = f"{pair.first}-{pair.second}: " if many else ""
        rows += [(f"{lead}{name}", *cells) for name, *cells in _of_pair(pair)]
    rows += _session(analysis, "left list" if many else analysis.pairs[0].first)
    notes = list(NOTES)
    for pair in analysis.pairs:
        if pair.side_by_form.heterogeneity is not None:
            notes.append(f"Sides by form: {test_told(pair.side_by_form.heterogeneity)}.")
    return Grid("bias", "Bias panel", HEADS, tuple(rows), tuple(notes))


def _of_pair(pair: Pair) -> Iterator[Row]:
    yield from _sides(pair)
    length, kin = pair.length, pair.lookalike
    if length.note:
        yield ("longer texts preferred", length.note, "-", "-", "-", "-")
    else:
        yield ("longer texts preferred", length.longer, "-", _p(length.sign), "-",
               away_words(length.smallest_detectable))  # fmt: skip
        yield ("log odds for each doubling of words", "-", length.slope, _p(length.slope_test),
               "-", least_words(length.slope_smallest, what=LOG_ODDS))  # fmt: skip
    if kin.note:
        yield ("look-alike of the query preferred", kin.note, "-", "-", "-", "-")
        return
    yield ("look-alike of the query preferred", kin.preferred, "-", _p(kin.sign), "-",
           away_words(kin.smallest_detectable))  # fmt: skip
    yield ("near-duplicate of the query preferred", kin.near_query, "-", "-", "-",
           away_words(kin.near_query_smallest))  # fmt: skip
    yield ("the query's own patient preferred", kin.same_patient, "-", "-", "-",
           away_words(kin.same_patient_smallest))  # fmt: skip


def _sides(pair: Pair) -> Iterator[Row]:
    side, forms, fit = pair.side, pair.side_by_form, pair.davidson
    yield ("left list chosen", side.left, "-", _p(side.sign), "-",
           away_words(side.smallest_detectable))  # fmt: skip
    yield ("advantage of the left side, log odds", "-", fit.order, _p(fit.order_test), "-",
           least_words(fit.order_smallest, what=LOG_ODDS))  # fmt: skip
    for one in forms.groups:
        yield (f"left list chosen, {one.title}", one.left, "-", _p(one.sign),
               PValue(one.sign, "yes"), away_words(one.smallest_detectable))  # fmt: skip
    if forms.heterogeneity is not None:
        yield ("sides differ between forms", "-", "-", _p(forms.heterogeneity), "-",
               least_words(forms.smallest_effect, what="Cohen's w"))  # fmt: skip


def _session(analysis: Analysis, liked: str) -> list[Row]:
    found = analysis.fatigue
    return [
        ("ties along the session", "-", found.tie_trend, _p(found.tie_test), "-",
         least_words(found.tie_trend_smallest, what=ODDS)),
        (f"preference for {liked} along the session", "-", found.preference_trend,
         _p(found.preference_test), "-",
         least_words(found.preference_trend_smallest, what=ODDS)),
        ("time to answer along the session", "-", found.time_trend, _p(found.time_test), "-",
         least_words(found.time_trend_smallest, what=TIMES)),
    ]  # fmt: skip


def _p(test: Test) -> Cell:
    """The p-value, or why there is none."""
    return PValue(test) if test.p is not None else no_p_words(test)


def bias_words(analysis: Analysis) -> str:
    """The panel for the text of a paper."""
    many = len(analysis.pairs) > 1
    told = []
    for pair in analysis.pairs:
        lead = f"{pair.first} and {pair.second}: " if many else ""
        told.append(f"{lead}{_side_words(pair)} {_length_words(pair)} {_kin_words(pair)}")
    found = analysis.fatigue
    trends = (
        ("Ties", found.tie_trend, found.tie_test, found.tie_trend_smallest),
        ("Preference", found.preference_trend, found.preference_test,
         found.preference_trend_smallest),
        ("Time to answer", found.time_trend, found.time_test, found.time_trend_smallest),
    )  # fmt: skip
    said = " ".join(
        f"{name} along the session, ratio of last to first item: {estimate_words(trend)}, "
        f"{test_words(test)}; {_power(least_words(least, what='a ratio of'))}."
        for name, trend, test, least in trends
    )
    return "\n\n".join([*told, said])


def _power(least: str) -> str:
    return least if least == TOO_FEW else f"80 % power would find {least}"


def _side_words(pair: Pair) -> str:
    side, forms = pair.side, pair.side_by_form
    if not side.left.n:
        return "No rating preferred one list, so nothing can be said about the sides."
    told = (
        f"The left list was chosen in {share_words(side.left)} of the decided ratings, "
        f"{test_words(side.sign)}; {_power(away_words(side.smallest_detectable))}."
    )
    if forms.heterogeneity is None:
        return told
    least = least_words(forms.smallest_effect, what="Cohen's w of")
    return (
        f"{told} One test of the sides between the forms, {test_words(forms.heterogeneity)}; "
        f"{_power(least)}."
    )


def _length_words(pair: Pair) -> str:
    found = pair.length
    if found.note:
        return f"Whether longer texts were preferred cannot be told: {found.note}."
    told = ""
    if found.longer.n:
        told = (
            "The list with the longer texts was preferred in "
            f"{share_words(found.longer)}, {test_words(found.sign)}; "
            f"{_power(away_words(found.smallest_detectable))}. "
        )
    return (
        f"{told}Log odds for each doubling of the words, adjusted for the model: "
        f"{estimate_words(found.slope)}, {test_words(found.slope_test)}; "
        f"{_power(least_words(found.slope_smallest, what='log odds of'))}."
    )


def _kin_words(pair: Pair) -> str:
    found = pair.lookalike
    if found.note or not found.preferred.n:
        why = found.note or "no rating of such an item preferred one list"
        return f"Whether look-alikes of the query were preferred cannot be told: {why}."
    return (
        "Where exactly one list held a near-duplicate of the query or its own patient, it was "
        f"preferred in {share_words(found.preferred)}, {test_words(found.sign)}; "
        f"{_power(away_words(found.smallest_detectable))}."
    )
