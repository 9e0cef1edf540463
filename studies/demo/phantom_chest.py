"""A chest in Hounsfield units: body, bones, lungs with vessels, heart, abdomen, devices.

Owns the anatomy. The finding of the patient is painted by ``chest_findings``; the radiograph is
projected by ``xray``. Coordinates are patient millimetres (x left, y back, z head).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.demo.chest_case import ChestCase
from studies.demo.chest_findings import Lungs, paint_finding
from studies.demo.shapes import (
    Floats,
    Grid,
    Point,
    blend,
    blur,
    box_around,
    ellipsoid,
    generator,
    make_grid,
    part,
    smooth_noise,
    soft,
    tube,
)

SHAPE = (64, 96, 96)
EXTENT = (320.0, 360.0, 360.0)
NOISE_HU = {"chest": 22.0, "chest_b": 48.0}


@dataclass(frozen=True, eq=False)
class ChestScan:
    """A patient's CT.

    Attributes:
        hu: int16 [Z, Y, X], feet first, row 0 in front, column 0 at the patient's right.
        grid: where the voxels lie.
    """

    hu: NDArray[np.int16]
    grid: Grid


@dataclass(frozen=True, eq=False)
class Frame:
    """Sizes of this patient's thorax and the distance fields most parts need."""

    grid: Grid
    width: float
    depth: float
    wall: Floats  # signed distance to the inner chest wall, negative inside
    ring: Floats  # relative radius of the chest wall, 1 at the wall
    heart: Floats  # signed distance to the heart
    case: ChestCase


def scan_chest(case: ChestCase, *, shape: tuple[int, int, int] = SHAPE) -> ChestScan:
    """The CT of a patient; the same patient always gives the same voxels."""
    grid = make_grid(shape, EXTENT)
    rng = generator(*case.key, "ct")
    frame = _frame(grid, case, rng)
    hu = np.full(grid.shape, -1000, np.float32)
    _body(hu, frame)
    lungs = _lungs(frame, rng)
    _abdomen(hu, frame, lungs, rng)
    _bones(hu, frame)
    _mediastinum(hu, frame)
    _fill_lungs(hu, frame, lungs, rng)
    _airways(hu, grid)
    paint_finding(hu, grid, lungs, case, rng)
    _device(hu, frame)
    grain = blur(rng.standard_normal(grid.shape, dtype=np.float32), (0, 0.6, 0.6))
    hu += grain * np.float32(NOISE_HU[case.source] * 2.0)
    return ChestScan(np.clip(np.rint(hu), -1024, 3000).astype(np.int16), grid)


def _frame(grid: Grid, case: ChestCase, rng: np.random.Generator) -> Frame:
    """Thorax size, wall distance and heart distance."""
    inflated = 1.07 if case.label == "Emphysema" else 1.0
    width = 128.0 * inflated * float(rng.uniform(0.95, 1.05))
    depth = 93.0 * inflated * float(rng.uniform(0.94, 1.06))
    rise = np.clip((grid.z - 10) / 135, 0, 1.2)
    taper = 1 - 0.50 * rise**2.4
    half_x, half_y = width * taper, depth * (1 - 0.34 * rise**2)
    u, v = np.abs(grid.x) / half_x, np.abs(grid.y - 4) / half_y
    # The back is flatter than the front and hollowed by the spine; 2.3 squares the outline a bit.
    ring = (u**2.3 + v**2.3) ** np.float32(1 / 2.3)
    wall = (ring - 1) * np.minimum(half_x, half_y)
    across = case.heart_ratio * 2 * width
    centre = (0.12 * across, -26.0, -44.0 + 0.10 * (across - 115))
    heart = _tilted(grid, centre, (across * 0.56, 24 + across * 0.17, 26 + across * 0.24), 0.55)
    heart = np.maximum(heart, wall + 6)
    return Frame(grid, width, depth, wall, ring, heart, case)


