"""A DICOM header read leanly: values are converted when they are asked for, and only those.

Owns a data set that answers as pydicom's does for the questions that readers ask of a picture's
header. Refuses to judge what is unusual: such files, and values that are not plain, are read by
pydicom from the same bytes.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from pydicom.datadict import dictionary_VR, tag_for_keyword
from pydicom.dataset import Dataset
from pydicom.filereader import read_partial
from pydicom.multival import MultiValue
from pydicom.uid import UID

from engine.evidence.dicom import scan as dicom_scan
from engine.evidence.dicom.scan import PIXELS, UNDEFINED, Element, Form, More, Odd
from engine.evidence.quiet import quiet

FIRST = 32_768
KEYS, FULL, UNKNOWN = -1, -2, -3  # in a record of what was asked: all tags, everything, no tag
LARGEST = 1 << 24
IMPLICIT, BIG = "1.2.840.10008.1.2", "1.2.840.10008.1.2.2"
FORMS = {IMPLICIT: dicom_scan.IMPLICIT_LITTLE, BIG: dicom_scan.EXPLICIT_BIG}
DEFLATED = ("1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.4.95", "1.2.840.10008.1.2.8.1")
UID_FORM = re.compile(r"[0-9.]{0,64}")
WORDS = frozenset(b"CS LO SH UI DA TM DT".split())
NUMBERS = {b"US": "H", b"SS": "h", b"UL": "L", b"SL": "l", b"FD": "d", b"FL": "f"}


@dataclass(frozen=True, eq=False)
class Scan:
    """What a walk found.

    Attributes:
        dataset: answers as a pydicom data set.
        syntax: the transfer syntax.
        pixel_tag, pixel_at, pixel_length: the pixel element, where its value begins and how long
            it is (``UNDEFINED`` if encapsulated).
    """

    dataset: Scanned
    syntax: UID
    pixel_tag: int
    pixel_at: int
    pixel_length: int


def scan(data: bytes, stream: BinaryIO, size: int) -> Scan | None:
    """Walk a DICOM file with preamble up to its pixels.

    Args:
        data: its first bytes.
        stream: the open file, for more of them.
        size: its length.

    Returns:
        None if pydicom must look: no pixels, or anything unusual.
    """
    while True:
        try:
            return _scan(data, size)
        except (Odd, UnicodeDecodeError, RecursionError):
            return None
        except (More, struct.error):
            if len(data) >= min(size, LARGEST):
                return None
        stream.seek(0)
        data = stream.read(4 * len(data) + FIRST)


def _scan(data: bytes, size: int) -> Scan:
    """One walk over the bytes that were read."""
    if data[128:132] != b"DICM":
        raise Odd
    meta, at = dicom_scan.meta(data)
    syntax = _uid(data, meta.get(0x00020010))
    if not syntax.startswith("1.2.840.10008.1.2") or syntax in DEFLATED:
        raise Odd
    form = FORMS.get(syntax, dicom_scan.EXPLICIT_LITTLE)
    raw, tag, at, length = dicom_scan.walk(data, at, size, form)
    if length != UNDEFINED and at + length > size:
        raise Odd
    head = Scanned(data, meta, dicom_scan.EXPLICIT_LITTLE)
    return Scan(Scanned(data, raw, form, meta=head, stop=at), UID(syntax), tag, at, length)


def _uid(data: bytes, element: Element | None) -> str:
    """The identifier of a transfer syntax; damage puts anything there."""
    if element is None:
        raise Odd
    _, start, length = element
    found = data[start : start + length].decode("ascii").rstrip("\0 ")
    if not UID_FORM.fullmatch(found):
        raise Odd
    return found


@dataclass(frozen=True, eq=False)
class Asked:
    """What a piece of work asked of a header, and what came of it."""

    tags: tuple[int, ...]
    answer: Any


class Scanned:
    """A data set that reads values out of a header's bytes when asked.

    Answers ``get``, ``in`` and ``keys`` as pydicom's ``Dataset`` does; any other question, and
    any value that is not plain, is answered by pydicom itself from the same bytes.
    """

    def __init__(
        self,
        data: bytes,
        raw: dict[int, Element],
        form: Form,
        *,
        meta: Scanned | None = None,
        stop: int = 0,
        parent: tuple[Scanned, str, int] | None = None,
    ) -> None:
        self._data, self._raw, self._form = data, raw, form
        self._stop, self._parent = stop, parent
        self._known: dict[str, Any] = {}
        self._full: Dataset | None = None
        self._asked: dict[int, None] = {}
        if meta is not None:
            self.file_meta = meta
        self.original_encoding = (form.implicit, form.mark == "<")

    def __contains__(self, keyword: str | int) -> bool:
        tag = keyword if isinstance(keyword, int) else _element(keyword)[0]
        self._asked[tag] = None
        return tag in self._raw

    def keys(self) -> list[int]:
        """Tags of all elements, as numbers."""
        self._asked[KEYS] = None
        return list(self._raw)

    def get(self, keyword: str, default: Any = None) -> Any:
        """The value of an element by keyword, or the default."""
        if not isinstance(keyword, str):
            with quiet():
                return self.full().get(keyword, default)
        tag, expected = _element(keyword)
        self._asked[tag] = None
        known = self._known
        if keyword in known:
            return known[keyword]
        element = self._raw.get(tag)
        if element is None:
            return default
        try:
            value = self._plain(keyword, element, expected)
        except (Odd, ValueError, struct.error, OverflowError):
            with quiet():
                value = self.full().get(keyword)
        known[keyword] = value
        return value

    def raw(self, tag: int) -> bytes | None:
        """The bytes of an element's value, None if it is not there."""
        element = self._raw.get(tag)
        return None if element is None else self._data[element[1] : element[1] + element[2]]

    def marks(self, tags: tuple[int, ...]) -> tuple[object, ...]:
        """The bytes of elements, None for those that are missing; all tags for ``KEYS``."""
        find, data = self._raw.get, self._data
        found: list[object] = [
            None if (one := find(tag)) is None else data[one[1] : one[1] + one[2]] for tag in tags
        ]
        if KEYS in tags:
            found.extend(self._raw)
        return tuple(found)

    def recorded(self, work: Callable[[], Any]) -> Asked:
        """Do some work and say which elements it asked for."""
        before, self._asked = self._asked, {}
        try:
            answer = work()
        finally:
            asked, self._asked = self._asked, {**before, **self._asked}
        return Asked(tuple(asked), answer)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "file_meta":
            raise AttributeError(name)
        return getattr(self.full(), name)

    def __getitem__(self, key: Any) -> Any:
        with quiet():
            return self.full()[key]

    def full(self) -> Dataset:
        """The same data set, parsed by pydicom."""
        self._asked[FULL] = None
        if self._full is None:
            with quiet():
                if self._parent is not None:
                    holder, keyword, number = self._parent
                    self._full = holder.full().get(keyword)[number]
                else:
                    self._full = read_partial(
                        io.BytesIO(self._data[: self._stop]), stop_when=_at_pixels, force=True
                    )
        return self._full

    def _plain(self, keyword: str, element: Element, expected: bytes) -> Any:
        """The value of an element whose representation is read here."""
        vr, start, length = element
        vr = vr or expected
        if vr == b"US or SS":
            vr = self._signed_or_not()
        if vr == b"SQ":
            return self._sequence(keyword, start, start + length)
        value = self._data[start : start + length]
        if vr in WORDS:
            return _words(value, inner=vr in (b"LO", b"SH"))
        if vr == b"DS":
            return _numbers(value, float)
        if vr == b"IS":
            return _numbers(value, int)
        if vr in NUMBERS:
            return _binary(value, self._form.mark, NUMBERS[vr])
        raise Odd

    def _signed_or_not(self) -> bytes:
        """What decides where the standard leaves it open: the pixels' own representation."""
        found = self.get("PixelRepresentation")
        if found is None:
            raise Odd
        return b"US" if found == 0 else b"SS"

    def _sequence(self, keyword: str, at: int, end: int) -> list[Scanned]:
        """The items of a sequence."""
        return [
            Scanned(self._data, raw, self._form, parent=(self, keyword, number))
            for number, raw in enumerate(dicom_scan.items(self._data, at, end, self._form))
        ]


def _at_pixels(tag: int, vr: str | None, length: int) -> bool:
    return int(tag) in PIXELS


_elements: dict[str, tuple[int, bytes]] = {}


def _element(keyword: str) -> tuple[int, bytes]:
    """Tag and dictionary representation of a keyword, remembered."""
    found = _elements.get(keyword)
    if found is None:
        tag = tag_for_keyword(keyword)
        if tag is None:
            found = (UNKNOWN, b"")
        else:
            found = (int(tag), dictionary_VR(tag).encode())
        _elements[keyword] = found
    return found


def _words(value: bytes, *, inner: bool) -> str | MultiValue[str]:
    """Text in plain ASCII without escapes; ``inner`` strips the pad of each of several words."""
    if not value.isascii() or b"\x1b" in value:
        raise Odd
    words = value.decode("ascii").rstrip("\0 ")
    if "\\" not in words:
        return words
    many = words.split("\\")
    return MultiValue(str, [one.rstrip("\0 ") for one in many] if inner else many)


def _numbers(value: bytes, kind: Callable[[str], Any]) -> Any:
    """Decimal or integer strings; an underscore, which Python reads, is pydicom's to judge."""
    words = value.decode("ascii").strip().rstrip(" \0")
    if not words:
        return None
    if "_" in words:
        raise Odd
    if "\\" not in words:
        return kind(words)
    return MultiValue(kind, words.split("\\"))


def _binary(value: bytes, mark: str, letter: str) -> Any:
    """Binary numbers: one, or a list."""
    width = struct.calcsize(f"={letter}")
    if not value or len(value) % width:
        raise Odd
    found = struct.unpack(f"{mark}{len(value) // width}{letter}", value)
    return found[0] if len(found) == 1 else list(found)
