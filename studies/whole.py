"""Whether pictures that were only described are whole: cheap signs at their ends and checksums.

Owns the signs of loss in PNG and JPEG files. Refuses to judge by a sign alone: the reader that
decodes has the last word, so that an import says what ``show`` says.

Source: PNG specification (W3C, third edition), 5.3 and 5.4; ITU-T T.81 B.1.1.3.
"""

from __future__ import annotations

import zlib
from typing import BinaryIO

from engine.errors import EvidenceError
from engine.evidence.files import open_file
from engine.evidence.open import failed, load_pixels
from engine.evidence.study import Evidence

JPEG_END, TAIL = b"\xff\xd9", 32  # some programs put a few bytes behind the end
FIRST_CHUNK = 8
PIECE = 1 << 20


def judged(evidence: Evidence) -> Evidence:
    """The same evidence, or why its picture cannot be had.

    Args:
        evidence: as the readers describe it from its header.

    Returns:
        Evidence of kind ``error`` if the file shows signs of loss and cannot be decoded.
    """
    sign = SIGNS.get(evidence.source.get("format", ""))
    if sign is None:
        return evidence
    try:
        with open_file(evidence.path) as stream:
            lost = sign(stream)
        if lost:
            load_pixels(evidence)
    except EvidenceError as error:
        return failed(evidence.path, error)
    except OSError:  # gone since it was described; the next import sees it
        return evidence
    return evidence


def _png_lost(stream: BinaryIO) -> bool:
    """True if a checksum is wrong or the end is not there."""
    stream.seek(FIRST_CHUNK)
    while len(head := stream.read(8)) == 8:
        left, found = int.from_bytes(head[:4], "big"), zlib.crc32(head[4:])
        while left and (part := stream.read(min(left, PIECE))):
            found, left = zlib.crc32(part, found), left - len(part)
        if stream.read(4) != found.to_bytes(4, "big"):
            return True
        if head[4:] == b"IEND":
            return False
    return True


def _jpeg_lost(stream: BinaryIO) -> bool:
    """True if the end marker is not at the end."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - TAIL))
    return JPEG_END not in stream.read(TAIL)


SIGNS = {"PNG": _png_lost, "JPEG": _jpeg_lost}
