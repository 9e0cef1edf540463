"""Everything the Statistics page draws, from an analysis. Owns the order of the sheets."""

from __future__ import annotations

from app.presenters.statistics_agreement import consistency_sheet
from app.presenters.statistics_bias import session_sheet, sides_sheet
from app.presenters.statistics_checks import checks_sheet
from app.presenters.statistics_look import Look
from app.presenters.statistics_preference import forest_sheet, preference_sheet
from app.presenters.statistics_summary import facts_of, sentence_of
from app.presenters.statistics_truth import correctness_sheet
from app.shown_statistics import StatisticsShown

SHEETS = (
    preference_sheet,
    forest_sheet,
    sides_sheet,
    session_sheet,
    consistency_sheet,
    correctness_sheet,
    checks_sheet,
)


def statistics_shown(look: Look) -> StatisticsShown:
    """The page."""
    return StatisticsShown(
        look.found.title,
        sentence_of(look),
        facts_of(look),
        tuple(make(look) for make in SHEETS),
    )
