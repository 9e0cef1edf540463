"""The sheets of preference: Figure 7's bars by every way to group, and the forest plot.

Owns which groups stand together; computes nothing.
"""

from __future__ import annotations

from app.presenters.statistics_look import Look
from app.presenters.statistics_words import (
    DEFINED,
    HEAD_TIPS,
    bar_of,
    cells_of,
    fields_of,
    head_of,
    net_dot,
    points_words,
    ratio_words,
    said,
    share_dot,
    share_words,
    still,
    test_words,
)
from app.shown_statistics import (
    Bar,
    Bars,
    Behind,
    Branch,
    Forest,
    Grid,
    Line,
    Panel,
    Sheet,
)
from studies.preference.analysis.schema import Block, Davidson, Estimate, Table
from studies.preference.analysis.schema_bias import NOT_RECORDED

WHISKERS = (
    "Whiskers are Wilson 95 % intervals, each at the border of its part: above the bar those of "
    "the first model and of all ties, below it that of the second model. Where few answers leave "
    "that of the ties no room at a border, it starts from 0 % like the scale."
)
NOTHING = "No answer falls into any of these groups."
GROUPS = ("difficulty", "family", "form", "split", "anatomy", "overlap")
DIFFICULTY = (
    "Difficulty is the rank of the right answer in the whole pool under the model that ranked it "
    "better, fixed before the reading."
)


def preference_sheet(look: Look) -> Sheet:
    """Bars by top-1 correctness, by other groups, by task."""
    panels = [_strata(look), _groups(look)]
    panels += [one for one in (_crossed(look), _majority(look), _tasks(look)) if one is not None]
    return Sheet("preference", "Preference", tuple(panels))


def ends(look: Look) -> tuple[str, str]:
    """What both ends of a bar say."""
    return f"{look.first} better", f"{look.second} better"


def whole_bars(look: Look) -> list[tuple[Block, Bar, Behind]]:
    """All answers; with identical lists counted too, where there are any."""
    kinds = [("leave out", look.pair.overall, "All that were read")]
    if look.pair.with_auto_ties.auto_tie.count:
        kinds.append(("count", look.pair.with_auto_ties, "With identical lists"))
    if look.ties == "count":
        kinds.reverse()
    made = []
    for ties, block, title in kinds:
        rows = look.all_behind(ties)
        made.append((block, bar_of(block, look.first, look.second, rows, title=title), rows))
    return made


def table_bars(look: Look, table: Table) -> list[tuple[Block, Bar, Behind]]:
    """The blocks of a table."""
    return [
        (
            block,
            bar_of(
                block,
                look.first,
                look.second,
                look.behind_of(block),
                title=look.title_of(block),
                group=table.title,
            ),
            look.behind_of(block),
        )
        for block in table.blocks
    ]


def grid_of(look: Look, name: str, what: str, rows: list[tuple[Block, Bar, Behind]]) -> Grid:
    """The numbers of some bars as a table."""
    lines = tuple(Line(cells_of(block, bar.title), bar.words, known) for block, bar, known in rows)
    return Grid(name, head_of(what, look.first, look.second), lines, HEAD_TIPS)


def difference_words(table: Table) -> str:
    """Whether the groups of a table differ, in words."""
    test = table.heterogeneity
    if test is None:
        return f"{table.title}: one group, nothing to compare."
    if test.p is None:
        return f"{table.title}: no test of a difference between the groups ({test_words(test)})."
    differ = "differ more than chance alone would explain" if test.p < 0.05 else (
        "do not differ more than chance alone could explain"
    )  # fmt: skip
    return f"{table.title} the groups {differ} ({test.name}, {test_words(test)})."


def _strata(look: Look) -> Panel:
    title = "Preference by top-1 correctness"
    if not look.pair.with_auto_ties.n:
        return Panel("strata", title, "No item has an answer in force: there is nothing to draw.")
    rows = whole_bars(look)
    table = look.table("stratum")
    notes = [WHISKERS]
    says = ""
    if look.has_gold and table is not None:
        rows += table_bars(look, table)
        says = difference_words(table)
    else:
        says = "No item has a known right answer, so there are no groups by top-1 correctness."
    raters = look.table("rater")
    if raters is not None and len(raters.blocks) > 1:
        rows += table_bars(look, raters)
        says = f"{says} {difference_words(raters)}".strip()
        notes.append("All pools the answers of every reader: an item read twice counts twice.")
    bars = Bars(title, *ends(look), tuple(bar for _block, bar, _rows in rows))
    return Panel("strata", title, says, (bars, grid_of(look, title, "Group", rows)), tuple(notes))


