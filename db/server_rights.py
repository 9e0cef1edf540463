"""What readers may do in a study on a server: read it and their own rows, sit down, act.

Owns the list of rights and whose login goes with which name. A role that has only these can
neither see, change nor remove what others did, nor answer under their names, nor hand out packs,
nor end the study, nor leave a log that nobody can add to; how that is kept is in
``db.server_own``. Refuses a role that the server lacks, and to guess whose an earlier name is.
Readers who share one login are one to the server: each reads what the others answered.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, text

from db.errors import LoginRefused
from db.server_own import CALLED, CLOSED, OWN, make_own_rows, own_schema
from db.session import Store

FOR_ALL = ("study", "item", "medium", "alembic_version", *CLOSED)
_ROLE = text("SELECT rolcanlogin FROM pg_catalog.pg_roles WHERE rolname = :role")
_READERS = text("""
SELECT DISTINCT pg_catalog.pg_get_userbyid(a.grantee)
  FROM pg_catalog.pg_class c, LATERAL pg_catalog.aclexplode(c.relacl) a
  WHERE c.relnamespace = CAST(:main AS regnamespace) AND a.grantee NOT IN (0, c.relowner)
""")


def let_rate(store: Store, role: str, logins: Mapping[str, str] | None = None) -> None:
    """Give a role what its members need for reading a study; doing it again brings it up to date.

    Whoever had any right to the study's tables has these afterwards, and no more.

    Args:
        store: a study on a server, opened as its owner.
        role: a person, or a group that the department's readers belong to.
        logins: name of a reader to the login that alone may use it, over what was so before.

    Raises:
        LoginRefused: the server has no such role or login, or names were taken before the server
            knew logins and it is not said whose they are, or the role acts as the study's owner.
        StoreError: what the server refuses.
    """
    with store.session() as connection:
        for name in (role, *(logins or {}).values()):
            _refuse_unknown(connection, store, name)
        schema = _schema_of(connection)
        _refuse_owners(connection, store, role)
        make_own_rows(connection, schema)
        _bind(connection, schema, role, logins or {})
        quote = connection.dialect.identifier_preparer.quote_identifier
        known = connection.execute(_READERS, {"main": quote(schema)}).scalars()
        for reader in sorted({role, *known}):
            for statement in _rights(quote(schema), quote(own_schema(schema)), quote(reader)):
                connection.exec_driver_sql(statement)


def logins_of(store: Store) -> dict[str, str] | None:
    """Name of a reader to the login it belongs to, for the study's owner.

    Returns:
        None where all readers use the owner's own login (or it is no study on a server).
    """
    if not store.on_server:
        return None
    with store.reading() as connection:
        schema = _schema_of(connection)
        table = f'"{own_schema(schema)}".login_of'
        there = text("SELECT pg_catalog.to_regclass(:table) IS NOT NULL")
        if not connection.execute(there, {"table": table}).scalar():
            return None
        rows = connection.exec_driver_sql(f"SELECT rater, login FROM {table} ORDER BY rater")
        return {row[0]: row[1] for row in rows}


def has_old_rules(store: Store) -> bool:
    """Whether readers have the rights of a version before, which one of them can get round."""
    if not store.on_server:
        return False
    old = text(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_proc p "
        "JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = :own "
        "AND starts_with(p.proname, 'add_') AND position('TG_RELID' in p.prosrc) = 0)"
    )
    with store.reading() as connection:
        schema = _schema_of(connection)
        return bool(connection.execute(old, {"own": own_schema(schema)}).scalar())


def _schema_of(connection: Connection) -> str:
    """Where the study lies; for its owner, whose names lead nowhere else."""
    return str(connection.execute(text("SELECT current_schema()")).scalar())


def _refuse_unknown(connection: Connection, store: Store, role: str) -> None:
    if connection.execute(_ROLE, {"role": role}).first() is None:
        raise LoginRefused(
            f"The server at {store.location} has no role {role}. Its administrator makes one "
            "with CREATE ROLE."
        )


def _refuse_owners(connection: Connection, store: Store, role: str) -> None:
    """Refuse a role that is, or acts as, the study's owner: nothing can be hidden from it."""
    acts = text(
        "SELECT pg_catalog.pg_has_role(CAST(:role AS name), n.nspowner, 'USAGE') "
        "FROM pg_catalog.pg_namespace n WHERE n.nspname = current_schema()"
    )
    if connection.execute(acts, {"role": role}).scalar():
        raise LoginRefused(
            f"{role} has the rights of the login that shares the study at {store.location}, so "
            "nothing there can be kept from it. Name a role of the readers' own, or none: then "
            "all read with your login."
        )


def _bind(connection: Connection, schema: str, role: str, logins: Mapping[str, str]) -> None:
    """Write down whose the names are, those that were taken before too."""
    table = f'"{own_schema(schema)}".login_of'
    put = text(
        f"INSERT INTO {table} VALUES (:rater, :login) "
        "ON CONFLICT (rater) DO UPDATE SET login = excluded.login"
    )
    for rater, login in logins.items():
        connection.execute(put, {"rater": rater, "login": login})
    loose = f'"{schema}".rater WHERE name NOT IN (SELECT rater FROM {table}) ORDER BY name'
    names = list(connection.exec_driver_sql(f"SELECT name FROM {loose}").scalars())
    if names and not connection.execute(_ROLE, {"role": role}).scalar():
        raise LoginRefused(
            f"{', '.join(names)} sat down before the server knew whose name is whose. Say it for "
            f"each in the terminal: triptych study pack --share URL --role {role} "
            f"--login '{names[0]}=LOGIN'"
        )
    for rater in names:
        connection.execute(put, {"rater": rater, "login": role})


def _rights(schema: str, own: str, reader: str) -> tuple[str, ...]:
    """Everything taken away, then what is needed given."""
    seen = ", ".join(f"{schema}.{table}" for table in FOR_ALL)
    added = ", ".join(f"{own}.{table.name}" for table in OWN)
    called = ", ".join(f"{own}.{function}()" for function in CALLED)
    return (
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM PUBLIC, {reader}",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {own} FROM PUBLIC, {reader}",
        f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {own} FROM PUBLIC, {reader}",
        f"GRANT USAGE ON SCHEMA {schema}, {own} TO {reader}",
        f"GRANT SELECT ON {seen} TO {reader}",
        f"GRANT SELECT, INSERT ON {added} TO {reader}",
        f"GRANT SELECT ON {own}.head TO {reader}",
        f"GRANT EXECUTE ON FUNCTION {called} TO {reader}",
    )
