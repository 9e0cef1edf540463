"""How far items of one task resemble each other, and what that leaves of their number.

Owns the one-way analysis of variance over tasks. Refuses a correlation where no task has two.
Source: Donner and Klar 2000 for the estimate and for the design effect of unequal tasks, whose
size is the mean over items, so that large tasks count as often as they have items.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies.preference.analysis.bootstrap import clusters
from studies.preference.analysis.rated import Rated
from studies.preference.analysis.schema import Clustering


def clustering(rows: Sequence[Rated]) -> Clustering:
    """Intraclass correlation of each item's net preference, design effect, effective number."""
    if not rows:
        return Clustering(0, 0, None, None, None, None, "Nothing was rated.")
    data = clusters([(o.item.task_id, o.item.item_id, float(o.sign)) for o in rows])
    value, size = data.top / data.bottom, data.size.astype(float)
    tasks, items = len(size), len(value)
    if tasks < 2 or tasks == items:
        why = "one task" if tasks < 2 else "one item in each task"
        told = f"Items in {tasks} task(s): with {why} their likeness cannot be told."
        return Clustering(tasks, items, None, None, None, None, told)
    mean = np.add.reduceat(value, data.start) / size
    between = float((size * (mean - value.mean()) ** 2).sum()) / (tasks - 1)
    within = float(((value - np.repeat(mean, data.size)) ** 2).sum()) / (items - tasks)
    alike = float((items - (size**2).sum() / items) / (tasks - 1))
    weighed = float((size**2).sum() / items)
    spread = between + (alike - 1) * within
    if spread == 0:
        told = "Every item was answered the same, so the likeness within tasks cannot be told."
        return Clustering(tasks, items, weighed, None, None, None, told)
    icc = (between - within) / spread
    effect = effect_of(icc, weighed)
    return Clustering(
        tasks, items, weighed, icc, effect, items / effect, _told(tasks, items, icc, effect)
    )


def effect_of(icc: float, size: float) -> float:
    """The design effect, at least 1."""
    return max(1.0, 1 + (size - 1) * icc)


def _told(tasks: int, items: int, icc: float, effect: float) -> str:
    return (
        f"Items share {tasks} tasks (intraclass correlation {icc:.3f}, design effect {effect:.2f}, "
        f"effective number {items / effect:.0f} of {items}). Wilson intervals and sign tests "
        "take items as independent; the bootstrap intervals do not."
    )
