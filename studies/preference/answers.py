"""The document in which answers travel: a whole log with its raters, their orders and a signature.

Owns its form: canonical JSON, so that no byte of it can change unseen. Refuses what is not
exactly of that form; whether it fits a study is judged in ``studies.preference.fitting``.
"""

from __future__ import annotations

import functools
import json
import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from db import chain, study_items
from db.chain import EntryRow
from db.session import Store
from db.study_items import RaterRow
from studies.errors import BadAnswers
from studies.preference.frozen import canonical, software_version

FORMAT = "triptych-answers-1"
FAMILY = "triptych-answers-"
LARGEST = 512 * 1024 * 1024
Place = tuple[str, str, bool]


@dataclass(frozen=True)
class Seated:
    """One rater of a log with the order read in: (item id, kind, sides exchanged)."""

    rater: RaterRow
    order: tuple[Place, ...]


@dataclass(frozen=True)
class Answers:
    """A log on its way.

    Attributes:
        study: hash of the study.
        pack_id: of the pack it comes from.
        rater: whose pack; "" for a study shared by several.
        seats: raters and their orders.
        entries: the whole log.
        software: version that wrote it.
        signature: hex; "" for a study on a server, which its own access rules guard.
    """

    study: str
    pack_id: str
    rater: str
    seats: tuple[Seated, ...]
    entries: tuple[EntryRow, ...]
    software: str
    signature: str = ""

    @property
    def head(self) -> str:
        """Hash of the last entry; of the study before the first."""
        return self.entries[-1].hash if self.entries else self.study

    def signed_part(self) -> bytes:
        """What the signature is of."""
        return canonical({"format": FORMAT, **_without(asdict(self), "signature")})

    def to_bytes(self) -> bytes:
        """The document."""
        return canonical({"format": FORMAT, **asdict(self)})


def new_keys() -> tuple[str, str]:
    """A private key for a pack and the public one for its coordinator, as hex."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes_raw().hex(), key.public_key().public_bytes_raw().hex()


def public_of(private: str) -> str:
    """The public key of a private one.

    Raises:
        ValueError: it is no key.
    """
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private))
    return key.public_key().public_bytes_raw().hex()


def collect(store: Store, *, pack_id: str, rater: str, private_key: str = "") -> Answers:
    """The log of a store as a document, signed where there is a key.

    Two calls on the same log give the same document to the byte.
    """
    seats = tuple(
        Seated(row, tuple((p.item_id, p.kind, p.swapped) for p in _places(store, row.name)))
        for row in study_items.raters(store)
    )
    plain = Answers(
        study=study_items.study_row(store).hash,
        pack_id=pack_id,
        rater=rater,
        seats=seats,
        entries=chain.entries(store),
        software=software_version(),
    )
    if not private_key:
        return plain
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private_key))
    return Answers(**{**_fields(plain), "signature": key.sign(plain.signed_part()).hex()})


def signed_by(answers: Answers, public_key: str) -> bool:
    """Whether the signature is that of the pack with this public key."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(answers.signature), answers.signed_part())
    except (InvalidSignature, ValueError):
        return False
    return True


def read_answers(content: bytes) -> Answers:
    """Read a document.

    Raises:
        BadAnswers: it is none, of a newer version, cut or altered.
    """
    try:
        document = json.loads(content.decode("utf-8"))
        form = document.pop("format")
        if form != FORMAT and str(form).startswith(FAMILY):
            raise BadAnswers(
                "The answers were written by a newer version of this program. Install the newest "
                "version and merge them again."
            )
        if form != FORMAT:
            raise ValueError("another form")
        answers = _answers(document)
        if answers.to_bytes() != content:
            raise ValueError("not as written")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadAnswers(
            "These are no answers of this program, or they were cut or altered on the way. "
            "Ask the rater to write the file again from the pack."
        ) from error
    return answers


def _answers(document: dict[str, Any]) -> Answers:
    seats = tuple(_seated(seat) for seat in document.pop("seats"))
    entries = tuple(_typed(EntryRow, entry) for entry in document.pop("entries"))
    texts = {name: document[name] for name in document}
    if not all(isinstance(text, str) for text in texts.values()):
        raise TypeError("a text is none")
    return Answers(seats=seats, entries=entries, **texts)


def _seated(document: Mapping[str, Any]) -> Seated:
    rater, order = document["rater"], document["order"]
    places = []
    for item_id, kind, swapped in order:
        if not (isinstance(item_id, str) and isinstance(kind, str) and type(swapped) is bool):
            raise TypeError("a place is none")
        places.append((item_id, kind, swapped))
    return Seated(_typed(RaterRow, rater), tuple(places))


Row = typing.TypeVar("Row", EntryRow, RaterRow)


def _typed(kind: type[Row], values: Mapping[str, Any]) -> Row:
    """A row with every field of the type it says; a bool is no number."""
    if set(values) != set(kind.__dataclass_fields__):
        raise KeyError("other fields")
    for name, allowed in _kinds(kind.__name__).items():
        if type(values[name]) not in allowed:
            raise TypeError(f"{name} is of another type")
    return kind(**values)


@functools.cache
def _kinds(row: str) -> dict[str, tuple[type, ...]]:
    """Field name of a kind of row to the types it may have, as JSON gives them."""
    kinds = {}
    hints = typing.get_type_hints({"EntryRow": EntryRow, "RaterRow": RaterRow}[row])
    for name, hint in hints.items():
        listed = typing.get_args(hint) if type(None) in typing.get_args(hint) else (hint,)
        kinds[name] = tuple(one if one in (int, str, type(None)) else dict for one in listed)
    return kinds


def _places(store: Store, rater: str) -> tuple[study_items.PresentationRow, ...]:
    return study_items.presentations(store, rater)


def _fields(answers: Answers) -> dict[str, Any]:
    return {name: getattr(answers, name) for name in Answers.__dataclass_fields__}


def _without(document: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != name}
