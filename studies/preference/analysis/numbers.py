"""The three kinds of number that every statistic is made of: a share, an estimate, a test.

Owns names and shapes only. Each carries its n and, where there is one, its interval.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """A count out of n with its Wilson 95 % interval; share and interval None when n is 0."""

    count: int
    n: int
    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value: None where it is not defined; ``note`` says why.
        n: what it was computed from (``unit`` says of what: items, pairs, raters).
        method: in two or three words, for instance ``cluster bootstrap, percentile``.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    unit: str = "items"
    method: str = ""
    note: str = ""


@dataclass(frozen=True)
class Test:
    """A test with its p-value; p None below ten (``note`` says so).

    Attributes:
        p_holm: adjusted within its table, None where it stands alone.
    """

    name: str
    statistic: float | None
    df: float | None
    p: float | None
    n: int
    p_holm: float | None = None
    note: str = ""
