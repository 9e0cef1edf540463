"""A head in T1 and T2 contrast: one map of tissues, two weightings of the same geometry.

Owns the brain patients (what is true of them) and their voxels. Coordinates are patient
millimetres (x left, y back, z head); all of one patient's contrasts share one grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.demo.shapes import (
    Box,
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
)

LABELS = (
    "No lesion",
    "Glioma",
    "Meningioma",
    "Metastases",
    "Infarct",
    "Hydrocephalus",
)
SHAPE = (64, 96, 96)
EXTENT = (160.0, 220.0, 200.0)
LOBES = ("frontal lobe", "parietal lobe", "temporal lobe", "occipital lobe")
PLACES = {
    "frontal lobe": (32.0, -40.0, 22.0),
    "parietal lobe": (34.0, 22.0, 32.0),
    "temporal lobe": (46.0, 2.0, -16.0),
    "occipital lobe": (26.0, 54.0, 6.0),
}
SIZES = {"Glioma": (30, 54), "Meningioma": (24, 44), "Metastases": (12, 20), "Infarct": (40, 66)}
# Signal of air, fat, bone, fluid, grey, white, muscle.
SIGNAL = {
    "t1": {"air": 8, "fat": 900, "bone": 90, "fluid": 150, "grey": 430, "white": 620, "soft": 380},
    "t2": {"air": 8, "fat": 640, "bone": 60, "fluid": 1000, "grey": 520, "white": 340, "soft": 260},
}
LESION = {
    "t1": {"core": 190, "solid": 400, "dural": 455, "edema": 400, "infarct": 290, "rim": 690},
    "t2": {"core": 900, "solid": 690, "dural": 600, "edema": 820, "infarct": 880, "rim": 480},
}


@dataclass(frozen=True)
class BrainCase:
    """What is true of one patient.

    Attributes:
        patient: pseudonymous id.
        key: what every random draw of this patient depends on.
        label: one of ``LABELS``.
        side: ``right``, ``left`` or empty.
        lobe: name of the lobe or empty.
        size_mm: diameter; 0 when there is none.
        grade: ventricles: ``slim``, ``normal``, ``wide`` or ``very wide``.
        count: number of lesions.
    """

    patient: str
    key: tuple[object, ...]
    label: str
    side: str
    lobe: str
    size_mm: int
    grade: str
    count: int


@dataclass(frozen=True, eq=False)
class BrainScan:
    """Both contrasts: int16 [Z, Y, X] on one grid."""

    t1: NDArray[np.int16]
    t2: NDArray[np.int16]
    grid: Grid


def draw_brain(seed: int, split: str, index: int) -> BrainCase:
    """The patient number ``index`` of a split; labels go round so that classes are balanced."""
    rng = generator(seed, split, "brain", index)
    label = LABELS[index % len(LABELS)]
    focal = label in SIZES
    size = int(rng.integers(SIZES[label][0], SIZES[label][1] + 1)) if focal else 0
    grade = "very wide" if label == "Hydrocephalus" else str(rng.choice(("slim", "normal", "wide")))
    return BrainCase(
        patient=f"BRAIN-{split[:2].upper()}{index:04d}",
        key=(seed, split, "brain", index),
        label=label,
        side=str(rng.choice(("right", "left"))) if focal else "",
        lobe=str(rng.choice(LOBES)) if focal else "",
        size_mm=size,
        grade=grade,
        count=int(rng.integers(3, 7)) if label == "Metastases" else int(focal),
    )


def scan_brain(case: BrainCase, *, shape: tuple[int, int, int] = SHAPE) -> BrainScan:
    """Both contrasts of a patient; the same patient always gives the same voxels."""
    grid = make_grid(shape, EXTENT)
    rng = generator(*case.key, "mr")
    parts = _tissues(grid, case, rng)
    bias = 1 + 0.07 * smooth_noise(rng, grid.shape, cells=(1, 2, 2))
    volumes = []
    for contrast in ("t1", "t2"):
        signal = _weigh(grid, parts, contrast)
        _lesions(signal, grid, parts, case, contrast)
        signal = blur(signal, (0, 0.45, 0.45)) * bias
        grain = rng.standard_normal((2, *grid.shape), dtype=np.float32) * np.float32(16)
        signal = np.hypot(signal + grain[0], grain[1])  # magnitude images have Rician noise
        volumes.append(np.clip(np.rint(signal), 0, 4095).astype(np.int16))
    return BrainScan(volumes[0], volumes[1], grid)


def brain_pictures(volume: NDArray[np.int16], *, count: int = 64) -> NDArray[np.uint8]:
    """uint8 [S, Y, X], feet first: 0.5 to 99.5 percentile of the positive voxels of the volume."""
    picks = np.linspace(0, len(volume) - 1, min(count, len(volume))).astype(int)
    low, high = np.percentile(volume[volume > 0], (0.5, 99.5))
    shown = (volume[picks].astype(np.float32) - low) / (high - low)
    return np.clip(np.rint(shown * 255), 0, 255).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class Tissues:
    """Coverage of each part of the head, and the signed depth below the brain's surface."""

    head: Floats
    skull: Floats
    inside: Floats
    brain: Floats
    white: Floats
    fluid: Floats
    deep: Floats
    orbit: Floats
    surface: Floats


