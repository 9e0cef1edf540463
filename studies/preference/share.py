"""Puts a study on a PostgreSQL server, so that several raters read it at once.

Owns the copy and the address without its password. Refuses to keep a password anywhere.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
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
from studies.preference.study import open_study

SECRET = ("password", "passfile", "sslpassword", "sslkey")


@dataclass(frozen=True)
class Shared:
    """A study on a server.

    Attributes:
        url: its address without a password; raters open it with ``study open URL``.
        pack_id: under which its answers are merged.
    """

    url: str
    pack_id: str


def share(path: Path, url: str, *, role: str = "") -> Shared:
    """Copy a study to a server; the log and the key stay here.

    Args:
        path: the coordinator's study folder.
        url: ``postgresql://user@host/database``; a schema of its own is made there. The
            password comes with it, from ``PGPASSWORD`` or from ``~/.pgpass``.
        role: a role of the server whose members may read there and do nothing else; without one
            raters need the coordinator's own.

    Raises:
        BadStudy: a pack, or shared there already.
        BadRequest: not an address of PostgreSQL.
        RatingRefused: the study is unblinded.
        StoreError: the server refuses.
    """
    if not is_url(url):
        raise BadRequest(f"{plain_url(url)} is no address like postgresql://user@host/database.")
    pack_id = secrets.token_hex(6)  # a name of its own: what an attempt left behind is in no way
    with open_study(path) as study:
        _refuse(study.store, url)
        place = _with_schema(url, f"study_{pack_id}")
        with open_study_store(place, create="create") as target:
            plain = target.location
            _refuse_taken(target, plain)
            if role:
                let_rate(target, role)
            copy_study(study.store, target, rater=None)
        row = PackRow(pack_id, "", now_utc(), "", f"{SHARED}{plain}")
        packs.add_pack(study.store, row, software=software_version())
    return Shared(plain, pack_id)


@contextmanager
def open_shared(store: Store, url: str) -> Iterator[tuple[Store, PackRow]]:
    """A shared copy of a study, and what the study knows of it.

    Args:
        store: the coordinator's study.
        url: an address that it was shared at; the name of the schema may be left out.

    Raises:
        BadAnswers: it was not shared there.
        StoreError: the server refuses, or nothing is there any more.
    """
    row = next((row for row in packs.packs(store) if _same(shared_url(row), url)), None)
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


def _refuse(store: Store, url: str) -> None:
    if packs.seat_row(store) is not None:
        raise BadStudy("This is a rater's pack; the coordinator's study is what can be shared.")
    if unblinding(store) is not None:
        raise RatingRefused("This study was unblinded; it is not handed out any more.")
    for known in map(shared_url, packs.packs(store)):
        if _same(known, url):
            raise BadStudy(f"This study is shared at {known} already. Raters open that address.")


def _refuse_taken(target: Store, plain: str) -> None:
    """Leave a study alone that lies there already."""
    try:
        study_items.study_row(target)
    except StoreDamaged:
        return
    raise BadStudy(f"A study lies at {plain} already. Leave the schema out of the address.")
