"""A study on a PostgreSQL server: what each connection brings, and every way it can go wrong."""

from __future__ import annotations

import subprocess
import sys
import traceback
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from db import packs, ratings, schema, study_copy, study_items
from db import server as address
from db.errors import (
    DiskFull,
    DriverMissing,
    LoginRefused,
    NotWritable,
    ServerGone,
    StoreDamaged,
    StoreLocked,
)
from db.server_failures import leaf_for_server
from db.session import Store, open_study_store
from db.study_copy import copy_study
from tests import postgres
from tests.db.studies import on_server, small_study
from tests.postgres import Server

TABLES = ("entry", "item", "medium", "pack", "presentation", "rater", "returned", "seat",
          "session", "study")  # fmt: skip


@pytest.fixture
def url(server: Server) -> str:
    """A study on a server with one rater."""
    made = server.study()
    small_study(made).close()
    return made


def rating(position: int = 1, answer: str = "left") -> ratings.NewRating:
    return ratings.NewRating("ann", "se1", position, {1: "i2", 2: "i1"}[position], "item", answer)


def refuse(url: str, code: str) -> None:
    """Let the server answer every new entry with an error of its own."""
    with on_server(url) as raw:
        raw.execute(
            "CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION 'secret words' USING ERRCODE = '{code}'; END $$"
        )
        raw.execute(
            "CREATE TRIGGER trouble BEFORE INSERT ON entry FOR EACH ROW EXECUTE FUNCTION trouble()"
        )
    raw.close()


def relent(url: str) -> None:
    with on_server(url) as raw:
        raw.execute("DROP TRIGGER trouble ON entry")
    raw.close()


def test_every_connection_waits_for_the_disk_and_sees_its_own_study_only(url):
    with open_study_store(url) as store, store.reading(), store.reading() as connection:
        for name, value in (("synchronous_commit", "on"), ("lock_timeout", "5s")):
            assert connection.execute(text(f"SHOW {name}")).scalar() == value
        assert url.endswith(connection.execute(text("SELECT current_schema()")).scalar())
        assert store.on_server


def test_tables_are_those_of_the_schema_and_refuse_changes_as_a_file_does(url, tmp_path):
    with open_study_store(url) as store, store.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.STUDY) == []
        there = connection.execute(
            text("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN "
                 "(SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)")
        ).scalars()  # fmt: skip
        on_it = {name for name in there if not name.endswith("_truncate")}
    with small_study(tmp_path / "a.sqlite") as store, store.reading() as connection:
        query = text("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        in_file = set(connection.execute(query).scalars())
    assert on_it == in_file == {f"{t}_no_{a}" for t in TABLES for a in ("update", "delete")}


def test_a_server_refuses_to_empty_a_table(url):
    import psycopg

    with on_server(url, autocommit=True) as raw:
        for table in ("entry", "presentation", "returned"):
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="append-only"):
                raw.execute(f"TRUNCATE {table} CASCADE")
    raw.close()


def test_two_studies_of_one_database_know_nothing_of_each_other(server, url):
    other = server.study()
    with small_study(other) as store:
        ratings.add_rating(store, rating())
    with open_study_store(url) as store:
        assert ratings.ratings(store) == ()
    with pytest.raises(LoginRefused, match="no study"):
        open_study_store(server.study())


def test_a_schema_of_another_program_is_not_touched(server):
    url = server.study()
    name = url.rpartition("=")[2]
    with on_server(url) as raw:
        raw.execute(f"CREATE SCHEMA {name}")
        raw.execute(f"CREATE TABLE {name}.songs (title text)")
    raw.close()
    for create in ("create", "existing"):
        with pytest.raises(StoreDamaged, match="another program"):
            open_study_store(url, create=create)


