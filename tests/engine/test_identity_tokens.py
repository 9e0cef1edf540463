"""Salted tokens and shifted days: same or not the same, and nothing else."""

from __future__ import annotations

import datetime
import hashlib
import hmac
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydicom.dataset import Dataset

from engine.evidence.identity import tokens as identity
from engine.evidence.open import find_evidence
from engine.evidence.quiet import quiet
from tests.engine.evidence_files import dicom

SALT = b"a secret of this home"


def header(**elements: Any) -> Dataset:
    dataset = Dataset()
    with quiet():
        for keyword, value in elements.items():
            setattr(dataset, keyword, value)
    return dataset


def test_pseudonym_is_the_one_that_stored_collections_hold() -> None:
    raw = b"P-1\0HOSPITAL"
    wanted = hmac.new(SALT, raw, hashlib.sha256).hexdigest()
    dataset = header(PatientID=" P-1 ", IssuerOfPatientID="HOSPITAL")
    assert identity.pseudonym(dataset, SALT) == wanted
    assert identity.pseudonym_of("P-1", "HOSPITAL", SALT) == wanted
    assert identity.pseudonym(header(PatientID="P-1"), SALT) != wanted


@pytest.mark.parametrize(
    "dataset", [header(), header(PatientID=""), header(PatientName="Muster^Max")]
)
def test_nothing_without_a_patient(dataset: Dataset) -> None:
    assert identity.pseudonym(dataset, SALT) is None
    assert identity.shifted_day(dataset, SALT) is None


def test_nothing_without_a_salt() -> None:
    dataset = header(PatientID="P", StudyInstanceUID="1.2", StudyDate="20200101")
    assert identity.pseudonym(dataset, b"") is None
    assert identity.study_token(dataset, b"") is None
    assert identity.series_token(dataset, b"") is None
    assert identity.shifted_day(dataset, b"") is None
    assert identity.token("x", b"", purpose="study") is None


def test_tokens_of_two_purposes_never_meet() -> None:
    dataset = header(PatientID="1.2", StudyInstanceUID="1.2", SeriesInstanceUID="1.2")
    found = {
        identity.pseudonym(dataset, SALT), identity.study_token(dataset, SALT),
        identity.series_token(dataset, SALT), identity.study_token(dataset, b"other"),
    }  # fmt: skip
    assert len(found) == 4
    assert all(one is not None and len(one) == 64 and int(one, 16) for one in found)


def day(patient: str, date: str, salt: bytes = SALT, **more: Any) -> int:
    found = identity.shifted_day(header(PatientID=patient, StudyDate=date, **more), salt)
    assert found is not None
    return found


def test_differences_of_days_are_true_and_dates_are_not() -> None:
    assert day("P1", "20200301") - day("P1", "20200228") == 2  # a leap year
    assert day("P1", "20210101") - day("P1", "20191231") == 367
    real = datetime.date(2020, 3, 1).toordinal()
    shifts = {real - day(f"P{number}", "20200301") for number in range(200)}
    assert len(shifts) > 190
    assert min(shifts) >= 365
    assert day("P1", "20200301", b"other") != day("P1", "20200301")


@pytest.mark.parametrize("date", ["2020.03.01", "20200301"])
def test_forms_of_dates(date: str) -> None:
    assert day("P1", date) == day("P1", "20200301")


def test_other_dates_stand_in_for_the_studys() -> None:
    dataset = header(PatientID="P1", AcquisitionDateTime="20200301101112.5+0100")
    assert identity.shifted_day(dataset, SALT) == day("P1", "20200301")
    dataset = header(PatientID="P1", StudyDate="", SeriesDate="20200301")
    assert identity.shifted_day(dataset, SALT) == day("P1", "20200301")


@pytest.mark.parametrize("date", ["", "2020", "20201301", "20200230", "today", "2020-03-01"])
def test_what_is_no_date(date: str) -> None:
    assert identity.date_of(date) is None
    assert identity.shifted_day(header(PatientID="P1", StudyDate=date), SALT) is None


def test_files_carry_tokens_and_no_names(tmp_path: Path) -> None:
    path = dicom(
        tmp_path / "a.dcm", np.zeros((4, 4), np.uint16), PatientID="PAT4711",
        PatientName="Muster^Max", StudyInstanceUID="1.2.34567", StudyDate="20200301",
    )  # fmt: skip
    (found,) = find_evidence([path], salt=SALT)
    assert found.subject == identity.pseudonym_of("PAT4711", "", SALT)
    assert found.study == identity.token("1.2.34567", SALT, purpose="study")
    assert found.day == day("PAT4711", "20200301")
    for word in ("PAT4711", "Muster", "1.2.34567", "20200301"):
        assert word not in repr(found)
