"""What a reader's login sees of a study on a server: its own rows, through functions alone.

Owns a second schema beside the study's: which login took which name, functions that hand out the
rows of the asking login (``session_user``, which no ``SET ROLE`` changes), views under the names
of the tables, and triggers that take new rows in. Refuses a row under a name of another login, an
entry that is not the next one or does not have its hash, and to let a reader's condition be tried
on a row of another: the tables themselves are closed, since conditions that PostgreSQL trusts are
tried before those of row security, where times and ``EXPLAIN`` tell what they met. Row security
lies on the tables all the same, for the day when somebody grants them by mistake. It is not
forced: the functions and the coordinator's backup act as the owner. What the server tells every
login remains: who is connected, whose turn it is to write, how large a table is.
"""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection, Table, text

from db.errors import LoginRefused
from db.schema import entry, presentation, rater, session
from db.server_hash import FUNCTIONS, LARGEST, content_of_new

LONGEST = 63  # letters of a name in PostgreSQL
LONGEST_NAME = 200  # of a rater, who is named to the coordinator; the program takes fewer
RATERS_ACTIONS = ("order", "answer", "undo", "guess", "pause", "resume")
OWN = (rater, presentation, session, entry)
CLOSED = ("pack", "seat", "returned")  # empty in a shared copy, and to stay so for readers
# what readers call, themselves or through the views; a trigger's function is nobody's to call
CALLED = ("my_names", "end_of_log", *(f"my_{table.name}" for table in OWN))
OWNS_COLUMN = {"rater": "name", "presentation": "rater", "session": "rater", "entry": "rater"}

_AS_OWNER = "SECURITY DEFINER SET search_path = pg_catalog, pg_temp"
_NO_RIGHT = "ERRCODE = 'insufficient_privilege'"

# In PL/pgSQL, which plans once for a connection; SQL would plan for each call.
_NAMES = """
CREATE TABLE IF NOT EXISTS {own}.login_of (rater text PRIMARY KEY, login name NOT NULL);
CREATE OR REPLACE FUNCTION {own}.my_names() RETURNS SETOF text LANGUAGE plpgsql STABLE {as_owner}
  AS $$ BEGIN
  RETURN QUERY SELECT l.rater FROM {own}.login_of l WHERE l.login = session_user; END $$;
CREATE OR REPLACE FUNCTION {own}.is_mine(name text) RETURNS boolean
  LANGUAGE plpgsql STABLE {as_owner} AS $$ BEGIN
  RETURN EXISTS (SELECT FROM {own}.login_of l WHERE l.rater = name AND l.login = session_user);
  END $$
"""

_ROWS = """
CREATE OR REPLACE FUNCTION {own}.my_{table}() RETURNS SETOF {main}.{table}
  LANGUAGE plpgsql STABLE {as_owner} AS $$ BEGIN
  RETURN QUERY SELECT t.* FROM {own}.login_of l JOIN {main}.{table} t ON t.{column} = l.rater
    WHERE l.login = session_user {more}; END $$;
CREATE OR REPLACE VIEW {own}.{table} AS SELECT * FROM {own}.my_{table}()
"""

# everybody learns that the study was closed
_AND_CLOSED = """
  UNION ALL SELECT t.* FROM {main}.head h JOIN {main}.entry t ON t.number = h.entries
    WHERE t.action = 'unblind'"""

# Nothing of the last entry but its number and hash, and not even those of a log that was cut. The
# hash tells nothing: what it is of holds the long random name of another's session.
_END = """
CREATE OR REPLACE FUNCTION {own}.end_of_log() RETURNS SETOF {main}.head
  LANGUAGE plpgsql STABLE {as_owner} AS $$ BEGIN
  RETURN QUERY SELECT h.* FROM {main}.head h
    WHERE h.entries = coalesce((SELECT max(e.number) FROM {main}.entry e), 0)
      AND (h.entries = 0 OR EXISTS (
        SELECT FROM {main}.entry e WHERE e.number = h.entries AND e.hash = h.hash)); END $$;
CREATE OR REPLACE VIEW {own}.head AS SELECT * FROM {own}.end_of_log()
"""

