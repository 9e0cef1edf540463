"""Hands a study to one rater as one file, and takes it up on the rater's machine.

A ``.triptych`` file is the study with that rater's seat and nothing of the key or of other
raters. Owns making, opening and the signed file of answers. Refuses a file that was cut,
altered, made by something else or by a newer version.
"""

from __future__ import annotations

from pathlib import Path

from db.home import Home

SUFFIX = ".triptych"
ANSWERS_SUFFIX = ".triptych-answers"


def make_pack(
    path: Path,
    out: Path,
    *,
    rater: str,
    specialty: str | None = None,
    years: int | None = None,
    modalities: str | None = None,
    display: str | None = None,
    again: bool = False,
) -> Path:
    """Write the pack of one rater.

    Args:
        path: the study's folder (the coordinator's).
        out: the file to be written, or a folder for it; never overwritten.
        rater: name or code; each rater has one pack.
        specialty: of the profile, as the three after it.
        years: of experience.
        modalities: experience with them.
        display: statement on its calibration.
        again: the pack handed out before is lost; answers from it will be refused.

    Returns:
        The file.

    Raises:
        BadStudy: a pack itself, no name, the rater has a pack or reads here already.
        RatingRefused: the study is unblinded.
        StoreError: it cannot be written.
    """
    raise NotImplementedError


def open_pack(home: Home, file: Path) -> Path:
    """Check a pack and put it into the home; one opened before goes on where it stopped.

    The file itself is only read, so a stick may be write-protected.

    Returns:
        The study's folder in the home.

    Raises:
        BadPack: cut, altered, foreign or newer; names the file and what to do.
        StoreError: the home cannot be written.
    """
    raise NotImplementedError


def return_answers(path: Path, out: Path) -> Path:
    """Write a pack's answers as one signed file; may be done as often as wished.

    Args:
        path: the folder of the opened pack.
        out: the file, or a folder for it; an earlier one is replaced.

    Returns:
        The file.

    Raises:
        BadStudy: the study is no pack.
        StoreError: it cannot be written.
    """
    raise NotImplementedError
