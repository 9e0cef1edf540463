"""Reads a study back from CSV files alone, ours or anybody's, and computes its statistics.

Owns what the files mean together: items, presentations, guesses, raters, the study. Refuses an
answer it would have to guess; the sentence names file, row and column.
Of one's own data ``item_id``, ``rater`` and either ``preferred`` or ``answer`` with
``left_model`` are enough, in one file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from studies.errors import BadStudy
from studies.preference.analysis.schema import Analysis
from studies.preference.analysis.tables import KINDS, Guess, ItemFacts, RaterFacts, StudyTables
from studies.preference.kit.cells import Row, Sheet, json_value, read_sheet, shortened
from studies.preference.kit.extras import as_typed
from studies.preference.kit.presented import Letters, presented_rows, side_of
from studies.preference.lists import DIFFICULTIES, STRATA
from studies.preference.overlap import HOLDERS, OVERLAPS

FORMS = ("2d", "3d", "text", "")
GUESSED = ("left", "right", "unsure")
OF_AN_ITEM = (
    *("task_id", "family", "form", "split", "stratum", "anatomy", "difficulty"),
    *("words_first", "words_second", "near_query", "same_patient"),
)


def report_from(folder: Path) -> Analysis:
    """Every number of a study from its CSV files.

    Args:
        folder: with ratings.csv and what else there is, or a file of ratings.

    Raises:
        BadStudy: names file, row and column.
        StoreError: a file cannot be read.
    """
    from studies.preference.analysis.analyse import analyse

    told, tables = _read(Path(folder))
    return analyse(tables, draws=_whole(told, "bootstrap_draws", 10_000, most=100_000))


def read_tables(folder: Path) -> StudyTables:
    """The tables of a study from its CSV files.

    Args:
        folder: with ratings.csv and, where there are, items.csv, guesses.csv, raters.csv and
            study.csv; or one file of ratings.

    Raises:
        BadStudy: names file, row and column.
        StoreError: a file cannot be read.
    """
    return _read(Path(folder))[1]


def _read(path: Path) -> tuple[dict[str, object], StudyTables]:
    ratings, sheets = _sheets(path)
    ratings.needs("item_id", "rater")
    if "preferred" not in ratings.columns:
        ratings.needs("answer", "left_model")
    told = _told(sheets.get("study.csv"))
    _one_study(told, ratings, *sheets.values())
    items = _items(sheets["items.csv"], ratings) if "items.csv" in sheets else {}
    letters = Letters.found(told, items, ratings)
    if not items:
        items = _items_of_ratings(ratings, letters)
    presented = presented_rows(ratings, items)
    guesses = _guesses(
        _of(sheets, "guesses.csv", "rater", "item_id", "answer", "left_model"), items
    )
    raters = tuple(map(_rater, _of(sheets, "raters.csv", "rater")))
    return told, StudyTables(
        study_id=str(told.get("study_id", "")),
        title=str(told.get("title", "")) or ratings.file,
        hash=str(told.get("hash", "")),
        models=letters.titles,
        items=tuple(items.values()),
        presented=presented,
        guesses=guesses,
        raters=raters or tuple(map(RaterFacts, sorted({one.rater for one in presented}))),
        seed=_whole(told, "bootstrap_seed", 1, least=0, most=2**256),
        facts={
            name.removeprefix("facts/"): value
            for name, value in told.items()
            if name.startswith("facts/")
        },
    )


def _sheets(path: Path) -> tuple[Sheet, dict[str, Sheet]]:
    """The ratings and the other files beside them."""
    if path.is_file():
        return read_sheet(path), {}
    if not path.is_dir():
        raise BadStudy(f"{path} is not there. Give a folder with ratings.csv, or such a file.")
    there = {one.name.lower(): one for one in sorted(path.iterdir()) if one.is_file()}
    if "ratings.csv" not in there:
        raise BadStudy(f"{path} holds no ratings.csv; one row per presentation is needed.")
    names = ("items.csv", "guesses.csv", "raters.csv", "study.csv")
    others = {name: read_sheet(there[name]) for name in names if name in there}
    return read_sheet(there["ratings.csv"]), others


def _of(sheets: Mapping[str, Sheet], name: str, *columns: str) -> tuple[Row, ...]:
    """The rows of a file that may be missing."""
    if name not in sheets:
        return ()
    sheets[name].needs(*columns)
    return sheets[name].rows


def _told(sheet: Sheet | None) -> dict[str, object]:
    """What study.csv tells, by path."""
    if sheet is None:
        return {}
    sheet.needs("name", "value")
    return {row.needed("name"): _value(row) for row in sheet.rows}


def _value(row: Row) -> object:
    kind = row.word("kind", ("text", "number", "yes_no", "json", "nothing"), "text")
    if kind == "nothing":
        return None
    if kind == "yes_no":
        return row.word("value", ("yes", "no")) == "yes"
    if kind == "json":
        return json_value(row, "value")
    if kind == "text":
        return as_typed(row.text("value"))
    try:
        found = row.needed("value")
        return int(found) if found.lstrip("+-").isdigit() else float(found)
    except ValueError:
        row.wrong("value", "holds no number")


def _one_study(told: Mapping[str, object], *sheets: Sheet) -> None:
    """Refuse files of different studies: every row that holds a hash holds the same."""
    known, where = str(told.get("hash") or ""), "study.csv"
    for sheet in sheets:
        for row in sheet.rows:
            found = row.named("study_hash")
            if found and known and found != known:
                row.wrong("study_hash", f"holds {shortened(found)}; {where} is of another study")
            if found and not known:
                known, where = found, sheet.file


def _items(sheet: Sheet, ratings: Sheet) -> dict[str, ItemFacts]:
    sheet.needs("item_id")
    kinds = {row.text("item_id"): _kind(row) for row in reversed(ratings.rows)}
    found: dict[str, ItemFacts] = {}
    for row in sheet.rows:
        first, second = row.text("first_model", "A"), row.text("second_model", "B")
        stated = "" if row.named("kind") else kinds.get(row.text("item_id"), "")
        one = _item(row, first, second, kind=stated)
        if one.item_id in found:
            row.wrong("item_id", f"names {one.item_id!r} for the second time")
        if one.first == one.second:
            row.wrong("second_model", "names the same model as first_model")
        side_of(row, one)
        found[one.item_id] = one
    return found


def _items_of_ratings(sheet: Sheet, letters: Letters) -> dict[str, ItemFacts]:
    """Items where only ratings are there: what their rows say, which must not differ."""
    found: dict[str, ItemFacts] = {}
    for row in sheet.rows:
        first, second = letters.pair(row)
        one = _item(row, first, second, kind=_kind(row))
        known = found.setdefault(one.item_id, one)
        for column in OF_AN_ITEM:
            if getattr(known, column) != getattr(one, column):
                row.wrong(column, "differs from an earlier row of the same item")
    return found


def _kind(row: Row) -> str:
    kind = row.word("kind", KINDS, "item")
    return "item" if kind == "repeat" else kind


def _item(row: Row, first: str, second: str, *, kind: str = "") -> ItemFacts:
    return ItemFacts(
        item_id=row.needed("item_id"),
        kind=kind or row.word("kind", KINDS, "item"),
        first=first,
        second=second,
        left=row.named("left_model"),
        task_id=row.text("task_id"),
        family=row.text("family"),
        form=row.word("form", FORMS),
        split=row.text("split"),
        stratum=row.word("stratum", STRATA, "unknown"),
        anatomy=row.text("anatomy"),
        row=row.number("row", low=0),
        gold_place_first=row.number("gold_place_first", low=1),
        gold_place_second=row.number("gold_place_second", low=1),
        shared=row.number("shared_candidates", low=0) or 0,
        overlap=row.word("overlap", OVERLAPS, "none"),
        flags=tuple(row.text("flags").replace(";", " ").split()),
        words_first=row.amount("words_first"),
        words_second=row.amount("words_second"),
        near_query=row.word("near_query", HOLDERS),
        same_patient=row.word("same_patient", HOLDERS),
        gold_rank_first=row.number("gold_rank_first", low=1),
        gold_rank_second=row.number("gold_rank_second", low=1),
        difficulty=row.word("difficulty", tuple(DIFFICULTIES)),
    )


def _guesses(rows: Iterable[Row], items: Mapping[str, ItemFacts]) -> tuple[Guess, ...]:
    """What was guessed, once for each rater and item."""
    found: dict[tuple[str, str], Guess] = {}
    for row in rows:
        left, answer = row.named("left_model"), row.word("answer", GUESSED)
        for column, value in (("left_model", left), ("answer", answer)):
            if not value:
                row.wrong(column, "is empty; it must hold a value")
        one = Guess(row.needed("rater"), row.needed("item_id"), left, answer)
        if one.item_id not in items:
            row.wrong("item_id", f"holds {shortened(one.item_id)}, which no item is called")
        side_of(row, items[one.item_id])
        if (one.rater, one.item_id) in found:
            row.wrong("item_id", "stands there twice for the same rater")
        found[one.rater, one.item_id] = one
    return tuple(found.values())


def _rater(row: Row) -> RaterFacts:
    return RaterFacts(
        name=row.needed("rater"),
        specialty=row.text("specialty"),
        years=row.number("years", low=0, high=100),
        modalities=row.text("modalities"),
        display=row.text("display"),
    )


def _whole(
    told: Mapping[str, object], name: str, default: int, *, most: int, least: int = 1
) -> int:
    found = told.get(name, default)
    fits = isinstance(found, int) and not isinstance(found, bool) and least <= found <= most
    return found if fits and isinstance(found, int) else default
