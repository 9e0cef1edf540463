"""A frontal radiograph from a chest CT: the release's own parallel projection.

Owns the numbers of medheb_release.md 4.1: clip, attenuation, body mask, sum along the second axis,
stretch, square pixels, crop. Refuses to know files and patients; turns nothing but the finished
picture. The demo's phantoms take the same first steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from studies.medheb.builders.record import Pixels

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
HU_LIMITS = (-1000, 1200)
BODY_ABOVE = -700  # Hounsfield units
PER_MM = 0.0025  # attenuation of water
KERNEL = 5  # pixels, of closing and opening
STRETCH = (0.5, 99.5)  # percentiles
CROP_ABOVE = 3.0  # percentile
MARGIN = 8  # pixels round the crop


def radiograph(hu: NDArray[Any], spacing_mm: tuple[float, float, float]) -> Pixels:
    """The frontal view of a CT.

    Args:
        hu: Hounsfield units [X, Y, Z]; y runs from front to back or back to front.
        spacing_mm: (x, y, z), all above 0.

    Returns:
        [H, W], uint8, square pixels, the far end of z up; black where there is no body.
    """
    x, y, z = spacing_mm
    path = path_XZ(hu) * np.float32(y)
    film_XZ = film(path) if path.any() else path
    return cropped(squared(np.flipud(film_XZ.T), height_mm=z, width_mm=x))


def path_XZ(hu: NDArray[Any]) -> Floats:
    """Attenuation per mm, summed along the second axis inside the body: [X, Z]."""
    summed = np.empty((hu.shape[0], hu.shape[2]), np.float32)
    for place in range(hu.shape[2]):
        slice_XY = np.ascontiguousarray(hu[:, :, place])
        body = opened(closed(slice_XY > BODY_ABOVE))
        summed[:, place] = attenuation(slice_XY, body).sum(axis=1)
    return summed


def attenuation(hu: NDArray[Any], body: Mask) -> Floats:
    """Attenuation per mm of Hounsfield units inside a mask, 0 outside."""
    clipped = np.clip(hu, *HU_LIMITS).astype(np.float32)
    per_mm = np.float32(PER_MM) * (clipped / 1000 + 1)
    return np.where(body, per_mm, np.float32(0)).astype(np.float32)


def film(path: Floats) -> Floats:
    """Grey values 0..1 of summed attenuation, dense parts bright."""
    passed = np.exp(-path)
    low, high = np.percentile(passed, STRETCH)
    return np.asarray(1 - np.clip((passed - low) / (high - low or 1), 0, 1))


def closed(mask: Mask) -> Mask:
    """Holes smaller than the kernel filled in."""
    return eroded(dilated(mask))


def opened(mask: Mask) -> Mask:
    """Specks smaller than the kernel taken out."""
    return dilated(eroded(mask))


def dilated(mask: Mask, kernel: int = KERNEL) -> Mask:
    """True where any pixel of the square kernel is true; nothing lies outside the picture."""
    for axis in (0, 1):
        mask = _over(mask, kernel, axis, any_of=True)
    return mask


def eroded(mask: Mask, kernel: int = KERNEL) -> Mask:
    """True where every pixel of the square kernel is true; what lies outside does not count."""
    for axis in (0, 1):
        mask = _over(mask, kernel, axis, any_of=False)
    return mask


def _over(mask: Mask, kernel: int, axis: int, *, any_of: bool) -> Mask:
    """A running any or all along one axis."""
    join = np.logical_or if any_of else np.logical_and
    along = np.moveaxis(mask, axis, 0)
    found = along.copy(order="K")  # in the order of memory, or every join is slow
    for shift in range(1, kernel // 2 + 1):
        join(found[shift:], along[:-shift], out=found[shift:])
        join(found[:-shift], along[shift:], out=found[:-shift])
    return np.moveaxis(found, 0, axis)


def squared(picture: Floats, *, height_mm: float, width_mm: float) -> Floats:
    """The picture with square pixels of the smaller spacing, bilinear."""
    side = min(height_mm, width_mm)
    height = max(1, round(picture.shape[0] * height_mm / side))
    width = max(1, round(picture.shape[1] * width_mm / side))
    resized = Image.fromarray(np.ascontiguousarray(picture, np.float32)).resize(
        (width, height), Image.Resampling.BILINEAR
    )
    return np.asarray(resized)


def cropped(picture: Floats) -> Pixels:
    """8 bits, cut to what lies above a low percentile, with a margin."""
    rows, columns = np.nonzero(picture > np.percentile(picture, CROP_ABOVE))
    if rows.size:
        top, left = max(0, rows.min() - MARGIN), max(0, columns.min() - MARGIN)
        picture = picture[top : rows.max() + 1 + MARGIN, left : columns.max() + 1 + MARGIN]
    return (np.clip(picture, 0, 1) * 255).astype(np.uint8)
