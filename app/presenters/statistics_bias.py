"""The sheets of bias: the panel of all checks, sides, the session, whether the blinding held.

Owns the sentences: not "no bias was found", but how large a bias would have been noticed.
"""

from __future__ import annotations

from dataclasses import replace

from app.presenters.statistics_behind import behind, more
from app.presenters.statistics_checked import SMALLEST, bias_panel
from app.presenters.statistics_look import Look
from app.presenters.statistics_words import (
    CLEAR,
    percent,
    ratio_words,
    said,
    share_dot,
    share_words,
    test_words,
)
from app.shown_statistics import (
    Bar,
    Bars,
    Behind,
    Branch,
    Field,
    Forest,
    Grid,
    Line,
    Panel,
    Piece,
    Sheet,
    Stop,
    Strip,
    Strips,
)
from studies.preference.analysis.schema import Blinding, Fatigue, Share, Window
from studies.preference.kit.bias import found_from

PAIRS = "all"


def sides_sheet(look: Look) -> Sheet:
    """Every check on one panel, the sides in detail, the blinding."""
    return Sheet("sides", "Bias", (bias_panel(look), _sides(look), _blinding(look)))


def session_sheet(look: Look) -> Sheet:
    """Order and fatigue."""
    return Sheet("session", "Session", (_fatigue(look),))


def side_words(look: Look) -> str:
    """What was found of a side bias and how large one would have been noticed."""
    side = look.pair.side
    if not side.left.n:
        return "No answer preferred one list, so nothing can be said about the sides."
    told = f"The left list was chosen in {share_words(side.left)} of the decided answers"
    if side.sign.p is None:
        return f"{told}: too few for a test."
    found = "more unevenly than chance alone would" if side.sign.p < CLEAR else (
        "which chance alone could explain"
    )  # fmt: skip
    least = side.smallest_detectable
    if least is None:
        return f"{told}, {found} ({test_words(side.sign)})."
    return (
        f"{told}, {found} ({test_words(side.sign)}). With {side.left.n} decided answers a bias of "
        f"{100 * least:.1f} points away from 50 % would have been found four times out of five; a "
        "smaller one may well be there."
    )


def _sides(look: Look) -> Panel:
    title = "Side bias"
    says, rows = side_words(look), _side_rows(look)
    if not look.pair.side.left.n:
        return Panel("sides", title, says)
    branches = tuple(
        Branch(name, share.n, (share_dot(share, name, tip),), behind=known)
        for name, share, tip, known in rows
    )
    lines = [
        Line((name, share_words(share)), said(name, share_words(share), tip), known)
        for name, share, tip, known in rows
    ]
    field = Field("Share among decided, %", "less than half", "more than half", 0, 100, 50, "")
    grid = Grid(title, ("Quantity", "Share or estimate"), (*lines, *_side_lines(look)))
    notes = (
        "Each model was put on the left equally often within stratum, family and form, so a side "
        "bias adds noise and pulls both models together; it cannot favour one of them by itself.",
        "The repeats with sides swapped show the same from another side: see Consistency.",
    )
    return Panel("sides", title, says, (Forest(title, (field,), branches), grid), notes)


def _side_rows(look: Look) -> tuple[tuple[str, Share, str, Behind], ...]:
    """Name, share, definition and answers: left, and the first model on each side."""
    side, first = look.pair.side, look.first
    decided = behind("Decided answers", preferred="decided")
    return (
        ("Left list chosen", side.left, "Share of the left list among the decided answers.",
         decided),
        (f"{first} when on the left", side.first_when_left,
         "The first model among the decided answers that showed it on the left.",
         more(decided, f"Decided, {first} on the left", left=look.pair.first)),
        (f"{first} when on the right", side.first_when_right,
         "The first model among the decided answers that showed it on the right.",
         more(decided, f"Decided, {first} on the right", left=look.pair.second)),
    )  # fmt: skip


