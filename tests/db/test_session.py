"""Opening a database: pragmas, transactions, migrations, and every way it can go wrong."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from db import migrate, ratings, schema
from db.errors import DiskFull, NotWritable, StoreDamaged, StoreLocked, StoreTooNew
from db.failures import leaf_for
from db.home import Home
from db.migrate import HOME_LINEAGE, STUDY_LINEAGE, Lineage
from db.session import HOME_FILE, STUDY_FILE, Kind, Store, open_store, open_study_store

VERSIONS = Path(__file__).parent / "versions"
DUMPS = sorted(VERSIONS.glob("*.sql"))
KINDS = {
    "home": (HOME_FILE, schema.HOME),
    "study": (STUDY_FILE, schema.STUDY),
}


def pragma(store: Store, name: str) -> object:
    with store.reading() as connection:
        return connection.execute(text(f"PRAGMA {name}")).scalar()


def restore(dump: Path, target: Path) -> None:
    with closing(sqlite3.connect(target)) as connection:
        connection.executescript(dump.read_text("utf-8"))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (HOME_FILE, {"journal_mode": "wal", "foreign_keys": 1, "synchronous": 1}),
        (
            STUDY_FILE,
            {"journal_mode": "wal", "foreign_keys": 1, "synchronous": 2, "secure_delete": 1},
        ),
    ],
    ids=["home", "study"],
)
def test_pragmas_hold_on_every_connection(tmp_path, kind, expected):
    with Store(tmp_path / "a.sqlite", kind=kind) as store:
        for name, value in {**expected, "busy_timeout": 5000}.items():
            assert pragma(store, name) == value, name
        with store.reading(), store.reading() as second:
            assert second.execute(text("PRAGMA busy_timeout")).scalar() == 5000


@pytest.mark.parametrize("name", KINDS)
def test_tables_are_those_of_the_schema(tmp_path, name):
    kind, metadata = KINDS[name]
    with Store(tmp_path / "a.sqlite", kind=kind) as store, store.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


@pytest.mark.parametrize("lineage", [HOME_LINEAGE, STUDY_LINEAGE], ids=lambda one: one.name)
def test_lineages_name_every_revision_in_order(lineage):
    config = Config()
    config.set_main_option("script_location", str(migrate.MIGRATIONS / lineage.name))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert tuple(s.revision for s in scripts.walk_revisions())[::-1] == lineage.revisions


def test_every_version_has_a_dump():
    expected = {
        f"{lineage.name}_{revision}.sql"
        for lineage in (HOME_LINEAGE, STUDY_LINEAGE)
        for revision in lineage.revisions
    }
    assert {path.name for path in DUMPS} == expected


@pytest.mark.parametrize("dump", DUMPS, ids=lambda path: path.stem)
def test_every_version_migrates_and_keeps_its_rows(tmp_path, dump):
    kind, metadata = KINDS[dump.stem.split("_")[0]]
    file = tmp_path / "old.sqlite"
    restore(dump, file)
    with closing(sqlite3.connect(file)) as raw:
        tables = [t.name for t in metadata.sorted_tables]
        there = {name for (name,) in raw.execute("SELECT name FROM sqlite_master")}
        before = {
            t: raw.execute(f'SELECT count(*) FROM "{t}"').fetchone()[0]
            for t in tables
            if t in there
        }
    with Store(file, kind=kind) as store, store.reading() as connection:
        assert migrate.revision_of(connection) == kind.lineage.newest
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        for table, count in before.items():
            assert connection.execute(text(f'SELECT count(*) FROM "{table}"')).scalar() == count
    assert sum(before.values()) > 0


def test_a_study_of_the_first_version_keeps_its_log_and_takes_new_answers(tmp_path):
    file = tmp_path / "study.sqlite"
    restore(VERSIONS / "study_0001.sql", file)
    with closing(sqlite3.connect(file)) as raw:
        before = raw.execute("SELECT number, hash FROM entry ORDER BY number").fetchall()
    with open_study_store(file) as store:
        assert [(row.number, row.hash) for row in ratings.entries(store)] == before
        assert ratings.check_chain(store) == ()
        given = ratings.NewRating("ann", "se1", 2, "i1", "item", "cannot", reason="too dark")
        assert ratings.add_rating(store, given).reason == "too dark"
        assert ratings.check_chain(store) == ()
    with closing(sqlite3.connect(tmp_path / "study.sqlite.before-0001.backup")) as raw:
        assert raw.execute("SELECT number, hash FROM entry ORDER BY number").fetchall() == before


@pytest.fixture
def newer_kind(tmp_path, monkeypatch) -> Kind:
    """The home lineage with one more revision than this version has."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrate.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "home" / "versions" / "r9999_more.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        f"revision = '9999'\ndown_revision = '{HOME_LINEAGE.newest}'\n"
        "branch_labels = None\ndepends_on = None\n"
        "def upgrade():\n"
        "    op.add_column('collection', sa.Column('note', sa.Text()))\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(migrate, "MIGRATIONS", folder)
    return Kind(Lineage("home", (*HOME_LINEAGE.revisions, "9999")), "NORMAL", secure_delete=False)