def _groups(look: Look) -> Panel:
    title = "Preference by difficulty, family, form, split, anatomy and overlap"
    rows, told = [], []
    for group in GROUPS:
        table = look.table(group)
        if table is not None and len(table.blocks) > 1:
            rows += table_bars(look, table)
            told.append(difference_words(table))
    if not rows:
        return Panel("groups", title, "All answers fall into one group; there is nothing to split.")
    bars = Bars(title, *ends(look), tuple(bar for _block, bar, _rows in rows))
    parts = (bars, grid_of(look, title, "Group", rows))
    return Panel("groups", title, " ".join(told), parts, (WHISKERS, *_difficulty(look)))


def _difficulty(look: Look) -> tuple[str, ...]:
    """What difficulty is, or that nobody recorded it; nothing where no answer is right."""
    if not look.pair.correctness.n:
        return ()
    if look.table("difficulty") is None:
        return (f"Difficulty: {NOT_RECORDED}.",)
    return (DIFFICULTY,)


def _majority(look: Look) -> Panel | None:
    block = look.pair.majority
    if block is None:
        return None
    title = "One vote per item: the majority of the readers"
    known = look.all_behind("leave out")
    # A vote is of several answers: the whole bar lists them, its parts list none.
    bar = still(bar_of(block, look.first, look.second, known))
    grid = grid_of(look, title, "Vote", [(block, bar, known)])
    bars = Bars(title, *ends(look), (bar,))
    return Panel("majority", title, "", (bars, grid), (WHISKERS,))


def _crossed(look: Look) -> Panel | None:
    title = "Preference by top-1 correctness and form"
    table = look.table("stratum_form")
    if table is None or len(table.blocks) < 2 or not look.has_gold:
        return None
    rows = table_bars(look, table)
    bars = Bars(title, *ends(look), tuple(bar for _block, bar, _rows in rows))
    note = "Exploratory: the cells are small, and there is no p-value below 10."
    parts = (bars, grid_of(look, title, "Group", rows))
    return Panel("crossed", title, difference_words(table), parts, (WHISKERS, note))


def _tasks(look: Look) -> Panel | None:
    title = "Preference by task"
    rows = [] if (table := look.table("task")) is None else table_bars(look, table)
    if len(rows) < 2:
        return None
    note = "Exploratory: a task has few items; intervals are wide and there is no p-value below 10."
    says = difference_words(table) if table is not None else ""
    return Panel("tasks", title, says, (grid_of(look, title, "Task", rows),), (note,))


# -- the forest plot


def forest_sheet(look: Look) -> Sheet:
    """Net preference and decided share by family and form, the models behind them."""
    panels = (_forest(look), _davidson(look), _clustering(look))
    return Sheet("forest", "Forest", panels)


def _forest(look: Look) -> Panel:
    title = "Net preference and share among decided"
    block = look.whole
    if not block.n:
        return Panel("forest", title, "No item has an answer in force: there is nothing to draw.")
    branches = [_branch(look, block, "All", look.whole_behind, group="", whole=True)]
    lines = [_net_line(block, "All", look.whole_behind)]
    for group in ("stratum", "difficulty", "family", "form", "split"):
        table = look.table(group)
        if table is None or (group == "stratum" and not look.has_gold):
            continue
        for one in table.blocks:
            name, known = look.title_of(one), look.behind_of(one)
            branches.append(_branch(look, one, name, known, group=table.title, whole=False))
            lines.append(_net_line(one, name, known))
    fields = fields_of(look.first, look.second, [branch.dots[0] for branch in branches])
    head = ("Group", "n", "Net preference", "Among decided", "Sign test",
            "Net preference, BCa", "Net preference, whole tasks resampled")  # fmt: skip
    tips = ("", DEFINED["n"], DEFINED["net"], DEFINED["decided"], DEFINED["sign"],
            "The same draws, bias-corrected and accelerated.",
            "Tasks resampled and nothing within them; narrower.")  # fmt: skip
    grid = Grid(title, head, tuple(lines), tips)
    notes = (
        "A square is a group, larger with its n; the diamond and the dashed line are the whole.",
        f"Bootstrap: {look.found.draws:,} draws, seed {look.found.seed}.",
    )
    says = f"Net preference {points_words(block.net)}: above 0 {look.first} is ahead."
    return Panel("forest", title, says, (Forest(title, fields, tuple(branches)), grid), notes)


