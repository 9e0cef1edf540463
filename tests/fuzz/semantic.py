"""Mutations that know a format: an element, field or line gets another value, lengths mended."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable
from typing import Any

Edit = list[Any]

SHORT = [
    "0000",
    "0100",
    "0200",
    "0300",
    "0400",
    "0700",
    "0800",
    "0900",
    "0a00",
    "0c00",
    "0f00",
    "1000",
    "1100",
    "1f00",
    "2000",
    "2100",
    "3f00",
    "4000",
    "8000",
    "ff00",
    "ffff",
    "0001",
    "0080",
]
TEXTS = ("0", "1", "-1", "2", "1e300", "-1e300", "1e-300", "nan", "inf", "-inf", "", "abc", "0\\0",
         "1\\1", "-1\\-1", "1\\0", "0.5\\0.5\\0.5", "nan\\nan\\nan", "0\\0\\0\\0\\0\\0",
         "1\\0\\0\\1\\0\\0", "1\\0\\0\\0\\1\\0", "0\\1\\0\\1\\0\\0", "1e9\\1e9\\1e9",
         "1\\2\\3\\4\\5\\6\\7", "2147483647", "-2147483648", "99999999999999999999", "1,5",
         "1 \\ 2", "0\\0.0001", "40\\-600\\40", "0.0000001")  # fmt: skip
CODES = ("RGB", "MONOCHROME1", "MONOCHROME2", "PALETTE COLOR", "YBR_FULL", "YBR_FULL_422",
         "YBR_RCT", "YBR_ICT", "YBR_PARTIAL_422", "YBR_PARTIAL_420", "ARGB", "CMYK", "HSV", "",
         "XYZ", "SIGMOID", "LINEAR_EXACT", "LINEAR", "INVERSE", "IDENTITY", "YES", "NO", "CT", "MR",
         "SEG", "SR", "BINARY", "FRACTIONAL", "LABELMAP", "CONTAINER", "NUM", "\\", "A\\B\\C",
         "ISO_IR 192", "ISO 2022 IR 87", "\\ISO 2022 IR 149", "ISO_IR 999", "GB18030")  # fmt: skip
CLASSES = tuple(
    f"1.2.840.10008.{rest}"
    for rest in ("5.1.4.1.1.2", "5.1.4.1.1.2.1", "5.1.4.1.1.4.1", "5.1.4.1.1.66.4", "1.3.10",
                 "5.1.4.1.1.88.33", "5.1.4.1.1.104.1", "5.1.4.1.1.11.1", "5.1.4.1.1.481.3",
                 "5.1.4.1.1.9.1.1", "5.1.4.1.1.30", "5.1.4.1.1.481.2", "9.9.9", "5.1.4.1.1.77.1.6")
)  # fmt: skip
# little endian tags and what may be put there
SHORTS = [
    "28001000",
    "28001100",
    "28000200",
    "28000001",
    "28000101",
    "28000201",
    "28000301",
    "28000600",
    "28002001",
    "28002101",
    "00601000",
    "00601100",
    "00600001",
    "00600201",
    "28000630",
    "20001100",
]
WORDS = [
    "28000800",
    "28005010",
    "28005110",
    "28005210",
    "28005310",
    "28003000",
    "28003400",
    "18006411",
    "18008800",
    "18005000",
    "20003200",
    "20003700",
    "20001300",
    "20000001",
    "18006310",
    "0c300c00",
    "04300e00",
    "00601500",
    "00605000",
    "28005410",
]
NAMES = [
    "28000400",
    "28005610",
    "08006000",
    "08000500",
    "62000100",
    "400040a0",
    "50202000",
    "28000103",
]
UIDS = ["08001600", "02000200", "20000d00", "20000e00", "20005200", "08001800"]
DESCRIPTORS = ["28000230", "28000111", "28000211", "28000311"]
LONG = frozenset(b"OB OW OF OD OL OV SQ UC UR UT UN".split())


def element(raw: bytes, tag: str, value: str) -> bytes:
    """Another value for the first element of a tag (little endian); unchanged without one."""
    mark = bytes.fromhex(tag)
    at = raw.find(mark)
    if at < 0 or at + 12 > len(raw):
        return raw
    fresh = bytes.fromhex(value)
    fresh += b" " * (len(fresh) % 2)
    vr = raw[at + 4 : at + 6]
    if not (vr.isalpha() and vr.isupper()):
        start, form = at + 4, "<I"
    elif vr in LONG:
        start, form = at + 8, "<I"
    else:
        start, form = at + 6, "<H"
    size = struct.calcsize(form)
    length = int.from_bytes(raw[start : start + size], "little")
    if length > len(raw):
        return raw
    packed = struct.pack(form, len(fresh) % (1 << 8 * size))
    return raw[:start] + packed + fresh + raw[start + size + length :]


def elements(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    """Elements of a DICOM file get values that fit their form and nothing else."""
    edits: list[Edit] = []
    for _ in range(chance.choice((1, 1, 2, 3))):
        tags, make = chance.choice(KINDS)
        present = [tag for tag in tags if bytes.fromhex(tag) in raw]
        if present:
            edits.append(["element", chance.choice(present), make(chance)])
    return edits or fields(chance, raw, names)


def _of(words: tuple[str, ...]) -> Callable[[random.Random], str]:
    return lambda chance: chance.choice(words).encode().hex()


def _descriptor(chance: random.Random) -> str:
    return "".join(chance.choice(SHORT) for _ in range(3))


KINDS: tuple[tuple[list[str], Callable[[random.Random], str]], ...] = (
    (SHORTS, lambda chance: chance.choice(SHORT)), (WORDS, _of(TEXTS)), (NAMES, _of(CODES)),
    (UIDS, _of(CLASSES)), (DESCRIPTORS, _descriptor),
)  # fmt: skip

# NIfTI-1: (offset, struct code) of what the reader uses
NIFTI = [(40 + 2 * n, "h") for n in range(8)] + [(70, "h"), (72, "h"), (123, "b"), (252, "h"),
         (254, "h")] + [(76 + 4 * n, "f") for n in range(8)] + [(108, "f"), (112, "f"), (116, "f"),
         (124, "f"), (128, "f")] + [(256 + 4 * n, "f") for n in range(18)]  # fmt: skip
REALS = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e30, -1e30, 1e-30, 352.0,
         351.0, 1e9, 2.5)  # fmt: skip
WHOLE = {"h": (0, 1, 2, 3, 4, 5, 7, 8, 16, 64, 128, 256, 512, 768, 1024, 1280, 1536, 1792, 2048,
               2304, -1, 32767, -32768), "b": (0, 1, 2, 3, 8, 16, 63, -1)}  # fmt: skip
# what stands behind a key of a text header
VALUES = {
    b"type": b"uint8 int16 float double block int64 uint33 short", b"encoding":
    b"raw gzip bzip2 gz bz2 ascii txt hex zstd", b"endian": b"little big middle",
    b"dimension": b"0 1 2 3 4 5 17", b"space": b"scanner-xyz RAS LPS 3D-right-handed left",
    b"sizes": b"0 -1 1 5,5,5 99999", b"data file": b"LIST ../x %d /dev/zero self a.nrrd",
    b"space directions": b"none (0,0,0) (nan,1,1) (1,0,0) (1e200,0,0) (0,1e-320,0)",
    b"space origin": b"(nan,0,0) none (1)",
    b"kinds": b"vector list RGB-color domain time ???", b"byte skip": b"-1 0 5 999999",
    b"line skip": b"-1 1 99999", b"ElementType": b"MET_UCHAR MET_FLOAT MET_LONG MET_X MET_STRING",
    b"NDims": b"0 1 2 4 10 -3", b"DimSize": b"0 1 -1 99999", b"ElementDataFile":
    b"LOCAL LIST ../x a.mha %03d", b"CompressedData": b"True False Maybe", b"ElementSpacing":
    b"0 -1 nan 1e200", b"CompressedDataSize": b"0 1 99999999",
    b"ElementNumberOfChannels": b"0 2 3 4 -1",
    b"BinaryDataByteOrderMSB": b"True", b"HeaderSize": b"-1 5 99999", b"TransformMatrix":
    b"0 nan 1 1e200", b"BinaryData": b"False True",
}  # fmt: skip


def fields(chance: random.Random, raw: bytes, names: list[str]) -> list[Edit]:
    """A field of a NIfTI, NRRD or MetaImage header, or a digit anywhere near the start."""
    if raw[344:348] in (b"n+1\0", b"ni1\0"):
        return [_nifti(chance, raw) for _ in range(chance.choice((1, 1, 2)))]
    keys = [key for key in VALUES if re.search(rb"(?m)^" + key + rb" ?[:=]", raw[:3000])]
    if keys:
        return _line(chance, raw, chance.choice(keys))
    at = chance.randrange(min(len(raw), 600) + 1)
    return [["set", at, f"{chance.choice((0, 1, 0x7F, 0x80, 0xFF)):02x}"]]


def _nifti(chance: random.Random, raw: bytes) -> Edit:
    offset, code = chance.choice(NIFTI)
    value = chance.choice(REALS if code == "f" else WHOLE[code])
    mark = "<" if raw[:2] == b"\x5c\x01" else ">"
    return ["set", offset, struct.pack(mark + code, value).hex()]


def _line(chance: random.Random, raw: bytes, key: bytes) -> list[Edit]:
    """The value of a line becomes another, or the line is doubled or gone."""
    found = re.search(rb"(?m)^" + key + rb" ?[:=] ?([^\r\n]*)\n?", raw[:3000])
    if found is None:
        return []
    way = chance.random()
    if way < 0.1:
        return [["delete", found.start(), found.end() - found.start()]]
    if way < 0.2:
        return [["copy", found.start(), found.end() - found.start(), found.start()]]
    words = [chance.choice(VALUES[key].split()) for _ in range(chance.choice((1, 1, 1, 2, 3, 4)))]
    at, length = found.start(1), len(found.group(1))
    return [["delete", at, length], ["insert", at, b" ".join(words).hex()]]
