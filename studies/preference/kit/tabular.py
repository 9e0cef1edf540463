"""Rows of the CSV files: one per presentation, item, guess, rater; the study as name and value.

Owns how a value is written: ``.`` as decimal point, UTC as stored, nothing as an empty cell.
Refuses everything that is not in ``columns``.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from studies.preference.analysis.tables import (
    Guess,
    ItemFacts,
    Presented,
    RaterFacts,
    StudyTables,
)
from studies.preference.in_sight import renamed
from studies.preference.kit.columns import FILES, PLACES, columns_of
from studies.preference.kit.extras import Extras, Shown, as_cell, clean, reason_words, without_paths


def coded(
    tables: StudyTables, code: Mapping[str, str], *, comments: str = "leave out"
) -> StudyTables:
    """The tables as they may leave the house.

    Args:
        tables: of an unblinded study.
        code: rater's name to what stands for it, see ``rater_codes``; empty keeps names.
        comments: unless ``"include"``, words of one's own as a reason become ``other``.
    """
    presented = tuple(
        replace(
            one,
            rater=code.get(one.rater, one.rater),
            reason=reason_words(one.reason, comments=comments),
        )
        for one in tables.presented
    )
    return replace(
        tables,
        presented=presented,
        guesses=tuple(replace(one, rater=code.get(one.rater, one.rater)) for one in tables.guesses),
        raters=tuple(_profile(one, code) for one in tables.raters),
        title=without_paths(tables.title),
        models={letter: without_paths(title) for letter, title in tables.models.items()},
        facts=clean(_facts(tables.facts, code)),
    )


def _facts(facts: Mapping[str, object], code: Mapping[str, str]) -> dict[str, object]:
    found = dict(facts)
    if "in_sight" in found:
        found["in_sight"] = renamed(found["in_sight"], code)
    return found


def _profile(one: RaterFacts, code: Mapping[str, str]) -> RaterFacts:
    return RaterFacts(
        name=code.get(one.name, one.name),
        specialty=as_cell(without_paths(one.specialty)),
        years=one.years,
        modalities=as_cell(without_paths(one.modalities)),
        display=as_cell(without_paths(one.display)),
    )


def rater_codes(tables: StudyTables) -> dict[str, str]:
    """Name to code, all of one length so that they sort as they count."""
    names = {one.rater for one in tables.presented} | {one.rater for one in tables.guesses}
    listed = sorted(names | {one.name for one in tables.raters})
    width = len(str(len(listed)))
    return {name: f"R{place:0{width}}" for place, name in enumerate(listed, 1)}


def rater_names(tables: StudyTables) -> dict[str, str]:
    """Name to itself, as a spreadsheet shows it and does not compute it; no two become one."""
    found: dict[str, str] = {}
    for name in rater_codes(tables):
        cell = as_cell(name)
        while cell in found.values():
            cell = f"'{cell}"
        found[name] = cell
    return found


def csv_files(
    tables: StudyTables,
    extras: Extras,
    numbers: Mapping[str, float | None],
    *,
    draws: int,
    rater: str | None = None,
) -> dict[str, str]:
    """File name to its text.

    Args:
        tables: already ``coded``.
        extras: what is told besides.
        numbers: every number by its path.
        draws: of the bootstrap.
        rater: whose numbers alone these are.
    """
    comments = extras.comments
    by_id = {one.item_id: one for one in tables.items}
    told = study_facts(tables, extras, draws=draws, rater=rater)
    rows = {
        "ratings.csv": [_rating(by_id.get(one.item_id), extras, one) for one in tables.presented],
        "items.csv": [_item(extras, one) for one in tables.items],
        "guesses.csv": [_guess(one) for one in tables.guesses],
        "raters.csv": [
            {"rater": one.name, "specialty": one.specialty, "years": one.years,
             "modalities": one.modalities, "display": one.display}
            for one in tables.raters
        ],
        "study.csv": [_told(*fact) for fact in told.items()],
        "numbers.csv": [
            {"name": name, "value": _number(value)} for name, value in numbers.items()
        ],
        "dictionary.csv": [
            {"file": name, "column": column, "meaning": meaning}
            for name in FILES
            for column, meaning in columns_of(name, comments=comments).items()
        ],
    }  # fmt: skip
    return {
        name: csv_text(columns_of(name, comments=comments), found, study_hash=tables.hash)
        for name, found in rows.items()
    }


def csv_text(columns: Iterable[str], rows: Iterable[Mapping[str, Any]], *, study_hash: str) -> str:
    """One file: the hash first in every row, nothing as an empty cell."""
    held = io.StringIO()
    writer = csv.DictWriter(held, list(columns), extrasaction="raise", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        plain = {name: "" if value is None else value for name, value in row.items()}
        writer.writerow({"study_hash": study_hash, **plain})
    return held.getvalue()


def study_facts(
    tables: StudyTables, extras: Extras, *, draws: int, rater: str | None = None
) -> dict[str, object]:
    """Everything study.csv tells, by path."""
    told: dict[str, object] = {
        "study_id": tables.study_id,
        "title": tables.title,
        "hash": tables.hash,
        "bootstrap_seed": tables.seed,
        "bootstrap_draws": draws,
        "only_rater": rater or "",
    }
    told.update({f"models/{letter}/title": title for letter, title in tables.models.items()})
    told.update({f"facts/{name}": value for name, value in tables.facts.items()})
    told.update({name: value for name, value in extras.study.items() if name not in told})
    return told


def letter_of(preferred: str, item: ItemFacts | None) -> str:
    """``first`` and ``second`` as the letters of the item's models; the rest as it is."""
    if item is None:
        return preferred
    return {"first": item.first, "second": item.second}.get(preferred, preferred)


