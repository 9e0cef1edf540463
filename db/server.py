"""A study on a PostgreSQL server: one schema for each, several raters at once.

Owns addresses (``postgresql://user@host/database?schema=study_...``), connections, how writers
follow each other, and the sentences for what a server refuses. Refuses to show a password, and
to work with a server's schema that is not named.
"""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from db.errors import DriverMissing, LoginRefused
from db.server_failures import no_right, not_unicode
from db.server_own import own_schema

if TYPE_CHECKING:
    import psycopg

PREFIXES = ("postgresql://", "postgres://")
SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
LOCK_TIMEOUT_MS = 5000
CONNECT_TIMEOUT_S = 10
SILENT_S = 15
HELD_UP_S = 1.0  # between two looks at who holds others up
SECRETS = ("password", "sslpassword")
OWN_ROWS = "own rows"  # in ``Connection.info``: this login reads its own rows only
# Whether it does, where readers have views of their own; never by views of a stranger's making.
_READER = """
SELECT NOT pg_catalog.pg_has_role(c.relowner, 'USAGE') FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace main ON main.oid = c.relnamespace AND main.nspname = %s
  JOIN pg_catalog.pg_namespace own ON own.nspname = %s
  WHERE c.relname = 'entry' AND pg_catalog.pg_has_role(own.nspowner, c.relowner, 'USAGE')
"""
# who holds the writers' lock, or the end of the log without it
_HOLDERS = text("""
SELECT DISTINCT l.pid, coalesce(a.usename, '?') AS login
  FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
  WHERE l.granted AND l.pid <> pg_catalog.pg_backend_pid() AND l.database = (
    SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()
  ) AND (
    l.locktype = 'advisory' AND l.objsubid = 1
      AND (CAST(l.classid AS bigint) << 32) | CAST(l.objid AS bigint) = :key
    OR l.locktype = 'relation' AND l.relation = CAST(:head AS regclass)
      AND l.mode IN ('RowShareLock', 'RowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
  )
""")
NEEDS_DRIVER = (
    "A study on a server needs the package psycopg, which is not installed here. Install it with: "
    'python -m pip install "triptych[postgres]"'
)


def is_url(place: Path | str) -> bool:
    """Whether that is a study on a server and not a folder or file."""
    return isinstance(place, str) and place.startswith(PREFIXES)


def without_password(url: str) -> str:
    """The address as it may be shown and stored."""
    parsed = _parsed(url)
    query = {name: value for name, value in parsed.query.items() if name not in SECRETS}
    return parsed.set(password=None, query=query).render_as_string()


