"""Which answers stand behind a mark of the Statistics page, and how each is told in a list.

Owns the terms of a ``Behind``. Counts nothing: the numbers come from the analysis, the rows from
the same tables it was computed from; a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from app.shown_statistics import AnswerLine, Behind
from studies.preference.analysis.tables import Guess, ItemFacts, Presented, StudyTables
from studies.preference.kit.words import seconds_words
from studies.preference.lists import strata_titles

ITEM_TERMS = ("family", "form", "split", "anatomy", "difficulty", "overlap", "stratum")
FORMS = {"2d": "2D", "3d": "3D", "text": "text"}
KINDS = {"repeat": "repeat, sides swapped", "auto_tie": "identical lists, never shown"}


@dataclass(frozen=True)
class Row:
    """One answer with its item and, where a mark is about two readings, the earlier one."""

    item: ItemFacts
    number: int
    row: Presented | None = None
    guess: Guess | None = None
    before: Presented | None = None
    practice: int = 0

    @property
    def own_number(self) -> int | None:
        """The number that the reader saw above the item: practice items are counted apart."""
        position = None if self.row is None else self.row.position
        return None if position is None else position - self.practice


def practice_of(tables: StudyTables) -> int:
    """Practice items before the first item; as many for every reader."""
    return sum(one.kind == "warmup" for one in tables.items)


def behind(title: str, **terms: str) -> Behind:
    """A mark's rows by terms."""
    return Behind(title, tuple(sorted(terms.items())))


def more(known: Behind, title: str, **terms: str) -> Behind:
    """The same rows under further terms."""
    return Behind(title, tuple(sorted({**dict(known.terms), **terms}.items())))


def rows_behind(
    tables: StudyTables,
    wanted: Behind,
    *,
    pair: tuple[str, str] | None = None,
    rater: str | None = None,
) -> tuple[Row, ...]:
    """Every answer of a mark, in the order of the tables.

    Args:
        tables: that the analysis was computed from.
        wanted: of the mark.
        pair: letters of the two models; a term ``pair=all`` takes every pair.
        rater: only this one.
    """
    terms = dict(wanted.terms)
    every = terms.pop("pair", "") == "all"
    facts = Facts(tables, None if every else pair, rater)
    source = "guesses" if "guess" in terms else "items" if "hits" in terms else "answers"
    found = {"guesses": facts.guesses, "items": facts.items, "answers": facts.answers}[source]
    terms.setdefault("kind", "item")
    if source == "answers" and not terms.keys() & {"state", "preferred", "answer", "first_answer"}:
        terms["preferred"] = "judged"
    return tuple(row for row in found(terms) if all(holds(row, terms)))


class Facts:
    """The tables by item, once."""

    def __init__(
        self, tables: StudyTables, pair: tuple[str, str] | None, rater: str | None
    ) -> None:
        self.tables = tables
        self._pair, self._rater = pair, rater
        self._numbers = {one.item_id: n for n, one in enumerate(tables.items, start=1)}
        self._items = {one.item_id: one for one in tables.items}
        self._practice = practice_of(tables)

    def answers(self, terms: Mapping[str, str]) -> Iterator[Row]:
        """Presentations; the second reading of two raters or of a repeat knows the first."""
        earlier = self._earlier(terms)
        for row in self.tables.presented:
            if self._rater not in (None, row.rater):
                continue
            item = self._items[row.item_id]
            if self._mine(item):
                before = earlier.get((row.rater, row.item_id))
                number = self._numbers[row.item_id]
                yield Row(item, number, row, before=before, practice=self._practice)

    def items(self, _terms: Mapping[str, str]) -> Iterator[Row]:
        """Items that were to be read, once each."""
        for item in self.tables.items:
            if self._mine(item):
                yield Row(item, self._numbers[item.item_id])

    def guesses(self, _terms: Mapping[str, str]) -> Iterator[Row]:
        """Guesses at the end."""
        for guess in self.tables.guesses:
            item = self._items[guess.item_id]
            if self._rater in (None, guess.rater) and self._mine(item):
                yield Row(item, self._numbers[guess.item_id], guess=guess)

    def _mine(self, item: ItemFacts) -> bool:
        return self._pair in (None, (item.first, item.second))

    def _earlier(self, terms: Mapping[str, str]) -> dict[tuple[str, str], Presented]:
        """What the first of two readings was, by rater and item of the second."""
        firsts = [row for row in self.tables.presented if row.kind == "item"]
        if "again" in terms:
            return {(row.rater, row.item_id): row for row in firsts}
        if "raters" in terms:
            one, other = terms["raters"].split("\n")
            return {(other, row.item_id): row for row in firsts if row.rater == one}
        return {}


