"""Invented identifiers that the miniatures hide in their reports, so that a test can look for them.

Owns the marks by which they are known again: all start alike, and no other text holds them.
"""

from __future__ import annotations

from studies.medheb.mini.shared import number

NUMBER = "90909"  # how every planted number starts
NAME = "Quillfeather"
DAY = "17.03.2143"
MARKS = (NUMBER, NAME, DAY)


def remark(*names: object) -> str:
    """A sentence of a report that gives a number, a day and a name away."""
    digits = f"{NUMBER}{number(5, 'planted', *names)}"
    return f"Compared with {DAY}, accession number: {digits}, told to Dr. {NAME}."
