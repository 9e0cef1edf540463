"""Which objects of a collection a study asks about: so many by lot, or those that a file lists.

Owns reading that choice. Refuses more than there are, and a line that names nothing of the
collection; what is asked of the models is ``studies.preference.collection_source``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from db.collections import EvidenceRow
from db.failures import translated
from db.home import Home
from db.session import open_store
from studies.errors import BadRequest
from studies.neighbours import usable_rows
from studies.preference.sample import generator

LOTS = 5  # stream of the sample's seed
MOST = 1 << 24


def asked_about(home: Home, collection: str, told: str, *, seed: int) -> list[int]:
    """Ids of the objects to ask about.

    Args:
        home: holds the collection.
        collection: its name.
        told: a number of objects, drawn by lot; or a text file with an id or a path on each line
            (from the file's own folder; empty lines and those that begin with ``#`` are none).
        seed: of the lot.

    Raises:
        BadRequest: neither a number nor a file, more than there are, or a line that fits nothing.
        NoRun: the collection is empty.
        StoreError: the file cannot be read.
    """
    with open_store(home.make()) as store:
        rows = usable_rows(store, collection)
    told = told.strip()
    return _drawn(rows, int(told), seed) if told.isdecimal() else _listed(rows, Path(told))


def _drawn(rows: Sequence[EvidenceRow], count: int, seed: int) -> list[int]:
    if not 1 <= count <= len(rows):
        raise BadRequest(
            f"The collection has {len(rows)} objects to ask about, not {count}; "
            f"give a number from 1 to {len(rows)}."
        )
    lots = generator(seed, LOTS).permutation(len(rows))[:count]
    return sorted(rows[int(place)].id for place in lots)


def _listed(rows: Sequence[EvidenceRow], file: Path) -> list[int]:
    with translated(file):
        if not file.is_file():
            raise BadRequest(f"--queries wants a number or a file; {file} is neither.")
        content = file.read_bytes()[:MOST]
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise BadRequest(f"{file} is no text. List an id or a path on each line.") from None
    known = {str(row.id): row.id for row in rows} | {str(row.path): row.id for row in rows}
    found: dict[int, None] = {}
    for number, line in enumerate(lines, 1):
        name = line.strip()
        if name and not name.startswith("#"):
            name = name if name in known else str(file.parent / name)
            if name not in known:
                raise BadRequest(
                    f"Line {number} of {file} names {line.strip()[:80]!r}, which the collection "
                    "does not hold. Its ids and paths are told by: triptych neighbours --json"
                )
            found[known[name]] = None
    if not found:
        raise BadRequest(f"{file} lists nothing. Put an id or a path on each line.")
    return list(found)
