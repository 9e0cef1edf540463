"""A study's schema changes in a file and on a server alike: whole or not at all, answers kept."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from db import migrate, ratings, schema
from db.errors import StoreTooNew
from db.migrate import STUDY_LINEAGE, Lineage
from db.session import Kind, Store, open_study_store
from tests.db.studies import small_study

NEWER = """import sqlalchemy as sa
from alembic import op
revision = '9999'
down_revision = '{before}'
branch_labels = None
depends_on = None
def upgrade():
    op.add_column('rater', sa.Column('more', sa.Text()))
    {then}
"""


@pytest.fixture
def newer(tmp_path, monkeypatch) -> Kind:
    """A version of this program with one more revision of a study."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrate.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(migrate, "MIGRATIONS", folder)
    write(folder, "pass")
    return Kind(Lineage("study", (*STUDY_LINEAGE.revisions, "9999")), "FULL", secure_delete=True)


def write(folder: Path, then: str) -> None:
    script = folder / "study" / "versions" / "r9999_more.py"
    script.write_text(NEWER.format(before=STUDY_LINEAGE.newest, then=then), "utf-8")


def test_tables_are_those_of_the_schema(place):
    with small_study(place) as store, store.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.STUDY) == []
        assert migrate.revision_of(connection) == STUDY_LINEAGE.newest


def test_a_migration_keeps_the_answers_and_the_older_program_is_told(place, newer):
    with small_study(place) as store:
        ratings.add_rating(store, ratings.NewRating("ann", "se1", 1, "i2", "item", "both"))
        before = ratings.entries(store)
    with Store(place, kind=newer) as store:
        assert ratings.entries(store) == before
        assert ratings.check_chain(store) == ()
        with store.reading() as connection:
            assert connection.execute(text("SELECT more FROM rater")).all() == [(None,)]
    with pytest.raises(StoreTooNew, match="newer version"):
        open_study_store(place)


def test_a_migration_that_fails_changes_nothing(place, newer):
    small_study(place).close()
    write(migrate.MIGRATIONS, "raise RuntimeError('half way')")
    with pytest.raises(RuntimeError, match="half way"):
        Store(place, kind=newer)
    with open_study_store(place) as store, store.reading() as connection:
        assert migrate.revision_of(connection) == STUDY_LINEAGE.newest
        assert compare_metadata(MigrationContext.configure(connection), schema.STUDY) == []


def test_many_who_open_at_once_migrate_once(place, newer):
    with small_study(place) as store:
        before = ratings.entries(store)
    together, seen = threading.Barrier(3), []

    def open_it() -> None:
        together.wait()
        with Store(place, kind=newer) as store:
            seen.append(ratings.entries(store))

    threads = [threading.Thread(target=open_it) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [before] * 3
    if isinstance(place, Path):
        for copy in place.parent.glob("*.backup"):
            with closing(sqlite3.connect(copy)) as raw:
                assert raw.execute("SELECT count(*) FROM entry").fetchone() == (len(before),)
