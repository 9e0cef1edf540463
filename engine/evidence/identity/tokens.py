"""Who a piece of evidence speaks of, as salted tokens: same or not the same, and nothing else.

Owns the pseudonym of the patient, the tokens of study and series, and the day that is true only
in differences. Refuses to hand on a name, a number or a date, and gives no token without a salt:
an unsalted hash of a patient's number is found again by trying all numbers.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac

from pydicom.dataset import Dataset

from engine.evidence.dicom.facts import word
from engine.evidence.identity.risks import warnings_of

__all__ = [
    "date_of", "pseudonym", "pseudonym_of", "series_token", "shift_days", "shifted_day",
    "study_token", "token", "warnings_of",
]  # fmt: skip
DATES = ("StudyDate", "SeriesDate", "AcquisitionDate", "ContentDate", "AcquisitionDateTime")
SHIFT_LEAST, SHIFT_RANGE = 400, 14_600  # days: a date moves back by 1 to 41 years


def token(value: str, salt: bytes, *, purpose: str) -> str | None:
    """HMAC-SHA256 of a value for one purpose, so that tokens of two purposes never meet.

    Returns:
        64 hex digits; None without value or salt.
    """
    plain = value.strip()
    if not plain or not salt:
        return None
    return _hmac(salt, f"\0{purpose}\0{plain}")


def pseudonym(dataset: Dataset, salt: bytes) -> str | None:
    """HMAC-SHA256 of the patient's id and its issuer; None without id or without salt."""
    return pseudonym_of(word(dataset, "PatientID"), word(dataset, "IssuerOfPatientID"), salt)


def pseudonym_of(patient: str, issuer: str, salt: bytes) -> str | None:
    """As ``pseudonym``, for formats that name the patient's number in their own way."""
    patient = patient.strip()
    return _hmac(salt, f"{patient}\0{issuer.strip()}") if patient and salt else None


def study_token(dataset: Dataset, salt: bytes) -> str | None:
    """The token of the study a data set belongs to; None if it names none."""
    return token(word(dataset, "StudyInstanceUID"), salt, purpose="study")


def series_token(dataset: Dataset, salt: bytes) -> str | None:
    """The token of the series a data set belongs to; None if it names none."""
    return token(word(dataset, "SeriesInstanceUID"), salt, purpose="series")


def shift_days(dataset: Dataset, salt: bytes) -> int | None:
    """The secret number of days by which all dates of this patient move back.

    Equal for all data sets of one patient and salt; None if the file names no patient.
    """
    patient = pseudonym(dataset, salt)
    if patient is None:
        return None
    return SHIFT_LEAST + int(_hmac(salt, f"\0shift\0{patient}")[:12], 16) % SHIFT_RANGE


def shifted_day(dataset: Dataset, salt: bytes) -> int | None:
    """The day number of the study, moved by the patient's secret number of days.

    Differences between studies of one patient are true; the date cannot be known.

    Returns:
        A proleptic Gregorian ordinal; None if the patient or every date is missing.
    """
    shift = shift_days(dataset, salt)
    if shift is None:
        return None
    for keyword in DATES:
        found = date_of(word(dataset, keyword))
        if found is not None:
            return found.toordinal() - shift
    return None


def date_of(value: str) -> datetime.date | None:
    """The date of a DA or DT value (PS3.5 6.2), also in the old ACR-NEMA form with points."""
    plain = value.strip()
    digits = (plain.replace(".", "") if plain[4:5] == "." else plain)[:8]
    if len(digits) != 8 or not digits.isdigit():
        return None
    try:
        return datetime.date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return None


def _hmac(salt: bytes, message: str) -> str:
    raw = message.encode("utf-8", "surrogatepass")
    return hmac.new(salt, raw, hashlib.sha256).hexdigest()
