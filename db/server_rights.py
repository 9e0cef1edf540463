"""What raters may do in a study on a server: read it, sit down, act. Nothing else.

Owns the list of rights. A role that has only these can neither change nor remove an entry, nor
take away the triggers that forbid it, nor hand out packs. Refuses a role that the server lacks.
"""

from __future__ import annotations

from sqlalchemy import text

from db.errors import LoginRefused
from db.session import Store

ADDED_TO = ("rater", "presentation", "session", "entry")


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
