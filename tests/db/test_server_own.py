"""Readers of one study on a server, as hostile as psycopg lets them be, learn of nobody else."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

psycopg = pytest.importorskip("psycopg")

from db import ratings, study_items  # noqa: E402
from db.errors import AnsweredAlready, LoginRefused, NotWritable, RatingRefused  # noqa: E402
from db.server_own import own_schema  # noqa: E402
from db.server_rights import let_rate, logins_of  # noqa: E402
from db.session import open_study_store  # noqa: E402
from tests.db.hostile_readers import (  # noqa: E402
    SECRET,
    Department,
    department,
    rating,
    read_by_two,
    sit,
)
from tests.db.studies import on_server, small_study  # noqa: E402
from tests.postgres import Server  # noqa: E402

DENIED = psycopg.errors.InsufficientPrivilege
# only of Bert's: what no catalogue, plan, message or row may hold where another login looks
OF_BERT = (SECRET, "sitting-of-bert")
TABLES = ("entry", "head", "presentation", "rater", "session")


@pytest.fixture(scope="module")
def place(server: Server) -> Department:
    """Two have read; the owner has gathered statistics of every table since."""
    made = department(server)
    read_by_two(made)
    with made.raw("chief") as raw:
        for table in TABLES:
            raw.execute(f"ANALYZE {made.schema}.{table}")
    return made


def told(raw, words: tuple[str, ...]) -> set[str]:
    """Which words stand in any relation or function without arguments that this login may read."""
    found = raw.execute(
        "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n "
        "ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'm', 'p', 't') "
        "AND n.nspname <> 'information_schema' "  # views of the same catalogues, and slow
        "AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') "
        "UNION ALL SELECT format('%I.%I()', n.nspname, p.proname) FROM pg_proc p "
        "JOIN pg_namespace n ON n.oid = p.pronamespace "
        "WHERE n.nspname LIKE 'study%' AND p.pronargs = 0 "
        "AND p.prorettype <> 'trigger'::regtype AND has_function_privilege(p.oid, 'EXECUTE')"
    ).fetchall()
    seen = []
    for (source,) in found:
        try:
            seen.append(str(raw.execute(f"SELECT x::text FROM {source} x").fetchall()))
        except psycopg.Error as error:  # columns of it are closed to this login
            seen.append(str(error))
    return {word for word in words for text in seen if word in text}


def test_each_reads_own_rows_and_the_coordinator_the_whole_chain(place):
    for login, name in (("anna", "Ann"), ("bert", "Bob")):
        with place.store(login) as store:
            assert store.own_rows
            assert [row.action for row in ratings.entries(store)] == ["order", "answer"]
            assert {row.rater for row in ratings.entries(store)} == {name}
            assert [row.name for row in study_items.raters(store)] == [name]
            assert {row.rater for row in study_items.presentations(store)} == {name}
            assert ratings.check_chain(store) == ()
            assert len(study_items.items(store)) == 2
    with place.store("chief") as store:
        assert not store.own_rows
        assert [row.rater for row in ratings.entries(store)] == ["Ann", "Ann", "Bob", "Bob"]
        assert ratings.check_chain(store) == ()
        assert logins_of(store) == {"Ann": "anna", "Bob": "bert"}
    with place.store("mallory") as store:
        assert (ratings.entries(store), study_items.raters(store)) == ((), ())
        assert ratings.check_chain(store) == ()


def test_nothing_in_the_database_tells_a_reader_what_another_did(place):
    with place.raw("bert") as raw:
        assert told(raw, OF_BERT) == set(OF_BERT)  # the walk sees what is there
    for login in ("anna", "mallory"):
        with place.raw(login) as raw:
            assert told(raw, (*OF_BERT, "Bob")) == set()
            (end,) = raw.execute("SELECT head::text FROM head").fetchone()
            assert re.fullmatch(r"\(1,\d+,[0-9a-f]{64}\)", end)


@pytest.mark.parametrize("table", TABLES)
def test_the_tables_themselves_are_closed(place, table):
    name = f"{place.schema}.{table}"
    with place.raw("mallory") as raw:
        for statement in (
            f"SELECT FROM {name}",
            f"SELECT count(*) FROM {name} TABLESAMPLE BERNOULLI (100)",
            f"SELECT ctid, xmin FROM {name}",
            f"EXPLAIN ANALYZE SELECT * FROM {name}",
            f"COPY {name} TO STDOUT",
            f"COPY {name} FROM STDIN",
            f"UPDATE {name} SET {'hash' if table == 'head' else 'rater'} = 'x'",
            f"DELETE FROM {name}",
            f"TRUNCATE {name} CASCADE",
            f"INSERT INTO {name} DEFAULT VALUES",
            f"INSERT INTO {name} DEFAULT VALUES ON CONFLICT DO NOTHING",
            f"DO $$ BEGIN LOCK TABLE {name}; END $$",
            f"ANALYZE {name}; SELECT * FROM {name}",
            f"ALTER TABLE {name} DISABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {name} DISABLE TRIGGER ALL",
            f"CREATE TRIGGER t BEFORE INSERT ON {name} FOR EACH ROW "
            "EXECUTE FUNCTION suppress_redundant_updates_trigger()",
            f"CREATE RULE r AS ON INSERT TO {name} DO ALSO NOTHING",
            f"CREATE TEMP TABLE mine (LIKE {name}, FOREIGN KEY (rater) REFERENCES {name})",
            f"CREATE STATISTICS s ON rater, kind FROM {name}",
            f"GRANT SELECT ON {name} TO mallory",
            f"DROP VIEW {place.schema}_own.{table}",
            f"CREATE OR REPLACE VIEW {place.schema}_own.{table} AS SELECT 1",
            f"SELECT * FROM {place.schema}_own.login_of",
            f"INSERT INTO {place.schema}_own.login_of VALUES ('Bob', 'mallory')",
            f"UPDATE {place.schema}_own.{table} SET rater = 'x'",
            f"DELETE FROM {place.schema}_own.{table}",
            f"CREATE TABLE {place.schema}_own.new (x int)",
            f"CREATE TABLE {place.schema}.new (x int)",
        ):
            with pytest.raises(psycopg.Error) as caught:
                raw.execute(statement)
            # a view that takes no changes says so before it asks who wants one
            assert caught.value.sqlstate in ("42501", "55000", "42830", "42703"), statement
            assert not any(word in str(caught.value) for word in (*OF_BERT, "Bob"))


def test_the_owners_functions_and_settings_are_closed(place):
    own = f"{place.schema}_own"
    with place.raw("mallory") as raw:
        for statement in (
            f"CREATE OR REPLACE FUNCTION {own}.my_names() RETURNS SETOF text LANGUAGE sql AS "
            "$$ SELECT 'Bob' $$",
            f"ALTER FUNCTION {own}.my_entry() RESET ALL",
            f"ALTER FUNCTION {own}.my_entry() SECURITY INVOKER",
            f"DROP POLICY own_rows ON {place.schema}.entry",
            f"ALTER VIEW {own}.entry OWNER TO mallory",
            "SET ROLE chief",
            "SET ROLE bert",
            "SET SESSION AUTHORIZATION bert",
            "SET session_authorization = 'chief'",
            "SET track_functions = 'all'",
            "CREATE FUNCTION pg_temp.f(text) RETURNS bool LANGUAGE sql LEAKPROOF "
            "AS $$ SELECT true $$",
            "COPY (SELECT 1) TO PROGRAM 'cat'",
            "SELECT pg_read_file('PG_VERSION')",
        ):
            with pytest.raises(psycopg.Error) as caught:
                raw.execute(statement)
            assert caught.value.sqlstate in ("42501", "22023"), statement
        raw.execute("SET ROLE crowd")  # what it may; the login stays who logged in
        assert raw.execute("SELECT count(*) FROM entry").fetchone() == (0,)
        assert raw.execute(f"SELECT count(*) FROM {own}.my_names()").fetchone() == (0,)


def test_plans_and_times_of_a_readers_conditions_touch_own_rows_alone(place):
    with place.raw("anna") as raw:
        plans = set()
        for answer in ("left", "right", "never given"):
            rows = raw.execute(
                "EXPLAIN (ANALYZE, VERBOSE, TIMING OFF, SUMMARY OFF) SELECT * FROM entry "
                f"WHERE rater = 'Bob' AND position = 1 AND answer = '{answer}'"
            ).fetchall()
            plan = "\n".join(line for (line,) in rows)
            assert "Function Scan on" in plan
            assert "Rows Removed by Filter: 2" in plan  # Ann's two
            assert f"{place.schema}.entry" not in plan
            plans.add(plan.replace(answer, "?"))
        assert len(plans) == 1


def test_the_growth_of_the_server_s_own_log_does_not_tell_how_long_an_answer_is(server):
    made = department(server)
    grown = []
    with made.store("bert") as store, made.raw("mallory") as raw:
        sit(store, "Bob", session_id="b")
        for _ in range(8):
            (before,) = raw.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
            ratings.add_rating(store, rating("Bob", "b"))
            (size,) = raw.execute(
                "SELECT pg_current_wal_insert_lsn() - %s::pg_lsn", (before,)
            ).fetchone()
            grown.append(int(size))
            ratings.undo(store, rater="Bob", session_id="b", position=1)
    assert max(grown) - min(grown) > 64


def test_leaky_functions_and_operators_are_shown_own_rows_alone(place):
    with place.raw("anna") as raw:
        heard: list[str] = []
        raw.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
        raw.execute(
            "CREATE FUNCTION pg_temp.leak(text, text) RETURNS bool LANGUAGE plpgsql COST 0.0001 "
            "AS $$ BEGIN RAISE NOTICE '% %', $1, $2; RETURN true; END $$"
        )
        raw.execute(
            "CREATE OPERATOR pg_temp.<<< (FUNCTION = pg_temp.leak, LEFTARG = text, "
            "RIGHTARG = text, RESTRICT = eqsel)"
        )
        for table in ("entry", "rater", "presentation", "session"):
            raw.execute(f"SELECT * FROM {table} x WHERE x::text OPERATOR(pg_temp.<<<) ''")
            raw.execute(
                f"SELECT 1 / (CASE WHEN pg_temp.leak(x::text, '') THEN 1 END) FROM {table} x"
            )
        assert any("Ann" in line for line in heard)
        assert not any(word in line for line in heard for word in (*OF_BERT, "Bob"))


def test_a_search_path_of_ones_own_changes_nothing(place):
    with place.raw("anna") as raw:
        raw.execute("CREATE TEMP TABLE login_of (rater text, login name)")
        raw.execute("INSERT INTO login_of VALUES ('Bob', 'anna')")
        raw.execute("CREATE TEMP TABLE entry_ AS SELECT * FROM entry")
        raw.execute("CREATE FUNCTION pg_temp.eq(name, name) RETURNS bool LANGUAGE sql "
                    "AS $$ SELECT true $$")  # fmt: skip
        raw.execute("CREATE OPERATOR pg_temp.= (FUNCTION = pg_temp.eq, LEFTARG = name, "
                    "RIGHTARG = name)")  # fmt: skip
        raw.execute("CREATE FUNCTION pg_temp.lower(text) RETURNS text LANGUAGE sql "
                    "AS $$ SELECT random()::text $$")  # fmt: skip
        raw.execute(f"SET search_path TO pg_temp, {place.schema}_own, {place.schema}, pg_catalog")
        raw.execute("SET row_security = off")
        rows = raw.execute(f"SELECT rater FROM {place.schema}_own.entry").fetchall()
        assert set(rows) == {("Ann",)}
        for name in ("Bob", "BOB", "bob", "Ｂob"):
            with pytest.raises(psycopg.errors.UniqueViolation) as caught:
                raw.execute(
                    f"INSERT INTO {place.schema}_own.rater (name, created_utc) VALUES (%s, '')",
                    (name,),
                )
            assert str(caught.value).startswith("a name of another login\nCONTEXT")


ENTRY = (
    "INSERT INTO entry (number, action, at_utc, rater, session_id, position, item_id, kind, "
    "answer, previous, hash) SELECT entries + {step}, '{action}', 'now', '{rater}', '{sitting}', "
    "{position}, '{item}', 'item', 'left', {previous}, 'h' FROM head"
)
PLAIN = {"step": 1, "action": "answer", "rater": "Ann", "sitting": "sitting-of-anna",
         "position": 2, "item": "i1", "previous": "hash"}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"rater": "Bob"}, DENIED),
        ({"rater": "Bob", "sitting": "sitting-of-bert"}, DENIED),
        ({"rater": "Nobody"}, DENIED),
        ({"sitting": "sitting-of-bert"}, DENIED),
        ({"sitting": ""}, DENIED),
        ({"action": "order"}, DENIED),  # a second one
        ({"action": "unblind"}, DENIED),
        ({"action": "merge"}, DENIED),
        ({"action": "pack"}, DENIED),
        ({"position": 7}, DENIED),
        ({"item": "i2"}, DENIED),
        ({"step": 2}, psycopg.errors.SerializationFailure),
        ({"step": 0}, psycopg.errors.SerializationFailure),
        ({"previous": "'x'"}, psycopg.errors.SerializationFailure),
        ({}, DENIED),  # a hash that is not its own
    ],
)
def test_an_entry_is_ones_own_and_the_next_one(place, change, error):
    with place.raw("anna") as raw:
        with pytest.raises(error) as caught:
            raw.execute(ENTRY.format(**{**PLAIN, **change}))
        assert not any(word in str(caught.value) for word in OF_BERT)
    with place.store("chief") as store:
        assert ratings.check_chain(store) == ()


@pytest.mark.parametrize("name", ["Bob", "Nobody"])
def test_what_is_refused_under_anothers_name_sounds_as_for_one_that_is_not_there(place, name):
    statements = (
        f"INSERT INTO session VALUES ('se', '{name}', 'now', '0')",
        f"INSERT INTO presentation VALUES ('{name}', 1, 'i1', 'item', false)",
        ENTRY.format(**{**PLAIN, "rater": name}),
    )
    with place.raw("anna") as raw:
        for statement in statements:
            with pytest.raises(DENIED, match=r"^not a name of this login\nCONTEXT"):
                raw.execute(statement)
        with pytest.raises(DENIED, match="the order is drawn"):
            raw.execute("INSERT INTO presentation VALUES ('Ann', 3, 'i1', 'item', false)")


def test_a_name_that_is_taken_is_refused_in_words_and_another_window_goes_on(server):
    made = department(server)
    read_by_two(made)
    with made.store("mallory") as store, made.store("bert") as again:
        for name in ("Bob", "BOB"):
            with pytest.raises(RatingRefused, match="another login of the server"):
                sit(store, name, session_id="m")
        with pytest.raises(NotWritable):
            study_items.start_session(store, "m", "Bob", "0")
        study_items.start_session(again, "window-2", "Bob", "0")
        ratings.undo(again, rater="Bob", session_id="window-2", position=1)
        ratings.add_rating(again, rating("Bob", "window-2"))
        with pytest.raises(AnsweredAlready):
            ratings.add_rating(again, rating("Bob", "window-2"))
    with made.store("chief") as store:
        assert ratings.check_chain(store) == ()
        ratings.add_unblinding(store, reason="closed", software="0")
    with made.store("bert") as store:
        with pytest.raises(RatingRefused, match="was unblinded"):
            ratings.add_rating(store, rating("Bob", "window-2", 2))
        assert ratings.unblinding(store) is not None
        assert ratings.check_chain(store) == ()


def test_a_log_that_was_cut_takes_nothing_more(server):
    made = department(server)
    read_by_two(made)
    with made.raw("chief") as raw:
        raw.execute(f"ALTER TABLE {made.schema}.entry DISABLE TRIGGER USER")
        raw.execute(f"DELETE FROM {made.schema}.entry WHERE number = 4")
    with made.store("anna") as store:
        with pytest.raises(RatingRefused, match="was altered"):
            ratings.add_rating(store, rating("Ann", "sitting-of-anna", 2))
        assert any("cut or added" in fault for fault in ratings.check_chain(store))
    with made.raw("anna") as raw, pytest.raises(psycopg.errors.SerializationFailure):
        raw.execute(ENTRY.format(**PLAIN).replace("FROM head", "").replace("entries", "4")
                    .replace(", hash, 'h'", ", 'x', 'h'"))  # fmt: skip


def test_an_altered_entry_of_ones_own_is_seen(server):
    made = department(server)
    read_by_two(made)
    with made.raw("chief") as raw:
        raw.execute(f"ALTER TABLE {made.schema}.entry DISABLE TRIGGER USER")
        raw.execute(f"UPDATE {made.schema}.entry SET answer = 'right' WHERE rater = 'Ann'")
        raw.execute(f"UPDATE {made.schema}.entry SET previous = 'x' WHERE number = 4")
    for login, words in (("anna", "Entry 1 of the log was altered"), ("bert", "does not follow")):
        with made.store(login) as store:
            assert any(words in fault for fault in ratings.check_chain(store))


def test_rights_given_by_mistake_meet_a_second_lock_and_are_taken_away_again(server):
    made = department(server)
    read_by_two(made)
    counts = f"SELECT count(*), count(*) FILTER (WHERE rater = 'Ann') FROM {made.schema}.entry"
    with made.raw("chief") as chief, made.raw("anna") as anna, made.raw("mallory") as mallory:
        for schema in (made.schema, f"{made.schema}_own"):
            chief.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO anna")
            chief.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO PUBLIC")
        assert anna.execute(counts).fetchone() == (2, 2)
        assert anna.execute(f"DELETE FROM {made.schema}.entry").rowcount == 0
        assert anna.execute(f"DELETE FROM {made.schema}.rater").rowcount == 0
        with pytest.raises(DENIED, match="row-level security"):
            anna.execute(f"INSERT INTO {made.schema}.entry SELECT * FROM entry LIMIT 1")
        with made.store("chief") as store:
            let_rate(store, "crowd")
        for raw in (anna, mallory):
            for table in ("entry", "rater", "head"):
                with pytest.raises(DENIED):
                    raw.execute(f"SELECT FROM {made.schema}.{table}")
            with pytest.raises(DENIED):
                raw.execute(f"SELECT FROM {made.schema}_own.login_of")
    with made.store("anna") as store:
        ratings.add_rating(store, rating("Ann", "sitting-of-anna", 2))


def test_one_login_of_all_works_and_hides_nothing(server):
    made = department(server)
    with closing(on_server(server.study(), autocommit=True)) as raw:
        raw.execute("CREATE ROLE ward LOGIN")
    with made.store("chief") as store:
        let_rate(store, "ward")
    for name in ("Ann", "Bob"):
        with made.store("ward") as store:
            sit(store, name, session_id=f"of-{name}")
            ratings.add_rating(store, rating(name, f"of-{name}"))
    with made.store("ward") as store:
        assert [row.name for row in study_items.raters(store)] == ["Ann", "Bob"]
        assert len(ratings.ratings(store)) == 2
        assert ratings.check_chain(store) == ()
    with made.store("chief") as store:
        assert set(logins_of(store).values()) == {"ward"}


def test_names_may_be_kept_for_a_login_beforehand_and_given_to_another(server):
    made = department(server)
    with made.store("chief") as store:
        let_rate(store, "crowd", {"Ann": "anna"})
        with pytest.raises(LoginRefused, match="has no role nobody"):
            let_rate(store, "crowd", {"Ann": "nobody"})
    with made.store("mallory") as store, pytest.raises(RatingRefused, match="another login"):
        sit(store, "ann", session_id="m")
    with made.store("anna") as store:
        with pytest.raises(RatingRefused, match="capitals"):
            sit(store, "ANN", session_id="m")
        sit(store, "Ann", session_id="a")
    with made.store("chief") as store:
        let_rate(store, "crowd", {"Ann": "bert"})
    with made.store("anna") as store:
        assert study_items.raters(store) == ()
    with made.store("bert") as store:
        study_items.start_session(store, "b", "Ann", "0")
        ratings.add_rating(store, rating("Ann", "b"))


EARLIER = """
CREATE FUNCTION guard_head() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE FUNCTION guard_entry() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER guard_head BEFORE UPDATE ON head FOR EACH ROW EXECUTE FUNCTION guard_head();
CREATE CONSTRAINT TRIGGER guard_entry AFTER INSERT ON entry
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION guard_entry();
GRANT USAGE ON SCHEMA {schema} TO crowd;
GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO crowd;
GRANT INSERT ON rater, presentation, session, entry TO crowd;
GRANT UPDATE ON head TO crowd
"""


def test_a_study_shared_by_the_version_before_goes_on_and_is_closed_by_handing_out_again(server):
    department(server)  # its roles
    url = server.study()
    made = Department(server, url.rpartition("=")[2])
    small_study(url).close()
    with closing(on_server(url, autocommit=True)) as raw:
        raw.execute(EARLIER.format(schema=made.schema))
    with made.store("anna") as store:  # as it was
        assert not store.own_rows
        ratings.add_rating(store, ratings.NewRating("ann", "se1", 1, "i2", "item", "left"))
    with open_study_store(url) as store:
        assert logins_of(store) is None
        with pytest.raises(LoginRefused, match=r"ann sat down before .* --login 'ann=LOGIN'"):
            let_rate(store, "crowd")
        let_rate(store, "crowd", {"ann": "anna"})
        let_rate(store, "crowd")  # doing it again changes nothing
    with made.store("anna") as store:
        assert store.own_rows
        ratings.add_rating(store, ratings.NewRating("ann", "se1", 2, "i1", "item", "left"))
        assert [row.position for row in ratings.ratings(store)] == [1, 2]
    with made.store("mallory") as store, pytest.raises(RatingRefused, match="another login"):
        sit(store, "ann", session_id="m")
    with made.raw("mallory") as raw, pytest.raises(DENIED):
        raw.execute(f"SELECT FROM {made.schema}.entry")
    with open_study_store(url) as store:
        ratings.add_unblinding(store, reason="closed", software="0")
        assert ratings.check_chain(store) == ()


def test_a_schema_of_a_stranger_leads_nobody_astray(server):
    made = department(server)
    with closing(on_server(server.study(), autocommit=True)) as raw:
        raw.execute(f"DROP SCHEMA {made.schema}_own CASCADE")
        raw.execute(f"CREATE SCHEMA {made.schema}_own AUTHORIZATION mallory")
    with made.raw("mallory") as raw:
        raw.execute(f"CREATE VIEW {made.schema}_own.entry AS SELECT 1")
        raw.execute(f"GRANT ALL ON SCHEMA {made.schema}_own TO PUBLIC")
    with made.store("anna") as store, store.reading() as connection:
        assert not store.own_rows
        assert connection.exec_driver_sql("SELECT current_schema()").scalar() == made.schema
    with made.store("chief") as store, pytest.raises(LoginRefused, match="another login"):
        let_rate(store, "crowd")


def test_the_name_of_the_second_schema_fits_a_server():
    assert own_schema("study_ab") == "study_ab_own"
    names = {own_schema("s" * 62 + letter) for letter in "ab"}
    assert len(names) == 2
    assert {len(name) for name in names} == {63}
