"""From what the wizard asks to the planner and back: the numbers of a plan in words.

Plain functions; the arithmetic is ``studies.preference.planner``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.shown_study import SizeAsked, SizeShown
from app.words import duration
from studies.errors import BadRequest
from studies.preference.order_words import order_words
from studies.preference.planned import plan_document
from studies.preference.planner import FORMS, PlanWish, StudyPlan, plan
from studies.preference.protocol import Protocol


def size_of(
    asked: SizeAsked,
    *,
    models: int,
    forms: Mapping[str, float],
    tasks: int,
    available: int,
    protocol: Protocol,
) -> PlanWish:
    """What the planner is asked.

    Args:
        asked: the fields.
        models: how many are compared.
        forms: form to its share; empty where that is not known.
        tasks: over which the items are spread.
        available: queries there are; no study has more items.
        protocol: repeats and practice items.
    """
    return PlanWish(
        total=max(1, min(asked.items, available)),
        share=asked.share / 100,
        ties=asked.ties / 100,
        icc=asked.clustering,
        tasks=tasks,
        models=models,
        readers=asked.readers,
        power=asked.power / 100,
        forms=dict(forms) or dict(FORMS),
        seconds=dict(asked.seconds),
        repeat_share=protocol.repeat_share,
        warmup=protocol.warmup,
        session_minutes=asked.session,
    )


def plan_kept(wish: PlanWish) -> dict[str, Any] | None:
    """The plan as a study freezes it; None where the numbers make none, as the page says."""
    try:
        return plan_document(plan(wish))
    except BadRequest:
        return None


def plan_shown(wish: PlanWish, available: int, asked: int) -> SizeShown:
    """Work out a plan and say it.

    Raises:
        BadRequest: a number outside its bounds.
    """
    found = plan(wish)
    needed = (found.items_clustered or 0) * _pairs(wish)
    warning = _warning(found, available, asked)
    return SizeShown(needed, _facts(found, needed), found.sentence, warning, available)


def _pairs(wish: PlanWish) -> int:
    return wish.models * (wish.models - 1) // 2


def _facts(found: StudyPlan, needed: int) -> tuple[tuple[str, str], ...]:
    wish = found.wish
    chance = f"{100 * wish.power:.0f} %"
    facts = [
        ("Items needed", f"{needed:,} for a chance of {chance}" if needed
         else f"none gives {chance} over {wish.tasks} tasks"),
        ("Made up of", f"{found.decided_needed:,} decided answers; {found.items_needed:,} items "
                       "with ties, were they independent"),
        ("This study", f"{wish.total:,} items, worth {found.effective:,} independent ones"),
        ("Its chance to find the share", f"{100 * found.power_expected:.0f} %"),
        ("Interval of the share", f"± {100 * found.half_width:.1f} points (95 %)"),
        ("Smallest share it finds", f"{100 * found.smallest_share:.1f} %"),
        ("Smallest side bias it finds", f"± {100 * found.side_bias:.1f} points"),
    ]  # fmt: skip
    if found.repeats:
        low, high = 100 * found.agreement_low, 100 * found.agreement_high
        facts.append((
            "Agreement with oneself",
            f"{_counted(found.repeats, 'repeat')}, fewer where a block is shorter than their gap; "
            f"80 % would be known to {low:.0f}–{high:.0f} %",
        ))  # fmt: skip
    facts += [
        ("Each reader", f"{_order_words(found)}; {duration(3600 * found.hours)}, "
                        f"{_counted(found.sessions, 'session')}"),
    ]  # fmt: skip
    if wish.readers > 1:
        facts.append(("All readers", duration(3600 * found.hours_all)))
    if found.volumes:
        facts.append(("Volumes to scroll", f"{found.volumes:,} for each reader"))
    return tuple(facts)


def _order_words(found: StudyPlan) -> str:
    """``24 items and 4 repeats, 3 practice``: what one reader reads."""
    return order_words(found.wish.total, found.repeats, found.wish.warmup)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what if number == 1 else what + 's'}"


def _warning(found: StudyPlan, available: int, asked: int) -> str:
    if asked > available:
        return f"There are {available:,} queries to draw from; the study will have no more."
    if not found.enough:
        return (
            f"With these numbers the study finds such a share with a chance of "
            f"{100 * found.power_expected:.0f} %, below what is wanted."
        )
    return ""
