"""Says whether a study is what was frozen, and what is not.

Needs no passphrase and tells no secret. Refuses to mend anything. What is worth knowing and no
fault (a clock that was set back) is a remark, kept apart. What raters and coordinator did is
looked at in ``studies.preference.verify_log``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from db import chain, packs, ratings, study_items
from db.errors import StoreDamaged
from db.failures import translated
from db.server_rights import has_old_rules
from db.session import Store, is_url, open_study_store
from db.study_items import StudyRow
from studies.errors import BadStudy
from studies.preference.fitting import unfit
from studies.preference.frozen import item_hash, medium_hash, order_hash, sha256, study_hash
from studies.preference.in_sight import in_sight
from studies.preference.ledger import frame_of, kept, latest
from studies.preference.merge import check_returned
from studies.preference.verify_log import in_acts, in_packs, in_returns

KEY = "key.sealed"
OPEN_KEY = "key.json"


def verify(path: Path | str) -> tuple[str, ...]:
    """Check a study against its hashes.

    Args:
        path: the study's folder, or its address on a server.

    Returns:
        One sentence per fault, naming what was altered; empty when nothing was.

    Raises:
        StoreError: locked, newer, not writable, or the server refuses (a damaged file is a
            fault, not an error).
        BadStudy: there is no study.
    """
    faults: list[str] = []
    try:
        with _open(path) as store:
            faults += [f"study.sqlite: {fault}" for fault in store.check_integrity()]
            row = study_items.study_row(store)
            faults += list(_in_frame(store, row))
            faults += list(_in_items(store, row))
            faults += list(_in_media(store, row))
            faults += list(_in_orders(store))
            faults += list(ratings.check_chain(store))
            faults += list(in_acts(store))
            faults += list(in_packs(store))
            faults += list(in_returns(store))
            faults += list(check_returned(store))
    except StoreDamaged as error:
        faults.append(str(error))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # a changed byte can make a JSON column unreadable before any hash is compared
        faults.append(f"study.sqlite holds a value that cannot be read ({error}).")
    return tuple(faults)


def remarks(path: Path | str) -> tuple[str, ...]:
    """What is worth knowing about a study and no fault of it, one sentence each.

    Raises:
        StoreError, BadStudy: see ``verify``; damaged ones too.
    """
    with _open(path) as store:
        found = [*store.remarks(), *ratings.clock_remarks(ratings.entries(store))]
        if store.on_server:
            found += _in_sight(store)
        for row in latest(packs.returns(store)).values():
            whose = f"Answers of {row.rater or 'the shared study'}: "
            found += [whose + told for told in ratings.clock_remarks(kept(row).entries)]
            if not row.rater:
                misfits = unfit(kept(row), frame_of(store))
                found += [f"{name} is not counted: {why}" for name, why in misfits.items()]
        return tuple(found)


def _in_sight(store: Store) -> Iterator[str]:
    """What of a study on a server this login could look at, and raters at each other's."""
    if told := in_sight(store).words.strip():
        yield told
    if has_old_rules(store):
        yield (
            "Readers have the rights of a version before, which one who knows PostgreSQL can get "
            "round. Renew them: triptych study pack STUDY --share URL --role ROLE"
        )
    if store.own_rows:
        yield (
            f"This login is shown its own {len(ratings.entries(store))} of the "
            f"{chain.length(store)} entries of the log. Each of them, the order they were read in "
            "and the links between neighbours were checked; the whole log is verified by the "
            "coordinator."
        )


def _open(path: Path | str) -> Store:
    if not is_url(path) and not (Path(path) / "study.sqlite").is_file():
        raise BadStudy(f"{path} is no study: there is no study.sqlite. Choose the study's folder.")
    return open_study_store(path)


def _in_frame(store: Store, row: StudyRow) -> Iterator[str]:
    if study_hash(row) != row.hash:
        yield "The frame of the study (title, seed, settings, manifest or hash) was altered."
    if store.on_server:
        return  # the key stays with the coordinator
    folder = store.path.parent
    with translated(folder):
        sealed = (folder / KEY).read_bytes() if (folder / KEY).is_file() else None
        opened = (folder / OPEN_KEY).read_bytes() if (folder / OPEN_KEY).is_file() else None
    if sealed is None:
        if packs.seat_row(store) is None:
            yield f"{KEY} is not beside the study; only a rater's copy may lack it."
    elif sha256(sealed) != row.sealed_sha256:
        yield f"{KEY} was altered."
    if opened is not None and sha256(opened) != row.commitment:
        yield f"{OPEN_KEY}, the opened key, was altered."


def _in_items(store: Store, row: StudyRow) -> Iterator[str]:
    frozen: Mapping[str, str] = row.settings["manifest"]["items"]
    there = {item.item_id: item_hash(item) for item in study_items.items(store)}
    yield from _compare("Item", frozen, there)


def _in_media(store: Store, row: StudyRow) -> Iterator[str]:
    frozen: Mapping[str, str] = row.settings["manifest"]["media"]
    there = {}
    for medium in study_items.media(store):
        there[medium.media_id] = medium_hash(medium)
        if sha256(medium.content) != medium.sha256:
            yield f"The pixels of medium {medium.media_id} were altered."
    yield from _compare("Medium", frozen, there)


def _in_orders(store: Store) -> Iterator[str]:
    logged = {row.rater: row.note for row in ratings.entries(store) if row.action == "order"}
    for rater in study_items.raters(store):
        places = study_items.presentations(store, rater.name)
        order = [(place.item_id, place.kind, place.swapped) for place in places]
        straight = [place.position for place in places] == list(range(1, len(places) + 1))
        if not straight or logged.pop(rater.name, None) != order_hash(rater, order):
            yield f"The order or the profile of rater {rater.name} was altered."
    for name in logged:
        yield f"Rater {name} was removed."


def _compare(word: str, frozen: Mapping[str, str], there: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*frozen, *there}):
        if name not in there:
            yield f"{word} {name} was removed."
        elif name not in frozen:
            yield f"{word} {name} was added."
        elif frozen[name] != there[name]:
            yield f"{word} {name} was altered."
