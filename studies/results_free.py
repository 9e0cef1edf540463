"""What the instruction is worth: a model beside itself without one.

A run without instructions is a model of its own (``MODEL@instruction_slot=drop``). Owns finding the
two together and the difference over the tasks that both have and whose queries carry an
instruction. The paper compares on 49 tasks and does not say which; here it is every such task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from studies.medheb.tasks import FAMILIES
from studies.results_sections import Section

if TYPE_CHECKING:
    from studies.results import Results

SLOT = "@instruction_slot=drop"
METRIC = "hit@1"
NOTE = (
    "Each model without instructions minus the same model with them, in points of Hit@1, over the "
    "tasks that both have and whose registry row carries an instruction. The paper names 49 tasks "
    "for this comparison and prints neither their list nor its numbers. Intervals: bench compare."
)


@dataclass(frozen=True)
class Free:
    """A model without its instruction against itself.

    Attributes:
        model: with the instruction.
        without: the same without.
        columns: family or ``All`` to (difference in points, tasks).
    """

    model: str
    without: str
    columns: dict[str, tuple[float, int]]


def load_free(results: Results) -> tuple[Free, ...]:
    """Every model that was run both ways."""
    known = [line.model for line in results.models]
    found = []
    for without in known:
        model = without.replace(SLOT, "")
        if SLOT in without and model in known:
            found.append(Free(model, without, _columns(results, model, without)))
    return tuple(found)


def _columns(results: Results, model: str, without: str) -> dict[str, tuple[float, int]]:
    gaps: dict[str, list[float]] = {}
    for line in results.tasks:
        if not line.task.qry_inst or model not in line.scores or without not in line.scores:
            continue
        gap = line.scores[without].score.values[METRIC] - line.scores[model].score.values[METRIC]
        for name in (line.task.family, "All"):
            gaps.setdefault(name, []).append(gap)
    return {name: (float(np.mean(each)), len(each)) for name, each in gaps.items()}


def free_section(results: Results) -> Section | None:
    """The table; None where no model was run both ways."""
    found = load_free(results)
    if not found:
        return None
    columns = [c for c in (*FAMILIES, "All") if any(c in free.columns for free in found)]
    rows = [(free.without, *(_cell(free, column) for column in columns)) for free in found]
    return Section(
        name="instruction_free",
        title="Without the instruction: difference in points of Hit@1 (tasks)",
        head=("model", *columns),
        rows=tuple(rows),
        notes=(NOTE,),
        document={
            free.without: {
                "with": free.model,
                "difference": {
                    name: {"hit@1": round(gap, 4), "tasks": tasks}
                    for name, (gap, tasks) in free.columns.items()
                },
            }
            for free in found
        },
    )


def _cell(free: Free, column: str) -> str:
    if column not in free.columns:
        return ""
    gap, tasks = free.columns[column]
    return f"{gap:+.1f} ({tasks})"