def _tilted(grid: Grid, centre: Point, radii: Point, turn: float) -> Floats:
    """Signed distance of an ellipsoid whose long axis dips forward, left and down."""
    dx, dy, dz = grid.x - centre[0], grid.y - centre[1], grid.z - centre[2]
    cos, sin = np.float32(np.cos(turn)), np.float32(np.sin(turn))
    u, v = cos * dx - sin * dy, cos * dy + sin * dx
    w = dz + 0.30 * dx
    return (np.sqrt((u / radii[0]) ** 2 + (v / radii[1]) ** 2 + (w / radii[2]) ** 2) - 1) * radii[1]


def _body(hu: Floats, frame: Frame) -> None:
    """Skin, fat, muscle, breasts."""
    grid, habitus = frame.grid, frame.case.habitus
    shoulder = np.clip((grid.z - 85) / 70, 0, 1) ** 1.5
    half_x = frame.width + 24 * habitus + 8 + 12 * shoulder
    half_y = frame.depth + 20 * habitus + 3 - 12 * shoulder
    ring = ((np.abs(grid.x) / half_x) ** 2.6 + (np.abs(grid.y - 6) / half_y) ** 2.6) ** np.float32(
        1 / 2.6
    )
    skin = (ring - 1) * half_y
    blend(hu, soft(skin, 4), -95)
    blend(hu, soft(skin + 9 * habitus**2 + 2, 4), 48)
    if frame.case.female:
        for side in (-1, 1):
            box, cover = ellipsoid(
                grid, (side * 66.0, -frame.depth - 10, -34.0), (58.0, 30 * habitus, 50.0), edge=9
            )
            fat = cover * (hu[box] < -150)
            blend(hu[box], fat, -85)


def _lungs(frame: Frame, rng: np.random.Generator) -> Lungs:
    """Coverage of both lungs and the distances findings need."""
    grid, case = frame.grid, frame.case
    flat = {"mild": 0.4, "moderate": 0.7, "severe": 1.0}.get(case.grade, 0.0)
    flat = flat if case.label == "Emphysema" else 0.0
    spine = np.hypot(grid.x, grid.y - frame.depth - 2) - 36
    level = {"right": -72.0 - 24 * flat, "left": -84.0 - 22 * flat}
    drop = 58 - 30 * flat
    covers, domes, tops = {}, {}, {}
    for side, sign in (("right", -1), ("left", 1)):
        q = ((grid.x - sign * 62) / 78) ** 2 + ((grid.y + 18) / 92) ** 2
        dome = level[side] - drop * np.minimum(q, 1.5)
        waist = np.exp(-(((grid.y + 4) / 30) ** 2)) * (
            0.55 + 0.45 * np.clip(grid.z / 40, -1, 1) ** 2
        )
        middle = (
            7
            + 5 * np.cos((grid.y + 0.3 * grid.z) / 17)
            + 15 * waist
            + 12 * np.clip((grid.z - 70) / 50, 0, 1)
        )
        apex = 126 - ((grid.x - sign * 52) / 52) ** 2 * 26 - ((grid.y - 8) / 60) ** 2 * 26
        distance = np.maximum(frame.wall + 4, middle - sign * grid.x)
        for other in (dome - grid.z, grid.z - apex, 5 - frame.heart, -spine):
            distance = np.maximum(distance, other)
        covers[side], domes[side], tops[side] = soft(distance, 5), dome, apex - grid.z
    return Lungs(covers, domes, tops, frame.wall + 4)


