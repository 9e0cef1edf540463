"""The table of PS3.15 E.1-1 against a second, independent copy of it, and the options' codes."""

from __future__ import annotations

import importlib
import re
from collections import Counter

import pytest
from pydicom.datadict import dictionary_VR, keyword_for_tag
from pydicom.sr.codedict import codes

from engine.evidence.identity import profile

PATTERN = re.compile(r"[0-9A-F]{8}|[56]0xx(?:xxxx|[0-9a-f]{4})|oddxxxx")
NAMES = codes.DCM.dir("Option")
GROUPS = ("D", "Z", "X", "U", "Z_D", "X_Z", "X_D", "X_Z_D", "X_Z_U_STAR")


def test_every_row_has_a_tag_and_known_codes() -> None:
    rows = profile.rules()
    assert len(rows) == 621
    for tag, row in rows.items():
        assert PATTERN.fullmatch(tag), tag
        basic = profile.SAFE.get(row["basic"], row["basic"])
        assert basic in {"D", "Z", "X", "U"}
        for option in profile.OPTIONS:
            assert row[option.column] in {"", "K", "C"}
        if PATTERN.fullmatch(tag) and "x" not in tag:
            known = keyword_for_tag(int(tag, 16))
            assert row["keyword"] == known or not known


def test_basic_profile_agrees_with_a_second_copy_of_the_table() -> None:
    name = "dicomanonymizer.dicom_anonymization_databases.dicomfields_2024b"
    peer = importlib.import_module(name)
    wanted = {}
    for group in GROUPS:
        action = group.replace("_STAR", "*").replace("_", "/")
        for tag in getattr(peer, f"{group}_TAGS"):
            wanted[tag[:2]] = action
    patterns = {(0x5000, 0x0000): "50xxxxxx", (0x6000, 0x3000): "60xx3000",
                (0x6000, 0x4000): "60xx4000"}  # fmt: skip
    rows = profile.rules()
    assert len(wanted) == len(rows) - 1  # private attributes are a row of ours only
    for tag, action in wanted.items():
        key = patterns.get(tag, f"{tag[0]:04X}{tag[1]:04X}")
        assert rows[key]["basic"] == action, key


def test_columns_are_as_long_as_in_the_standard() -> None:
    """Counts of K and C in the 2024 edition of table E.1-1, taken from another copy of it."""
    found = {
        option.column: Counter(row[option.column] for row in profile.rules().values())
        for option in profile.OPTIONS
    }
    wanted = {
        "safe_private": (0, 1), "uids": (59, 0), "device": (46, 11), "institution": (10, 0),
        "patient": (9, 4), "full_dates": (165, 0), "modified_dates": (0, 165),
        "descriptors": (0, 125), "structured": (0, 3), "graphics": (0, 4),
    }  # fmt: skip
    assert {name: (count["K"], count["C"]) for name, count in found.items()} == wanted


@pytest.mark.parametrize("option", profile.OPTIONS, ids=lambda option: option.name)
def test_codes_and_meanings_are_those_of_the_standard(option: profile.Option) -> None:
    known = {code.value: code.meaning for code in (getattr(codes.DCM, name) for name in NAMES)}
    assert known[option.code] == option.meaning


def test_dates_of_the_table_are_dates() -> None:
    for tag, row in profile.rules().items():
        if row["modified_dates"] and "x" not in tag:
            assert dictionary_VR(int(tag, 16)) in {"DA", "TM", "DT", "OB", "SH"}
            assert row["full_dates"] == "K"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"clean-pixel-data"}, "not done here"),
        ({"clean-recognizable-visual-features"}, "not done here"),
        ({"keep-everything"}, "no option"),
        ({"retain-full-dates", "retain-modified-dates"}, "not both"),
    ],
)
def test_options_that_cannot_be(options: set[str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        profile.checked(frozenset(options))


def test_keeping_goes_before_cleaning_and_combined_codes_are_resolved() -> None:
    def action(keyword: str, *options: str) -> str:
        tags = {row["keyword"]: tag for tag, row in profile.rules().items()}
        found = profile.action_of(int(tags[keyword], 16), frozenset(options))
        assert found is not None
        return found.code

    assert action("PatientName") == "Z"
    assert action("StudyDate") == "Z"
    assert action("StudyDate", "retain-full-dates") == "K"
    assert action("StudyDate", "retain-modified-dates") == "C"
    assert action("AcquisitionDateTime") == "D"  # X/Z/D
    assert action("InstitutionName") == "D"
    assert action("InstitutionName", "retain-institution") == "K"
    assert action("SourceImageSequence") == "U"  # X/Z/U*
    assert action("SeriesDescription", "clean-descriptors") == "C"
    assert profile.action_of(0x00280010, frozenset()) is None  # Rows
    assert profile.action_of(0x60023000, frozenset()) == profile.Action("X", "X")
    assert profile.action_of(0x50120110, frozenset()) == profile.Action("X", "X")
