"""If a JPEG picture was decoded whole: decoders fill lost parts with grey and say nothing.

Owns the check by count (restart intervals, components, progressive bits) and by trial: bytes put
before the end marker change the picture only if the decoder ran out of data. Refuses to judge
files without any end marker: their decoder complains.

Source: ITU-T T.81 B.1.1.3 and F.2.2.5; the Independent JPEG Group's treatment of early ends.
"""

from __future__ import annotations

import io
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.evidence.dicom import jpeg_scans

END = b"\xff\xd9"
PROBE = b"\xfe\xa5\x3c\x5a" * 48  # begins with ones: decoders without data read zeros
MORE = 8 << 20


def is_cut(stream: BinaryIO, decoded: NDArray[np.generic]) -> bool:
    """True if the data ended before the picture did.

    Args:
        stream: the file.
        decoded: its values as the decoder gave them, [H, W] or [H, W, C], not turned.
    """
    stream.seek(0)
    raw = stream.read(MORE + 4 * decoded.nbytes)  # what follows is no part of the picture
    end = jpeg_scans.end_of(raw)
    if end is None:
        return False  # the decoder itself complains
    if jpeg_scans.whole_part(raw[:end]) is None:
        return True
    probed = raw[: end - len(END)].rstrip(b"\xff") + PROBE + END
    with Image.open(io.BytesIO(probed), formats=("JPEG",)) as again:
        return not np.array_equal(np.asarray(again), decoded)
