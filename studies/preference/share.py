"""Puts a study on a PostgreSQL server, so that several raters read it at once.

Owns the copy and the address without its password. Refuses to keep a password anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Shared:
    """A study on a server.

    Attributes:
        url: its address without a password; raters open it with ``study open URL``.
        pack_id: under which its answers are merged.
    """

    url: str
    pack_id: str


def share(path: Path, url: str) -> Shared:
    """Copy a study to a server; the log and the key stay here.

    Args:
        path: the coordinator's study folder.
        url: ``postgresql://user@host/database``; a schema of its own is made there. The
            password comes with it, from ``PGPASSWORD`` or from ``~/.pgpass``.

    Raises:
        BadStudy: a pack, or shared there already.
        RatingRefused: the study is unblinded.
        StoreError: the server refuses.
    """
    raise NotImplementedError
