"""The family table as plain text in 100 columns and as Markdown.

Owns layout only; every number comes from ``studies.results``. Names missing tasks, failed rows,
ties and what may not be compared.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from studies import results_record
from studies.medheb.paper import COLUMNS, Comparison
from studies.medheb.pools import METRICS, UNKNOWN_POOL
from studies.results_sections import Section, pipes, section_markdown, section_text

if TYPE_CHECKING:
    from studies.results import ModelLine, Results, TaskLine

WIDTH = 100
NAME = 14
FIRST, *_ = COLUMNS
CELLS = dict.fromkeys(COLUMNS, 7) | {"Held-out": 10}
CV = 6
MODELS = 7  # as many as fit beside a task's name
FEWER = "~"  # behind a mean over fewer tasks than its column has
TITLES = {"hit@1": "Hit@1 (%)", "hit@5": "Hit@5 (%)", "mrr@5": "MRR@5 (%)"}


def to_text(
    results: Results, *, compare_paper: bool = False, sections: Sequence[Section] = ()
) -> str:
    """The tables for a terminal, further ones at the end."""
    paper = results.paper() if compare_paper else None
    blocks = [_heading(results)]
    blocks += [_table(results, metric, paper) for metric in METRICS]
    blocks += [_tasks(results), *_remarks(results, paper), *map(section_text, sections)]
    return "\n\n".join(blocks)


def _heading(results: Results) -> str:
    lines = [
        f"MedHEB results, data {results.digest}: {results.root}",
        "Mean over tasks; below each score its 95 % bootstrap interval. Chance is exact; below it "
        "where 95 % of random rankings fall.",
    ]
    return "\n".join(part for line in lines for part in textwrap.wrap(line, WIDTH))


def _table(results: Results, metric: str, paper: Comparison | None) -> str:
    marks = paper.marks if paper else {}
    head = {c: c + ("*" if c in marks else "") for c in COLUMNS}
    counts = {c: count_text(results, c) for c in COLUMNS}
    lines = [_line(TITLES[metric], head, "CV" if metric == "hit@1" else "")]
    lines.append(_line("tasks", counts, ""))
    for model in (results.chance, *results.models):
        lines += _model(results, model, metric)
    if paper:
        lines.append("-" * WIDTH)
        for name, row in paper.rows.items():
            values = {c: f"{row[c][metric]:.1f}" for c in COLUMNS if metric in row[c]}
            twin = next((ours for ours, theirs in paper.same_as.items() if theirs == name), None)
            lines += _named(name + (" (= " + twin + ")" if twin else ""), [(values, "")])
    return "\n".join(lines)


def count_text(results: Results, column: str) -> str:
    """How many of how many tasks a column stands on."""
    of = results.of.get(column, 0)
    have = results.scored[column]
    return str(of) if have == of else f"{have}/{of}"


def _values(results: Results, line: ModelLine, metric: str) -> dict[str, str]:
    fewer = results.fewer(line)
    return {
        c: f"{score.values[metric]:.1f}" + (FEWER if c in fewer else "")
        for c, score in line.columns.items()
    }


def _model(results: Results, model: ModelLine, metric: str) -> list[str]:
    spans = {}
    for column, score in model.columns.items():
        low, high = score.interval[metric]
        low_text, high_text = f"{low:.0f}", f"{high:.0f}"
        spans[column] = low_text if low_text == high_text else f"{low_text}-{high_text}"
    cv = f"{model.cv:.3f}" if metric == "hit@1" and model.cv is not None else ""
    return _named(model.model, [(_values(results, model, metric), cv), (spans, "")])


def _named(name: str, rows: list[tuple[dict[str, str], str]]) -> list[str]:
    """Rows with a name that may need several lines of its own column."""
    parts = textwrap.wrap(name, NAME + 1) or [""]
    empty: dict[str, str] = {}
    rows = rows + [(empty, "")] * (len(parts) - len(rows))
    parts += [""] * (len(rows) - len(parts))
    return [
        _line(part, values, last).rstrip() for part, (values, last) in zip(parts, rows, strict=True)
    ]


def _line(name: str, cells: Mapping[str, str], last: str) -> str:
    """A name one letter too long takes it from the first cell, which has room."""
    cut = max(0, len(name) - NAME)
    middle = "".join(
        cells.get(column, "").rjust(width - (cut if column == FIRST else 0))
        for column, width in CELLS.items()
    )
    return f"{name:<{NAME}}{middle}{last:>{CV}}".rstrip()


def _tasks(results: Results) -> str:
    """One line per scored task: Hit@1 of every model beside chance."""
    models = [line.model for line in results.models]
    keys = {model: chr(ord("A") + place) for place, model in enumerate(models[:MODELS])}
    lines = [f"{'Hit@1 by task':<33}{'family':<7}{'n':>5} {'chance':>7}"]
    lines[0] += "".join(key.rjust(6) for key in keys.values())
    for line in results.tasks:
        if line.missing is None:
            cells = [
                f"{line.scores[m].score.values['hit@1']:.1f}" if m in line.scores else "-"
                for m in keys
            ]
            start = f"{line.task.id[:32]:<33}{line.task.family:<7}{line.n:>5} "
            start += f"{_chance(line):>7}"
            lines.append(start + "".join(cell.rjust(6) for cell in cells))
    legend = ", ".join(f"{key} {model}" for model, key in keys.items())
    if len(models) > MODELS:
        legend += f"; {len(models) - MODELS} more with --format markdown"
    return "\n".join(lines + textwrap.wrap(legend, WIDTH))


def _chance(line: TaskLine) -> str:
    return "" if line.pool == UNKNOWN_POOL else f"{line.chance['hit@1']:.1f}"


def _remarks(results: Results, paper: Comparison | None) -> list[str]:
    """What a reader must know beside the numbers."""
    stale = [results.stale.sentence] if results.stale is not None and results.stale.tasks else []
    found = [*stale, *_imported(results), *_missing(results), *_gaps(results), *_fewer(results)]
    ties = sum(cell.ties for line in results.tasks for cell in line.scores.values())
    found += _habits(results)
    found += results_record.sentences(results_record.loaded(results))
    if ties:
        found.append(f"{ties} queries tie with their positive; ties count against the model.")
    if paper:
        found.append("* Not to be compared with the paper's numbers below the line:")
        found += [f"  {', '.join(names)}: {why}" for why, names in by_reason(paper).items()]
    wrapped = [part for one in found for part in _wrapped(one)]
    return ["\n".join(wrapped)] if wrapped else []


def by_reason(paper: Comparison | None) -> dict[str, list[str]]:
    """Why columns do not compare, to the columns."""
    found: dict[str, list[str]] = {}
    for column, why in paper.marks.items() if paper else ():
        found.setdefault(why, []).append(column)
    return found


def _imported(results: Results) -> Iterable[str]:
    for model in results.models:
        cells = [t.scores[model.model].imported for t in results.tasks if model.model in t.scores]
        if any(cells):
            bare = sum(not cell.get("per_query") for cell in cells)
            alone = f"; {bare} of them as scores alone, without queries" if bare else ""
            yield (
                f"{model.model} was imported from {cells[0].get('folder')}, not computed here: "
                f"{len(cells)} tasks{alone}; ties stand as its files have them."
            )


def _fewer(results: Results) -> Iterable[str]:
    for model in results.models:
        parts = [f"{c} {have} of {of}" for c, (have, of) in results.fewer(model).items()]
        if parts:
            yield (
                f"{FEWER} {model.model}: mean over fewer tasks than others have, not to be "
                f"compared with them: {', '.join(parts)}."
            )


def _habits(results: Results) -> Iterable[str]:
    """Difficulty regimes, and how far models fall on families that few had looked at."""
    summary = results.regime_summary()
    if summary:
        parts = [f"{name} {count} (std {std:.1f})" for name, (count, std) in summary.items()]
        yield (
            "Tasks by mean baseline Hit@1, with the standard deviation between models: "
            f"{', '.join(parts)}."
        )
    drops = [f"{line.model} {line.drop:.1f}" for line in results.models if line.drop is not None]
    if drops:
        yield f"Established minus underexplored families, points of Hit@1: {', '.join(drops)}."


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False) or [""]


def _missing(results: Results) -> Iterable[str]:
    if not results.missing:
        return
    if results.own and all(line.missing for line in results.benchmark.tasks):
        yield (
            f"None of the {len(results.benchmark.tasks)} tasks of the benchmark was run here: "
            "own data alone."
        )
        return
    names = ", ".join(line.task.id for line in results.missing)
    yield f"Missing, {len(results.missing)} of {len(results.tasks)} tasks: {names}."
    damaged = [m for m in results.missing if "there is no " not in str(m.missing)]
    yield from (f"  {m.missing}" for m in damaged if not str(m.missing).endswith("not run yet"))


def _gaps(results: Results) -> Iterable[str]:
    none = {line.task.id for line in results.missing}
    for model in results.models:
        lacking = [name for name in model.missing if name not in none]
        if lacking:
            yield f"{model.model} has no result for {', '.join(lacking)}."
    for line in results.tasks:
        for name, cell in line.scores.items():
            if cell.failed:
                first = cell.failures[0][1] if cell.failures else ""
                yield f"{line.task.id}, {name}: {cell.failed} rows not scored; first: {first}"


def to_markdown(
    results: Results, *, compare_paper: bool = False, sections: Sequence[Section] = ()
) -> str:
    """The same tables for a document."""
    paper = results.paper() if compare_paper else None
    blocks = [f"# MedHEB results\n\nData `{results.digest}`."]
    for metric in METRICS:
        blocks.append(f"## {TITLES[metric]}\n\n" + _markdown_table(results, metric, paper))
    blocks.append("## Hit@1 by task\n\n" + _markdown_tasks(results))
    blocks += map(section_markdown, sections)
    blocks += ["## Remarks\n\n" + part for part in _remarks(results, paper)]
    return "\n\n".join(blocks) + "\n"


def _markdown_table(results: Results, metric: str, paper: Comparison | None) -> str:
    marks = paper.marks if paper else {}
    head = ["model", *(c + ("\\*" if c in marks else "") for c in COLUMNS)]
    rows = [
        ["tasks", *(count_text(results, c) for c in COLUMNS)],
    ]
    with_cv = metric == "hit@1"
    for model in (results.chance, *results.models):
        row = [model.model]
        for column in COLUMNS:
            score = model.columns.get(column)
            mark = FEWER if column in results.fewer(model) else ""
            cell = "" if score is None else _spanned(score.values, score.interval, metric) + mark
            row.append(cell)
        rows.append(row + ([f"{model.cv:.3f}" if model.cv is not None else ""] if with_cv else []))
    if paper:
        for name, numbers in paper.rows.items():
            cells = [f"{numbers[c][metric]:.2f}" if metric in numbers[c] else "" for c in COLUMNS]
            rows.append([f"{name} (paper)", *cells])
    return pipes([*head, "CV"] if with_cv else head, rows)


def _spanned(
    values: Mapping[str, float], interval: Mapping[str, tuple[float, float]], metric: str
) -> str:
    low, high = interval[metric]
    return f"{values[metric]:.1f} ({low:.1f} to {high:.1f})"


def _markdown_tasks(results: Results) -> str:
    models = [line.model for line in results.models]
    rows = []
    for line in results.tasks:
        if line.missing is not None:
            continue
        row = [line.task.id, line.task.family, line.task.split, line.pool, str(line.n)]
        row.append(_chance(line))
        for model in models:
            cell = line.scores.get(model)
            row.append(
                "" if cell is None else _spanned(cell.score.values, cell.score.interval, "hit@1")
            )
        rows.append(row)
    return pipes(["task", "family", "split", "pool", "n", "chance", *models], rows)
