"""Writing figures: one look, equal figures as equal files, one figure drawn at a time.

Owns the settings of type, the formats and what a file tells of itself. Files hold no date, no
path and no program name. Matplotlib's settings are one for all threads, hence the lock.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from db.failures import translated

FORMATS = ("png", "svg", "pdf")
STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.hashsalt": "triptych",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
# What a format calls the one line that says what the figure is of.
TOLD = {"png": "Description", "svg": "Description", "pdf": "Subject"}
_LOCK = threading.RLock()


@contextmanager
def styled(**more: Any) -> Iterator[None]:
    """Draw with the one look; nothing global is changed afterwards."""
    with _LOCK, mpl.rc_context({**STYLE, **more}):
        yield


def figure_bytes(figure: Figure, form: str, *, told: str = "") -> bytes:
    """A figure as the bytes of a file.

    Args:
        figure: with its own canvas.
        form: one of ``FORMATS``.
        told: one line in the file's own description, for instance the hash of a study.
    """
    metadata = {**METADATA[form], **({TOLD[form]: told} if told else {})}
    held = io.BytesIO()
    with styled():
        figure.savefig(held, format=form, dpi=200, facecolor="white", metadata=metadata)
    return held.getvalue()


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure; the suffix (``.png``, ``.svg``, ``.pdf``) decides the format.

    Args:
        figure: with its own canvas.
        path: where to.

    Raises:
        StoreError: the folder cannot be written or is full.
    """
    form = path.suffix[1:]
    with styled(), translated(path):
        figure.savefig(path, format=form, dpi=200, facecolor="white", metadata=METADATA[form])
    return path
