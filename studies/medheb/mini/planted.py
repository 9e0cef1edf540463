"""Invented identifiers that the miniatures hide in their reports, so that a test can look for them.

Owns the marks by which they are known again: all start alike, and no other text holds them.
"""

from __future__ import annotations

from studies.medheb.mini.shared import number

NUMBER = "90909"  # how every planted number starts
NAME = "Quillfeather"
DAY = "17.03.2143"
DAY_IN_CHINESE = "2143年3月17日"
MARKS = (NUMBER, NAME, DAY, DAY_IN_CHINESE)


def remark(*names: object) -> str:
    """A sentence of a report that gives a number, a day and a name away."""
    return f"Compared with {DAY}, accession number: {_digits(*names)}, told to Dr. {NAME}."


def remark_in_chinese(*names: object) -> str:
    """The same without a name."""
    return f"与{DAY_IN_CHINESE}比较，检查号：{_digits(*names)}。"


def _digits(*names: object) -> str:
    return f"{NUMBER}{number(5, 'planted', *names)}"