def holds(row: Row, terms: Mapping[str, str]) -> Iterator[bool]:
    """Whether each term holds of a row."""
    for name, value in terms.items():
        if name in ITEM_TERMS:
            yield getattr(row.item, name) == value
        else:
            yield TERMS[name](row, value)


def word_of(preferred: str) -> str:
    """``first``, ``second``, ``tie`` or ""."""
    if preferred in ("first", "second", ""):
        return preferred
    return "" if preferred == "cannot" else "tie"


def _kind(row: Row, value: str) -> bool:
    if row.row is None:
        return row.item.kind in value.split(",") if row.guess is None else True
    return row.row.kind in value.split(",")


def _preferred(row: Row, value: str) -> bool:
    found = "" if row.row is None else row.row.preferred
    if value in ("judged", "decided", "tie"):
        words = {"judged": ("first", "second", "tie"), "decided": ("first", "second")}
        return word_of(found) in words.get(value, ("tie",))
    return found == value


def _state(row: Row, value: str) -> bool:
    if row.row is None:
        return False
    if value == "changed":
        return row.row.revisions > 0
    if value == "unanswered":
        return row.row.kind != "auto_tie" and not row.row.answer
    if value == "planned":
        return row.row.kind != "auto_tie"
    if value == "answered":
        return row.row.kind != "auto_tie" and bool(row.row.answer)
    return row.row.answer == value  # cannot


def _exact(row: Row, value: str) -> bool:
    """Where exactly one list has the right answer on top: what was preferred."""
    right = {"only_a": "first", "only_b": "second"}.get(row.item.stratum)
    word = "" if row.row is None else word_of(row.row.preferred)
    if right is None or not word:
        return False
    said = "tie" if word == "tie" else "right" if word == right else "wrong"
    return said in value.split(",")


def _places(row: Row, value: str) -> bool:
    start, end = (int(edge) for edge in value.split("-"))
    number = row.own_number
    return number is not None and start <= number <= end


def _again(row: Row, value: str) -> bool:
    if row.row is None or row.before is None:
        return False
    before, after = word_of(row.before.preferred), word_of(row.row.preferred)
    if not before or not after:
        return False
    if value == "any":
        return True
    if ">" in value:
        return f"{before}>{after}" == value
    decided = "tie" not in (before, after)
    kind = "to_tie" if after == "tie" else "from_tie"
    kind = "flipped" if decided else kind
    return value == ("same" if before == after else kind)


def _raters(row: Row, value: str) -> bool:
    return row.row is not None and row.row.rater == value.split("\n")[1] and row.before is not None


def _cell(row: Row, value: str) -> bool:
    if row.row is None or row.before is None:
        return False
    return f"{word_of(row.before.preferred)}>{word_of(row.row.preferred)}" == value


def guessed(guess: Guess) -> str:
    """``right``, ``wrong`` or ``unsure``: whether the tested model's side was found."""
    if guess.answer not in ("left", "right"):
        return "unsure"
    return "right" if (guess.answer == "left") == (guess.left == "A") else "wrong"


def _guess(row: Row, value: str) -> bool:
    taken = "A" in (row.item.first, row.item.second)
    return row.guess is not None and taken and value in ("any", guessed(row.guess))


def _arm(row: Row, value: str) -> bool:
    side = "left" if row.guess is not None and row.guess.left == "A" else "right"
    return row.guess is not None and value == f"A {side}"


