"""Files of one series that say the same twice: found by identifier, or by place and content.

Owns what counts as a copy. Refuses to call two pictures of one place copies unless every stored
byte of their pixels is equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from engine.errors import EvidenceError
from engine.evidence.dicom.instance import Instance
from engine.evidence.files import open_file

BLOCK = 1 << 20


def without_copies(group: list[Instance]) -> tuple[list[Instance], int]:
    """Files of distinct pictures and how many copies were left out.

    Of copies the one with the shortest name is kept: copying tools make names longer. Pixels are
    only read where two files of one place have the same number and nothing tells them apart.
    """
    if len(group) == 1:
        return group, 0
    by_uid: dict[str, Instance] = {}
    for instance in sorted(group, key=_name_length):
        by_uid.setdefault(instance.instance_uid or str(instance.path), instance)
    kept = _distinct(list(by_uid.values()))
    return kept, len(group) - len(kept)


def _name_length(instance: Instance) -> tuple[int, str]:
    name = instance.path.name
    return len(name), name


def _distinct(group: list[Instance]) -> list[Instance]:
    """Leave out files whose place, number, labels and pixels are those of an earlier one."""
    alike: dict[object, list[Instance]] = {}
    for instance in group:
        spot = instance.spot
        place = spot.plane.position if spot.plane is not None else spot.along
        key = id(instance) if place is None else (place, spot.number, instance.pixels[1])
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


def _content(instance: Instance) -> bytes | None:
    """A hash of the pixel element's bytes; None where they cannot be found."""
    at, length = instance.pixels
    if at == 0:
        return instance.instance_uid.encode()
    total, left = hashlib.sha256(), length or 1 << 62
    try:
        with open_file(instance.path) as stream:
            stream.seek(at)
            while left > 0 and (block := stream.read(min(BLOCK, left))):
                total.update(block)
                left -= len(block)
    except (OSError, EvidenceError):
        return instance.instance_uid.encode()
    return total.digest()