def test_a_migration_backs_the_file_up_first(tmp_path, newer_kind):
    file = tmp_path / "a.sqlite"
    with Store(file) as store, store.session() as connection:
        connection.execute(text("INSERT INTO collection VALUES (1, 'kept', 'now')"))
    with Store(file, kind=newer_kind) as store, store.reading() as connection:
        assert connection.execute(text("SELECT name, note FROM collection")).all() == [
            ("kept", None)
        ]
    backup = tmp_path / f"a.sqlite.before-{HOME_LINEAGE.newest}.backup"
    with closing(sqlite3.connect(backup)) as raw:
        assert raw.execute("SELECT * FROM collection").fetchall() == [(1, "kept", "now")]


def test_a_failing_migration_changes_nothing(tmp_path, newer_kind):
    file = tmp_path / "a.sqlite"
    Store(file).close()
    script = migrate.MIGRATIONS / "home" / "versions" / "r9999_more.py"
    script.write_text(script.read_text("utf-8") + "    raise RuntimeError('half way')\n", "utf-8")
    with pytest.raises(RuntimeError, match="half way"):
        Store(file, kind=newer_kind)
    with Store(file) as store, store.reading() as connection:
        assert migrate.revision_of(connection) == HOME_LINEAGE.newest
        assert compare_metadata(MigrationContext.configure(connection), schema.HOME) == []


def test_a_newer_schema_is_refused_with_the_way_out(tmp_path, newer_kind):
    file = tmp_path / "a.sqlite"
    Store(file, kind=newer_kind).close()
    content = file.read_bytes()
    with pytest.raises(StoreTooNew, match="newer version") as caught:
        Store(file)
    assert str(file) in str(caught.value)
    assert "--home" in str(caught.value)
    assert file.read_bytes() == content


def test_another_program_holding_the_file_is_said_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr("db.sqlite_file.BUSY_TIMEOUT_MS", 50)
    file = tmp_path / "a.sqlite"
    with Store(file) as store, closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked, match="in use by another program"), store.session():
            pass
        with store.reading() as connection:
            assert connection.execute(text("SELECT count(*) FROM job")).scalar() == 0
        other.execute("ROLLBACK")
        with store.session() as connection:
            connection.execute(text("INSERT INTO meta VALUES ('a', 'b')"))


def test_opening_a_fresh_file_many_times_at_once(tmp_path):
    file, failures = tmp_path / "a.sqlite", []

    def open_it() -> None:
        try:
            Store(file).close()
        except Exception as error:  # noqa: BLE001 - handed to the test
            failures.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_file_that_is_no_database(tmp_path):
    file = tmp_path / "triptych.sqlite"
    file.write_bytes(b"this is a letter, not a database " * 100)
    with pytest.raises(StoreDamaged, match="damaged or is not a database") as caught:
        open_store(Home(tmp_path))
    assert "backup" in str(caught.value)


