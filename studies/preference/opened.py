"""One item of an unblinded study with everything that was hidden, to be looked at again.

Owns which model stood where and where the right answer is. Refuses a blind study; nothing here
can be answered.
"""

from __future__ import annotations

from dataclasses import dataclass

from db import ratings, study_items
from studies.errors import BadStudy, StillBlind
from studies.preference.analysis.tables import ItemFacts, Presented
from studies.preference.panels import panel_from_json
from studies.preference.session import Presentation
from studies.preference.study import Study
from studies.preference.unblind import Unblinded


@dataclass(frozen=True)
class OpenedItem:
    """An item as it was shown, and what was hidden.

    Attributes:
        presentation: what the rater saw, sides as they were.
        left, right: letters of the models.
        gold_left, gold_right: place of the right answer in each list, None if it is not there.
        comment: as written, "" for none.
    """

    presentation: Presentation
    left: str
    right: str
    gold_left: int | None
    gold_right: int | None
    comment: str = ""


def open_item(
    study: Study, item: ItemFacts, row: Presented | None, *, comment: str = ""
) -> OpenedItem:
    """Open an item of an unblinded study.

    Args:
        study: that is open.
        item: its hidden side.
        row: the presentation, None to see it as frozen.
        comment: what was written beside the answer.

    Raises:
        StillBlind: the study was not unblinded.
        BadStudy: identical lists, which were never shown; or a damaged item.
    """
    if ratings.unblinding(study.store) is None:
        raise StillBlind("This study is still blind; its items open with the key.")
    left = (row.left if row is not None else "") or item.left or item.first
    swapped = bool(item.left) and left != item.left
    right = item.second if left == item.first else item.first
    gold = {item.first: item.gold_place_first, item.second: item.gold_place_second}
    presentation = _presentation(study, item, row, swapped=swapped)
    return OpenedItem(presentation, left, right, gold[left], gold[right], comment)


def comment_of(unblinded: Unblinded, row: Presented) -> str:
    """The comment beside the answer in force, "" for none."""
    entries = [
        entry
        for entry in unblinded.log
        if (entry.rater, entry.position) == (row.rater, row.position) and entry.action == "answer"
    ]
    return (entries[-1].comment or "") if entries and row.answer else ""


def _presentation(
    study: Study, item: ItemFacts, row: Presented | None, *, swapped: bool
) -> Presentation:
    if item.kind == "auto_tie":
        raise BadStudy(
            "The lists of this item are identical: they were recorded as a tie and never shown, "
            "so the study holds no pictures of them."
        )
    try:
        found = study_items.item_row(study.store, item.item_id)
        query = panel_from_json(found.query)
        left, right = (tuple(map(panel_from_json, side)) for side in (found.left, found.right))
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadStudy(
            "An item of this study is damaged. See which with triptych study verify, "
            "and fetch the study again."
        ) from error
    if swapped:
        left, right = right, left
    position = row.position if row is not None and row.position is not None else 0
    kind = row.kind if row is not None else item.kind
    return Presentation(
        found.item_id, found.prompt, query, left, right, position, position, kind, found.block
    )
