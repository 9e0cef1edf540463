"""Copies a frozen study into another store: a rater's file, or a schema on a server.

Owns what goes along: frame, items, media and, where asked, one rater's place and order. Refuses
to take the log, the returns or a private key along; the copy starts a log of its own.
"""

from __future__ import annotations

from db import study_items
from db.chain import entries
from db.errors import RatingRefused
from db.session import Store


def copy_study(source: Store, target: Store, *, rater: str | None) -> None:
    """Fill an empty store with a study.

    Args:
        source: a finished study.
        target: made with ``create="create"``; holds nothing yet.
        rater: take this rater's profile and order along, logged in the copy's own log.

    Raises:
        RatingRefused: the source knows no such rater.
        StoreError: what either store refused; then the target is to be thrown away.
    """
    row = study_items.study_row(source)
    seats = _seat_of(source, rater)
    for medium in study_items.media(source):
        study_items.add_medium(target, medium)
    study_items.freeze(target, row, study_items.items(source))
    if seats is not None:
        study_items.add_rater(target, *seats)
    target.checkpoint()


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
