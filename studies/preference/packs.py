"""Hands a study to one rater as one file, and takes it up on the rater's machine.

A ``.triptych`` file is the study with that rater's seat and nothing of the key or of other
raters. Owns making and opening it and the signed file of answers; its form on disk is in
``studies.preference.pack_file``. Refuses a pack whose contents are not what was frozen.
"""

from __future__ import annotations

import contextlib
import functools
import re
import secrets
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from db import chain, study_items
from db import packs as stored
from db.clock import now_utc
from db.errors import RatingRefused, StoreDamaged, StoreTooNew
from db.failures import FOREIGN, translated
from db.files import write_whole
from db.home import Home
from db.packs import PackRow, SeatRow
from db.ratings import unblinding
from db.session import Store, open_study_store
from db.study_copy import copy_study
from db.study_items import RaterRow
from studies.errors import BadAnswers, BadPack, BadStudy
from studies.preference import seating
from studies.preference.answers import LARGEST, collect, new_keys, public_of, read_answers
from studies.preference.frozen import order_hash, software_version
from studies.preference.ledger import REPLACES, counted, replaced_ids
from studies.preference.pack_file import (
    ANSWERS_SUFFIX,
    SUFFIX,
    checksum,
    copy_out,
    refuse_unwritable,
    schema,
    settle,
    write_pack,
)
from studies.preference.seating import reading_order, refuse_other_spelling
from studies.preference.study import open_study
from studies.preference.unfinished import UNFINISHED, clear_unfinished
from studies.preference.verify import verify

__all__ = ["ANSWERS_SUFFIX", "SUFFIX", "answers_name", "make_pack", "open_pack", "return_answers"]

