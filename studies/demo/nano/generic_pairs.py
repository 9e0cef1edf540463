"""Generic generated pictures with captions: what the two generalist nanos are trained on.

Owns shapes, colours, places, surfaces and blocks of slices with no medical meaning. Nothing here
comes from the demo's patients; no files, everything in memory, one seed one stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.evidence.item import ModelInput

SIDE = 96
SHAPES = ("disc", "square", "triangle", "ring", "cross", "bar", "ellipse", "star")
COLOURS = {
    "red": (220, 50, 40),
    "green": (60, 180, 75),
    "blue": (50, 80, 220),
    "yellow": (235, 220, 60),
    "purple": (150, 60, 180),
    "orange": (240, 140, 40),
    "pink": (235, 160, 190),
    "white": (245, 245, 245),
    "gray": (130, 130, 130),
    "black": (15, 15, 15),
}
GREYS = ("white", "gray", "black")
SURFACES = ("plain", "striped", "dotted", "noisy", "shaded", "cloudy")
ROWS = ("upper", "middle", "lower")
COLUMNS = ("left", "central", "right")
DEPTHS = ("first", "middle", "last")
SIZES = {"small": 0.14, "medium-sized": 0.20, "large": 0.28}
FloatArray = NDArray[np.floating]


@dataclass(frozen=True)
class GenericPair:
    """A query and its target, as ``engine.train`` wants them."""

    task: str
    query: ModelInput
    target: ModelInput
    group: str

    @property
    def family(self) -> str:
        """All of one family: none of the benchmark's."""
        return "generic"


@dataclass(frozen=True)
class Scene:
    """What a picture shows, before it is drawn."""

    shape: str
    colour: str
    size: str
    row: int
    column: int
    depth: int
    surface: str
    ground: str

    def caption(self) -> str:
        """One sentence with everything that is seen."""
        return (
            f"A {self.size} {self.colour} {self.shape} in the {ROWS[self.row]} "
            f"{COLUMNS[self.column]} part on a {self.surface} {self.ground} ground."
        )

    def volume_caption(self) -> str:
        """The caption of a block of slices."""
        return (
            f"A {self.size} {self.colour} {self.shape} in the {ROWS[self.row]} "
            f"{COLUMNS[self.column]} part, in the {DEPTHS[self.depth]} slices."
        )

    def label(self) -> str:
        """The class: the shape."""
        return self.shape


def random_scene(rng: np.random.Generator, *, grey: bool | None = None) -> Scene:
    """Draw a scene; ``grey`` fixes whether it has colours."""
    grey = bool(rng.random() < 0.5) if grey is None else grey
    names = GREYS if grey else tuple(COLOURS)
    colour, ground = rng.choice(names, size=2, replace=False)
    row, column, depth = (int(value) for value in rng.integers(0, 3, size=3))
    return Scene(
        shape=str(rng.choice(SHAPES)),
        colour=str(colour),
        size=str(rng.choice(tuple(SIZES))),
        row=row,
        column=column,
        depth=depth,
        surface=str(rng.choice(SURFACES)),
        ground=str(ground),
    )


def draw(scene: Scene, rng: np.random.Generator) -> NDArray[np.uint8]:
    """The scene as a picture [96, 96, 3], a little different at every call."""
    ground_HWC = (
        np.array(COLOURS[scene.ground], np.float32) * _surface(scene.surface, rng)[..., None]
    )
    inside_HW = _inside(scene, rng)[..., None]
    colour = np.array(COLOURS[scene.colour], np.float32) * rng.uniform(0.85, 1.1)
    picture = ground_HWC * (1 - inside_HW) + colour * inside_HW
    picture += rng.normal(0, rng.uniform(1, 10), picture.shape[:2])[..., None]
    return np.clip(picture, 0, 255).astype(np.uint8)


