"""Builds a blinded study: sample, copy, sides, key, freeze. After that nothing of it changes.

Owns the order of these steps and the study's folder, which appears whole or not at all.
Refuses to hand out a study in which a secret can be read.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.failures import translated
from db.files import write_whole
from db.home import Home
from db.session import open_study_store
from db.study_items import add_medium, freeze
from engine.catalog import find_card
from engine.control import Control
from studies.errors import BadStudy
from studies.preference.draw import Drawing, Drawn
from studies.preference.freezing import frame_of, item_row, key_of, sides_of
from studies.preference.frozen import opaque_id
from studies.preference.leaks import Words, find_in_cells
from studies.preference.lists import Listed
from studies.preference.media import MediaPool
from studies.preference.planned import check_models_planned, deviations, plan_of
from studies.preference.planner import StudyPlan
from studies.preference.protocol import Protocol
from studies.preference.sealing import seal
from studies.preference.seating import plain_text
from studies.preference.unfinished import UNFINISHED, clear_unfinished
from studies.preference.verify import KEY
from studies.preference.wish import Material, Search, Wish, check_arms, check_title, check_wish

LONGEST_TITLE = 120
SEARCH = tuple(Search.__dataclass_fields__)


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
        warmups: practice items; fewer than asked for where nothing was left beside the sample.
        excluded: queries passed over because their lists were identical.
        notes: what else a coordinator should know.
    """

    id: str
    hash: str
    path: Path
    items: int
    auto_ties: int
    missing: Mapping[str, str]
    warmups: int = 0
    excluded: int = 0
    notes: tuple[str, ...] = ()


def build_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """The worker's job: see ``build_study``; returns id, hash, path, items and what is missing."""
    built = build_study(
        home,
        data=_path(arguments.get("data")),
        collection=arguments.get("collection"),
        models=arguments["models"],
        total=arguments["total"],
        seed=arguments["seed"],
        title=arguments["title"],
        passphrase=arguments["passphrase"],
        tasks=arguments.get("tasks"),
        protocol=_protocol(arguments.get("protocol")),
        planned=plan_of(arguments["planned"]) if arguments.get("planned") else None,
        search=Search(**{n: arguments[n] for n in SEARCH if arguments.get(n) is not None}),
        control=control,
    )
    return {
        "id": built.id,
        "hash": built.hash,
        "path": str(built.path),
        "items": built.items,
        "auto_ties": built.auto_ties,
        "missing": dict(built.missing),
        "warmups": built.warmups,
        "excluded": built.excluded,
        "notes": list(built.notes),
        "saved": ("study",),
    }


def _path(place: str | None) -> Path | None:
    return None if place is None else Path(place)


def _protocol(told: dict[str, Any] | None) -> Protocol:
    """The protocol that was asked for; what is left out is the usual.

    Raises:
        BadStudy: it names something that there is not.
    """
    odd = sorted(set(told or {}) - set(Protocol.__dataclass_fields__))
    if odd:
        raise BadStudy(f"A protocol has no {odd[0]!r}; leave it out.")
    for name, value in (told or {}).items():
        usual = getattr(Protocol(), name)
        kinds = (int, float) if isinstance(usual, float) else (type(usual),)
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise BadStudy(f"{name} of a protocol cannot be {value!r}; the usual is {usual!r}.")
    return Protocol(**(told or {}))


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
    planned: StudyPlan | None = None,
    search: Search = Search(),
    control: Control = Control(),
) -> BuiltStudy:
    """Build a study from the benchmark results of two or more models, or from a collection.

    Args:
        home: its runs hold the results, its studies get the new folder.
        data: the data root of a run.
        collection: a collection of the home, in its place: no gold answers, stratum unknown.
        models: model A (the tested one), B and so on; figures call them by their titles.
        total: items wanted; all there are, if fewer.
        seed: of the sample.
        title: shown to raters.
        passphrase: opens the key later; lost is lost.
        tasks: take only tasks whose id, release name or family fits one of these patterns.
        protocol: how it is read.
        planned: how large it was planned and why; frozen with the rest.
        search: how a collection is searched.
        control: asked between items.

    Raises:
        NoRun: a model has no results for this data.
        UnknownModel: no such model.
        BadStudy: a title that tells or is too long, the same model twice, nothing to compare, or
            neither or both of data and collection.
        BadRequest: the plan is for another number of models.
        StoreError: the study cannot be written.
    """
    # half characters, line ends and what turns the writing round have no place there
    wish = Wish(plain_text(title), total, seed, passphrase, protocol, tasks, planned)
    check_wish(wish)
    if len(wish.title) > LONGEST_TITLE:
        raise BadStudy(f"A title has {LONGEST_TITLE} characters at most. Take a shorter one.")
    check_models_planned(planned, len(models))
    if (data is None) == (collection is None):
        raise BadStudy("A study is built from one thing: name a data root, or a collection.")
    for card in (find_card(name, cards_dir=home.cards) for name in models):
        check_title(wish.title, card.id, card.title)  # before anything is read or embedded
    if data is not None:
        from studies.preference.source import read_material

        material = read_material(home, data, models, tasks=tasks, control=control)
    else:
        from studies.preference.collection_source import read_collection

        material = read_collection(
            home, str(collection), models, wish=wish, search=search, control=control
        )
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
    clear_unfinished(home.studies)
    study_id = opaque_id()
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


