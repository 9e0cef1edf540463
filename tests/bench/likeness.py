"""False alarms and misses of the likeness measure: ``python -m tests.bench.likeness ROOT``.

ROOT is a data root: the demo's, the miniature's (``triptych bench mini``) or the benchmark's own.
Of each task some pictures and volumes are taken. Different ones of one task that reach ``NEAR`` are
false alarms, unless they are copies; changed copies (resized, packed as JPEG, brighter, darker)
that do not reach it are misses. Prints counts and shares for several thresholds.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.errors import EvidenceError
from engine.evidence.item import ImageRef, Item, VolumeRef
from engine.evidence.pixels import image_rgb, volume_rgb
from studies.errors import BadTaskFile
from studies.medheb.release import TaskData, read_task
from studies.medheb.tasks import load_tasks
from studies.preference.overlap import NEAR, Pattern, likeness, pattern_of

Bytes = NDArray[np.uint8]
Look = tuple[str, Pattern, bytes]
THRESHOLDS = (0.8, 0.85, NEAR, 0.95)
AT_MOST, CHANGED = 36, 5


def scaled(pixels: Bytes, by: float) -> Bytes:
    size = [max(1, int(side * by)) for side in pixels.shape[1::-1]]
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS))


def jpeg(pixels: Bytes, quality: int) -> Bytes:
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, "JPEG", quality=quality)
    return np.asarray(Image.open(held).convert("RGB"))


def brighter(pixels: Bytes) -> Bytes:
    return np.clip(pixels * 1.15 + 15.0, 0, 255).astype(np.uint8)


CHANGES: dict[str, Callable[[Bytes], Bytes]] = {
    "half the size": lambda one: scaled(one, 0.5),
    "0.7 of the size": lambda one: scaled(one, 0.7),
    "1.5 of the size": lambda one: scaled(one, 1.5),
    "JPEG 75": lambda one: jpeg(one, 75),
    "JPEG 50": lambda one: jpeg(one, 50),
    "brighter": brighter,
    "darker": lambda one: (one * 0.7).astype(np.uint8),
    "0.7, JPEG 75, brighter": lambda one: brighter(jpeg(scaled(one, 0.7), 75)),
}


def shown(item: Item) -> ImageRef | VolumeRef | None:
    refs = (*item.images, *item.volumes)
    return refs[0] if len(refs) == 1 else None


def refs_of(task: TaskData) -> list[ImageRef | VolumeRef]:
    items = [one.item for query in task.queries for one in (query, *query.candidates)]
    found = dict.fromkeys(ref for ref in map(shown, items) if ref is not None)
    listed = sorted(found, key=str)
    return random.Random(1).sample(listed, min(AT_MOST, len(listed)))


def read(ref: ImageRef | VolumeRef) -> tuple[str, Bytes]:
    if isinstance(ref, ImageRef):
        return "image", image_rgb(ref)
    return "volume", volume_rgb(ref)


def looks(task: TaskData, missed: dict[tuple[str, str], list[float]]) -> Iterator[Look]:
    for number, ref in enumerate(refs_of(task)):
        try:
            kind, pixels = read(ref)
        except EvidenceError:
            continue
        pattern = pattern_of(pixels, kind)
        for name, change in CHANGES.items() if number < CHANGED else ():
            layers = pixels if kind == "volume" else pixels[None]
            changed = np.stack([change(layer) for layer in layers])
            found = likeness(pattern, pattern_of(changed if kind == "volume" else changed[0], kind))
            missed[kind, name].append(found)
        yield kind, pattern, pixels.tobytes()


def tell(what: str, told: Iterator[str]) -> None:
    sys.stdout.write(f"{what} {', '.join(told)}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=Path)
    root = parser.parse_args().root
    alarms: dict[str, list[float]] = defaultdict(list)
    missed: dict[tuple[str, str], list[float]] = defaultdict(list)
    for task in load_tasks(root):
        try:
            found = list(looks(read_task(task, root), missed))
        except BadTaskFile:
            continue
        for place, (kind, one, raw) in enumerate(found):
            alarms[kind] += [
                likeness(one, other)
                for sort, other, again in found[:place]
                if sort == kind and again != raw
            ]
    for kind, values in alarms.items():
        told = (f"{t}: {sum(v >= t for v in values)}" for t in THRESHOLDS)
        tell(f"different {kind}s, {len(values)} pairs, taken for one at", told)
    for (kind, name), values in sorted(missed.items()):
        told = (f"{t}: {sum(v < t for v in values) / len(values):.1%}" for t in THRESHOLDS)
        tell(f"{kind} {name}, {len(values)} copies, missed at", told)


if __name__ == "__main__":
    main()