@dataclass(frozen=True)
class ServerPlace:
    """One study on a server.

    Attributes:
        url: as given, without its schema.
        schema: where its tables are.
    """

    url: URL
    schema: str

    @property
    def location(self) -> str:
        """Where it lies, for a person; without the password."""
        named = self.url.update_query_dict({"schema": self.schema})
        return without_password(named.render_as_string(hide_password=False))

    @property
    def path(self) -> Path:
        """A name in place of a folder; there is none."""
        return Path(self.schema) / "study.sqlite"

    def is_there(self, connection: Connection | None = None) -> bool:
        """Whether the schema exists.

        Raises:
            NotWritable: it does, but this person may not use it; then it would look empty.
        """
        if connection is None:
            return True  # only the server knows; asked once connected
        may_use = connection.execute(
            text(
                "SELECT pg_catalog.has_schema_privilege(oid, 'USAGE') "
                "FROM pg_catalog.pg_namespace WHERE nspname = :name"
            ),
            {"name": self.schema},
        ).scalar()
        if may_use is False:
            raise no_right(self.location)
        return may_use is not None

    def engine(self) -> Engine:
        """The pool of connections; one that broke is noticed and made anew.

        Raises:
            DriverMissing: psycopg is not installed.
        """
        try:
            import psycopg  # noqa: F401
        except ImportError as error:
            raise DriverMissing(NEEDS_DRIVER) from error
        engine = create_engine(
            "postgresql+psycopg://", creator=self._connect, pool_pre_ping=True, pool_size=2
        )

        def begin(connection: Connection) -> None:
            if connection.get_execution_options().get("writes", False):
                # one writer at a time for each study, as with a file
                connection.exec_driver_sql(f"SELECT pg_catalog.pg_advisory_xact_lock({self._key})")
            else:
                connection.exec_driver_sql(
                    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
                )

        def connect(connection: Any, record: Any) -> None:
            record.info[OWN_ROWS] = self._find_rows(connection)

        event.listen(engine, "connect", connect)
        event.listen(engine, "begin", begin)
        return engine

    @property
    def _key(self) -> int:
        """What the server calls the lock of this study's writers."""
        return int.from_bytes(hashlib.sha256(self.schema.encode()).digest()[:8], "big", signed=True)

    def make_ready(self, _connection: Connection) -> None:
        """Nothing to be set beyond what each connection brings."""

    def make_room(self, connection: Connection) -> None:
        """Make the schema.

        Raises:
            NotWritable: the database cannot hold every letter of a report or a name.
        """
        if connection.execute(text("SHOW server_encoding")).scalar() != "UTF8":
            raise not_unicode(self.location)
        if not self.is_there(connection):
            connection.exec_driver_sql(f'CREATE SCHEMA "{self.schema}"')

    def back_up(self, _revision: str) -> None:
        """Nothing: on a server a migration happens whole or not at all."""

    def integrity(self, _connection: Connection) -> tuple[str, ...]:
        """Nothing: a server checks its own pages."""
        return ()

    def checkpoint(self, _connection: Connection) -> None:
        """Nothing: each commit is on the server's disk."""

    def remarks(self, connection: Connection) -> tuple[str, ...]:
        """Whether the server itself keeps its word at a power cut; who holds others up."""
        found = []
        if connection.execute(text("SHOW fsync")).scalar() != "on":
            found.append(
                "The server runs with fsync off: after a power cut there, answers may be lost. "
                "Ask its administrator to turn it on."
            )
        if not connection.info.get(OWN_ROWS):
            found += self._held_up(connection)
        return tuple(found)

    def _held_up(self, connection: Connection) -> list[str]:
        """Who keeps others from answering, seen twice: an answer being kept does so too."""

        def holders() -> set[tuple[int, str]]:
            named = {"key": self._key, "head": f'"{self.schema}".head'}
            return {(row.pid, row.login) for row in connection.execute(_HOLDERS, named)}

        first = holders()
        if not first:
            return []
        time.sleep(HELD_UP_S)
        return [
            f"The login {login} keeps everybody from answering at this moment. If that lasts, the "
            f"server's administrator ends it with SELECT pg_terminate_backend({pid})."
            for pid, login in sorted(first & holders())
        ]

    def _connect(self) -> psycopg.Connection[Any]:
        import psycopg

        options = {**self.url.translate_connect_args(username="user", database="dbname")}
        options.update(self.url.query)
        defaults = {
            "connect_timeout": CONNECT_TIMEOUT_S,
            "application_name": "triptych",
            "keepalives_idle": SILENT_S,
            "tcp_user_timeout": SILENT_S * 1000,
        }
        connection = psycopg.connect(**{**defaults, **options})
        try:
            for name, value in (
                ("synchronous_commit", "on"),
                ("lock_timeout", str(LOCK_TIMEOUT_MS)),
                ("client_encoding", "UTF8"),
            ):
                connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", (name, value))
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return connection

    def _find_rows(self, connection: psycopg.Connection[Any]) -> bool:
        """Let names of tables lead to the study, or to the reader's own part of it."""
        own = own_schema(self.schema)
        try:
            row = connection.execute(_READER, (self.schema, own)).fetchone()
            reader = row is not None and bool(row[0])
            path = f'"{own}", "{self.schema}"' if reader else f'"{self.schema}"'
            connection.execute("SELECT pg_catalog.set_config('search_path', %s, false)", (path,))
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return reader


def server_place(url: str) -> ServerPlace:
    """Take an address apart.

    Raises:
        LoginRefused: it is no address, or names no schema.
    """
    parsed = _parsed(url)
    schema = parsed.query.get("schema")
    if not isinstance(schema, str) or not SCHEMA.fullmatch(schema):
        raise LoginRefused(
            f"{without_password(url)} does not say which study. Add ?schema=study_... with the "
            "study's own id; it is told when the study is shared."
        )
    return ServerPlace(parsed.difference_update_query(["schema"]), schema)


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        # the address may hold a password: it is not repeated, nor is what was said about it
        raise LoginRefused(
            "That is no address of a database. It has the form "
            "postgresql://user@host/database?schema=study_..."
        ) from None
