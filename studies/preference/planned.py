"""The planned size of a study as a document: written by the planner, frozen by the build.

Owns its form. Of a document only the wish is taken; the numbers and the sentence are worked out
anew, so that no other words get into a study. Refuses a document whose numbers are others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from db.failures import translated
from db.files import write_whole
from studies.errors import BadRequest
from studies.preference.frozen import canonical
from studies.preference.planner import SECONDS, PlanWish, StudyPlan, plan
from studies.preference.protocol import Protocol

FORMAT = "triptych-plan-1"
MOST = 1 << 20
MAPPINGS = ("forms", "seconds")
WHOLE = ("total", "tasks", "models", "readers", "warmup")


def plan_document(made: StudyPlan) -> dict[str, Any]:
    """Wish, numbers and sentence as plain values; no model, no task by name."""
    return {"format": FORMAT, **made.to_json()}


def write_plan(made: StudyPlan, file: Path) -> Path:
    """Write a plan as a file; an earlier one is replaced.

    Raises:
        StoreError: it cannot be written.
    """
    text = json.dumps(plan_document(made), indent=2, ensure_ascii=False)
    write_whole(file, f"{text}\n".encode())
    return file


def read_plan(file: Path) -> StudyPlan:
    """The plan of a file.

    Raises:
        BadRequest: no plan, or one whose numbers do not follow from its wish.
        StoreError: it cannot be read.
    """
    with translated(file):
        if not file.is_file():
            raise BadRequest(f"There is no plan {file}. Write one: triptych study plan --out FILE")
        content = file.read_bytes()[: MOST + 1]
    try:
        document = json.loads(content.decode("utf-8-sig")) if len(content) <= MOST else None
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise BadRequest(f"{file} is no plan. Write one: triptych study plan --out FILE")
    return plan_of(document)


def plan_of(document: Mapping[str, Any]) -> StudyPlan:
    """The plan of a document, every number worked out anew.

    Args:
        document: at least its ``wish``; numbers and sentence, where there are, must be its own.

    Raises:
        BadRequest: not a wish, or numbers that do not follow from it.
    """
    wish = document.get("wish")
    if not isinstance(wish, Mapping):
        raise BadRequest("This plan holds no wish. Make it anew: triptych study plan --out FILE")
    made = plan(_wish(wish))
    ours = plan_document(made)
    for name, value in document.items():
        if name != "wish" and name in ours and not _same(value, ours[name]):
            both = f" ({value}, not {ours[name]})" if isinstance(value, int | float) else ""
            raise BadRequest(
                f"In the plan {name} does not follow from the wish{both}. It was altered, or made "
                "by another version. Make it anew: triptych study plan --out FILE"
            )
    return made


def _wish(told: Mapping[str, Any]) -> PlanWish:
    """A wish of plain values.

    Raises:
        BadRequest: names what is odd.
    """
    known = {one.name for one in fields(PlanWish)}
    odd = next((name for name in told if name not in known), None)
    if odd is not None:
        raise BadRequest(f"A plan has no {str(odd)[:40]!r}; leave it out.")
    for name, value in told.items():
        if name in MAPPINGS:
            _check_forms(name, value)
        elif not _number(value) or (name in WHOLE and not isinstance(value, int)):
            raise BadRequest(f"The {name} of a plan cannot be {str(value)[:40]!r}; give a number.")
    checked: dict[str, Any] = {n: dict(v) if n in MAPPINGS else v for n, v in told.items()}
    return PlanWish(**checked)


def _check_forms(name: str, value: object) -> None:
    fits = isinstance(value, Mapping) and set(value) <= set(SECONDS)
    if not (fits and value and all(map(_number, value.values()))):  # type: ignore[attr-defined]
        raise BadRequest(f"The {name} of a plan give a number for each of {', '.join(SECONDS)}.")


def _number(value: object) -> bool:
    finite = isinstance(value, int | float) and abs(value) < 1e9  # not for NaN either
    return finite and not isinstance(value, bool)


def _same(theirs: object, ours: object) -> bool:
    """Equal as JSON; numbers but for the last digits, which a library may round otherwise."""
    if _number(theirs) and _number(ours):
        return abs(theirs - ours) <= 1e-6 * max(1.0, abs(ours))  # type: ignore[operator, arg-type]
    if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
        return set(theirs) == set(ours) and all(_same(theirs[one], ours[one]) for one in ours)
    return theirs == ours


def frozen_plan(made: StudyPlan) -> dict[str, Any]:
    """What a study freezes of its plan."""
    whole: dict[str, Any] = json.loads(canonical(plan_document(made)))
    return whole


def check_models_planned(made: StudyPlan | None, models: int) -> None:
    """Refuse a plan for another number of models.

    Raises:
        BadRequest: says both numbers.
    """
    if made is not None and made.wish.models != models:
        raise BadRequest(
            f"The plan is for {made.wish.models} models, the study compares {models}. "
            "Plan again with these models."
        )


def deviations(made: StudyPlan | None, total: int, protocol: Protocol) -> tuple[str, ...]:
    """Where a study is asked to be other than it was planned; a sentence each."""
    if made is None:
        return ()
    wish = made.wish
    pairs = (
        ("items", wish.total, total),
        ("practice items", wish.warmup, protocol.warmup),
        ("% repeats", 100 * wish.repeat_share, 100 * protocol.repeat_share),
    )
    return tuple(
        f"Planned were {was:g} {what}, asked for are {now:g}; the plan is frozen as it was."
        for what, was, now in pairs
        if abs(was - now) > 1e-9
    )
