"""Writes the kit of an unblinded study into a folder: tables, numbers, figures, methods, scripts.

Refuses a blind study, comments, raters' names and candidates' names unless asked for.
"""

from __future__ import annotations

from pathlib import Path

from studies.preference.export import export


def publish(
    path: Path,
    folder: Path,
    *,
    comments: str = "leave out",
    names: str = "codes",
    rater: str | None = None,
) -> tuple[Path, ...]:
    """Write everything of an unblinded study.

    Args:
        path: the study's folder.
        folder: where to write; made if missing, files of the same names are replaced.
        comments: ``"include"`` adds the raters' free text.
        names: ``"names"`` gives raters by name, ``"codes"`` as R1, R2 ...
        rater: numbers and figures of this rater only; the tables always hold all.

    Returns:
        The files written.

    Raises:
        StillBlind: not unblinded.
        StoreError: the folder cannot be written.
    """
    return export(path, folder, comments=comments, rater=rater)
