"""Picture files as evidence, whichever decoder they need.

Owns the choice of decoder (Pillow, tifffile for TIFF that Pillow reduces, imagecodecs for deep
JPEG, JPEG 2000 and PNG) and the step from pages to evidence. Refuses millimetres from DPI: a
resolution for printing says nothing about a patient.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.failures import UNREADABLE, bomb, of_system
from engine.evidence.grids.numbers import empty
from engine.evidence.pictures import deep, photos, tiff
from engine.evidence.pictures.pages import Page, PictureFacts, on_white, page_rgb
from engine.evidence.pictures.photos import opened, read_page
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import derive_window, function_of

__all__ = [
    "SUFFIXES",
    "describe_picture",
    "is_picture",
    "load_picture",
    "on_white",
    "opened",
    "page_of",
    "page_rgb",
    "picture_rgb",
    "read_page",
]

SUFFIXES = frozenset({
    ".png", ".apng", ".jpg", ".jpeg", ".jpe", ".tif", ".tiff", ".bmp", ".gif", ".webp", ".jp2",
    ".j2k", ".j2c", ".jpx", ".jpf", ".pgm", ".ppm", ".pnm", ".pbm", ".avif", ".svs",
})  # fmt: skip
MARKS = (
    b"\x89PNG\r\n", b"\xff\xd8\xff", *tiff.MAGIC, b"GIF8", *deep.JPEG_2000,
)  # fmt: skip
FREE_BYTES, PAGES_RATIO = 600_000_000, 1000  # pages that hardly differ pack very well
BITMAP_HEADERS = frozenset({12, 16, 40, 52, 56, 64, 108, 124})
LIMIT_BYTES = 8_000_000_000  # of all pages of one file, decoded


def is_picture(head: bytes, path: Path) -> bool:
    """True if a file's first bytes, or failing that its name, are those of a picture."""
    if head.startswith(MARKS) or path.suffix.lower() in SUFFIXES:
        return True
    if head[:2] == b"BM":  # so may words begin
        return int.from_bytes(head[14:18], "little") in BITMAP_HEADERS
    return (head[:4] == b"RIFF" and head[8:12] == b"WEBP") or head[4:12] == b"ftypavif"


def _head(path: Path) -> bytes:
    """The first megabyte."""
    try:
        with files.open_file(path) as stream:
            return stream.read(deep.HEADER_BYTES)
    except OSError as failure:
        raise of_system(path, failure) from failure


def _facts(path: Path) -> PictureFacts:
    """What a picture file is, by the decoder it needs."""
    head = _head(path)
    found = tiff.facts_of(path) if tiff.is_tiff(head) else None
    if found is None:
        found = deep.facts_of(path, head) if deep.is_deep(head) else photos.facts_of(path)
    if not found.height or not found.width:
        raise EvidenceError(path, "damaged", UNREADABLE)
    return found


def describe_picture(path: Path) -> Evidence:
    """Describe a picture file; only its header is read.

    Pages in time (animated GIF, PNG, WebP) are a cine; equal grey pages of a TIFF are a volume
    without distances; coloured or two-valued pages are sheets of one picture.

    Raises:
        EvidenceError: it cannot be read, or is too large.
    """
    facts = _facts(path)
    shape: tuple[int, ...] = (facts.pages, facts.height, facts.width)
    kind = "cine" if facts.moving else "volume" if facts.stack else "image"
    return Evidence(
        path=path,
        members=(path,),
        kind=kind,
        form="2d" if kind == "image" else "3d",
        shape=(*shape, 3) if facts.color else shape,
        color=facts.color,
        dtype=facts.dtype,
        photometric="RGB" if facts.color else "MONOCHROME2",
        window_source="derived",
        notes=facts.notes,
        frame_ms=facts.frame_ms,
        source={"object": f"{facts.format} picture", "format": facts.format},
    )


def load_picture(path: Path, *, white: bool = True) -> Pixels:
    """Decode a picture file.

    Args:
        path: the file.
        white: lay transparency on white; False hands out the colours below it.

    Returns:
        Values [pages, H, W] or [pages, H, W, 3].

    Raises:
        EvidenceError: it is damaged, cut or too large.
    """
    facts = _facts(path)
    size = files.facts_of(path).size
    array: NDArray[np.generic] | None = None
    filled = 0
    for page in _pages(path):
        layer = page.values
        if white and page.alpha is not None:
            layer = on_white(layer, page.alpha)
        if facts.pages == 1:
            array, filled = layer[None], 1
            break
        if array is None:
            array = _room(path, layer, facts.pages, size)
        if layer.shape == array.shape[1:] and filled < len(array):
            array[filled] = layer
            filled += 1
    # fewer pages than announced, or of another size, are half a file
    if array is None or (filled, *array.shape[1:3]) != (facts.pages, facts.height, facts.width):
        raise EvidenceError(path, "damaged", UNREADABLE)
    window = derive_window(array)
    return Pixels(array=array, window=window, window_function=function_of(window))


def _room(path: Path, layer: NDArray[np.generic], count: int, size: int) -> NDArray[np.generic]:
    """An array for all pages, if it is not beyond measure."""
    if layer.nbytes * count > max(FREE_BYTES, PAGES_RATIO * size):
        raise bomb(path)
    if layer.nbytes * count > LIMIT_BYTES:
        reason = "its pages fill more memory than can be opened; split the file"
        raise EvidenceError(path, "too_large", reason)
    return empty(path, count * layer.size, layer.dtype).reshape(count, *layer.shape)


def _pages(path: Path) -> Iterator[Page]:
    """All pages, by the decoder they need, one at a time."""
    head = _head(path)
    if tiff.is_tiff(head):
        with tiff.opened(path) as found:
            plan = tiff.plan_of(path, found)
            if plan is not None:
                yield from (tiff.decode(path, page) for page in plan.pages)
                return
    if deep.is_deep(head):
        yield _deep(path)
        return
    deep.check_whole(path, head)
    with photos.opened(path) as picture:
        yield from photos.pages(picture)


def _deep(path: Path) -> Page:
    """A picture of more than 8 bits."""
    try:
        return deep.load(path)
    except OSError as failure:
        raise of_system(path, failure) from failure


def page_of(path: Path, *, frame: int = 0) -> Page:
    """One page of a picture file.

    Raises:
        EvidenceError: the file is missing, damaged, cut short, or has no such page.
    """
    head = _head(path)
    if tiff.is_tiff(head):
        with tiff.opened(path) as found:
            plan = tiff.plan_of(path, found)
            if plan is not None:
                return tiff.decode(path, _numbered(path, plan.pages, frame))
    if deep.is_deep(head):
        return _deep(path) if frame == 0 else _numbered(path, (), frame)
    deep.check_whole(path, head)
    with photos.opened(path) as picture:
        if frame:
            photos.seek(picture, frame, path)
        return read_page(picture)


def _numbered(path: Path, pages: tuple[Page, ...], frame: int) -> Page:
    """A page by its number, or the sentence that there is none."""
    if frame < len(pages):
        return pages[frame]
    reason = f"there is no page {frame + 1} in this file; ask for an earlier one"
    raise EvidenceError(path, "no_frame", reason)


def picture_rgb(path: Path, *, frame: int = 0) -> NDArray[np.uint8]:
    """One page of a picture file as 8-bit RGB.

    Returns:
        [H, W, 3] uint8, upright.

    Raises:
        EvidenceError: the file is missing, damaged, cut short, or has no such page.
    """
    return page_rgb(page_of(path, frame=frame))
