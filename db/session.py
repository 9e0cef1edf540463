"""Opens a database, in a file or on a server, and hands out transactions.

Owns the transaction rules and the opening sequence (check, back up, migrate). Refuses to let an
error of SQLite or PostgreSQL out: every expected one becomes a leaf of ``db.errors``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from sqlalchemy import Connection

from db.failures import refused, translated
from db.home import Home
from db.migrate import HOME_LINEAGE, STUDY_LINEAGE, Lineage, check, upgrade
from db.server import OWN_ROWS, ServerPlace, is_url, server_place
from db.server_failures import no_study
from db.sqlite_file import FilePlace, file_place

__all__ = [
    "HOME_FILE",
    "STUDY_FILE",
    "STUDY_IN_MAKING",
    "Kind",
    "Store",
    "is_url",
    "open_store",
    "open_study_store",
]


@dataclass(frozen=True)
class Kind:
    """What sort of database a store opens.

    Attributes:
        lineage: its schema's history.
        synchronous: SQLite's setting; FULL makes each commit survive a power cut. On a server
            each commit does.
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
        path_or_url: a file, an SQLite URL (``sqlite://`` for one in memory), or a study on a
            server (``postgresql://.../database?schema=study_...``).
        kind: ``HOME_FILE`` or ``STUDY_FILE``.
        create: ``"create"`` makes a missing one, ``"existing"`` refuses.

    Raises:
        StoreError: locked, too new, damaged, disk full, not writable, or the server refuses.
    """

    def __init__(
        self, path_or_url: Path | str, *, kind: Kind = HOME_FILE, create: str = "create"
    ) -> None:
        self.kind = kind
        self._at = _place(path_or_url, kind)
        if create == "existing" and not self._at.is_there():
            raise refused(self.location, "there is no such file")
        self._engine = self._at.engine()
        try:
            with translated(self.location):
                self._open(create)
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> Path:
        """The file; a mere name for a study on a server."""
        return self._at.path

    @property
    def location(self) -> str:
        """Where it lies, for a person; never with a password."""
        return self._at.location

    @property
    def on_server(self) -> bool:
        """Whether others may be reading the same study at the same time, elsewhere."""
        return isinstance(self._at, ServerPlace)

    @property
    def own_rows(self) -> bool:
        """Whether this login is shown what it did itself, and nothing of others."""
        with self.reading() as connection:
            return bool(connection.info.get(OWN_ROWS))

    def _open(self, create: str) -> None:
        with self._engine.connect() as connection:
            self._at.make_ready(connection)
            connection.rollback()
            if create == "existing" and not self._at.is_there(connection):
                raise no_study(self.location)
            stored = check(connection, self.kind.lineage, self.location)
        if stored == self.kind.lineage.newest:
            return
        if stored is not None:
            self._at.back_up(stored)
        with (
            self._engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            self._at.make_room(connection)
            if check(connection, self.kind.lineage, self.location) != self.kind.lineage.newest:
                upgrade(connection, self.kind.lineage)

    @contextmanager
    def session(self) -> Iterator[Connection]:
        """A transaction that may write: takes the write lock at once, commits at the end.

        Raises:
            StoreError: what SQLite refused, as a sentence; nothing of the block is kept.
        """
        with (
            translated(self.location),
            self._engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads; sees one consistent state and blocks nobody."""
        with translated(self.location), self._engine.connect() as connection, connection.begin():
            yield connection

    def check_integrity(self) -> tuple[str, ...]:
        """What the database's own integrity check complains of; empty when all is well."""
        with self.reading() as connection:
            return self._at.integrity(connection)

    def remarks(self) -> tuple[str, ...]:
        """What is worth knowing about where it lies, and no fault."""
        with self.reading() as connection:
            return self._at.remarks(connection)

    def checkpoint(self) -> None:
        """Put everything where it belongs: out of the write-ahead log, into the file itself."""
        with translated(self.location), self._engine.connect() as connection:
            self._at.checkpoint(connection)

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
    kind = STUDY_FILE if create == "existing" else STUDY_IN_MAKING
    if is_url(place):
        return Store(place, kind=kind, create=create)
    path = Path(place)
    return Store(path / "study.sqlite" if path.is_dir() else path, kind=kind, create=create)


def _place(path_or_url: Path | str, kind: Kind) -> FilePlace | ServerPlace:
    if isinstance(path_or_url, str) and is_url(path_or_url):
        return server_place(path_or_url)
    return file_place(path_or_url, synchronous=kind.synchronous, secure_delete=kind.secure_delete)
