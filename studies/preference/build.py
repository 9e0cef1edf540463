"""Builds a blinded study: sample, copy, sides, key, freeze. After that nothing of it changes.

Owns the order of these steps and the study's folder, which appears whole or not at all.
Refuses to hand out a study in which a secret can be read.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from db.clock import now_utc
from db.failures import translated
from db.files import write_whole
from db.home import Home
from db.session import open_study_store
from db.study_items import ItemRow, StudyRow, add_medium, freeze
from engine.control import Control
from studies.errors import BadStudy
from studies.preference.draw import Drawn, draw
from studies.preference.frozen import item_hash, sha256, software_version, study_hash
from studies.preference.key import Key, KeyItem
from studies.preference.leaks import find_in_cells
from studies.preference.lists import TOP, Comparison, Listed
from studies.preference.media import MediaPool
from studies.preference.protocol import Protocol
from studies.preference.sample import balanced_sides, generator
from studies.preference.sealing import seal
from studies.preference.verify import KEY
from studies.preference.wish import LETTERS, Material, Wish, check_arms, check_wish

UNFINISHED = ".building-"
KEEP_UNFINISHED_S = 24 * 3600
PLAN = (
    "Shares of A, B and tie over all items with Wilson 95 % intervals.",
    "A among decided with Wilson interval and exact two-sided sign test.",
    "The same in the four strata of top-1 correctness, by family and by form.",
    "No p-value below 10 decided items.",
    "Identical lists count as ties and are reported apart, with shares given with and without.",
)


@dataclass(frozen=True)
class BuiltStudy:
    """A study that can be handed out.

    Attributes:
        id: opaque; the name of its folder.
        hash: SHA-256 of everything frozen.
        path: its folder.
        items: items to be read.
        auto_ties: identical lists, recorded and not shown.
        missing: task (or task and row) to why it gave nothing.
    """

    id: str
    hash: str
    path: Path
    items: int
    auto_ties: int
    missing: Mapping[str, str]


def build_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """The worker's job: see ``build_study``; returns id, hash, path, items and what is missing."""
    models = arguments.get("models") or [arguments["model_a"], arguments["model_b"]]
    built = build_study(
        home,
        data=_path(arguments.get("data")),
        collection=arguments.get("collection"),
        models=models,
        total=arguments["total"],
        seed=arguments["seed"],
        title=arguments["title"],
        passphrase=arguments["passphrase"],
        tasks=arguments.get("tasks"),
        protocol=Protocol(**(arguments.get("protocol") or {})),
        control=control,
    )
    return {
        "id": built.id,
        "hash": built.hash,
        "path": str(built.path),
        "items": built.items,
        "auto_ties": built.auto_ties,
        "missing": dict(built.missing),
        "saved": ("study",),
    }


def _path(place: str | None) -> Path | None:
    return None if place is None else Path(place)


def build_study(
    home: Home,
    *,
    data: Path | None = None,
    collection: str | None = None,
    models: Sequence[str],
    total: int,
    seed: int,
    title: str,
    passphrase: str,
    tasks: str | None = None,
    protocol: Protocol = Protocol(),
    control: Control = Control(),
) -> BuiltStudy:
    """Build a study from the benchmark results of two or more models, or from a collection.

    Args:
        home: its runs hold the results, its studies get the new folder.
        data: the data root of the run; None for a study from a collection.
        collection: a collection of the home, without gold answers.
        models: model A (the tested one), B and so on; figures call them by their titles.
        total: items wanted; all there are, if fewer.
        seed: of the sample.
        title: shown to raters.
        passphrase: opens the key later; lost is lost.
        tasks: take only tasks that match one of these patterns.
        protocol: how it is read.
        control: asked between items.

    Raises:
        NoRun: a model has no results for this data.
        BadStudy: a title that tells, the same model twice, nothing to compare.
        StoreError: the study cannot be written.
    """
    from studies.preference.source import read_material

    plain = title.encode("utf-8", "replace").decode("utf-8")  # half characters have no place there
    wish = Wish(plain.strip(), total, seed, passphrase, protocol, tasks)
    check_wish(wish)
    if data is None:
        raise BadStudy("Name the data root of a finished run.")
    material = read_material(home, data, models, tasks=tasks, control=control)
    return build_from(home, material, wish, control=control)


def build_from(
    home: Home, material: Material, wish: Wish, *, control: Control = Control()
) -> BuiltStudy:
    """Build a study from lists that are at hand.

    Raises:
        BadStudy, StoreError, WrongPassphrase: see ``build_study``.
    """
    check_wish(wish)
    check_arms(wish, material)
    clear_unfinished(home)
    study_id = secrets.token_hex(6)
    folder = home.studies / f"{UNFINISHED}{study_id}"
    with translated(folder):
        folder.mkdir(parents=True)
    try:
        built = _build(folder, study_id, material, wish, control)
        with translated(folder):
            folder.rename(built.path)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return built


def clear_unfinished(home: Home) -> None:
    """Remove what builds left that were killed; one of today may still be at work."""
    for folder in home.studies.glob(f"{UNFINISHED}*"):
        with contextlib.suppress(OSError):
            newest = max(part.stat().st_mtime for part in (folder, *folder.iterdir()))
            if time.time() - newest > KEEP_UNFINISHED_S:
                shutil.rmtree(folder, ignore_errors=True)


