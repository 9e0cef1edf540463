"""What the operating system says about a file, as an ``EvidenceError`` with a sentence.

Owns the words for missing, forbidden, unreadable, damaged and cut files, and for archives that are
traps. Refuses to pass on the system's own message: it holds whole paths.
"""

from __future__ import annotations

from pathlib import Path

from engine.errors import EvidenceError

UNREADABLE = "the picture cannot be read whole; it is damaged or cut short, copy it again"


def of_system(path: Path, failure: OSError) -> EvidenceError:
    """The error for a failed open or read."""
    if isinstance(failure, FileNotFoundError):
        return EvidenceError(path, "missing", "the file is not there; check the folder")
    if isinstance(failure, PermissionError):
        return EvidenceError(path, "denied", "reading is not allowed; check its rights")
    if failure.errno is None:  # raised by a parser at the end of its data, not by the system
        return truncated(path)
    return EvidenceError(path, "unreadable", "reading failed; check the disk, or copy it again")


def truncated(path: Path) -> EvidenceError:
    """The error of a file that ends early."""
    return EvidenceError(path, "truncated", "the file ends before its data does; copy it again")


def damaged(path: Path) -> EvidenceError:
    """The error of packed data that cannot be unpacked or has the wrong checksum."""
    return EvidenceError(path, "damaged", "the file cannot be unzipped; copy it again")


def bomb(path: Path) -> EvidenceError:
    """The error of packed data that grows beyond measure."""
    reason = "it unpacks to far more than files do; if you trust it, unpack it yourself"
    return EvidenceError(path, "bomb", reason)


def too_large(path: Path, what: str) -> EvidenceError:
    """The error of sizes beyond what is opened; ``what`` names the claim in a few words."""
    return EvidenceError(path, "too_large", f"{what}, more than can be opened; make it smaller")