def _hits(row: Row, value: str) -> bool:
    known = {"only_first": "only_a", "only_second": "only_b"}
    if value == "any":
        return True
    return row.item.stratum == known.get(value, value)


def _words(row: Row, value: str) -> bool:
    """``both`` lists show words, or ``unequal``ly many."""
    found = row.item.doublings
    return found is not None and (value == "both" or found != 0)


def _kin(row: Row, value: str) -> bool:
    """Exactly one list holds a look-alike, a near-duplicate of the query or its own patient."""
    return getattr(row.item, value) in ("first", "second")


TERMS: Mapping[str, Callable[[Row, str], bool]] = {
    "kind": _kind,
    "preferred": _preferred,
    "state": _state,
    "exact": _exact,
    "places": _places,
    "again": _again,
    "raters": _raters,
    "cell": _cell,
    "guess": _guess,
    "arm": _arm,
    "hits": _hits,
    "words": _words,
    "kin": _kin,
    "task": lambda row, value: row.item.task_id == value,
    "rater": lambda row, value: row.row is not None and row.row.rater == value,
    "left": lambda row, value: row.row is not None and row.row.left == value,
    "answer": lambda row, value: row.row is not None and row.row.answer == value,
    "reason": lambda row, value: (
        row.row is not None and (row.row.reason or "no reason given") == value
    ),
    "cross": lambda row, value: f"{row.item.stratum}:{row.item.form}" == value,
    "first_answer": lambda row, value: (
        row.row is not None and word_of(row.row.first_preferred) in value.split(",")
    ),
}


def line_of(row: Row, models: Mapping[str, str]) -> AnswerLine:
    """An answer in the list."""
    shown = row.row
    guess = row.guess
    rater = shown.rater if shown is not None else guess.rater if guess is not None else ""
    return AnswerLine(
        number=row.number,
        task=row.item.task_id or "no task",
        form=FORMS.get(row.item.form, row.item.form),
        answer=answer_words(row, models),
        stratum=stratum_words(row.item, models),
        rater=rater,
        place="" if row.own_number is None else str(row.own_number),
        time=seconds_words(None if shown is None else shown.answer_ms).replace("-", ""),
        note=_note(row, models),
    )


def answer_words(row: Row, models: Mapping[str, str]) -> str:
    """What was answered, with the model's name and the side it stood on."""
    if row.guess is not None:
        said = {"right": "right", "wrong": "wrong", "unsure": "not sure"}[guessed(row.guess)]
        return f"guess: {said}"
    if row.row is None:
        return ""
    return said_of(row.row, row.item, models)


def said_of(row: Presented, item: ItemFacts, models: Mapping[str, str]) -> str:
    """An answer in force in words."""
    if row.preferred in ("first", "second"):
        letter = item.first if row.preferred == "first" else item.second
        return f"{models.get(letter, letter)} better ({row.answer})"
    return {
        "both": "both useful",
        "neither": "neither useful",
        "auto_tie": "tie, identical lists",
        "cannot": f"cannot judge: {row.reason or 'no reason'}",
    }.get(row.preferred, "no answer")


def stratum_words(item: ItemFacts, models: Mapping[str, str]) -> str:
    """Whose top answer was right."""
    first, second = (models.get(letter, letter) for letter in (item.first, item.second))
    return strata_titles(first, second).get(item.stratum, item.stratum)


def _note(row: Row, models: Mapping[str, str]) -> str:
    shown = row.row
    said = []
    if shown is not None and shown.kind in KINDS:
        said.append(KINDS[shown.kind])
    if row.before is not None:
        who = "" if shown is None or row.before.rater == shown.rater else f" by {row.before.rater}"
        said.append(f"before{who}: {said_of(row.before, row.item, models)}")
    if shown is not None and shown.revisions:
        first = said_of(
            replace(shown, preferred=shown.first_preferred, answer="first"), row.item, models
        )
        said.append(f"changed, at first {first.removesuffix(' (first)')}")
    if shown is not None and shown.confidence is not None:
        said.append(f"confidence {shown.confidence} of 3")
    return "; ".join(said)
