"""A plan in words: the sentence for the paper and the lines of the terminal.

Owns the wording. Computes nothing.
"""

from __future__ import annotations

from studies.preference.planner import StudyPlan

FORM_WORDS = {"2d": "2D", "3d": "3D", "text": "text"}


def percent(share: float) -> str:
    """A share as a person reads it, without digits that say nothing."""
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def sentence(plan: StudyPlan) -> str:
    """Sample size, power and reading burden, ready for a methods section."""
    return " ".join((_needed(plan), _clustering(plan), _found(plan), _repeated(plan)))


def _needed(plan: StudyPlan) -> str:
    wish = plan.wish
    pair = " of each pair of models" if wish.models > 2 else ""
    return (
        f"If {percent(wish.share)} of the decided comparisons prefer the tested model and "
        f"{percent(wish.ties)} of all are ties, {plan.decided_needed} decided comparisons "
        f"({plan.items_needed} items){pair} give {percent(wish.power)} power in a two-sided test "
        f"at {percent(wish.alpha)} against 50 %."
    )


def _clustering(plan: StudyPlan) -> str:
    wish = plan.wish
    if wish.icc == 0:
        return "The items are taken as independent of each other."
    each = plan.per_pair / wish.tasks
    pair = " of each pair of models" if wish.models > 2 else ""
    need = (
        f"the power needs {plan.items_clustered} items"
        if plan.items_clustered is not None
        else "no number of items over so few tasks gives that power"
    )
    return (
        f"Over {wish.tasks} {'task' if wish.tasks == 1 else 'tasks'} ({each:.2f} items each) with "
        f"an intraclass correlation of {wish.icc:g} {need}; the {plan.per_pair} items"
        f"{pair} are worth {plan.effective} independent ones "
        f"(design effect {plan.design_effect:.2f})."
    )


def _found(plan: StudyPlan) -> str:
    return (
        f"Their power is {percent(plan.power_expected)} (exact sign test), the 95 % interval of "
        f"the share has a half width of {100 * plan.half_width:.1f} points, and a bias to one "
        f"side of {100 * plan.side_bias:.1f} points would be found."
    )


def _repeated(plan: StudyPlan) -> str:
    wish = plan.wish
    who = "one rater" if wish.readers == 1 else f"each of {wish.readers} raters"
    again = (
        f" and {plan.repeats} repeats with sides swapped (an agreement of "
        f"{percent(wish.agreement)} would have a 95 % interval of "
        f"{percent(plan.agreement_low)} to {percent(plan.agreement_high)})"
        if plan.repeats
        else ""
    )
    return (
        f"Reading takes {who} about {plan.hours:.1f} h in "
        f"{plan.sessions} {'session' if plan.sessions == 1 else 'sessions'} of at most "
        f"{wish.session_minutes:g} min, {wish.warmup} practice items{again} included."
    )


def table(plan: StudyPlan) -> str:
    """The plan for the terminal."""
    forms = ", ".join(
        f"{FORM_WORDS.get(form, form)} {count} ({plan.minutes[form] / 60:.1f} h)"
        for form, count in plan.items.items()
        if count
    )
    clustered = "none" if plan.items_clustered is None else str(plan.items_clustered)
    enough = "enough" if plan.enough else "too few"
    pair = " for each pair of models" if plan.wish.models > 2 else ""
    each = f"; {plan.per_pair}{pair}" if pair else ""
    rows = [
        ("Items", f"{plan.wish.total}: {forms}{each}"),
        ("Needed", f"{plan.decided_needed} decided, {plan.items_needed} items, "
                   f"{clustered} with clustering{pair}: {enough}"),
        ("Worth", f"{plan.effective} independent items (design effect {plan.design_effect:.2f})"),
        ("Expected", f"{plan.decided} decided, power {percent(plan.power_expected)}, "
                     f"half width {100 * plan.half_width:.1f} points"),
        ("Smallest found", f"share {percent(plan.smallest_share)}, "
                           f"side bias {100 * plan.side_bias:.1f} points"),
        ("Sides by coin", f"out of balance by SD {plan.coin_flip_sd:.1f} items; "
                          "they are balanced here"),
        ("Repeats", f"{plan.repeats} (fewer where a block is shorter than the gap), agreement "
                    f"{percent(plan.wish.agreement)} within {percent(plan.agreement_low)} to "
                    f"{percent(plan.agreement_high)}"),
        ("Reading", f"{plan.hours:.1f} h per rater in {plan.sessions} "
                    f"{'session' if plan.sessions == 1 else 'sessions'}, "
                    f"{plan.hours_all:.1f} h in all; {plan.volumes} volumes"),
    ]  # fmt: skip
    return "\n".join(f"{name:<15} {value}" for name, value in rows)
