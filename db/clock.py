"""The time as it is stored: UTC, ISO 8601, milliseconds, ``Z``. Knows no time zone of a person."""

from __future__ import annotations

from datetime import UTC, datetime


def now_utc() -> str:
    """The present instant, for example ``2026-01-31T12:00:00.000Z``."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
