"""Ours minus the paper's, table by table, and why the two may differ.

Owns which of our models is which of the paper's, which differences may be told at all, and the
reasons. Refuses a difference where the tasks behind a column are not the paper's: the cell stays
empty and the reason stands below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from studies.medheb.paper import COLUMNS, TABLES, Comparison, column_tasks, printed
from studies.medheb.pools import METRICS
from studies.medheb.scores import coefficient_of_variation
from studies.medheb.tasks import FAMILIES, load_tasks
from studies.results_sections import Section

if TYPE_CHECKING:
    from studies.medheb.graded_scores import Graded
    from studies.results import ModelLine, Results

ROWS = "rows"  # the lists of a file from elsewhere
SPREAD = ("mean", "std", "cv")
# What stays open about the printed numbers where we made the lists ourselves.
OPEN: Mapping[str, str] = {
    "I-I": "the printed lists are not published; ours hold one picture of each class",
    "MB-VR": "test sides without an official split are our own 7:3 by patient, and the X-rays are "
    "our projection",
    "I-Rep": "which sections make a report, and whether the printed lists held all reports, is not "
    "stated",
    "T-I": "the printed lists are not published; ours hold one picture of each class",
    "VQA": "the printed lists are not published; ours hold the answers of the evaluated rows "
    "(tables 4 and 7 of the paper differ from each other here)",
    "VG": "how boxes become crops, and which rows were drawn, is partly our reading",
    "T-T": "the printed lists are not published; ours hold all texts of the evaluated rows",
}
SAMPLE = "rows are drawn anew (at most 1,000 a task), so scores differ by sampling: see intervals"


@dataclass(frozen=True)
class Gap:
    """One of our numbers beside a printed one.

    Attributes:
        model: ours.
        paper: the paper's name of it.
        table: of the paper.
        metric: as the table names it.
        column: of the table.
        ours: our value in the table's unit; None where we have none over the same tasks.
        theirs: the printed value.
    """

    model: str
    paper: str
    table: str
    metric: str
    column: str
    ours: float | None
    theirs: float

    @property
    def difference(self) -> float | None:
        """Ours minus theirs."""
        return None if self.ours is None else self.ours - self.theirs


def load_gaps(results: Results, graded: Graded | None = None) -> tuple[Gap, ...]:
    """Every printed number of tables 4, 5, 7 and 8 that one of our models has a twin for."""
    paper = results.paper()
    lines = {line.model: line for line in results.models}
    found: list[Gap] = []
    for model, name in paper.same_as.items():
        columns = _same_columns(results, lines[model])
        found += _families(lines[model], name, paper, columns)
        found += _spread(lines[model], name, columns)
        found += () if results.generated else _graded(model, name, graded)
    return tuple(found)


def _same_columns(results: Results, line: ModelLine) -> frozenset[str]:
    """The columns in which a model has exactly the paper's tasks; none of generated data."""
    if results.generated:
        return frozenset()
    theirs = column_tasks(load_tasks())
    mine = column_tasks([t.task for t in results.tasks if line.model in t.scores])
    return frozenset(column for column in COLUMNS if theirs[column] == mine[column])


def _families(
    line: ModelLine, name: str, paper: Comparison, columns: frozenset[str]
) -> Iterable[Gap]:
    for metric in METRICS:
        for column in COLUMNS:
            theirs = paper.rows[name][column].get(metric)
            if theirs is not None:
                score = line.columns.get(column) if column in columns else None
                ours = None if score is None else score.values[metric]
                yield Gap(line.model, name, TABLES[metric], metric, column, ours, theirs)


def _spread(line: ModelLine, name: str, columns: frozenset[str]) -> Iterable[Gap]:
    row = printed("table7", "hit@1").get(name, {})
    ours: dict[str, float | None] = dict.fromkeys(SPREAD)
    if columns.issuperset(FAMILIES):
        values = [line.columns[family].values["hit@1"] for family in FAMILIES]
        spread = (float(np.mean(values)), float(np.std(values)), coefficient_of_variation(values))
        ours = dict(zip(SPREAD, spread, strict=True))
    for column in SPREAD:
        if column in row:
            yield Gap(line.model, name, "table7", "hit@1", column, ours[column], row[column])


