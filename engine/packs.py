"""Many vectors of one model in one file: what a batch made is written at once.

Owns the format and the index over the files of a folder. A row carries a checksum over its key and
values, so that what is damaged counts as absent; a file appears whole or not at all. Refuses
nothing: a file that is no pack is passed over.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SUFFIX = ".pack"
_HEAD = b"TRPACK1\0"
_SUM = 16
_LENGTH = 4
_number = itertools.count()


@dataclass(frozen=True)
class Place:
    """Where one vector lies.

    Attributes:
        path: of the pack.
        offset: of its row.
        dim: its length.
        cut: the text of its item was cut.
    """

    path: str
    offset: int
    dim: int
    cut: bool


@dataclass(eq=False)
class Packs:
    """The packs of one folder.

    Attributes:
        folder: holds nothing else.
        places: key to where its newest vector lies.
    """

    folder: Path
    places: dict[str, Place] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def refresh(self) -> None:
        """Look for packs that other processes wrote since."""
        try:
            names = {entry.name for entry in os.scandir(self.folder)}
        except OSError:
            return
        for name in sorted(names - self._known):  # by time: the newest wins
            self._known.add(name)
            if name.endswith(SUFFIX):
                self._index(self.folder / name)

    def _index(self, path: Path) -> None:
        try:
            with path.open("rb") as stream:
                if stream.read(len(_HEAD)) != _HEAD:
                    return
                size = int.from_bytes(stream.read(_LENGTH), "little")
                table = json.loads(stream.read(size))
            self._place(path, len(_HEAD) + _LENGTH + size, table["keys"], table["dim"],
                        table["cut"])  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return

    def _place(self, path: Path, start: int, keys: list[str], dim: int, cut: list[bool]) -> None:
        step = _SUM + 4 * dim
        for row, (key, short) in enumerate(zip(keys, cut, strict=True)):
            self.places[key] = Place(str(path), start + row * step, int(dim), bool(short))

    def read(self, key: str) -> tuple[NDArray[np.float32] | None, bool]:
        """The vector [D] of a key and whether its text was cut; None if absent or damaged."""
        place = self.places.get(key)
        if place is None:
            return None, False
        try:
            with open(place.path, "rb", buffering=0) as stream:  # noqa: PTH123 - in a hot loop
                stream.seek(place.offset)
                row = stream.read(_SUM + 4 * place.dim)
        except OSError:
            return None, False
        payload = row[_SUM:]
        if len(payload) != 4 * place.dim or row[:_SUM] != _sum(key, payload):
            return None, False
        return np.frombuffer(payload, "<f4").astype(np.float32), place.cut

    def write(self, vectors: Mapping[str, tuple[NDArray[np.float32], bool]]) -> None:
        """Write vectors of one length as one pack.

        Raises:
            OSError: the disk is full or the folder cannot be written; nothing half is left.
        """
        keys = list(vectors)
        rows = [np.ascontiguousarray(vectors[key][0], "<f4").tobytes() for key in keys]
        cut = [bool(vectors[key][1]) for key in keys]
        dim = len(rows[0]) // 4
        table = json.dumps({"dim": dim, "keys": keys, "cut": cut}).encode()
        parts = [_HEAD, len(table).to_bytes(_LENGTH, "little"), table]
        for key, row in zip(keys, rows, strict=True):
            parts += [_sum(key, row), row]
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{time.time_ns():020d}-{os.getpid()}-{next(_number)}"
        path, part = self.folder / f"{name}{SUFFIX}", self.folder / f".{name}.part"
        try:
            part.write_bytes(b"".join(parts))
            part.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
        self._known.add(path.name)
        self._place(path, len(_HEAD) + _LENGTH + len(table), keys, dim, cut)


def _sum(key: str, payload: bytes) -> bytes:
    return hashlib.sha256(key.encode() + payload).digest()[:_SUM]
