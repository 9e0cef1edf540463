"""Opens a SQLite file and hands out transactions. The only place that makes an engine.

Owns the pragmas, the transaction rules and the opening sequence (check, back up, migrate).
Refuses to let an error of SQLite out: every expected one becomes a leaf of ``db.errors``.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.pool import QueuePool, StaticPool

from db.failures import refused, translated
from db.home import Home
from db.migrate import HOME_LINEAGE, STUDY_LINEAGE, Lineage, back_up, check, upgrade

BUSY_TIMEOUT_MS = 5000


@dataclass(frozen=True)
class Kind:
    """What sort of file a store opens.

    Attributes:
        lineage: its schema's history.
        synchronous: SQLite's setting; FULL makes each commit survive a power cut.
        secure_delete: overwrite what is deleted with zeros.
    """

    lineage: Lineage
    synchronous: str
    secure_delete: bool


HOME_FILE = Kind(HOME_LINEAGE, "NORMAL", secure_delete=False)
STUDY_FILE = Kind(STUDY_LINEAGE, "FULL", secure_delete=True)
# While a study is built nobody rates; the checkpoint at the end puts all of it on the disk.
STUDY_IN_MAKING = Kind(STUDY_LINEAGE, "NORMAL", secure_delete=True)


class Store:
    """One open database.

    Args:
        path_or_url: a file, or an SQLite URL (``sqlite://`` for one in memory).
        kind: ``HOME_FILE`` or ``STUDY_FILE``.
        create: ``"create"`` makes a missing file, ``"existing"`` refuses.

    Raises:
        StoreError: locked, too new, damaged, disk full or not writable.
    """

    def __init__(
        self, path_or_url: Path | str, *, kind: Kind = HOME_FILE, create: str = "create"
    ) -> None:
        self.kind = kind
        self.path, memory = _place(path_or_url)
        if create == "existing" and not memory and not self.path.is_file():
            raise refused(self.path, "there is no such file")
        self._engine = _engine(self.path, kind, memory=memory)
        try:
            with translated(self.path):
                self._open(memory=memory)
        except BaseException:
            self.close()
            raise

    @property
    def location(self) -> str:
        """Where it lies, for a person; a password is hidden."""
        return str(self.path)

    def _open(self, *, memory: bool) -> None:
        with self._engine.connect() as connection:
            if not memory:
                _use_wal(connection)
            connection.rollback()
            stored = check(connection, self.kind.lineage, self.path)
        if stored == self.kind.lineage.newest:
            return
        if stored is not None and not memory:
            back_up(self.path, stored)
        with (
            self._engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            if check(connection, self.kind.lineage, self.path) != self.kind.lineage.newest:
                upgrade(connection, self.kind.lineage)

    @contextmanager
    def session(self) -> Iterator[Connection]:
        """A transaction that may write: takes the write lock at once, commits at the end.

        Raises:
            StoreError: what SQLite refused, as a sentence; nothing of the block is kept.
        """
        with (
            translated(self.path),
            self._engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads; sees one consistent state and blocks nobody."""
        with translated(self.path), self._engine.connect() as connection, connection.begin():
            yield connection

    def check_integrity(self) -> tuple[str, ...]:
        """What SQLite's own integrity check complains of; empty when all is well."""
        with self.reading() as connection:
            rows = connection.execute(text("PRAGMA integrity_check")).scalars().all()
        return tuple(str(row) for row in rows if row != "ok")

    def checkpoint(self) -> None:
        """Move everything from the write-ahead log into the file itself."""
        with translated(self.path), self._engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            assert isinstance(raw, sqlite3.Connection)
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_store(home: Home) -> Store:
    """Open the home's database, making or migrating it as needed.

    Raises:
        StoreError: see ``Store``.
    """
    home.make()
    return Store(home.database)


def is_url(place: Path | str) -> bool:
    """Whether that is a study on a server and not a folder or file."""
    return isinstance(place, str) and place.startswith(("postgresql://", "postgres://"))


def open_study_store(place: Path | str, *, create: str = "existing") -> Store:
    """Open a study file: every commit is on the disk before it returns.

    Args:
        place: ``study.sqlite`` itself, the study's folder, or
            ``postgresql://.../database?schema=study_...``.
        create: ``"existing"``, or ``"create"`` to build one (then a commit is on the disk only
            after ``checkpoint``).

    Raises:
        StoreError: see ``Store``.
    """
    path = Path(place)
    file = path / "study.sqlite" if path.is_dir() else path
    kind = STUDY_FILE if create == "existing" else STUDY_IN_MAKING
    return Store(file, kind=kind, create=create)


def _place(path_or_url: Path | str) -> tuple[Path, bool]:
    if isinstance(path_or_url, Path) or "://" not in path_or_url:
        return Path(path_or_url), False
    database = make_url(path_or_url).database
    if database in (None, "", ":memory:"):
        return Path(":memory:"), True
    return Path(str(database)), False


def _engine(path: Path, kind: Kind, *, memory: bool) -> Engine:
    def connect() -> sqlite3.Connection:
        name = ":memory:" if memory else str(path)
        connection = sqlite3.connect(
            name, timeout=BUSY_TIMEOUT_MS / 1000, check_same_thread=False, isolation_level=None
        )
        try:
            _set_pragmas(connection, kind)
        except BaseException:
            connection.close()
            raise
        return connection

    pool: dict[str, Any] = {"poolclass": StaticPool} if memory else {"poolclass": QueuePool}
    engine = create_engine("sqlite://", creator=connect, **pool)
    event.listen(engine, "begin", _begin)
    return engine


def _set_pragmas(connection: sqlite3.Connection, kind: Kind) -> None:
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA synchronous = {kind.synchronous}")
    if kind.secure_delete:
        connection.execute("PRAGMA secure_delete = ON")


def _begin(connection: Connection) -> None:
    """Open the transaction ourselves: Python's sqlite3 would leave DDL and reads outside it."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _use_wal(connection: Connection) -> None:
    """Switch to write-ahead logging; SQLite does not wait by itself when two openers meet."""
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while raw.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            raw.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