def draw_slices(
    scene: Scene, rng: np.random.Generator, *, count: int, inverted: bool = False
) -> NDArray[np.uint8]:
    """The scene as a block of slices [S, 96, 96, 3]; the shape fills about a third of them."""
    inside_HW = _inside(scene, rng)
    centre = (scene.depth + 0.5) / 3 + rng.uniform(-0.06, 0.06)
    along_S = np.clip(1.3 - np.abs((np.arange(count) + 0.5) / count - centre) / 0.14, 0, 1)
    ground = float(np.mean(COLOURS[scene.ground]))
    colour = float(np.mean(COLOURS[scene.colour]))
    base_HW = ground * _surface(scene.surface, rng)
    inside_SHW = inside_HW[None] * along_S[:, None, None].astype(np.float32)
    block = base_HW * (1 - inside_SHW) + colour * inside_SHW
    block += rng.normal(0, rng.uniform(1, 8), block.shape)
    block = 255 - block if inverted else block
    grey = np.clip(block, 0, 255).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=-1)


def _grid() -> tuple[FloatArray, FloatArray]:
    axis = (np.arange(SIDE, dtype=np.float32) + 0.5) / SIDE
    y_HW, x_HW = np.meshgrid(axis, axis, indexing="ij")
    return y_HW, x_HW


def _inside(scene: Scene, rng: np.random.Generator) -> FloatArray:
    """Soft membership of the shape, [96, 96] in 0..1."""
    y_HW, x_HW = _grid()
    radius = SIZES[scene.size] * rng.uniform(0.9, 1.1)
    y = (y_HW - (scene.row + 0.5) / 3 - rng.uniform(-0.05, 0.05)) / radius
    x = (x_HW - (scene.column + 0.5) / 3 - rng.uniform(-0.05, 0.05)) / radius
    turn = rng.uniform(0, 2 * np.pi) if scene.shape in ("bar", "ellipse", "cross") else 0.0
    y, x = np.cos(turn) * y + np.sin(turn) * x, np.cos(turn) * x - np.sin(turn) * y
    edge = _edge(scene.shape, y.astype(np.float32), x.astype(np.float32))
    return np.clip(edge * radius * SIDE + 0.5, 0, 1).astype(np.float32)


def _edge(shape: str, y: FloatArray, x: FloatArray) -> FloatArray:
    """Signed distance-like value, positive inside, for a shape of radius 1."""
    far = np.hypot(y, x)
    edges: dict[str, Callable[[], FloatArray]] = {
        "disc": lambda: 1 - far,
        "square": lambda: 0.85 - np.maximum(abs(y), abs(x)),
        "triangle": lambda: np.minimum(0.7 - y, (y + 1.0) * 0.5 - abs(x) * 0.87),
        "ring": lambda: 0.25 - abs(far - 0.8),
        "cross": lambda: np.minimum(0.28 - np.minimum(abs(y), abs(x)), 1.0 - far),
        "bar": lambda: np.minimum(0.25 - abs(y), 1.2 - abs(x)),
        "ellipse": lambda: 1 - np.hypot(y * 1.9, x * 0.9),
        "star": lambda: 0.62 + 0.38 * np.cos(5 * np.arctan2(x, -y)) - far,
    }
    return edges[shape]()


def _surface(surface: str, rng: np.random.Generator) -> FloatArray:
    """Brightness of the ground, [96, 96] about 1."""
    y_HW, x_HW = _grid()
    angle, waves = rng.uniform(0, np.pi), rng.uniform(5, 10)
    along = np.cos(angle) * x_HW + np.sin(angle) * y_HW
    phase = rng.uniform(0, 2 * np.pi)
    if surface == "striped":
        return 0.8 + 0.3 * np.sign(np.sin(2 * np.pi * waves * along + phase))
    if surface == "dotted":
        dots = np.sin(2 * np.pi * waves * x_HW + phase) * np.sin(2 * np.pi * waves * y_HW + phase)
        return 0.8 + 0.5 * (dots > 0.5)
    if surface == "noisy":
        return (0.9 + rng.normal(0, 0.25, (SIDE, SIDE))).astype(np.float32)
    if surface == "shaded":
        return (0.5 + 0.7 * (along - along.min())).astype(np.float32)
    if surface == "cloudy":
        return 0.6 + 0.7 * _clouds(rng)
    return np.ones((SIDE, SIDE), np.float32)


