"""What is missing or was changed, the flow of items.

Owns the counting of places. Practice items are left out of every number.
"""

from __future__ import annotations

from collections import Counter

from studies.preference.analysis.schema import Missing
from studies.preference.analysis.tables import StudyTables

READ = ("item", "repeat")


def missing(tables: StudyTables, *, rater: str | None = None) -> Missing:
    """Places without an answer, flagged ones by reason, answers taken back."""
    rows = [r for r in tables.presented if r.kind in READ and rater in (None, r.rater)]
    flagged = Counter(r.reason or "no reason given" for r in rows if r.answer == "cannot")
    return Missing(
        places=len(rows),
        unanswered=sum(not r.answer for r in rows),
        cannot=dict(sorted(flagged.items())),
        changed=sum(r.revisions > 0 for r in rows),
    )


def flow(tables: StudyTables, *, rater: str | None = None) -> dict[str, int]:
    """From the sample to what is analysed.

    Returns:
        ``sampled`` and ``auto_ties`` count items; ``shown`` (places of items in the orders of all
        raters), ``answered``, ``flagged``, ``analysed`` and ``repeats`` (answered) count readings.
    """
    sampled = [one.kind for one in tables.items if one.kind != "warmup"]
    rows = [r for r in tables.presented if rater in (None, r.rater)]
    shown = [r for r in rows if r.kind == "item"]
    answered = [r for r in shown if r.answer]
    flagged = sum(r.answer == "cannot" for r in answered)
    return {
        "sampled": len(sampled),
        "auto_ties": sampled.count("auto_tie"),
        "shown": len(shown),
        "answered": len(answered),
        "flagged": flagged,
        "analysed": len(answered) - flagged,
        "repeats": sum(r.kind == "repeat" and bool(r.answer) for r in rows),
    }