def test_a_study_copied_to_a_server_and_back_is_the_same(server, tmp_path):
    url = server.study()
    with small_study(tmp_path / "a.sqlite") as source:
        ratings.add_rating(source, rating())
        with open_study_store(url, create="create") as middle:
            copy_study(source, middle, rater=None)
            assert (ratings.entries(middle), study_items.raters(middle)) == ((), ())
        with open_study_store(url) as middle, Store(tmp_path / "b.sqlite", kind=source.kind) as end:
            copy_study(middle, end, rater=None)
            assert study_items.study_row(end) == study_items.study_row(source)
            assert study_items.items(end) == study_items.items(source)
            assert tuple(study_items.media(end)) == tuple(study_items.media(source))


def test_a_copy_that_was_cut_short_is_taken_up_and_a_whole_one_left_alone(place, tmp_path):
    with (
        small_study(tmp_path / "from.sqlite") as source,
        open_study_store(place, create="create") as target,
    ):
        study_items.add_medium(target, study_items.medium_row(source, "m1"))
        copy_study(source, target, rater=None)
        copy_study(source, target, rater="ann")
        copy_study(source, target, rater="ann")
        assert [row.action for row in ratings.entries(target)] == ["order"]
        with (
            small_study(tmp_path / "other.sqlite", hash_="ff") as other,
            pytest.raises(ratings.RatingRefused, match="holds another study"),
        ):
            copy_study(other, target, rater=None)


def test_a_copy_that_is_cut_between_two_transactions_loses_only_the_last(
    place, tmp_path, monkeypatch
):
    monkeypatch.setattr(study_copy, "BATCH", 2)
    whole, sizes = study_items.add_media, []

    def cut(store, rows):
        if len(sizes) == 2:
            raise InterruptedError
        sizes.append(len(rows))
        whole(store, rows)

    with (
        small_study(tmp_path / "from.sqlite") as source,
        open_study_store(place, create="create") as target,
    ):
        for number in range(5):
            row = study_items.medium_row(source, "m1")
            study_items.add_medium(source, replace(row, media_id=f"n{number}", key=100 + number))
        monkeypatch.setattr(study_items, "add_media", cut)
        with pytest.raises(InterruptedError):
            copy_study(source, target, rater=None)
        assert sizes == [2, 2]
        assert len(study_items.media_ids(target)) == 4
        assert study_items.frozen_hash(target) is None
        monkeypatch.setattr(study_items, "add_media", whole)
        monkeypatch.setattr(study_copy, "BATCH_BYTES", 1)
        copy_study(source, target, rater=None)
        assert tuple(study_items.media(target)) == tuple(study_items.media(source))


def test_a_rater_goes_along_with_place_and_order_but_without_answers(place, tmp_path):
    with small_study(tmp_path / "from.sqlite") as source:
        ratings.add_rating(source, rating())
        with open_study_store(place, create="create") as target:
            copy_study(source, target, rater="ann")
            (order,) = ratings.entries(target)
            assert (order.action, order.rater, order.note) == ("order", "ann", "ee")
            assert study_items.presentations(target) == study_items.presentations(source)
            assert study_items.raters(target) == study_items.raters(source)
            assert ratings.check_chain(target) == ()
        with pytest.raises(ratings.RatingRefused, match="no rater bob"):
            copy_study(source, target, rater="bob")


@pytest.mark.parametrize(
    ("code", "leaf", "words"),
    [
        ("53100", DiskFull, "No room is left on the disk of the server"),
        ("40001", StoreLocked, "busy with the answers of others"),
        ("40P01", StoreLocked, "try again"),
        ("42501", NotWritable, "You may not do that"),
        ("25006", NotWritable, "takes no changes at present"),
        ("57P01", ServerGone, "cannot be reached"),
        ("XX001", StoreDamaged, "its data are damaged"),
    ],
)
def test_what_a_server_refuses_is_said_and_the_answer_can_be_given_again(url, code, leaf, words):
    with open_study_store(url) as store:
        refuse(url, code)
        with pytest.raises(leaf, match=words) as caught:
            ratings.add_rating(store, rating())
        assert "secret words" not in str(caught.value)
        assert ratings.ratings(store) == ()
        relent(url)
        ratings.add_rating(store, rating())
        assert [row.answer for row in ratings.ratings(store)] == ["left"]
        assert ratings.check_chain(store) == ()


