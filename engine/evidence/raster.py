"""Plain pictures (PNG, JPEG, TIFF, BMP, WebP, GIF) through Pillow: upright, whole.

Owns EXIF orientation, palettes, alpha, CMYK, 16-bit grey and pages. Refuses pictures that end
early: half a picture is never handed on as a whole one.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from engine.errors import EvidenceError
from engine.evidence.failures import of_system
from engine.evidence.quiet import quiet
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import derive_window, to_display

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".jpe", ".tif", ".tiff", ".bmp", ".gif", ".webp"})
LIMIT_PIXELS = 400_000_000
LIMIT_BYTES = 8_000_000_000  # of all pages of one file, decoded
# what Pillow's readers raise on damaged files
DECODE_ERRORS = (
    OSError, SyntaxError, EOFError, ValueError, IndexError, TypeError, KeyError, AttributeError,
    ArithmeticError, RuntimeError, NotImplementedError, MemoryError, struct.error, zlib.error,
)  # fmt: skip
ALPHA_MODES = frozenset({"LA", "La", "PA", "RGBA", "RGBa"})
DEEP_MODES = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})

Image.MAX_IMAGE_PIXELS = LIMIT_PIXELS  # above it Pillow warns; here it is refused with a sentence


@contextmanager
def opened(path: Path) -> Iterator[Image.Image]:
    """Open a picture file, turning every way it can fail into an ``EvidenceError``."""
    try:
        with quiet(), Image.open(path) as picture:
            if picture.width * picture.height > LIMIT_PIXELS:
                raise EvidenceError(path, "too_large", _too_large(picture.size))
            yield picture
    except UnidentifiedImageError as failure:
        raise EvidenceError(path, "unsupported", _unreadable()) from failure
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as failure:
        raise EvidenceError(path, "too_large", _too_large(None)) from failure
    except (FileNotFoundError, PermissionError) as failure:
        raise of_system(path, failure) from failure
    except DECODE_ERRORS as failure:
        raise EvidenceError(path, _code(failure), _unreadable()) from failure


def _code(failure: Exception) -> str:
    """A stable word for a failure of Pillow."""
    words = str(failure).lower()
    return "truncated" if "truncat" in words or "end of" in words else "damaged"


def _unreadable() -> str:
    return "the picture cannot be read whole; it is damaged or cut short, copy it again"


def _too_large(size: tuple[int, int] | None) -> str:
    shown = "" if size is None else f" ({size[0]} x {size[1]})"
    return f"the picture is larger than {LIMIT_PIXELS // 1_000_000} megapixels{shown}; make it less"


@dataclass(frozen=True)
class Page:
    """One page, upright: values [H, W] or [H, W, 3], alpha [H, W] or None."""

    values: NDArray[np.generic]
    alpha: NDArray[np.uint8] | None


def read_page(picture: Image.Image) -> Page:
    """The current page of an open picture, decoded, upright, palette and CMYK turned to RGB."""
    turned = ImageOps.exif_transpose(picture)
    if turned.mode in ("1", "L") and "transparency" not in turned.info:
        return Page(np.asarray(turned), None)
    if turned.mode in DEEP_MODES:
        return Page(_native(np.asarray(turned)), None)
    if turned.mode in ALPHA_MODES or "transparency" in turned.info:
        return _with_alpha(turned)
    return Page(np.asarray(turned.convert("RGB")), None)


def _native(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """The same values in this machine's byte order."""
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _with_alpha(picture: Image.Image) -> Page:
    """Values and alpha of a picture with transparency; grey stays grey."""
    if picture.mode in ("LA", "La", "L"):
        both = np.asarray(picture.convert("LA"))
        return Page(both[..., 0], both[..., 1])
    both = np.asarray(picture.convert("RGBA"))
    return Page(both[..., :3], both[..., 3])


def page_rgb(page: Page) -> NDArray[np.uint8]:
    """A page as 8-bit RGB [H, W, 3]: deep values windowed, alpha laid on white."""
    values = page.values
    if values.dtype != np.uint8:
        center, width = derive_window(values)
        values = to_display(values, center=center, width=width)
    if page.alpha is not None:
        values = on_white(values, page.alpha)
    if values.ndim == 2:
        values = np.repeat(values[..., None], 3, axis=2)
    return values.astype(np.uint8, copy=False)


