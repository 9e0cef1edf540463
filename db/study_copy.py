"""Copies a frozen study into another store: a rater's file, or a schema on a server.

Owns what goes along: frame, items, media and, where asked, one rater's place and order. Refuses
to take the log, the returns or a private key along; the copy starts a log of its own.
"""

from __future__ import annotations

from db import study_items
from db.chain import entries
from db.errors import RatingRefused
from db.session import Store
from db.study_items import MediumRow

BATCH, BATCH_BYTES = 128, 16 << 20  # of one transaction


def copy_study(source: Store, target: Store, *, rater: str | None) -> None:
    """Fill an empty store with a study.

    A copy that was cut short is taken up where it stopped; one that is whole stays as it is.

    Args:
        source: a finished study.
        target: made with ``create="create"``.
        rater: take this rater's profile and order along, logged in the copy's own log.

    Raises:
        RatingRefused: the source knows no such rater, or the target holds another study.
        StoreError: what either store refused.
    """
    row = study_items.study_row(source)
    seats = _seat_of(source, rater)
    there = study_items.frozen_hash(target)
    if there not in (None, row.hash):
        raise RatingRefused(f"{target.location} holds another study. Choose another place.")
    if there is None:
        _copy_media(source, target)
        study_items.freeze(target, row, study_items.items(source))
    if seats is not None:
        study_items.add_rater(target, *seats)
    target.checkpoint()


def _copy_media(source: Store, target: Store) -> None:
    """What is not there yet, some of it in each transaction: a cut costs the last of them."""
    rows: list[MediumRow] = []
    for row in study_items.media_besides(source, study_items.media_ids(target)):
        rows.append(row)
        if sum(len(one.content) for one in rows) >= BATCH_BYTES or len(rows) >= BATCH:
            study_items.add_media(target, rows)
            rows.clear()
    study_items.add_media(target, rows)


def _seat_of(
    source: Store, rater: str | None
) -> tuple[study_items.RaterRow, list[tuple[str, str, bool]], str] | None:
    """Profile, order and the logged digest of both."""
    if rater is None:
        return None
    profile = next((row for row in study_items.raters(source) if row.name == rater), None)
    digest = next(
        (row.note for row in entries(source) if (row.action, row.rater) == ("order", rater)), None
    )
    if profile is None or digest is None:
        raise RatingRefused(f"This study has no rater {rater}. Add the rater first.")
    places = study_items.presentations(source, rater)
    return profile, [(one.item_id, one.kind, one.swapped) for one in places], digest
