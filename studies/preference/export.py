"""Writes an unblinded study as files others can work with: tables, dictionary, numbers, figure.

Refuses to export a blind study, candidate names (they are file names in most tasks), paths,
and comments unless asked for.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from db.failures import translated
from db.files import write_whole
from db.ratings import EntryRow
from studies.preference.figures import FORMATS, save_figure, stacked_bars
from studies.preference.report import blocks, to_json, to_markdown
from studies.preference.statistics import Statistics, preferred_of, summary
from studies.preference.unblind import Unblinded, load_unblinded

RATINGS: dict[str, str] = {
    "study_id": "opaque id of the study",
    "study_hash": "SHA-256 of everything frozen before the first item",
    "rater": "name or initials as entered",
    "session_id": "opaque id of the sitting; empty where nothing was shown or answered",
    "position": "place in the rater's order, from 1; empty for auto_tie",
    "item_id": "opaque id of the item; the same in items.csv",
    "kind": "item, warmup, repeat, or auto_tie (identical lists, recorded as a tie, never shown)",
    "left_model": "model shown on the left: A or B; empty for auto_tie",
    "answer": "left, right, both, neither; empty where not answered; tie for auto_tie",
    "preferred": "A, B, both, neither or auto_tie; both, neither and auto_tie are ties",
    "first_answer": "the first answer to this presentation, before any change of mind",
    "revisions": "how often the answer was taken back",
    "confidence": "1 to 3, optional",
    "usefulness": "candidate place to 0, 1, 2 as JSON, optional",
    "shown_utc": "when first shown, UTC",
    "answered_utc": "when the answer in force was stored, UTC",
    "first_action_ms": "from showing to the first key or click, ms",
    "answer_ms": "from showing to the answer without idle time, ms",
    "idle_ms": "idle time taken out (over 60 s without input), ms",
    "viewer_state": "window and slice range seen as JSON, optional",
    "software": "version of the program that stored the answer",
}
COMMENT = {"comment": "free text of the rater; exported only when asked for"}
ITEMS: dict[str, str] = {
    "study_hash": "SHA-256 of everything frozen before the first item",
    "item_id": "opaque id of the item",
    "kind": "item or auto_tie",
    "task_id": "task of the benchmark",
    "family": "family of the task",
    "form": "2d, 3d or text",
    "split": "id or held-out",
    "row": "row of the query in the task's file, from 0",
    "stratum": "top-1 correctness: both, only_a, only_b, neither; unknown without a gold answer",
    "left_model": "model frozen on the left: A or B; empty for auto_tie",
    "gold_place_a": "place of the gold answer in A's list, from 1; empty if not among the shown",
    "gold_place_b": "the same in B's list",
    "shared_candidates": "candidates in both lists",
    "overlap": "identical, same_set (another order), some or none",
    "prompt": "the task as the rater read it",
}
STORED = (
    "session_id",
    "answer",
    "confidence",
    "shown_utc",
    "first_action_ms",
    "answer_ms",
    "idle_ms",
    "software",
    "comment",
)
NUMBERS = ("a", "b", "tie", "both", "neither", "auto_tie", "a_decided")


def export(
    path: Path, folder: Path, *, comments: str = "leave out", rater: str | None = None
) -> tuple[Path, ...]:
    """Write everything of an unblinded study.

    Args:
        path: the study's folder.
        folder: where to write; made if missing, files of the same names are replaced.
        comments: ``"include"`` adds the raters' comments to ratings.csv.
        rater: numbers and figure of this rater only; the tables always hold all.

    Returns:
        The files written.

    Raises:
        StillBlind: not unblinded.
        StoreError: the folder cannot be written.
    """
    unblinded = load_unblinded(path)
    numbers = summary(unblinded, rater=rater)
    columns = {**RATINGS, **(COMMENT if comments == "include" else {})}
    with translated(folder):
        folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "ratings.csv": _csv(columns, rating_rows(unblinded)),
        "items.csv": _csv(ITEMS, item_rows(unblinded)),
        "shares.csv": _shares(numbers),
        "dictionary.csv": _dictionary(columns),
        "summary.json": _json({**to_json(numbers), "study": _study(unblinded)}),
        "report.md": to_markdown(numbers),
    }
    written = []
    for name, text in contents.items():
        write_whole(folder / name, text.encode("utf-8"))
        written.append(folder / name)
    figure = stacked_bars(numbers)
    written += [save_figure(figure, folder / f"preference.{form}") for form in FORMATS]
    return tuple(written)


def rating_rows(unblinded: Unblinded) -> list[dict[str, Any]]:
    """One row per presentation, answered or not, and one per rater and automatic tie."""
    histories: dict[tuple[str | None, int | None], list[EntryRow]] = {}
    for entry in unblinded.log:
        if entry.action in ("answer", "undo"):
            histories.setdefault((entry.rater, entry.position), []).append(entry)
    rows = []
    for place in unblinded.presentations:
        history = histories.get((place.rater, place.position), [])
        row = _rating(unblinded, place.item_id, place.kind, place.rater, history)
        hidden = unblinded.key.items[place.item_id]
        left = "BA"[(hidden.left == "A") != place.swapped]
        row.update(position=place.position, left_model=left)
        if row["answer"]:
            row["preferred"] = preferred_of(row["answer"], left)
        rows.append(row)
    ties = [item.item_id for item in unblinded.items if item.kind == "auto_tie"]
    for rater in dict.fromkeys(entry.rater for entry in unblinded.log if entry.answer):
        for item_id in ties:
            row = _rating(unblinded, item_id, "auto_tie", str(rater), [])
            rows.append({**row, "answer": "tie", "preferred": "auto_tie"})
    return rows


def _rating(
    unblinded: Unblinded, item_id: str, kind: str, rater: str, history: Sequence[EntryRow]
) -> dict[str, Any]:
    answers = [entry for entry in history if entry.action == "answer"]
    standing = history[-1] if history and history[-1].action == "answer" else None
    row: dict[str, Any] = dict.fromkeys((*RATINGS, *COMMENT), "")
    row.update(
        study_id=unblinded.info.id,
        study_hash=unblinded.info.hash,
        rater=rater,
        item_id=item_id,
        kind=kind,
        first_answer=answers[0].answer if answers else "",
        revisions=sum(entry.action == "undo" for entry in history),
    )
    if standing is not None:
        row.update({name: _plain(getattr(standing, name)) for name in STORED})
        row["answered_utc"] = standing.at_utc
        for name in ("usefulness", "viewer_state"):
            value = getattr(standing, name)
            row[name] = "" if value is None else json.dumps(value, sort_keys=True)
    return row


def item_rows(unblinded: Unblinded) -> list[dict[str, Any]]:
    """One row per item, automatic ties included, by id."""
    rows = []
    for item in unblinded.items:
        hidden = unblinded.key.items[item.item_id]
        rows.append(
            {
                "study_hash": unblinded.info.hash,
                "item_id": item.item_id,
                "kind": item.kind,
                "task_id": hidden.task_id,
                "family": hidden.family,
                "form": hidden.form,
                "split": hidden.split,
                "row": hidden.row,
                "stratum": hidden.stratum,
                "left_model": hidden.left if item.kind != "auto_tie" else "",
                "gold_place_a": _plain(hidden.place_of_gold(hidden.names_a)),
                "gold_place_b": _plain(hidden.place_of_gold(hidden.names_b)),
                "shared_candidates": len(set(hidden.names_a) & set(hidden.names_b)),
                "overlap": hidden.overlap,
                "prompt": item.prompt,
            }
        )
    return rows


def _shares(numbers: Statistics) -> str:
    """The shares as a long table: one row per group and answer."""
    names = ("group", "title", "answer", "count", "n", "share", "low", "high", "p", "study_hash")
    rows = []
    for one in blocks(numbers):
        for name in NUMBERS:
            found = getattr(one, name)
            row = {
                "group": one.name,
                "title": one.title,
                "answer": name,
                "study_hash": numbers.hash,
            }
            row.update({key: _plain(getattr(found, key)) for key in ("count", "n", "share")})
            row.update(low=_plain(found.low), high=_plain(found.high), p="")
            if name == "a_decided":
                row["p"] = _plain(one.p)
            rows.append(row)
    return _csv(dict.fromkeys(names, ""), rows)


def _study(unblinded: Unblinded) -> dict[str, Any]:
    """How the study came about; models, seeds, tasks, plan; no names of candidates."""
    key = unblinded.key
    return {
        "models": {name: vars(arm) for name, arm in key.arms.items()},
        "seed": key.seed,
        "side_seed": str(key.side_seed),
        "order_seed": unblinded.row.order_seed,
        "tasks": dict(key.tasks),
        "missing": sorted(key.missing),
        "plan": list(key.plan),
        "identical": unblinded.row.settings["identical"],
        "created_utc": unblinded.row.created_utc,
        "software": unblinded.row.software,
    }


def _dictionary(columns: Mapping[str, str]) -> str:
    rows = [{"file": "ratings.csv", "column": k, "meaning": v} for k, v in columns.items()]
    rows += [{"file": "items.csv", "column": k, "meaning": v} for k, v in ITEMS.items()]
    return _csv({"file": "", "column": "", "meaning": ""}, rows)


def _csv(columns: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> str:
    held = io.StringIO()
    writer = csv.DictWriter(held, list(columns), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return held.getvalue()


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    return "" if value is None else value
