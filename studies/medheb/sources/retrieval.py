"""What several sources share: sets of queries, documents and which belongs to which.

Finds each of the three tables as JSON lines or parquet, under any of its names. Rows that name a
query or document that is not there are faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.errors import EvidenceError
from studies.medheb.builders.record import Fault
from studies.medheb.sources.folders import find_inside
from studies.medheb.sources.parquet import read_parquet, split_files
from studies.medheb.sources.words import read_objects, text_of

Row = tuple[str, Mapping[str, Any]]
Triple = tuple[str, str, Mapping[str, Any], Mapping[str, Any]]


def has_rows(root: Path, names: Sequence[str]) -> bool:
    """Whether a table of one of these names is there."""
    return any(find_inside(root, f"{name}.jsonl") or split_files(root, name) for name in names)


def rows_of(root: Path, names: Sequence[str]) -> Iterator[Row | Fault]:
    """The rows of the first table of these names that is there, each with its place.

    Raises:
        EvidenceError: none is there, or it cannot be read.
    """
    for name in names:
        path = find_inside(root, f"{name}.jsonl")
        if path is not None:
            yield from read_objects(path)
            return
        files = split_files(root, name)
        for part in files:
            yield from ((f"{part.name}, row {place}", row) for place, row in read_parquet(part))
        if files:
            return
    raise EvidenceError(root / f"{names[0]}.jsonl", "missing", "it is not there, nor as parquet")


def triples(
    root: Path, corpus: Sequence[str], queries: Sequence[str], relevant: Sequence[str]
) -> Iterator[Triple | Fault]:
    """Each pair of a query and a document that belongs to it.

    Args:
        root: folder of the source.
        corpus: names of the table of documents (``_id``, ``title``, ``text``).
        queries: names of the table of queries (``_id``, ``text``).
        relevant: names of the table of pairs (``query-id``, ``corpus-id``, ``score``).

    Returns:
        Place, the query's id, the query and the document.

    Raises:
        EvidenceError: a table is missing or cannot be read.
    """
    known: list[dict[str, Mapping[str, Any]]] = []
    for names in (corpus, queries):
        table: dict[str, Mapping[str, Any]] = {}
        for one in rows_of(root, names):
            if isinstance(one, Fault):
                yield one
            else:
                table[_id(one[1], "_id", "id")] = one[1]
        known.append(table)
    documents, asked = known
    for one in rows_of(root, relevant):
        if isinstance(one, Fault):
            yield one
            continue
        where, row = one
        query, document = _id(row, "query-id", "query_id"), _id(row, "corpus-id", "corpus_id")
        if row.get("score", 1) in (0, "0"):
            continue
        if query not in asked or document not in documents:
            yield Fault(where, "names a query or a document that is not there")
        else:
            yield where, query, asked[query], documents[document]


def _id(row: Mapping[str, Any], *names: str) -> str:
    return next((str(row[name]) for name in names if row.get(name) is not None), "")


def joined(document: Mapping[str, Any], *, with_title: bool = True) -> str:
    """A document's text, its title in front where it has one.

    Raises:
        ValueError: a field is no text.
    """
    title = text_of(document.get("title")) if with_title else ""
    return f"{title} {text_of(document.get('text'))}".strip()
