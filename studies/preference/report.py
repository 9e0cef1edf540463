"""The statistics in words: JSON, plain text, Markdown. Numbers come from ``statistics`` only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from studies.preference.statistics import LEAST_FOR_P, Block, Share, Statistics

HEADS = ("group", "n", "A better", "B better", "tie", "both", "neither", "A of decided", "p")

BRIEF = ("group", "n", "A better", "B better", "tie", "both, neither", "A of decided", "p")


def to_json(statistics: Statistics) -> dict[str, Any]:
    """Every number, with the hash of the study; plain JSON values."""
    return asdict(statistics)


def to_text(statistics: Statistics) -> str:
    """For a terminal."""
    rows = [BRIEF, *(_brief(one) for one in blocks(statistics))]
    widths = [max(len(row[place]) for row in rows) for place in range(len(BRIEF))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(r, widths, strict=True)) for r in rows]
    return "\n".join(
        [*_opening(statistics), "", *(line.rstrip() for line in lines), "", *_notes(statistics)]
    )


def to_markdown(statistics: Statistics) -> str:
    """For a document."""
    rows = [HEADS, ("---",) * len(HEADS), *(_cells(one) for one in blocks(statistics))]
    table = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    opening = _opening(statistics)
    return "\n".join(
        [
            f"# {opening[0]}",
            "",
            *(f"- {line}" for line in opening[1:]),
            "",
            *table,
            "",
            *(f"- {line}" for line in _notes(statistics)),
            "",
        ]
    )


def blocks(statistics: Statistics) -> tuple[Block, ...]:
    """Every group in the order of the tables."""
    first = [statistics.overall]
    if statistics.auto_ties:
        first.append(statistics.with_auto_ties)
    return (*first, *statistics.strata, *statistics.families, *statistics.forms)


def share_words(share: Share) -> str:
    """For example ``49.1 % [44.8, 53.3] (260 of 530)``; a dash where there is nothing."""
    if share.share is None or share.low is None or share.high is None:
        return "-"
    interval = f"[{100 * share.low:.1f}, {100 * share.high:.1f}]"
    return f"{100 * share.share:.1f} % {interval} ({share.count} of {share.n})"


def p_words(p: float | None) -> str:
    """For example ``0.0360`` or ``1.4e-12``; says why there is none."""
    if p is None:
        return f"n < {LEAST_FOR_P}"
    return f"{p:.1e}" if p < 0.001 else f"{p:.3f}"


def _cells(one: Block) -> tuple[str, ...]:
    shares = (one.a, one.b, one.tie, one.both, one.neither, one.a_decided)
    return (one.title, str(one.n), *(share_words(share) for share in shares), p_words(one.p))


def _brief(one: Block) -> tuple[str, ...]:
    shares = tuple(share_words(found).partition(" (")[0] for found in (one.a, one.b, one.tie))
    kinds = f"{one.both.count}, {one.neither.count}"
    return (one.title, str(one.n), *shares, kinds, share_words(one.a_decided), p_words(one.p))


def _opening(statistics: Statistics) -> list[str]:
    return [
        f"Preference study: {statistics.title}",
        f"A = {statistics.model_a}, B = {statistics.model_b}",
        f"study {statistics.study_id}, hash {statistics.hash}",
        f"unblinded {statistics.unblinded_utc}: {statistics.reason}",
        f"raters: {_listed(statistics.raters)}; {statistics.overall.n} ratings, "
        f"{statistics.unanswered} not answered, {statistics.changed} taken back (Ctrl+Z)",
    ]


def _notes(statistics: Statistics) -> list[str]:
    notes = [
        "Shares with Wilson 95 % intervals; p is the exact two-sided sign test on decided items.",
        f"Left among decided: {share_words(statistics.left)}, p {p_words(statistics.left_p)}.",
        f"Identical lists: {statistics.auto_ties}, recorded as ties and never shown"
        + ("; shares are given with and without them." if statistics.auto_ties else "."),
    ]
    if len(statistics.raters) > 1:
        notes.append("Ratings of all raters are pooled; an item read twice counts twice.")
    return notes


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if names else "none"