def _rating(item: ItemFacts | None, extras: Extras, one: Presented) -> dict[str, Any]:
    shown = extras.shown.get((one.rater, one.position or 0), Shown())
    return {
        "rater": one.rater,
        "session_id": one.session_id,
        "position": one.position,
        "item_id": one.item_id,
        "kind": one.kind,
        "left_model": one.left,
        "answer": one.answer,
        "preferred": letter_of(one.preferred, item),
        "first_preferred": letter_of(one.first_preferred, item),
        "reason": one.reason,
        "revisions": one.revisions,
        "confidence": one.confidence,
        **{f"useful_{place}": one.usefulness.get(place) for place in PLACES},
        "shown_utc": one.shown_utc,
        "answered_utc": one.answered_utc,
        "first_action_ms": one.first_action_ms,
        "answer_ms": one.answer_ms,
        "idle_ms": one.idle_ms,
        "viewer_state": _json(shown.viewer_state),
        "software": shown.software,
        **({"comment": shown.comment} if extras.comments == "include" else {}),
    }


def _item(extras: Extras, one: ItemFacts) -> dict[str, Any]:
    return {
        "item_id": one.item_id,
        "kind": one.kind,
        "first_model": one.first,
        "second_model": one.second,
        "left_model": one.left,
        "task_id": one.task_id,
        "family": one.family,
        "form": one.form,
        "split": one.split,
        "row": one.row,
        "stratum": one.stratum,
        "anatomy": one.anatomy,
        "gold_place_first": one.gold_place_first,
        "gold_place_second": one.gold_place_second,
        "shared_candidates": one.shared,
        "overlap": one.overlap,
        "flags": " ".join(one.flags),
        "words_first": one.words_first,
        "words_second": one.words_second,
        "near_query": one.near_query,
        "same_patient": one.same_patient,
        "gold_rank_first": one.gold_rank_first,
        "gold_rank_second": one.gold_rank_second,
        "difficulty": one.difficulty,
        "prompt": extras.prompts.get(one.item_id, ""),
    }


def _guess(one: Guess) -> dict[str, Any]:
    return {
        "rater": one.rater,
        "item_id": one.item_id,
        "left_model": one.left,
        "answer": one.answer,
    }


def _told(name: str, value: object) -> dict[str, str]:
    if value is None:
        return {"name": name, "kind": "nothing", "value": ""}
    if isinstance(value, bool):
        return {"name": name, "kind": "yes_no", "value": "yes" if value else "no"}
    if isinstance(value, int | float):
        return {"name": name, "kind": "number", "value": _number(value)}
    if isinstance(value, str):
        return {"name": name, "kind": "text", "value": as_cell(value)}
    return {"name": name, "kind": "json", "value": _json(value)}


def _number(value: float | None) -> str:
    """All digits that tell a number from its neighbours."""
    return "" if value is None else repr(value)


def _json(value: Any) -> str:
    return "" if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)