def test_a_database_of_another_program(tmp_path):
    file = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(file)) as raw:
        raw.execute("CREATE TABLE songs (title TEXT)")
    with pytest.raises(StoreDamaged, match="another program"):
        Store(file)


def test_a_damaged_page_is_named(tmp_path):
    file = tmp_path / "a.sqlite"
    with Store(file) as store, store.session() as connection:
        for number in range(400):
            connection.execute(
                text("INSERT INTO meta VALUES (:k, :v)"), {"k": f"{number}", "v": "x" * 200}
            )
    content = bytearray(file.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 8192] = b"\xff" * 8192
    file.write_bytes(content)
    with pytest.raises(StoreDamaged), Store(file) as store, store.reading() as connection:  # noqa: PT012
        connection.execute(text("SELECT * FROM meta ORDER BY value")).all()
        assert store.check_integrity() == ()


@pytest.mark.skipif(os.name == "nt", reason="folder permissions work otherwise there")
def test_a_folder_that_cannot_be_written(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("this account may write everywhere")
        with pytest.raises(NotWritable):
            Store(folder / "a.sqlite")
    finally:
        folder.chmod(stat.S_IRWXU)


def test_a_file_that_cannot_be_written(tmp_path, monkeypatch):
    """What a rater meets on a read-only share; SQLite itself is told so, whoever runs the test."""
    file = tmp_path / "a.sqlite"
    Store(file).close()
    connect = sqlite3.connect

    def read_only(name: str, **options: object) -> sqlite3.Connection:
        return connect(f"{Path(name).as_uri()}?mode=ro", uri=True, **options)

    monkeypatch.setattr("db.sqlite_file.sqlite3.connect", read_only)
    with (
        Store(file) as store,
        pytest.raises(NotWritable, match="cannot be opened for writing") as caught,
        store.session() as connection,
    ):
        connection.execute(text("INSERT INTO meta VALUES ('a', 'b')"))
    assert "permissions" in str(caught.value)


def test_a_folder_in_the_place_of_the_file(tmp_path):
    (tmp_path / "triptych.sqlite").mkdir()
    with pytest.raises(NotWritable, match="cannot be opened for writing"):
        open_store(Home(tmp_path))
    with pytest.raises(NotWritable, match="no such file"):
        open_study_store(tmp_path / "nothing.sqlite")


def test_a_full_disk_keeps_what_was_stored(tmp_path):
    file = tmp_path / "a.sqlite"
    with Store(file) as store:
        with store.session() as connection:
            connection.execute(text("INSERT INTO meta VALUES ('first', 'kept')"))
            pages = connection.execute(text("PRAGMA page_count")).scalar()
        with pytest.raises(DiskFull, match="No room"), store.session() as connection:  # noqa: PT012
            connection.execute(text(f"PRAGMA max_page_count = {pages}"))
            for number in range(100):
                row = {"k": f"{number}", "v": "x" * 4000}
                connection.execute(text("INSERT INTO meta VALUES (:k, :v)"), row)
    with Store(file) as store, store.reading() as connection:
        assert connection.execute(text("SELECT * FROM meta")).all() == [("first", "kept")]


def test_a_failing_block_keeps_nothing(tmp_path):
    with Store(tmp_path / "a.sqlite") as store:
        with pytest.raises(ZeroDivisionError), store.session() as connection:  # noqa: PT012
            connection.execute(text("INSERT INTO meta VALUES ('a', 'b')"))
            _ = 1 / 0
        with store.reading() as connection:
            assert connection.execute(text("SELECT count(*) FROM meta")).scalar() == 0


def test_a_bug_stays_a_bug(tmp_path):
    with Store(tmp_path / "a.sqlite") as store, store.reading() as connection:
        with pytest.raises(Exception, match="no such table") as caught:
            connection.execute(text("SELECT * FROM nowhere"))
        assert leaf_for(caught.value.orig, store.path) is None


def test_a_store_in_memory():
    with Store("sqlite://") as store:
        with store.session() as connection:
            connection.execute(text("INSERT INTO meta VALUES ('a', 'b')"))
        with store.reading() as connection:
            assert connection.execute(text("SELECT value FROM meta")).scalar() == "b"
