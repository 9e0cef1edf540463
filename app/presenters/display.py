"""What pictures need of this machine: how much memory they may take, what its display is.

Plain functions over the settings, shared by the pages that ask.
"""

from __future__ import annotations

from dataclasses import replace

from app.failures import sentence
from app.services import Services
from db.errors import StoreError
from db.settings import Settings
from engine.hardware import system_memory

MEGABYTE = 1_000_000
MEMORY_SHARE, MOST_MB, UNKNOWN_MB = 8, 4096, 1000


def memory_mb() -> int | None:
    """The machine's memory, None where the system does not say."""
    memory = system_memory()
    return None if memory is None else memory.total // MEGABYTE


def picture_bytes(chosen_mb: int) -> int:
    """Bytes of decoded series that may be kept; 0 megabytes asks for a share of the memory."""
    if chosen_mb:
        return chosen_mb * MEGABYTE
    known = memory_mb()
    return (UNKNOWN_MB if known is None else min(MOST_MB, known // MEMORY_SHARE)) * MEGABYTE


def display_words(settings: Settings) -> str:
    """What is kept about the display, in one line."""
    if not settings.display_size:
        return "Nothing is stated about the display yet."
    stated = settings.display_statement or "nothing stated"
    return f"{settings.display_size}, {settings.display_scale}: {stated}"


def keep_display(services: Services, size: str, scale: str, statement: str, origin: str) -> str:
    """Keep what the system says of the display and what the reader stated; empty or why not."""
    settings = replace(
        services.settings.current,
        display_size=size,
        display_scale=scale,
        display_statement=statement,
    )
    try:
        services.settings.save(settings, origin=origin)
    except StoreError as error:
        return sentence(error)
    return ""
