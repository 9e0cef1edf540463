"""A study of short texts, frozen by hand: quickly made and opened, with practice and repeats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from db.files import write_whole
from db.session import open_study_store
from db.study_copy import copy_study
from db.study_items import ItemRow, StudyRow, freeze
from studies.preference.frozen import item_hash, sha256, study_hash
from studies.preference.panels import Panel
from studies.preference.protocol import Protocol
from studies.preference.verify import KEY

SEALED = b"a sealed key that nobody opens"
PROTOCOL = Protocol(warmup=2, repeat_share=0.2, repeat_gap=3, guess_items=5)


def text_item(number: int, kind: str = "item", block: str = "text") -> ItemRow:
    def panel(word: str) -> dict[str, Any]:
        return Panel("text", (), f"{word} {number}").to_json()

    sides = [tuple(panel(f"{side} {place}") for place in range(3)) for side in ("one", "other")]
    return ItemRow(f"{number:012x}", kind, block, "Compare.", panel("query"), *sides)


def rows_of(items: int, warmups: int) -> list[ItemRow]:
    kinds = ["item"] * items + ["warmup"] * warmups
    blocks = ["text" if number % 3 else "2d" for number in range(len(kinds))]
    return [
        text_item(number, kind, block)
        for number, (kind, block) in enumerate(zip(kinds, blocks, strict=True))
    ]


def plain_study(folder: Path, items: int = 20, *, protocol: Protocol | None = PROTOCOL) -> Path:
    """The folder of a frozen study without pictures."""
    path = folder / "abcdef012345"
    path.mkdir(parents=True)
    rows = rows_of(items, protocol.warmup if protocol else 0)
    with open_study_store(path / "study.sqlite", create="create") as store:
        manifest = {"items": {row.item_id: item_hash(row) for row in rows}, "media": {}}
        read = {"protocol": protocol.to_json()} if protocol else {}
        frame = StudyRow(
            study_id=path.name,
            title="Plain",
            created_utc="2026-01-31T12:00:00.000Z",
            software="0",
            order_seed="17",
            settings={"manifest": manifest, **read},
            sealed_sha256=sha256(SEALED),
            commitment=sha256(b"plain"),
            hash="",
        )
        freeze(store, StudyRow(**{**vars(frame), "hash": study_hash(frame)}), rows)
        store.checkpoint()
    write_whole(path / KEY, SEALED)
    return path


def on_server(path: Path, url: str) -> str:
    """The study of a folder on a server; its address."""
    with open_study_store(path) as source, open_study_store(url, create="create") as target:
        copy_study(source, target, rater=None)
    return url