def _clouds(rng: np.random.Generator) -> FloatArray:
    """Smooth random field in 0..1 from a few random waves."""
    y_HW, x_HW = _grid()
    field = np.zeros((SIDE, SIDE), np.float32)
    for _ in range(6):
        fy, fx, phase = rng.uniform(-4, 4), rng.uniform(-4, 4), rng.uniform(0, 6.3)
        field += np.sin(2 * np.pi * (fy * y_HW + fx * x_HW) + phase).astype(np.float32)
    return (field - field.min()) / (np.ptp(field) + 1e-6)


QUESTIONS: dict[str, Callable[[Scene], str]] = {
    "What shape is shown in this image?": lambda s: s.shape,
    "Which colour has the object in this image?": lambda s: s.colour,
    "Where is the object in this image?": lambda s: f"{ROWS[s.row]} {COLUMNS[s.column]}",
    "How large is the object in this image?": lambda s: s.size,
    "On which side is the object?": lambda s: COLUMNS[s.column],
    "What is the ground like?": lambda s: s.surface,
}
NO_TEXT: tuple[str, ...] = ()


def _text(text: str, instruction: str | None = None) -> ModelInput:
    return ModelInput(instruction, (text,), (), ())


def _image(
    picture: NDArray[np.uint8], instruction: str | None = None, texts: tuple[str, ...] = NO_TEXT
) -> ModelInput:
    return ModelInput(instruction, texts, (picture,), ())


def _volume(
    slices: NDArray[np.uint8], instruction: str | None = None, texts: tuple[str, ...] = NO_TEXT
) -> ModelInput:
    return ModelInput(instruction, texts, (), (slices,))


def _pair(
    task: str,
    query: ModelInput,
    target: ModelInput,
    *,
    rng: np.random.Generator,
    group: str | None = None,
) -> GenericPair:
    """Equal texts are one target; other targets stand alone unless a group is given."""
    if group is None:
        group = target.texts[0].lower() if target.texts else f"{rng.integers(2**62)}"
    return GenericPair(task, query, target, group)


def _same_class(rng: np.random.Generator) -> GenericPair:
    first = random_scene(rng)
    second = replace(random_scene(rng), shape=first.shape)
    wish = "Find the same category image with the provided image:"
    return _pair(
        "same class",
        _image(draw(first, rng), wish),
        _image(draw(second, rng)),
        rng=rng,
        group=first.shape,
    )


def _label(rng: np.random.Generator) -> GenericPair:
    scene = random_scene(rng)
    wish = "Represent the given image with the following question:"
    query = _image(draw(scene, rng), wish, ("What is the category observed in this image?",))
    return _pair("label", query, _text(scene.label()), rng=rng)


def _answer(rng: np.random.Generator) -> GenericPair:
    scene = random_scene(rng)
    question = str(rng.choice(tuple(QUESTIONS)))
    wish = "Represent the given image with the following question:"
    answer = QUESTIONS[question](scene)
    return _pair("answer", _image(draw(scene, rng), wish, (question,)), _text(answer), rng=rng)


def _caption(rng: np.random.Generator) -> GenericPair:
    scene = random_scene(rng)
    wish = "Find a caption describing the given image:"
    return _pair("caption", _image(draw(scene, rng), wish), _text(scene.caption()), rng=rng)


def _picture(rng: np.random.Generator) -> GenericPair:
    scene = random_scene(rng)
    wish = "Find an image that matches the given caption:"
    text = scene.caption() if rng.random() < 0.7 else scene.label()
    return _pair("picture", _text(text, wish), _image(draw(scene, rng)), rng=rng)


