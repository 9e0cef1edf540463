"""The chunks of a PNG, walked without decoding: its EXIF, and if its picture data are all there.

Owns the walk. Refuses text chunks: they may name a person and are passed over.

Source: PNG specification, third edition, 5.3 and 11.3.4.5 (eXIf).
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from PIL import Image

from engine.evidence.failures import truncated

START = 8
EXIF_BYTES = 1 << 16


def orientation(path: Path, stream: BinaryIO) -> int:
    """The EXIF orientation of a PNG, 1 without one.

    Pillow would decode the whole picture to find an EXIF chunk behind it.

    Raises:
        EvidenceError: ``truncated`` if picture data run over the end of the file.
    """
    size = stream.seek(0, 2)
    place, found = START, 1
    while place + 12 <= size:
        stream.seek(place)
        length, kind = struct.unpack(">L4s", stream.read(8))
        if kind == b"eXIf" and length <= EXIF_BYTES:
            found = _tag(stream.read(length))
        elif kind == b"IDAT" and place + 8 + length > size:
            raise truncated(path)
        elif kind == b"IEND":
            break
        place += 12 + length
    return found


def _tag(raw: bytes) -> int:
    """Tag 274 of an EXIF block."""
    exif = Image.Exif()
    try:
        exif.load(raw)
        return int(exif.get(0x0112, 1))
    except (ValueError, TypeError, KeyError, IndexError, SyntaxError, EOFError, struct.error):
        return 1
