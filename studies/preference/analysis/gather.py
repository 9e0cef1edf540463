"""From an unblinded study to the rows that are analysed.

Owns the joining of log, orders and key. Names of candidates, paths and comments stay behind.
Refuses a blind study.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from db.ratings import EntryRow
from db.study_items import PresentationRow, RaterRow
from studies.errors import StillBlind
from studies.preference.analysis.rated import preferred_of
from studies.preference.analysis.tables import (
    Guess,
    ItemFacts,
    Presented,
    RaterFacts,
    StudyTables,
)
from studies.preference.in_sight import seen_in
from studies.preference.key import KeyItem
from studies.preference.study import StudyInfo
from studies.preference.unblind import Unblinded


def tables_of(unblinded: Unblinded) -> StudyTables:
    """Everything of an unblinded study that is analysed.

    Raises:
        StillBlind: the study was not unblinded.
    """
    if not unblinded.info.unblinded:
        raise StillBlind("This study is still blind; its statistics open with the key.")
    key = unblinded.key
    presented = [*_presented(unblinded), *_auto_ties(unblinded)]
    return StudyTables(
        study_id=unblinded.info.id,
        title=unblinded.info.title,
        hash=unblinded.info.hash,
        models={letter: arm.title for letter, arm in key.arms.items()},
        items=tuple(
            _item(one.item_id, one.kind, key.items[one.item_id]) for one in unblinded.items
        ),
        presented=tuple(presented),
        guesses=_guesses(unblinded),
        raters=tuple(_rater(one) for one in unblinded.raters),
        seed=key.seed,
        facts=_facts(unblinded),
    )


def _item(item_id: str, kind: str, hidden: KeyItem) -> ItemFacts:
    first, second = hidden.first, hidden.second
    return ItemFacts(
        item_id=item_id,
        kind=kind,
        first=first,
        second=second,
        left="" if kind == "auto_tie" else hidden.left,
        task_id=hidden.task_id,
        family=hidden.family,
        form=hidden.form,
        split=hidden.split,
        stratum=hidden.stratum,
        anatomy=hidden.anatomy,
        row=hidden.row,
        gold_place_first=hidden.place_of_gold(hidden.names_a),
        gold_place_second=hidden.place_of_gold(hidden.names_b),
        shared=len(set(hidden.names_a) & set(hidden.names_b)),
        overlap=hidden.overlap,
        flags=tuple(hidden.flags),
        words_first=hidden.words_a,
        words_second=hidden.words_b,
        near_query=hidden.near_query,
        same_patient=hidden.same_patient,
        gold_rank_first=hidden.rank_a,
        gold_rank_second=hidden.rank_b,
        difficulty=hidden.difficulty,
    )


def _presented(unblinded: Unblinded) -> list[Presented]:
    histories: dict[tuple[str | None, int | None], list[EntryRow]] = {}
    for entry in unblinded.log:
        if entry.action in ("answer", "undo"):
            histories.setdefault((entry.rater, entry.position), []).append(entry)
    return [
        _row(
            place,
            unblinded.key.items[place.item_id],
            histories.get((place.rater, place.position), []),
        )
        for place in unblinded.presentations
    ]


def _row(place: PresentationRow, hidden: KeyItem, history: Sequence[EntryRow]) -> Presented:
    first, second = hidden.first, hidden.second
    other = second if hidden.left == first else first
    left = other if place.swapped else hidden.left
    answers = [entry.answer or "" for entry in history if entry.action == "answer"]
    standing = history[-1] if history and history[-1].action == "answer" else None

    def meant(answer: str) -> str:
        return preferred_of(answer, left, first=first, second=second)

    frame: dict[str, Any] = {
        "rater": place.rater,
        "position": place.position,
        "item_id": place.item_id,
        "kind": place.kind,
        "left": left,
        "first_preferred": meant(answers[0]) if answers else "",
        "revisions": sum(entry.action == "undo" for entry in history),
    }
    if standing is None:
        return Presented(**frame, answer="", preferred="")
    answer = standing.answer or ""
    return Presented(**frame, answer=answer, preferred=meant(answer), **_kept(standing))


def _kept(entry: EntryRow) -> dict[str, Any]:
    """What was stored beside an answer; never the comment."""
    return {
        "session_id": entry.session_id or "",
        "reason": (entry.note or "") if entry.answer == "cannot" else "",
        "confidence": entry.confidence,
        "usefulness": dict(entry.usefulness or {}),
        "shown_utc": entry.shown_utc or "",
        "answered_utc": entry.at_utc,
        "first_action_ms": entry.first_action_ms,
        "answer_ms": entry.answer_ms,
        "idle_ms": entry.idle_ms,
    }


def _auto_ties(unblinded: Unblinded) -> list[Presented]:
    """Identical lists, once for each rater who answered anything."""
    ties = [one.item_id for one in unblinded.items if one.kind == "auto_tie"]
    at_work = dict.fromkeys(entry.rater or "" for entry in unblinded.log if entry.answer)
    return [
        Presented(rater, None, item_id, "auto_tie", "", "tie", "auto_tie", "auto_tie")
        for rater in at_work
        for item_id in ties
    ]


def _guesses(unblinded: Unblinded) -> tuple[Guess, ...]:
    """The last guess of each rater on each item."""
    found = {}
    for entry in unblinded.log:
        if entry.action == "guess" and entry.item_id is not None:
            left = unblinded.key.items[entry.item_id].left
            guess = Guess(entry.rater or "", entry.item_id, left, entry.answer or "")
            found[guess.rater, guess.item_id] = guess
    return tuple(found.values())


def _rater(row: RaterRow) -> RaterFacts:
    return RaterFacts(
        row.name, row.specialty or "", row.years, row.modalities or "", row.display or ""
    )


def _facts(unblinded: Unblinded) -> dict[str, Any]:
    """How the study came about; plain JSON values, no candidate, no path."""
    key, row = unblinded.key, unblinded.row
    planned, seen = row.settings.get("planned"), seen_in(unblinded.log)
    left = _outstanding(unblinded.info)
    return {
        "unblinded_utc": unblinded.at_utc,
        "reason": unblinded.reason,
        "software": row.software,
        "created_utc": row.created_utc,
        "identical": row.settings.get("identical", ""),
        "protocol": dict(row.settings.get("protocol") or {}),
        "models": {letter: dict(vars(arm)) for letter, arm in key.arms.items()},
        "seed": key.seed,
        "side_seed": str(key.side_seed),
        "order_seed": row.order_seed,
        "tasks": dict(key.tasks),
        "missing": sorted(key.missing),
        "plan": list(key.plan),
        "mirrored": str(key.asked.get("mirrored", "")),
        **({"planned": planned} if planned else {}),
        **({"in_sight": seen} if seen else {}),
        **({"outstanding": left} if left else {}),
    }


def _outstanding(info: StudyInfo) -> str:
    """What unblinding gave up, counts only; packs take no answers after it, so it still stands."""
    handed = [one for one in info.packs if not one.replaced]
    out = sum(not one.returned_utc for one in handed)
    part = [one for one in handed if one.returned_utc and one.answered < one.items]
    kind = "packs and shared copies" if any(one.url for one in handed) else "packs"
    told = [f"{out} of {len(handed)} {kind} had not come back"] if out else []
    if part:
        counts = ", ".join(f"{one.answered} of {one.items} places" for one in part)
        told.append(f"{len(part)} of {len(handed)} {kind} had come back in part ({counts})")
    if not info.answered:
        told.append("nobody had answered anything")
    return " and ".join(told)
