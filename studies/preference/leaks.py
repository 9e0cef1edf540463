"""Looks for words in everything a rater could open: names, raw bytes, cells, picture chunks.

Used on every new study before it is handed out, and by the tests. Owns the walk; refuses to
judge which words are secret.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

PLAIN_CHUNKS = {b"IHDR", b"PLTE", b"IDAT", b"IEND"}
PNG = b"\x89PNG\r\n\x1a\n"
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
        found += [Leak(f"name of {path.name}", w) for w in _in_text(path.name, wanted)]
        if path.is_file():
            found += [Leak(path.name, w) for w in _in_bytes(path.read_bytes(), wanted)]
            if path.suffix == ".sqlite":
                found += list(_in_database(path, wanted, pixels="search"))
    return tuple(dict.fromkeys(found))


def find_in_cells(file: Path, words: Iterable[str]) -> tuple[Leak, ...]:
    """The quick walk for a study of any size: text cells, and what stands beside the pixels.

    A picture with anything but pixels in it is a find of its own.
    """
    return tuple(dict.fromkeys(_in_database(file, _variants(words), pixels="trust")))


def _variants(words: Iterable[str]) -> tuple[str, ...]:
    """Each word as it is and as JSON writes it (quotes, backslashes, letters as escapes)."""
    wanted: dict[str, None] = {}
    for word in words:
        if word:
            wanted[word.casefold()] = None
            wanted[json.dumps(word)[1:-1].casefold()] = None
    return tuple(wanted)


def _in_text(text: str, words: tuple[str, ...]) -> list[str]:
    lowered = text.casefold()
    return [word for word in words if word in lowered]


def _in_bytes(content: bytes, words: tuple[str, ...]) -> list[str]:
    """Words as they would lie in a file; ASCII capitals are folded, others must fit."""
    lowered = content.lower()
    return [
        word
        for word in words
        if any(word.encode(name, "surrogatepass").lower() in lowered for name in ENCODINGS)
    ]


def _in_database(path: Path, words: tuple[str, ...], *, pixels: str) -> Iterator[Leak]:
    """Cell by cell: long values lie in pieces in the file, and pictures are compressed."""
    with closing(sqlite3.connect(path)) as connection:
        made = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
        for name, sql in made:
            for word in _in_text(f"{name} {sql or ''}", words):
                yield Leak(f"{path.name}, schema of {name}", word)
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            cursor = connection.execute(f'SELECT * FROM "{table}"')
            columns = [column[0] for column in cursor.description]
            for row in cursor:
                for column, value in zip(columns, row, strict=True):
                    for word in _in_cell(value, words, pixels=pixels):
                        yield Leak(f"{path.name}, {table}.{column}", word)


def _in_cell(value: object, words: tuple[str, ...], *, pixels: str) -> list[str]:
    if not isinstance(value, bytes):
        return _in_text(str(value), words)
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
