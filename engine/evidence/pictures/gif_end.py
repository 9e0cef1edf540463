"""If a GIF file is whole: decoders take the frames that are left and say nothing.

Owns the walk over its blocks to the trailer. Refuses to decode.

Source: the GIF89a specification, sections 15 to 27.
"""

from __future__ import annotations

from typing import BinaryIO

EXTENSION, PICTURE = b"\x21", b"\x2c"
TABLE, SIZE = 0x80, 0x07


def is_cut(stream: BinaryIO) -> bool:
    """True if the file ends before its trailer.

    Args:
        stream: the file; is read from its start.
    """
    stream.seek(0)
    head = stream.read(13)
    if len(head) < 13:
        return True
    _skip_table(stream, head[10])
    while True:
        mark = stream.read(1)
        if mark == EXTENSION:
            stream.read(1)
        elif mark == PICTURE:
            description = stream.read(9)
            _skip_table(stream, description[8] if len(description) == 9 else 0)
            stream.read(1)
        else:  # what follows the last frame and is no block is left to the decoder
            return mark == b""
        _skip_parts(stream)


def _skip_table(stream: BinaryIO, flags: int) -> None:
    """Leap over a colour table, if the flags announce one."""
    if flags & TABLE:
        stream.seek(3 * (2 << (flags & SIZE)), 1)


def _skip_parts(stream: BinaryIO) -> None:
    """Leap over the parts of a block; the last one is empty."""
    while size := stream.read(1):
        if size == b"\0":
            return
        stream.seek(size[0], 1)
