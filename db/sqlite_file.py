"""A database in a file: SQLite's engine, its pragmas and its write-ahead log.

Owns how a file is opened and how a transaction begins there. Refuses nothing by itself; what
SQLite refuses becomes a sentence in ``db.failures``.
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.pool import QueuePool, StaticPool

from db.migrate import back_up

BUSY_TIMEOUT_MS = 5000


@dataclass(frozen=True)
class FilePlace:
    """One SQLite file.

    Attributes:
        path: the file; ``:memory:`` for none.
        synchronous: SQLite's setting; FULL makes each commit survive a power cut.
        secure_delete: overwrite what is deleted with zeros.
    """

    path: Path
    synchronous: str
    secure_delete: bool

    @property
    def memory(self) -> bool:
        """Whether it lies in memory only."""
        return str(self.path) == ":memory:"

    @property
    def location(self) -> str:
        """Where it lies, for a person."""
        return str(self.path)

    def is_there(self, _connection: Connection | None = None) -> bool:
        """Whether there is anything to open."""
        return self.memory or self.path.is_file()

    def engine(self) -> Engine:
        """The pool of connections, each with its pragmas."""
        pool: dict[str, Any] = {"poolclass": StaticPool if self.memory else QueuePool}
        engine = create_engine("sqlite://", creator=self._connect, **pool)
        event.listen(engine, "begin", _begin)
        return engine

    def make_ready(self, connection: Connection) -> None:
        """Switch to write-ahead logging."""
        if not self.memory:
            _use_wal(connection)

    def make_room(self, _connection: Connection) -> None:
        """Nothing to be made before the tables."""

    def back_up(self, revision: str) -> None:
        """Copy the file beside itself before it is changed."""
        if not self.memory:
            back_up(self.path, revision)

    def integrity(self, connection: Connection) -> tuple[str, ...]:
        """What SQLite's own integrity check complains of; empty when all is well."""
        rows = connection.execute(text("PRAGMA integrity_check")).scalars().all()
        return tuple(str(row) for row in rows if row != "ok")

    def checkpoint(self, connection: Connection) -> None:
        """Move everything from the write-ahead log into the file itself."""
        _raw(connection).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def remarks(self, _connection: Connection) -> tuple[str, ...]:
        """What is worth knowing and no fault."""
        return ()

    def _connect(self) -> sqlite3.Connection:
        name = ":memory:" if self.memory else str(self.path)
        connection = sqlite3.connect(
            name, timeout=BUSY_TIMEOUT_MS / 1000, check_same_thread=False, isolation_level=None
        )
        try:
            self._set_pragmas(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_pragmas(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA synchronous = {self.synchronous}")
        if self.secure_delete:
            connection.execute("PRAGMA secure_delete = ON")


def file_place(path_or_url: Path | str, *, synchronous: str, secure_delete: bool) -> FilePlace:
    """A file, or an SQLite URL (``sqlite://`` for one in memory)."""
    path = Path(path_or_url)
    if isinstance(path_or_url, str) and "://" in path_or_url:
        database = make_url(path_or_url).database
        path = Path(database or ":memory:")
    return FilePlace(path, synchronous, secure_delete)


def _begin(connection: Connection) -> None:
    """Open the transaction ourselves: Python's sqlite3 would leave DDL and reads outside it."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _use_wal(connection: Connection) -> None:
    """Switch to write-ahead logging; SQLite does not wait by itself when two openers meet."""
    raw = _raw(connection)
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while raw.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            raw.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _raw(connection: Connection) -> sqlite3.Connection:
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw
