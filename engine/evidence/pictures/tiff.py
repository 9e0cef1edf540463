"""TIFF files that Pillow reduces or refuses, through tifffile: deep, signed, float, planar, tiled.

Owns which files go this way, pyramids of whole slides (one level is chosen), and the check that
the file holds the bytes that its tags claim. Refuses associated pictures of whole slides: labels
show names.

Source: TIFF 6.0; Adobe's TIFF technical notes; the BigTIFF design.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.archives import inflate
from engine.evidence.failures import UNREADABLE, bomb, of_system, too_large, truncated
from engine.evidence.pictures.pages import (
    FREE_BYTES,
    LIMIT_PIXELS,
    Page,
    PictureFacts,
    eight_bits,
    turned,
    unmixed,
)
from engine.evidence.quiet import quiet

MAGIC = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
LEVEL_PIXELS = 36_000_000  # the largest level of a pyramid that is opened
TILE_PIXELS = 16_000_000
LIMIT_PAGES = 20_000
LIMIT_BYTES = 8_000_000_000
SAME_SHAPE = 0.02
# what Pillow decodes exactly: 8-bit unsigned samples side by side, in these compressions
PILLOW_COMPRESSIONS = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 32771, 32773, 32946, 50000})
ASSOCIATED = 1  # ExtraSamples: colours are already multiplied by alpha
WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, YCBCR = 0, 1, 2, 6
ERRORS = (
    ValueError, TypeError, KeyError, IndexError, RuntimeError, AttributeError, ArithmeticError,
    NotImplementedError, MemoryError, EOFError, struct.error, zlib.error, AssertionError,
    SyntaxError, ImportError,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Plan:
    """Which pages of an open TIFF are shown, and how.

    Attributes:
        facts: what the file is.
        pages: tifffile's pages in order, all of one size.
    """

    facts: PictureFacts
    pages: tuple[Any, ...]


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """An open ``tifffile.TiffFile``; every way it can fail becomes an ``EvidenceError``."""
    import tifffile

    try:
        with quiet(), files.open_file(path) as stream, tifffile.TiffFile(stream) as found:
            yield found
    except (FileNotFoundError, PermissionError) as failure:
        raise of_system(path, failure) from failure
    except (OSError, *ERRORS, tifffile.TiffFileError) as failure:
        raise EvidenceError(path, "damaged", UNREADABLE) from failure


def is_tiff(head: bytes) -> bool:
    """True for the first bytes of a TIFF or BigTIFF."""
    return head[:4] in MAGIC


def facts_of(path: Path) -> PictureFacts | None:
    """What a TIFF is, from its tags; None if Pillow reads it as well.

    Raises:
        EvidenceError: it is damaged, too large, or cut.
    """
    with opened(path) as found:
        plan = plan_of(path, found)
        return None if plan is None else plan.facts


def plan_of(path: Path, found: Any) -> Plan | None:
    """Choose pages and the way to read them; None if Pillow reads them as well."""
    pages = _all_pages(path, found)
    first = pages[0]
    for page in pages:
        _check_page(path, page)
    shown, notes = _level(path, found, pages)
    if shown is None and not _needs_tifffile(first):
        return None
    chosen = [first] if shown is None else [shown]
    if shown is None:
        chosen = [page for page in pages if _alike(page, first)]
        if len(chosen) < len(pages):
            notes.append(
                f"{len(pages)} pages of different sizes; those of the first size are shown"
            )
        elif len(pages) > 1:
            notes.append(f"{len(pages)} pages")
    _check_claims(path, chosen)
    return Plan(_facts(found, chosen, notes), tuple(chosen))


def _all_pages(path: Path, found: Any) -> list[Any]:
    """Every page, each once; a chain of pages that is broken or without end is refused."""
    count = count_pages(path, found.filehandle, big=found.is_bigtiff, endian=found.byteorder)
    pages = [found.pages[number] for number in range(count)]
    if not pages:
        raise EvidenceError(path, "damaged", "the file has no page; copy it again")
    return pages


def count_pages(path: Path, stream: Any, *, big: bool, endian: str) -> int:
    """Pages of the chain up to its end or its first repetition.

    Libraries end it in silence where the file is cut, and follow a circle for ever.

    Raises:
        EvidenceError: ``truncated`` or ``too_large``.
    """
    place, short, entry, word = (8, "Q", 20, "Q") if big else (4, "H", 12, "L")
    size, width = stream.size, 8 if big else 4
    stream.seek(place)
    at = struct.unpack(f"{endian}{word}", stream.read(width))[0]
    seen: set[int] = set()
    while at:
        if at in seen:
            break
        if len(seen) >= LIMIT_PAGES:
            raise too_large(path, f"the file has more than {LIMIT_PAGES} pages")
        seen.add(at)
        stream.seek(at)
        head = stream.read(8 if big else 2)
        tags = struct.unpack(f"{endian}{short}", head)[0] if len(head) > 1 else 0
        end = at + len(head) + entry * tags
        if end + width > size:
            raise truncated(path)
        stream.seek(end)
        at = struct.unpack(f"{endian}{word}", stream.read(width))[0]
    return len(seen)


def _check_page(path: Path, page: Any) -> None:
    """Refuse pages without size, and numbers that are not read."""
    sizes = (page.imagewidth, page.imagelength, page.imagedepth, page.samplesperpixel,
             page.tilewidth, page.tilelength)  # fmt: skip
    if not all(isinstance(one, int) for one in sizes):  # a tag of another type gives bytes
        raise EvidenceError(path, "damaged", UNREADABLE)
    pixels = page.imagewidth * page.imagelength
    if page.imagewidth < 1 or page.imagelength < 1 or page.samplesperpixel < 1:
        raise EvidenceError(path, "damaged", "the page has no size; copy the file again")
    if page.is_tiled and page.tilewidth * page.tilelength > max(TILE_PIXELS, 4 * pixels):
        raise EvidenceError(path, "damaged", UNREADABLE)  # decoders take memory for whole tiles
    if page.imagedepth > 1:
        reason = "blocks of several slices in one page are not read; save each slice as a page"
        raise EvidenceError(path, "unsupported", reason)
    if page.dtype is not None and np.dtype(page.dtype).kind not in "buif":
        reason = "complex numbers in pictures are not read; convert them to float32"
        raise EvidenceError(path, "unsupported", reason)


def _alike(page: Any, first: Any) -> bool:
    """True for pages that can lie in one array."""
    return (page.shape, page.dtype, page.photometric) == (
        first.shape, first.dtype, first.photometric,
    )  # fmt: skip


def _needs_tifffile(page: Any) -> bool:
    """True if Pillow would reduce, misread or refuse the page."""
    bits, photometric = page.bitspersample, int(page.photometric)
    if photometric not in (WHITE_IS_ZERO, BLACK_IS_ZERO, RGB):
        return int(page.compression) not in PILLOW_COMPRESSIONS and photometric == YCBCR
    if isinstance(bits, tuple) or bits < 8:
        return False
    deep = bits > 8 or int(page.sampleformat or 1) != 1
    if page.parent.is_bigtiff and page.parent.byteorder == ">":
        return True
    plain = page.samplesperpixel in ((3, 4) if photometric == RGB else (1,))
    return deep or not plain or int(page.compression) not in PILLOW_COMPRESSIONS


def _level(path: Path, found: Any, pages: list[Any]) -> tuple[Any | None, list[str]]:
    """The level of a pyramid that is opened, and what to say; None for a file that is none."""
    first = pages[0]
    full = first.imagewidth * first.imagelength
    if full <= LEVEL_PIXELS and not found.is_svs:
        return None, []
    levels = [first, *_smaller(first, pages), *_smaller(first, list(first.pages or ()))]
    levels.sort(key=lambda page: -page.imagewidth * page.imagelength)
    fit = [page for page in levels if page.imagewidth * page.imagelength <= LEVEL_PIXELS]
    if not fit:
        if len(levels) == 1:
            return None, []
        what = f"its smallest level is {levels[-1].imagewidth} x {levels[-1].imagelength}"
        raise too_large(path, what)
    if len(levels) == 1:
        return None, []
    size = f"{first.imagewidth} x {first.imagelength}"
    chosen = fit[0]
    shown = f"{chosen.imagewidth} x {chosen.imagelength}"
    note = f"a picture in levels, {size} in full; the level of {shown} is shown"
    return chosen, [note]


def _smaller(first: Any, pages: list[Any]) -> list[Any]:
    """Pages that show the first one smaller: same number format, same shape within 2 %."""
    found = []
    for page in pages:
        if page is first or page.dtype != first.dtype:
            continue
        if page.samplesperpixel != first.samplesperpixel or not page.imagelength:
            continue
        ratio = (page.imagewidth / page.imagelength) * first.imagelength / first.imagewidth
        if abs(ratio - 1) < SAME_SHAPE and page.imagewidth < first.imagewidth:
            found.append(page)
    return found


def _check_claims(path: Path, pages: list[Any]) -> None:
    """Compare what the tags claim with the bytes that are there, before anything is allocated."""
    size = files.facts_of(path).size
    claimed = sum(_nbytes(page) for page in pages)
    there = 0
    for page in pages:
        there += _bytes_there(path, page, size)
    if max(page.imagewidth * page.imagelength for page in pages) > LIMIT_PIXELS:
        raise too_large(path, f"the picture is larger than {LIMIT_PIXELS // 1_000_000} megapixels")
    if claimed > LIMIT_BYTES:
        raise too_large(path, f"its pages fill {claimed // 1_000_000} MB")
    if claimed > inflate.allowed(max(there, size), free=FREE_BYTES):
        raise bomb(path)


def _bytes_there(path: Path, page: Any, size: int) -> int:
    """Bytes of a page's strips or tiles, all of which must be in the file.

    Tiles of no bytes are background that a scanner left out; strips of no bytes are lost.
    """
    offsets, counts = page.dataoffsets, page.databytecounts
    if len(offsets) < math.prod(page.chunked) or len(counts) < len(offsets):
        raise truncated(path)
    if any(start + count > size for start, count in zip(offsets, counts, strict=False)):
        raise truncated(path)
    if not any(counts) or (not page.is_tiled and not all(counts)):
        raise truncated(path)
    return int(sum(counts))


def _nbytes(page: Any) -> int:
    """Bytes of a page when decoded."""
    width = 1 if page.dtype is None else np.dtype(page.dtype).itemsize
    return int(page.imagewidth) * int(page.imagelength) * int(page.samplesperpixel) * width


def _facts(found: Any, pages: list[Any], notes: list[str]) -> PictureFacts:
    """The facts of chosen pages."""
    first = pages[0]
    tag = _orientation(first)
    height, width = int(first.imagelength), int(first.imagewidth)
    if tag in (5, 6, 7, 8):
        height, width = width, height
    color = _colored(first)
    kind = np.dtype(first.dtype)
    if _alpha_at(first) is not None:
        notes = [*notes, "has transparency; models and viewer see it on white"]
    elif first.samplesperpixel > (3 if color else 1):
        shown = "first three are" if color else "first is"
        notes = [*notes, f"{first.samplesperpixel} values in each pixel; the {shown} shown"]
    if tag not in (0, 1):
        notes = [*notes, "turned upright as the file's orientation tag says"]
    if color and kind != np.uint8:
        notes = [*notes, f"{kind.name} colour, shown with 8 bits"]
    stack = len(pages) > 1 and not color
    return PictureFacts(
        "TIFF", len(pages), height, width, color, kind.name, stack=stack, notes=tuple(notes)
    )


def _orientation(page: Any) -> int:
    """The orientation tag, 1 without."""
    tag = page.tags.get(274)
    return int(tag.value) if tag is not None and isinstance(tag.value, int) else 1


def _colored(page: Any) -> bool:
    """True if the page is RGB."""
    return int(page.photometric) in (RGB, YCBCR) and page.samplesperpixel >= 3


def _alpha_at(page: Any) -> int | None:
    """Which sample is alpha (ExtraSamples 1 or 2), None if there is none."""
    extra = [int(one) for one in page.extrasamples or ()]
    place = next((n for n, one in enumerate(extra) if one in (1, 2)), None)
    return None if place is None else int(page.samplesperpixel) - len(extra) + place


def decode(path: Path, page: Any) -> Page:
    """Decode one page: upright, samples last, white as the greatest value."""
    values = _samples_last(path, page)
    values = turned(values, _orientation(page))
    alpha_at = _alpha_at(page)
    alpha = None if alpha_at is None else eight_bits(values[..., alpha_at])
    if alpha_at is not None and ASSOCIATED in [int(one) for one in page.extrasamples]:
        values = unmixed(values, alpha_at)
    if _colored(page):
        return Page(eight_bits(values[..., :3]), alpha)
    grey = values[..., 0]
    if int(page.photometric) == WHITE_IS_ZERO and grey.dtype.kind == "u":
        grey = grey.dtype.type((1 << int(page.bitspersample)) - 1) - grey
    if grey.dtype == np.float16:
        grey = grey.astype(np.float32)
    return Page(np.ascontiguousarray(grey), alpha)


def _samples_last(path: Path, page: Any) -> NDArray[Any]:
    """Decoded values [H, W, samples] in this machine's byte order."""
    values = page.asarray(maxworkers=1)
    height, width, samples = page.imagelength, page.imagewidth, page.samplesperpixel
    if values.size != height * width * samples:
        raise EvidenceError(path, "damaged", UNREADABLE)
    if page.axes.startswith("S"):
        values = np.moveaxis(values.reshape(samples, height, width), 0, -1)
    values = values.reshape(height, width, samples)
    return values.astype(values.dtype.newbyteorder("="), copy=False)
