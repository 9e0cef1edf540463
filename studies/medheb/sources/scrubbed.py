"""What of a report no model reads: numbers, dates, names with a title, addresses.

Every report of every source passes here before it becomes a text. Taken out are the record's own
identifiers (as given), numbers that a word calls a patient, record, accession, study or phone
number, runs of seven digits and more, days, telephone numbers, mail and web addresses, and names
behind "Dr." or before "MD" and its like. Measurements, levels ("T12", "C5-6"), years and the
sources' own placeholders stay. Names without a title are not found: the sources have replaced them
before they hand reports out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

BLANK = "___"  # the mark that MIMIC-CXR leaves itself
SHORTEST = 5  # letters of an own identifier; shorter ones are measurements too

_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|(?-i:May)|june?|july?|aug(?:ust)?|"
    "sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_LABELLED = (
    r"(?P<label>(?:检查号|住院号|门诊号|病历号|电话|\b(?:accession|acc|mrn|med(?:ical)?\.?\s+rec(?:ord)?|patient\s+id|study\s+id|"
    r"patient\s+number|exam\s+(?:id|number)|pager|phone|tel|fax|beeper))"
    r"(?:\s*(?:number|num|no|nr|id|#)\b\.?)?\s*[:：=#.]*\s*)(?P<value>[\w/.-]*\d[\w/.-]*\w|\d+)"
)
_PATTERNS = (
    r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    r"\bhttps?://\S+|\bwww\.\S+",
    r"(?<![\w./-])\d{1,2}([/-])\d{1,2}\1(?:\d{4}|\d{2})(?![\w/-])",
    r"(?<![\w.])\d{1,2}\.\d{1,2}\.\d{4}(?!\w)",
    r"(?<![\w./-])\d{4}([/.-])\d{1,2}\2\d{1,2}(?![\w/-])",
    rf"\b(?:{_MONTHS})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?(?!\s*(?:mm|cm)\b)",
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTHS})\b\.?(?:,?\s+\d{{4}}\b)?",
    r"\b(?:\d{1,2}\s+)?may\s+(?:\d{1,2},?\s+)?(?:19|20)\d\d\b",  # else it is a verb
    r"\d{4}年\d{1,2}月(?:\d{1,2}日)?",
    r"(?<!\d)\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?!\d)",
    r"(?<![\d.])\d{7,}(?!\d)",
)
_TITLED = re.compile(r"\b((?:[Dd][Rr]|Doctor|DOCTOR)\.?\s+)[A-Z][\w'-]+(?:\s+[A-Z][\w'-]+)?")
_SIGNED = re.compile(
    r"\b[A-Z][\w'.-]*(?:\s+[A-Z][\w'.-]*){0,2}"
    r"(?P<end>,?\s+(?:MD|M\.D\.|D\.O\.|MBBS|PhD)(?!\w))"
)
# ASCII alone counts as a word here: in Chinese a number stands between letters without a blank
_NUMBERS = re.compile(_LABELLED, re.IGNORECASE | re.ASCII)
_OTHERS = re.compile("|".join(f"(?:{one})" for one in _PATTERNS), re.IGNORECASE | re.ASCII)
# without one of these none of the others can be there; most reports have none
_HINT = re.compile(
    rf"\d[/.-]\d|\d{{3}}|@|//|www\.|年|\b(?:{_MONTHS}|may)\b", re.IGNORECASE | re.ASCII
)


def scrubbed(text: str, own: Iterable[str] = (), *, keep: re.Pattern[str] | None = None) -> str:
    """A report's words as a model may read them: one line, blanks squeezed.

    Args:
        text: as the source writes it.
        own: identifiers of the record; taken out wherever they stand as words.
        keep: what looks like a day or a number and is none, a list of teeth for one.
    """
    lower = text.lower()
    there = {name for name in own if len(name) >= SHORTEST and name.lower() in lower}
    for one in sorted(there, key=len, reverse=True):
        text = re.sub(rf"(?ai)(?<!\w){re.escape(one)}(?!\w)", BLANK, text)
    text = _NUMBERS.sub(lambda found: found["label"] + BLANK, text)
    if "dr" in lower or "doctor" in lower:
        text = _TITLED.sub(lambda found: found[1] + BLANK, text)
    if any(one in lower for one in ("md", "m.d", "d.o", "mbbs", "phd")):
        text = _SIGNED.sub(lambda found: BLANK + found["end"], text)
    if _HINT.search(text):
        text = _OTHERS.sub(
            lambda found: found[0] if keep and keep.fullmatch(found[0]) else BLANK, text
        )
    return " ".join(text.split())
