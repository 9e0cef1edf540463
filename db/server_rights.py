"""What raters may do in a study on a server: read it, sit down, act. Nothing else.

Owns the list of rights. A role that has only these can neither change nor remove an entry, nor
take away the triggers that forbid it, nor hand out packs, nor end the study, nor leave a log that
nobody can add to. Refuses a role that the server lacks. Members of a role are trusted in this:
each reads what the others answered, and the server does not know which name is whose.
"""

from __future__ import annotations

from sqlalchemy import text

from db.errors import LoginRefused
from db.session import Store

ADDED_TO = ("rater", "presentation", "session", "entry")
RATERS_ACTIONS = ("order", "answer", "undo", "guess", "pause", "resume")
# The end of the log follows the log, one entry at a time, and no transaction leaves it behind.
GUARDS = """
CREATE OR REPLACE FUNCTION {schema}.guard_head() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.one = OLD.one AND NEW.entries = OLD.entries + 1 AND EXISTS (
    SELECT 1 FROM {schema}.entry WHERE number = NEW.entries AND hash = NEW.hash
      AND previous = OLD.hash
  ) THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'not the end of the log' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE OR REPLACE FUNCTION {schema}.guard_entry() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT 1 FROM {schema}.head h JOIN {schema}.entry e ON e.number = h.entries
      AND e.hash = h.hash WHERE h.entries = (SELECT max(number) FROM {schema}.entry))
    AND (NEW.action IN ({actions}) OR pg_catalog.pg_has_role(session_user, (
      SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID), 'USAGE'))
  THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'no entry of a rater' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE OR REPLACE TRIGGER guard_head BEFORE UPDATE ON {schema}.head
  FOR EACH ROW EXECUTE FUNCTION {schema}.guard_head();
DROP TRIGGER IF EXISTS guard_entry ON {schema}.entry;
CREATE CONSTRAINT TRIGGER guard_entry AFTER INSERT ON {schema}.entry
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION {schema}.guard_entry()
"""


def let_rate(store: Store, role: str) -> None:
    """Give a role what its members need for reading a study.

    Args:
        store: a study on a server, opened as its owner.
        role: a person, or a group that the department's raters belong to.

    Raises:
        LoginRefused: the server has no such role.
        StoreError: what the server refuses.
    """
    with store.session() as connection:
        known = text("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = :role")
        if connection.execute(known, {"role": role}).scalar() is None:
            raise LoginRefused(
                f"The server at {store.location} has no role {role}. Its administrator makes one "
                "with CREATE ROLE."
            )
        quote = connection.dialect.identifier_preparer.quote_identifier
        schema = quote(str(connection.execute(text("SELECT current_schema()")).scalar()))
        tables = ", ".join(f"{schema}.{table}" for table in ADDED_TO)
        for right in (
            f"USAGE ON SCHEMA {schema}",
            f"SELECT ON ALL TABLES IN SCHEMA {schema}",
            f"INSERT ON {tables}",
            f"UPDATE ON {schema}.head",
        ):
            connection.exec_driver_sql(f"GRANT {right} TO {quote(role)}")
        actions = ", ".join(f"'{action}'" for action in RATERS_ACTIONS)
        connection.exec_driver_sql(GUARDS.format(schema=schema, actions=actions))
