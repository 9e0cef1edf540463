"""The form of a ``.triptych`` file: one SQLite database with a checksum behind its last page.

Owns writing it whole and reading it with every byte checked. Refuses a file that was cut,
altered, made by something else or by a newer version; what it holds is judged by its opener.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from db.failures import translated
from studies.errors import BadPack

SUFFIX = ".triptych"
ANSWERS_SUFFIX = ".triptych-answers"
SQLITE = b"SQLite format 3\x00"
APPLICATION_ID = 0x54525059  # "TRPY", at byte 68 of the file: what it is can be told without us
MARK = b"triptych-pack-1\n"
FAMILY = b"triptych-pack-"
TRAILER = len(MARK) + 32
BLOCK = 1 << 20


def settle(database: Path) -> None:
    """Make a database one plain file that says what it is.

    Raises:
        StoreError: what SQLite refuses.
    """
    with translated(database), closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.commit()


def schema(database: Path) -> tuple[tuple[str, ...], ...]:
    """What a database is made of: tables, indices and triggers as they were written.

    Raises:
        StoreError: what SQLite refuses.
    """
    query = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master ORDER BY 1, 2"
    with translated(database), closing(sqlite3.connect(database)) as connection:
        return tuple(tuple(map(str, row)) for row in connection.execute(query))


def refuse_unwritable(out: Path) -> None:
    """Refuse a place where no pack can be written, before one is entered anywhere.

    Raises:
        StoreError: it cannot be written.
    """
    part = out.with_name(f"{out.name}.part")
    with translated(out):
        part.touch()
        part.unlink()


def write_pack(database: Path, out: Path) -> None:
    """Write a settled database as a pack; a file of that name is replaced in one step.

    Raises:
        StoreError: no room, or not writable.
    """
    part = out.with_name(f"{out.name}.part")
    with translated(out):
        try:
            with database.open("rb") as source, part.open("wb") as target:
                digest = _copy(source, target, out)
                target.write(MARK + digest)
                target.flush()
                os.fsync(target.fileno())
            part.replace(out)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def checksum(file: Path) -> bytes:
    """The checksum written behind a pack, after a look at both ends; the middle is not read.

    Raises:
        BadPack: it is none, cut or of a newer version.
        StoreError: it cannot be read.
    """
    with translated(file):
        if not file.is_file():
            raise BadPack(f"There is no file {file}. Choose the pack you were sent.")
        size = file.stat().st_size
        with file.open("rb") as source:
            start = source.read(100)
            source.seek(max(size - TRAILER, 0))
            end = source.read(TRAILER)
    _check_start(file, start)
    if end.startswith(FAMILY) and not end.startswith(MARK):
        raise BadPack(f"{file} was written by a newer version. Install the newest version.")
    if size < 512 + TRAILER or not end.startswith(MARK):
        raise BadPack(f"{file} is not whole: its end is missing. Copy it again from where it is.")
    return end[len(MARK) :]


def copy_out(file: Path, database: Path) -> None:
    """Copy the database out of a pack, every byte checked.

    Raises:
        BadPack: a byte is not as it was written.
        StoreError: it cannot be read, or the copy not written.
    """
    expected = checksum(file)
    with translated(file), file.open("rb") as source, database.open("wb", buffering=0) as target:
        digest = _copy(source, target, database.parent.parent, size=file.stat().st_size - TRAILER)
        if digest != expected:
            raise BadPack(f"{file} was altered after it was written. Ask for it again.")
        target.flush()
        os.fsync(target.fileno())


def _check_start(file: Path, start: bytes) -> None:
    if start[:1] == b"{":
        raise BadPack(
            f"{file} holds answers and no study. Its place is with the coordinator: "
            "triptych study merge."
        )
    if start[:16] != SQLITE or int.from_bytes(start[68:72], "big") != APPLICATION_ID:
        raise BadPack(
            f"{file} is no pack of this program. Choose the .triptych file you were sent."
        )


def _copy(source: BinaryIO, target: BinaryIO, into: Path, size: int | None = None) -> bytes:
    """Copy and hash; at most ``size`` bytes. What cannot be written is said of ``into``."""
    digest, left = hashlib.sha256(), size
    while block := source.read(BLOCK if left is None else min(BLOCK, left)):
        digest.update(block)
        with translated(into):
            target.write(block)
        if left is not None:
            left -= len(block)
    return digest.digest()
