"""The table of PS3.15 Annex E (E.1-1): what happens to each attribute, by profile and options.

Owns the options' names and codes, the reading of the table and the choice among several actions.
Refuses options that are about pixels: they are not carried out here and so never claimed.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

BASIC = ("113100", "Basic Application Confidentiality Profile")


@dataclass(frozen=True)
class Option:
    """One option of the profile (PS3.15 E.3, codes of PS3.16 CID 7050).

    Attributes:
        name: how it is asked for.
        column: its column in the table.
        code: its code in the scheme DCM.
        meaning: the code's meaning.
        words: what it does, for a person.
    """

    name: str
    column: str
    code: str
    meaning: str
    words: str


OPTIONS = (
    Option("retain-safe-private", "safe_private", "113111", "Retain Safe Private Option",
           "keep private elements that the standard lists as safe"),
    Option("retain-uids", "uids", "113110", "Retain UIDs Option",
           "keep the unique identifiers of studies, series and images"),
    Option("retain-device", "device", "113109", "Retain Device Identity Option",
           "keep what names the scanner"),
    Option("retain-institution", "institution", "113112", "Retain Institution Identity Option",
           "keep what names the hospital"),
    Option("retain-patient", "patient", "113108", "Retain Patient Characteristics Option",
           "keep age, sex, size and weight"),
    Option("retain-full-dates", "full_dates", "113106",
           "Retain Longitudinal Temporal Information Full Dates Option",
           "keep dates and times as they are"),
    Option("retain-modified-dates", "modified_dates", "113107",
           "Retain Longitudinal Temporal Information Modified Dates Option",
           "move all dates of a patient by the same secret number of days"),
    Option("clean-descriptors", "descriptors", "113105", "Clean Descriptors Option",
           "keep those words of descriptions that are terms of anatomy and technique"),
    Option("clean-structured-content", "structured", "113104", "Clean Structured Content Option",
           "keep codes and numbers of structured reports"),
    Option("clean-graphics", "graphics", "113103", "Clean Graphics Option",
           "keep drawn outlines, without any text"),
)  # fmt: skip
BY_NAME: Mapping[str, Option] = {option.name: option for option in OPTIONS}
# what an attribute's Type would decide: the one that is safe and valid for every Type
SAFE = {"X/Z": "Z", "X/D": "D", "X/Z/D": "D", "Z/D": "D", "X/Z/U*": "U"}


@dataclass(frozen=True)
class Action:
    """What to do with an attribute.

    Attributes:
        code: D, Z, X, K, C or U (PS3.15 table E.1-1a).
        basic: what the Basic Profile does, for values that cannot be cleaned: D, Z, X or U.
        column: the option's column that asks for cleaning; empty for other codes.
    """

    code: str
    basic: str
    column: str = ""


def checked(options: frozenset[str]) -> tuple[Option, ...]:
    """The options in the table's order.

    Raises:
        ValueError: an unknown option, one about pixels, or two that contradict each other.
    """
    for name in sorted(options - BY_NAME.keys()):
        if name in ("clean-pixel-data", "clean-recognizable-visual-features"):
            raise ValueError(f"{name} is not done here: look at the pictures themselves")
        raise ValueError(f"{name} is no option; known are: {', '.join(BY_NAME)}")
    if {"retain-full-dates", "retain-modified-dates"} <= options:
        raise ValueError("dates are kept or moved, not both: choose one of the two options")
    return tuple(option for option in OPTIONS if option.name in options)


@cache
def rules() -> Mapping[str, Mapping[str, str]]:
    """The rows of the table by tag (``00100010``) or pattern (``60xx3000``, ``50xxxxxx``)."""
    return {row["tag"].replace(",", ""): row for row in _table("ps3_15_e1.csv")}


@cache
def safe_private() -> Mapping[tuple[int, int, str], str]:
    """Value representations of private elements listed as safe, by group, element and creator."""
    return {
        (int(row["group"], 16), int(row["element"], 16), row["creator"]): row["vr"]
        for row in _table("ps3_15_safe_private.csv")
    }


def _table(name: str) -> list[dict[str, str]]:
    """The rows of a table of the resources."""
    text = files("resources").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def action_of(tag: int, options: frozenset[str]) -> Action | None:
    """The action for a standard attribute; None if the table does not name it.

    Args:
        tag: group and element as one number; never a private one.
        options: names of chosen options.
    """
    row = rules().get(f"{tag:08X}") or rules().get(_pattern(tag))
    return None if row is None else _chosen(row, options)


def _pattern(tag: int) -> str:
    """The pattern of a repeating group (curves, overlays)."""
    group, element = tag >> 16, tag & 0xFFFF
    if group >> 8 == 0x50:
        return "50xxxxxx"
    return f"60xx{element:04x}" if group >> 8 == 0x60 else ""


def _chosen(row: Mapping[str, str], options: frozenset[str]) -> Action:
    """Keeping goes before cleaning; without an option the Basic Profile decides."""
    basic = SAFE.get(row["basic"], row["basic"])
    asked = {option.column: row[option.column] for option in OPTIONS if option.name in options}
    if "K" in asked.values():
        return Action("K", basic)
    column = next((name for name, code in asked.items() if code == "C"), "")
    return Action("C", basic, column) if column else Action(basic, basic)
