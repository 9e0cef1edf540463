"""A reader who knows PostgreSQL well neither becomes the owner nor breaks what others wrote."""

from __future__ import annotations

from typing import Any

import pytest

psycopg = pytest.importorskip("psycopg")

from tests.db.hostile_readers import (  # noqa: E402
    SECRET,
    Department,
    department,
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
