"""The window's log file. Owns its place and format; nothing of a study's content is written.

What is logged while a reader rates: opaque ids, positions, times and failures.
"""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

NAME = "triptych"
LIMIT_BYTES = 1_000_000


def open_log(folder: Path) -> logging.Handler:
    """Write the records of this program into ``folder/window.log``; returns the handler."""
    handler = RotatingFileHandler(
        folder / "window.log", maxBytes=LIMIT_BYTES, backupCount=2, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logger = logging.getLogger(NAME)
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    return handler


def close_log(handler: logging.Handler) -> None:
    """Let go of the file."""
    logging.getLogger(NAME).removeHandler(handler)
    handler.close()
