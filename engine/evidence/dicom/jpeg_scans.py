"""The scans of a JPEG or JPEG-LS codestream: where it ends, and whether any part of it is missing.

Owns the walk over its markers (ITU-T T.81 B.1, T.87 C.1) and what can be counted without decoding:
restart intervals, components, the bits of progressive coefficients. Refuses to decode: bytes lost
inside of a scan are found by trial elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MARKER = re.compile(rb"\xff([\xc0-\xfe])")  # what stands for data after FF is below these
RESTARTS = frozenset(range(0xD0, 0xD8))
START, END, SCAN, INTERVAL = 0xD8, 0xD9, 0xDA, 0xDD
NO_FRAMES = frozenset({0xC4, 0xC8, 0xCC})
FRAMES = frozenset(range(0xC0, 0xD0)) - NO_FRAMES
LOSSLESS, PROGRESSIVE = frozenset({0xC3, 0xC7, 0xCB, 0xCF}), frozenset({0xC2, 0xCA})
COEFFICIENTS = 64


@dataclass
class _Scan:
    """One scan: its components, what of their coefficients it sends, and its restart markers."""

    names: tuple[int, ...]
    first: int
    last: int
    low_bit: int
    interval: int
    restarts: list[int] = field(default_factory=list)


@dataclass
class _Walk:
    """What the markers say.

    Attributes:
        end: where the codestream ends, after its end marker; None if there is none.
        process: the start-of-frame marker, 0 if there is none of JPEG proper.
        rows, columns: of the frame.
        sampling: (horizontal, vertical) factors by the name of each component.
        scans: in their order.
    """

    end: int | None = None
    process: int = 0
    rows: int = 0
    columns: int = 0
    sampling: dict[int, tuple[int, int]] = field(default_factory=dict)
    scans: list[_Scan] = field(default_factory=list)


def end_of(src: bytes) -> int | None:
    """Where a JPEG or JPEG-LS codestream ends, whatever fills the rest; None if it does not."""
    try:
        return _walk(src).end
    except IndexError:
        return None


def whole_part(src: bytes) -> bytes | None:
    """The codestream up to its end marker; None if a part of it is missing.

    Counted are the restart intervals of each scan, the components that were sent, and the bits
    of progressive coefficients. Bytes lost in the middle of a scan are not seen here.
    """
    try:
        found = _walk(src)
    except IndexError:
        return None
    if found.end is None:
        return None
    if found.process and not _complete(found):
        return None
    return src if found.end == len(src) else src[: found.end]


def _walk(src: bytes) -> _Walk:
    """Go from marker to marker."""
    found, at, interval = _Walk(), 2, 0
    while (mark := MARKER.search(src, at)) is not None:
        marker, at = src[mark.end() - 1], mark.end()
        if marker in RESTARTS:
            if found.scans:
                found.scans[-1].restarts.append(marker & 7)
            continue
        if marker == START:
            continue
        if marker == END:
            found.end = at
            break
        body = at + 2
        if marker == INTERVAL:
            interval = src[body] << 8 | src[body + 1]
        elif marker == SCAN:
            found.scans.append(_scan(src, body, interval))
        elif marker in FRAMES and not found.process:
            _frame(src, body, marker, found)
        at += src[at] << 8 | src[at + 1]
    return found


def _frame(src: bytes, body: int, marker: int, found: _Walk) -> None:
    """The start of frame."""
    found.process = marker
    found.rows, found.columns = (src[body + at] << 8 | src[body + at + 1] for at in (1, 3))
    for one in range(src[body + 5]):
        factors = src[body + 7 + 3 * one]
        found.sampling[src[body + 6 + 3 * one]] = (max(1, factors >> 4), max(1, factors & 15))


def _scan(src: bytes, body: int, interval: int) -> _Scan:
    """The header of a scan."""
    count = src[body]
    names = tuple(src[body + 1 + 2 * one] for one in range(count))
    first, last, bits = src[body + 1 + 2 * count : body + 4 + 2 * count]
    return _Scan(names, first, last, bits & 15, interval)


def _complete(found: _Walk) -> bool:
    """True if no interval, component or bit is missing, as far as can be counted."""
    if {name for one in found.scans for name in one.names} < set(found.sampling):
        return False
    if found.process in PROGRESSIVE and not _refined(found):
        return False
    return all(_restarted(one, found) for one in found.scans)


def _refined(found: _Walk) -> bool:
    """True if every coefficient of a progressive picture was sent down to its last bit."""
    left = {name: [1] * COEFFICIENTS for name in found.sampling}
    for one in found.scans:
        for name in one.names:
            if name in left:
                span = slice(one.first, one.last + 1)
                left[name][span] = [one.low_bit] * len(left[name][span])
    return not any(any(bits) for bits in left.values())


def _restarted(scan: _Scan, found: _Walk) -> bool:
    """True if a scan holds all its restart intervals, in order."""
    units = _units(scan, found) if scan.interval else 0
    if not units:  # no restarts, or the height is only told at the end
        return True
    expected = -(-units // scan.interval) - 1
    numbers = scan.restarts[:expected]
    return numbers == [number % 8 for number in range(expected)]


def _units(scan: _Scan, found: _Walk) -> int:
    """Minimum coded units of a scan (A.2): interleaved, or blocks of its one component."""
    block = 1 if found.process in LOSSLESS else 8
    most = [max(pair[axis] for pair in found.sampling.values()) for axis in (0, 1)]
    sizes = (found.columns, found.rows)
    if len(scan.names) == 1:
        mine = found.sampling.get(scan.names[0], (1, 1))
        own = [_up(size * mine[axis], most[axis]) for axis, size in enumerate(sizes)]
        return _up(own[0], block) * _up(own[1], block)
    return _up(sizes[0], block * most[0]) * _up(sizes[1], block * most[1])


def _up(number: int, by: int) -> int:
    """A quotient, rounded up."""
    return -(-number // by)