def test_another_writer_is_waited_for_and_then_said_to_be_busy(url, monkeypatch):
    monkeypatch.setattr(address, "LOCK_TIMEOUT_MS", 50)
    with open_study_store(url) as one, open_study_store(url) as two:
        with one.session(), pytest.raises(StoreLocked, match="busy"):
            ratings.add_rating(two, rating())
        ratings.add_rating(two, rating())


def test_a_server_that_went_away_and_came_back_takes_the_answer(server, url):
    with open_study_store(url) as store:
        ratings.add_rating(store, rating(1))
        server.stop()
        try:
            with pytest.raises(ServerGone, match="cannot be reached"):
                ratings.add_rating(store, rating(2))
            with pytest.raises(ServerGone):
                open_study_store(url)
        finally:
            server.start()
        assert [row.position for row in ratings.ratings(store)] == [1]
        ratings.add_rating(store, rating(2))
        assert ratings.check_chain(store) == ()


@pytest.mark.parametrize("then", ["SELECT 1", ""], ids=["at a question", "at the commit"])
def test_a_connection_cut_in_the_middle_of_an_act_keeps_nothing_of_it(url, then):
    with open_study_store(url) as store:
        with pytest.raises(ServerGone), store.session() as connection:  # noqa: PT012
            ratings.append(connection, {"action": "pause", "rater": "ann"})
            with on_server(url, autocommit=True) as raw:
                raw.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name = 'triptych' AND state = 'idle in transaction'"
                )
            raw.close()
            if then:
                connection.execute(text(then))
        assert [row.action for row in ratings.entries(store)] == ["order"]
        ratings.add_rating(store, rating())


def test_a_password_is_never_shown(server):
    with on_server(server.study(), autocommit=True) as raw:
        raw.execute("CREATE ROLE guarded LOGIN PASSWORD 'right-4711'")
    raw.close()
    wrong = f"{server.address('guarded', 'wrong-0815')}&schema=study_x"
    right = f"{server.address('guarded', 'right-4711')}&schema=study_x"
    for url, words in ((wrong, "does not let you in"), (right, "no study")):
        with pytest.raises(LoginRefused, match=words) as caught:
            open_study_store(url)
        told = "".join(traceback.format_exception(caught.value))
        assert "guarded" in str(caught.value)
        assert not any(word in told for word in ("wrong-0815", "right-4711"))
    for secret in (wrong, f"{server.database}&password=wrong-0815&schema=study_x"):
        assert "wrong-0815" not in address.without_password(secret)
        assert "wrong-0815" not in address.server_place(secret).location


def test_a_person_without_the_right_is_told_whom_to_ask(server, url):
    with on_server(server.study(), autocommit=True) as raw:
        raw.execute("CREATE ROLE stranger LOGIN")
    raw.close()
    with pytest.raises(NotWritable, match="Ask its administrator for the right"):
        open_study_store(f"{server.address('stranger')}&schema={url.rpartition('=')[2]}")


@pytest.mark.parametrize(
    ("url", "leaf", "words"),
    [
        ("postgresql://who:hush@127.0.0.1:1/x?schema=study_a", ServerGone, "cannot be reached"),
        ("postgresql://who:hush@host.invalid/x?schema=study_a", ServerGone, "cannot be reached"),
        ("postgresql://who:hush@/x?host=/nowhere&schema=study_a", ServerGone, "cannot be reached"),
        ("postgresql://who:hush@localhost/x", LoginRefused, "does not say which study"),
        ("postgresql://who:hush@localhost/x?schema=A;B", LoginRefused, "does not say which"),
        ("postgresql://who:hush@local:host:x/?schema=a", LoginRefused, "no address of a database"),
        ("postgresql://who:hush@localhost/x?schema=a&flavour=sweet", LoginRefused, "no server kno"),
    ],
)  # fmt: skip
def test_an_address_that_leads_nowhere(url, leaf, words):
    with pytest.raises(leaf, match=words) as caught:
        open_study_store(url)
    assert "hush" not in "".join(traceback.format_exception(caught.value))