def on_white(values: NDArray[np.generic], alpha: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Lay 8-bit grey or RGB values on white by their alpha."""
    share = alpha.astype(np.uint32)
    if values.ndim == 3:
        share = share[..., None]
    mixed = values.astype(np.uint32) * share + 255 * (255 - share)
    return ((mixed + 127) // 255).astype(np.uint8)


def picture_rgb(path: Path, *, frame: int = 0) -> NDArray[np.uint8]:
    """One page of a picture file as 8-bit RGB.

    Returns:
        [H, W, 3] uint8, upright.

    Raises:
        EvidenceError: the file is missing, damaged, cut short, or has no such page.
    """
    with opened(path) as picture:
        if frame:
            _seek(picture, frame, path)
        return page_rgb(read_page(picture))


def _seek(picture: Image.Image, frame: int, path: Path) -> None:
    """Turn to a page or say that there is none of that number."""
    try:
        picture.seek(frame)
    except EOFError as failure:
        reason = f"there is no page {frame + 1} in this file; ask for an earlier one"
        raise EvidenceError(path, "no_frame", reason) from failure


def read_all(path: Path) -> tuple[list[Page], str, str, bool]:
    """All pages that have the first page's size, the mode, the format, and if some were left."""
    with opened(path) as picture:
        mode, kind, left = picture.mode, picture.format or "", False
        pages: list[Page] = []
        for page in ImageSequence.Iterator(picture):
            fresh = read_page(page)
            if (len(pages) + 1) * fresh.values.nbytes > LIMIT_BYTES:
                reason = "its pages fill more memory than can be opened; split the file"
                raise EvidenceError(path, "too_large", reason)
            if pages and fresh.values.shape != pages[0].values.shape:
                left = True
            else:
                pages.append(Page(fresh.values.copy(), fresh.alpha))
        return pages, mode, kind, left


def describe_picture(path: Path) -> Evidence:
    """Describe a picture file; only its header is read."""
    with opened(path) as picture:
        count = getattr(picture, "n_frames", 1)
        tag = picture.getexif().get(0x0112, 1)
        width, height = picture.size
        mode, kind = picture.mode, picture.format or ""
        sizes = _page_sizes(picture, count)
        transparent = mode in ALPHA_MODES or "transparency" in picture.info
    if tag in (5, 6, 7, 8) and kind != "TIFF":
        width, height = height, width
    color = mode not in DEEP_MODES and mode not in ("1", "L", "LA", "La")
    same = sum(size == sizes[0] for size in sizes)
    shape: tuple[int, ...] = (same, height, width, 3) if color else (same, height, width)
    return Evidence(
        path=path,
        members=(path,),
        kind="image",
        form="2d",
        shape=shape,
        color=color,
        dtype=_dtype_name(mode),
        photometric="RGB" if color else "MONOCHROME2",
        window_source="derived",
        notes=_notes(sizes, same=same, transparent=transparent, tag=tag),
        source={"object": f"{kind} picture", "format": kind},
    )


def _page_sizes(picture: Image.Image, count: int) -> list[tuple[int, int]]:
    """Width and height of every page."""
    if count == 1:
        return [picture.size]
    return [page.size for page in ImageSequence.Iterator(picture)]


def _dtype_name(mode: str) -> str:
    """Number format of a Pillow mode."""
    return {"I": "int32", "F": "float32", "1": "bool"}.get(
        mode, "uint16" if mode in DEEP_MODES else "uint8"
    )


def _notes(
    sizes: list[tuple[int, int]], *, same: int, transparent: bool, tag: int
) -> tuple[str, ...]:
    """What a reader of the picture should know."""
    notes = []
    if same < len(sizes):
        notes.append(f"{len(sizes)} pages of different sizes; those of the first size are shown")
    elif len(sizes) > 1:
        notes.append(f"{len(sizes)} pages")
    if transparent:
        notes.append("has transparency; models and viewer see it on white")
    if tag not in (0, 1):
        notes.append("turned upright as the file's orientation tag says")
    return tuple(notes)


def load_picture(path: Path, *, white: bool = True) -> Pixels:
    """Decode a picture file.

    Args:
        path: the file.
        white: lay transparency on white; False hands out the colours below it.

    Returns:
        Values [pages, H, W] or [pages, H, W, 3].
    """
    pages = read_all(path)[0]
    layers: list[NDArray[np.generic]] = []
    for page in pages:
        if white and page.alpha is not None:
            layers.append(on_white(page.values, page.alpha))
        else:
            layers.append(page.values)
    array = np.stack(layers)
    return Pixels(array=array, window=derive_window(array))
