"""Turns what SQLite and the file system say into the leaves of ``db.errors``.

Owns the sentences; those for a server are in ``db.server_failures``. Refuses to hide a bug: an
error it does not know goes on unchanged.
"""

from __future__ import annotations

import errno
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from db.errors import DiskFull, NotWritable, StoreDamaged, StoreError, StoreLocked
from db.server_failures import leaf_for_server

_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT}
_REFUSED = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_AUTH,
}
# what is said of a database whose contents are none of ours, besides the leaves of ``db.errors``;
# sqlite3 may even fail to decode its own words (a ValueError)
FOREIGN = (SQLAlchemyError, sqlite3.Error, ValueError, TypeError, LookupError, AttributeError)
NEARLY_FULL = 256 * 1024  # SQLite's files beside a database need that much
_FULL_ERRNOS = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


def locked(path: Path | str) -> StoreLocked:
    """The sentence for a database that another program holds."""
    return StoreLocked(
        f"The database {path} is in use by another program. "
        "Close the other window or wait for its job to end, then try again."
    )


def damaged(path: Path | str, why: str) -> StoreDamaged:
    """The sentence for a file that is not a database or is damaged."""
    return StoreDamaged(
        f"The database {path} is damaged or is not a database ({why}). "
        "Restore it from a backup, or move it away to start with an empty one."
    )


def full(path: Path | str) -> DiskFull:
    """The sentence for a full disk."""
    return DiskFull(
        f"No room is left on the disk of {path}. "
        "Free some space and try again; what was stored before is kept."
    )


def refused(path: Path | str, why: str) -> NotWritable:
    """The sentence for a folder or file that cannot be written."""
    return NotWritable(
        f"{path} cannot be opened for writing ({why}). "
        "Check that its folder is there, and its permissions, or choose another; "
        "the program's own is named with --home."
    )


def leaf_for(error: BaseException, path: Path | str) -> StoreError | None:
    """The expected failure behind an error of SQLite or of the system, None for a bug.

    Args:
        error: a ``sqlite3.Error``, a ``psycopg.Error`` or an ``OSError``.
        path: the file or address the sentence names.
    """
    if isinstance(error, OSError):
        if error.errno in _FULL_ERRNOS:
            return full(path)
        return refused(path, error.strerror or type(error).__name__)
    if hasattr(error, "sqlstate"):
        return leaf_for_server(error, str(path))
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # Python's own word for text that is none; what it says after quotes the text
        undecoded = "Could not decode to UTF-8" in str(error)
        return damaged(path, "a stored text is not UTF-8") if undecoded else None
    primary = code & 0xFF
    if primary in _LOCKED:
        return locked(path)
    if primary in _DAMAGED:
        return damaged(path, str(error))
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _no_room(path)):
        return full(path)
    if primary in _REFUSED:
        return refused(path, str(error))
    return None


def _no_room(path: Path | str) -> bool:
    """Whether the disk is (nearly) full: SQLite calls it an input/output error at times."""
    try:
        return shutil.disk_usage(Path(path).parent).free < NEARLY_FULL
    except OSError:
        return False


@contextmanager
def translated(path: Path | str) -> Iterator[None]:
    """Run a block and raise the store's own errors in place of SQLite's.

    Raises:
        StoreError: the leaf that fits; anything unknown is raised unchanged.
    """
    try:
        yield
    except DBAPIError as error:
        leaf = leaf_for(error.orig, path) if error.orig is not None else None
        if leaf is None:
            raise
        raise leaf from error
    except json.JSONDecodeError as error:
        raise damaged(path, f"a stored value cannot be read: {error}") from error
    except (sqlite3.Error, OSError) as error:
        leaf = leaf_for(error, path)
        if leaf is None:
            raise
        raise leaf from error
