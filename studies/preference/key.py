"""The key of a study: which model stood where, what was right, where each item came from.

It exists sealed, and in the open only after unblinding. Owns its JSON form, format 3; keys of
format 1 (two models, nothing flagged) and 2 (no words, ranks and look-alikes) are still read.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from studies.errors import BadStudy
from studies.preference.frozen import canonical

FORMAT = 3
EARLIER: dict[int, dict[str, Any]] = {
    1: {"first": "A", "second": "B", "flags": (), "anatomy": ""},
    2: {},
}


@dataclass(frozen=True)
class Arm:
    """One of the models compared.

    Attributes:
        model_id: the card's id, or the folder's name.
        title: as shown in figures.
        revision: of the weights, or "" where there is none.
        weights: hash of the weights, or "".
        fingerprint: of the encoder that made the results.
    """

    model_id: str
    title: str
    revision: str = ""
    weights: str = ""
    fingerprint: str = ""


@dataclass(frozen=True)
class KeyItem:
    """The hidden side of one item.

    Attributes:
        left: letter of the model on the left; ``first`` for an item that is never shown.
        first: letter of the model called first in this comparison.
        second: letter of the other one.
        stratum: one of ``lists.STRATA``; "a" in them is the first model, "b" the second.
        row: the query's row in its task, or its number in a collection.
        gold: name of the right candidate, None where nothing is known to be right.
        names_a: the first model's candidates, best first.
        names_b: the second model's.
        overlap: one of ``overlap.OVERLAPS``.
        flags: of ``overlap.FLAGS``, found before the reading, and ``mirrored``: another item shows
            this query together with its right answer.
        anatomy: of the task, "" where its table names none.
        words_a: median number of words of the first model's candidates as shown, 0 where none
            has any; None where nobody counted.
        words_b: the same of the second model's.
        near_query: which list holds a near-duplicate of the query, of ``overlap.HOLDERS``; ""
            where nobody looked.
        same_patient: which list holds a candidate of the query's own patient.
        rank_a: of the gold answer under the first model, ties against it; None where unknown.
        rank_b: the same under the second model.
        difficulty: of ``lists.DIFFICULTIES``, "" without gold or where no rank is known.
    """

    left: str
    first: str
    second: str
    stratum: str
    task_id: str
    family: str
    form: str
    split: str
    row: int
    gold: str | None
    names_a: tuple[str, ...]
    names_b: tuple[str, ...]
    overlap: str
    flags: tuple[str, ...] = ()
    anatomy: str = ""
    words_a: float | None = None
    words_b: float | None = None
    near_query: str = ""
    same_patient: str = ""
    rank_a: int | None = None
    rank_b: int | None = None
    difficulty: str = ""

    def place_of_gold(self, names: tuple[str, ...]) -> int | None:
        """Place of the gold answer in a list, from 1, None if it is not there."""
        return names.index(self.gold) + 1 if self.gold in names else None


@dataclass(frozen=True)
class Key:
    """Everything hidden until unblinding.

    Attributes:
        study_id: the study it belongs to.
        seed: of the sample.
        side_seed: of the sides.
        arms: ``A`` (the model that is tested), ``B`` and so on, as given.
        items: item id to its hidden side, warm-up items too.
        tasks: task to the number of queries sampled, warm-up items left out.
        missing: task to why it gave none.
        plan: what will be computed, fixed beforehand.
        asked: what the coordinator asked for: total, tasks, collection.
        excluded: queries passed over because their lists were identical.
        nonce: random, so that the hash of the key tells nothing.
    """

    study_id: str
    seed: int
    side_seed: int
    arms: Mapping[str, Arm]
    items: Mapping[str, KeyItem]
    tasks: Mapping[str, int]
    missing: Mapping[str, str]
    plan: tuple[str, ...]
    asked: Mapping[str, Any] = field(default_factory=dict)
    excluded: int = 0
    nonce: str = field(default_factory=lambda: secrets.token_hex(32))

    def to_bytes(self) -> bytes:
        """Canonical JSON."""
        return canonical({"format": FORMAT, **asdict(self)})


def key_from_bytes(content: bytes) -> Key:
    """Read a key.

    Raises:
        BadStudy: not a key of this version.
    """
    try:
        document = json.loads(content.decode("utf-8", "surrogatepass"))
        written = document.pop("format")
        filled = {} if written == FORMAT else EARLIER[written]
        arms = {name: Arm(**arm) for name, arm in document.pop("arms").items()}
        items = {name: _item({**filled, **item}) for name, item in document.pop("items").items()}
        plan = tuple(document.pop("plan"))
        return Key(arms=arms, items=items, plan=plan, **document)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadStudy(
            "The key of this study cannot be read by this version. Install the newest version."
        ) from error


def _item(document: dict[str, Any]) -> KeyItem:
    listed = {name: tuple(document[name]) for name in ("names_a", "names_b", "flags")}
    return KeyItem(**{**document, **listed})
