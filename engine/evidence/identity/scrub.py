"""Takes known names, numbers and dates of a file's own header out of its words.

Owns the search for them in running text, in the ways they are spelt there. Refuses to claim that
the rest is clean: it only knows what the header says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engine.evidence.identity.spelling import EASTERN, eastern, spelt
from engine.evidence.identity.tokens import date_of
from engine.evidence.terms import MODALITIES

MARK = "[removed]"
PART = re.compile(r"[\^,\s.;/]+")
BETWEEN = r"[\s,.\-^]{1,3}"  # what stands between two parts of one name
HYPHEN = re.compile(r"[-\u2010\u2011]")
LONG = 4
PARTICLES = frozenset({"von", "der", "del", "des", "les", "die"})
# words that stand in name fields of test and anonymised files and in every report
_COMMON = """
    anonymous anonymized anonymised unknown none test patient name last first doctor left
    right chest head male female normal the and for with und der die das von des les del
    frau herr mr mrs ms miss dr med prof jr sr phd madame monsieur mme mlle señor señora signora
"""
# names of two or three letters that are other words where a report is written in capitals
SHORT = frozenset(
    [
        "an",
        "as",
        "at",
        "be",
        "by",
        "do",
        "he",
        "in",
        "is",
        "it",
        "max",
        "min",
        "my",
        "no",
        "of",
        "on",
        "or",
        "so",
        "the",
        "to",
        "us",
        "we",
    ]
)
COMMON = frozenset(_COMMON.split()) | {one.casefold() for one in MODALITIES}


class Scrubber:
    """Replaces the given names, numbers and dates wherever they stand as words.

    Args:
        names: person names in any DICOM or HL7 form; each part is looked for.
        numbers: patient numbers, accession numbers and their kin.
        dates: days as YYYYMMDD; looked for in the usual ways to write a date.
    """

    def __init__(
        self, *, names: Iterable[str] = (), numbers: Iterable[str] = (), dates: Iterable[str] = ()
    ) -> None:
        groups = [group for name in names for group in name.split("=")]
        patterns = [*_of_dates(dates), *_of_numbers(numbers), *_of_names(groups)]
        self._pattern = re.compile("|".join(patterns)) if patterns else None

    def clean(self, text: str) -> str:
        """The text with a mark in place of everything known."""
        return text if self._pattern is None else self._pattern.sub(_marked, text)


def _marked(found: re.Match[str]) -> str:
    """A mark for each word of a name, one for a number or a date."""
    if any(one.isdigit() for one in found[0]):
        return MARK
    return "".join(
        one if at % 2 else MARK * bool(one)
        for at, one in enumerate(re.split(r"([\s,]+)", found[0]))
    )


def _of_names(groups: Iterable[str]) -> list[str]:
    """Patterns of names: whole ones first, then their parts, the longest first."""
    whole: list[str] = []
    parts: set[str] = set()
    for group in dict.fromkeys(groups):
        if EASTERN.search(group):
            whole += eastern(group)
        named = [one for one in _parts(group) if not EASTERN.search(one)]
        parts.update(named)
        whole += _run(named)
    return [*whole, *(_of_part(one) for one in sorted(parts, key=_by_length) if _kept(one))]


def _by_length(part: str) -> tuple[int, str]:
    return -len(part), part


def _parts(group: str) -> list[str]:
    """The words of a name; both halves of a double one too."""
    words = [part.strip("()[]'\"") for part in PART.split(group)]
    halves = [half for word in words for half in HYPHEN.split(word) if half != word]
    return [one for one in [*words, *(half for half in halves if len(half) >= LONG)] if one]


def _kept(part: str) -> bool:
    return len(part) > 1 and part.casefold() not in COMMON


def _run(parts: list[str]) -> list[str]:
    """A long part with what stands beside it: short names, particles and initials, in any case."""
    long = [one for one in parts if len(one) >= LONG and _kept(one)]
    if not long:
        return []
    short = [re.escape(one) for one in sorted(parts, key=_by_length) if one not in long]
    lead = [one for one in short if one.casefold() in PARTICLES]
    short = [one for one in short if _kept(one)]
    initials = [rf"{re.escape(one[0])}(?=\.)" for one in parts if one[0].isalpha() and _kept(one)]
    names = [spelt(one) for one in sorted(long, key=_by_length)]
    core, beside = "|".join(names), "|".join(dict.fromkeys([*names, *short, *initials]))
    before = rf"(?:(?:{'|'.join([beside, *lead])}){BETWEEN}){{1,5}}"
    behind = rf"(?:{BETWEEN}(?:{beside})\b){{1,5}}"
    return [rf"(?i:\b(?:{before}(?:{core})\b(?:{behind})?|(?:{core}){behind}))"]


def _of_part(part: str) -> str:
    """One part as a whole word; short ones only as they are written in names."""
    if len(part) < LONG:
        loud = part if part.casefold() in SHORT else part.upper()
        ways = dict.fromkeys((part, part.capitalize(), loud))
        plain = "|".join(map(re.escape, ways))
        return rf"\b(?:{plain})\b" if part[0].isupper() else r"(?!)"
    ended = rf"(?=[^\W\d_a-zà-ÿа-яё])(?i:{spelt(part, ended=True)})\b"
    return rf"\b(?:(?i:{spelt(part)})\b|{ended})"


def _of_numbers(numbers: Iterable[str]) -> list[str]:
    """Patterns of numbers; those too short to tell from a measurement are left out."""
    kept = {one.strip() for one in numbers if len(one.strip()) >= 4}
    kept = {one for one in kept if one.casefold() not in COMMON}
    return [rf"(?i:(?<!\w){re.escape(one)}(?!\w))" for one in sorted(kept, key=len, reverse=True)]


def _of_dates(dates: Iterable[str]) -> Iterator[str]:
    """Patterns of days in digits, with points, slashes and dashes, both orders."""
    for one in sorted(set(dates)):
        day = date_of(one)
        if day is None:
            continue
        year, month, number = f"{day.year:04d}", f"0?{day.month}", f"0?{day.day}"
        between = r"[./\-\s]\s?"
        yield rf"(?<!\d){year}{between}{month}{between}{number}(?!\d)"
        yield rf"(?<!\d){number}{between}{month}{between}(?:{year}|{year[2:]})(?!\d)"
        yield rf"(?<!\d){month}{between}{number}{between}(?:{year}|{year[2:]})(?!\d)"
        yield rf"(?<!\d){day:%Y%m%d}(?!\d)"