def _side_lines(look: Look) -> list[Line]:
    """What has no bar: the mean of both sides, the order term."""
    side, davidson = look.pair.side, look.pair.davidson
    lines = []
    if side.averaged is not None:
        n = side.first_when_left.n + side.first_when_right.n
        mean = f"{100 * side.averaged:.1f} % (no interval, n = {n})"
        tip = "What the share would be if both sides had been shown equally often."
        lines.append(Line((f"{look.first}, mean of both sides", mean), tip))
    name = "Advantage of the left side in the model of Davidson, log"
    tip = f"0: no side is favoured; {test_words(davidson.order_test)}."
    return [*lines, Line((name, ratio_words(davidson.order)), tip)]


# -- blinding


def blinding_words(found: Blinding) -> str:
    """What the guesses say."""
    james = found.james
    if james.value is None:
        return f"The guesses give no index: {james.note or 'too few'}."
    told = f"James's index is {ratio_words(james)}: 1 is all unsure, 0.5 chance, 0 all right"
    if james.high is not None and james.high < 0.5:
        return (
            f"{told}. Readers found the tested model more often than chance would: the blinding "
            "may not have held."
        )
    if james.low is not None and james.low > 0.5:
        return f"{told}. Nothing speaks against the blinding."
    return f"{told}. The interval holds 0.5: the guesses do not tell whether blinding held."


def _blinding(look: Look) -> Panel:
    title = "Blinding guess at the end"
    found = look.found.blinding
    if found is None or not found.n:
        return Panel("blinding", title, "No reader was asked to guess, or nobody guessed.")
    guesses = behind("Guesses", pair=PAIRS, guess="any")
    lines = [
        Line(("All guesses, James", "", "", "", ratio_words(found.james)),
             "James's index: 1 all unsure, 0.5 chance, 0 all right.", guesses)
    ]  # fmt: skip
    bars = []
    for arm, (right, wrong, unsure) in found.counts.items():
        name = _arm_words(look, arm)
        known = more(guesses, name, arm=arm)
        index = found.bang.get(arm)
        lines.append(Line(
            (name, str(right), str(wrong), str(unsure),
             "-" if index is None else ratio_words(index)),
            "Bang's index: 0 chance, 1 all right, -1 all wrong.", known,
        ))  # fmt: skip
        bars.append(_guess_bar(name, (right, wrong, unsure), known))
    head = ("Tested model stood", "Right", "Wrong", "Not sure", "Index")
    chart = Bars(title, "guessed right", "guessed wrong", tuple(bars), "", ("right", "wrong"))
    grid = Grid(title, head, tuple(lines))
    note = (
        f"{found.n} guesses in all. A guess can be right because one list is better: an index "
        "off chance is a question, no proof of a leak."
    )
    return Panel("blinding", title, blinding_words(found), (grid,) if not bars else (chart, grid),
                 (note,))  # fmt: skip


def _arm_words(look: Look, arm: str) -> str:
    letter, _, side = arm.partition(" ")
    return f"{look.found.models.get(letter, letter)} on the {side}"


def _guess_bar(title: str, counts: tuple[int, int, int], known: Behind) -> Bar:
    n = sum(counts)
    kinds = (("right", "right", 0), ("not sure", "unsure", 2), ("wrong", "wrong", 1))
    pieces = tuple(
        Piece(
            word,
            fill,
            counts[place],
            100 * counts[place] / n if n else 0.0,
            None,
            None,
            f"{title}: {counts[place]} of {n} guesses {word}.",
            more(known, f"{title}, {word}", guess={"not sure": "unsure"}.get(word, word)),
        )
        for word, fill, place in kinds
    )
    return Bar(title, n, pieces, words=f"{title}: {n} guesses.", behind=known)


# -- along the session


