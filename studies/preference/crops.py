"""Finds the picture that a crop was cut from, where the data tell: by a box, or by its name.

Our builders name a crop ``crops/PICTURE_LEFT_TOP_RIGHT_BOTTOM.png`` beside the pictures. A name is
believed only if the pixels agree. A release that ships crops alone tells no source: then there is
none. Refuses to search for one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.item import ImageRef
from engine.evidence.pixels import image_rgb
from studies.medheb.builders.media import COPIED
from studies.preference.panels import Box

_NAME = re.compile(r"(?P<stem>.+)_(?P<box>\d+_\d+_\d+_\d+)\.png", re.IGNORECASE)
FOLDER = "crops"


def source_of(ref: ImageRef, crop: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], Box] | None:
    """The whole picture and the box of a crop in it.

    Args:
        ref: the crop.
        crop: its pixels [H, W, 3].

    Returns:
        Pixels [H, W, 3] and (left, top, right, bottom) inside them, right and bottom excluded;
        None where nothing tells.

    Raises:
        EvidenceError: the picture that the crop names by its box cannot be read.
    """
    if ref.box is not None:
        return _checked(image_rgb(replace(ref, box=None)), ref.box, crop)
    for path, box in _named(Path(ref.path)):
        try:
            found = _checked(image_rgb(ImageRef(path)), box, crop)
        except EvidenceError:
            continue
        if found is not None:
            return found
    return None


def _checked(
    whole: NDArray[np.uint8], box: Box, crop: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], Box] | None:
    height, width = whole.shape[:2]
    left, top = max(0, box[0]), max(0, box[1])
    right, bottom = min(width, box[2]), min(height, box[3])
    inside = whole[top:bottom, left:right]
    same = inside.shape == crop.shape and bool(np.array_equal(inside, crop))
    return (whole, (left, top, right, bottom)) if same else None


def _named(path: Path) -> list[tuple[Path, Box]]:
    """Pictures that there are under the name that a crop's name holds."""
    found = _NAME.fullmatch(path.name)
    if found is None or FOLDER not in path.parts:
        return []
    left, top, right, bottom = map(int, found["box"].split("_"))
    place = len(path.parts) - 1 - path.parts[::-1].index(FOLDER)
    folder = Path(*path.parts[:place], *path.parts[place + 1 : -1])
    pictures = (folder / f"{found['stem']}{suffix}" for suffix in COPIED)
    return [(one, (left, top, right, bottom)) for one in pictures if one.is_file()]
