"""Close-up pictures of skin lesions: six diagnoses.

Owns the lesions' shapes, colours and structures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.demo.shapes import Floats, blur, generator, smooth_noise, soft

LABELS = (
    "Melanoma",
    "Melanocytic nevus",
    "Basal cell carcinoma",
    "Seborrheic keratosis",
    "Vascular lesion",
    "Dermatofibroma",
)
SIZE = 160


@dataclass(frozen=True, eq=False)
class Lesion:
    """One picture: pseudonymous patient, diagnosis, uint8 [H, W, 3]."""

    patient: str
    label: str
    pixels: NDArray[np.uint8]


class Skin:
    """A picture in the making: bare skin with its furrows, and a place for the lesion."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        axis = np.arange(SIZE, dtype=np.float32) + 0.5
        self.x, self.y = axis[None, :], axis[:, None]
        tone = rng.uniform(0, 1)
        base = np.array((232, 188, 166)) * (1 - tone) + np.array((206, 148, 120)) * tone
        furrows = np.abs(self.noise(34)) * -4 + self.noise(5) * 5 + self.noise(60) * 2
        self.rgb: Floats = (base[None, None] + furrows[..., None] * (1, 1.05, 1.1)).astype(
            np.float32
        )
        self.cx, self.cy = (float(v) for v in rng.uniform(70, 90, 2))

    def noise(self, cells: int) -> Floats:
        """A smooth field over the picture."""
        return smooth_noise(self.rng, (SIZE, SIZE), cells=(cells, cells))

    def gap(self, radius: float, *, rough: float, squash: float = 0.85) -> Floats:
        """Signed distance to a lesion's border of a given raggedness."""
        turn = float(self.rng.uniform(0, np.pi))
        dx, dy = self.x - self.cx, self.y - self.cy
        u = np.cos(turn) * dx + np.sin(turn) * dy
        v = (np.cos(turn) * dy - np.sin(turn) * dx) / squash
        ragged = self.noise(5) * rough + self.noise(11) * rough * 0.4
        return np.hypot(u, v).astype(np.float32) - radius + ragged * radius

    def paint(self, cover: Floats, color: tuple[int, int, int] | Floats) -> None:
        """Blend a colour in."""
        self.rgb += cover[..., None] * (np.asarray(color, np.float32) - self.rgb)

    def hair(self, count: int) -> None:
        """Dark curved hairs across the picture."""
        for _ in range(count):
            angle, bend = self.rng.uniform(0, np.pi), self.rng.uniform(-0.006, 0.006)
            px, py = self.rng.uniform(0, SIZE, 2)
            along = np.cos(angle) * (self.x - px) + np.sin(angle) * (self.y - py)
            across = np.cos(angle) * (self.y - py) - np.sin(angle) * (self.x - px)
            line = np.clip(1.1 - np.abs(across - bend * along**2), 0, 1)
            length = self.rng.uniform(35, 90)
            self.paint(line * soft(np.abs(along) - length, 8) * 0.75, (58, 40, 34))

    def finish(self) -> NDArray[np.uint8]:
        """Light falls off to the corners; slight blur and grain."""
        radius = np.hypot(self.x - SIZE / 2, self.y - SIZE / 2) / (SIZE * 0.71)
        rgb = np.stack([blur(self.rgb[..., c], 0.55) for c in range(3)], axis=-1)
        rgb = rgb * (1.03 - 0.22 * radius[..., None] ** 2.5)
        rgb = rgb + self.rng.normal(0, 2.2, rgb.shape)
        return np.clip(np.rint(rgb), 0, 255).astype(np.uint8)


def draw_lesion(seed: int, split: str, index: int) -> Lesion:
    """The picture number ``index`` of a split, one per patient; diagnoses go round."""
    rng = generator(seed, split, "skin", index)
    label = LABELS[index % len(LABELS)]
    skin = Skin(rng)
    PAINTERS[label](skin)
    skin.hair(int(rng.choice((0, 0, 0, 2, 4))))
    return Lesion(f"SKIN-{split[:2].upper()}{index:04d}", label, skin.finish())


def _melanoma(skin: Skin) -> None:
    """Large, ragged, asymmetric, several colours with a blue-white veil."""
    rng = skin.rng
    gap = skin.gap(float(rng.uniform(42, 54)), rough=0.20, squash=float(rng.uniform(0.65, 0.85)))
    skin.paint(soft(gap, 5), (112, 70, 50))
    patch = skin.noise(4)
    inside = soft(gap + 4, 5)
    skin.paint(inside * np.clip(patch * 0.8 + 0.3, 0, 1), (42, 26, 24))
    skin.paint(inside * np.clip(skin.noise(3) - 0.6, 0, 1) * 0.75, (122, 128, 152))
    skin.paint(inside * np.clip(skin.noise(4) - 0.9, 0, 1) * 0.7, (176, 84, 74))
    for _ in range(int(rng.integers(8, 18))):
        angle, reach = rng.uniform(0, 2 * np.pi), rng.uniform(30, 56)
        x, y = skin.cx + np.cos(angle) * reach, skin.cy + np.sin(angle) * reach
        skin.paint(
            soft(np.hypot(skin.x - x, skin.y - y) - rng.uniform(1.5, 3.2), 2) * 0.8, (50, 30, 26)
        )