def _branch(
    look: Look, block: Block, title: str, known: Behind, *, group: str, whole: bool
) -> Branch:
    dots = (
        net_dot(block, title),
        share_dot(block.first_decided, f"{title}, {look.first} among decided", DEFINED["decided"]),
    )
    return Branch(title, block.n, dots, group, whole, known)


def _net_line(block: Block, title: str, known: Behind) -> Line:
    whole = "-" if block.net_tasks is None else points_words(block.net_tasks)
    cells = (title, str(block.n), points_words(block.net), share_words(block.first_decided),
             test_words(block.sign), points_words(block.net_bca), whole)  # fmt: skip
    return Line(cells, said(title, points_words(block.net), DEFINED["net"]), known)


def _davidson(look: Look) -> Panel:
    title = "Model of Davidson for ties, with a term for the side"
    model = look.pair.davidson
    lines = list(_davidson_lines(model, f"{look.first} : {look.second}"))
    titles = dict(look.found.models)
    lines += _worth_lines(model, titles, "this pair")
    if look.found.davidson is not None:
        lines += _worth_lines(look.found.davidson, titles, "all pairs in one fit")
    notes = (
        "A log worth above 0 favours the model; exp of it is the odds of being preferred against "
        "the other where neither stands on the favoured side.",
        *((f"Intervals: {model.note}.",) if model.converged and model.note else ()),
    )
    says = "" if model.converged else f"The model cannot be fitted: {model.note}."
    if not model.note and not model.converged:
        says = "The model cannot be fitted to these answers."
    grid = Grid(title, ("Quantity", "Estimate", "Test"), tuple(lines))
    return Panel("davidson", title, says, (grid,), notes)


def _davidson_lines(model: Davidson, names: str) -> tuple[Line, ...]:
    rows: list[tuple[str, Estimate | None, str, str]] = [
        (f"Log-ratio of worth, {names}", model.log_ratio, "",
         "How much the first model is preferred, ties and side taken into account."),
        ("The same without the side term", model.without_order, "",
         "If it hardly differs the side did no harm."),
        ("Log of the tie parameter", model.log_tie, "", "Larger: more ties."),
        ("Advantage of the left side, log", model.order, test_words(model.order_test),
         "0: no side is favoured. Tested by likelihood ratio."),
    ]  # fmt: skip
    return tuple(
        Line((name, ratio_words(value), test), said(name, ratio_words(value), tip))
        for name, value, test, tip in rows
        if value is not None
    )


def _worth_lines(model: Davidson, titles: dict[str, str], of: str) -> list[Line]:
    """Every model's worth against the first one, which is 0 by definition."""
    return [
        Line((f"Log worth of {titles.get(letter, letter)}, {of}", ratio_words(worth), ""),
             f"Against {titles.get(model.models[0], 'the first model')}, which is 0.")
        for letter, worth in model.log_worth.items()
        if letter != model.models[0]
    ]  # fmt: skip


def _clustering(look: Look) -> Panel:
    title = "How much items of one task resemble each other"
    found = look.pair.clustering
    head = ("Tasks", "Items", "Mean items of a task", "Intraclass correlation", "Design effect",
            "Effective n")  # fmt: skip
    numbers = (found.mean_size, found.icc, found.design_effect, found.effective_n)
    digits = (1, 3, 2, 0)
    cells = tuple(
        "-" if value is None else f"{value:.{place}f}"
        for value, place in zip(numbers, digits, strict=True)
    )
    grid = Grid(title, head, (Line((str(found.tasks), str(found.items), *cells)),))
    return Panel("clustering", title, found.sentence, (grid,))
