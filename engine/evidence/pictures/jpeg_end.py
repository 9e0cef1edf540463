"""If a JPEG picture was decoded whole: decoders fill lost parts with grey and say nothing.

Owns the check by trial: bytes put before the end marker change the picture only if the decoder
ran out of data. Refuses to decode what shows no sign of loss: the trial costs a second decoding.

Source: ITU-T T.81 B.1.1.3 and F.2.2.5; the Independent JPEG Group's treatment of early ends.
"""

from __future__ import annotations

import io
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.evidence.dicom import codestream

END = b"\xff\xd9"
PROBE = b"\xfe\xa5\x3c\x5a" * 48  # begins with ones: decoders without data read zeros
FILL, NEAR = 128, 2  # what lost blocks are filled with, once colours are turned
CORNER = 4
FIRST, MORE = 1 << 20, 8 << 20


def is_cut(stream: BinaryIO, decoded: NDArray[np.generic]) -> bool:
    """True if the data ended before the picture did.

    Args:
        stream: the file.
        decoded: its values as the decoder gave them, [H, W] or [H, W, C], not turned.
    """
    stream.seek(0)
    head = stream.read(FIRST)
    try:
        found = codestream.read_stream(head)
    except IndexError:
        found = None
    in_steps = found is not None and found.process in codestream.PROGRESSIVE
    if not in_steps and not _ends_in_fill(decoded):
        return False
    raw = head + stream.read(MORE + 4 * decoded.nbytes)  # what follows is no part of the picture
    at = raw.rfind(END)
    if at < 0:
        return False  # the decoder itself complains
    probed = raw[:at].rstrip(b"\xff") + PROBE + END
    with Image.open(io.BytesIO(probed), formats=("JPEG",)) as again:
        return not np.array_equal(np.asarray(again), decoded)


def _ends_in_fill(values: NDArray[np.generic]) -> bool:
    """True if the last corner is the grey of lost blocks."""
    corner = values[-CORNER:, -CORNER:].astype(np.int64)
    return bool((np.abs(corner - FILL) <= NEAR).all())