def test_a_folder_is_no_address_whatever_it_is_called():
    assert address.is_url("postgresql://x")
    assert not address.is_url(Path("postgresql://x"))


def test_without_the_driver_the_line_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DriverMissing, match=r'pip install "triptych\[postgres\]"'):
        open_study_store("postgresql://localhost/x?schema=study_a")


def test_who_reads_files_only_never_loads_the_driver():
    program = "import sys, db.session; sys.exit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_text_that_no_server_can_hold_is_said(server):
    with small_study(server.study()) as store, pytest.raises(NotWritable, match="character zero"):
        packs.add_pack(store, packs.PackRow("p1", "a\x00b", "now", "key"))


def test_a_server_that_does_not_wait_for_its_disk_is_remarked(url):
    """The tests' own server is one."""
    with open_study_store(url) as store:
        assert "fsync off" in store.remarks()[0]
        assert (store.check_integrity(), store.checkpoint()) == ((), None)


@pytest.mark.parametrize(
    ("ci", "outcome"), [("1", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_a_missing_server_skips_here_and_fails_in_ci(monkeypatch, ci, outcome):
    monkeypatch.setattr(postgres, "_binaries", lambda: None)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="no PostgreSQL server is installed"):
        postgres.server_binaries()


def test_a_database_that_cannot_hold_every_letter_is_refused(server):
    with on_server(server.study(), autocommit=True) as raw:
        raw.execute("CREATE DATABASE old ENCODING 'LATIN1' TEMPLATE template0")
    raw.close()
    url = server.study().replace("/postgres?", "/old?")
    with pytest.raises(NotWritable, match="not kept in UTF-8"):
        open_study_store(url, create="create")


def test_letters_of_every_kind_come_back(place):
    told = "Łukasiewicz 大里 \U0001fac1 ' \" ; DROP TABLE entry; -- %s {0} \\n\x00\ud800"
    with small_study(place) as store:
        given = ratings.NewRating("ann", "se1", 1, "i2", "item", "cannot", reason=told,
                                  comment=told, viewer_state={told: [told, float("nan"), 2**40]},
                                  idle_ms=2**33)  # fmt: skip
        kept = ratings.add_rating(store, given)
        assert ratings.entries(store)[-1] == kept
        whole = told.replace("\x00", "?").replace("\ud800", "?")
        assert (kept.comment, kept.reason) == (whole, whole)
        assert kept.viewer_state == {whole: [whole, None, 2**40]}
        assert ratings.check_chain(store) == ()


def test_an_item_of_strange_letters_is_the_same_on_a_server(server, tmp_path):
    odd = {"kind": "text", "media_ids": [], "text": "a\x00b \ud800 大里 \U0001fac1"}
    row = study_items.ItemRow("i3", "item", "text", "Find.", odd, (odd,), (odd,))
    with (
        small_study(tmp_path / "a.sqlite", more=(row,)) as source,
        open_study_store(server.study(), create="create") as target,
    ):
        copy_study(source, target, rater=None)
        assert study_items.items(target) == study_items.items(source)
        assert study_items.item_row(target, "i3") == row


@pytest.mark.parametrize(
    "said",
    [
        "the database system is starting up",
        "the database system is not yet accepting connections\n"
        "DETAIL:  Consistent recovery state has not been yet reached.",
        "the database system is in recovery mode",
    ],
)
def test_a_server_that_comes_back_from_a_crash_is_not_a_wrong_password(said):
    psycopg = pytest.importorskip("psycopg")
    error = psycopg.OperationalError(f'connection to server on socket "/x" failed: FATAL:  {said}')
    assert isinstance(leaf_for_server(error, "there"), ServerGone)
    wrong = psycopg.OperationalError("connection failed: FATAL:  password is not right")
    assert isinstance(leaf_for_server(wrong, "there"), LoginRefused)
