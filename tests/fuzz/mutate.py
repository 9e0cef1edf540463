"""Mutations as data: a recipe names a base and the edits that make a mutant of it.

A recipe is a plain dictionary that JSON can hold, so that a finding is kept without its bytes.
"""

from __future__ import annotations

import gzip
import io
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from tests.fuzz import bases, semantic
from tests.fuzz.makers import zipped

Edit = list[Any]
Recipe = dict[str, Any]

# where structure begins: cuts, copies and wrong lengths go there more often than elsewhere
LANDMARKS = re.compile(
    b"|".join(
        re.escape(one)
        for one in (
            b"DICM", b"\xe0\x7f\x10\x00", b"\x7f\xe0\x00\x10", b"\xfe\xff\x00\xe0",
            b"\xfe\xff\xdd\xe0", b"\xfe\xff\x0d\xe0", b"\x28\x00\x10\x00", b"\x28\x00\x08\x00",
            b"\x08\x00\x05\x00", b"\x40\x00\x30\xa7", b"\x00\x60\x00\x30", b"\x28\x00\x06\x30",
            b"\x00\x52\x30\x92", b"IHDR", b"IDAT", b"IEND", b"PLTE", b"tRNS", b"PK\x01\x02",
            b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"\xff\xd8", b"\xff\xda", b"\xff\xd9",
            b"\xff\xc0", b"\xff\xc4", b"\xff\x4f", b"\xff\x51", b"\xff\x52", b"\xff\x90",
            b"\xff\x93", b"\xff\xf7", b"\x1f\x8b", b"BZh", b"II*\0", b"MM\0*", b"\n\n", b"NRRD",
            b"n+1\0", b"\x93NUMPY", b"endobj", b"stream", b"xref", b"MSH|", b"OBX|", b"\r\n",
            b"ElementDataFile", b"sizes:", b"DimSize", b"RIFF", b"VP8",
        )
    )
)  # fmt: skip
SYNTAXES = [
    f"1.2.840.10008.1.2{rest}".encode()
    for rest in ("", ".1", ".2", ".1.99", ".5", ".7.1", *(f".4.{n}" for n in (
        50, 51, 57, 70, 80, 81, 90, 91, 92, 93, 100, 102, 107, 110, 201, 202, 203)))
]  # fmt: skip
SYNTAX = re.compile(rb"(?s)\x02\x00\x10\x00UI(..)(1\.2\.840\.10008\.1\.2[0-9.]*\0?)")
TOKENS = [
    b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\xfe\xff\x00\xe0",
    b"\xfe\xff\xdd\xe0", b"\xfe\xff\x0d\xe0", b"\xfe\xff\xdd\xe0\0\0\0\0", b"\xe0\x7f\x10\x00",
    b"\x28\x00\x10\x00US\x02\x00\xff\xff", b"\x28\x00\x11\x00US\x02\x00\xff\xff",
    b"\x28\x00\x08\x00IS\x0a\x002147483647", b"\x28\x00\x00\x01US\x02\x00\x01\x00",
    b"\x28\x00\x02\x00US\x02\x00\x03\x00", b"SQ\0\0\xff\xff\xff\xff", b"OB\0\0\xff\xff\xff\xff",
    b"UN\0\0\xff\xff\xff\xff", b"US", b"SS", b"DS", b"IS", b"FD", b"OW", b"OB", b"SQ", b"PN",
    b"UL", b"AT", b"LO", b"RGB ", b"PALETTE COLOR ", b"YBR_FULL_422", b"MONOCHROME1 ",
    b"NaN", b"inf", b"-1", b"0", b"1e308", b"99999999999999999999", b"4294967295", b"\0", b"\x1b$B",
    b"\x1f\x8b\x08", b"PK\x03\x04", b"IHDR", b"IDAT", b"\xff\xd9", b"\xff\xda", b"\\", b"^", b"|",
    b"\n", b"\r\n", b'"', b"{", b"[" * 300, b"<<" * 300, b"(" * 300, b"\xef\xbb\xbf", b"\xff\xfe",
]  # fmt: skip
NUMBERS = (0, 1, 2, 3, 7, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF,
           0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, 1 << 63)  # fmt: skip
NAMES = ("a.png", "a.jpg", "a.tif", "a.gif", "a.webp", "a.dcm", "a.nii", "a.nii.gz", "a.hdr",
         "a.nrrd", "a.nhdr", "a.mha", "a.mhd", "a.txt", "a.csv", "a.jsonl", "a.hl7", "a.pdf",
         "a.zip", "a.npz", "DICOMDIR", "a", "a.img", "a.gz", "a.bmp", "a.json", "a.md")  # fmt: skip
ASCII_NUMBER = re.compile(rb"(?<![0-9.])[0-9]{1,6}(?![0-9.])")


