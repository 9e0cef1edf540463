"""Vectors kept on disk, so that nothing is computed twice: a file each, or a pack of a batch.

The key is a model's fingerprint (weights, settings, libraries) and a content digest; a file's name
never matters. Writes are atomic, a file carries its checksum, and what is damaged counts as absent.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.packs import Packs

_HEAD, _HEAD_CUT = b"TRVEC1\0\0", b"TRVEC1C\0"  # the second: of an item whose text was cut
_SUM = 16
_KEY = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,127}")


class VectorCache:
    """A folder of vectors: ``<fingerprint>/<two letters>/<digest>.vec``, or packs.

    Vectors that were made together lie in one file, ``<fingerprint>/packs/<time>.pack``; a single
    one has its own, in one of 256 folders. A look-up is one open. Several processes may use one
    folder at once.

    Args:
        folder: made when the first vector is put.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: set[Path] = set()
        self._packs: dict[str, Packs] = {}

    def path(self, fingerprint: str, digest: str) -> Path:
        """Where a vector lies, whether it is there or not.

        Raises:
            ValueError: a key that is not a plain hex-like word.
        """
        _check(fingerprint, digest)
        return self.folder / fingerprint / digest[:2] / f"{digest}.vec"

    def get(
        self, fingerprint: str, digest: str, *, dim: int | None = None
    ) -> NDArray[np.float32] | None:
        """The vector [D], or None where it is absent, damaged or not of length ``dim``."""
        return self.look_up(fingerprint, digest, dim=dim)[0]

    def look_up(
        self, fingerprint: str, digest: str, *, dim: int | None = None
    ) -> tuple[NDArray[np.float32] | None, bool]:
        """The same, and whether the text of its item was cut to the model's length."""
        _check(fingerprint, digest)
        vector, cut = self._packed(fingerprint).read(digest)
        if vector is not None and (dim is None or vector.size == dim):
            return vector, cut
        try:
            with open(self._name(fingerprint, digest), "rb") as stream:  # noqa: PTH123 - hot
                content = stream.read()
        except OSError:
            return None, False
        return _unpack(content, dim), content.startswith(_HEAD_CUT)

    def put(
        self,
        fingerprint: str,
        digest: str,
        vector: NDArray[np.float32],
        *,
        shortened: bool = False,
    ) -> None:
        """Store a vector [D] atomically, over a damaged one if there is one.

        Raises:
            OSError: the disk is full or the folder cannot be written; nothing half is left.
        """
        path = self.path(fingerprint, digest)
        if path.parent not in self._made:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(path.parent)
        part = path.with_name(f".{digest[:40]}.{os.getpid()}.{threading.get_ident()}.part")
        try:
            part.write_bytes(_pack(vector, _HEAD_CUT if shortened else _HEAD))
            part.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink()
            # Windows lets nobody replace a file that another run has open: it wrote the same
            if self.get(fingerprint, digest, dim=vector.size) is None:
                raise

    def put_many(
        self, fingerprint: str, vectors: Mapping[str, tuple[NDArray[np.float32], bool]]
    ) -> None:
        """Store what a batch made: digest to vector [D] and whether its text was cut.

        Raises:
            OSError: the disk is full or the folder cannot be written; nothing half is left.
        """
        _check(fingerprint, *vectors)
        self._packed(fingerprint).write(vectors)

    def refresh(self, fingerprint: str) -> None:
        """See what other processes have put since."""
        self._packed(fingerprint).refresh()

    def names(self, fingerprint: str) -> set[str]:
        """The digests of one model's vectors here, damaged ones among them."""
        alone = {path.stem for path in (self.folder / fingerprint).glob("??/*.vec")}
        return alone | self._packed(fingerprint).places.keys()

    def count(self, fingerprint: str) -> int:
        """How many vectors of one model lie here."""
        return len(self.names(fingerprint))

    def _name(self, fingerprint: str, digest: str) -> str:
        return f"{self.folder}/{fingerprint}/{digest[:2]}/{digest}.vec"

    def _packed(self, fingerprint: str) -> Packs:
        if fingerprint not in self._packs:
            self._packs[fingerprint] = Packs(self.folder / fingerprint / "packs")
            self._packs[fingerprint].refresh()
        return self._packs[fingerprint]


def _check(*keys: str) -> None:
    """Refuse keys that are no plain words.

    Raises:
        ValueError: one of them is not.
    """
    for key in keys:
        if not _KEY.fullmatch(key):
            raise ValueError(f"a cache key is a plain word, not {key!r}")


def _pack(vector: NDArray[np.float32], head: bytes) -> bytes:
    payload = np.ascontiguousarray(vector, dtype="<f4").tobytes()
    return head + hashlib.sha256(payload).digest()[:_SUM] + payload


def _unpack(content: bytes, dim: int | None) -> NDArray[np.float32] | None:
    start = len(_HEAD) + _SUM
    payload = content[start:]
    whole = (
        content.startswith((_HEAD, _HEAD_CUT))
        and len(payload) > 0
        and len(payload) % 4 == 0
        and hashlib.sha256(payload).digest()[:_SUM] == content[len(_HEAD) : start]
        and (dim is None or len(payload) == 4 * dim)
    )
    return np.frombuffer(payload, dtype="<f4").astype(np.float32) if whole else None
