"""What each number of the Statistics page means, in one sentence, and the pieces it is drawn of.

Owns definitions and the step from a share to a mark. Formats with ``kit.words``, like every table
that is published; computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from app.presenters.statistics_behind import more
from app.shown_statistics import Bar, Behind, Dot, Field, Piece
from studies.preference.analysis.schema import Block, Estimate, Share
from studies.preference.kit.words import (
    estimate_words,
    points_words,
    seconds_words,
    share_words,
    test_words,
)

CLEAR = 0.05  # what is below is said to be more than chance alone would explain
WILSON = "95 % interval after Wilson"
DEFINED = {
    "n": "Answers in force in this group; an item read by two raters counts twice.",
    "better": "Share of all answers of the group that preferred this model.",
    "tie": "Share of all answers that preferred neither list: both useful, neither useful, and "
    "identical lists where these are counted.",
    "both": "Share of all answers that found both lists useful.",
    "neither": "Share of all answers that found neither list useful.",
    "auto": "Identical lists, recorded as ties and never shown.",
    "split": "Items on which no answer has more than half of the votes, or as many of the votes "
    "for a tie say both useful as neither useful; they count as ties.",
    "decided": "Share of the first model among the answers that preferred one list.",
    "sign": "Exact two-sided sign test: how often chance alone would split the decided answers "
    "at least so unevenly.",
    "holm": "The p-value adjusted for the number of rows of its table (Holm).",
    "net": "Answers for the first model minus answers for the second, in points of all answers; "
    "the interval resamples tasks, then items in them.",
    "time": "Median time from showing an item to its answer, idle time taken out.",
}
HEAD_TIPS = tuple(
    DEFINED.get(name, "") for name in
    ("", "n", "better", "better", "tie", "decided", "sign", "net", "both", "neither", "time")
)  # fmt: skip


def percent(share: Share) -> tuple[float, float | None, float | None]:
    """A share and its interval in percent; 0 and no interval where n is 0."""
    if share.share is None or share.low is None or share.high is None:
        return 0.0, None, None
    return 100 * share.share, 100 * share.low, 100 * share.high


def said(what: str, words: str, definition: str) -> str:
    """What a mark says on hover: its number with n and interval, then what it is."""
    return f"{what}: {words}. {definition}"


def piece(word: str, fill: str, share: Share, title: str, behind: Behind | None) -> Piece:
    """One part of a stacked bar."""
    value, low, high = percent(share)
    kind = fill if fill in ("both", "neither", "auto") else "better"
    words = said(f"{title}, {word}", share_words(share), f"{DEFINED[kind]} {WILSON}.")
    return Piece(word, fill, share.count, value, low, high, words, behind)


def bar_of(
    block: Block, first: str, second: str, behind: Behind, *, title: str = "", group: str = ""
) -> Bar:
    """A group of answers as one bar."""
    name = title or block.title
    parts = (
        (f"{first} better", "first", block.first, "first"),
        ("both useful", "both", block.both, "both"),
        ("neither useful", "neither", block.neither, "neither"),
        ("identical lists", "auto", block.auto_tie, "auto_tie"),
        (f"{second} better", "second", block.second, "second"),
    )
    pieces: tuple[Piece, ...] = tuple(
        piece(word, fill, share, name, more(behind, f"{name}, {word}", preferred=key))
        for word, fill, share, key in parts
    )
    split = block.tie.count - sum(p.count for p in pieces if p.fill in ("both", "neither", "auto"))
    if split:
        pieces = (*pieces[:-1], _split(split, block.n, name), pieces[-1])
    tie, low, high = percent(block.tie)
    words = said(f"{name}, {first} among decided", share_words(block.first_decided),
                 f"{DEFINED['decided']} {test_words(block.sign)}.")  # fmt: skip
    return Bar(
        title=name,
        n=block.n,
        pieces=pieces,
        tie=None if low is None or high is None or not block.tie.count else (tie, low, high),
        note=decided_note(block),
        group=group,
        words=words,
        behind=behind,
    )


def _split(count: int, n: int, title: str) -> Piece:
    """Votes without a majority: ties of which nobody said whether both or neither is useful."""
    share = 100 * count / n
    words = f"{title}, no majority: {count} of {n}. {DEFINED['split']}"
    return Piece("no majority", "split", count, share, None, None, words)


def still(bar: Bar) -> Bar:
    """A bar whose parts open nothing, because a list of answers would not be what they count."""
    return replace(bar, pieces=tuple(replace(piece, behind=None) for piece in bar.pieces))


def decided_note(block: Block) -> str:
    """The first model among the decided, short enough to stand beside a bar."""
    value, low, high = percent(block.first_decided)
    if low is None or high is None:
        return "none decided"
    return f"decided {value:.1f} [{low:.1f}, {high:.1f}] of {block.first_decided.n}"


def cells_of(block: Block, title: str) -> tuple[str, ...]:
    """A group of answers as one row of a table; the words are those of the published tables.

    What is compared and tested comes first: a narrow window shows it without scrolling.
    """
    shares = (block.first, block.second, block.tie, block.first_decided)
    return (
        title,
        str(block.n),
        *(share_words(share) for share in shares),
        test_words(block.sign),
        points_words(block.net),
        share_words(block.both),
        share_words(block.neither),
        seconds_words(block.median_ms),
    )


def head_of(what: str, first: str, second: str) -> tuple[str, ...]:
    """The heads of such a table."""
    return (
        what, "n", f"{first} better", f"{second} better", "Tie", f"{first} among decided",
        "Sign test", "Net preference", "Both useful", "Neither useful", "Median time",
    )  # fmt: skip


def net_dot(block: Block, title: str) -> Dot:
    """Net preference in points."""
    net = block.net
    words = said(f"{title}, net preference", points_words(net), f"{DEFINED['net']}")
    if net.value is None:
        return Dot(None, None, None, net.note or "not defined", words)
    label = f"{100 * net.value:+.1f}{bracket(net, 100, 1)}"
    return Dot(*scaled(net, 100), label, words)


def share_dot(share: Share, what: str, definition: str) -> Dot:
    """A share in percent."""
    value, low, high = percent(share)
    words = said(what, share_words(share), f"{definition} {WILSON}.")
    if low is None or high is None:
        return Dot(None, None, None, "none", words)
    return Dot(value, low, high, f"{value:.1f} [{low:.1f}, {high:.1f}]", words)


def fields_of(first: str, second: str, nets: Iterable[Dot]) -> tuple[Field, Field]:
    """Where net preference and share among the decided are drawn side by side.

    Args:
        first: title of the first model.
        second: of the other.
        nets: the marks of net preference that must have room.
    """
    edge = _edge_of(nets)
    return (
        Field("Net preference, points", second, first, -edge, edge, 0, "", models=True),
        Field(f"{first} among decided, %", second, first, 0, 100, 50, "", models=True),
    )


def _edge_of(dots: Iterable[Dot]) -> float:
    """A round edge, the same on both sides of none, beyond every interval of a field."""
    known = [abs(v) for dot in dots for v in (dot.value, dot.low, dot.high) if v is not None]
    return float(min(100, max(20, 20 * math.ceil(max(known, default=0) / 20))))


def scaled(estimate: Estimate, factor: float) -> tuple[float | None, float | None, float | None]:
    """Value and interval times a factor."""
    value, low, high = (
        None if one is None else factor * one
        for one in (estimate.value, estimate.low, estimate.high)
    )
    return value, low, high


def bracket(estimate: Estimate, factor: float, digits: int) -> str:
    """An interval in brackets, after a space; empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = (round(factor * one, digits) + 0.0 for one in (estimate.low, estimate.high))
    return f" [{low:.{digits}f}, {high:.{digits}f}]"


def ratio_words(estimate: Estimate) -> str:
    """A ratio or an index with its interval and n."""
    return estimate_words(estimate, digits=2)
