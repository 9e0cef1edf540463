"""Plain pictures (PNG, JPEG, 8-bit TIFF, BMP, WebP, GIF, PNM, AVIF) through Pillow: upright, whole.

Owns EXIF orientation, palettes, alpha, CMYK, 16-bit grey and pages. Refuses pictures that end
early: half a picture is never handed on as a whole one.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageOps, UnidentifiedImageError

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.archives import inflate
from engine.evidence.failures import UNREADABLE, bomb, of_system, truncated
from engine.evidence.pictures import gif_end, jpeg_end, png, png_end
from engine.evidence.pictures.pages import FREE_BYTES, LIMIT_PIXELS, Page, PictureFacts
from engine.evidence.quiet import quiet

# only these: others call programs (EPS) or are no pictures of evidence
FORMATS = (
    "PNG", "JPEG", "TIFF", "BMP", "DIB", "GIF", "WEBP", "PPM", "JPEG2000", "AVIF",
)  # fmt: skip
LIMIT_PAGES = 20_000
# what Pillow's readers raise on damaged files
DECODE_ERRORS = (
    OSError, SyntaxError, EOFError, ValueError, IndexError, TypeError, KeyError, AttributeError,
    ArithmeticError, RuntimeError, NotImplementedError, MemoryError, struct.error, zlib.error,
)  # fmt: skip
ALPHA_MODES = frozenset({"LA", "La", "PA", "RGBA", "RGBa"})
DEEP_MODES = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})
MOVING = frozenset({"GIF", "PNG", "WEBP", "AVIF"})
SAMPLES = {"RGB": 3, "CMYK": 4, "RGBA": 4, "I": 4, "F": 4, "YCbCr": 3, "LAB": 3, "LA": 2}
# formats whose decoders fill what is missing: (file, decoded values) to True for a cut picture
CUT = {"JPEG": jpeg_end.is_cut, "MPO": jpeg_end.is_cut, "PNG": png_end.is_cut}

Image.MAX_IMAGE_PIXELS = LIMIT_PIXELS  # above it Pillow warns; here it is refused with a sentence


@contextmanager
def opened(path: Path) -> Iterator[Image.Image]:
    """Open a picture file, turning every way it can fail into an ``EvidenceError``."""
    try:
        with (
            quiet(),
            files.open_file(path) as stream,
            Image.open(stream, formats=_formats()) as picture,
        ):
            _check(path, picture)
            if picture.format == "GIF":
                _check_end(path)
            yield picture
    except UnidentifiedImageError as failure:
        raise EvidenceError(path, "unsupported", UNREADABLE) from failure
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as failure:
        raise EvidenceError(path, "too_large", _too_large(None)) from failure
    except (FileNotFoundError, PermissionError) as failure:
        raise of_system(path, failure) from failure
    except DECODE_ERRORS as failure:
        raise EvidenceError(path, _code(failure), UNREADABLE) from failure


@cache
def _formats() -> tuple[str, ...]:
    """Those of ``FORMATS`` that this Pillow was built with."""
    Image.init()
    return tuple(name for name in FORMATS if name in Image.OPEN)


def _check(path: Path, picture: Image.Image) -> None:
    """Refuse sizes beyond measure before anything is decoded."""
    pixels = picture.width * picture.height
    if pixels > LIMIT_PIXELS:
        raise EvidenceError(path, "too_large", _too_large(picture.size))
    size = files.facts_of(path).size
    if pixels * SAMPLES.get(picture.mode, 2) > inflate.allowed(size, free=FREE_BYTES):
        raise bomb(path)


def _check_end(path: Path) -> None:
    """Refuse a GIF file that was cut between two frames."""
    with files.open_file(path) as stream:
        if gif_end.is_cut(stream):
            raise truncated(path)


def _code(failure: Exception) -> str:
    """A stable word for a failure of Pillow."""
    words = str(failure).lower()
    return "truncated" if "truncat" in words or "end of" in words else "damaged"


def _too_large(size: tuple[int, int] | None) -> str:
    shown = "" if size is None else f" ({size[0]} x {size[1]})"
    return f"the picture is larger than {LIMIT_PIXELS // 1_000_000} megapixels{shown}; make it less"


def page_count(picture: Image.Image) -> int:
    """Pages of an open picture; the second picture of a camera's MPO is no page."""
    return 1 if picture.format == "MPO" else int(getattr(picture, "n_frames", 1))


def read_page(picture: Image.Image) -> Page:
    """The current page of an open picture, decoded, upright, palette and CMYK turned to RGB."""
    moving = picture.format in MOVING and page_count(picture) > 1
    is_cut = None if moving else CUT.get(picture.format or "")
    stream = None if is_cut is None else getattr(picture, "fp", None)
    if is_cut is not None and stream is not None and is_cut(stream, np.asarray(picture)):
        raise EOFError("truncated")
    upright = ImageOps.exif_transpose(_true_inks(picture))
    clear = "transparency" in upright.info
    if moving:  # frames of one file may differ in mode; colour holds them all
        return _with_alpha(upright.convert("RGBA"))
    if upright.mode in ("1", "L") and not clear:
        return Page(np.asarray(upright), None)
    if upright.mode in DEEP_MODES:
        values = _native(np.asarray(upright))
        key = upright.info.get("transparency")
        clear_at = values == key if isinstance(key, int) else None
        return Page(values, None if clear_at is None else np.where(clear_at, 0, 255).astype("u1"))
    if upright.mode in ALPHA_MODES or clear:
        return _with_alpha(upright)
    return Page(np.asarray(upright.convert("RGB")), None)


