"""A collection of the home as entries: what its files say, and nothing that they do not.

A report beside a picture of the same study, two modalities of one patient, and the codes of a set
that carries labels. Patients are the salted tokens of the library. Refuses to read a report's file
again: the text is the one that was indexed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from db.collections import EvidenceRow, Filters, collection_id, items, report_of
from db.session import Store
from engine.control import Control
from engine.errors import EvidenceError
from engine.evidence.pixels import digest
from studies.errors import BadRequest
from studies.evidence_rows import item_of_row
from studies.medheb.builders.record import Fault
from studies.medheb.own_entries import Entry
from studies.medheb.own_table import Read

PAGE = 200


def read_collection(store: Store, name: str, words: Mapping[str, str], control: Control) -> Read:
    """What a collection holds.

    Args:
        store: the home's database.
        name: of the collection.
        words: a code to the class in words.
        control: asked between objects.

    Raises:
        BadRequest: there is no such collection, or it shows nothing.
    """
    with store.reading() as connection:
        known = collection_id(connection, name) is not None
    if not known:
        raise BadRequest(f"{name!r} is neither a table on disk nor a collection of this home.")
    entries: list[Entry] = []
    faults: list[Fault] = []
    control.begin(0, unit="objects", phase=f"Reading {name}")
    for row in _rows(store, name):
        control.check()
        try:
            entries.append(_entry(store, row, words))
        except EvidenceError as error:
            faults.append(Fault(f"object {row.id}", str(error)))
        control.step()
    if not entries:
        raise BadRequest(f"The collection {name!r} holds no picture and no volume.")
    return Read(tuple(entries), tuple(faults), {}, ())


def _rows(store: Store, name: str) -> Iterator[EvidenceRow]:
    offset = 0
    while page := items(store, name, offset=offset, limit=PAGE, filters=Filters()):
        yield from (row for row in page if row.kind in ("image", "volume", "cine"))
        offset += len(page)


def _entry(store: Store, row: EvidenceRow, words: Mapping[str, str]) -> Entry:
    item = item_of_row(row)
    source = row.details.get("source") or {}
    codes = str(source.get("label") or "").split()
    labels = codes if len(codes) == 1 else [str(n) for n, bit in enumerate(codes) if bit == "1"]
    report = report_of(store, row.id) if row.has_report else None
    text = row.text or (report.text if report is not None else None)
    return Entry(
        key=f"object {row.id}",
        shown=item,
        content=digest(item)[:20],
        patient=row.subject or row.study or "",
        part=str(source.get("split") or ""),
        labels=tuple(words.get(label, label) for label in labels),
        texts={"report": text} if text else {},
        modality=(row.modality or "").lower() if item.volumes else "",
    )