def make(recipe: Recipe) -> dict[str, bytes]:
    """The files of a mutant by name."""
    base = bases.load(recipe["base"])
    raw = base.raw
    wrap = recipe.get("wrap")
    if wrap is not None:
        raw = unpacked(raw, wrap)
    for edit in recipe["edits"]:
        raw = apply(raw, edit)
    files = {name: content for name, content in base.files.items() if name != base.target}
    name = recipe.get("name", base.target)
    if wrap is not None:
        raw = packed(base.raw, raw, wrap, name)
    files[f"{name}.zip" if wrap == "zip" else name] = raw
    return files


def unpacked(raw: bytes, wrap: str) -> bytes:
    """What is to be changed: what is packed in a file, not the packed bytes, for some wraps."""
    if wrap == "inside":
        return gzip.decompress(raw)
    if wrap == "deflated":
        at = _after_meta(raw)
        return raw[:at] + zlib.decompress(raw[at:], -15)
    if wrap.startswith("member:"):
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return archive.read(wrap.removeprefix("member:"))
    return raw


def packed(whole: bytes, raw: bytes, wrap: str, name: str) -> bytes:
    """The changed bytes packed again, with checksums that fit."""
    if wrap in ("gzip", "inside"):
        return gzip.compress(raw, 1, mtime=0)
    if wrap == "zip":
        return zipped({name: raw})
    if wrap == "deflated":
        at = _after_meta(whole)
        engine = zlib.compressobj(wbits=-15)
        return raw[:at] + engine.compress(raw[at:]) + engine.flush()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        inside = {one: archive.read(one) for one in archive.namelist()}
    return zipped({**inside, wrap.removeprefix("member:"): raw})


def _after_meta(raw: bytes) -> int:
    """Where the data set of a DICOM file begins."""
    return 144 + int.from_bytes(raw[140:144], "little")


