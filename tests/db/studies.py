"""A small study file for tests of the store: two items, one rater, plain values."""

from __future__ import annotations

from pathlib import Path

from db import study_items
from db.session import Store, open_study_store

PANEL = {"kind": "image", "media_ids": ["m1"], "text": ""}


def item(item_id: str, kind: str = "item") -> study_items.ItemRow:
    return study_items.ItemRow(item_id, kind, "2d", "Find.", PANEL, (PANEL,) * 3, (PANEL,) * 3)


def small_study(path: Path) -> Store:
    store = open_study_store(path, create="create")
    study_items.add_medium(store, study_items.MediumRow(7, "m1", "zlib", (1, 1), "aa", b"pixels"))
    frame = study_items.StudyRow(
        study_id="s1",
        title="Chest",
        created_utc="2026-01-31T12:00:00.000Z",
        software="0.1.0",
        order_seed="5",
        settings={},
        sealed_sha256="bb",
        commitment="cc",
        hash="dd",
    )
    study_items.freeze(store, frame, [item("i1"), item("i2")])
    order = [("i2", "item", False), ("i1", "item", False)]
    study_items.add_rater(store, study_items.RaterRow("ann", "radiology", 9), order, "ee")
    study_items.start_session(store, "se1", "ann", "0.1.0")
    return store