def _region(rng: np.random.Generator) -> GenericPair:
    scene = random_scene(rng)
    picture = draw(scene, rng)
    top, left = (SIDE // 3) * scene.row, (SIDE // 3) * scene.column
    crop = picture[top : top + SIDE // 3, left : left + SIDE // 3]
    wish = "Locate the specific region that corresponds to the provided text description."
    text = f"The {scene.colour} {scene.shape}."
    return _pair("region", _image(picture, wish, (text,)), _image(crop), rng=rng)


def _text_to_text(rng: np.random.Generator) -> GenericPair:
    scene = random_scene(rng)
    if rng.random() < 0.5:
        wish, target = "Summarize the content of the given context:", f"{scene.size} {scene.shape}"
    else:
        question = str(rng.choice(tuple(QUESTIONS)))
        wish, target = f"Find the answer of the given question: {question}", ""
        target = QUESTIONS[question](scene)
    return _pair("text", _text(scene.caption(), wish), _text(target), rng=rng)


def _slices_caption(rng: np.random.Generator) -> GenericPair:
    scene = random_scene(rng, grey=True)
    wish = "Find a detailed report summarizing the given series:"
    volume = draw_slices(scene, rng, count=_count(rng))
    return _pair("slices", _volume(volume, wish), _text(scene.volume_caption()), rng=rng)


def _slices_contrast(rng: np.random.Generator) -> GenericPair:
    scene = random_scene(rng, grey=True)
    count = _count(rng)
    wish = "Find a series that matches the given series:"
    query = draw_slices(scene, rng, count=count)
    other = draw_slices(scene, rng, count=count, inverted=True)
    return _pair("contrast", _volume(query, wish), _volume(other), rng=rng)


def _slices_projection(rng: np.random.Generator) -> GenericPair:
    scene = random_scene(rng, grey=True)
    volume = draw_slices(scene, rng, count=_count(rng))
    flat = volume.astype(np.float32).mean(axis=0)
    flat = 255 * (flat - flat.min()) / (np.ptp(flat) + 1e-6)
    wish = "Find a series that matches the given image:"
    return _pair("projection", _image(flat.astype(np.uint8), wish), _volume(volume), rng=rng)


def _count(rng: np.random.Generator) -> int:
    """Mostly few slices, for speed; sometimes as many as a model takes."""
    return int(rng.choice((8, 12, 16, 32, 64), p=(0.4, 0.3, 0.2, 0.06, 0.04)))


MAKERS: dict[str, tuple[Callable[[np.random.Generator], GenericPair], float]] = {
    "same class": (_same_class, 2.0),
    "label": (_label, 1.0),
    "answer": (_answer, 1.5),
    "caption": (_caption, 2.0),
    "picture": (_picture, 1.5),
    "region": (_region, 1.0),
    "text": (_text_to_text, 1.0),
    "slices": (_slices_caption, 0.8),
    "contrast": (_slices_contrast, 0.6),
    "projection": (_slices_projection, 0.6),
}


def generic_pairs(*, seed: int, count: int) -> Iterator[GenericPair]:
    """Yield ``count`` pairs of all kinds in a random order that the seed fixes."""
    rng = np.random.default_rng([seed, 2511])
    makers = [maker for maker, _ in MAKERS.values()]
    shares = np.array([share for _, share in MAKERS.values()])
    for _ in range(count):
        yield makers[int(rng.choice(len(makers), p=shares / shares.sum()))](rng)


def generic_texts(*, seed: int, count: int) -> list[str]:
    """Every text that ``count`` pairs carry, for the vocabularies."""
    texts: list[str] = []
    for pair in generic_pairs(seed=seed, count=count):
        for item in (pair.query, pair.target):
            texts += [*item.texts, *([item.instruction] if item.instruction else [])]
    return texts