def _nevus(skin: Skin) -> None:
    """Small, round, even brown with a regular net."""
    gap = skin.gap(float(skin.rng.uniform(24, 34)), rough=0.04, squash=0.92)
    skin.paint(soft(gap, 9), (150, 98, 68))
    net = np.abs(skin.noise(30))
    skin.paint(soft(gap, 8) * np.clip(1 - net * 2.2, 0, 1) * 0.55, (98, 60, 42))
    skin.paint(soft(gap + 14, 12) * 0.45, (104, 64, 44))


def _basal_cell(skin: Skin) -> None:
    """Pearly pink, branching vessels, a small ulcer, blue-grey dots."""
    rng = skin.rng
    gap = skin.gap(float(rng.uniform(34, 46)), rough=0.10)
    skin.paint(soft(gap, 8) * 0.85, (232, 164, 160))
    skin.paint(np.clip(1 - np.abs(gap + 4) / 6, 0, 1) * 0.55, (250, 218, 210))
    for _ in range(9):
        angle, bend = rng.uniform(0, np.pi), rng.uniform(-0.02, 0.02)
        px, py = skin.cx + rng.normal(0, 16), skin.cy + rng.normal(0, 16)
        along = np.cos(angle) * (skin.x - px) + np.sin(angle) * (skin.y - py)
        across = np.cos(angle) * (skin.y - py) - np.sin(angle) * (skin.x - px)
        wave = across - bend * along**2 - 2 * np.sin(along / 5)
        line = np.clip(1.7 - np.abs(wave), 0, 1) * soft(np.abs(along) - rng.uniform(10, 24), 6)
        skin.paint(line * soft(gap, 4) * 0.8, (186, 44, 52))
    x, y = skin.cx + rng.normal(0, 8), skin.cy + rng.normal(0, 8)
    ulcer = np.hypot(skin.x - x, skin.y - y) + skin.noise(9) * 2 - rng.uniform(6, 11)
    skin.paint(soft(ulcer, 3) * 0.85, (136, 52, 44))
    for _ in range(6):
        x, y = skin.cx + rng.normal(0, 18), skin.cy + rng.normal(0, 18)
        skin.paint(
            soft(np.hypot(skin.x - x, skin.y - y) - 2.6, 2) * soft(gap, 4) * 0.7, (96, 100, 128)
        )


def _keratosis(skin: Skin) -> None:
    """Waxy, stuck on, sharp border, tan to brown with pale cysts and dark openings."""
    rng = skin.rng
    gap = skin.gap(float(rng.uniform(36, 48)), rough=0.07, squash=float(rng.uniform(0.7, 0.95)))
    skin.paint(soft(gap - 2, 2.5) * 0.5, (120, 84, 58))
    skin.paint(soft(gap, 2), (172, 128, 84))
    warts = np.abs(skin.noise(17))
    skin.paint(soft(gap, 2) * np.clip(1 - warts * 2.4, 0, 1) * 0.8, (104, 68, 42))
    for color, count, radius in (((240, 222, 184), 16, 2.4), ((56, 36, 26), 14, 2.2)):
        for _ in range(count):
            x, y = skin.cx + rng.normal(0, 20), skin.cy + rng.normal(0, 20)
            dot = soft(np.hypot(skin.x - x, skin.y - y) - radius * rng.uniform(0.7, 1.3), 1.6)
            skin.paint(dot * soft(gap + 3, 2) * 0.9, color)


def _vascular(skin: Skin) -> None:
    """Red to purple lagoons with pale walls."""
    rng = skin.rng
    gap = skin.gap(float(rng.uniform(26, 40)), rough=0.06, squash=0.95)
    skin.paint(soft(gap, 5), (176, 40, 56))
    lagoons = skin.noise(13)
    skin.paint(soft(gap + 2, 4) * np.clip(lagoons * 1.5, 0, 1), (112, 18, 48))
    skin.paint(
        soft(gap + 1, 4) * np.clip(1 - np.abs(lagoons + 0.3) * 6, 0, 1) * 0.6, (224, 132, 132)
    )
    skin.paint(soft(gap - 6, 12) * 0.25, (214, 96, 92))


def _fibroma(skin: Skin) -> None:
    """A pale scar in the middle of a faint brown ring."""
    gap = skin.gap(float(skin.rng.uniform(30, 40)), rough=0.05, squash=0.95)
    skin.paint(soft(gap, 12) * 0.75, (176, 118, 92))
    net = np.abs(skin.noise(34))
    ring = np.clip(1 - np.abs(gap + 7) / 11, 0, 1)
    skin.paint(ring * np.clip(1 - net * 2, 0, 1) * 0.6, (118, 76, 58))
    white = skin.noise(24) * 0.25
    skin.paint(soft(gap + 19 + white * 8, 9) * 0.85, (240, 214, 202))


PAINTERS: Mapping[str, Callable[[Skin], None]] = {
    "Melanoma": _melanoma,
    "Melanocytic nevus": _nevus,
    "Basal cell carcinoma": _basal_cell,
    "Seborrheic keratosis": _keratosis,
    "Vascular lesion": _vascular,
    "Dermatofibroma": _fibroma,
}
