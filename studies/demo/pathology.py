"""Small stained-tissue pictures: six kinds of tissue with nuclei of five classes.

Owns the patches and where each nucleus lies. Colours follow haematoxylin (violet nuclei) and
eosin (pink ground).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.demo.shapes import Floats, blur, generator, smooth_noise, soft

LABELS = (
    "Adenocarcinoma",
    "Squamous carcinoma",
    "Lymphoid tissue",
    "Adipose tissue",
    "Smooth muscle",
    "Necrosis",
)
NUCLEI = ("Neoplastic", "Inflammatory", "Connective", "Dead", "Epithelial")
SIZE = 160
# Radius along and across in pixels, darkness, roughness, colour of the five nuclei.
SHAPES: Mapping[str, tuple[float, float, float, float, tuple[int, int, int]]] = {
    "Neoplastic": (8.2, 6.2, 0.85, 0.10, (92, 48, 130)),
    "Inflammatory": (3.9, 3.8, 1.00, 0.04, (48, 32, 104)),
    "Connective": (9.0, 2.2, 0.90, 0.05, (82, 52, 128)),
    "Dead": (3.6, 2.8, 0.75, 0.20, (118, 62, 96)),
    "Epithelial": (5.4, 4.4, 0.80, 0.06, (108, 74, 158)),
}


@dataclass(frozen=True, eq=False)
class Patch:
    """One picture.

    Attributes:
        patient: pseudonymous id.
        label: one of ``LABELS``.
        pixels: uint8 [H, W, 3].
        nuclei: boxes (left, top, right, bottom) of each class of nucleus that is present.
    """

    patient: str
    label: str
    pixels: NDArray[np.uint8]
    nuclei: Mapping[str, tuple[tuple[int, int, int, int], ...]]


class Canvas:
    """A picture in the making; nuclei are listed as they are painted."""

    def __init__(self, rng: np.random.Generator, ground: tuple[int, int, int]) -> None:
        self.rng = rng
        self.stain = float(rng.uniform(0.9, 1.1))
        shade = smooth_noise(rng, (SIZE, SIZE), cells=(9, 9))[..., None] * 5
        self.rgb: Floats = np.array(ground, np.float32) + shade.astype(np.float32)
        axis = np.arange(SIZE, dtype=np.float32) + 0.5
        self.x, self.y = axis[None, :], axis[:, None]
        self.nuclei: dict[str, list[tuple[int, int, int, int]]] = {}

    def paint(self, cover: Floats, color: tuple[int, int, int]) -> None:
        """Blend a colour in."""
        self.rgb += cover[..., None] * (np.array(color, np.float32) - self.rgb)

    def nucleus(self, kind: str, x: float, y: float, *, angle: float, scale: float = 1.0) -> None:
        """One nucleus with a mottled inside and a darker rim."""
        along, across, dark, rough, color = SHAPES[kind]
        along, across = along * scale, across * scale
        reach = int(along * (1 + rough) + 4)
        left, top = max(0, int(x) - reach), max(0, int(y) - reach)
        right, bottom = min(SIZE, int(x) + reach + 1), min(SIZE, int(y) + reach + 1)
        if right - left < 4 or bottom - top < 4:
            return
        dx, dy = self.x[:, left:right] - x, self.y[top:bottom] - y
        u = (np.cos(angle) * dx + np.sin(angle) * dy) / along
        v = (np.cos(angle) * dy - np.sin(angle) * dx) / across
        turn = np.arctan2(v, u)
        waves = rough * np.sin(2 * turn + angle * 7) + rough * 0.7 * np.sin(3 * turn + x)
        gap = (np.hypot(u, v) - 1 - waves) * across
        cover = soft(gap, 1.6) * dark
        grain = self.rng.normal(0, 14, gap.shape).astype(np.float32)
        tone = np.array(color, np.float32) + blur(grain, 0.8)[..., None] * 1.3
        tone -= (np.clip(1 - np.abs(gap + 0.8), 0, 1) * 26)[..., None]
        if kind == "Neoplastic":
            spot = soft(np.hypot(dx + across * 0.25, dy - across * 0.2) - 1.7, 1.4)
            tone += soft(gap + 2.2, 2)[..., None] * 34
            tone -= spot[..., None] * 70
        area = self.rgb[top:bottom, left:right]
        area += cover[..., None] * (tone - area)
        self.nuclei.setdefault(kind, []).append(_crop(x, y, along, across, angle))

    def scatter(
        self,
        kind: str,
        count: int,
        *,
        gap: float,
        allowed: Floats | None = None,
        angle: float | None = None,
    ) -> None:
        """Spread nuclei so that none lies closer than ``gap`` to another of this call."""
        placed: list[tuple[float, float]] = []
        for _ in range(count * 6):
            x, y = self.rng.uniform(2, SIZE - 2, 2)
            if allowed is not None and allowed[int(y), int(x)] < 0.5:
                continue
            if any((x - a) ** 2 + (y - b) ** 2 < gap * gap for a, b in placed):
                continue
            placed.append((float(x), float(y)))
            turn = self.rng.uniform(0, np.pi) if angle is None else angle + self.rng.normal(0, 0.15)
            self.nucleus(
                kind,
                float(x),
                float(y),
                angle=float(turn),
                scale=float(self.rng.uniform(0.85, 1.2)),
            )
            if len(placed) == count:
                return

    def finish(self) -> NDArray[np.uint8]:
        """Slight blur of the lens, stain and sensor noise."""
        rgb = np.stack([blur(self.rgb[..., c], 0.6) for c in range(3)], axis=-1)
        rgb = 250 - (250 - rgb) * self.stain + self.rng.normal(0, 2.5, rgb.shape)
        return np.clip(np.rint(rgb), 0, 255).astype(np.uint8)


def _crop(
    x: float, y: float, along: float, across: float, angle: float
) -> tuple[int, int, int, int]:
    """Box of a nucleus, at least 28 pixels a side and inside the picture."""
    half_x = max(14.0, abs(np.cos(angle)) * along + abs(np.sin(angle)) * across + 3)
    half_y = max(14.0, abs(np.sin(angle)) * along + abs(np.cos(angle)) * across + 3)
    left = int(np.clip(round(x - half_x), 0, SIZE - 2 * half_x))
    top = int(np.clip(round(y - half_y), 0, SIZE - 2 * half_y))
    return left, top, left + int(2 * half_x), top + int(2 * half_y)


def draw_patch(seed: int, split: str, index: int) -> Patch:
    """The patch number ``index`` of a split, one per patient; tissues go round."""
    rng = generator(seed, split, "pathology", index)
    label = LABELS[index % len(LABELS)]
    canvas = PAINTERS[label](rng)
    nuclei = {kind: tuple(boxes) for kind, boxes in canvas.nuclei.items()}
    return Patch(f"PATH-{split[:2].upper()}{index:04d}", label, canvas.finish(), nuclei)


def _adenocarcinoma(rng: np.random.Generator) -> Canvas:
    """Glands: a pale lumen ringed by crowded tumour nuclei, in a loose stroma."""
    canvas = Canvas(rng, (236, 184, 208))
    canvas.scatter("Connective", 14, gap=16, angle=float(rng.uniform(0, np.pi)))
    centres: list[tuple[float, float, float]] = []
    for _ in range(60):
        x, y = rng.uniform(10, SIZE - 10, 2)
        radius = rng.uniform(17, 30)
        if all(np.hypot(x - a, y - b) > radius + r + 13 for a, b, r in centres):
            centres.append((float(x), float(y), float(radius)))
    for x, y, radius in centres[:6]:
        squash, tilt = float(rng.uniform(0.7, 1.0)), float(rng.uniform(0, np.pi))
        dx, dy = canvas.x - x, canvas.y - y
        u, v = np.cos(tilt) * dx + np.sin(tilt) * dy, np.cos(tilt) * dy - np.sin(tilt) * dx
        gap = (np.hypot(u / radius, v / (radius * squash)) - 1) * radius
        gap = gap + smooth_noise(rng, (SIZE, SIZE), cells=(8, 8)) * 1.6
        canvas.paint(soft(gap - 9, 3) * 0.75, (205, 140, 184))
        canvas.paint(soft(gap + 6, 3), (246, 232, 240))
        count = int(radius * 2 * np.pi / 11)
        for turn in np.arange(count) / count * 2 * np.pi + rng.uniform(0, 1):
            r = radius + rng.normal(2.5, 1.5)
            a, b = np.cos(turn) * r, np.sin(turn) * r * squash
            canvas.nucleus(
                "Neoplastic",
                float(x + np.cos(tilt) * a - np.sin(tilt) * b),
                float(y + np.sin(tilt) * a + np.cos(tilt) * b),
                angle=float(turn + tilt),
                scale=float(rng.uniform(0.72, 0.95)),
            )
    return canvas


def _squamous(rng: np.random.Generator) -> Canvas:
    """A sheet of large polygonal cells with keratin pearls and a few lymphocytes."""
    canvas = Canvas(rng, (226, 158, 186))
    points = rng.uniform(0, SIZE, (70, 2)).astype(np.float32)
    distance = np.sqrt(
        (canvas.x[..., None] - points[:, 0]) ** 2 + (canvas.y[..., None] - points[:, 1]) ** 2
    )
    nearest = np.sort(distance, axis=-1)[..., :2]
    canvas.paint(
        np.clip(1 - (nearest[..., 1] - nearest[..., 0]) / 2.2, 0, 1) * 0.6, (246, 214, 228)
    )
    pearls = np.zeros((SIZE, SIZE), np.float32)
    for _ in range(int(rng.integers(1, 3))):
        x, y, radius = rng.uniform(35, 125), rng.uniform(35, 125), rng.uniform(16, 27)
        gap = np.hypot(canvas.x - x, canvas.y - y)
        gap = gap + smooth_noise(rng, (SIZE, SIZE), cells=(6, 6)) * 1.8
        inside = soft(gap - radius, 3)
        canvas.paint(inside, (236, 96, 140))
        canvas.paint(inside * (0.5 + 0.5 * np.cos(gap * 1.25)) * 0.55, (250, 190, 208))
        pearls = np.maximum(pearls, inside)
    for x, y in points:
        if 0 < x < SIZE and 0 < y < SIZE and pearls[int(y), int(x)] < 0.3:
            canvas.nucleus(
                "Neoplastic",
                float(x),
                float(y),
                angle=float(rng.uniform(0, 3)),
                scale=float(rng.uniform(0.75, 1.05)),
            )
    canvas.scatter("Inflammatory", 10, gap=8, allowed=1 - pearls)
    return canvas


def _lymphoid(rng: np.random.Generator) -> Canvas:
    """Packed small dark nuclei, a paler follicle with larger ones."""
    canvas = Canvas(rng, (214, 170, 206))
    x, y, radius = rng.uniform(45, 115), rng.uniform(45, 115), rng.uniform(28, 44)
    centre = soft(np.hypot(canvas.x - x, canvas.y - y) - radius, 8)
    canvas.paint(centre * 0.6, (226, 190, 220))
    canvas.scatter("Inflammatory", 330, gap=7.2, allowed=1 - centre)
    canvas.scatter("Epithelial", 32, gap=11.5, allowed=centre)
    return canvas


def _adipose(rng: np.random.Generator) -> Canvas:
    """Empty round fat cells with thin walls, flat nuclei in the corners."""
    canvas = Canvas(rng, (243, 236, 242))
    points = rng.uniform(-15, SIZE + 15, (34, 2)).astype(np.float32)
    for _ in range(3):  # even out the cells
        away = points[:, None] - points[None]
        gap = np.sqrt((away**2).sum(-1)) + np.eye(len(points), dtype=np.float32) * 1e3
        push = away / gap[..., None] * np.clip(34 - gap, 0, 34)[..., None]
        points = points + 0.25 * push.sum(1)
    distance = np.sqrt(
        (canvas.x[..., None] - points[:, 0]) ** 2 + (canvas.y[..., None] - points[:, 1]) ** 2
    )
    nearest = np.sort(distance, axis=-1)[..., :3]
    wall = nearest[..., 1] - nearest[..., 0]
    canvas.paint(np.clip(1 - (wall - 1.2) / 2.4, 0, 1) * 0.85, (214, 142, 178))
    corner = np.clip(1 - (nearest[..., 2] - nearest[..., 0] - 3) / 5, 0, 1)
    canvas.paint(corner * 0.6, (222, 160, 192))
    canvas.scatter("Connective", 16, gap=22, allowed=np.clip(1.3 - wall / 3, 0, 1))
    canvas.scatter("Inflammatory", 5, gap=15, allowed=corner)
    return canvas


def _muscle(rng: np.random.Generator) -> Canvas:
    """Wavy pink bundles with slender nuclei along them."""
    canvas = Canvas(rng, (232, 142, 170))
    angle = float(rng.uniform(0, np.pi))
    across = -np.sin(angle) * canvas.x + np.cos(angle) * canvas.y
    along = np.cos(angle) * canvas.x + np.sin(angle) * canvas.y
    wave = across + 5 * np.sin(along / 19 + rng.uniform(0, 6))
    wave = wave + 2.5 * smooth_noise(rng, (SIZE, SIZE), cells=(5, 5))
    canvas.paint(np.clip(np.sin(wave * 0.55), 0, 1) * 0.4, (244, 178, 198))
    canvas.paint(np.clip(np.sin(wave * 0.16) - 0.86, 0, 1) * 5 * 0.8, (250, 226, 234))
    canvas.scatter("Connective", 52, gap=13, angle=angle)
    canvas.scatter("Epithelial", 4, gap=20)
    return canvas


def _necrosis(rng: np.random.Generator) -> Canvas:
    """Granular pink debris with shrunken nuclei, a viable edge in one corner."""
    canvas = Canvas(rng, (224, 150, 172))
    for cells, depth in ((55, 10.0), (24, 8.0)):
        grain = smooth_noise(rng, (SIZE, SIZE), cells=(cells, cells))
        canvas.rgb += (grain * depth)[..., None]
    holes = smooth_noise(rng, (SIZE, SIZE), cells=(10, 10))
    canvas.paint(np.clip(holes - 1.35, 0, 1), (246, 228, 236))
    canvas.scatter("Dead", 95, gap=8)
    corner = rng.choice((-10.0, SIZE + 10.0), 2)
    edge = soft(np.hypot(canvas.x - corner[0], canvas.y - corner[1]) - rng.uniform(60, 85), 10)
    canvas.paint(edge * 0.6, (206, 146, 190))
    canvas.scatter("Inflammatory", 26, gap=8, allowed=edge)
    return canvas


PAINTERS: Mapping[str, Callable[[np.random.Generator], Canvas]] = {
    "Adenocarcinoma": _adenocarcinoma,
    "Squamous carcinoma": _squamous,
    "Lymphoid tissue": _lymphoid,
    "Adipose tissue": _adipose,
    "Smooth muscle": _muscle,
    "Necrosis": _necrosis,
}
