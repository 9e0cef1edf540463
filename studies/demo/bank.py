"""Patients kept in memory: pictures of each source, made when first asked for.

Owns the cache behind task files and training pairs. Nothing is written to disk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.demo.chest_case import ChestCase, draw_chest
from studies.demo.pathology import Patch, draw_patch
from studies.demo.phantom_brain import BrainCase, BrainScan, brain_pictures, draw_brain, scan_brain
from studies.demo.phantom_chest import SHAPE, ChestScan, scan_chest
from studies.demo.skin import Lesion, draw_lesion
from studies.demo.words import REGIONS
from studies.demo.xray import Radiograph, project, slice_pictures

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Chest:
    """A chest patient: film and CT slices (uint8 [S, Y, X])."""

    case: ChestCase
    film: Radiograph
    slices: Bytes

    def region(self, name: str) -> Bytes:
        """Crop of a named region of the film."""
        (x, z), (reach_x, reach_z) = REGIONS[name]
        left, top, right, bottom = self.film.box((x, 0.0, z), reach_x, reach_z)
        return self.film.pixels[top:bottom, left:right]


@dataclass(frozen=True, eq=False)
class Brain:
    """A brain patient: slices of both contrasts (uint8 [S, Y, X])."""

    case: BrainCase
    t1: Bytes
    t2: Bytes


class Bank:
    """Patients of one split by source and number.

    Args:
        seed: of the whole demo.
        split: ``test`` or ``train``; patients of one never appear in the other.
        slices: most slices kept of a volume.
        shape: voxels (z, y, x) of every volume.
    """

    def __init__(
        self,
        seed: int,
        split: str,
        *,
        slices: int = 64,
        shape: tuple[int, int, int] = SHAPE,
    ) -> None:
        self.seed, self.split, self.slices, self.shape = seed, split, slices, shape
        self._chests: dict[tuple[str, int], Chest] = {}
        self._brains: dict[int, Brain] = {}
        self._patches: dict[int, Patch] = {}
        self._lesions: dict[int, Lesion] = {}

    def chest_case(self, index: int, *, source: str = "chest") -> ChestCase:
        """What is true of a chest patient; cheap."""
        return draw_chest(self.seed, self.split, index, source=source)

    def brain_case(self, index: int) -> BrainCase:
        """What is true of a brain patient; cheap."""
        return draw_brain(self.seed, self.split, index)

    def chest(self, index: int, *, source: str = "chest") -> Chest:
        """A chest patient's pictures."""
        if (source, index) not in self._chests:
            self.add_chest(index, source=source)
        return self._chests[source, index]

    def add_chest(self, index: int, *, source: str = "chest") -> ChestScan:
        """Make a chest patient's pictures and hand on the scan, which is not kept."""
        case = self.chest_case(index, source=source)
        scan = scan_chest(case, shape=self.shape)
        film = project(scan, source=source, key=case.key)
        slices = slice_pictures(scan, count=self.slices)
        self._chests[source, index] = Chest(case, film, slices)
        return scan

    def brain(self, index: int) -> Brain:
        """A brain patient's pictures."""
        if index not in self._brains:
            self.add_brain(index)
        return self._brains[index]

    def add_brain(self, index: int) -> BrainScan:
        """Make a brain patient's pictures and hand on the scan, which is not kept."""
        case = self.brain_case(index)
        scan = scan_brain(case, shape=self.shape)
        t1, t2 = (brain_pictures(volume, count=self.slices) for volume in (scan.t1, scan.t2))
        self._brains[index] = Brain(case, t1, t2)
        return scan

    def patch(self, index: int) -> Patch:
        """A pathology patch."""
        if index not in self._patches:
            self._patches[index] = draw_patch(self.seed, self.split, index)
        return self._patches[index]

    def lesion(self, index: int) -> Lesion:
        """A skin picture."""
        if index not in self._lesions:
            self._lesions[index] = draw_lesion(self.seed, self.split, index)
        return self._lesions[index]


MOST_CROPS = 6


def nucleus_crops(patch: Patch, kind: str) -> tuple[Bytes, ...]:
    """Crops of one class of nucleus, at most six, spread over the list."""
    boxes = patch.nuclei[kind]
    picks = np.linspace(0, len(boxes) - 1, min(MOST_CROPS, len(boxes))).astype(int)
    return tuple(
        patch.pixels[top:bottom, left:right]
        for left, top, right, bottom in (boxes[i] for i in picks)
    )


def nucleus_kinds(patch: Patch) -> tuple[str, ...]:
    """Classes of nucleus with at least two members in the patch, in a fixed order."""
    return tuple(sorted(kind for kind, boxes in patch.nuclei.items() if len(boxes) > 1))
