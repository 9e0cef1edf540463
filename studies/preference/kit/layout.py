"""The tables of a published study, once, as heads and cells; every format is written from these.

Owns which tables there are, their order and their notes. Cells hold values of the schema, not
words, so that a spreadsheet gets numbers and a document gets them with interval and n.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from studies.preference.analysis.schema import (
    Agreement,
    Analysis,
    Block,
    Davidson,
    Estimate,
    Pair,
    Repeats,
    Share,
    Table,
    Test,
)
from studies.preference.kit.words import (
    estimate_words,
    flow_words,
    no_p_words,
    p_words,
    points_words,
    seconds_words,
    share_words,
)


@dataclass(frozen=True)
class Points:
    """An estimate that is a difference of shares."""

    estimate: Estimate


@dataclass(frozen=True)
class PValue:
    """The p-value of a test, adjusted within its table or not."""

    test: Test
    adjusted: str = "no"

    @property
    def value(self) -> float | None:
        """The number, None where there is none."""
        return self.test.p_holm if self.adjusted == "yes" else self.test.p


@dataclass(frozen=True)
class Seconds:
    """A time in ms."""

    ms: float | None


Cell = str | int | Share | Estimate | Points | PValue | Seconds


@dataclass(frozen=True)
class Grid:
    """One table.

    Attributes:
        name: short, for a sheet or a label.
        title: for people.
        heads: of the columns.
        rows: cells.
        notes: what the numbers are.
    """

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


def words_of(cell: Cell) -> str:
    """A cell for a document."""
    if isinstance(cell, Share):
        return share_words(cell)
    if isinstance(cell, Points):
        return points_words(cell.estimate)
    if isinstance(cell, Estimate):
        return estimate_words(cell)
    if isinstance(cell, PValue):
        return "-" if cell.adjusted == "yes" and cell.value is None else p_words(cell.value)
    if isinstance(cell, Seconds):
        return seconds_words(cell.ms)
    return str(cell)


def grids_of(analysis: Analysis, *, tasks: str = "leave out") -> tuple[Grid, ...]:
    """Every table that has something to say.

    Args:
        analysis: of a study.
        tasks: ``"include"`` adds the long table by task.
    """
    made: list[Grid] = []
    for pair in analysis.pairs:
        made += _of_pair(pair, many=len(analysis.pairs) > 1, tasks=tasks)
    if analysis.davidson is not None:
        made.append(_davidson("All pairs", "davidson", analysis.davidson))
    made += [_fatigue(analysis), *_reliability(analysis), *_blinding(analysis)]
    made += [_missing(analysis), _flow(analysis)]
    return tuple(one for one in made if one.rows)


def _of_pair(pair: Pair, *, many: bool, tasks: str) -> list[Grid]:
    letters = f"{pair.first}-{pair.second}"
    lead, tail = (f"{letters}: ", f" {letters}") if many else ("", "")
    blocks = [pair.overall]
    if pair.with_auto_ties.n != pair.overall.n:
        blocks.append(pair.with_auto_ties)
    if pair.majority is not None:
        blocks.append(pair.majority)
    tables = [one for one in pair.tables if one.group != "task" or tasks == "include"]
    shared = (pair.first, pair.second)
    return [
        _shares(f"shares{tail}", f"{lead}Preference", blocks, shared),
        *(_shares(f"{one.group}{tail}", f"{lead}{one.title}", one.blocks, shared, one,
                  whole=pair.overall.n)
          for one in tables),
        _net(f"net{tail}", f"{lead}Net preference and time", [pair.overall, *_spread(tables)]),
        _validity(f"validity{tail}", f"{lead}Sides, criterion validity, correctness", pair),
        _davidson(f"{lead}Model of Davidson with an order term", f"davidson{tail}", pair.davidson),
        Grid(
            f"usefulness{tail}",
            f"{lead}Usefulness of candidates (0 to 2)",
            ("model", "mean"),
            tuple(pair.usefulness.items()),
        ),
    ]  # fmt: skip


def _spread(tables: Iterable[Table]) -> list[Block]:
    return [one for table in tables for one in table.blocks]


def _shares(
    name: str,
    title: str,
    blocks: Sequence[Block],
    letters: tuple[str, str],
    table: Table | None = None,
    *,
    whole: int = 0,
) -> Grid:
    first, second = letters
    heads = ("group", "n", f"{first} better", f"{second} better", "tie", "both useful",
             "neither useful", f"{first} among decided", "p", "p (Holm)")  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            one.title,
            one.n,
            *(one.first, one.second, one.tie, one.both, one.neither, one.first_decided),
            PValue(one.sign),
            PValue(one.sign, "yes"),
        )
        for one in blocks
    ]
    notes = ["Shares with Wilson 95 % intervals; p: exact two-sided sign test on the decided."]
    notes += _of_counting(blocks)
    if any(one.sign.p_holm is not None for one in blocks):
        notes.append("Holm's adjustment is over the rows of this table.")
    unknown = whole - sum(one.n for one in blocks)
    if table is not None and unknown > 0:
        notes.append(f"{unknown} of {whole} ratings belong to none of these rows (not known).")
    if table is not None and table.heterogeneity is not None:
        notes.append(f"Differences between the groups: {_told(table.heterogeneity)}.")
    return Grid(name, title, heads, tuple(rows), tuple(notes))


def _of_counting(blocks: Sequence[Block]) -> list[str]:
    """What n counts, where it is not one judgement for each item, and what a vote is."""
    notes = []
    if any(one.n > one.items for one in blocks):
        notes.append(
            "n counts the ratings of several raters. Ratings of one item are not independent; "
            "Wilson intervals and sign tests take them as if they were, the bootstrap of the net "
            "preference does not."
        )
    for one in blocks:
        if one.group == "majority":
            split = one.tie.count - one.both.count - one.neither.count
            notes.append(
                "Majority: what more than half of the raters of an item said. "
                f"{split} of {one.n} items without such an answer, or with a tie that as many "
                "called both as neither, stand among the ties."
            )
    return notes


def _told(test: Test) -> str:
    parts = [test.name]
    if test.statistic is not None:
        parts.append(f"{test.statistic:.2f}")
    if test.df is not None:
        parts.append(f"df {test.df:g}")
    parts.append(f"p {p_words(test.p)}" if test.p is not None else no_p_words(test))
    more = f"; {test.note}" if test.note and test.p is not None else ""
    return f"{', '.join(parts)}, n = {test.n}{more}"


def _net(name: str, title: str, blocks: Sequence[Block]) -> Grid:
    rows = tuple(
        (one.title, one.n, one.items, one.tasks,
         Points(one.net), Points(one.net_bca),
         "-" if one.net_tasks is None else Points(one.net_tasks), Seconds(one.median_ms))
        for one in blocks
    )  # fmt: skip
    heads = ("group", "n", "items", "tasks", "net preference", "BCa", "tasks only", "median time")
    method = blocks[0].net.method if blocks else ""
    return Grid(name, title, heads, rows, (f"95 % intervals: {method}.",) if method else ())


def _validity(name: str, title: str, pair: Pair) -> Grid:
    side, right, hits = pair.side, pair.criterion, pair.correctness
    first, second = pair.first, pair.second
    rows: list[tuple[Cell, ...]] = [
        ("left among decided", side.left, PValue(side.sign)),
        (f"{first} among decided, {first} left", side.first_when_left, "-"),
        (f"{first} among decided, {first} right", side.first_when_right, "-"),
        ("the right list among decided", right.right, PValue(right.test)),
        ("the right list among all", right.of_all, "-"),
        (f"Hit@1 of {first}", hits.hit_first, PValue(hits.mcnemar)),
        (f"Hit@1 of {second}", hits.hit_second, "-"),
    ]
    notes = [
        "Right: exactly one of the two lists has the right answer first.",
        f"Hit@1 on the same items ({hits.both} both, {hits.only_first} only {first}, "
        f"{hits.only_second} only {second}, {hits.neither} neither): exact McNemar in the table; "
        f"mid-p {p_words(hits.mid_p.p)}; {_told(hits.clustered)}.",
        pair.clustering.sentence,
    ]
    if side.sign.note and side.sign.p is not None:
        notes.append(f"Sides and criterion validity: {side.sign.note}.")
    if side.smallest_detectable is not None:
        notes.append(
            "Smallest bias of a side that 80 % power would find at this n: "
            f"{100 * side.smallest_detectable:.1f} points (n = {side.left.n})."
        )
    return Grid(name, title, ("what", "share", "p"), tuple(rows), tuple(notes))


def _davidson(title: str, name: str, fit: Davidson) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    if fit.log_ratio is not None:
        rows.append(("log worth ratio, first to second", fit.log_ratio))
    else:
        rows += [(f"log worth of {letter}", one) for letter, one in fit.log_worth.items()]
    rows += [("log tie parameter", fit.log_tie), ("log advantage of the left side", fit.order)]
    if fit.without_order is not None:
        rows.append(("log worth ratio without the order term", fit.without_order))
    notes = [f"Order term: {_told(fit.order_test)}."]
    if not fit.converged or fit.note:
        notes.append(fit.note or "The fit did not converge.")
    return Grid(name, title, ("parameter", "estimate"), tuple(rows), tuple(notes))


def _fatigue(analysis: Analysis) -> Grid:
    found = analysis.fatigue
    rows: list[tuple[Cell, ...]] = [
        (f"{one.start} to {one.end}", one.n, one.tie, one.first_decided, Seconds(one.median_ms))
        for one in found.windows
    ]
    notes = (
        f"Ties, odds ratio from first to last item: {estimate_words(found.tie_trend)}; "
        f"{_told(found.tie_test)}.",
        f"Time to answer, ratio from first to last item: {estimate_words(found.time_trend)}; "
        f"{_told(found.time_test)}.",
        "Preference, odds ratio from first to last item: "
        f"{estimate_words(found.preference_trend)}; {_told(found.preference_test)}.",
    )
    heads = ("place in the reading", "n", "tie", "first among decided", "median time")
    return Grid("fatigue", "Along the session", heads, tuple(rows), notes)


def _reliability(analysis: Analysis) -> list[Grid]:
    heads = ("rater", "same again", "flipped", "became a tie", "was a tie", "p of drift")
    rows = tuple(
        (one.rater, one.same, one.flipped, one.to_tie, one.from_tie, PValue(one.drift))
        for one in analysis.repeats
    )
    note = (
        "Repeats came back with sides swapped; flipped means the same side again. Drift: moves "
        "towards the first model against moves towards the second, exact sign test."
    )
    agreed = [*map(_intra, analysis.repeats), *analysis.between]
    return [
        Grid("repeats", "Swapped repeats", heads, rows, (note,)),
        Grid(
            "agreement",
            "Agreement over first, second and tie",
            ("readings", "n", "observed", "kappa", "AC1", "alpha"),
            tuple(map(_agreement, agreed)),
            ("kappa: Cohen's for two readings, Fleiss's for more; AC1: Gwet's; "
             "alpha: Krippendorff's, nominal.",),
        ),
    ]  # fmt: skip


def _intra(one: Repeats) -> Agreement:
    return one.agreement


def _agreement(one: Agreement) -> tuple[Cell, ...]:
    return (one.name, one.n, one.raw, one.kappa, one.ac1, "-" if one.alpha is None else one.alpha)


def _blinding(analysis: Analysis) -> list[Grid]:
    found = analysis.blinding
    if found is None:
        return []
    rows: list[tuple[Cell, ...]] = [("James", "-", "-", "-", found.james)]
    for arm, index in found.bang.items():
        right, wrong, unsure = found.counts.get(arm, (0, 0, 0))
        rows.append((f"Bang, {arm}", right, wrong, unsure, index))
    notes = (
        "James: 1 all unsure, 0.5 chance, 0 all right. Bang: 0 chance, 1 all right, -1 all wrong.",
    )
    heads = ("index", "right", "wrong", "unsure", "value")
    return [Grid("blinding", "Blinding", heads, tuple(rows), notes)]


def _missing(analysis: Analysis) -> Grid:
    found = analysis.missing
    rows: list[tuple[Cell, ...]] = [
        ("items and repeats in the reading orders", found.places),
        ("without an answer", found.unanswered),
        *((f"cannot judge: {reason}", n) for reason, n in found.cannot.items()),
        ("answer taken back at least once", found.changed),
    ]
    first = found.first_answers
    note = (
        "Items and repeats are those of all raters, without practice items. First answers only: "
        f"preferred first {share_words(first.first)}, "
        f"second {share_words(first.second)}, tie {share_words(first.tie)}."
    )
    return Grid("missing", "Missing and changed", ("what", "count"), tuple(rows), (note,))


def _flow(analysis: Analysis) -> Grid:
    rows = tuple((flow_words(word), n) for word, n in analysis.flow.items())
    return Grid("flow", "Flow of items", ("step", "count"), rows)
