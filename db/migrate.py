"""Brings an open database to this version's schema. Backs the file up before it changes one.

Owns the two lineages and their revisions. Refuses a database written by a newer version.
Alembic is imported only when there is something to do, so that opening stays quick.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from db.errors import StoreDamaged, StoreTooNew

MIGRATIONS = Path(__file__).parent / "migrations"


@dataclass(frozen=True)
class Lineage:
    """A schema's history.

    Attributes:
        name: folder below ``db/migrations``.
        revisions: every revision this version knows, oldest first.
    """

    name: str
    revisions: tuple[str, ...]

    @property
    def newest(self) -> str:
        """The revision that this version writes."""
        return self.revisions[-1]


HOME_LINEAGE = Lineage("home", ("0001", "0002", "0003"))
STUDY_LINEAGE = Lineage("study", ("0001", "0002"))


def revision_of(connection: Connection) -> str | None:
    """The revision stored in a database, None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def check(connection: Connection, lineage: Lineage, path: Path | str) -> str | None:
    """The stored revision, if this version can work with it.

    Raises:
        StoreTooNew: written by a newer version.
        StoreDamaged: a database, but not one of this program.
    """
    stored = revision_of(connection)
    if stored is None and inspect(connection).get_table_names():
        raise StoreDamaged(
            f"{path} is a database of another program. Move it away, or choose another folder."
        )
    if stored is not None and stored not in lineage.revisions:
        raise StoreTooNew(
            f"The database {path} was written by a newer version of this program "
            f"(schema {stored}, this version knows up to {lineage.newest}). "
            "Install the newer version, or open another home with --home."
        )
    return stored


def upgrade(connection: Connection, lineage: Lineage) -> None:
    """Run every migration that is missing, inside the connection's open transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    folder = str(MIGRATIONS / lineage.name).replace("%", "%%")
    config.set_main_option("script_location", folder)
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, lineage.newest)


def back_up(path: Path, revision: str) -> Path:
    """Copy a database beside itself before it is changed.

    Returns:
        The copy: ``<name>.before-<revision>.backup``, with a number if that exists.
    """
    copy = _claimed(path, revision)
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    return copy


def _claimed(path: Path, revision: str) -> Path:
    """An empty file of a name that no other opener has; two may meet here."""
    number = 1
    while True:
        word = f".{number}" if number > 1 else ""
        copy = path.with_name(f"{path.name}.before-{revision}{word}.backup")
        try:
            copy.touch(exist_ok=False)
        except FileExistsError:
            number += 1
        else:
            return copy
