"""A reader who knows PostgreSQL well neither becomes the owner nor breaks what others wrote."""

from __future__ import annotations

from typing import Any

import pytest

psycopg = pytest.importorskip("psycopg")

from db import chain, ratings  # noqa: E402
from db.errors import LoginRefused, ServerGone, StoreLocked  # noqa: E402
from db.server import server_place  # noqa: E402
from db.server_failures import leaf_for_server  # noqa: E402
from db.server_rights import let_rate  # noqa: E402
from tests.db.hostile_readers import (  # noqa: E402
    SECRET,
    Department,
    department,
    rating,
    read_by_two,
)
from tests.postgres import Server  # noqa: E402

DENIED = psycopg.errors.InsufficientPrivilege
TABLES = ("entry", "presentation", "rater", "session")


@pytest.fixture
def place(server: Server) -> Department:
    made = department(server)
    read_by_two(made)
    return made


def trap(raw: Any, schema: str) -> None:
    """A table whose first column becomes text by a function that looks at everything."""
    raw.execute("CREATE TYPE pg_temp.odd AS (x integer)")
    raw.execute(
        "CREATE FUNCTION pg_temp.look(pg_temp.odd) RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
        f"RAISE EXCEPTION 'seen: %', (SELECT string_agg(e::text, '') FROM {schema}.entry e); "
        "END $$"
    )
    raw.execute("CREATE CAST (pg_temp.odd AS text) WITH FUNCTION pg_temp.look AS IMPLICIT")
    raw.execute("CREATE TEMP TABLE trap (rater pg_temp.odd, name pg_temp.odd)")


@pytest.mark.parametrize("table", TABLES)
def test_a_trigger_of_ours_on_a_readers_own_table_never_runs_that_readers_casts(place, table):
    own = f"{place.schema}_own"
    hang = (
        f"CREATE TRIGGER t BEFORE INSERT ON trap FOR EACH ROW EXECUTE FUNCTION {own}.add_{table}()"
    )
    with place.raw("mallory") as raw, place.raw("chief") as chief:
        trap(raw, place.schema)
        with pytest.raises(DENIED, match="permission denied for function"):
            raw.execute(hang)
        # one that was hung there under a version before is not looked at again by PostgreSQL
        chief.execute(f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {own} TO mallory")
        raw.execute(hang)
        with pytest.raises(DENIED, match=r"^not the table of this trigger") as caught:
            raw.execute("INSERT INTO trap VALUES (row(1), row(1))")
        assert SECRET not in str(caught.value)


def test_a_reader_may_call_what_hands_out_own_rows_and_nothing_else(place):
    with place.raw("mallory") as raw:
        found = raw.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = %s::regnamespace "
            "AND has_function_privilege(oid, 'EXECUTE') ORDER BY proname",
            (f"{place.schema}_own",),
        ).fetchall()
    assert [name for (name,) in found] == [
        "end_of_log", "my_entry", "my_names", "my_presentation", "my_rater", "my_session",
    ]  # fmt: skip


def next_entry(raw: Any, **values: Any) -> dict[str, Any]:
    """The next entry of a log with its hash, as Python computes it."""
    number, previous = raw.execute("SELECT entries, hash FROM head").fetchone()
    row = dict.fromkeys(chain.NAMES)
    row.update(at_utc="2026-01-31T12:00:00.000Z", number=number + 1, previous=previous, **values)
    row["hash"] = chain.entry_hash(chain.EntryRow(**{**row, "hash": ""}))
    return row


def add(raw: Any, row: dict[str, Any]) -> None:
    cells = ", ".join(["%s"] * len(row))
    raw.execute(f"INSERT INTO entry ({', '.join(row)}) VALUES ({cells})", list(row.values()))


def test_an_order_needs_somebody_who_sat_down(place):
    with place.store("chief") as store:
        let_rate(store, "crowd", {"Mal": "mallory"})
    with place.raw("mallory") as raw:
        order = next_entry(raw, action="order", rater="Mal", note="x")
        with pytest.raises(DENIED, match="no entry of a rater"):
            add(raw, order)
        raw.execute("INSERT INTO rater (name, created_utc) VALUES ('Mal', 'now')")
        add(raw, order)
    with place.store("chief") as store:
        assert ratings.check_chain(store) == ()


@pytest.mark.parametrize("name", ["B\u200dob", "bo\u200cb", "\uff22ob"])
def test_a_name_that_looks_like_anothers_is_that_one_s(place, name):
    with place.raw("mallory") as raw, pytest.raises(psycopg.errors.UniqueViolation):
        raw.execute("INSERT INTO rater (name, created_utc) VALUES (%s, 'now')", (name,))


def test_nobody_sits_down_after_the_end_and_no_row_is_without_bounds(place):
    with place.raw("mallory") as raw:
        for statement in (
            "INSERT INTO rater (name, created_utc, specialty) VALUES ('Mal', '', {long})",
            "INSERT INTO session VALUES ('s', 'Mal', 'now', {long})",
            "INSERT INTO presentation VALUES ('Mal', 1, 'i1', {long}, false)",
        ):
            with pytest.raises(DENIED, match=r"^too much"):
                raw.execute(statement.format(long="repeat('x', 5 << 20)"))
        with place.store("chief") as store:
            ratings.add_unblinding(store, reason="closed", software="0")
        with pytest.raises(DENIED, match="the study is closed"):
            raw.execute("INSERT INTO rater (name, created_utc) VALUES ('Mal', 'now')")