def _build(
    folder: Path, study_id: str, material: Material, wish: Wish, control: Control
) -> BuiltStudy:
    missing = dict(material.missing)
    with open_study_store(folder / "study.sqlite", create="create") as store:
        pool = MediaPool(lambda row: add_medium(store, row))
        drawing = Drawing(wish, pool, missing, control)
        drawn = drawing.run(material)
        if not any(one.kind == "item" for one in drawn):
            raise BadStudy(
                "No query has two different lists to compare. Choose other models, or show "
                "identical lists too."
            )
        side_seed = secrets.randbits(128)
        sides = sides_of(drawn, side_seed)
        key = key_of(study_id, material, drawing, drawn, sides, side_seed)
        plain = key.to_bytes()
        sealed = seal(plain, wish.passphrase)
        write_whole(folder / KEY, sealed)
        rows = [item_row(one, sides[one.item_id]) for one in drawn]
        frame = frame_of(study_id, wish, rows, pool.hashes, sealed, plain)
        freeze(store, frame, rows)
        store.checkpoint()
    control.begin(1, unit="studies", phase="Looking for leaks")
    _refuse_leaks(folder, material, drawn)
    _one_time(folder)
    kinds = Counter(one.kind for one in drawn)
    return BuiltStudy(
        id=study_id,
        hash=frame.hash,
        path=folder.parent / study_id,
        items=kinds["item"],
        auto_ties=kinds["auto_tie"],
        missing=missing,
        warmups=kinds["warmup"],
        excluded=drawing.excluded,
        notes=(*material.notes, *_other_than_asked(wish, kinds)),
    )


def _other_than_asked(wish: Wish, kinds: Mapping[str, int]) -> Iterator[str]:
    """That more or less was asked for than was planned, and that there was less."""
    yield from deviations(wish.planned, wish.total, wish.protocol)
    sampled = kinds["item"] + kinds["auto_tie"]
    if sampled < wish.total:
        yield f"Asked for were {wish.total} items; there are {sampled} that can be compared."
    if kinds["warmup"] < wish.protocol.warmup:
        yield (
            f"Asked for were {wish.protocol.warmup} practice items; beside the sample there are "
            f"{kinds['warmup']}."
        )


def _one_time(folder: Path) -> None:
    """Give all files one time: the second in which the study was finished."""
    now = int(time.time())
    with translated(folder):
        for path in folder.iterdir():
            os.utime(path, (now, now))


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
    long = {word for word in words if len(word) >= 4}
    spoken = set(Words(word.casefold() for word in long).found_in(said))
    secret = {word for word in long if word.casefold() not in spoken}
    for leak in find_in_cells(folder / "study.sqlite", secret):
        raise BadStudy(
            f"The study was not built: {leak.word!r} can be read in {leak.place}. "
            "Rename what holds it and build again."
        )
