"""Columns of the live table of a run: state by mark and word, failures named."""

from __future__ import annotations

from app.shown import ProgressShown
from app.tables.rows import Column
from app.widgets.ink import INK

STATES = {
    "waiting": ("·", "waiting", "quiet"),
    "running": ("▸", "running", "accent"),
    "done": ("✓", "done", "good"),
    "failed": ("✕", "failed", "error"),
    "missing": ("–", "no data", "warn"),
}


def state_words(row: ProgressShown) -> str:
    """A state as mark and word."""
    mark, word, _ = STATES[row.state]
    return f"{mark} {word}"


def far(row: ProgressShown) -> str:
    """How far a task is, in its items."""
    return f"{row.done:,} / {row.total:,}" if row.total else ""


COLUMNS: tuple[Column[ProgressShown], ...] = (
    Column("Task", lambda row: row.task),
    Column("Family", lambda row: row.family),
    Column("Model", lambda row: row.model),
    Column("State", state_words, colour=lambda row: INK[STATES[row.state][2]]),
    Column("Items", far, right=True),
    Column(
        "Note",
        lambda row: row.note,
        colour=lambda row: INK["error"] if row.state == "failed" else INK["quiet"],
    ),
)