_TRIGGER = """
CREATE OR REPLACE FUNCTION {own}.add_{table}() RETURNS trigger LANGUAGE plpgsql {as_owner} AS $$
DECLARE last {main}.head; content text;
BEGIN
  -- put on a table of a reader's making, it would run that reader's casts as the owner
  IF TG_RELID <> '{own}.{table}'::regclass THEN
    RAISE EXCEPTION 'not the table of this trigger' USING {no_right};
  END IF;
  IF octet_length(NEW::text) > 4 * {largest} THEN  -- before much is made of it
    RAISE EXCEPTION 'too much' USING {no_right};
  END IF;
  {check}
  INSERT INTO {main}.{table} ({columns}) VALUES ({values});
  {then}
  RETURN NEW;
END $$;
DROP TRIGGER IF EXISTS add_{table} ON {own}.{table};
CREATE TRIGGER add_{table} INSTEAD OF INSERT ON {own}.{table}
  FOR EACH ROW EXECUTE FUNCTION {own}.add_{table}()
"""

_NOT_MINE = """
  IF NOT {own}.is_mine(NEW.rater) THEN
    RAISE EXCEPTION 'not a name of this login' USING {no_right};
  END IF;"""

# what steers a terminal or turns the writing round; no backslash, which not every server takes
_RANGES = ((1, 31), (127, 159), (0x202A, 0x202E), (0x2066, 0x2069))
_STEERING = "('[' || {} || ']')".format(
    " || ".join(f"chr({first}) || '-' || chr({last})" for first, last in _RANGES)
)
_FOLDED = "translate(lower(normalize({name}, NFKC)), chr(8204) || chr(8205), '')"
_CHECKS = {
    # a name in other capitals, or with joiners that nobody sees, is the same person's
    "rater": """
  PERFORM FROM {main}.head FOR UPDATE;
  IF length(NEW.name) > {longest_name} OR NEW.name ~ {steering} THEN
    RAISE EXCEPTION 'no name' USING {no_right};
  END IF;
  IF EXISTS (SELECT FROM {main}.entry e JOIN {main}.head h ON h.entries = e.number
    WHERE e.action = 'unblind') THEN RAISE EXCEPTION 'the study is closed' USING {no_right}; END IF;
  IF EXISTS (
    SELECT FROM (SELECT r.name FROM {main}.rater r UNION SELECT l.rater FROM {own}.login_of l) n
      WHERE {folded_known} = {folded_new}
        AND NOT (n.name = NEW.name AND {own}.is_mine(n.name))
  ) THEN RAISE EXCEPTION 'a name of another login' USING ERRCODE = 'unique_violation'; END IF;
  INSERT INTO {own}.login_of VALUES (NEW.name, session_user) ON CONFLICT DO NOTHING;""",
    "presentation": _NOT_MINE
    + """
  IF EXISTS (SELECT FROM {main}.entry e WHERE e.rater = NEW.rater AND e.action = 'order') THEN
    RAISE EXCEPTION 'the order is drawn' USING {no_right};
  END IF;""",
    "session": _NOT_MINE,
    "entry": _NOT_MINE
    + """
  IF (NEW.action IN ({actions})) IS NOT TRUE OR NOT EXISTS (
    SELECT FROM {main}.rater r WHERE r.name = NEW.rater
  ) OR (NEW.action = 'order') = EXISTS (
    SELECT FROM {main}.entry e WHERE e.rater = NEW.rater AND e.action = 'order'
  ) OR NEW.action <> 'order' AND NOT EXISTS (
    SELECT FROM {main}.session s WHERE s.session_id = NEW.session_id AND s.rater = NEW.rater
  ) OR NEW.action IN ('answer', 'undo', 'guess') AND NOT EXISTS (
    SELECT FROM {main}.presentation p WHERE p.rater = NEW.rater AND p.position = NEW.position
      AND p.item_id = NEW.item_id AND p.kind = NEW.kind
  ) THEN RAISE EXCEPTION 'no entry of a rater' USING {no_right}; END IF;
  content := {content};  -- however long it takes, nobody waits
  PERFORM FROM {main}.head FOR UPDATE;
  SELECT * INTO last FROM {own}.end_of_log();
  IF EXISTS (SELECT FROM {main}.entry e WHERE e.number = last.entries AND e.action = 'unblind')
    THEN RAISE EXCEPTION 'the study is closed' USING {no_right}; END IF;
  IF (NEW.number = last.entries + 1 AND NEW.previous = last.hash) IS NOT TRUE THEN
    RAISE EXCEPTION 'not the next entry' USING ERRCODE = 'serialization_failure';
  END IF;
  IF octet_length(content) > {largest} OR json_typeof(NEW.usefulness) <> 'object'
    OR json_typeof(NEW.viewer_state) <> 'object'
    OR (NEW.hash = encode(sha256(convert_to(content, 'UTF8')), 'hex')) IS NOT TRUE
  THEN RAISE EXCEPTION 'not an entry as it is hashed' USING {no_right}; END IF;""",
}
# How far the server's own log has grown is told to everybody; what is added by lot hides how long
# the words of an answer are.
_THEN = {
    "entry": """
  UPDATE {main}.head SET entries = NEW.number, hash = NEW.hash;
  PERFORM pg_logical_emit_message(true, 'triptych', repeat('-', (random() * 4096)::integer));""",
}