def _build(
    folder: Path, study_id: str, material: Material, wish: Wish, control: Control
) -> BuiltStudy:
    missing = dict(material.missing)
    with open_study_store(folder / "study.sqlite", create="create") as store:
        pool = MediaPool(lambda row: add_medium(store, row))
        drawn = draw(material, wish, pool, missing, control)
        if not any(one.shown for one in drawn):
            raise BadStudy(
                "No query has two different lists to compare. Choose other models, or show "
                "identical lists too."
            )
        side_seed = secrets.randbits(128)
        sides = _sides(drawn, side_seed)
        key = _key(study_id, material, wish, drawn, sides, side_seed, missing)
        plain = key.to_bytes()
        sealed = seal(plain, wish.passphrase)
        write_whole(folder / KEY, sealed)
        rows = [_item_row(one, sides[one.item_id]) for one in drawn]
        frame = _frame(study_id, wish, rows, pool.hashes, sealed, plain)
        freeze(store, frame, rows)
        store.checkpoint()
    _refuse_leaks(folder, material, drawn)
    shown = sum(one.shown for one in drawn)
    path = folder.parent / study_id
    return BuiltStudy(study_id, frame.hash, path, shown, len(drawn) - shown, missing)


def _sides(drawn: Sequence[Drawn], side_seed: int) -> dict[str, str]:
    shown = [one for one in drawn if one.shown]
    cells = [
        (c.stratum, c.family, c.form, c.first, c.second) for c in (one.comparison for one in shown)
    ]
    sides = balanced_sides(cells, generator(side_seed))
    first = {one.item_id: side == "A" for one, side in zip(shown, sides, strict=True)}
    return {
        one.item_id: c.first if first.get(one.item_id, True) else c.second
        for one, c in ((one, one.comparison) for one in drawn)
    }


def _key(
    study_id: str,
    material: Material,
    wish: Wish,
    drawn: Sequence[Drawn],
    sides: Mapping[str, str],
    side_seed: int,
    missing: Mapping[str, str],
) -> Key:
    tasks: dict[str, int] = {}
    for one in drawn:
        tasks[one.comparison.task_id] = tasks.get(one.comparison.task_id, 0) + 1
    return Key(
        study_id=study_id,
        seed=wish.seed,
        side_seed=side_seed,
        arms=dict(zip(LETTERS, material.arms, strict=False)),
        items={one.item_id: _key_item(one.comparison, sides[one.item_id]) for one in drawn},
        tasks=tasks,
        missing=dict(missing),
        plan=PLAN,
    )


def _key_item(comparison: Comparison, left: str) -> KeyItem:
    return KeyItem(
        left=left,
        first=comparison.first,
        second=comparison.second,
        stratum=comparison.stratum,
        task_id=comparison.task_id,
        family=comparison.family,
        form=comparison.form,
        split=comparison.split,
        row=comparison.row,
        gold=comparison.gold,
        names_a=comparison.names_a,
        names_b=comparison.names_b,
        overlap=comparison.overlap,
        anatomy=comparison.anatomy,
    )


def _item_row(one: Drawn, left: str) -> ItemRow:
    sides = (one.list_a, one.list_b)
    if left != one.comparison.first:
        sides = sides[::-1]
    return ItemRow(
        item_id=one.item_id,
        kind="item" if one.shown else "auto_tie",
        block=one.comparison.form,
        prompt=one.prompt if one.shown else "",
        query=one.query,
        left=sides[0],
        right=sides[1],
    )


def _frame(
    study_id: str,
    wish: Wish,
    rows: Sequence[ItemRow],
    media: Mapping[str, str],
    sealed: bytes,
    plain: bytes,
) -> StudyRow:
    manifest = {"items": {row.item_id: item_hash(row) for row in rows}, "media": dict(media)}
    settings = {
        "identical": wish.protocol.identical,
        "protocol": wish.protocol.to_json(),
        "top": TOP,
        "plan": list(PLAN),
        "manifest": manifest,
    }
    frame = StudyRow(
        study_id=study_id,
        title=wish.title,
        created_utc=now_utc(),
        software=software_version(),
        order_seed=str(secrets.randbits(128)),
        settings=settings,
        sealed_sha256=sha256(sealed),
        commitment=sha256(plain),
        hash="",
    )
    return replace(frame, hash=study_hash(frame))


def _says_its_name(listed: Listed) -> bool:
    """A label or an answer goes by its own text ("left"): evidence, which is no secret name."""
    return listed.name.strip() == (listed.item.text or "").strip()


def _refuse_leaks(folder: Path, material: Material, drawn: Sequence[Drawn]) -> None:
    """Walk the finished folder for what must not be in it; words the evidence itself says pass."""
    said = " ".join(text for one in drawn for text in one.texts).casefold()
    words: set[str] = set(material.comparisons)
    for arm in material.arms:
        words |= {arm.model_id, arm.title, arm.revision, arm.weights, arm.fingerprint}
    for one in drawn:
        listed = (*one.comparison.list_a, *one.comparison.list_b)
        words |= {each.name for each in listed if not _says_its_name(each)}
    secret = {word for word in words if len(word) >= 4 and word.casefold() not in said}
    for leak in find_in_cells(folder / "study.sqlite", secret):
        raise BadStudy(
            f"The study was not built: {leak.word!r} can be read in {leak.place}. "
            "Rename what holds it and build again."
        )