def _tissues(grid: Grid, case: BrainCase, rng: np.random.Generator) -> Tissues:
    """All parts, from the skin to the ventricles."""
    wide, long = float(rng.uniform(0.93, 1.05)), float(rng.uniform(0.93, 1.05))
    lean = float(rng.uniform(-0.06, 0.06))
    x, y, z = grid.x + lean * grid.z, grid.y, grid.z
    egg = 1 + 0.0011 * y  # the back of the head is broader
    radius = np.sqrt((x / (72 * wide * egg)) ** 2 + (y / (88 * long)) ** 2 + ((z - 2) / 74) ** 2)
    brain_gap = (radius - 1) * 70
    base = -(z + 46 + 10 * np.cos(y / 30))  # floor of the skull
    brain_gap = np.maximum(brain_gap, base)
    folds = smooth_noise(rng, grid.shape, cells=(13, 17, 15))
    depth = np.maximum(-brain_gap, 0)
    # Zero lines of a smooth field wind like sulci; below 17 mm they close.
    ridge = np.abs(folds) * 4.2 + np.maximum(depth - 17, 0) * 0.8
    cleft = np.abs(x) - 1.4 + np.maximum(depth - 34, 0) * 0.5 + np.maximum(-20 - z, 0)
    brain = soft(brain_gap + 1.5, 3) * (1 - 0.85 * soft(ridge - 0.7, 1.6)) * (1 - soft(cleft, 2.5))
    white = soft(4.2 - np.minimum(np.minimum(depth, ridge + 0.8), cleft + 3), 2.5)
    fluid, deep = _inner(grid, case, x, rng)
    lower_brain = _below(grid, x, rng)
    brain = np.maximum(brain, lower_brain[0])
    white = np.maximum(white * soft(base + 4, 6), lower_brain[1])
    neck = np.sqrt((x / 52) ** 2 + ((y - 24) / 56) ** 2) * 52 - 52
    inside_gap = np.minimum((radius - 1.06) * 70, np.maximum(neck + 24, z + 30))
    inside = soft(np.maximum(inside_gap, -(z + 76)), 3) * soft(base + 3, 4)
    inside = np.maximum(inside, lower_brain[0])
    head_gap = np.minimum((radius - 1.24) * 72, np.maximum(neck - 8, z + 10))
    skull = soft((radius - 1.155) * 70, 3) * soft(base - 18, 5)
    orbit = np.zeros(grid.shape, np.float32)
    for side in (-1, 1):
        box, cover = ellipsoid(grid, (side * 32.0, -74.0, -44.0), (12.5, 12.5, 12.0), edge=2.5)
        orbit[box] = np.maximum(orbit[box], cover)
    return Tissues(soft(head_gap, 3), skull, inside, brain, white, fluid, deep, orbit, brain_gap)


