"""What the miniature sources share: tiny pictures and volumes with a look per class, made-up ids.

Owns what a class looks like: hue, shape, brightness and stripes, told apart by a number alone, and
no claim about any disease. Refuses randomness of its own: everything follows from the names given,
so the same seed writes the same bytes.
"""

from __future__ import annotations

import colorsys
import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.demo.shapes import generator

__all__ = ["generator", "hexadecimal", "look", "number", "paint", "plain", "uid", "uuid", "volume"]

Pixels = NDArray[np.uint8]
Floats = NDArray[np.floating[Any]]
Box = tuple[int, int, int, int]
_GOLDEN = 0.618034


def look(kind: int, *names: object, size: int = 64, width: int = 0, grey: bool = False) -> Pixels:
    """A picture of a class: its hue, brightness, shape and stripes; place and noise by ``names``.

    Args:
        kind: number of the class, from 0.
        names: what this sample is called; other names give another picture.
        size: height in pixels, and width where none is given.
        width: in pixels.
        grey: [H, W] in place of [H, W, 3].
    """
    wide = width or size
    rng = generator("look", kind, *names)
    bright = _shape(kind, rng, size, wide) * 0.55 + _stripes(kind, rng, size, wide) * 0.2
    bright = bright + 0.1 + 0.1 * ((kind * 5) % 7) / 7 + _grain(rng, size, wide)
    if grey:
        return _bytes(bright)
    hue, second = (kind * _GOLDEN) % 1.0, (kind * _GOLDEN + 0.3) % 1.0
    dark = np.array(colorsys.hsv_to_rgb(hue, 0.6, 0.55))
    light = np.array(colorsys.hsv_to_rgb(second, 0.35, 1.0))
    return _bytes(dark + np.clip(bright, 0, 1)[..., None] * (light - dark))


def plain(*names: object, size: int = 64, width: int = 0, grey: bool = False) -> Pixels:
    """A background to paint regions on: a dim field with a slow slope and grain."""
    wide = width or size
    rng = generator("plain", *names)
    slope = np.linspace(0.2, 0.2 + 0.2 * rng.random(), size)[:, None] + np.zeros((1, wide))
    field = _bytes(slope + _grain(rng, size, wide))
    return field if grey else np.repeat(field[..., None], 3, axis=2)


def paint(pixels: Pixels, box: Box, kind: int, *names: object) -> None:
    """Put a class's look into a box (left, top, right, bottom; the last two excluded), in place."""
    left, top, right, bottom = box
    patch = look(kind, *names, size=bottom - top, width=right - left, grey=pixels.ndim == 2)
    pixels[top:bottom, left:right] = patch


def volume(kind: int, *names: object, shape: tuple[int, int, int] = (24, 32, 32)) -> Floats:
    """A body with a lesion by class.

    Args:
        kind: number of the class: place, size and brightness of the lesion.
        names: what this sample is called; the same names with another ``kind`` share the body.
        shape: (z, y, x) voxels.

    Returns:
        [Z, Y, X], float32 from 0 (air, exactly) to 1.
    """
    rng = generator("volume", *names)
    axes = np.meshgrid(*(np.linspace(-1, 1, count) for count in shape), indexing="ij")
    wide = 0.75 + 0.15 * rng.random(3)
    radius = np.sqrt(sum((axis / half) ** 2 for axis, half in zip(axes, wide, strict=True)))
    body = np.where(radius < 1, 0.3 + 0.15 * (1 - radius), 0)
    body += (radius < 1) * 0.05 * rng.standard_normal(shape)
    angle, reach = kind * 2 * np.pi * _GOLDEN, 0.22 + 0.06 * (kind % 4)
    centre = (0.3 * np.cos(3 * angle), 0.4 * np.sin(angle), 0.4 * np.cos(angle))
    gap = np.sqrt(sum((axis - at) ** 2 for axis, at in zip(axes, centre, strict=True)))
    body = np.where((gap < reach) & (radius < 1), 0.6 + 0.4 * ((kind * 3) % 5) / 5, body)
    return np.where(radius < 1, np.clip(body, 0.02, 1), 0).astype(np.float32)


def _shape(kind: int, rng: np.random.Generator, high: int, wide: int) -> Floats:
    """Coverage of a disc, a ring, a square or a cross, somewhere near the middle."""
    y, x = np.linspace(-1, 1, high)[:, None], np.linspace(-1, 1, wide)[None, :]
    dy, dx = y - rng.uniform(-0.25, 0.25), x - rng.uniform(-0.25, 0.25)
    reach = (0.3 + 0.08 * ((kind // 4) % 4)) * rng.uniform(0.9, 1.1)
    far = np.sqrt(dx**2 + dy**2)
    square = np.maximum(np.abs(dx), np.abs(dy))
    cross = np.minimum(np.abs(dx), np.abs(dy)) + 0 * far
    covers = (
        far < reach,
        np.abs(far - reach) < 0.12,
        square < reach,
        (cross < 0.12) & (square < reach * 1.6),
    )
    return covers[kind % 4].astype(np.float32)


def _stripes(kind: int, rng: np.random.Generator, high: int, wide: int) -> Floats:
    y, x = np.linspace(0, 1, high)[:, None], np.linspace(0, 1, wide)[None, :]
    angle = np.pi * ((kind * 3) % 8) / 8
    along = np.cos(angle) * x + np.sin(angle) * y
    return 0.5 + 0.5 * np.sin(2 * np.pi * (2 + kind % 5) * along + rng.uniform(0, 6))


def _grain(rng: np.random.Generator, high: int, wide: int) -> Floats:
    """Coarse noise, two pixels wide: enough that no two pictures are equal, and small as a file."""
    coarse = rng.standard_normal((high // 2 + 1, wide // 2 + 1))
    return 0.03 * np.kron(coarse, np.ones((2, 2)))[:high, :wide]


def _bytes(bright: Floats) -> Pixels:
    return (np.clip(bright, 0, 1) * 63).astype(np.uint8) * np.uint8(4)


def number(digits: int, *names: object) -> str:
    """An invented number of that many digits, the first not 0."""
    low = 10 ** (digits - 1)
    return str(low + _hash(*names) % (9 * low))


def hexadecimal(length: int, *names: object) -> str:
    """Invented hexadecimal characters, small letters; at most 64."""
    return hashlib.sha256("/".join(map(str, names)).encode()).hexdigest()[:length]


def uuid(*names: object) -> str:
    """Something of the form of a random UUID (version 4)."""
    text = hexadecimal(32, "uuid", *names)
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:32]}"


def uid(*names: object) -> str:
    """A DICOM UID below 2.25."""
    return f"2.25.{_hash('uid', *names)}"


def _hash(*names: object) -> int:
    text = "/".join(str(name) for name in names)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:15], "big")
