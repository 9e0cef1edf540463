"""The bias panel as one table and as sentences: each line with interval, n and what it could find.

Owns the order of the lines and their words. A fact that a study did not record is said to be so.
Refuses to say that there is no bias: it says how large one would have been found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from studies.preference.analysis.schema import Analysis, Estimate, Pair, Share, Test
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
VOTE = "one vote for each item"
LOG_ODDS, ODDS, TIMES = "log odds", "odds ratio", "ratio"
NOTES = (
    "Shares among the decided with Wilson 95 % intervals and exact sign tests. The last column is "
    "the smallest effect that 80 % power would find at a two-sided 5 % level with as many ratings: "
    f"a smaller one may well be there; {TOO_FEW} where none but the same choice every time, or a "
    "ratio beyond ten, would be found.",
    "Longer texts: words of the candidates as shown, median of each list. The share does not know "
    "which model has the longer texts; the slope is adjusted for that. Longer texts may be "
    "preferred because they say more.",
    "Look-alike: exactly one list holds a near-duplicate of the query or a candidate of its own "
    "patient. The share does not know which model finds more of them, nor whether they are right.",
    "The form of an item stands for its modality: no table of the tasks names the modality.",
    "Along the session: ratio from the first item to the last, adjusted for form and rater.",
)
SEVERAL = (
    "Of several raters, the tests of longer texts and look-alikes take one vote for each item (the "
    "list that more of its decided ratings prefer), with the votes as their n, and the slope has "
    "errors by item. Intervals of shares and every other line count the ratings as if they were "
    "independent."
)


@dataclass(frozen=True)
class BiasLine:
    """One line of the panel.

    Attributes:
        key: ``left``, ``order``, ``form:2d`` ..., ``forms``, ``longer``, ``doubling``,
            ``lookalike``, ``near_query``, ``same_patient``, ``ties``, ``preference``, ``times``.
        found: its number, or why there is none; "-" for a test alone.
        least: the smallest effect that 80 % power would find, in words.
    """

    key: str
    name: str
    found: Share | Estimate | str
    test: Test | None = None
    least: str = "-"

    @property
    def n(self) -> int:
        """What it was computed from."""
        if not isinstance(self.found, str):
            return self.found.n
        return 0 if self.test is None else self.test.n

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The line as cells under ``HEADS``."""
        share = "-" if isinstance(self.found, Estimate) else self.found
        estimate = self.found if isinstance(self.found, Estimate) else "-"
        if self.test is None:
            return (self.name, share, estimate, "-", "-", self.least)
        voted = isinstance(self.found, Share) and self.test.n != self.found.n
        name = f"{self.name}; p of {self.test.n} items, {VOTE}" if voted else self.name
        return (name, share, estimate, _p(self.test), PValue(self.test, "yes"), self.least)


def bias_grid(analysis: Analysis) -> Grid:
    """Every line of every pair, then those along the session."""
    many = len(analysis.pairs) > 1
    lines: list[BiasLine] = []
    for pair in analysis.pairs:
        lead = f"{pair.first}-{pair.second}: " if many else ""
        lines += [replace(one, name=f"{lead}{one.name}") for one in pair_lines(pair)]
    lines += session_lines(analysis, "left list" if many else analysis.pairs[0].first)
    notes = list(notes_of(analysis))
    for pair in analysis.pairs:
        if pair.side_by_form.heterogeneity is not None:
            notes.append(f"Sides by form: {test_told(pair.side_by_form.heterogeneity)}.")
    return Grid("bias", "Bias panel", HEADS, tuple(one.cells for one in lines), tuple(notes))


def notes_of(analysis: Analysis) -> tuple[str, ...]:
    """What the lines are; of several raters which lines take their ratings as independent."""
    if len(analysis.raters) < 2:
        return NOTES
    return (*NOTES, SEVERAL)


def pair_lines(pair: Pair) -> tuple[BiasLine, ...]:
    """The lines of one pair of models: sides, longer texts, look-alikes."""
    return (*_sides(pair), *_length(pair), *_kin(pair))


def _sides(pair: Pair) -> Iterator[BiasLine]:
    side, forms, fit = pair.side, pair.side_by_form, pair.davidson
    yield BiasLine(
        *("left", "left list chosen", side.left, side.sign),
        away_words(side.smallest_detectable),
    )
    yield BiasLine(
        *("order", "advantage of the left side, log odds", fit.order, fit.order_test),
        found_from(fit.order, fit.order_smallest, LOG_ODDS),
    )
    for one in forms.groups:
        yield BiasLine(
            *(f"form:{one.name}", f"left list chosen, {one.title}", one.left, one.sign),
            away_words(one.smallest_detectable),
        )
    if forms.heterogeneity is not None:
        yield BiasLine(
            *("forms", "sides differ between forms", "-", forms.heterogeneity),
            least_words(forms.smallest_effect, what="Cohen's w"),
        )


def _length(pair: Pair) -> Iterator[BiasLine]:
    found = pair.length
    if found.note:
        yield BiasLine("longer", "longer texts preferred", found.note)
        return
    yield BiasLine(
        *("longer", "longer texts preferred", found.longer, found.sign),
        away_words(found.smallest_detectable),
    )
    yield BiasLine(
        *("doubling", "log odds for each doubling of words", found.slope, found.slope_test),
        found_from(found.slope, found.slope_smallest, LOG_ODDS),
    )


