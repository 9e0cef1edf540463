"""Nearest neighbours of a study in a collection, by cosine under one model.

The study itself (equal content) is not its own neighbour. Same patient is said, never who.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from db.collections import EvidenceRow, Filters, count_items, item, items, salt
from db.home import Home
from db.session import Store, open_store
from engine.cache import VectorCache
from engine.control import Control
from engine.encode import encode_items
from engine.errors import EvidenceError
from engine.evidence.item import Item
from engine.evidence.open import find_evidence
from engine.evidence.pixels import digest, item_of
from engine.evidence.study import Evidence
from engine.index import ExactIndex
from engine.models.load import load_encoder
from studies.errors import NoRun
from studies.evidence_rows import item_of_row, usable
from studies.places import shipped_models

EXTRA = 8  # hits fetched beyond k, since copies of the query are dropped


def neighbours_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Embed a collection and a study (by ``path`` or indexed ``id``); list the ``k`` nearest.

    With ``other_patients`` nothing of the same patient or study is listed.
    """
    name = arguments["collection"]
    with open_store(home) as store:
        rows = usable_rows(store, name)
        query, who = _query(store, arguments)
    encoder = load_encoder(
        arguments["model"],
        weights_dir=home.weights,
        shipped_dir=shipped_models(),
        cards_dir=home.cards,
        device=arguments.get("device") or "auto",
        dtype=arguments.get("dtype") or "auto",
        control=control,
    )
    all_items = [query, *[item_of_row(row) for row in rows]]
    encoded = encode_items(all_items, encoder, cache=VectorCache(home.vectors), control=control)
    if 0 in encoded.failures:
        raise EvidenceError(Path(str(arguments.get("path", "study"))), "refused",
                            encoded.failures[0])  # fmt: skip
    hits = _hits(rows, encoded.vectors, query, who, k=int(arguments.get("k", 10)),
                 others_only=bool(arguments.get("other_patients")))  # fmt: skip
    left_out = [
        {"path": str(rows[number - 1].path), "reason": sentence}
        for number, sentence in sorted(encoded.failures.items())
    ]
    return {"model": encoder.model_id, "collection": name, "neighbours": hits,
            "searched": len(rows) - len(left_out), "left_out": left_out}  # fmt: skip


def usable_rows(store: Store, collection: str) -> list[EvidenceRow]:
    """Everything in a collection that has a picture or a text.

    Raises:
        NoRun: the collection is empty or does not exist.
    """
    count = count_items(store, collection)
    rows = items(store, collection, limit=max(1, count), filters=Filters())
    kept = [row for row in rows if usable(row)]
    if not kept:
        raise NoRun(
            f"Collection {collection!r} holds nothing to search. "
            "Fill it with: triptych import PATH --collection NAME"
        )
    return kept


@dataclass(frozen=True)
class Who:
    """Tokens of the query's patient and study, None where the file names none."""

    subject: str | None
    study: str | None

    def same_patient(self, row: EvidenceRow) -> bool:
        """Whether an object is of the query's patient."""
        return self.subject is not None and self.subject == row.subject

    def same_study(self, row: EvidenceRow) -> bool:
        """Whether an object is of the query's study."""
        return self.study is not None and self.study == row.study


def _query(store: Store, arguments: dict[str, Any]) -> tuple[Item, Who]:
    """The item to start from and whose it is."""
    if arguments.get("id") is not None:
        row = item(store, int(arguments["id"]))
        if row is None:
            raise NoRun("That study is no longer in the library. Import it again.")
        return item_of_row(row), Who(row.subject, row.study)
    evidence = only_one(Path(arguments["path"]), salt(store))
    return item_of(evidence), Who(evidence.subject, evidence.study)


def only_one(path: Path, secret: bytes) -> Evidence:
    """The one study at a path.

    Raises:
        EvidenceError: it cannot be read, or the path holds none or several.
    """
    found = list(find_evidence([path], salt=secret))
    kept = [evidence for evidence in found if usable(evidence)]
    if len(kept) == 1:
        return kept[0]
    if not kept and found and found[0].error is not None:
        raise found[0].error
    reason = f"holds {len(kept)} studies; name the file or folder of one"
    if kept:
        reason += f", for example {', '.join(one.path.name for one in kept[:4])}"
    raise EvidenceError(path, "several" if kept else "nothing", reason)


def _hits(
    rows: list[EvidenceRow], vectors_ND: Any, query: Item, who: Who, *, k: int, others_only: bool
) -> list[dict[str, Any]]:
    """The ``k`` nearest rows, without copies of the query itself."""
    name = digest(query)
    kin = [who.same_patient(row) or who.same_study(row) for row in rows]
    hits: list[dict[str, Any]] = []
    most = k + EXTRA + (sum(kin) if others_only else 0)
    found = ExactIndex(np.asarray(vectors_ND)[1:]).search(np.asarray(vectors_ND)[0], most)
    for number, score in found:
        row = rows[number]
        if len(hits) >= k or (others_only and kin[number]):
            continue
        if digest(item_of_row(row)) != name:
            hits.append(_hit(row, score, who))
    return hits


def _hit(row: EvidenceRow, score: float, who: Who) -> dict[str, Any]:
    return {
        "id": row.id,
        "path": str(row.path),
        "score": round(score, 6),
        "form": row.form,
        "kind": row.kind,
        "modality": row.modality,
        "same_patient": who.same_patient(row),
        "same_study": who.same_study(row),
    }
