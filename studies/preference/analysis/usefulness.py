"""How useful each model's candidates were found, where that was asked.

Owns the mean of the grades 0 to 2 per model. Refuses candidates without a grade.
"""

from __future__ import annotations

from collections.abc import Sequence

from studies.preference.analysis.bootstrap import Draws, intervals
from studies.preference.analysis.rated import Rated
from studies.preference.analysis.schema import Estimate


def usefulness(rows: Sequence[Rated], models: Sequence[str], how: Draws) -> dict[str, Estimate]:
    """Mean grade of each model's candidates with the bootstrap of tasks, then items.

    Returns:
        Letter to estimate, n counting graded candidates; empty where nothing was graded.
    """
    graded: dict[str, list[tuple[str, str, float]]] = {letter: [] for letter in models}
    for one in rows:
        for place, grade in one.row.usefulness.items():
            side = place.rstrip("0123456789")
            right = one.item.second if one.row.left == one.item.first else one.item.first
            letter = one.row.left if side == "left" else right
            graded[letter].append((one.item.task_id, one.item.item_id, float(grade)))
    if not any(graded.values()):
        return {}
    return {letter: intervals(found, how, unit="candidates")[0] for letter, found in graded.items()}