def _abdomen(hu: Floats, frame: Frame, lungs: Lungs, rng: np.random.Generator) -> None:
    """What lies below the diaphragm: liver, spleen, stomach with its gas, fat."""
    grid = frame.grid
    below = np.where(grid.x < 12, lungs.dome["right"], lungs.dome["left"]) - grid.z
    inside = soft(frame.wall + 5, 5)
    blend(hu, inside * soft(6 - below, 6), 45)
    box, cover = ellipsoid(grid, (30.0, -10.0, -150.0), (44.0, 60.0, 40.0))
    blend(hu[box], cover * inside[box] * soft(18 - below[box], 8), -70)
    box, cover = ellipsoid(grid, (-58.0, 0.0, -125.0), (92.0, 92.0, 62.0))
    blend(hu[box], cover * inside[box] * soft(5 - below[box], 5), 62)
    box, cover = ellipsoid(grid, (88.0, 42.0, -128.0), (30.0, 36.0, 36.0))
    blend(hu[box], cover * inside[box] * soft(6 - below[box], 5), 55)
    gas = (62.0 + float(rng.uniform(-8, 8)), -32.0, -124.0)
    box, cover = ellipsoid(grid, gas, (30.0, 24.0, 19.0))
    blend(hu[box], cover * inside[box] * soft(9 - below[box], 5), -960)


def _bones(hu: Floats, frame: Frame) -> None:
    """Spine, ribs with cartilage, sternum, clavicles, shoulder blades."""
    grid, back = frame.grid, frame.depth
    phase = (grid.z + 0.36 * (back - grid.y) + 6 * np.cos(grid.x / 40)) / 25.0
    ribs = np.abs(phase - np.rint(phase)) * 25.0 - 5.0
    shell = np.abs(frame.ring - 1.045) * 88 - 3.4
    behind = np.clip((grid.y + 62) / 20, 0, 1)
    cover = soft(np.maximum(ribs, shell), 4) * (grid.z < 128) * (np.abs(grid.x) > 12)
    blend(hu, cover * (0.30 + 0.70 * behind), 1000)
    disc = np.abs(grid.z / 24 - np.rint(grid.z / 24))
    radius = np.sqrt((grid.x / 19) ** 2 + ((grid.y - back + 12) / 15) ** 2)
    blend(hu, soft((radius - 1) * 15, 4), np.where(disc > 0.38, 60, 230).astype(np.float32))
    box, cover = tube(grid, (0.0, back + 12, -160.0), (0.0, back + 12, 160.0), 8.0)
    blend(hu[box], cover, 30)
    ring_z = np.where(disc < 0.3, np.float32(380), np.float32(120))
    for side in (-1, 1):
        box, cover = tube(
            grid, (side * 14.0, back + 14, -160.0), (side * 14.0, back + 14, 160.0), 6.0
        )
        blend(hu[box], cover, ring_z[box[0]])
        box, cover = tube(grid, (side * 17.0, -66.0, 98.0), (side * 126.0, -38.0, 130.0), 6.0)
        blend(hu[box], cover, 900)
        box, cover = ellipsoid(
            grid, (side * 118.0, 66.0, 92.0), (34.0, 6.5, 60.0), turn=-side * 0.75
        )
        blend(hu[box], cover, 420)
    box, cover = tube(grid, (0.0, back + 22, -160.0), (0.0, back + 22, 160.0), 4.0)
    blend(hu[box], cover, ring_z[box[0]])
    front = -(frame.depth * 0.98)
    box, cover = ellipsoid(grid, (0.0, front + 2, 38.0), (17.0, 7.0, 78.0))
    blend(hu[box], cover, 260)