def wraps(raw: bytes) -> list[str]:
    """Ways into what is packed in a file."""
    if raw[:2] == b"\x1f\x8b":
        return ["inside"]
    if raw[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return [f"member:{name}" for name in archive.namelist()]
    return ["deflated"] if b"1.2.840.10008.1.2.1.99" in raw[:400] else []


def apply(raw: bytes, edit: Edit) -> bytes:
    """One edit; places beyond the end of the bytes change nothing."""
    return EDITS[edit[0]](raw, *edit[1:])


def _flip(raw: bytes, at: int, bit: int) -> bytes:
    if at >= len(raw):
        return raw
    return raw[:at] + bytes([raw[at] ^ 1 << bit]) + raw[at + 1 :]


def _set(raw: bytes, at: int, value: str) -> bytes:
    part = bytes.fromhex(value)
    return raw[:at] + part[: max(0, len(raw) - at)] + raw[at + len(part) :]


def _fill(raw: bytes, at: int, count: int, value: int) -> bytes:
    part = raw[at : at + count]
    return raw[:at] + bytes([value]) * len(part) + raw[at + count :]


def _cut(raw: bytes, at: int) -> bytes:
    return raw[:at]


def _delete(raw: bytes, at: int, count: int) -> bytes:
    return raw[:at] + raw[at + count :]


def _insert(raw: bytes, at: int, value: str) -> bytes:
    return raw[:at] + bytes.fromhex(value) + raw[at:]


def _copy(raw: bytes, start: int, count: int, at: int) -> bytes:
    return raw[:at] + raw[start : start + count] + raw[at:]


def _splice(raw: bytes, at: int, other: str, start: int, count: int) -> bytes:
    """Bytes of another base in place of the rest (count -1) or of as many."""
    part = bases.load(other).raw
    if count < 0:
        return raw[:at] + part[start:]
    return raw[:at] + part[start : start + count] + raw[at + count :]


EDITS: dict[str, Callable[..., bytes]] = {
    "flip": _flip, "set": _set, "fill": _fill, "cut": _cut, "delete": _delete, "insert": _insert,
    "copy": _copy, "splice": _splice, "element": semantic.element,
}  # fmt: skip


class Mutator:
    """Makes recipes; equal seeds make equal recipes.

    Args:
        names: the bases to choose from.
        seed: of everything.
    """

    def __init__(self, names: list[str], seed: int) -> None:
        self.names, self.seed = names, seed

    def recipe(self, number: int) -> Recipe:
        """The recipe of one mutant."""
        chance = random.Random(f"{self.seed}/{number}")
        base = chance.choice(self.names)
        raw = bases.load(base).raw
        recipe: Recipe = {"base": base}
        inside = wraps(raw)
        if inside and chance.random() < 0.6:
            recipe["wrap"] = chance.choice(inside)
            raw = unpacked(raw, recipe["wrap"])
        elif chance.random() < 0.03:
            recipe["wrap"] = chance.choice(("zip", "gzip"))
        kind = chance.choices(*zip(*KINDS, strict=True))[0]
        recipe["edits"] = kind(chance, raw, self.names)
        if kind is rename or chance.random() < 0.02:
            recipe["name"] = chance.choice(NAMES)
        return recipe


def place(chance: random.Random, raw: bytes, *, marks: list[int] | None = None) -> int:
    """A place: often at or just after a landmark or in the header, else anywhere."""
    found = marks if marks is not None else landmarks(raw)
    way = chance.random()
    if found and way < 0.45:
        return min(len(raw), max(0, chance.choice(found) + chance.randrange(-2, 13)))
    if way < 0.75:
        return chance.randrange(min(len(raw), 1500) + 1)
    return chance.randrange(len(raw) + 1)


@lru_cache(maxsize=300)
def landmarks(raw: bytes) -> list[int]:
    """Where known structures begin; at most some thousand."""
    found = []
    for match in LANDMARKS.finditer(raw):
        found.append(match.start())
        if len(found) > 4000:
            break
    return found


def flips(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    count = chance.choice((1, 1, 1, 2, 4, 16))
    return [["flip", place(chance, raw), chance.randrange(8)] for _ in range(count)]


def sets(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    count = chance.choice((1, 1, 2, 8, 40))
    return [["set", place(chance, raw), f"{chance.randrange(256):02x}"] for _ in range(count)]


def fills(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    count = chance.choice((2, 4, 8, 64, 512, 5000))
    return [["fill", place(chance, raw), count, chance.choice((0, 255, 32))]]


def cuts(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    if chance.random() < 0.3:
        return [["cut", max(0, len(raw) - chance.choice((1, 2, 3, 4, 8, 12, 16, 100, 1000)))]]
    return [["cut", min(len(raw), place(chance, raw))]]


def deletes(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    return [["delete", place(chance, raw), chance.choice((1, 2, 4, 8, 50, 1000))]]


def inserts(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    part = chance.randbytes(chance.choice((1, 2, 4, 16, 300)))
    return [["insert", place(chance, raw), part.hex()]]


def copies(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    count = chance.choice((4, 8, 20, 100, 1000, 20000))
    return [["copy", place(chance, raw), count, place(chance, raw)]]


def splices(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    other = chance.choice(names)
    start = place(chance, bases.load(other).raw)
    count = chance.choice((-1, -1, 4, 16, 200, 4000))
    return [["splice", place(chance, raw), other, start, count]]


def lengths(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    made: list[Edit] = []
    for _ in range(chance.choice((1, 1, 2))):
        size = chance.choice("HHIIIQ")
        bits = 8 * struct.calcsize(size)
        number = chance.choice(NUMBERS) % (1 << bits)
        value = struct.pack(chance.choice("<>") + size, number)
        made.append(["set", place(chance, raw), value.hex()])
    return made


def tokens(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    how = chance.choice(("set", "insert"))
    return [[how, place(chance, raw), chance.choice(TOKENS).hex()]]


def syntaxes(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    """Another transfer syntax, its length mended; something else where there is none."""
    found = SYNTAX.search(raw[:2000])
    if found is None:
        return numerals(chance, raw, names)
    value = chance.choice(SYNTAXES)
    value += b"\0" * (len(value) % 2)
    at = found.start(1)
    whole = struct.pack("<H", len(value)) + value
    return [["delete", at, found.end(2) - at], ["insert", at, whole.hex()]]


def numerals(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    """A number written in digits becomes an absurd one."""
    found = list(ASCII_NUMBER.finditer(raw[:4000]))
    if not found:
        return lengths(chance, raw, names)
    one = chance.choice(found)
    value = chance.choice((b"0", b"-1", b"65535", b"99999", b"4294967296", b"1e9", b"nan", b""))
    return [["delete", one.start(), one.end() - one.start()], ["insert", one.start(), value.hex()]]


def rename(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    return flips(chance, raw, names) if chance.random() < 0.3 else []


def mixtures(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    many = (flips, fills, lengths, tokens, deletes, inserts, cuts)
    return [
        edit for _ in range(chance.choice((2, 3, 5))) for edit in chance.choice(many)(
            chance, raw, names)
    ]  # fmt: skip


Kind = Callable[[random.Random, bytes, list[str]], list[Edit]]
KINDS: list[tuple[Kind, float]] = [
    (flips, 3), (sets, 1.5), (fills, 1), (cuts, 3), (deletes, 1), (inserts, 1), (copies, 1),
    (splices, 1.5), (lengths, 3), (tokens, 2.5), (syntaxes, 1.5), (numerals, 1), (rename, 0.5),
    (mixtures, 2), (semantic.elements, 6), (semantic.fields, 2),
]  # fmt: skip
