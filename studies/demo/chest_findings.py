"""Paints the one finding of a chest patient into Hounsfield units.

Owns how each finding looks in CT; the radiograph follows by projection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from studies.demo.chest_case import PLACES, ChestCase
from studies.demo.shapes import Floats, Grid, Point, blend, box_around, part, smooth_noise, soft


@dataclass(frozen=True, eq=False)
class Lungs:
    """What findings need of the lungs.

    Attributes:
        cover: share of each voxel that is lung, by side.
        dome: z of the diaphragm, by side.
        below_top: mm below the apex, by side.
        wall: signed distance to the chest wall, negative inside.
    """

    cover: Mapping[str, Floats]
    dome: Mapping[str, Floats]
    below_top: Mapping[str, Floats]
    wall: Floats


def paint_finding(
    hu: Floats, grid: Grid, lungs: Lungs, case: ChestCase, rng: np.random.Generator
) -> None:
    """Change ``hu`` in place; normal chests and large hearts need nothing here."""
    painter = PAINTERS.get(case.label)
    if painter is not None:
        painter(hu, grid, lungs, case, rng)


def finding_centre(case: ChestCase) -> Point:
    """Middle of a focal finding in mm, the same for CT, radiograph and crop."""
    x, y, z = PLACES[case.lobe]
    reach = max(0.0, 30 - case.size_mm * 0.35)
    wander = np.random.default_rng(case.size_mm * 1009 + int(case.heart_ratio * 1e4))
    dx, dy, dz = wander.uniform(-1, 1, 3) * (reach * 0.6, reach, reach)
    return x + dx, y + dy, z + dz


def _lump(
    grid: Grid, centre: Point, size: float, rng: np.random.Generator, *, rough: float
) -> tuple[tuple[slice, slice, slice], Floats]:
    """A ball of ``size`` mm whose radius wanders by the share ``rough``."""
    reach = size * 0.5 * (1 + 2.5 * rough) + 8
    box = box_around(grid, centre, (reach, reach, reach))
    x, y, z = part(grid, box)
    gap = np.sqrt((x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (z - centre[2]) ** 2)
    shape = gap.shape
    bumps = smooth_noise(rng, shape, cells=(3, 3, 3)) * np.float32(rough * size * 0.5)
    return box, soft(gap - size / 2 + bumps, 4)


def _nodule(
    hu: Floats, grid: Grid, lungs: Lungs, case: ChestCase, rng: np.random.Generator
) -> None:
    box, cover = _lump(grid, finding_centre(case), case.size_mm, rng, rough=0.06)
    blend(hu[box], cover * lungs.cover[case.side][box], 180)


def _mass(hu: Floats, grid: Grid, lungs: Lungs, case: ChestCase, rng: np.random.Generator) -> None:
    centre = finding_centre(case)
    box, cover = _lump(grid, centre, case.size_mm, rng, rough=0.20)
    blend(hu[box], cover * lungs.cover[case.side][box], 55)
    box, cover = _lump(grid, centre, case.size_mm * 0.4, rng, rough=0.25)
    blend(hu[box], cover * lungs.cover[case.side][box] * 0.7, 15)


def _consolidation(
    hu: Floats, grid: Grid, lungs: Lungs, case: ChestCase, rng: np.random.Generator
) -> None:
    box, cover = _lump(grid, finding_centre(case), case.size_mm, rng, rough=0.30)
    shape = cover.shape
    bubbles = smooth_noise(rng, shape, cells=(6, 9, 9))
    dense = 30 - 700 * np.clip((bubbles - 1.1) * 1.4, 0, 1)
    fade = np.clip(0.86 + 0.14 * smooth_noise(rng, shape, cells=(4, 5, 5)), 0.5, 1)
    blend(hu[box], np.clip(cover * 1.2, 0, 1) * fade * lungs.cover[case.side][box], dense)
    haze, veil = _lump(grid, finding_centre(case), case.size_mm * 1.35, rng, rough=0.25)
    ground = np.maximum(hu[haze], -640)
    blend(hu[haze], veil * 0.7 * lungs.cover[case.side][haze], ground)


def _effusion(
    hu: Floats, grid: Grid, lungs: Lungs, case: ChestCase, rng: np.random.Generator
) -> None:
    """Fluid lies low and to the back, climbing a little along the wall."""
    height = 0.80 * (grid.z + 128) - 0.48 * (grid.y - 70)
    climb = 26 * np.exp(np.minimum(lungs.wall, 0) / 14)
    fluid = soft(height - climb - 1.05 * case.size_mm, 7) * lungs.cover[case.side]
    blend(hu, fluid, 12)
    rim = soft(height - climb - 1.05 * case.size_mm - 16, 14) * lungs.cover[case.side]
    blend(hu, np.clip(rim - fluid, 0, 1) * 0.45, -250)


def _pneumothorax(
    hu: Floats, grid: Grid, lungs: Lungs, case: ChestCase, rng: np.random.Generator
) -> None:
    """Bare air along the wall and over the top; the lung shrinks towards its root."""
    wide = np.float32(case.size_mm) * np.clip(0.75 + grid.z / 240, 0.35, 1.25)
    edge = np.minimum(-lungs.wall - wide, lungs.below_top[case.side] - 1.15 * wide)
    bare = soft(edge, 4)
    cover = lungs.cover[case.side]
    line = np.clip(1 - np.abs(edge - 3) / 4, 0, 1)
    shrunk = np.clip(1 - bare, 0, 1) * cover
    blend(hu, shrunk * np.float32(min(0.5, case.size_mm / 120)), -560)
    blend(hu, bare * cover, -1000)
    blend(hu, line * cover * (cover > 0.9), -150)


def _emphysema(
    hu: Floats, grid: Grid, lungs: Lungs, case: ChestCase, rng: np.random.Generator
) -> None:
    """Holes of air, more above than below, and bullae at the top when severe."""
    level = {"mild": 0.9, "moderate": 0.35, "severe": -0.15}[case.grade]
    holes = smooth_noise(rng, grid.shape, cells=(16, 22, 22)) + grid.z / 190
    both = lungs.cover["right"] + lungs.cover["left"]
    blend(hu, np.clip((holes - level) * 2.5, 0, 1) * both * 0.9, -1000)
    count = {"mild": 0, "moderate": 3, "severe": 7}[case.grade]
    for _ in range(count):
        sign = rng.choice((-1, 1))
        size = float(rng.uniform(26, 52))
        centre = (
            float(sign * rng.uniform(55, 100)),
            float(rng.uniform(-50, 45)),
            float(rng.uniform(30, 105)),
        )
        box, cover = _lump(grid, centre, size, rng, rough=0.08)
        rim = np.clip(1 - np.abs(cover - 0.35) * 3, 0, 1)
        blend(hu[box], cover * both[box], -995)
        blend(hu[box], rim * both[box] * 0.5, -650)


Painter = Callable[[Floats, Grid, Lungs, ChestCase, np.random.Generator], None]
PAINTERS: Mapping[str, Painter] = {
    "Lung nodule": _nodule,
    "Lung mass": _mass,
    "Consolidation": _consolidation,
    "Pleural effusion": _effusion,
    "Pneumothorax": _pneumothorax,
    "Emphysema": _emphysema,
}
