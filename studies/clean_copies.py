"""De-identified copies on the way into a collection, each source copied once however often asked.

Owns the list of what was copied, kept beside the copies as tokens that name no file. Refuses to
index: the import reads the copies and never the sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.control import Control
from engine.errors import EvidenceError
from engine.evidence.failures import of_system
from engine.evidence.identity import profile
from engine.evidence.identity.deidentify_files import Copy, deidentify_folder
from engine.evidence.identity.risks import NEVER_CLEAN, SENTENCES
from engine.evidence.identity.tokens import token
from studies.errors import BadRequest
from studies.import_buffer import Part
from studies.walk import count_files, walk

LEDGER = ".copied"  # hidden, so that no import takes it for evidence


@dataclass
class Copied:
    """What became of the sources.

    Attributes:
        options: the options of PS3.15 that were carried out.
        written: copies made now.
        known: copies that were there before, of sources that have not changed.
        warnings: how many copies still hold what only the pixels show, by the reader's word.
    """

    options: tuple[str, ...]
    written: int = 0
    known: int = 0
    warnings: Counter[str] = field(default_factory=Counter)

    def document(self) -> dict[str, Any]:
        """As JSON can hold it, with the sentences that a person must read."""
        told = [{"warning": word, "count": count, "sentence": SENTENCES.get(word, word)}
                for word, count in sorted(self.warnings.items())]  # fmt: skip
        return {"options": list(self.options), "written": self.written, "known": self.known,
                "warnings": told, "sentence": NEVER_CLEAN}  # fmt: skip


def copy_clean(
    sources: Sequence[Path],
    target: Path,
    *,
    options: Sequence[str],
    salt: bytes,
    control: Control,
    leave_out: Callable[[Path | str, str], None],
) -> Copied:
    """Write de-identified copies of every DICOM file below the sources into a folder.

    Args:
        sources: files and folders.
        target: folder of the copies; made if missing, and may hold copies made earlier.
        options: names of ``engine.evidence.identity.profile.OPTIONS``.
        salt: the home's secret key.
        control: asked before every file, told after it.
        leave_out: called with a file that was not copied, and why.

    Raises:
        BadRequest: an option that does not exist, or two that contradict each other.
        EvidenceError: the target lies inside a source or cannot be written.
        Cancelled: the user asked to stop; copies made until then stay.
    """
    wanted = frozenset(options)
    try:
        copied = Copied(tuple(one.name for one in profile.checked(wanted)))
    except ValueError as error:
        raise BadRequest(f"The options of de-identification: {error}.") from error
    _check_apart(sources, target)
    ledger = _Ledger(target)
    control.begin(count_files(sources), unit="files", phase="de-identifying")
    told: list[dict[str, str]] = []
    for folder in walk(sources, told=told):
        for path, facts in folder.files.items():
            control.check()
            key = token(f"{path}\0{facts}\0{sorted(wanted)}", salt, purpose="copied") or ""
            if key in ledger:
                copied.known += 1
                control.step()
                continue
            part = Part(control, 1)
            report = deidentify_folder(
                [Path(path)], target, options=wanted, salt=salt, control=part
            )
            part.finish()
            _count(copied, report.copies)
            for source, reason in report.left_out:
                leave_out(source, reason)
            if report.copies:
                ledger.add(key)
    for row in told:
        leave_out(row["path"], row["reason"])
    return copied


def _count(copied: Copied, copies: Sequence[Copy]) -> None:
    known = sum(copy.known for copy in copies)
    copied.written += len(copies) - known
    copied.known += known
    copied.warnings.update(word for copy in copies for word in copy.warnings)


def _check_apart(sources: Sequence[Path], target: Path) -> None:
    """Copies among their sources would be taken for new ones the next time."""
    place = target.resolve()
    if any(place.is_relative_to(source.resolve()) for source in sources):
        reason = "the folder for the copies lies inside the source; choose another one"
        raise EvidenceError(target, "inside_source", reason)


class _Ledger:
    """Which sources were copied: tokens, one a line, in the folder of the copies."""

    def __init__(self, target: Path) -> None:
        self._file = target / LEDGER
        try:
            target.mkdir(parents=True, exist_ok=True)
            words = self._file.read_text("utf-8") if self._file.exists() else ""
        except (OSError, UnicodeDecodeError) as failure:
            raise _refused(target, failure) from failure
        self._keys = set(words.split())

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def add(self, key: str) -> None:
        """Note a source at once: a kill in the next moment must not forget it."""
        self._keys.add(key)
        try:
            with self._file.open("a", encoding="utf-8") as stream:
                stream.write(key + "\n")
        except OSError as failure:
            raise of_system(self._file, failure) from failure


def _refused(target: Path, failure: Exception) -> EvidenceError:
    if isinstance(failure, OSError):
        return of_system(target, failure)
    reason = "its list of copies is no text; choose another folder for the copies"
    return EvidenceError(target / LEDGER, "damaged", reason)
