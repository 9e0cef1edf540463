"""Overlay planes of DICOM pictures (PS3.3 C.9.2): graphics and regions drawn over the values.

Owns groups 6000 to 601E, planes of their own and those hidden in unused bits of the pixels.
Refuses to burn anything into values, and to hand out a plane's label or description: free text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydicom.dataset import Dataset

from engine.evidence.dicom import facts
from engine.evidence.study import Overlay

GROUPS = range(0x6000, 0x6020, 2)
ROWS, COLUMNS, FRAMES, KIND, ORIGIN, FIRST, ALLOCATED, BIT, DATA = (
    0x10, 0x11, 0x15, 0x40, 0x50, 0x51, 0x100, 0x102, 0x3000,
)  # fmt: skip
LIMIT = 1 << 31


@dataclass(frozen=True)
class _Plane:
    """The header of one overlay group; ``bit`` is None for a plane with data of its own."""

    group: int
    rows: int
    columns: int
    frames: int
    first: int
    top: int
    left: int
    kind: str
    everywhere: bool
    bit: int | None


def overlays_of(dataset: Dataset, frames: int) -> tuple[Overlay, ...]:
    """Overlay planes with data of their own.

    Args:
        dataset: the header.
        frames: frames of the picture.

    Returns:
        One overlay for each usable group; a group whose data are too short is left out.
    """
    found = [_drawn(dataset, plane) for plane in _planes(dataset, frames) if plane.bit is None]
    return tuple(one for one in found if one is not None)


def embedded_of(
    dataset: Dataset, frames: int, raw: Callable[[int], NDArray[Any]]
) -> tuple[Overlay, ...]:
    """Overlay planes in bits of the pixels that are no value (retired, still met).

    Args:
        dataset: the header.
        frames: frames of the picture.
        raw: a frame's stored words, all bits, [Y, X]; called only if there is such a plane.
    """
    planes = [plane for plane in _planes(dataset, frames) if plane.bit is not None]
    words = [raw(frame) for frame in range(frames)] if planes else []
    found = []
    for plane in planes:
        mask = np.stack([(one >> (plane.bit or 0) & 1).astype(bool) for one in words])
        if mask.any():
            found.append(Overlay(mask, kind=plane.kind))
    return tuple(found)


def has_embedded(dataset: Dataset) -> bool:
    """True if bits of the pixels are overlay planes."""
    return any(plane.bit is not None for plane in _planes(dataset, 1))


def overlay_notes(dataset: Dataset, frames: int) -> list[str]:
    """How many planes there are and what kind they are."""
    planes = _planes(dataset, frames)
    drawn = sum(plane.kind == "graphics" for plane in planes)
    notes = []
    for count, name in ((drawn, "graphics"), (len(planes) - drawn, "regions")):
        if count:
            plural = "s" if count > 1 else ""
            notes.append(f"overlay {name}: {count} plane{plural}, drawn over the picture")
    return notes


def _planes(dataset: Dataset, frames: int) -> list[_Plane]:
    """The headers of all usable groups."""
    stored = facts.integer(dataset, "BitsStored", 16)
    high = facts.integer(dataset, "HighBit", stored - 1)
    found = []
    present = {int(tag) >> 16 for tag in dataset.keys()}  # noqa: SIM118  # not every header iterates
    for group in GROUPS:
        if group not in present:
            continue
        rows, columns = (_number(dataset, group, tag, 0) for tag in (ROWS, COLUMNS))
        data = (group << 16 | DATA) in dataset
        bit = _number(dataset, group, BIT, 0)
        inside = not high - stored < bit <= high and _number(dataset, group, ALLOCATED, 1) > 1
        if rows < 1 or columns < 1 or not (data or inside):
            continue
        if rows * columns > LIMIT:
            continue
        count = max(1, _number(dataset, group, FRAMES, 1))
        origin = _numbers(dataset, group, ORIGIN) or [1.0, 1.0]
        word = str(_value(dataset, group, KIND) or "G").strip()
        found.append(
            _Plane(
                group, rows, columns, count, _number(dataset, group, FIRST, 1) - 1,
                int(origin[0]) - 1, int(origin[-1]) - 1, "roi" if word == "R" else "graphics",
                count == 1 and (frames == 1 or (group << 16 | FIRST) not in dataset),
                None if data else bit,
            )
        )  # fmt: skip
    return found


def _value(dataset: Dataset, group: int, tag: int) -> Any:
    """The value of an element of an overlay group."""
    number = group << 16 | tag
    return dataset[number].value if number in dataset else None


def _numbers(dataset: Dataset, group: int, tag: int) -> list[float]:
    return facts.numbers(_value(dataset, group, tag))


def _number(dataset: Dataset, group: int, tag: int, default: int) -> int:
    found = _numbers(dataset, group, tag)
    return int(found[0]) if found else default


def _drawn(dataset: Dataset, plane: _Plane) -> Overlay | None:
    """A plane with its own data, one bit for each pixel, lowest bit first."""
    raw = _value(dataset, plane.group, DATA)
    count = plane.rows * plane.columns * plane.frames
    if not isinstance(raw, bytes) or 8 * len(raw) < count or count > LIMIT:
        return None
    if facts.order_of(dataset) == ">" and dataset[plane.group << 16 | DATA].VR == "OW":
        raw = np.frombuffer(raw, ">u2", len(raw) // 2).astype("<u2").tobytes()
    bits = np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little", count=count)
    mask = bits.view(np.bool_).reshape(plane.frames, plane.rows, plane.columns)
    if not plane.everywhere and plane.frames == 1:
        mask = np.concatenate([mask, np.zeros_like(mask)])  # one plane alone lies over every frame
    return Overlay(mask, max(0, plane.first), plane.top, plane.left, plane.kind)


def at_frame(overlays: Sequence[Overlay], frame: int) -> tuple[Overlay, ...]:
    """The planes over one frame, each as an overlay of a picture of that frame alone."""
    found = []
    for one in overlays:
        at = 0 if len(one.mask) == 1 else frame - one.first_frame
        if 0 <= at < len(one.mask) and one.mask[at].any():
            found.append(replace(one, mask=one.mask[at : at + 1], first_frame=0))
    return tuple(found)


def stacked(parts: Sequence[tuple[int, tuple[Overlay, ...]]], count: int) -> tuple[Overlay, ...]:
    """Overlays of single slices as overlays of the stack they form.

    Args:
        parts: (slice, its overlays as ``at_frame`` gives them), in any order.
        count: slices of the stack.
    """
    groups: dict[tuple[object, ...], list[tuple[int, NDArray[np.bool_]]]] = {}
    for place, overlays in sorted(parts, key=lambda part: part[0]):
        met: dict[tuple[object, ...], int] = {}
        for one in overlays:
            key = (one.mask.shape, one.top, one.left, one.kind)
            met[key] = met.get(key, 0) + 1
            groups.setdefault((met[key], *key), []).append((place, one.mask[0]))
    return tuple(_joined(key, planes, count) for key, planes in groups.items())


def _joined(
    key: tuple[Any, ...], planes: list[tuple[int, NDArray[np.bool_]]], count: int
) -> Overlay:
    """Planes of several slices in one array; one alone where every slice has the same."""
    same = all(np.array_equal(mask, planes[0][1]) for _, mask in planes)
    if same and len(planes) == count:
        return Overlay(planes[0][1][None], 0, *key[2:])
    first, last = planes[0][0], max(planes[-1][0], planes[0][0] + 1)
    mask = np.zeros((last - first + 1, *planes[0][1].shape), bool)
    for place, one in planes:
        mask[place - first] |= one
    return Overlay(mask, first, *key[2:])