def _mediastinum(hu: Floats, frame: Frame) -> None:
    """Fat with the great vessels and the heart in it."""
    grid = frame.grid
    box = box_around(grid, (0.0, -10.0, 40.0), (40.0, 70.0, 90.0))
    inside = soft(frame.wall[box] + 8, 6)
    blend(hu[box], inside * (hu[box] < 120), -60)
    vessels: tuple[tuple[Point, Point, float], ...] = (
        ((-6.0, -12.0, 0.0), (-14.0, -18.0, 42.0), 15.0),
        ((-14.0, -18.0, 42.0), (18.0, 20.0, 48.0), 13.0),
        ((20.0, 38.0, 48.0), (22.0, 46.0, -160.0), 12.0),
        ((-22.0, -14.0, 8.0), (-20.0, -18.0, 100.0), 9.0),
        ((12.0, -20.0, 0.0), (22.0, -4.0, 20.0), 13.0),
        ((22.0, -2.0, 14.0), (44.0, 8.0, 8.0), 9.5),
        ((10.0, -2.0, 12.0), (-42.0, 6.0, 4.0), 9.5),
        ((14.0, 2.0, 56.0), (22.0, 0.0, 130.0), 6.0),
        ((0.0, -4.0, 58.0), (-16.0, -2.0, 130.0), 6.5),
        ((-4.0, 28.0, 150.0), (4.0, 36.0, -100.0), 7.0),
    )
    for start, end, radius in vessels:
        box, cover = tube(grid, start, end, radius)
        blend(hu[box], cover * soft(frame.wall[box] + 4, 5), 42)
    blend(hu, soft(frame.heart - 4, 5), -75)
    blend(hu, soft(frame.heart, 4), 44)


def _fill_lungs(hu: Floats, frame: Frame, lungs: Lungs, rng: np.random.Generator) -> None:
    """Air with a gradient towards the back, and the tree of vessels."""
    grid = frame.grid
    both = lungs.cover["right"] + lungs.cover["left"]
    weak = frame.case.label == "Emphysema"
    air = np.float32(-900 if weak else -850) + 0.32 * grid.y
    air = air + 14 * smooth_noise(rng, grid.shape, cells=(9, 11, 11))
    tree = _vessel_tree(grid, rng) * np.float32(0.7 if weak else 1.0)
    air = np.minimum(air + tree * 900, 45)
    blend(hu, both, air)


def _vessel_tree(grid: Grid, rng: np.random.Generator) -> Floats:
    """Partial volume of branching vessels that leave both hila; smooth, not yet clipped."""
    starts, ways, widths = [], [], []
    for sign in (-1, 1):
        count = 17
        starts.append(np.tile((sign * 42.0, 6.0, 6.0), (count, 1)) + rng.normal(0, 5, (count, 3)))
        spread = rng.uniform(-1, 1, (count, 3)) * (0.5, 0.8, 1.0)
        ways.append(spread + np.array((sign * 0.62, 0.0, -0.12)))
        widths.append(rng.uniform(3.4, 5.2, count))
    start, way = np.concatenate(starts), np.concatenate(ways)
    width = np.concatenate(widths)
    field = np.zeros(grid.shape, np.float32)
    for generation in range(3):
        path, radius = _walk(start, way, width, rng, steps=(26, 20, 14)[generation])
        _stamp(field, grid, path, radius)
        picks = rng.integers(3, path.shape[1] - 2, (len(path), 4))
        rows = np.arange(len(path))[:, None]
        start = path[rows, picks].reshape(-1, 3)
        way = (path[rows, picks + 1] - path[rows, picks - 1]).reshape(-1, 3)
        way = way / np.linalg.norm(way, axis=1, keepdims=True) + rng.normal(0, 0.65, way.shape)
        width = (radius[rows, picks] * 0.72).reshape(-1)
    return blur(field, 0.55)