def _true_inks(picture: Image.Image) -> Image.Image:
    """The picture with 255 for full ink.

    Pillow takes every CMYK JPEG for an inverted one; only those with Adobe's marker are.
    """
    if picture.format == "JPEG" and picture.mode == "CMYK" and "adobe" not in picture.info:
        exif = picture.getexif()
        turned = ImageChops.invert(picture)
        turned.getexif().update(exif)
        return turned
    return picture


def _native(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """The same values in this machine's byte order."""
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _with_alpha(picture: Image.Image) -> Page:
    """Values and alpha of a picture with transparency; grey stays grey."""
    if picture.mode in ("LA", "La", "L"):
        both = np.asarray(picture.convert("LA"))
        return Page(both[..., 0], both[..., 1])
    both = np.asarray(picture.convert("RGBA"))
    solid = bool((both[..., 3] == 255).all())
    return Page(both[..., :3], None if solid and picture.format is None else both[..., 3])


def seek(picture: Image.Image, frame: int, path: Path) -> None:
    """Turn to a page or say that there is none of that number."""
    try:
        if frame >= page_count(picture):
            raise EOFError
        picture.seek(frame)
    except EOFError as failure:
        reason = f"there is no page {frame + 1} in this file; ask for an earlier one"
        raise EvidenceError(path, "no_frame", reason) from failure


def pages(picture: Image.Image) -> Iterator[Page]:
    """All pages of an open picture, decoded one by one."""
    for number in range(page_count(picture)):
        picture.seek(number)
        yield read_page(picture)


def facts_of(path: Path) -> PictureFacts:
    """What a picture file is; only its header is read.

    Raises:
        EvidenceError: it cannot be read, or is too large.
    """
    with opened(path) as picture:
        count = page_count(picture)
        kind, mode = picture.format or "", picture.mode
        tag = _orientation(path, picture)
        width, height = picture.size
        looks = _page_looks(path, picture, count)
        moving = kind in MOVING and count > 1
        clear = mode in ALPHA_MODES or "transparency" in picture.info
        if moving and "duration" not in picture.info:
            picture.load()  # WebP tells it with the frame only
        stands = float(picture.info.get("duration") or 0) if moving else 0.0
        profile = mode == "CMYK" and "icc_profile" in picture.info
    if tag in (5, 6, 7, 8) and kind != "TIFF":  # Pillow turns TIFF by itself
        width, height = height, width
    color = moving or _colored(mode)
    same = sum(look == looks[0] for look in looks)
    notes = _notes(looks, same=same, clear=clear, tag=tag, profile=profile)
    return PictureFacts(
        "JPEG" if kind == "MPO" else kind, same, height, width, color, _dtype_name(mode),
        moving=moving, stack=same > 1 and not color and mode != "1", notes=notes,
        frame_ms=stands or None,
    )  # fmt: skip


def _orientation(path: Path, picture: Image.Image) -> int:
    """The EXIF orientation, 1 without one."""
    stream = getattr(picture, "fp", None)
    if picture.format == "PNG" and stream is not None and page_count(picture) == 1:
        return png.orientation(path, cast(BinaryIO, stream))
    return int(picture.getexif().get(0x0112, 1))


def _page_looks(path: Path, picture: Image.Image, count: int) -> list[tuple[int, int, str]]:
    """Width, height and kind of values of every page."""
    if count > LIMIT_PAGES:
        reason = f"the file has more than {LIMIT_PAGES} pages; split it"
        raise EvidenceError(path, "too_large", reason)
    if count == 1 or picture.format in MOVING:
        return [(*picture.size, picture.mode)] * count
    looks = []
    for number in range(count):
        picture.seek(number)
        looks.append((*picture.size, f"{_colored(picture.mode)} {_dtype_name(picture.mode)}"))
    return looks


def _colored(mode: str) -> bool:
    """True if a page of this Pillow mode becomes RGB."""
    return mode not in DEEP_MODES and mode not in ("1", "L", "LA", "La")


def _dtype_name(mode: str) -> str:
    """Number format of a Pillow mode."""
    return {"I": "int32", "F": "float32", "1": "bool"}.get(
        mode, "uint16" if mode in DEEP_MODES else "uint8"
    )


def _notes(
    looks: list[tuple[int, int, str]], *, same: int, clear: bool, tag: int, profile: bool
) -> tuple[str, ...]:
    """What a reader of the picture should know."""
    notes = []
    if len({look[:2] for look in looks}) > 1:
        notes.append(f"{len(looks)} pages of different sizes; those of the first size are shown")
    elif same < len(looks):
        notes.append(f"{len(looks)} pages of different kinds; those like the first are shown")
    elif len(looks) > 1:
        notes.append(f"{len(looks)} pages")
    if clear:
        notes.append("has transparency; models and viewer see it on white")
    if tag not in (0, 1):
        notes.append("turned upright as the file's orientation tag says")
    if profile:
        notes.append("printing colours; the file's colour profile is not applied")
    return tuple(notes)