def trend_words(look: Look) -> str:
    """Whether ties, times or preference drift."""
    told, found = [], look.found.fatigue
    liked = "the left list" if len(look.found.pairs) > 1 else look.first
    for name, estimate, test, up, down in (
        ("Ties", found.tie_trend, found.tie_test, "became more frequent", "became rarer"),
        ("Times", found.time_trend, found.time_test, "became longer", "became shorter"),
        (f"Preference for {liked}", found.preference_trend, found.preference_test,
         "grew", "shrank"),
    ):  # fmt: skip
        if estimate.value is None or test.p is None:
            reason = estimate.note or test.note or "too few answers"
            told.append(f"{name}: no trend can be told ({reason}).")
            continue
        way = up if estimate.value > 1 else down
        sure = f"{way} from the first item to the last" if test.p < CLEAR else (
            "did not change more than chance alone could explain"
        )  # fmt: skip
        told.append(f"{name} {sure} ({test_words(test)}).")
    return " ".join(told)


def _fatigue(look: Look) -> Panel:
    title = "Ties, times and preference along the session"
    found = look.found.fatigue
    if not any(window.n for window in found.windows):
        return Panel("fatigue", title, "No item has an answer in force: there is nothing to draw.")
    windows = tuple(
        replace(one, start=one.start - look.practice, end=one.end - look.practice)
        for one in found.windows
    )
    slowest = max((w.median_ms or 0) / 1000 for w in windows)
    top = float(max(1, -(-slowest * 1.3 // 5) * 5))
    strips = [
        Strip("Ties among all answers", 100, "%", tuple(_tie_stop(w) for w in windows)),
    ]
    if slowest:
        strips.append(
            Strip("Median time to answer", top, "s", tuple(map(_time_stop, windows)), "time")
        )
    many = len(look.found.pairs) > 1
    ahead = "First model of each pair" if many else look.first
    strips.append(
        Strip(f"{ahead} among decided", 100, "%", tuple(map(_ahead_stop, windows)), "first")
    )
    chart = Strips(title, "items in the reading order, first to last", tuple(strips))
    parts = (chart, _trend_grid(found, "the left list" if many else look.first))
    notes = ("Medians carry no interval; the trends in the table do.",)
    return Panel("fatigue", title, trend_words(look), parts, notes)


def _places(window: Window) -> str:
    same = window.start == window.end
    return f"{window.start}" if same else f"{window.start}–{window.end}"


def _window_behind(window: Window) -> Behind:
    places = f"{window.start}-{window.end}"
    return behind(f"Items {_places(window)}", pair=PAIRS, places=places)


def _tie_stop(window: Window) -> Stop:
    return _share_stop(window, window.tie, "ties", "Share of all answers that are ties.")


def _ahead_stop(window: Window) -> Stop:
    tip = "Share among the answers that preferred one list."
    return _share_stop(window, window.first_decided, "among decided", tip)


def _share_stop(window: Window, share: Share, what: str, tip: str) -> Stop:
    value, low, high = percent(share)
    name = f"Items {_places(window)}, {what}"
    known = None if share.share is None else value
    words = said(name, share_words(share), tip)
    return Stop(_places(window), known, low, high, f"{value:.0f}", words, _window_behind(window))


def _time_stop(window: Window) -> Stop:
    name = f"Items {_places(window)}"
    if window.median_ms is None:
        words = f"{name}: no times were taken."
        return Stop(_places(window), None, None, None, "", words, _window_behind(window))
    seconds = window.median_ms / 1000
    words = f"{name}: median {seconds:.1f} s of {window.n} answers, idle time taken out."
    return Stop(_places(window), seconds, None, None, f"{seconds:.1f}", words,
                _window_behind(window))  # fmt: skip


def _trend_grid(found: Fatigue, ahead: str) -> Grid:
    rows = (
        ("Odds of a tie, last item against first", found.tie_trend, found.tie_test,
         found.tie_trend_smallest),
        ("Time to answer, last item against first", found.time_trend, found.time_test,
         found.time_trend_smallest),
        (f"Odds of {ahead}, last item against first", found.preference_trend,
         found.preference_test, found.preference_trend_smallest),
    )  # fmt: skip
    tip = "Ratio of last to first item in the reading order; 1 is no change."
    return Grid("Trends along the session", ("Trend", "Ratio", "Test", SMALLEST), tuple(
        Line((name, ratio_words(one), test_words(test), found_from(one, least, "ratio")), tip)
        for name, one, test, least in rows
    ))  # fmt: skip
