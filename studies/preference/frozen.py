"""What is frozen before the first item is read, and its hash.

A manifest holds one hash per item and per medium; the study's hash covers the frame with that
manifest, so that one byte changed anywhere shows and can be named. Refuses to hold anything
that tells a model: it is stored in the open.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import secrets
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from db.study_items import ItemRow, MediumRow, RaterRow, StudyRow

FORMAT = 1


def software_version() -> str:
    """The version of this program, as frozen and stored with each answer."""
    try:
        return importlib.metadata.version("triptych")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def opaque_id() -> str:
    """12 hex digits by lot; the first is a letter, or a spreadsheet would make a number of some."""
    return secrets.choice("abc") + secrets.token_hex(6)[1:]


def canonical(document: Any) -> bytes:
    """JSON in one possible way: sorted keys, no blanks, UTF-8, no NaN."""
    text = json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8", "surrogatepass")


def sha256(content: bytes) -> str:
    """64 hex digits."""
    return hashlib.sha256(content).hexdigest()


def item_hash(row: ItemRow) -> str:
    """The hash of one item as shown."""
    return sha256(canonical(asdict(row)))


def medium_hash(row: MediumRow) -> str:
    """The hash of one medium: its names, shape and the hash of its actual content."""
    listed = [row.key, row.media_id, row.coding, list(row.shape), sha256(row.content)]
    return sha256(canonical(listed))


def order_hash(rater: RaterRow, order: Iterable[tuple[str, str, bool]]) -> str:
    """The hash of a rater's profile and order, logged when the rater first sits down."""
    return sha256(canonical([asdict(rater), [list(place) for place in order]]))


def study_hash(row: StudyRow) -> str:
    """The hash of a study: everything in its frame but the hash itself."""
    frame = asdict(row)
    frame.pop("hash")
    return sha256(canonical({"format": FORMAT, **frame}))
