"""A small study for tests of the store: two items, one rater, plain values; file or server."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy.engine import make_url

from db import study_items
from db.session import Store, is_url, open_study_store

PANEL = {"kind": "image", "media_ids": ["m1"], "text": ""}


def item(item_id: str, kind: str = "item") -> study_items.ItemRow:
    return study_items.ItemRow(item_id, kind, "2d", "Find.", PANEL, (PANEL,) * 3, (PANEL,) * 3)


def small_study(
    place: Path | str, *, hash_: str = "dd", more: tuple[study_items.ItemRow, ...] = ()
) -> Store:
    store = open_study_store(place, create="create")
    study_items.add_medium(
        store, study_items.MediumRow(2**61 + 7, "m1", "zlib", (1, 1), "aa", b"pixels\x00")
    )
    frame = study_items.StudyRow(
        study_id="s1",
        title="Chest",
        created_utc="2026-01-31T12:00:00.000Z",
        software="0.1.0",
        order_seed="5",
        settings={},
        sealed_sha256="bb",
        commitment="cc",
        hash=hash_,
    )
    study_items.freeze(store, frame, [item("i1"), item("i2"), *more])
    order = [("i2", "item", False), ("i1", "item", False)]
    study_items.add_rater(store, study_items.RaterRow("ann", "radiology", 9), order, "ee")
    study_items.start_session(store, "se1", "ann", "0.1.0")
    return store


def tamper(place: Path | str, *statements: str) -> None:
    """Change a study with another program that drops the triggers first."""
    if isinstance(place, str) and is_url(place):
        _tamper_on_server(place, *statements)
        return
    file = Path(place) / "study.sqlite" if Path(place).is_dir() else Path(place)
    with closing(sqlite3.connect(file)) as raw:
        names = raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in names:
            raw.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert raw.execute(statement).rowcount != 0, statement
        raw.commit()


def on_server(url: str, *, autocommit: bool = False):
    """A connection of another program to a study on a server."""
    import psycopg

    parsed = make_url(url)
    schema = parsed.query["schema"]
    plain = parsed.difference_update_query(["schema"]).set(drivername="postgresql")
    raw = psycopg.connect(plain.render_as_string(hide_password=False), autocommit=autocommit)
    raw.execute(f'SET search_path TO "{schema}"')
    raw.commit()
    return raw


def _tamper_on_server(url: str, *statements: str) -> None:
    with on_server(url) as raw:
        found = raw.execute(
            "SELECT tgrelid::regclass, tgname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid "
            "WHERE NOT tgisinternal AND c.relnamespace = current_schema()::regnamespace"
        ).fetchall()
        for table, name in found:
            raw.execute(f"DROP TRIGGER {name} ON {table}")
        for statement in statements:
            assert raw.execute(statement).rowcount != 0, statement
    raw.close()
