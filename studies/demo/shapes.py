"""A grid in millimetres and soft-edged shapes painted into it.

Owns the geometry shared by the phantoms: coordinates, seeded generators, smooth random fields.
Refuses to know any anatomy.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Floats = NDArray[np.floating[Any]]  # float32 in practice; numpy types promotions loosely
Point = tuple[float, float, float]


def generator(*names: object) -> np.random.Generator:
    """A generator that depends on nothing but ``names`` (seed, split, source, patient...)."""
    text = "/".join(str(name) for name in names)
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))


@dataclass(frozen=True, eq=False)
class Grid:
    """Voxel centres in millimetres, origin in the middle of the volume.

    Attributes:
        x: [1, 1, X], grows towards the patient's left.
        y: [1, Y, 1], grows towards the back.
        z: [Z, 1, 1], grows towards the head.
        spacing: (dz, dy, dx) in mm.
    """

    x: Floats
    y: Floats
    z: Floats
    spacing: Point

    @property
    def shape(self) -> tuple[int, int, int]:
        """Voxels along z, y, x."""
        return self.z.shape[0], self.y.shape[1], self.x.shape[2]


def make_grid(shape: tuple[int, int, int], extent_mm: Point) -> Grid:
    """A centred grid of ``shape`` (z, y, x) voxels over ``extent_mm`` (z, y, x)."""
    axes = []
    for count, extent in zip(shape, extent_mm, strict=True):
        step = extent / count
        axes.append(((np.arange(count) + 0.5) * step - extent / 2).astype(np.float32))
    dz, dy, dx = (extent / count for count, extent in zip(shape, extent_mm, strict=True))
    return Grid(
        axes[2][None, None, :], axes[1][None, :, None], axes[0][:, None, None], (dz, dy, dx)
    )


Box = tuple[slice, slice, slice]


def box_around(grid: Grid, centre: Point, reach: Point) -> Box:
    """The part of the grid within ``reach`` (x, y, z) of ``centre`` (x, y, z), in index slices."""
    slices = []
    for axis, middle, half in zip(
        (grid.z.ravel(), grid.y.ravel(), grid.x.ravel()), centre[::-1], reach[::-1], strict=True
    ):
        start, stop = np.searchsorted(axis, [middle - half, middle + half])
        slices.append(slice(int(start), int(stop)))
    return slices[0], slices[1], slices[2]


def part(grid: Grid, box: Box) -> tuple[Floats, Floats, Floats]:
    """The x, y, z coordinates inside a box, ready to broadcast."""
    return grid.x[:, :, box[2]], grid.y[:, box[1]], grid.z[box[0]]


def soft(distance: Floats, edge: float) -> Floats:
    """Signed distance (negative inside, mm) to coverage 0..1 over an edge of ``edge`` mm."""
    return np.clip(0.5 - distance / np.float32(edge), 0, 1)


def blend(target: Floats, cover: Floats, value: float | Floats) -> None:
    """Put ``value`` where ``cover`` is 1, leave ``target`` where it is 0; in place."""
    target += cover * (value - target)


def ellipsoid(
    grid: Grid, centre: Point, radii: Point, *, edge: float = 4.0, turn: float = 0.0
) -> tuple[Box, Floats]:
    """Coverage of an ellipsoid, turned by ``turn`` radians about z, with the box it lies in."""
    wide = max(radii[0], radii[1]) if turn else None
    reach = tuple((wide if wide and i < 2 else r) + 2 * edge for i, r in enumerate(radii))
    box = box_around(grid, centre, (reach[0], reach[1], reach[2]))
    x, y, z = part(grid, box)
    dx, dy, dz = x - centre[0], y - centre[1], z - centre[2]
    cos, sin = np.float32(np.cos(turn)), np.float32(np.sin(turn))
    u, v = cos * dx + sin * dy, cos * dy - sin * dx
    radius = np.sqrt((u / radii[0]) ** 2 + (v / radii[1]) ** 2 + (dz / radii[2]) ** 2)
    return box, soft((radius - 1) * np.float32(min(radii)), edge)


def tube(
    grid: Grid, start: Point, end: Point, radius: float, *, edge: float = 4.0
) -> tuple[Box, Floats]:
    """Coverage of a straight tube with round ends."""
    a, b = np.array(start), np.array(end)
    middle, half = (a + b) / 2, np.abs(b - a) / 2 + radius + edge
    box = box_around(grid, (middle[0], middle[1], middle[2]), (half[0], half[1], half[2]))
    x, y, z = part(grid, box)
    ab = (b - a).astype(np.float32)
    along = (x - a[0]) * ab[0] + (y - a[1]) * ab[1] + (z - a[2]) * ab[2]
    t = np.clip(along / np.float32(ab @ ab + 1e-6), 0, 1)
    gap = np.sqrt(
        (x - a[0] - t * ab[0]) ** 2 + (y - a[1] - t * ab[1]) ** 2 + (z - a[2] - t * ab[2]) ** 2
    )
    return box, soft(gap - radius, edge)


def smooth_noise(
    rng: np.random.Generator, shape: tuple[int, ...], *, cells: tuple[int, ...]
) -> Floats:
    """A smooth random field of zero mean and unit spread with ``cells`` bumps along each axis."""
    field: Floats = rng.standard_normal(tuple(c + 3 for c in cells), dtype=np.float32)
    field = np.tensordot(_spline(shape[0], field.shape[0]), field, axes=(1, 0))
    if len(shape) == 3:
        field = np.matmul(_spline(shape[1], field.shape[1]), field)
    field = field @ _spline(shape[-1], field.shape[-1]).T
    field -= field.mean()
    return field / (field.std() + np.float32(1e-6))


def _spline(size: int, knots: int) -> Floats:
    """Quadratic B-spline weights [size, knots] that resample one axis, leaving out the margins."""
    places = np.linspace(1, knots - 2, size)
    base = np.rint(places).astype(int)
    t = (places - base).astype(np.float32)
    weights = (0.5 * (0.5 - t) ** 2, 0.75 - t**2, 0.5 * (0.5 + t) ** 2)
    matrix = np.zeros((size, knots), np.float32)
    for offset, weight in zip((-1, 0, 1), weights, strict=True):
        matrix[np.arange(size), base + offset] = weight
    return matrix


def blur(field: Floats, sigma: float | tuple[float, ...]) -> Floats:
    """Gaussian blur in voxels, float32."""
    return ndimage.gaussian_filter(field, sigma, output=np.float32, truncate=3.0)