def _inner(
    grid: Grid, case: BrainCase, x: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Ventricles (fluid) and the deep grey nuclei."""
    scale = {"slim": 0.75, "normal": 1.0, "wide": 1.4, "very wide": 2.5}[case.grade]
    scale *= float(rng.uniform(0.92, 1.08))
    fluid = np.zeros(grid.shape, np.float32)
    deep = np.zeros(grid.shape, np.float32)
    broad = 5.2 * scale
    for side in (-1, 1):
        horns: tuple[tuple[Point, Point, float], ...] = (
            ((9.0, -22.0, 14.0), (broad, 17.0 + 3 * scale, 5.5 * scale), 0.35),
            ((11.0, 2.0, 21.0), (broad, 23.0, 5.0 * scale), 0.0),
            ((19.0, 32.0, 13.0), (broad * 1.1, 18.0 + 3 * scale, 8.0 * scale), -0.35),
            ((30.0, 12.0, -14.0), (2.6 * scale, 15.0, 3.6 * scale), -0.25),
        )
        for centre, radii, turn in horns:
            place = (side * (centre[0] + 2.2 * (scale - 1)), centre[1], centre[2])
            box, cover = ellipsoid(grid, place, radii, edge=2.5, turn=-side * turn)
            fluid[box] = np.maximum(fluid[box], cover)
        for centre, radii in (
            ((13.0, 10.0, 6.0), (9.0, 14.0, 9.0)),
            ((26.0, -10.0, 5.0), (7.0, 15.0, 11.0)),
            ((14.0, -20.0, 13.0), (5.0, 10.0, 7.0)),
        ):
            place = (side * (centre[0] + 2 * (scale - 1)), centre[1], centre[2])
            box, cover = ellipsoid(grid, place, radii, edge=3)
            deep[box] = np.maximum(deep[box], cover)
    for centre, radii in (
        ((0.0, -2.0, 2.0), (2.2 * scale, 14.0, 9.0)),
        ((0.0, 34.0, -34.0), (6.0 * min(scale, 1.6), 6.0, 9.0)),
    ):
        box, cover = ellipsoid(grid, centre, radii, edge=2.5)
        fluid[box] = np.maximum(fluid[box], cover)
    box, cover = ellipsoid(grid, (0.0, -4.0, -24.0), (15.0, 12.0, 8.0), edge=4)
    fluid[box] = np.maximum(fluid[box], cover * 0.9)
    return fluid, deep


def _below(grid: Grid, x: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Cerebellum with its leaves, and the brain stem: coverage of brain and of white matter."""
    leaves = np.cos((grid.z + 0.35 * grid.y) * 1.15)
    gap = np.sqrt((x / 50) ** 2 + ((grid.y - 44) / 31) ** 2 + ((grid.z + 40) / 23) ** 2) * 26 - 26
    cerebellum = soft(gap, 3)
    white = soft(gap + 9 + 2.4 * leaves, 3)
    stem = np.sqrt(((x) / 12.5) ** 2 + ((grid.y - 14 - 0.16 * (grid.z + 40)) / 11.5) ** 2) * 12 - 12
    stem = soft(np.maximum(stem, grid.z + 4), 3)
    pons = np.sqrt((x / 17) ** 2 + ((grid.y - 6) / 12) ** 2 + ((grid.z + 34) / 13) ** 2) * 13 - 13
    stem = np.maximum(stem, soft(pons, 3))
    return np.maximum(cerebellum, stem), np.maximum(white, stem * 0.8)


def _weigh(grid: Grid, parts: Tissues, contrast: str) -> Floats:
    """Signal of the healthy head under one weighting."""
    s = SIGNAL[contrast]
    signal = np.full(grid.shape, s["air"], np.float32)
    blend(signal, parts.head, s["fat"])
    blend(signal, parts.head * soft(grid.z + 22 + 0.25 * grid.y, 8) * 0.8, s["soft"])
    blend(signal, parts.skull, s["bone"])
    sinus = soft(np.hypot(grid.x, grid.y + 62) - 16, 5) * soft(np.abs(grid.z + 56) - 18, 4)
    blend(signal, sinus * parts.head, s["air"])
    blend(signal, parts.inside, s["fluid"])
    blend(signal, parts.brain, s["grey"])
    blend(signal, parts.white * parts.brain, s["white"])
    blend(signal, parts.deep, s["grey"] * 1.06 if contrast == "t1" else s["grey"] * 0.92)
    blend(signal, parts.fluid * (1 - 0.2 * parts.deep), s["fluid"])
    blend(signal, parts.orbit, s["fluid"] * 0.95)
    return signal


def _lesions(signal: Floats, grid: Grid, parts: Tissues, case: BrainCase, contrast: str) -> None:
    """Paint the finding; drawn from its own seed so that both contrasts agree."""
    if not case.lobe:
        return
    rng = generator(*case.key, "lesion")
    sign = 1.0 if case.side == "left" else -1.0
    x, y, z = PLACES[case.lobe]
    jitter = rng.uniform(-7, 7, 3)
    centre = (sign * (x + jitter[0] * 0.6), y + jitter[1], z + jitter[2])
    painter = {
        "Glioma": _glioma,
        "Meningioma": _meningioma,
        "Metastases": _metastases,
        "Infarct": _infarct,
    }[case.label]
    painter(signal, grid, parts, case, centre, LESION[contrast], rng)


def _ball(
    grid: Grid, centre: Point, size: float, rng: np.random.Generator, *, rough: float
) -> tuple[Box, Floats]:
    """Signed distance to a lumpy ball, with its box."""
    reach = size * (0.5 + rough) + 22
    box = box_around(grid, centre, (reach, reach, reach))
    x, y, z = part(grid, box)
    gap = np.sqrt((x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (z - centre[2]) ** 2) - size / 2
    return box, gap + smooth_noise(rng, gap.shape, cells=(4, 4, 4)) * np.float32(rough * size * 0.5)


def _edema(
    signal: Floats, parts: Tissues, box: Box, gap: Floats, reach: float, value: float
) -> None:
    """Swelling spreads along white matter."""
    spread = soft(gap - reach, reach) * (0.25 + 0.75 * parts.white[box]) * parts.brain[box]
    blend(signal[box], spread * (1 - parts.fluid[box]), value)


def _glioma(
    signal: Floats,
    grid: Grid,
    parts: Tissues,
    case: BrainCase,
    centre: Point,
    tone: dict[str, int],
    rng: np.random.Generator,
) -> None:
    box, gap = _ball(grid, centre, case.size_mm, rng, rough=0.22)
    _edema(signal, parts, box, gap, 10, tone["edema"])
    inside = soft(parts.surface[box] + 2, 3)
    blend(signal[box], soft(gap, 3) * inside, tone["solid"])
    blend(signal[box], soft(gap + case.size_mm * 0.20, 3) * inside, tone["core"])
    ring = np.clip(1 - np.abs(gap + case.size_mm * 0.16) / 3, 0, 1)
    blend(signal[box], ring * inside * 0.6, tone["rim"])


def _meningioma(
    signal: Floats,
    grid: Grid,
    parts: Tissues,
    case: BrainCase,
    centre: Point,
    tone: dict[str, int],
    rng: np.random.Generator,
) -> None:
    """Sits on the inner table of the skull with a broad base and a thin rim of fluid."""
    x, y, z = centre
    stretch = 70 / max(30.0, float(np.sqrt((x / 72) ** 2 + (y / 88) ** 2 + (z / 74) ** 2)) * 70)
    centre = (x * stretch * 0.90, y * stretch * 0.90, z * stretch * 0.90)
    box, gap = _ball(grid, centre, case.size_mm, rng, rough=0.05)
    cover = parts.inside[box]
    _edema(signal, parts, box, gap, 5, tone["edema"])
    cleft = np.clip(1 - np.abs(gap - 1.5) / 2.5, 0, 1)
    blend(signal[box], cleft * cover * 0.8, SIGNAL["t1" if tone is LESION["t1"] else "t2"]["fluid"])
    blend(signal[box], soft(gap, 2.5) * cover, tone["dural"])


def _metastases(
    signal: Floats,
    grid: Grid,
    parts: Tissues,
    case: BrainCase,
    centre: Point,
    tone: dict[str, int],
    rng: np.random.Generator,
) -> None:
    for number in range(case.count):
        place = centre
        if number:
            place = (
                float(rng.choice((-1, 1)) * rng.uniform(20, 50)),
                float(rng.uniform(-55, 58)),
                float(rng.uniform(-12, 46)),
            )
        size = case.size_mm * (1.0 if number == 0 else float(rng.uniform(0.6, 0.95)))
        box, gap = _ball(grid, place, size, rng, rough=0.06)
        _edema(signal, parts, box, gap, 7, tone["edema"])
        inside = soft(parts.surface[box] + 2, 3)
        blend(signal[box], soft(gap, 2.5) * inside, tone["rim"])
        blend(signal[box], soft(gap + size * 0.22, 2.5) * inside, tone["core"])


def _infarct(
    signal: Floats,
    grid: Grid,
    parts: Tissues,
    case: BrainCase,
    centre: Point,
    tone: dict[str, int],
    rng: np.random.Generator,
) -> None:
    """A wedge with its base on the cortex."""
    box, gap = _ball(
        grid, (centre[0] * 1.25, centre[1] * 1.05, centre[2]), case.size_mm, rng, rough=0.12
    )
    x, y, _ = part(grid, box)
    angle = np.arctan2(y - centre[1] * 0.3, x - np.sign(centre[0]) * 12)
    aim = np.arctan2(centre[1] * 0.75, centre[0] * 1.25 - np.sign(centre[0]) * 12)
    turn = np.abs((angle - aim + np.pi) % (2 * np.pi) - np.pi)
    wedge = soft((turn - 0.62) * 40, 8) * soft(gap, 6)
    blend(signal[box], wedge * parts.brain[box] * (1 - parts.deep[box] * 0.6), tone["infarct"])