OPENED = "pack.sha256"
UNREADABLE = (StoreDamaged, RatingRefused, BadStudy, *FOREIGN)
OPAQUE = re.compile(r"[0-9a-f]{12}")


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
        BadStudy: a pack itself, no name, impossible years, the rater has a pack or reads here
            already, or another is called so but for capitals.
        RatingRefused: the study is unblinded.
        StoreError: it cannot be written.
    """
    profile = seating.profile(
        rater, specialty=specialty, years=years, modalities=modalities, display=display
    )
    with open_study(path) as study:
        before, replaced = _refuse_pack(study.store, profile.name, again=again)
        pack_id, (private, public) = secrets.token_hex(6), new_keys()
        file = _file(out, f"{_slug(study.row.title)}-{_slug(profile.name)}{SUFFIX}")
        if file.exists() and not replaced:
            file = _file(
                out, f"{file.stem}-{pack_id}{SUFFIX}"
            )  # two names of one spelling in ASCII
        if file.exists():
            raise BadStudy(
                f"{file} is there already and is not overwritten. Name another file with --out."
            )
        refuse_unwritable(file)
        with _workshop(path.parent) as folder:
            database = folder / "study.sqlite"
            _fill(study.store, database, profile, SeatRow(pack_id, profile.name, private))
            settle(database)
            note = f"{REPLACES}{replaced}" if replaced else None
            row = PackRow(pack_id, profile.name, now_utc(), public, note)
            # known here before it exists there: no pack is ever out whose answers are unknown
            stored.add_pack(study.store, row, before=before, software=software_version())
            write_pack(database, file)
    return file


def open_pack(home: Home, file: Path) -> Path:
    """Check a pack and put it into the home; one opened before goes on where it stopped.

    The file itself is only read, so a stick may be write-protected.

    Returns:
        The study's folder in the home.

    Raises:
        BadPack: cut, altered, foreign or newer; names the file and what to do.
        StoreError: the home cannot be written.
    """
    mark = checksum(file).hex()
    known = _opened_before(home, mark)
    if known is not None:
        return known
    with translated(home.studies):
        home.studies.mkdir(parents=True, exist_ok=True)
    with _workshop(home.studies) as folder:
        copy_out(file, folder / "study.sqlite")
        target = home.studies / _checked(file, folder)
        write_whole(folder / OPENED, mark.encode("ascii"))
        with translated(target):
            _move(folder, target)
    return target


def _opened_before(home: Home, mark: str) -> Path | None:
    """Where this pack was put into the home.

    A folder that another window is filling, or that a kill left, is none: it is cleared one day,
    and answers in it would be lost.
    """
    for folder in sorted(home.studies.glob("*/")):
        with contextlib.suppress(OSError):
            whole = not folder.name.startswith(".") and (folder / "study.sqlite").is_file()
            if whole and (folder / OPENED).read_bytes() == mark.encode("ascii"):
                return folder
    return None


def _move(folder: Path, target: Path) -> None:
    """Give a checked pack its name, unless another window was quicker.

    Raises:
        BadPack: a folder without a study is in the way.
    """
    if not target.exists():
        try:
            folder.rename(target)
        except OSError:
            if not target.exists():
                raise
    if not (target / "study.sqlite").is_file():
        raise BadPack(
            f"{target} stands where this pack is read and lacks study.sqlite with the answers. Put "
            "it back from a backup, or move the folder away to begin anew."
        )


def return_answers(path: Path, out: Path) -> Path:
    """Write a pack's answers as one signed file; may be done as often as wished.

    Args:
        path: the folder of the opened pack.
        out: the file, or a folder for it; an earlier one of this pack is replaced.

    Returns:
        The file.

    Raises:
        BadStudy: the study is no pack, its log was altered, or the file is another's.
        StoreError: it cannot be written.
    """
    with open_study(path) as study:
        seat = stored.seat_row(study.store)
        if seat is None:
            raise BadStudy(
                f"{path} is not a rater's pack; its answers are in the study already. "
                "Nothing needs to be returned."
            )
        faults = chain.check_chain(study.store)
        if faults:
            raise BadStudy(f"{faults[0]} The coordinator would refuse these answers; ask there.")
        name = f"{_slug(study.row.title)}-{_slug(seat.rater)}"
        file = _file(out, answers_name(study.row.title, seat.rater))
        if _is_anothers(file, seat.pack_id):
            file = _file(out, f"{name}-{seat.pack_id}{ANSWERS_SUFFIX}")
        if _is_anothers(file, seat.pack_id):
            raise BadStudy(f"{file} holds something else and is not overwritten. Name another.")
        answers = collect(
            study.store, pack_id=seat.pack_id, rater=seat.rater, private_key=seat.private_key
        )
    write_whole(file, answers.to_bytes())
    return file


def _is_anothers(file: Path, pack_id: str) -> bool:
    """Whether a file is there that this pack did not write."""
    with translated(file):
        if not file.is_file():
            return False
        content = file.read_bytes() if file.stat().st_size <= LARGEST else b""
    try:
        return read_answers(content).pack_id != pack_id
    except BadAnswers:
        return True


def _refuse_pack(store: Store, name: str, *, again: bool) -> tuple[int, str]:
    """Say why no pack can be made; how many the rater has, the id of the one to be replaced."""
    if stored.seat_row(store) is not None:
        raise BadStudy(
            "This is a rater's pack itself; packs are made from the coordinator's study."
        )
    if unblinding(store) is not None:
        raise RatingRefused("This study was unblinded; it is not handed out any more.")
    if name in {row.name for row in study_items.raters(store)}:
        raise BadStudy(f"{name} reads in this study already. Choose another name for the pack.")
    if any(name in names for answers, names in counted(store) if not answers.rater):
        raise BadStudy(f"{name} has answers from a shared study. Choose another name for the pack.")
    handed = stored.packs(store)
    refuse_other_spelling(name, _known_names(store, handed))
    before = [row for row in handed if row.rater == name]
    if not before:
        return 0, ""
    # not the newest by its time: the clock may have been set back
    valid = next(row for row in before if row.pack_id not in replaced_ids(tuple(before)))
    if not again:
        raise BadStudy(
            f"{name} was handed a pack on {valid.created_utc[:10]}; that file can be handed "
            "out again. If it is lost, make another with --again: answers of the old one are "
            "refused from then on."
        )
    if stored.returns(store, name):
        raise BadStudy(
            f"Answers of {name} were merged already, so the pack is not replaced. "
            "Hand the same file out again; it goes on where the rater stopped."
        )
    return len(before), valid.pack_id


def _known_names(store: Store, handed: tuple[PackRow, ...]) -> set[str]:
    """Everybody who reads here, was handed a pack or answered in a shared study."""
    known = {row.name for row in study_items.raters(store)} | {row.rater for row in handed}
    return known.union(*(names for _, names in counted(store))) - {""}


def _fill(source: Store, database: Path, profile: RaterRow, seat: SeatRow) -> None:
    """Write study, order and seat into a new file."""
    with open_study_store(database, create="create") as target:
        copy_study(source, target, rater=None)
        row, items = study_items.study_row(target), study_items.items(target)
        order = reading_order(row, items, profile.name)
        study_items.add_rater(target, profile, order, order_hash(profile, order))
        stored.take_seat(target, seat)
        target.checkpoint()


def _checked(file: Path, folder: Path) -> str:
    """Check what a pack holds; its name in the home."""
    try:
        _check_schema(folder)
        with open_study_store(folder) as store:
            seat, row = stored.seat_row(store), study_items.study_row(store)
            faults = ["It is nobody's pack."] if seat is None else list(verify(folder))
            faults = faults or list(_seat_faults(store))
    except StoreTooNew as error:
        raise BadPack(
            f"{file} was written by a newer version. Install the newest version."
        ) from error
    except UNREADABLE as error:
        raise BadPack(f"{file} holds no study that can be read. Ask for it again.") from error
    if faults or seat is None:
        raise BadPack(f"{file} is not as it was made: {faults[0]} Ask for it again.")
    for backup in folder.glob("*.backup"):
        backup.unlink()
    return f"{row.study_id}-{seat.pack_id}"


def _check_schema(folder: Path) -> None:
    """Refuse tables and triggers that this program does not make; an old pack is brought up first.

    Raises:
        BadStudy: they are others.
        StoreError: it cannot be read.
    """
    open_study_store(folder).close()
    if schema(folder / "study.sqlite") != _our_schema():
        raise BadStudy("Its tables are not those of a study.")


@functools.cache
def _our_schema() -> tuple[tuple[str, ...], ...]:
    """What this version makes a study of."""
    with tempfile.TemporaryDirectory(prefix="triptych-") as folder:
        fresh = Path(folder) / "study.sqlite"
        open_study_store(fresh, create="create").close()
        return schema(fresh)


def _seat_faults(store: Store) -> Iterator[str]:
    """What is wrong with whose pack it is."""
    seat = stored.seat_row(store)
    assert seat is not None  # looked at before
    row, items = study_items.study_row(store), study_items.items(store)
    if not (OPAQUE.fullmatch(row.study_id) and OPAQUE.fullmatch(seat.pack_id)):
        yield "Its names are not those of a pack."
    if [rater.name for rater in study_items.raters(store)] != [seat.rater]:
        yield "It holds another rater than it was made for."
    places = study_items.presentations(store)
    order = tuple((place.item_id, place.kind, place.swapped) for place in places)
    if order != reading_order(row, items, seat.rater):
        yield "The order is not the one that the study draws for its rater."
    if [entry.action for entry in chain.entries(store)] != ["order"]:
        yield "It holds answers already."
    try:
        public_of(seat.private_key)
    except ValueError:
        yield "It cannot sign answers."


@contextmanager
def _workshop(place: Path) -> Iterator[Path]:
    """A folder beside the studies that is gone afterwards, unless it was given another name."""
    clear_unfinished(place)  # a laptop that only reads builds nothing that would clear it
    folder = place / f"{UNFINISHED}{secrets.token_hex(6)}"
    with translated(folder):
        folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _file(out: Path, name: str) -> Path:
    """The file that is meant: itself, or one of that name in a folder."""
    return out / name if out.is_dir() else out


def answers_name(title: str, rater: str) -> str:
    """The name of the file of a rater's answers, the same in the window and in the terminal."""
    return f"{_slug(title)}-{_slug(rater)}{ANSWERS_SUFFIX}"


def _slug(words: str) -> str:
    """Words as a part of a file name on any system."""
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-")[:40] or "study"
