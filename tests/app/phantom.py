"""Volumes whose values encode where they were stored, in every kind of acquisition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from app.widgets.content import Picture
from engine.evidence.geometry import Geometry
from engine.evidence.window import function_of, to_display

SHAPE = (12, 20, 16)
ROW = 64
SLICE = ROW * ROW
L, P, S = np.eye(3)


def turned(angle: float, axis: int) -> np.ndarray:
    """A rotation of patient space, degrees."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    one, two = (axis + 1) % 3, (axis + 2) % 3
    made = np.eye(3)
    made[one, one] = made[two, two] = c
    made[one, two], made[two, one] = -s, s
    return made


# direction of columns, rows and slices
ACQUISITIONS = {
    "axial": (L, P, S),
    "axial, feet last": (L, P, -S),
    "axial, mirrored": (-L, P, S),
    "axial, prone": (-L, -P, S),
    "coronal": (L, -S, P),
    "coronal, back first": (L, -S, -P),
    "sagittal": (P, -S, L),
    "sagittal, from the left": (P, -S, -L),
    "rows are slices": (S, L, P),
    "oblique": tuple(turned(20, 0) @ turned(13, 2) @ way for way in (L, P, S)),
    "double oblique coronal": tuple(turned(17, 1) @ turned(-25, 0) @ way for way in (L, -S, P)),
}


def render(values, window):
    center, width = window or (8000.0, 16_000.0)
    return to_display(values, center=center, width=width, function=function_of((center, width)))


def coded(shape=SHAPE):
    """Each voxel holds its own index."""
    z, y, x = np.indices(shape)
    return (z * SLICE + y * ROW + x).astype(np.uint16)


def index_of(value):
    """The stored (slice, row, column) that a value stands for."""
    value = int(value)
    return value // SLICE, value % SLICE // ROW, value % ROW


def geometry(name="axial", shape=SHAPE, spacing=(3.0, 0.7, 1.1), frame="one", places=None):
    """Slices (or ``places`` in mm along the normal) of an acquisition."""
    column, row, along = ACQUISITIONS[name]
    places = np.arange(shape[0]) * spacing[0] if places is None else np.asarray(places, float)
    origin = np.array([-31.0, 12.5, 140.0]) + places[:, None] * along
    return Geometry(origin, column * spacing[2], row * spacing[1], frame)


def phantom(name="axial", shape=SHAPE, *, array=None, **named):
    """A picture of such a volume."""
    placed = geometry(name, shape, **named)
    row, column = (float(np.linalg.norm(step)) for step in (placed.row_step, placed.column_step))
    return Picture(
        coded(shape) if array is None else array,
        (8000.0, 16_000.0),
        render,
        aspect=row / column,
        geometry=placed,
        spacing_mm=(row, column),
        spacing_source="PixelSpacing",
        token=name,
        kind="volume",
    )


def moved(picture, *by):
    """The same elsewhere in the patient, by mm."""
    origin = picture.geometry.origin_Z3 + np.array(by, float)
    return replace(picture, geometry=replace(picture.geometry, origin_Z3=origin))
