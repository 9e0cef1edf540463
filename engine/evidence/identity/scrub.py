"""Takes known names, numbers and dates of a file's own header out of its words.

Owns the search for them in running text. Refuses to claim that the rest is clean: it only knows
what the header says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engine.evidence.identity.tokens import date_of
from engine.evidence.terms import MODALITIES

MARK = "[removed]"
EASTERN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
PART = re.compile(r"[\^=,\s.;/]+")
# words that stand in name fields of test and anonymised files and in every report
_COMMON = """
    anonymous anonymized anonymised unknown none test patient name last first doctor left
    right chest head male female normal the and for with und der die das von des les del
    frau herr mr mrs ms miss dr med prof jr sr phd madame monsieur mme mlle señor señora signora
"""
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
        patterns = [*_of_dates(dates), *_of_numbers(numbers), *_of_names(names)]
        self._pattern = re.compile("|".join(patterns)) if patterns else None

    def clean(self, text: str) -> str:
        """The text with a mark in place of everything known."""
        return text if self._pattern is None else self._pattern.sub(MARK, text)


def _of_names(names: Iterable[str]) -> list[str]:
    """Patterns of name parts, the longest first."""
    parts = {part.strip("()[]'\"") for name in names for part in PART.split(name)}
    kept = {one for one in parts if len(one) > 1 and one.casefold() not in COMMON}
    return [_of_part(one) for one in sorted(kept, key=lambda one: (-len(one), one))]


def _of_part(part: str) -> str:
    """One part as a whole word; short ones only as they are written in names."""
    plain = re.escape(part)
    if EASTERN.search(part):
        return plain
    if len(part) < 4:
        return rf"\b(?:{plain}|{re.escape(part.capitalize())})\b" if part[0].isupper() else r"(?!)"
    return rf"(?i:\b{plain}\b)"


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
