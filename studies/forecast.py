"""How long a model will take over what is not computed yet, from a few items of each form.

Owns the sample, the measuring and the words. What is measured goes into the cache like everything
else, so nothing is computed twice. Refuses to guess a form that could not be measured.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.cache import VectorCache
from engine.control import Control
from engine.encode import encode_items
from engine.encoder import Encoder
from engine.evidence.item import Item
from engine.hub import in_words
from engine.memory import PixelMemory
from studies.contents import FORMS, Contents, form_of

SAMPLE = {"text": 16, "picture": 8, "volume": 2}  # timed items of a form, after one to warm up
VECTOR_HEAD, DISK_BLOCK = 24, 4096  # bytes: of a vector's file, and what a disk gives out at least


class Quiet(Control):
    """Passes on the wish to stop and sentences, no progress."""

    def __init__(self, whole: Control) -> None:
        super().__init__(log=whole.say)
        self._whole = whole

    def check(self) -> None:
        """Raise ``Cancelled`` if the user asked to stop."""
        self._whole.check()


@dataclass(frozen=True)
class Forecast:
    """What is left to compute for one model.

    Attributes:
        model: its id.
        distinct: contents of the run.
        kept: of these, in the cache already.
        left: form to the number of contents to compute.
        pace: form to seconds an item, where it was measured.
        measured: form to how many items were timed.
        disk: bytes of the vectors to come.
        free: bytes free where they go.
    """

    model: str
    distinct: int
    kept: int
    left: Mapping[str, int]
    pace: Mapping[str, float]
    measured: Mapping[str, int]
    disk: int
    free: int

    @property
    def seconds(self) -> float | None:
        """Of all that is left; None where a form could not be measured."""
        if any(form not in self.pace for form in self.left):
            return None
        return sum(self.pace[form] * count for form, count in self.left.items())

    def sentence(self) -> str:
        """For a person."""
        told = [f"{self.model}: {self.kept:,} of {self.distinct:,} vectors are here"]
        todo = sum(self.left.values())
        if not todo:
            return f"{told[0]}, nothing is to be embedded."
        told.append(f"{todo:,} to compute")
        if self.seconds is not None and self.pace:
            paces = [f"{self.pace[f]:.3g} s a {f}" for f in self.left]
            told.append(f"about {time_in_words(self.seconds)} ({', '.join(paces)}, as measured)")
        told.append(f"{in_words(self.disk)} of disk for vectors")
        if self.disk > self.free:
            told.append(f"but only {in_words(self.free)} are free")
        return f"{', '.join(told)}."

    def document(self) -> dict[str, object]:
        """The same as plain values."""
        seconds = self.seconds
        return {
            "model": self.model, "distinct": self.distinct, "kept": self.kept,
            "left": dict(self.left), "seconds_an_item": dict(self.pace),
            "measured": dict(self.measured),
            "seconds": None if seconds is None else round(seconds, 3),
            "disk": self.disk, "free": self.free,
        }  # fmt: skip


def forecast(
    distinct: Mapping[str, Item],
    encoder: Encoder,
    *,
    cache: VectorCache,
    contents: Contents,
    memory: PixelMemory | None = None,
    least: int = 1,
    control: Control = Control(),
) -> Forecast:
    """Find what is left for a model, and how long it takes.

    Args:
        distinct: content to item, of all tasks that are to be computed.
        encoder: loaded.
        cache: of vectors.
        contents: names items.
        memory: decoded items shared with other models of the run.
        least: measure only if so many are left; fewer are done before a guess is worth it.
        control: asked whether to stop.
    """
    kept = cache.names(encoder.fingerprint)
    missing = [name for name in distinct if name not in kept]
    groups: dict[str, list[Item]] = {}
    for name in sorted(missing):  # by content, so that a sample is no task's own
        groups.setdefault(form_of(distinct[name]), []).append(distinct[name])
    left = {form: len(groups[form]) for form in FORMS if form in groups}
    given = {"cache": cache, "control": Quiet(control), "memory": memory, "name_of": contents.name}
    pace: dict[str, float] = {}
    measured: dict[str, int] = {}
    for form in list(left) if len(missing) >= least else ():
        done, pace[form], measured[form] = _timed(groups[form][: 1 + SAMPLE[form]], encoder, given)
        left[form] -= done
    left = {form: count for form, count in left.items() if count}
    todo = sum(left.values())
    size = VECTOR_HEAD + 4 * encoder.dim
    return Forecast(
        encoder.model_id, len(distinct), len(distinct) - todo, left,
        {form: seconds for form, seconds in pace.items() if measured[form]},
        {form: count for form, count in measured.items() if count},
        todo * -(-size // DISK_BLOCK) * DISK_BLOCK, free_at(cache.folder),
    )  # fmt: skip


def _timed(
    sample: Sequence[Item], encoder: Encoder, given: Mapping[str, Any]
) -> tuple[int, float, int]:
    """Embed one item to warm up and the others by the clock.

    Returns:
        How many were computed in all, seconds an item, how many were timed.
    """
    warm = encode_items(sample[:1], encoder, **given).computed
    if len(sample) < 2:
        return warm, 0.0, 0
    started = time.perf_counter()
    timed = encode_items(sample[1:], encoder, **given).computed
    return warm + timed, (time.perf_counter() - started) / (len(sample) - 1), timed


def free_at(folder: Path) -> int:
    """Free bytes on the disk of a folder that need not be there yet."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def time_in_words(seconds: float) -> str:
    """``40 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
