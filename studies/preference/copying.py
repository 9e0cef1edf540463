"""Evidence into what a study keeps: pixels and words, and their look for finding overlap.

Owns the one rule for both sides: 8 bits as the models see them, at most ``MAX_SLICES`` slices,
full size, one coding; words without days, numbers and names with a title. Holds the raw pixels of
one picture or volume at a time. Refuses to keep a name, a path or a tag.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.open import read_file
from engine.evidence.pictures.raster import SUFFIXES
from engine.evidence.pixels import image_rgb, volume_rgb
from studies.medheb.sources.scrubbed import scrubbed
from studies.preference.crops import source_of
from studies.preference.frozen import canonical, sha256
from studies.preference.media import Coded, MediaPool, as_grey, coded
from studies.preference.overlap import Look, Pattern, pattern_of
from studies.preference.panels import Box, Panel

MAX_SLICES = 64
REMEMBERED = 512  # panels and looks, some 100 kB each
SHOWN = {
    "bits": 8,
    "window": "the window of the file, or one derived from its values, as the models see it",
    "slices": MAX_SLICES,
    "size": "full",
}


@dataclass(frozen=True, eq=False)
class Copied:
    """One query or candidate, ready to be kept.

    Attributes:
        kind: of its panel.
        media: pictures and volumes in order, encoded.
        boxes: for each of them the box of a crop in it, None where all of it is meant.
        text: its words.
        look: for comparing.
    """

    kind: str
    media: tuple[Coded, ...]
    boxes: tuple[Box | None, ...]
    text: str
    look: Look

    def keep(self, pool: MediaPool) -> dict[str, Any]:
        """Put the media into the study; returns the panel as the study stores it."""
        names = tuple(pool.keep(one) for one in self.media)
        boxes = self.boxes if any(self.boxes) else ()
        box = boxes[0] if len(boxes) == 1 else None
        return Panel(self.kind, names, self.text, box, boxes).to_json()


@dataclass(frozen=True, eq=False)
class Kept:
    """One that lies in the study already: its panel and its look."""

    panel: Mapping[str, Any]
    look: Look

    def keep(self, pool: MediaPool) -> Mapping[str, Any]:
        """The panel as it was kept."""
        return self.panel


class Copies:
    """Reads evidence for one study; what was kept lately is not read again.

    Args:
        pool: takes media.
    """

    def __init__(self, pool: MediaPool) -> None:
        self._pool = pool
        self._salt = secrets.token_bytes(16)
        self._kept: OrderedDict[tuple[Item, str | None], Kept] = OrderedDict()

    def read(self, item: Item, subject: str | None) -> Copied | Kept:
        """What an item shows.

        Raises:
            EvidenceError: something cannot be read.
        """
        known = self._kept.get((item, subject))
        if known is None:
            return copied(item, salt=self._salt, subject=subject)
        self._kept.move_to_end((item, subject))
        return known

    def keep(self, item: Item, subject: str | None, one: Copied | Kept) -> Mapping[str, Any]:
        """Put it into the study; returns its panel."""
        kept = self._kept[item, subject] = Kept(one.keep(self._pool), one.look)
        while len(self._kept) > REMEMBERED:
            self._kept.popitem(last=False)
        return kept.panel


def copied(item: Item, *, salt: bytes, subject: str | None = None) -> Copied:
    """Read what an item shows.

    Args:
        item: references to evidence.
        salt: of the tokens of patients; drawn for one study and thrown away.
        subject: who it is of, where that is known already.

    Raises:
        EvidenceError: something cannot be read.
    """
    media: list[Coded] = []
    boxes: list[Box | None] = []
    patterns: list[Pattern] = []
    seen: list[str] = []
    for pixels, kind, whole, box in _pixels(item):
        media.append(coded(as_grey(pixels if whole is None else whole)))
        boxes.append(box)
        patterns.append(pattern_of(pixels, kind))
        seen.append(f"{kind} {pixels.shape} {hashlib.sha256(pixels.tobytes()).hexdigest()}")
    text = shown_text(item.text or "")
    exact = sha256(canonical([seen, " ".join(text.split())]))
    who = subject if subject is not None else _subject(item, salt)
    kind = _kind(len(item.images), len(item.volumes), text)
    return Copied(kind, tuple(media), tuple(boxes), text, Look(exact, tuple(patterns), who))


def shown_text(text: str) -> str:
    """Words as a reader gets them: scrubbed line by line, so that paragraphs stay."""
    lines = [scrubbed(line) for line in text.strip().splitlines()]
    return "\n".join(lines)


def _pixels(
    item: Item,
) -> Iterator[tuple[NDArray[np.uint8], str, NDArray[np.uint8] | None, Box | None]]:
    """One picture or volume after the other: pixels, kind, and of a crop its source and box."""
    for image in item.images:
        pixels = image_rgb(image)
        whole, box = source_of(image, pixels) or (None, None)
        yield pixels, "image", whole, box
    for volume in item.volumes:
        yield volume_rgb(volume, max_slices=MAX_SLICES), "volume", None, None


def _subject(item: Item, salt: bytes) -> str | None:
    """The token of the patient that a file names; release pictures name nobody."""
    refs: tuple[ImageRef | VolumeRef, ...] = (*item.images, *item.volumes)
    for ref in refs:
        path = Path(ref.path if isinstance(ref, ImageRef) else ref.paths[0])
        if path.suffix.lower() in SUFFIXES:
            continue
        try:
            found = read_file(path, salt=salt).subject
        except EvidenceError:
            continue
        if found is not None:
            return found
    return None


def _kind(images: int, volumes: int, text: str) -> str:
    if not images and not volumes:
        return "text"
    if text or (images and volumes):
        return "mixed"
    return "volume" if volumes else "image"
