"""All readers together: each reader's own number, and their mean for other readers and items.

Owns one panel of the sheet of consistency; computes nothing.
"""

from __future__ import annotations

from app.presenters.statistics_look import Look
from app.presenters.statistics_words import (
    DEFINED,
    bracket,
    estimate_words,
    fields_of,
    net_dot,
    points_words,
    said,
    scaled,
    share_dot,
    share_words,
)
from app.shown_statistics import Branch, Dot, Forest, Grid, Line, Panel
from studies.preference.analysis.schema import Block, Estimate, Pooled

TITLE = "All readers together, for other readers and other items"
MEAN = "Mean of the readers"
MEANS = (
    "Every reader weighs the same. The interval allows for other readers and other items: "
    "the variance of Obuchowski and Rockette with tasks as clusters, quantile after Cochran."
)
NOTE = "Intervals of one reader are for other items alone; those of the mean for other readers too."
TWO = "Two readers say little about others, so the interval of the mean is wide."


def pooled_panels(look: Look) -> list[Panel]:
    """The panel; none where one reader read or is chosen."""
    found, table = look.pair.pooled, look.table("rater")
    if found is None or table is None:
        return []
    branches = [_branch(look, one) for one in table.blocks]
    branches.append(Branch(MEAN, found.net.n, _dots(look, found), whole=True,
                           behind=look.all_behind("leave out")))  # fmt: skip
    fields = fields_of(look.first, look.second, [branch.dots[0] for branch in branches])
    head = ("Reader", "n", "Net preference", "Among decided")
    grid = Grid(TITLE, head, _lines(look, found, table.blocks),
                ("", DEFINED["n"], DEFINED["net"], DEFINED["decided"]))  # fmt: skip
    notes = (MEANS, NOTE, TWO) if found.raters == 2 else (MEANS, NOTE)
    parts = (Forest(TITLE, fields, tuple(branches)), grid)
    return [Panel("pooled", TITLE, _says(found), parts, notes)]


def _branch(look: Look, block: Block) -> Branch:
    title = look.title_of(block)
    decided = share_dot(block.first_decided, f"{title}, {look.first} among decided",
                        DEFINED["decided"])  # fmt: skip
    dots = (net_dot(block, title), decided)
    return Branch(title, block.n, dots, behind=look.behind_of(block))


def _dots(look: Look, found: Pooled) -> tuple[Dot, Dot]:
    return (
        _dot(found.net, "+", f"{MEAN}, net preference: {points_words(found.net)}. {MEANS}"),
        _dot(found.decided, "-", f"{MEAN}, {look.first} among decided: {_percent(found)}. {MEANS}"),
    )


def _dot(estimate: Estimate, sign: str, words: str) -> Dot:
    if estimate.value is None:
        return Dot(None, None, None, "none", words)
    label = f"{100 * estimate.value:{sign}.1f}{bracket(estimate, 100, 1)}"
    return Dot(*scaled(estimate, 100), label, words)


def _lines(look: Look, found: Pooled, blocks: tuple[Block, ...]) -> tuple[Line, ...]:
    lines = []
    for one in blocks:
        title, net = look.title_of(one), points_words(one.net)
        cells = (title, str(one.n), net, share_words(one.first_decided))
        lines.append(Line(cells, said(title, net, DEFINED["net"]), look.behind_of(one)))
    net = points_words(found.net)
    cells = (MEAN, str(found.net.n), net, _percent(found))
    lines.append(Line(cells, said(MEAN, net, MEANS), look.all_behind("leave out")))
    return tuple(lines)


def _percent(found: Pooled) -> str:
    return estimate_words(found.decided, digits=1, percent="yes")


def _says(found: Pooled) -> str:
    told = f"{MEAN}: net preference {points_words(found.net)}."
    if found.rater_sd is not None:
        told += (
            " Beyond chance, readers differ by a standard deviation of "
            f"{found.rater_sd:.3f} in net preference ({found.raters} readers)."
        )
    if found.from_raters is not None:
        told += (
            f" More readers would lower {found.from_raters:.2f} of the variance, "
            "more items the rest."
        )
    return told