_SECOND_LOCK = """
ALTER TABLE {main}.{table} ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own_rows ON {main}.{table}
"""
_POLICY = """
CREATE POLICY own_rows ON {main}.{table} FOR SELECT
  USING ({column} = ANY (ARRAY(SELECT {own}.my_names())))
"""

# what a version before put there, when readers wrote into the tables themselves
_EARLIER = """
DROP TRIGGER IF EXISTS guard_head ON {main}.head;
DROP TRIGGER IF EXISTS guard_entry ON {main}.entry;
DROP FUNCTION IF EXISTS {main}.guard_head();
DROP FUNCTION IF EXISTS {main}.guard_entry()
"""


def own_schema(schema: str) -> str:
    """Where a study's readers find their own rows."""
    if len(schema) + len("_own") <= LONGEST:
        return f"{schema}_own"
    return f"{schema[:42]}_{hashlib.sha256(schema.encode()).hexdigest()[:16]}_own"


def make_own_rows(connection: Connection, schema: str) -> None:
    """Make what readers see, or bring it to this version's; nothing that was read is changed.

    Args:
        connection: a writing transaction of the study's owner.
        schema: the study's.

    Raises:
        LoginRefused: somebody else has taken the second schema's name.
    """
    own = own_schema(schema)
    connection.exec_driver_sql(f'CREATE SCHEMA IF NOT EXISTS "{own}"')
    query = text(
        "SELECT pg_catalog.pg_has_role(own.nspowner, main.nspowner, 'USAGE') "
        "FROM pg_catalog.pg_namespace own, pg_catalog.pg_namespace main "
        "WHERE own.nspname = :own AND main.nspname = :main"
    )
    # not one of a group that the owner merely belongs to, as its readers may: they could make
    # the tables there before
    if not connection.execute(query, {"own": own, "main": schema}).scalar():
        raise LoginRefused(
            f"The schema {own} on the server belongs to another login, so readers are given no "
            "rights. Ask the server's administrator to remove it."
        )
    names = {"main": f'"{schema}"', "own": f'"{own}"', "as_owner": _AS_OWNER, "no_right": _NO_RIGHT}
    for statement in _statements(names):
        connection.exec_driver_sql(statement)


def _statements(names: dict[str, str]) -> list[str]:
    first = (_EARLIER, _NAMES, FUNCTIONS, _END)
    found = [statements.format(**names) for statements in first]
    for table in OWN:
        column = OWNS_COLUMN[table.name]
        more = _AND_CLOSED.format(**names) if table is entry else ""
        found.append(_ROWS.format(table=table.name, column=column, more=more, **names))
        found.append(_trigger(table, names))
        found.append(_SECOND_LOCK.format(table=table.name, **names))
        found.append(_POLICY.format(table=table.name, column=column, **names))
    found += [_SECOND_LOCK.format(table=table, **names) for table in CLOSED]
    return found


def _trigger(table: Table, names: dict[str, str]) -> str:
    actions = ", ".join(f"'{action}'" for action in RATERS_ACTIONS)
    columns = [f'"{column.name}"' for column in table.columns]
    return _TRIGGER.format(
        table=table.name,
        check=_CHECKS[table.name].format(
            actions=actions,
            content=content_of_new(names["own"]),
            largest=LARGEST,
            longest_name=LONGEST_NAME,
            steering=_STEERING,
            folded_known=_FOLDED.format(name="n.name"),
            folded_new=_FOLDED.format(name="NEW.name"),
            **names,
        ),
        columns=", ".join(columns),
        values=", ".join(f"NEW.{column}" for column in columns),
        then=_THEN.get(table.name, "").format(**names),
        largest=LARGEST,
        **names,
    )
