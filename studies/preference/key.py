"""The key of a study: which model stood where, what was right, where each item came from.

It exists sealed, and in the open only after unblinding. Owns its JSON form.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from studies.errors import BadStudy
from studies.preference.frozen import canonical

FORMAT = 1


@dataclass(frozen=True)
class Arm:
    """One of the two models.

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
        left: ``A`` or ``B``; ``A`` for an item that is never shown.
        stratum: one of ``lists.STRATA``.
        names_a: A's candidates, best first.
        overlap: see ``Comparison.overlap``.
    """

    left: str
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
        arms: ``A`` and ``B``.
        items: item id to its hidden side.
        tasks: task to the number of queries sampled.
        missing: task to why it gave none.
        plan: what will be computed, fixed beforehand.
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
        if document.pop("format") != FORMAT:
            raise ValueError("another format")
        arms = {name: Arm(**arm) for name, arm in document.pop("arms").items()}
        items = {name: _item(item) for name, item in document.pop("items").items()}
        plan = tuple(document.pop("plan"))
        return Key(arms=arms, items=items, plan=plan, **document)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadStudy(
            "The key of this study cannot be read by this version. Install the newest version."
        ) from error


def _item(document: dict[str, Any]) -> KeyItem:
    names_a, names_b = tuple(document.pop("names_a")), tuple(document.pop("names_b"))
    return KeyItem(names_a=names_a, names_b=names_b, **document)
