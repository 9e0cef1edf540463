"""A frontal chest radiograph projected from a CT, and CT slices as 8-bit pictures.

Owns the look of an acquisition (film grain, side marker, contrast), laid over the release's own
parallel projection per source, and its window of slices (medheb_release.md 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from studies.demo.phantom_chest import ChestScan
from studies.demo.shapes import Floats, Point, blur, generator
from studies.medheb.builders import projection

Bytes = NDArray[np.uint8]
LUNG_WINDOW = (-600.0, 1500.0)
FILM_WIDTH = 192


@dataclass(frozen=True, eq=False)
class Radiograph:
    """A film and where its pixels lie.

    Attributes:
        pixels: uint8 [H, W], patient's right at the left edge, head up.
        left_mm: x of the left edge.
        top_mm: z of the upper edge.
        pixel_mm: size of a square pixel.
    """

    pixels: Bytes
    left_mm: float
    top_mm: float
    pixel_mm: float

    def box(self, centre: Point, reach_x: float, reach_z: float) -> tuple[int, int, int, int]:
        """Pixels (left, top, right, bottom) around a point in mm, at least 28 wide and high."""
        height, width = self.pixels.shape
        column = (centre[0] - self.left_mm) / self.pixel_mm
        row = (self.top_mm - centre[2]) / self.pixel_mm
        left, right = _span(column, max(14.0, reach_x / self.pixel_mm), width)
        top, bottom = _span(row, max(14.0, reach_z / self.pixel_mm), height)
        return left, top, right, bottom


def _span(middle: float, reach: float, size: int) -> tuple[int, int]:
    start = int(min(max(0, round(middle - reach)), size - 28))
    return start, int(max(start + 28, min(size, round(middle + reach))))


def attenuation(scan: ChestScan) -> Floats:
    """Sum of attenuation along the rays, [Z, X]: the projection before any film."""
    # The release closes and opens this mask with 5 pixels of 0.7 mm: less than one voxel here.
    per_mm = projection.attenuation(scan.hu, scan.hu > projection.BODY_ABOVE)
    return per_mm.sum(axis=1) * np.float32(scan.grid.spacing[1])


def project(scan: ChestScan, *, source: str, key: tuple[object, ...]) -> Radiograph:
    """The film of a patient, from the CT's own voxels."""
    film = projection.film(attenuation(scan))
    dz, _, dx = scan.grid.spacing
    film = film[::-1]
    rows, columns = np.nonzero(film > max(float(np.percentile(film, 3)), 0.02))
    top, bottom = rows.min(), rows.max() + 1
    left, right = columns.min(), columns.max() + 1
    film = film[top:bottom, left:right]
    pixel = (right - left) * dx / FILM_WIDTH
    height = round(float((bottom - top) * dz / pixel))
    large = np.asarray(
        Image.fromarray(film.astype(np.float32), mode="F").resize(
            (FILM_WIDTH, height), Image.Resampling.BICUBIC
        )
    )
    left_mm = float(scan.grid.x.flat[0] - dx / 2 + left * dx)
    top_mm = float(scan.grid.z.flat[-1] + dz / 2 - top * dz)
    pixels = _expose(large, source, generator(*key, "film"))
    return Radiograph(pixels, left_mm, top_mm, float(pixel))


def _expose(film: Floats, source: str, rng: np.random.Generator) -> Bytes:
    """Sharpen, set the contrast, add grain and the marker of the source."""
    base = blur(film, 20)
    detail = film - base + 0.9 * (film - blur(film, 2.0))
    sharp = 0.62 * base + 1.15 * detail - 0.02
    if source == "chest_b":
        sharp = np.clip(sharp, 0, 1) ** 0.75 * 0.62 + 0.24
        sharp = blur(sharp, 0.9) + rng.normal(0, 0.03, film.shape)
    else:
        sharp = sharp * 1.28 - 0.02
        sharp = sharp + blur(rng.normal(0, 1, film.shape).astype(np.float32), 0.5) * 0.016
    pixels = np.clip(sharp * 245 + 3, 0, 255).astype(np.uint8)
    return _mark(pixels, source)


def _mark(pixels: Bytes, source: str) -> Bytes:
    """The side marker; the held-out source also has a collimated border and a date strip."""
    picture = Image.fromarray(pixels)
    draw = ImageDraw.Draw(picture)
    width, height = picture.size
    font = ImageFont.load_default(size=12)
    if source == "chest_b":
        for edge in range(6):
            draw.rectangle((edge, edge, width - 1 - edge, height - 1 - edge), outline=6)
        draw.rectangle((width - 34, height - 22, width - 8, height - 8), fill=225)
        draw.text((width - 31, height - 22), "AP", fill=15, font=font)
        draw.text((9, 8), "D", fill=240, font=font)
    else:
        draw.text((4, 3), "R", fill=250, font=font)
    return np.asarray(picture).copy()


def slice_pictures(scan: ChestScan, *, count: int = 64) -> Bytes:
    """uint8 [S, Y, X] in the lung window, feet first, ``count`` slices by truncating linspace."""
    picks = np.linspace(0, len(scan.hu) - 1, min(count, len(scan.hu))).astype(int)
    level, width = LUNG_WINDOW
    shown = (scan.hu[picks].astype(np.float32) - (level - width / 2)) / width
    return np.clip(np.rint(shown * 255), 0, 255).astype(np.uint8)
