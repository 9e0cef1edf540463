"""Files of one series that say the same twice: found by identifier, or by place and content.

Owns what counts as a copy. Refuses to call two pictures of one place copies unless every stored
byte of their pixels is equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from engine.errors import EvidenceError
from engine.evidence.dicom.instance import Instance
from engine.evidence.dicom.start import from_start
from engine.evidence.files import open_file

BLOCK = 1 << 20
CLAIMED = "{0} files claim one identity and differ; the one with the shortest name is shown"
REUSED = "files of different places claim one identity; all are shown"


def without_copies(group: list[Instance]) -> tuple[list[Instance], tuple[str, ...]]:
    """Files of distinct pictures, and sentences on the files that were left out.

    Of copies the one with the shortest name is kept: copying tools make names longer. Pixels are
    only read where two files claim one identity, or where two files of one place have the same
    number and nothing tells them apart. Files of one identity that lie in different places are
    different pictures, and are all kept.
    """
    if len(group) == 1:
        return group, ()
    claims: dict[tuple[object, ...], list[Instance]] = {}
    for instance in sorted(group, key=_name_length):
        name = instance.instance_uid or str(instance.path)
        claims.setdefault((name, _place(instance)), []).append(instance)
    kept = _distinct([several[0] for several in claims.values()])
    untrue = [several for several in claims.values() if not _repeated(several)]
    left_out = len(group) - len(kept) - sum(len(several) - 1 for several in untrue)
    notes = tuple(CLAIMED.format(len(several)) for several in untrue)
    names = {name for name, _ in claims}
    if len(names) < len(claims):
        notes = (*notes, REUSED)
    if left_out:
        copies = f"{left_out} duplicate file{'s' if left_out > 1 else ''} of one slice left out"
        notes = (copies, *notes)
    return kept, tuple(dict.fromkeys(notes))


def _place(instance: Instance) -> object:
    """Where a picture lies, None if its file does not say."""
    spot = instance.spot
    return spot.plane.position if spot.plane is not None else spot.along


def _repeated(several: list[Instance]) -> bool:
    """True if files of one identity hold the same pixels, byte for byte."""
    if len(several) == 1:
        return True
    if len({one.pixels[1] for one in several}) > 1:
        return False
    return len({_content(one) for one in several}) == 1


def _name_length(instance: Instance) -> tuple[int, str]:
    name = instance.path.name
    return len(name), name


def _distinct(group: list[Instance]) -> list[Instance]:
    """Leave out files whose place, number, labels and pixels are those of an earlier one."""
    alike: dict[object, list[Instance]] = {}
    for instance in group:
        place = _place(instance)
        key = id(instance) if place is None else (place, instance.spot.number, instance.pixels[1])
        alike.setdefault(key, []).append(instance)
    if len(alike) == len(group):
        return group
    left_out = {id(one) for several in alike.values() for one in _copies(several)}
    return [one for one in group if id(one) not in left_out]


def _copies(several: list[Instance]) -> Iterable[Instance]:
    """Those that repeat an earlier one."""
    seen: set[object] = set()
    for instance in several if len(several) > 1 else ():
        mark = (tuple(sorted(map(str, instance.spot.labels.items()))), _content(instance))
        if mark in seen:
            yield instance
        seen.add(mark)


def _content(instance: Instance) -> bytes:
    """A hash of the pixel element's bytes, of the whole file where they cannot be found."""
    at, length = instance.pixels
    total, left = hashlib.sha256(), length or 1 << 62
    try:
        with open_file(instance.path) as file:
            stream = from_start(file)
            stream.seek(at)
            while left > 0 and (block := stream.read(min(BLOCK, left))):
                total.update(block)
                left -= len(block)
    except (OSError, EvidenceError):
        return str(instance.path).encode()
    return total.digest()