def test_a_role_with_the_owners_rights_is_refused_and_takes_none_of_them_away(place):
    with place.raw("chief") as raw:
        rights = "SELECT relacl::text FROM pg_class WHERE relnamespace = %s::regnamespace"
        before = raw.execute(rights, (place.schema,)).fetchall()
        with place.store("chief") as store:
            for role in ("chief", "triptych"):
                with pytest.raises(LoginRefused, match="nothing there can be kept from it"):
                    let_rate(store, role)
        assert raw.execute(rights, (place.schema,)).fetchall() == before


@pytest.mark.parametrize(
    "hold",
    [
        "SELECT pg_advisory_xact_lock({key})",
        "SELECT pg_advisory_lock({key})",
        "INSERT INTO rater (name, created_utc) VALUES ('Mal', 'now')",
    ],
)
def test_who_keeps_everybody_from_answering_is_named_to_the_coordinator(place, hold, monkeypatch):
    monkeypatch.setattr("db.server.HELD_UP_S", 0.01)
    monkeypatch.setattr("db.server.LOCK_TIMEOUT_MS", 100)
    at = server_place(place.url("chief"))
    with place.raw("mallory") as raw, place.store("chief") as chief, place.store("anna") as anna:
        raw.execute("BEGIN")
        raw.execute(hold.format(key=at._key))
        with pytest.raises(StoreLocked, match="names the login that holds it up"):
            ratings.add_rating(anna, rating("Ann", "sitting-of-anna", 2))
        (told,) = [told for told in chief.remarks() if "everybody" in told]
        assert told.startswith("The login mallory keeps everybody from answering")
        assert f"pg_terminate_backend({raw.info.backend_pid})" in told
        assert not any("mallory" in told for told in anna.remarks())
        raw.execute("ROLLBACK")
        raw.execute("SELECT pg_advisory_unlock_all()")
        assert not any("everybody" in told for told in chief.remarks())
        ratings.add_rating(anna, rating("Ann", "sitting-of-anna", 2))


def test_a_login_that_may_have_no_further_connection_is_no_wrong_password(place):
    with place.raw("triptych") as raw, place.raw("mallory"):
        raw.execute("ALTER ROLE mallory CONNECTION LIMIT 1")
        try:
            with pytest.raises(ServerGone, match="takes no further connection"):
                place.store("mallory")
        finally:
            raw.execute("ALTER ROLE mallory CONNECTION LIMIT -1")


@pytest.mark.parametrize(
    "said",
    [
        "FATAL:  remaining connection slots are reserved for non-replication superuser connections",
        "FATAL:  sorry, too many clients already",
    ],
)
def test_a_server_without_a_free_connection_says_so(said):
    leaf = leaf_for_server(psycopg.OperationalError(f"connection failed: {said}"), "there")
    assert "takes no further connection" in str(leaf)


@pytest.mark.parametrize(
    "name", ["M\x1b[2Jal", "Mal\n", "\u202elaM", "M\x9bal", "M" * 201, "M\x7fal"]
)
def test_a_name_that_steers_a_terminal_or_has_no_end_is_refused(place, name):
    with place.raw("mallory") as raw:
        with pytest.raises(DENIED, match=r"^no name"):
            raw.execute("INSERT INTO rater (name, created_utc) VALUES (%s, 'now')", (name,))
        raw.execute("INSERT INTO rater (name, created_utc) VALUES ('大-Łuk (ä] ^b', 'now')")


def test_a_time_that_is_none_is_not_shown_among_the_clocks():
    row = dict.fromkeys(chain.NAMES)
    row.update(number=1, action="pause", rater="Mal", previous="", hash="")
    times = ["2026-01-31T12:00:00.000Z", "\x1b[2J prefer the left", "2026-01-30T12:00:00.000Z"]
    (told,) = chain.clock_remarks([chain.EntryRow(**{**row, "at_utc": time}) for time in times])
    assert "2026-01-30" in told
    assert "\x1b" not in told


def test_a_second_schema_of_the_readers_group_is_refused_although_the_owner_is_one_of_them(place):
    own = f"{place.schema}_own"
    with place.raw("triptych") as raw, place.store("chief") as store:
        raw.execute("GRANT crowd TO chief")
        try:
            let_rate(store, "crowd")  # the coordinator may belong to the readers
            raw.execute(f"ALTER SCHEMA {own} OWNER TO crowd")
            with pytest.raises(LoginRefused, match="belongs to another login"):
                let_rate(store, "crowd")
        finally:
            raw.execute("REVOKE crowd FROM chief")


def test_nobody_waits_while_a_large_entry_is_written_out(place):
    with place.raw("chief") as raw:
        (source,) = raw.execute(
            "SELECT prosrc FROM pg_proc WHERE proname = 'add_entry' "
            "AND pronamespace = %s::regnamespace",
            (f"{place.schema}_own",),
        ).fetchone()
    assert 0 < source.index("plain_json") < source.index("FOR UPDATE")
