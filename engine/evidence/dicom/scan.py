"""Where each element of a DICOM header lies: a walk over bytes that converts no value.

Owns the data element structures of PS3.5 chapter 7: explicit and implicit, little and big endian,
sequences of both kinds of length. Refuses everything unusual (``Odd``): an unknown value
representation, tags out of order, an element beyond the end. ``lean`` gives such files to
pydicom, so that there is one judgement of what is damaged.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

DEEPEST = 16
UNDEFINED = 0xFFFFFFFF
ITEM, ITEM_END, SEQUENCE_END = 0xFFFEE000, 0xFFFEE00D, 0xFFFEE0DD
PIXELS = frozenset({0x7FE00008, 0x7FE00009, 0x7FE00010})
SHORT = frozenset(b"AE AS AT CS DA DS DT FD FL IS LO LT PN SH SL SS ST TM UI UL US".split())
LONG = frozenset(b"OB OD OF OL OV OW SQ SV UC UN UR UT UV".split())
Element = tuple[bytes, int, int]  # value representation (empty if implicit), start, length


class Odd(Exception):
    """A file that pydicom must look at."""


class More(Exception):
    """The walk needs bytes that were not read yet."""


@dataclass(frozen=True, eq=False)
class Form:
    """How a data set is written.

    Attributes:
        implicit: True if value representations are not written.
        mark: ``<`` or ``>`` for struct.
        head, number: compiled readers of (group, element, representation, short length), or of
            (group, element, length) where implicit, and of a 32-bit number.
    """

    implicit: bool
    mark: str
    head: struct.Struct
    number: struct.Struct


def _form(*, implicit: bool, mark: str) -> Form:
    head = struct.Struct(mark + ("HHL" if implicit else "HH2sH"))
    return Form(implicit, mark, head, struct.Struct(mark + "L"))


EXPLICIT_LITTLE = _form(implicit=False, mark="<")
IMPLICIT_LITTLE = _form(implicit=True, mark="<")
EXPLICIT_BIG = _form(implicit=False, mark=">")


def meta(data: bytes) -> tuple[dict[int, Element], int]:
    """The file meta group and where the data set begins."""
    found: dict[int, Element] = {}
    at = 132
    while True:
        group, element, vr, length = EXPLICIT_LITTLE.head.unpack_from(data, at)
        if group != 2:
            return found, at
        start = at + 8
        if vr in LONG:
            (length,) = EXPLICIT_LITTLE.number.unpack_from(data, start)
            start += 4
        elif vr not in SHORT:
            raise Odd
        at = start + length
        if at > len(data):
            raise More
        found[0x00020000 | element] = (vr, start, length)


def walk(data: bytes, at: int, size: int, form: Form) -> tuple[dict[int, Element], int, int, int]:
    """Every top-level element before the pixels: (elements, pixel tag, pixel start, length)."""
    found: dict[int, Element] = {}
    read = _implicit if form.implicit else _explicit
    last = 0
    while True:
        run = _plain_implicit if form.implicit else _plain_explicit
        last, at = run(data, at, form, found, last)
        tag, vr, start, length = read(data, at, form)
        if tag in PIXELS and tag > last:
            return found, tag, start, length
        if tag <= last or tag < 0x00080000 or tag > 0x7FE00010:
            raise Odd
        last = tag
        if length == UNDEFINED:
            if vr not in (b"SQ", b""):
                raise Odd
            at = _after_items(data, start, form, 0)
            length = at - start
        else:
            at = start + length
        if at > len(data):
            raise Odd if at > size else More
        found[tag] = (vr, start, length)


def _plain_explicit(
    data: bytes, at: int, form: Form, found: dict[int, Element], last: int
) -> tuple[int, int]:
    """Explicit elements of short form, which nearly all are, in one tight loop.

    Returns:
        The last tag, and where the first element begins that is not of this kind.
    """
    unpack, short, end = form.head.unpack_from, SHORT, len(data) - 8
    while at <= end:
        group, element, vr, length = unpack(data, at)
        if vr not in short or group >= 0x7FE0:
            break
        tag = group << 16 | element
        after = at + 8 + length
        if tag <= last or tag < 0x00080000 or after > end:
            break
        found[tag] = (vr, at + 8, length)
        last, at = tag, after
    return last, at


def _plain_implicit(
    data: bytes, at: int, form: Form, found: dict[int, Element], last: int
) -> tuple[int, int]:
    """Implicit elements of known length likewise."""
    unpack, end = form.head.unpack_from, len(data) - 8
    while at <= end:
        group, element, length = unpack(data, at)
        tag = group << 16 | element
        after = at + 8 + length
        if tag <= last or tag < 0x00080000 or group >= 0x7FE0 or after > end:
            break
        known = data[at + 4 : at + 6]
        if known in SHORT or known in LONG:
            break
        found[tag] = (b"", at + 8, length)
        last, at = tag, after
    return last, at


def _explicit(data: bytes, at: int, form: Form) -> tuple[int, bytes, int, int]:
    """(tag, representation, start of the value, length) of an element."""
    group, element, vr, length = form.head.unpack_from(data, at)
    if vr in SHORT:
        return group << 16 | element, vr, at + 8, length
    if vr not in LONG:
        raise Odd
    return group << 16 | element, vr, at + 12, form.number.unpack_from(data, at + 8)[0]


def _implicit(data: bytes, at: int, form: Form) -> tuple[int, bytes, int, int]:
    """The same without a representation; what looks like one is unusual."""
    group, element, length = form.head.unpack_from(data, at)
    known = data[at + 4 : at + 6]
    if known in SHORT or known in LONG:
        raise Odd
    return group << 16 | element, b"", at + 8, length


def _after_items(data: bytes, at: int, form: Form, depth: int) -> int:
    """Where a sequence of undefined length ends."""
    while True:
        tag, length = _mark(data, at, form)
        at += 8
        if tag == SEQUENCE_END:
            return at
        if tag != ITEM or depth > DEEPEST:
            raise Odd
        if length == UNDEFINED:
            at = _after_item(data, at, form, depth)
        elif at + length > len(data):
            raise More
        else:  # pydicom reads such items at once, and stumbles over what is wrong in them
            _inside(data, at, at + length, form)
            at += length


def _mark(data: bytes, at: int, form: Form) -> tuple[int, int]:
    """Tag and length of an item or delimiter, which are written alike in all forms."""
    group, element, length = struct.unpack_from(form.mark + "HHL", data, at)
    return group << 16 | element, length


def _after_item(data: bytes, at: int, form: Form, depth: int) -> int:
    """Where an item of undefined length ends, its delimiter included."""
    read = _implicit if form.implicit else _explicit
    while _mark(data, at, form)[0] != ITEM_END:
        _, vr, start, length = read(data, at, form)
        if length == UNDEFINED:
            if vr not in (b"SQ", b""):
                raise Odd
            at = _after_items(data, start, form, depth + 1)
        else:
            at = start + length
        if at > len(data):
            raise More
    return at + 8


def items(data: bytes, at: int, end: int, form: Form) -> Iterator[dict[int, Element]]:
    """The elements of each item of a sequence."""
    while at < end:
        tag, length = _mark(data, at, form)
        if tag == SEQUENCE_END:
            return
        if tag != ITEM:
            raise Odd
        start = at + 8
        at = _after_item(data, start, form, 0) if length == UNDEFINED else start + length
        if at > end:
            raise Odd
        yield _inside(data, start, at - 8 if length == UNDEFINED else at, form)


def _inside(data: bytes, at: int, end: int, form: Form) -> dict[int, Element]:
    """The elements of one item."""
    read = _implicit if form.implicit else _explicit
    found: dict[int, Element] = {}
    while at < end:
        tag, vr, start, length = read(data, at, form)
        if length == UNDEFINED:
            if vr not in (b"SQ", b""):
                raise Odd
            at = _after_items(data, start, form, 0)
            length = at - start
        else:
            at = start + length
        if at > end:
            raise Odd
        found[tag] = (vr, start, length)
    return found
