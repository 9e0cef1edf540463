"""Presentations from rows of ratings: what was shown, answered, preferred.

Owns how an answer and a side say which model was preferred, and which letters models have.
Refuses rows that contradict themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from studies.errors import BadStudy
from studies.preference.analysis.tables import KINDS, ItemFacts, Presented
from studies.preference.kit.cells import Row, Sheet, shortened
from studies.preference.kit.columns import PLACES

ANSWERS = ("left", "right", "both", "neither", "cannot")
TIES = ("both", "neither", "auto_tie", "cannot")
# A tie of others' data that is not split in two is taken as both useful.
LOOSE = {"tie": "both", "equal": "both", "draw": "both", "same": "both", "none": "neither"}


@dataclass(frozen=True)
class Letters:
    """The letters of the models and their titles, in order."""

    titles: Mapping[str, str]

    @classmethod
    def found(
        cls, told: Mapping[str, object], items: Mapping[str, ItemFacts], ratings: Sheet
    ) -> Letters:
        """Every letter that study.csv, items.csv or the ratings use.

        Raises:
            BadStudy: fewer than two models.
        """
        titles = {
            name.split("/")[1]: str(value)
            for name, value in told.items()
            if name.startswith("models/") and name.endswith("/title") and name.count("/") == 2
        }
        used = {letter for one in items.values() for letter in (one.first, one.second)}
        if not items:
            used |= {letter for row in ratings.rows for letter in _named(row)}
        if len(used | set(titles)) == 1 and used <= {"A", "B"}:
            used |= {"A", "B"}
        letters = list(titles) + sorted(used - set(titles))
        if len(letters) < 2:
            raise BadStudy(
                f"{ratings.file} names fewer than two models; left_model or preferred must."
            )
        return cls({letter: titles.get(letter, letter) for letter in letters})

    def pair(self, row: Row) -> tuple[str, str]:
        """The two models of a row of ratings: as it says, else the only two there are."""
        first, second = row.named("first_model"), row.named("second_model")
        if first and second:
            return first, second
        if len(self.titles) > 2:
            row.wrong("first_model", "is empty; with more than two models each row needs its pair")
        one, other = self.titles
        return one, other


def _named(row: Row) -> tuple[str, ...]:
    """Letters of models that a row of ratings names."""
    said = row.named("preferred")
    plain = said.lower().replace("-", "_").replace(" ", "_")
    no_model = plain in TIES or plain in LOOSE or plain in ("first", "second", "left", "right")
    named = (row.named("first_model"), row.named("second_model"), row.named("left_model"))
    return tuple(letter for letter in (*named, "" if no_model else said) if letter)


def presented_rows(sheet: Sheet, items: Mapping[str, ItemFacts]) -> tuple[Presented, ...]:
    """Every presentation of a file of ratings.

    Raises:
        BadStudy: names row and column.
    """
    found: list[Presented] = []
    seen: set[tuple[str, int | str, str]] = set()
    for row in sheet.rows:
        one = _presented(row, items)
        if one.position is not None:
            _once(row, "position", seen, (one.rater, one.position, ""))
        if one.position is None or one.kind != "repeat":
            _once(row, "item_id", seen, (one.rater, one.item_id, one.kind))
        found.append(one)
    return tuple(found)


def _once(
    row: Row, column: str, seen: set[tuple[str, int | str, str]], place: tuple[str, int | str, str]
) -> None:
    """Refuse a reading that would count twice."""
    if place in seen:
        again = "" if column == "position" else "; of a second reading, kind is repeat"
        row.wrong(column, f"stands there twice for the same rater{again}")
    seen.add(place)


def _presented(row: Row, items: Mapping[str, ItemFacts]) -> Presented:
    item = items.get(row.needed("item_id"))
    if item is None:
        named = shortened(row.text("item_id"))
        row.wrong("item_id", f"holds {named}, which items.csv does not name")
    kind = _kind(row, item)
    if kind == "auto_tie":
        tie = ("auto_tie", "", "tie", "auto_tie", "auto_tie")
        return Presented(row.needed("rater"), None, item.item_id, *tie)
    left = side_of(row, item)
    answer = LOOSE.get(row.text("answer").lower()) or row.word("answer", ANSWERS)
    preferred = _preferred(row, "preferred", item)
    meant = _meant(answer, left, item)
    if preferred and meant and preferred != meant:
        row.wrong("preferred", f"contradicts the answer {answer} with {left or 'nothing'} left")
    if answer in ("left", "right") and not (preferred or meant):
        row.wrong("left_model", f"is empty; the answer {answer} needs it")
    return Presented(
        rater=row.needed("rater"),
        position=row.number("position", low=1),
        item_id=item.item_id,
        kind=kind,
        left=left,
        answer=answer or _answer_of(preferred, left, item),
        preferred=preferred or meant,
        first_preferred=_preferred(row, "first_preferred", item),
        session_id=row.text("session_id"),
        reason=row.text("reason"),
        revisions=row.number("revisions", low=0) or 0,
        confidence=row.number("confidence", low=1, high=3),
        usefulness=_usefulness(row),
        shown_utc=row.text("shown_utc"),
        answered_utc=row.text("answered_utc"),
        first_action_ms=row.number("first_action_ms", low=0),
        answer_ms=row.number("answer_ms", low=0),
        idle_ms=row.number("idle_ms", low=0),
    )


def side_of(row: Row, item: ItemFacts) -> str:
    """The letter of the model on the left, "" where it is not told.

    Raises:
        BadStudy: the item does not compare that model.
    """
    left = row.named("left_model")
    if left not in (item.first, item.second, ""):
        compared = f"{item.first}, {item.second}"
        row.wrong("left_model", f"holds {shortened(left)}; this item compares {compared}")
    return left


def _kind(row: Row, item: ItemFacts) -> str:
    """The kind of a presentation, which must fit its item."""
    kind = row.word("kind", KINDS, item.kind)
    if kind != item.kind and (kind, item.kind) != ("repeat", "item"):
        row.wrong("kind", f"holds {kind}; the item itself is of kind {item.kind}")
    return kind


def _preferred(row: Row, column: str, item: ItemFacts) -> str:
    said = row.named(column)
    if said == item.first:
        return "first"
    if said == item.second:
        return "second"
    plain = "_".join(said.lower().replace("-", "_").split())
    plain = LOOSE.get(plain, plain)
    if plain not in ("", "first", "second", *TIES):
        known = f"{item.first}, {item.second}, {', '.join(TIES)}"
        row.wrong(column, f"holds {said[:60]!r}; known are {known}")
    return plain


def _meant(answer: str, left: str, item: ItemFacts) -> str:
    """What an answer says about the models, "" where the side is not known."""
    if answer not in ("left", "right"):
        return answer
    if not left:
        return ""
    return "first" if (answer == "left") == (left == item.first) else "second"


def _answer_of(preferred: str, left: str, item: ItemFacts) -> str:
    """The answer behind a preference, where only that is told."""
    if preferred not in ("first", "second"):
        return "" if preferred == "auto_tie" else preferred
    if not left:
        return ""
    return "left" if (preferred == "first") == (left == item.first) else "right"


def _usefulness(row: Row) -> dict[str, int]:
    found = {place: row.number(f"useful_{place}", low=0, high=2) for place in PLACES}
    return {place: value for place, value in found.items() if value is not None}
