"""Pictures that Pillow reduces: JPEG 2000, deep or lossless JPEG, 16-bit colour PNG.

Owns which files go this way and their decoding through imagecodecs. Refuses streams that end
early: the decoder would hand out half a picture.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.archives import inflate
from engine.evidence.dicom import codestream
from engine.evidence.dicom.codestream import Stream
from engine.evidence.failures import UNREADABLE, bomb, too_large, truncated
from engine.evidence.pictures import png_end
from engine.evidence.pictures.pages import FREE_BYTES, LIMIT_PIXELS, Page, PictureFacts, eight_bits
from engine.evidence.quiet import quiet

PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
CODESTREAM = b"\xff\x4f\xff\x51"
JPEG_2000 = (CODESTREAM, b"\x00\x00\x00\x0cjP  ")
HEADER_BYTES = 1 << 20
PLAIN_JPEG = frozenset({0xC0, 0xC1, 0xC2})
MOVING_WITHIN = 4096  # the chunk of a moving PNG stands before its picture data
SAMPLES = {0: 1, 2: 3, 4: 2, 6: 4}  # of a PNG by its colour type
GREY = 0


def is_deep(head: bytes) -> bool:
    """True for the first megabyte of a picture that is decoded here."""
    if head.startswith(PNG):
        moving = b"acTL" in head[:MOVING_WITHIN]
        return len(head) > 25 and head[24] == 16 and head[25] in (2, 4, 6) and not moving
    if not head.startswith((JPEG, *JPEG_2000)):
        return False
    try:
        stream = codestream.read_stream(head)
    except IndexError:
        return False
    if stream is None or not stream.process:
        return stream is not None and stream.precision > 8
    return stream.precision > 8 or stream.process not in PLAIN_JPEG


def check_whole(path: Path, head: bytes) -> None:
    """Refuse JPEG 2000 that ends early: its decoders make a coarser picture of what is there.

    Raises:
        EvidenceError: ``truncated`` or ``damaged``.
        OSError: it cannot be opened.
    """
    if not head.startswith(JPEG_2000):
        return
    with files.open_file(path) as source:
        raw = source.read()
    raw = raw[max(0, raw.find(CODESTREAM)) :]  # boxes of a JPX file may stand in another order
    if not codestream.is_whole(raw, _stream(path, raw)):
        raise truncated(path)


def facts_of(path: Path, head: bytes) -> PictureFacts:
    """What such a picture is.

    Args:
        path: the file.
        head: its first megabyte.

    Raises:
        EvidenceError: its header is damaged, or it is too large.
    """
    size = files.facts_of(path).size
    if head.startswith(PNG):
        width, height = (int.from_bytes(head[at : at + 4], "big") for at in (16, 20))
        kind, samples, name, dtype = head[25], SAMPLES[head[25]], "PNG", "uint16"
        color, alpha = kind in (2, 6), kind in (4, 6)
    else:
        stream = _stream(path, head)
        width, height, samples = stream.columns, stream.rows, stream.components
        name = "JPEG" if stream.process else "JPEG2000"
        bits = 8 if stream.precision <= 8 else 16 if stream.precision <= 16 else 32
        dtype = f"{'int' if stream.signed else 'uint'}{bits}"
        color, alpha = samples >= 3, samples in (2, 4)
    _check(path, width * height * samples * np.dtype(dtype).itemsize, width * height, size)
    notes = ["has transparency; models and viewer see it on white"] if alpha else []
    if color and dtype != "uint8":
        notes.append(f"{dtype} colour, shown with 8 bits")
    return PictureFacts(name, 1, height, width, color, dtype, notes=tuple(notes))


def _stream(path: Path, head: bytes) -> Stream:
    """The codestream's own facts."""
    try:
        found = codestream.read_stream(head)
    except IndexError as failure:
        raise damaged_picture(path) from failure
    if found is None or found.rows < 1 or found.columns < 1 or found.components < 1:
        raise damaged_picture(path)
    return found


def _check(path: Path, claimed: int, pixels: int, size: int) -> None:
    """Refuse sizes beyond measure before anything is decoded."""
    if pixels > LIMIT_PIXELS:
        raise too_large(path, f"the picture has {pixels // 1_000_000} megapixels")
    if claimed > inflate.allowed(size, free=FREE_BYTES):
        raise bomb(path)


def damaged_picture(path: Path) -> EvidenceError:
    """The error of a picture that cannot be decoded."""
    return EvidenceError(path, "damaged", UNREADABLE)


def load(path: Path) -> Page:
    """Decode such a picture.

    Raises:
        EvidenceError: it is damaged, cut or too large.
        OSError: it cannot be opened.
    """
    with files.open_file(path) as stream:
        raw = stream.read()
    facts_of(path, raw[:HEADER_BYTES])
    if not raw.startswith(PNG) and not codestream.is_whole(raw, _stream(path, raw)):
        raise truncated(path)
    values = _decoded(path, raw)
    if raw.startswith(PNG) and png_end.is_cut(io.BytesIO(raw), values):
        raise truncated(path)
    if values.ndim == 2:
        values = values[..., None]
    samples = values.shape[-1]
    alpha = eight_bits(values[..., -1]) if samples in (2, 4) else None
    if samples >= 3:
        return Page(eight_bits(values[..., :3]), alpha)
    return Page(np.ascontiguousarray(values[..., 0]), alpha)


def _decoded(path: Path, raw: bytes) -> NDArray[Any]:
    """Values as the codec gives them."""
    import imagecodecs

    decode: Callable[[bytes], NDArray[Any]] = imagecodecs.jpeg_decode
    if raw.startswith(JPEG) and _stream(path, raw).process == codestream.JPEG_LS:
        decode = imagecodecs.jpegls_decode
    if raw.startswith(PNG):
        decode = imagecodecs.png_decode
    elif raw.startswith(JPEG_2000):
        decode = imagecodecs.jpeg2k_decode
    try:
        with quiet():
            return decode(raw)
    except (RuntimeError, ValueError, TypeError, MemoryError, OSError) as failure:
        raise damaged_picture(path) from failure
