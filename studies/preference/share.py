"""Puts a study on a PostgreSQL server, so that several raters read it at once.

Owns the copy, whose login may read there, and the address without its password. Refuses to keep
a password anywhere.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from db import packs, study_items
from db.clock import now_utc
from db.errors import RatingRefused, StoreDamaged, StoreError
from db.packs import PackRow
from db.ratings import add_unblinding, unblinding
from db.server_rights import let_rate
from db.session import Store, is_url, open_study_store
from db.study_copy import copy_study
from studies.errors import BadAnswers, BadRequest, BadStudy
from studies.preference.frozen import software_version
from studies.preference.ledger import SHARED, shared_url
from studies.preference.seating import rater_name
from studies.preference.study import open_study

SECRET = ("password", "passfile", "sslpassword", "sslkey")
PRIVATE = (
    "A login is shown its own answers and of the others no more than how many there are; who "
    "watches the server with a database browser sees which login writes at what time, not what. A "
    "name belongs to the login that first sat down under it. Readers who share one login can read "
    "each other's answers, and answer in each other's names, with a database browser; the program "
    "does neither."
)
COMMON = (
    "All readers use this one login, so each can read the others' answers and even change them "
    "with a database browser, not see which model they are for; the program does neither. With a "
    "role of readers and a login for each, nobody can."
)


@dataclass(frozen=True)
class Shared:
    """A study on a server.

    Attributes:
        url: its address without a password; raters open it with ``study open URL``.
        pack_id: under which its answers are merged.
        own_logins: each rater opens it with a login of their own, in place of the coordinator's,
            and is shown nothing of the others.
    """

    url: str
    pack_id: str
    own_logins: bool = False

    @property
    def raters_url(self) -> str:
        """The address as raters type it; LOGIN stands for the login of each."""
        if not self.own_logins:
            return self.url
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit(parts._replace(netloc=f"LOGIN@{host}"))

    @property
    def privacy(self) -> str:
        """What raters can see of each other, as the coordinator is told."""
        return PRIVATE if self.own_logins else COMMON


def share(
    path: Path, url: str, *, role: str = "", logins: Mapping[str, str] | None = None
) -> Shared:
    """Copy a study to a server; the log and the key stay here.

    One that is shared there already gets the rights of this version anew, where a role is named.

    Args:
        path: the coordinator's study folder.
        url: ``postgresql://user@host/database``; a schema of its own is made there. The
            password comes with it, from ``PGPASSWORD`` or from ``~/.pgpass``.
        role: a role of the server whose members may read there and do nothing else; without one
            raters need the coordinator's own.
        logins: a rater's name to the one login that may use it; other names belong to the login
            that first sits down under them.

    Raises:
        BadStudy: a pack, or shared there already.
        BadRequest: not an address of PostgreSQL, or logins without a role.
        RatingRefused: the study is unblinded.
        StoreError: the server refuses.
    """
    if not is_url(url):
        raise BadRequest(f"{plain_url(url)} is no address like postgresql://user@host/database.")
    if logins and not role:
        raise BadRequest("Logins belong to a role: say with --role who may read.")
    names = {rater_name(name): login for name, login in (logins or {}).items()}
    with open_study(path) as study:
        _refuse(study.store)
        known = next((row for row in packs.packs(study.store) if _same(shared_url(row), url)), None)
        if known is None:
            return _share(study.store, url, role, names)
        if not role:
            raise BadStudy(
                f"This study is shared at {shared_url(known)} already. Raters open that address."
            )
        with open_shared(study.store, url) as (target, row):
            let_rate(target, role, names)
        return Shared(shared_url(row), row.pack_id, own_logins=True)


def _share(store: Store, url: str, role: str, logins: Mapping[str, str]) -> Shared:
    pack_id = secrets.token_hex(6)  # a name of its own: what an attempt left behind is in no way
    place = _with_schema(url, f"study_{pack_id}")
    with open_study_store(place, create="create") as target:
        plain = target.location
        _refuse_taken(target, plain)
        if role:
            let_rate(target, role, logins)
        copy_study(store, target, rater=None)
    row = PackRow(pack_id, "", now_utc(), "", f"{SHARED}{plain}")
    packs.add_pack(store, row, software=software_version())
    return Shared(plain, pack_id, own_logins=bool(role))


def logins_of(pairs: Iterable[str]) -> dict[str, str]:
    """Whose login each name belongs to, out of ``NAME=LOGIN`` as people type it.

    Raises:
        BadRequest: one that is no such pair, or a name twice.
        BadStudy: a name of which nothing is left.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        typed, _, login = map(str.strip, pair.rpartition("="))
        if not (typed and login):
            raise BadRequest(f"{pair.strip()} is not of the form NAME=LOGIN.")
        name = rater_name(typed)
        if name in found:
            raise BadRequest(f"{name} is given two logins; give each name one.")
        found[name] = login
    return found