def _walk(
    start: NDArray[np.float64],
    way: NDArray[np.float64],
    width: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    steps: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wandering paths [N, steps, 3] in mm with tapering radii [N, steps]."""
    turn = rng.normal(0, 0.16, (len(start), steps, 3)).cumsum(axis=1) * 0.6
    way = way / np.linalg.norm(way, axis=1, keepdims=True)
    heading = way[:, None, :] + turn
    heading /= np.linalg.norm(heading, axis=2, keepdims=True)
    path = start[:, None, :] + heading.cumsum(axis=1) * 4.0
    return path, width[:, None] * np.linspace(1, 0.35, steps)[None]


def _stamp(
    field: Floats, grid: Grid, path: NDArray[np.float64], radius: NDArray[np.float64]
) -> None:
    """Add each 4 mm step's share of its voxel."""
    dz, dy, dx = grid.spacing
    index = [
        np.floor((path[..., axis] - first) / step + 0.5).astype(int).ravel()
        for axis, first, step in (
            (2, grid.z.flat[0], dz),
            (1, grid.y.flat[0], dy),
            (0, grid.x.flat[0], dx),
        )
    ]
    share = (np.pi * radius.ravel() ** 2 * 4.0 / (dz * dy * dx)).astype(np.float32)
    ok = np.ones(share.shape, bool)
    for places, size in zip(index, grid.shape, strict=True):
        ok &= (places >= 0) & (places < size)
    np.add.at(field, tuple(places[ok] for places in index), share[ok])


def _airways(hu: Floats, grid: Grid) -> None:
    """Trachea and main bronchi."""
    for start, end, radius in (
        ((0.0, 12.0, 160.0), (0.0, 16.0, 28.0), 9.0),
        ((0.0, 16.0, 30.0), (-36.0, 14.0, 4.0), 7.0),
        ((0.0, 16.0, 30.0), (40.0, 16.0, 0.0), 6.5),
        ((-36.0, 14.0, 4.0), (-52.0, 20.0, -30.0), 4.5),
        ((40.0, 16.0, 0.0), (54.0, 24.0, -32.0), 4.5),
    ):
        box, cover = tube(grid, start, end, radius)
        blend(hu[box], cover, -985)


def _device(hu: Floats, frame: Frame) -> None:
    """Metal that a viewer recognises at once, bulkier than life so that coarse voxels hold it."""
    grid, case = frame.grid, frame.case
    sign = -1.0 if case.device_side == "right" else 1.0
    front = -frame.depth
    lines: list[tuple[Point, Point]] = []
    if case.device == "pacemaker":
        _disc(hu, grid, (sign * 82.0, front - 2, 78.0), 23.0, 0.0)
        lines = [
            ((sign * 78.0, front + 8, 96.0), (sign * 30.0, -40.0, 116.0)),
            ((sign * 30.0, -40.0, 116.0), (-30.0, -18.0, 84.0)),
            ((-30.0, -18.0, 84.0), (-34.0, -16.0, -10.0)),
            ((-34.0, -16.0, -10.0), (50.0, -34.0, -64.0)),
        ]
    if case.device == "port":
        _disc(hu, grid, (sign * 76.0, front - 2, 50.0), 14.0, 0.0)
        lines = [
            ((sign * 72.0, front + 6, 66.0), (sign * 34.0, -40.0, 120.0)),
            ((sign * 34.0, -40.0, 120.0), (-30.0, -18.0, 84.0)),
            ((-30.0, -18.0, 84.0), (-33.0, -14.0, 12.0)),
        ]
    if case.device == "wires":
        for z in (90.0, 66.0, 42.0, 18.0, -6.0):
            box, cover = ellipsoid(grid, (0.0, front + 2, z), (15.0, 14.0, 5.0))
            blend(hu[box], cover, 3000)
    if case.device == "valve":
        _disc(hu, grid, (36.0, -26.0, -36.0), 21.0, 13.0)
    for start, end in lines:
        box, cover = tube(grid, start, end, 3.6, edge=3.0)
        blend(hu[box], cover, 2400)


def _disc(hu: Floats, grid: Grid, centre: Point, outer: float, inner: float) -> None:
    """A metal disc or ring that faces the front, thick enough for the weak rays of the release."""
    box = box_around(grid, centre, (outer + 6, 22.0, outer + 6))
    x, y, z = part(grid, box)
    radius = np.hypot(x - centre[0], z - centre[2])
    gap = np.maximum(np.maximum(radius - outer, inner - radius), np.abs(y - centre[1]) - 16)
    blend(hu[box], soft(gap, 3), 3000)
