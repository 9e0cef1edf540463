"""Counts, times and sizes in words, the same on every page. Plain functions, no Qt."""

from __future__ import annotations


def count_of(done: int, total: int, unit: str) -> str:
    """``12 of 40 items``; bytes in larger units."""
    if unit == "bytes":
        return f"{size(done)} of {size(total)}"
    return f"{done:,} of {total:,} {unit}".strip()


def duration(seconds: float) -> str:
    """A length of time as a person says it: ``40 s``, ``3 min``, ``2 h 40 min``."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    if hours >= 3:
        rest = 10 * round(rest / 10)
        hours, rest = (hours + 1, 0) if rest == 60 else (hours, rest)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def time_left(seconds: float) -> str:
    """``about 3 min left``."""
    return f"about {duration(seconds)} left"


def size(count: float) -> str:
    """Bytes as a person says them: ``34 MB``, ``1.1 GB``."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return (
                f"{count:.0f} {unit}" if count >= 10 or unit == "bytes" else f"{count:.1f} {unit}"
            )
        count /= 1000
    return f"{count:.1f} TB"