@contextmanager
def open_shared(store: Store, url: str) -> Iterator[tuple[Store, PackRow]]:
    """A shared copy of a study, and what the study knows of it.

    Args:
        store: the coordinator's study.
        url: an address that it was shared at; the name of the schema may be left out. Where the
            server moved or goes by another name, one with that schema.

    Raises:
        BadAnswers: it was not shared there.
        StoreError: the server refuses, or nothing is there any more.
    """
    row = _known(store, url)
    if row is None:
        raise BadAnswers(f"This study was not shared at {plain_url(url)}.")
    with open_study_store(_with_schema(url, _query(shared_url(row))["schema"])) as shared:
        yield shared, row


def close_shared(store: Store) -> tuple[str, ...]:
    """Let shared copies of an unblinded study take no more answers.

    Returns:
        One sentence for each that could not be told; answers given there are not merged anyway.
    """
    remarks = []
    for url in filter(None, map(shared_url, packs.packs(store))):
        try:
            with open_shared(store, url) as (shared, _):
                if unblinding(shared) is None:
                    add_unblinding(shared, reason="closed", software=software_version())
        except StoreError as error:
            remarks.append(
                f"The study shared at {url} could not be closed ({error}) Raters may still answer "
                "there, and what they answer is not merged."
            )
    return tuple(remarks)


def plain_url(place: str) -> str:
    """An address without anything secret in it; other words as they are."""
    if "://" not in place:
        return place
    parts = urlsplit(place)
    user, at, host = parts.netloc.rpartition("@")
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in SECRET]
    name = user.partition(":")[0]
    return urlunsplit(parts._replace(netloc=f"{name}{at}{host}", query=urlencode(query)))


def _query(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))


def _with_schema(url: str, schema: str) -> str:
    query = {"schema": schema, **_query(url)}
    return urlunsplit(urlsplit(url)._replace(query=urlencode(query, quote_via=quote)))


def _known(store: Store, url: str) -> PackRow | None:
    """What a study knows of a share; by its schema alone where the server's address is new."""
    rows = [row for row in packs.packs(store) if shared_url(row)]
    schema = _query(url).get("schema", "")
    here = (row for row in rows if _same(shared_url(row), url))
    moved = (row for row in rows if schema and _query(shared_url(row)).get("schema") == schema)
    return next(here, next(moved, None))


def _same(known: str, url: str) -> bool:
    """Whether two addresses name one place, whoever asks; a schema that is not named fits any."""
    if not known:
        return False
    ours, theirs = _where(known), _where(url)
    schema = theirs.get("schema", ours.get("schema"))
    return ours == {**theirs, "schema": schema}


def _where(url: str) -> dict[str, str | None]:
    """Host, port, database, schema."""
    parts, query = urlsplit(url), _query(url)
    place: dict[str, str | None] = {
        "host": query.get("host", parts.hostname),
        "port": query.get("port", str(parts.port or 5432)),
        "database": query.get("dbname", parts.path.strip("/")),
    }
    return {**place, "schema": query["schema"]} if "schema" in query else place


def _refuse(store: Store) -> None:
    if packs.seat_row(store) is not None:
        raise BadStudy("This is a rater's pack; the coordinator's study is what can be shared.")
    if unblinding(store) is not None:
        raise RatingRefused("This study was unblinded; it is not handed out any more.")


def _refuse_taken(target: Store, plain: str) -> None:
    """Leave a study alone that lies there already."""
    try:
        study_items.study_row(target)
    except StoreDamaged:
        return
    raise BadStudy(f"A study lies at {plain} already. Leave the schema out of the address.")