def _graded(model: str, name: str, graded: Graded | None) -> Iterable[Gap]:
    row = printed("table5", "ndcg@5").get(name, {})
    if graded is None or model not in graded.models:
        return
    for column, theirs in row.items():
        score = graded.models[model].get(column)
        whole = score is not None and score.tasks == graded.of[column]
        ours = score.value if score is not None and whole else None
        yield Gap(model, name, "table5", "ndcg@5", column, ours, theirs)


def reasons(results: Results) -> dict[str, list[str]]:
    """For each column, why equal models may score differently than printed."""
    marks = results.paper().marks
    pools: dict[str, set[str]] = {}
    for line in results.tasks:
        if line.missing is None:
            pools.setdefault(line.task.family, set()).add(line.pool)
    made = {family for family, names in pools.items() if names - {ROWS}}
    found: dict[str, list[str]] = {}
    for column in COLUMNS:
        own = [marks[column]] if column in marks else []
        if column in made and column in OPEN:
            own.append(OPEN[column])
        if column in made or (column not in FAMILIES and made):
            own.append(SAMPLE)
        if own:
            found[column] = own
    return found


def paper_sections(results: Results, graded: Graded | None = None) -> tuple[Section, ...]:
    """The differences, one table for families and splits and one for the spread."""
    gaps = load_gaps(results, graded)
    if not gaps:
        return ()
    why = reasons(results)
    together: dict[str, list[str]] = {}
    for column, texts in why.items():
        together.setdefault("; ".join(texts), []).append(column)
    notes = [f"{', '.join(columns)}: {text}." for text, columns in together.items()]
    document = {"differences": [_document(gap) for gap in gaps], "reasons": why}
    tables = [
        ("paper_families", "Ours minus the paper (tables 4 and 8), points", COLUMNS, METRICS),
        ("paper_spread", "Ours minus the paper (table 7: mean, deviation, CV)", SPREAD, ("hit@1",)),
        ("paper_graded", "Ours minus the paper (table 5: NDCG@5), points", None, ("ndcg@5",)),
    ]
    found: list[Section] = []
    for name, title, columns, metrics in tables:
        chosen = columns or tuple(dict.fromkeys(g.column for g in gaps if g.metric == "ndcg@5"))
        rows = _rows(gaps, chosen, metrics)
        if rows:
            first = not found
            found.append(
                Section(
                    name, title, ("model", *chosen), rows,
                    notes=(EMPTY, *notes) if first else (),
                    document=document if first else {},
                )
            )  # fmt: skip
    return tuple(found)


EMPTY = "An empty cell: our tasks are not the paper's there, so no difference is told."


def _rows(
    gaps: Sequence[Gap], columns: Sequence[str], metrics: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    rows = []
    for model in dict.fromkeys(gap.model for gap in gaps):
        for metric in metrics:
            own = {g.column: g for g in gaps if (g.model, g.metric) == (model, metric)}
            if any(column in own for column in columns):
                cells = [_cell(own.get(column)) for column in columns]
                rows.append((f"{model} {metric}", *cells))
    return tuple(rows)


def _cell(gap: Gap | None) -> str:
    if gap is None or gap.difference is None:
        return ""
    return f"{gap.difference:+.3f}" if gap.column == "cv" else f"{gap.difference:+.1f}"


def _document(gap: Gap) -> dict[str, Any]:
    return {
        "model": gap.model,
        "paper": gap.paper,
        "table": gap.table,
        "metric": gap.metric,
        "column": gap.column,
        "ours": None if gap.ours is None else round(gap.ours, 4),
        "theirs": gap.theirs,
        "difference": None if gap.difference is None else round(gap.difference, 4),
    }
