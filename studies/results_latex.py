"""The tables as LaTeX, for a paper: booktabs rules, nothing else to install.

Owns layout only; every number comes from ``studies.results``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from studies.medheb.paper import COLUMNS, Comparison
from studies.medheb.pools import METRICS
from studies.results_record import cautions, loaded
from studies.results_sections import Section, booktabs, section_latex
from studies.results_text import FEWER, TITLES, by_reason, count_text

if TYPE_CHECKING:
    from studies.results import Results

DIGITS = 2  # as the paper prints
PREAMBLE = "% needs \\usepackage{booktabs}"


def to_latex(
    results: Results, *, compare_paper: bool = False, sections: Sequence[Section] = ()
) -> str:
    """The family tables, one per score, and further tables."""
    paper = results.paper() if compare_paper else None
    blocks = [PREAMBLE, *(_families(results, metric, paper) for metric in METRICS)]
    blocks += map(section_latex, sections)
    return "\n\n".join(blocks) + "\n"


def _families(results: Results, metric: str, paper: Comparison | None) -> str:
    marks = paper.marks if paper else {}
    head = ["model", *(f"{column}*" if column in marks else column for column in COLUMNS)]
    if metric == "hit@1":
        head.append("CV")
    rows = [["tasks", *(count_text(results, column) for column in COLUMNS)]]
    for line in (results.chance, *results.models):
        fewer = results.fewer(line)
        cells = [
            f"{line.columns[c].values[metric]:.{DIGITS}f}" + (FEWER if c in fewer else "")
            if c in line.columns
            else ""
            for c in COLUMNS
        ]
        cv = ["" if line.cv is None else f"{line.cv:.3f}"] if metric == "hit@1" else []
        rows.append([line.model, *cells, *cv])
    for name, numbers in (paper.rows if paper else {}).items():
        cells = [
            f"{numbers[c][metric]:.{DIGITS}f}" if metric in numbers[c] else "" for c in COLUMNS
        ]
        rows.append([f"{name} (paper)", *cells])
    notes = [f"* {', '.join(names)}: {why}." for why, names in by_reason(paper).items()]
    if any(results.fewer(line) for line in results.models):
        notes.append(f"{FEWER} mean over fewer tasks than others have.")
    if results.stale is not None and results.stale.tasks:
        notes.append(results.stale.sentence)
    notes += [*_lost(results), *cautions(loaded(results))]
    title = f"{TITLES[metric]}, mean over tasks; data {results.digest}"
    return booktabs(title, head, rows, notes, name=metric.replace("@", ""))


def _lost(results: Results) -> Iterable[str]:
    """How many rows of its tasks each model has no score for."""
    for model in results.models:
        cells = [line.scores.get(model.model) for line in results.benchmark.tasks]
        failed = [cell.failed for cell in cells if cell is not None and cell.failed]
        if failed:
            yield f"{model.model}: {sum(failed)} rows in {len(failed)} tasks were not scored."
