"""Looks for words in everything a rater could open: names, raw bytes, cells, picture chunks.

Used on every new study before it is handed out, and by the tests. Owns the walk; refuses to
judge which words are secret.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PLAIN_CHUNKS = {b"IHDR", b"PLTE", b"IDAT", b"IEND"}
SQLITE = b"SQLite format 3\x00"
PNG = b"\x89PNG\r\n\x1a\n"
GRAM, TABLE = 4, 1 << 20
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


@dataclass(frozen=True)
class Leak:
    """One find.

    Attributes:
        place: file name, and table and column where known.
        word: what was found there.
    """

    place: str
    word: str


class Words:
    """Many words that are looked for in many texts.

    A text is scanned once for four bytes of each word, those that fewest words have, and only
    words whose four bytes are there are looked for.

    Args:
        words: casefolded; empty ones are skipped.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.listed = tuple(dict.fromkeys(word for word in words if word))
        coded = {word: word.encode("utf-8", "surrogatepass") for word in self.listed}
        counts = Counter(gram for raw in coded.values() for gram in set(_grams(raw)))
        self._short = [word for word, raw in coded.items() if len(raw) < GRAM]
        self._words: dict[int, list[tuple[str, bytes]]] = {}
        for word, raw in coded.items():
            if len(raw) >= GRAM:
                rarest = min(_grams(raw), key=lambda gram: counts[gram])
                self._words.setdefault(rarest, []).append((word, raw))
        self._there = np.zeros(TABLE, bool)
        self._there[_places(np.array(list(self._words), np.uint32))] = True

    def found_in(self, text: str) -> list[str]:
        """The words that a text holds, in any capitals."""
        folded = text.casefold()
        raw = folded.encode("utf-8", "surrogatepass")
        found = [word for word in self._short if word in folded]
        if len(raw) < GRAM:
            return found
        low = np.frombuffer(raw, np.uint8).astype(np.uint32)
        grams = low[:-3] | low[1:-2] << 8 | low[2:-1] << 16 | low[3:] << 24
        for gram in np.unique(grams[self._there[_places(grams)]]).tolist():
            found += [word for word, coded in self._words.get(gram, ()) if coded in raw]
        return found


def _grams(raw: bytes) -> list[int]:
    return [int.from_bytes(raw[n : n + GRAM], "little") for n in range(len(raw) - GRAM + 1)]


def _places(grams: NDArray[Any]) -> NDArray[np.uint32]:
    """Places of grams in the table."""
    mixed: NDArray[np.uint32] = grams * np.uint32(2654435761) >> np.uint32(12)
    return mixed


def find_words(folder: Path, words: Iterable[str]) -> tuple[Leak, ...]:
    """Every place below a folder that holds one of the words, in any capitals.

    Reads every file whole, pictures and free pages included; for small studies and for tests.

    Args:
        folder: a study's folder (its own name is looked at too).
        words: what must not be there; empty ones are skipped.
    """
    wanted = _variants(words)
    found: list[Leak] = []
    for path in (folder, *sorted(folder.rglob("*"))):
        found += [Leak(f"name of {path.name}", w) for w in wanted.found_in(path.name)]
        if path.is_file():
            found += [Leak(path.name, w) for w in _in_bytes(path.read_bytes(), wanted)]
            if is_database(path):
                found += list(_in_database(path, wanted, pixels="search"))
    return tuple(dict.fromkeys(found))


def is_database(path: Path) -> bool:
    """Whether a file is of SQLite, whatever it is called: packs are too."""
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def find_in_cells(file: Path, words: Iterable[str]) -> tuple[Leak, ...]:
    """The quick walk for a study of any size: text cells, and what stands beside the pixels.

    A picture with anything but pixels in it is a find of its own.
    """
    return tuple(dict.fromkeys(_in_database(file, _variants(words), pixels="trust")))


def _variants(words: Iterable[str]) -> Words:
    """Each word as it is and as JSON writes it (quotes, backslashes, letters as escapes)."""
    wanted: dict[str, None] = {}
    for word in words:
        if word:
            wanted[word.casefold()] = None
            wanted[json.dumps(word)[1:-1].casefold()] = None
    return Words(wanted)


def _in_bytes(content: bytes, words: Words) -> list[str]:
    """Words as they would lie in a file; ASCII capitals are folded, others must fit."""
    lowered = content.lower()
    return [
        word
        for word in words.listed
        if any(word.encode(name, "surrogatepass").lower() in lowered for name in ENCODINGS)
    ]


def _in_database(path: Path, words: Words, *, pixels: str) -> Iterator[Leak]:
    """Cell by cell: long values lie in pieces in the file, and pictures are compressed."""
    with closing(sqlite3.connect(path)) as connection:
        made = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
        for name, sql in made:
            for word in words.found_in(f"{name} {sql or ''}"):
                yield Leak(f"{path.name}, schema of {name}", word)
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            cursor = connection.execute(f'SELECT * FROM "{table}"')
            columns = [column[0] for column in cursor.description]
            for row in cursor:
                for column, value in zip(columns, row, strict=True):
                    for word in _in_cell(value, words, pixels=pixels):
                        yield Leak(f"{path.name}, {table}.{column}", word)


def _in_cell(value: object, words: Words, *, pixels: str) -> list[str]:
    if not isinstance(value, bytes):
        return words.found_in(str(value))
    if value.startswith(PNG):
        beside = [(name, body) for name, body in _chunks(value) if name not in PLAIN_CHUNKS]
        if pixels == "trust":
            return [f"chunk {name!r} beside the pixels" for name, _ in beside]
        return [w for _, body in beside for w in _in_bytes(body + _unpacked(body), words)]
    return [] if pixels == "trust" else _in_bytes(value + _unpacked(value), words)


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(PNG)
    while place + 8 <= len(content):
        length = int.from_bytes(content[place : place + 4], "big")
        name = content[place + 4 : place + 8]
        yield name, content[place + 8 : place + 8 + length]
        place += 12 + length
        if name == b"IEND":
            break
    if place < len(content):
        yield b"after the end", content[place:]


def _unpacked(body: bytes) -> bytes:
    """What a compressed text chunk or volume unpacks to; nothing if it does not."""
    start = body.find(b"\x78")
    while start >= 0:
        try:
            return zlib.decompressobj().decompress(body[start:])
        except zlib.error:
            start = body.find(b"\x78", start + 1)
    return b""
