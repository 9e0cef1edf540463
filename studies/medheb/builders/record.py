"""What a source's reader hands on: records with lazy pixels, and the faults it met on the way.

Plain frozen values. A reader opens tables and lists files; it decodes no picture before somebody
asks for its pixels. Refuses nothing itself: what cannot be read is a ``Fault`` with its sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Box = tuple[int, int, int, int]
Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Picture:
    """One picture of a source: a file taken as it is, or made when it is asked for.

    Attributes:
        name: path below the task's image root, forward slashes, with an ending that fits.
        file: the file to copy, None where there is none.
        pixels: makes [H, W] or [H, W, 3], uint8; None where there is a file.
        content: gives the bytes of a picture file that lies inside a table; None elsewhere.
    """

    name: str
    file: Path | None = None
    pixels: Callable[[], Pixels] | None = None
    content: Callable[[], bytes] | None = None


@dataclass(frozen=True)
class Volume:
    """One volume of a source, as the slices that a model will be shown.

    Attributes:
        name: folder below the task's image root.
        slices: makes [S, H, W] or [S, H, W, 3], uint8, chosen and windowed by the source's rule;
            or a list of [H, W] where planes differ in size.
    """

    name: str
    slices: Callable[[], Pixels | list[Pixels]]


@dataclass(frozen=True)
class Region:
    """Something in a picture that a text names.

    Attributes:
        text: what a query says.
        boxes: (left, top, right, bottom) in pixels of the picture, right and bottom excluded; all
            of them together are one candidate.
    """

    text: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class Record:
    """One sample of a source.

    Attributes:
        key: unique within the source, stable between runs; never shown to a model.
        group: patient, lesion, case or whatever must stay on one side of a split and out of its
            own positives; the key itself where the source knows nothing wider.
        split: the official part (``train``, ``valid``, ``test``), empty where there is none.
        labels: the positive classes in words.
        pictures: none, one or several.
        volumes: by the role that a task asks for (``ct``, ``mri``, ``t1``, ``t2``).
        texts: by role (``report``, ``question``, ``answer``, ``findings``, ``impression``).
        regions: what is boxed in the first picture.
        stratum: what a split without labels is balanced over, a centre for one.
    """

    key: str
    group: str
    split: str = ""
    labels: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    volumes: Mapping[str, Volume] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    regions: tuple[Region, ...] = ()
    stratum: str = ""


@dataclass(frozen=True)
class Fault:
    """Something of a source that could not be read.

    Attributes:
        where: file, and row or entry where there is one.
        reason: one sentence without the place.
    """

    where: str
    reason: str