def _kin(pair: Pair) -> Iterator[BiasLine]:
    found = pair.lookalike
    if found.note:
        yield BiasLine("lookalike", "look-alike of the query preferred", found.note)
        return
    for key, name, share, test, least in (
        ("lookalike", "look-alike of the query preferred", found.preferred, found.sign,
         found.smallest_detectable),
        ("near_query", "near-duplicate of the query preferred", found.near_query, None,
         found.near_query_smallest),
        ("same_patient", "the query's own patient preferred", found.same_patient, None,
         found.same_patient_smallest),
    ):  # fmt: skip
        yield BiasLine(key, name, share, test, away_words(least))


def session_lines(analysis: Analysis, liked: str) -> tuple[BiasLine, ...]:
    """The lines along the session; ``liked`` is whose preference is followed."""
    found = analysis.fatigue
    return (
        BiasLine("ties", "ties along the session", found.tie_trend, found.tie_test,
                 found_from(found.tie_trend, found.tie_trend_smallest, ODDS)),
        BiasLine("preference", f"preference for {liked} along the session",
                 found.preference_trend, found.preference_test,
                 found_from(found.preference_trend, found.preference_trend_smallest, ODDS)),
        BiasLine("times", "time to answer along the session", found.time_trend, found.time_test,
                 found_from(found.time_trend, found.time_trend_smallest, TIMES)),
    )  # fmt: skip


def found_from(found: Estimate, least: float | None, what: str) -> str:
    """What could have been found; a dash where there is no number, which says why itself."""
    return "-" if found.value is None else least_words(least, what=what)


def _p(test: Test) -> Cell:
    """The p-value, or why there is none."""
    return PValue(test) if test.p is not None else no_p_words(test)


def bias_words(analysis: Analysis) -> str:
    """The panel for the text of a paper."""
    many = len(analysis.pairs) > 1
    told = []
    for pair in analysis.pairs:
        lead = f"{pair.first} and {pair.second}: " if many else ""
        told.append(f"{lead}{side_words(pair)} {length_words(pair)} {kin_words(pair)}")
    found = analysis.fatigue
    trends = (
        ("Ties", found.tie_trend, found.tie_test, found.tie_trend_smallest),
        ("Preference", found.preference_trend, found.preference_test,
         found.preference_trend_smallest),
        ("Time to answer", found.time_trend, found.time_test, found.time_trend_smallest),
    )  # fmt: skip
    said = " ".join(
        f"{name} along the session, ratio of last to first item: {estimate_words(trend)}, "
        f"{test_words(test)}{_power(found_from(trend, least, 'a ratio of'))}."
        for name, trend, test, least in trends
    )
    return "\n\n".join([*told, said])


def _power(least: str) -> str:
    """The end of a sentence; nothing where there is no number to find."""
    if least == "-":
        return ""
    if least == TOO_FEW:
        return f"; {TOO_FEW} what 80 % power would find"
    return f"; 80 % power would find {least}"


def side_words(pair: Pair) -> str:
    """Sides, and their one test between forms."""
    side, forms = pair.side, pair.side_by_form
    if not side.left.n:
        return "No rating preferred one list, so nothing can be said about the sides."
    told = (
        f"The left list was chosen in {share_words(side.left)} of the decided ratings, "
        f"{of_ratings(pair)}{test_words(side.sign)}{_power(away_words(side.smallest_detectable))}."
    )
    if forms.heterogeneity is None:
        return told
    least = least_words(forms.smallest_effect, what="Cohen's w of")
    return (
        f"{told} One test of the sides between the forms, {test_words(forms.heterogeneity)}"
        f"{_power(least)}."
    )


def of_ratings(pair: Pair) -> str:
    """That a sign test is of ratings, where there is one of votes too; ends in a blank."""
    return "" if pair.majority is None else "sign test of all ratings "


def length_words(pair: Pair) -> str:
    """Longer texts."""
    found = pair.length
    if found.note:
        return f"Whether longer texts were preferred cannot be told: {found.note}."
    told = ""
    if found.longer.n:
        told = (
            "The list with the longer texts was preferred in "
            f"{share_words(found.longer)}, {_voted(found.longer, found.sign)}"
            f"{_power(away_words(found.smallest_detectable))}; not adjusted for the model. "
        )
    return (
        f"{told}Log odds for each doubling of the words, adjusted for the model: "
        f"{estimate_words(found.slope)}, {test_words(found.slope_test)}"
        f"{_power(found_from(found.slope, found.slope_smallest, 'log odds of'))}."
    )


def kin_words(pair: Pair) -> str:
    """Look-alikes of the query."""
    found = pair.lookalike
    if found.note or not found.preferred.n:
        why = found.note or "no rating of such an item preferred one list"
        return f"Whether look-alikes of the query were preferred cannot be told: {why}."
    return (
        "Where exactly one list held a near-duplicate of the query or its own patient, it was "
        f"preferred in {share_words(found.preferred)}, {_voted(found.preferred, found.sign)}"
        f"{_power(away_words(found.smallest_detectable))}; not adjusted for the model."
    )


def _voted(found: Share, test: Test) -> str:
    """The sign test; where it is not of the share's ratings, that its n are votes."""
    return f"by {VOTE}: {test_words(test)}" if test.n != found.n else test_words(test)
