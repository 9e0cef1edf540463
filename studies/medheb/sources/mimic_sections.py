"""Findings and impression of a MIMIC-CXR report, from its free text.

Owns the headings of these reports: capitals before a colon at the start of a line, misspelt ones,
titles that name the views (their text is findings), one text for both (impression), and the two
names in capitals inside a line. The last section of a name that holds words counts. Refuses to
take the last paragraph of a report without headings for findings. The general cutter of reports
(``engine.evidence.words.sections``) joins sections of one name and does not end one at a heading it
does not know, which is not how the published sections of these reports come about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import pairwise

FINDINGS, IMPRESSION = "findings", "impression"
_LINE = re.compile(r"(?:\A|\n)[ \t]*(?P<words>[A-Za-z][A-Za-z ()/,&'-]{1,80}?)[ \t]*:(?=\s|\Z)")
_INSIDE = re.compile(
    r"(?<=\s)(?P<words>FINDINGS(?: AND |/ ?)IMPRESSION|FINDINGS?|IMPRESSIONS?):(?=\s|\Z)"
)
_BOTH = re.compile(r"findings?\s*(?:/|and|&|,)\s*impressions?")
_VIEWS = re.compile(
    r"\bchest\b|\bportable\b|\bribs\b|\bbone window|\bfrontal\b|\b(?:pa|ap|lateral) and\b"
    r"|\b(?:one|two|three|pa|ap|lateral) views?\b|\bradiographs?\b"
)
_WORDS = {
    "finding": FINDINGS, "findings": FINDINGS, "reference findings": FINDINGS,
    "impression": IMPRESSION, "impressions": IMPRESSION, "conclusion": IMPRESSION,
    "conclusions": IMPRESSION,
}  # fmt: skip
# headings that could be taken for a misspelt one, or for a title of views
_LIKE = """
    indication indications history comparison comparisons technique examination exam
    recommendation recommendations notification addendum comment
"""
_OTHERS = frozenset(_LIKE.split())
CLOSE = 0.82
# Studies whose sections are sorted by hand where the reports are published: cut by headings, their
# words come out under the wrong name.
_STUDIES = """
    50913680 59363654 59279892 59768032 57936451 50058765 53356173 53202765 50808053 51966317
    50743547 56451190 59067458 59215320 55124749 54365831 59087630 58157373 56482935 58375018
    54654948 55157853 51491012 50525523 57564132 59982525 53488209 54875119 50196495 56579911
    52648681 59889364 53514462 59505494 53182247 51410602 56412866 54986978 59003148 57150433
    56760320 59562049 52674888 55258338 59330497 52119491 58235663 50798377 54168089 53071062
    56724958 54231141 53607029 52035334
"""
BY_HAND = frozenset(_STUDIES.split())


def sections(text: str) -> dict[str, str]:
    """The sections of a report.

    Args:
        text: of the report file.

    Returns:
        ``findings`` and ``impression``, each only where it holds words; the text as written.
    """
    marks = [*_marks(text), (len(text), len(text), "")]
    found: dict[str, str] = {}
    for (_, start, name), (end, _, _) in pairwise(marks):
        body = text[start:end].strip()
        if name in (FINDINGS, IMPRESSION) and body:
            found[name] = body
    return found


def _marks(text: str) -> list[tuple[int, int, str]]:
    """Where headings start and end, and the section each opens; in order, not overlapping."""
    found = [*_at_lines(text)]
    for match in _INSIDE.finditer(text):
        found.append((match.start("words"), match.end(), name_of(match["words"])))
    apart: list[tuple[int, int, str]] = []
    for mark in sorted(found):
        if not apart or mark[0] >= apart[-1][1]:
            apart.append(mark)
    return apart


def _at_lines(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _LINE.finditer(text):
        words, name = match["words"], name_of(match["words"])
        loud = words.upper() == words
        if (
            loud
            or _plain(words) in _WORDS
            or _plain(words) in _OTHERS
            or _BOTH.search(_plain(words))
        ):
            yield match.start("words"), match.end(), name


def _plain(words: str) -> str:
    return " ".join(words.lower().split())


def name_of(words: str) -> str:
    """The section that a heading opens: findings, impression, or another in its own words."""
    plain = _plain(words)
    if plain in _WORDS:
        return _WORDS[plain]
    if _BOTH.search(plain):
        return IMPRESSION
    if plain in _OTHERS or plain.startswith(("reason for", "comparison", "clinical")):
        return plain
    close = get_close_matches(plain, (FINDINGS, IMPRESSION, *_OTHERS), 1, CLOSE)
    if close:
        return close[0]
    for name in (IMPRESSION, FINDINGS):
        if name in plain:
            return name
    return FINDINGS if _VIEWS.search(plain) else plain
