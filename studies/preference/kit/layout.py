"""The tables of a published study, once, as heads and cells; every format is written from these.

Owns which tables there are, their order and their notes. Cells hold values of the schema, not
words, so that a spreadsheet gets numbers and a document gets them with interval and n.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from studies.preference.analysis.schema import (
    Agreement,
    Analysis,
    Block,
    Davidson,
    Pair,
    Repeats,
    Table,
)
from studies.preference.analysis.schema_bias import NOT_RECORDED
from studies.preference.kit.bias import bias_grid
from studies.preference.kit.grid import Cell, Grid, Points, PValue, Seconds, test_told
from studies.preference.kit.words import (
    estimate_words,
    flow_words,
    p_words,
    share_words,
)


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
    made += [bias_grid(analysis), _fatigue(analysis), *_reliability(analysis), *_blinding(analysis)]
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
        _pooled(f"raters{tail}", f"{lead}Mean of the raters, for other raters and items", pair),
        _difficulty(f"difficulty{tail}", f"{lead}By difficulty", pair),
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


def _difficulty(name: str, title: str, pair: Pair) -> Grid:
    """Says so where no item has a rank of its gold answer; else the table stands with the others.

    Without a gold answer there is nothing to say.
    """
    if not pair.correctness.n or any(one.group == "difficulty" for one in pair.tables):
        return Grid(name, title, (), ())
    return Grid(name, title, ("group", "what is known"), (("all items", NOT_RECORDED),))


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
        notes.append(f"Differences between the groups: {test_told(table.heterogeneity)}.")
    return Grid(name, title, heads, tuple(rows), tuple(notes))


def _of_counting(blocks: Sequence[Block]) -> list[str]:
    """What n counts, where it is not one judgement for each item, and what a vote is."""
    notes = []
    if any(one.n > one.items for one in blocks):
        notes.append(
            "n counts the ratings of several raters. Ratings of one item are not independent; "
            "Wilson intervals and sign tests take them as if they were, the bootstrap of the net "
            "preference does not; the mean of the raters allows for other raters too. Of the sign "
            "tests that of the majority is the one to go by."
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


def _pooled(name: str, title: str, pair: Pair) -> Grid:
    """What holds for other raters too; no rows for one rater."""
    found = pair.pooled
    if found is None:
        return Grid(name, title, (), ())
    rows: tuple[tuple[Cell, ...], ...] = (
        ("net preference", found.raters, Points(found.net)),
        (f"{pair.first} among decided", found.raters, found.decided),
    )
    notes = [
        "Every rater weighs the same. The 95 % interval allows for other raters and other items: "
        "variance of Obuchowski and Rockette with tasks as clusters, quantile after Cochran."
    ]
    if found.rater_sd is not None:
        notes.append(
            f"Standard deviation of net preference between raters beyond chance: "
            f"{found.rater_sd:.3f} ({found.raters} raters)."
        )
    if found.from_raters is not None:
        notes.append(
            f"More raters would lower {found.from_raters:.2f} of the variance of the mean net "
            f"preference, more items the rest ({found.raters} raters)."
        )
    if found.raters == 2:
        notes.append("Two raters say little about others, so the intervals are wide.")
    return Grid(name, title, ("mean", "raters", "value"), rows, tuple(notes))


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
        ("left list among decided", side.left, PValue(side.sign)),
        (f"{first} among decided, {first} left", side.first_when_left, "-"),
        (f"{first} among decided, {first} right", side.first_when_right, "-"),
        ("the correct list among decided", right.right, PValue(right.test)),
        ("the correct list among all", right.of_all, "-"),
        (f"Hit@1 of {first}", hits.hit_first, PValue(hits.mcnemar)),
        (f"Hit@1 of {second}", hits.hit_second, "-"),
    ]
    notes = [
        "Correct: exactly one of the two lists has the right answer first.",
        f"Hit@1 on the same items ({hits.both} both, {hits.only_first} only {first}, "
        f"{hits.only_second} only {second}, {hits.neither} neither): exact McNemar in the table; "
        f"mid-p {p_words(hits.mid_p.p)}; {test_told(hits.clustered)}.",
        pair.clustering.sentence,
    ]
    if side.sign.note and side.sign.p is not None:
        notes.append(f"Sides and criterion validity: {side.sign.note}.")
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
    notes = [f"Order term: {test_told(fit.order_test)}."]
    if not fit.converged or fit.note:
        notes.append(fit.note or "The fit did not converge.")
    return Grid(name, title, ("parameter", "estimate"), tuple(rows), tuple(notes))


def _fatigue(analysis: Analysis) -> Grid:
    found = analysis.fatigue
    rows: list[tuple[Cell, ...]] = [
        (
            f"{one.start - found.practice} to {one.end - found.practice}",
            *(one.n, one.tie, one.first_decided, Seconds(one.median_ms)),
        )
        for one in found.windows
    ]
    notes: tuple[str, ...] = (
        f"Ties, odds ratio from first to last item: {estimate_words(found.tie_trend)}; "
        f"{test_told(found.tie_test)}.",
        f"Time to answer, ratio from first to last item: {estimate_words(found.time_trend)}; "
        f"{test_told(found.time_test)}.",
        "Preference, odds ratio from first to last item: "
        f"{estimate_words(found.preference_trend)}; {test_told(found.preference_test)}.",
    )
    many = len(analysis.pairs) > 1
    ahead = "first of each pair" if many else analysis.pairs[0].first
    heads = ("items in the reading order", "n", "tie", f"{ahead} among decided", "median time")
    if found.practice and rows:
        notes += (
            "Items count from the first after practice; position in ratings.csv and start and end "
            f"in summary.json count the {found.practice} before it too.",
        )
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
    firsts = (
        f"First answers only: {pair.first} better {share_words(pair.first_answers.first)}, "
        f"{pair.second} better {share_words(pair.first_answers.second)}, tie "
        f"{share_words(pair.first_answers.tie)}."
        for pair in analysis.pairs
    )
    notes = ("Items and repeats are those of all raters, without practice items.", *firsts)
    return Grid("missing", "Missing and changed", ("what", "count"), tuple(rows), notes)


def _flow(analysis: Analysis) -> Grid:
    rows = tuple((flow_words(word), n) for word, n in analysis.flow.items())
    return Grid("flow", "Flow of items", ("step", "count"), rows)
