"""Opens the key, once, on purpose, with a reason; from then on the study takes no rating.

Owns ``key.json``, the opened key beside the study, and what reports are made of. Refuses to
show anything before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from db import ratings, study_items
from db.failures import translated
from db.files import write_whole
from db.ratings import EntryRow
from db.study_items import ItemRow, PresentationRow, RaterRow, StudyRow
from studies.errors import BadStudy, StillBlind, StudyError
from studies.preference.frozen import sha256, software_version
from studies.preference.key import Key, key_from_bytes
from studies.preference.ledger import Ledger, whole_log
from studies.preference.sealing import unseal
from studies.preference.seating import plain_text
from studies.preference.share import close_shared
from studies.preference.study import Study, StudyInfo, open_study
from studies.preference.verify import KEY, OPEN_KEY


@dataclass(frozen=True)
class Unblinded:
    """A study with its key.

    Attributes:
        info: as before, now with ``unblinded``.
        row: the frozen frame.
        key: sides, models, gold, strata.
        items: as shown.
        ledger: the study's own log and all accepted returns.
        reason: why it was unblinded.
        at_utc: when.
        remarks: shared studies that could not be told, one sentence each.
    """

    info: StudyInfo
    row: StudyRow
    key: Key
    items: tuple[ItemRow, ...]
    ledger: Ledger
    reason: str
    at_utc: str
    remarks: tuple[str, ...] = ()

    @property
    def presentations(self) -> tuple[PresentationRow, ...]:
        """Every rater's order, those of merged packs too."""
        return self.ledger.presentations

    @property
    def log(self) -> tuple[EntryRow, ...]:
        """Every entry, those of merged packs too."""
        return self.ledger.entries

    @property
    def raters(self) -> tuple[RaterRow, ...]:
        """Everybody's profile."""
        return self.ledger.raters


def unblind(path: Path, passphrase: str, reason: str) -> Unblinded:
    """Open the key of a study.

    The act is logged before the key lies in the open, so that no rating can follow it; studies
    shared on a server are closed too, as far as they can be reached. Doing it again changes
    nothing.

    Args:
        path: the study's folder.
        passphrase: the coordinator's.
        reason: why now; stored.

    Raises:
        WrongPassphrase: it does not open.
        BadStudy: the key is missing or altered.
        StudyError: no reason.
    """
    told = plain_text(reason)  # on one line, without what steers a terminal
    if not told:
        raise StudyError("Unblinding needs a reason; it is stored with the time. Give one.")
    with open_study(path) as study:
        plain = _open_key(path, study, passphrase)
        key_from_bytes(plain)
        if ratings.unblinding(study.store) is None:
            ratings.add_unblinding(study.store, reason=told, software=software_version())
        write_whole(path / OPEN_KEY, plain)
        remarks = close_shared(study.store)
    return replace(load_unblinded(path), remarks=remarks)


def load_unblinded(path: Path) -> Unblinded:
    """A study that was unblinded before.

    Raises:
        StillBlind: it was not.
        BadStudy: the opened key was altered or is gone.
    """
    with open_study(path) as study:
        entry = ratings.unblinding(study.store)
        if entry is None:
            raise StillBlind(
                f"Study {study.row.study_id} is still blind. Its coordinator opens it with "
                "triptych study unblind once the reading is finished."
            )
        return Unblinded(
            info=study.info(),
            row=study.row,
            key=_read_open_key(path, study.row),
            items=study_items.items(study.store),
            ledger=whole_log(study.store),
            reason=entry.note or "",
            at_utc=entry.at_utc,
        )


def _open_key(path: Path, study: Study, passphrase: str) -> bytes:
    file = path / KEY
    if not file.is_file():
        raise BadStudy(
            f"{KEY} is not in {path}. Only the coordinator's copy of a study can be unblinded."
        )
    with translated(file):
        sealed = file.read_bytes()
    if sha256(sealed) != study.row.sealed_sha256:
        raise BadStudy(f"{file} is not the key that was frozen with this study; fetch it again.")
    plain = unseal(sealed, passphrase)
    if sha256(plain) != study.row.commitment:
        raise BadStudy(f"{file} does not hold the key that was frozen with this study.")
    return plain


def _read_open_key(path: Path, row: StudyRow) -> Key:
    file = path / OPEN_KEY
    if not file.is_file():
        raise BadStudy(f"{OPEN_KEY} is gone from {path}. Unblind the study again; nothing is lost.")
    with translated(file):
        plain = file.read_bytes()
    if sha256(plain) != row.commitment:
        raise BadStudy(f"{file} was altered. Delete it and unblind the study again.")
    return key_from_bytes(plain)
