"""Draws the sample and copies what it shows, in an order and under names that tell nothing.

Refuses to give sides and to look at strata. Evidence that cannot be read is named as missing
and the next query of the same task takes its place.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.control import Control
from engine.errors import EvidenceError
from engine.evidence.item import Item, VolumeRef
from engine.evidence.pixels import prepare
from studies.preference.frozen import medium_hash
from studies.preference.lists import TOP, Comparison, Listed
from studies.preference.media import MediaPool, as_grey
from studies.preference.panels import Panel
from studies.preference.prompts import prompt_for
from studies.preference.sample import equal_shares, generator
from studies.preference.wish import Material, Wish

MAX_SLICES = 64
NOTHING = Panel("text", (), "").to_json()


@dataclass(frozen=True)
class Drawn:
    """One sampled comparison with its panels, before sides are given."""

    item_id: str
    comparison: Comparison
    query: dict[str, Any]
    list_a: tuple[dict[str, Any], ...]
    list_b: tuple[dict[str, Any], ...]
    shown: bool

    @property
    def prompt(self) -> str:
        """The task in the reader's words."""
        comparison = self.comparison
        return prompt_for(comparison.family, comparison.form, comparison.query.instruction)

    @property
    def texts(self) -> list[str]:
        """All that it lets a rater read."""
        panels = (self.query, *self.list_a, *self.list_b)
        return [self.prompt, *(panel["text"] for panel in panels)]


def draw(
    material: Material, wish: Wish, pool: MediaPool, missing: dict[str, str], control: Control
) -> list[Drawn]:
    """Sample by task and copy what the sampled queries show, in an order that tells nothing."""
    usable = {task: _usable(all_of, wish) for task, all_of in material.comparisons.items()}
    usable = {task: all_of for task, all_of in usable.items() if all_of}
    caps = {task: len(all_of) for task, all_of in usable.items()}
    shares = equal_shares(caps, wish.total, generator(wish.seed, 0))
    lots = generator(wish.seed, 1)
    waiting = {t: [usable[t][i] for i in lots.permutation(caps[t])] for t in sorted(usable)}
    places = [task for task in sorted(usable) for _ in range(shares[task])]
    # not from the seed: whoever knows it must not be able to tell tasks by their order
    secrets.SystemRandom().shuffle(places)
    control.begin(len(places), unit="items", phase="Copying")
    drawn = []
    for task in places:
        control.check()
        one = _next_readable(waiting[task], wish, pool, missing)
        if one is not None:
            drawn.append(one)
        control.step()
    return drawn


def _usable(all_of: Sequence[Comparison], wish: Wish) -> list[Comparison]:
    skip = wish.protocol.identical == "exclude"
    return [one for one in all_of if not (skip and one.overlap == "identical")]


def _next_readable(
    waiting: list[Comparison], wish: Wish, pool: MediaPool, missing: dict[str, str]
) -> Drawn | None:
    """The next query of a task whose evidence can be read; the others are named as missing."""
    while waiting:
        comparison = waiting.pop(0)
        try:
            return _copy(comparison, wish, pool)
        except EvidenceError as error:
            missing[f"{comparison.task_id}, row {comparison.row}"] = str(error)
    return None


def _copy(comparison: Comparison, wish: Wish, pool: MediaPool) -> Drawn:
    """Make the panels of one comparison; a candidate in both lists is drawn from one medium."""
    item_id = secrets.token_hex(6)
    if comparison.overlap == "identical" and wish.protocol.identical == "auto-tie":
        return Drawn(item_id, comparison, NOTHING, (), (), shown=False)
    query = make_panel(comparison.query, pool, max_slices=MAX_SLICES).to_json()
    union = {one.name: one for one in (*comparison.list_a, *comparison.list_b)}
    names = sorted(union)
    secrets.SystemRandom().shuffle(names)
    panels = {
        name: make_panel(union[name].item, pool, max_slices=MAX_SLICES).to_json() for name in names
    }

    def panels_of(listed: tuple[Listed, ...]) -> tuple[dict[str, Any], ...]:
        return tuple(panels[one.name] for one in listed[:TOP])

    list_a, list_b = panels_of(comparison.list_a), panels_of(comparison.list_b)
    return Drawn(item_id, comparison, query, list_a, list_b, shown=True)


def make_panel(item: Item, pool: MediaPool, *, max_slices: int = 64) -> Panel:
    """Copy what an item shows into the study, at the 8-bit pixels a model sees.

    A volume stays a volume even where a model takes its slices as separate pictures.

    Raises:
        EvidenceError: something cannot be read.
    """
    shown = replace(item, volumes=tuple(_as_volume(ref) for ref in item.volumes))
    seen = prepare(shown, max_slices=max_slices)
    names = [_add(pool, pixels) for pixels in (*seen.images, *seen.volumes)]
    text = "\n\n".join(part.strip() for part in seen.texts if part.strip())
    return Panel(_kind(len(seen.images), len(seen.volumes), text), tuple(names), text)


def _as_volume(ref: VolumeRef) -> VolumeRef:
    return replace(ref, shown_as="video")


def _add(pool: MediaPool, pixels: NDArray[np.uint8]) -> str:
    return pool.add(as_grey(pixels), medium_hash)


def _kind(images: int, volumes: int, text: str) -> str:
    if not images and not volumes:
        return "text"
    if text or (images and volumes):
        return "mixed"
    return "volume" if volumes else "image"
