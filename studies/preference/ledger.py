"""Everything that was answered: the study's own log and all accepted returns together.

Refuses to count preferences; it hands entries on to what is computed after unblinding.
"""

from __future__ import annotations

from dataclasses import dataclass

from db.ratings import EntryRow
from db.session import Store
from db.study_items import PresentationRow, RaterRow


@dataclass(frozen=True)
class PackState:
    """How far one handed-out seat is; counts only.

    Attributes:
        rater: whose pack; "" for a study shared on a server.
        pack_id: opaque.
        handed_utc: when it was made.
        answered: places with an answer in force, as last returned.
        items: places in the order, warm-up and repeats included.
        returned_utc: of the last accepted return, "" if there was none.
        replaced: a newer pack was made for this rater; answers of this one are refused.
        url: of a shared study, without a password.
    """

    rater: str
    pack_id: str
    handed_utc: str
    answered: int
    items: int
    returned_utc: str
    replaced: bool = False
    url: str = ""


@dataclass(frozen=True)
class Ledger:
    """The whole log.

    Attributes:
        entries: of the study's own log, then of each accepted return; in order for each rater.
        presentations: the order of every rater, by rater and position.
        raters: profiles, by name.
    """

    entries: tuple[EntryRow, ...]
    presentations: tuple[PresentationRow, ...]
    raters: tuple[RaterRow, ...]


def whole_log(store: Store) -> Ledger:
    """The study's own log and all accepted returns.

    Raises:
        StoreError: the study cannot be read.
        BadAnswers: a kept return does not hold any more.
    """
    raise NotImplementedError


def pack_states(store: Store) -> tuple[PackState, ...]:
    """Every seat handed out, oldest first."""
    raise NotImplementedError
