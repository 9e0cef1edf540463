"""The sample size as an author reports it: what was planned and frozen, and what came of it.

Owns these sentences. Without a frozen plan the reasons stay a visible gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.preference.kit.told import Told, gap
from studies.preference.kit.words import counted, were


def size_words(told: Told, *, blank: str) -> str:
    """Why so many, and how many were really read.

    Args:
        told: a study.
        blank: what belongs into the gap where there was no plan.
    """
    planned = _planned(told)
    if planned is None:
        return f"The number of items was chosen as follows: {gap(blank)}."
    return (
        "The number of items was planned before the study was built, and the plan was frozen and "
        f"hashed with it. {planned['sentence']} {_against(told, planned)}"
    )


def _planned(told: Told) -> Mapping[str, Any] | None:
    """The frozen plan, None where there is none that can be told."""
    found = told.tables.facts.get("planned")
    if not isinstance(found, Mapping) or not isinstance(found.get("sentence"), str):
        return None
    return found if isinstance(found.get("wish"), Mapping) else None


def _against(told: Told, planned: Mapping[str, Any]) -> str:
    """What became of the planned numbers: drawn, read by each rater, decided for each pair."""
    wish = planned["wish"]
    flow = told.analysis.flow
    drawn = flow.get("sampled", 0)
    ties = flow.get("auto_ties", 0)
    unseen = f", {ties} of them with identical lists and not shown" if ties else ""
    judged = [one for one in told.read if one.answer != "cannot"]
    each = ", ".join(
        f"{name} {sum(one.rater == name for one in judged)}" for name in told.analysis.raters
    )
    decided = ", ".join(
        f"{pair.first} and {pair.second} {pair.overall.first_decided.n}"
        for pair in told.analysis.pairs
    )
    own = " for each pair and rater" if len(told.analysis.pairs) > 1 else " for each rater"
    return (
        f"Planned were {counted(wish.get('total', 0), 'items')} for "
        f"{counted(wish.get('readers', 1), 'raters')} and {planned.get('decided', '-')} decided "
        f"comparisons{own}. {counted(drawn, 'items')} {were(drawn)} drawn{unseen}; "
        f"judged were: {each or 'none'}; decided of all raters: {decided}."
    )
