"""Holm's step-down correction, for every table that tests more than one thing.

By hand: statsmodels' ``multipletests`` collects garbage at each call and would hold the window for
a third of a second each time; tests compare with it. Refuses to choose what belongs together.
Source: Holm 1979.
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's adjusted p values, in the order given."""
    count = len(p_values)
    adjusted = [0.0] * count
    highest = 0.0
    for place, index in enumerate(sorted(range(count), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (count - place) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)
