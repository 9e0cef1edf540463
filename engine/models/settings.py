"""Every setting that changes a vector: one schema for all families, who states each value, presets.

Owns the table of specification 10 and the ``release`` preset, which repeats what the benchmark
authors' wrappers do. Refuses names a family does not read and values outside the choices.
Torch-free, so that windows and the terminal can show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from engine.errors import ModelError

PAPER, AUTHORS, OURS, RELEASE = "paper", "authors", "ours", "release"
CARD, FOLDER, USER = "card", "folder", "user"
ORIGINS: Mapping[str, str] = {
    PAPER: "stated by the MedHEB paper",
    AUTHORS: "the model authors' code or card",
    OURS: "this project's choice, the paper leaves it open",
    RELEASE: "as the benchmark authors' wrapper has it",
    CARD: "set by the model's card",
    FOLDER: "set by the folder's triptych.json",
    USER: "set for this run",
}
DEFAULT_PRESET = "default"
_AT_LEAST_ONE = ("max_slices", "max_pixels", "slice_max_pixels", "max_tokens")
PRESETS = (DEFAULT_PRESET, RELEASE)


def _one_of(*choices: str) -> Any:
    return field(default=choices[0], metadata={"choices": choices})


@dataclass(frozen=True)
class Settings:
    """The settings of one loaded model; a family reads those that ``DEFAULTS`` gives it.

    Attributes:
        instruction_slot: where a query's instruction goes: the ``system`` turn, a ``prefix`` of
            the text, a text ``field`` of its own (dual towers), or nowhere (``drop``).
        default_instruction: what an item without instruction gets, empty for nothing.
        instruction_join: between a prefix and its text one ``blank`` where neither brings white
            space, nothing (``glued``), or nothing after the prefix lost its outer white space
            (``stripped``, as the benchmark's wrapper of RzenEmbed has it).
        append_eot: ``auto`` trusts the tokenizer, ``always`` ends every prompt with exactly one
            end-of-text token, ``never`` with none.
        positions: three-axis ``mrope`` positions, or ``linear`` ones, equal on the three axes.
        volume_as: slices as one ``video``, as ``images``, or ``pooled`` after the tower.
        video_wrap: ``stripped`` (no outer vision markers, as in 4.57) or ``outer``; of VLM2Vec
            for pictures too.
        interleave: all media before the text, or ``inline`` where the text marks ``<image>``.
        newline_style: the separators of the authors' ``demo``, of their ``mmeb`` evaluation, or
            ``joined``: one blank between what is there, as the benchmark's wrapper has it.
        text_with_media: ``keep`` all of an item, or ``drop`` its text where it has pictures and
            its pictures where it has slices.
        max_slices: most slices of a volume.
        min_pixels: smallest area of a picture after its resize.
        max_pixels: largest area of a picture after its resize.
        slice_min_pixels: the same for a slice shown as a picture.
        slice_max_pixels: the same for a slice shown as a picture.
        resize_with: the authors' processor on ``pillow``, or transformers 4.57's on
            ``torchvision``, whose bicubic rounds otherwise and which makes no squares.
        slice_shrink_pixels: area to which a slice is first shrunk, bilinear; 0 for never.
        video_min_pixels: the same for a slice shown as video.
        video_max_pixels: the same for a slice shown as video.
        video_total_pixels: area of all slices together, by which the former shrinks.
        max_tokens: longest sequence, or longest text of a dual tower.
        over_length: what happens beyond it: ``error``, or ``shorten`` the text, its tail kept, or
            ``keep_special``: as the release, of all but control tokens the first ones only.
        truncate_dim: keep that many leading numbers of a vector (Matryoshka), 0 keeps all.
        preprocess: ``hf`` (squash, the processor's own resize), ``pad_square`` (zeros to a centred
            square first), ``tf_bilinear`` (no antialias, cut to 8 bit).
        query_pool: one vector of BLIP-2's query tokens: their ``mean`` after the projection, the
            ``first``, or ``lavis768`` (the raw first state, 768 numbers).
        fuse: fields of a dual tower: ``mean_of_unit`` vectors, ``mean_raw``, or ``sum``.
        empty_text: an item that is one empty text is ``kept`` as it is, or the word ``null``.
        dtype: the number format preferred on a graphics card.
        padding_side: changes nothing but the last digits.
        seed: of the random vectors.
    """

    instruction_slot: str = _one_of("drop", "prefix", "field", "system")
    default_instruction: str = ""
    instruction_join: str = _one_of("blank", "glued", "stripped")
    append_eot: str = _one_of("auto", "always", "never")
    positions: str = _one_of("mrope", "linear")
    volume_as: str = _one_of("video", "images", "pooled")
    video_wrap: str = _one_of("stripped", "outer")
    interleave: str = _one_of("media_first", "inline")
    newline_style: str = _one_of("demo", "mmeb", "joined")
    text_with_media: str = _one_of("keep", "drop")
    max_slices: int = 64
    min_pixels: int = 0
    max_pixels: int = 0
    slice_min_pixels: int = 0
    slice_max_pixels: int = 0
    resize_with: str = _one_of("pillow", "torchvision")
    slice_shrink_pixels: int = 0
    video_min_pixels: int = 0
    video_max_pixels: int = 0
    video_total_pixels: int = 0
    max_tokens: int = 32768
    over_length: str = _one_of("error", "shorten", "keep_special")
    truncate_dim: int = 0
    preprocess: str = _one_of("hf", "pad_square", "tf_bilinear")
    query_pool: str = _one_of("mean", "first", "lavis768")
    fuse: str = _one_of("mean_of_unit", "mean_raw", "sum")
    empty_text: str = _one_of("kept", "null")
    dtype: str = _one_of("float32", "bfloat16", "float16")
    padding_side: str = _one_of("right", "left")
    seed: int = 1


@dataclass(frozen=True)
class Default:
    """A family's value of a setting, who states it, and what else the family can do."""

    value: Any
    origin: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Used:
    """One setting as it was used, for results and pages.

    Attributes:
        name: of the setting.
        value: a plain value.
        origin: a key of ``ORIGINS``.
    """

    name: str
    value: Any
    origin: str


_QWEN_SLICE = 256 * 32 * 32
_QWEN: Mapping[str, Default] = {
    "instruction_slot": Default("system", AUTHORS, ("system", "prefix", "drop")),
    "default_instruction": Default("Represent the user's input.", AUTHORS),
    "append_eot": Default("auto", OURS, ("auto", "always", "never")),
    "volume_as": Default("video", OURS, ("video", "images")),
    "video_wrap": Default("stripped", OURS, ("stripped", "outer")),
    "interleave": Default("media_first", AUTHORS, ("media_first", "inline")),
    "max_slices": Default(64, PAPER),
    "min_pixels": Default(4 * 32 * 32, AUTHORS),
    "max_pixels": Default(1800 * 32 * 32, AUTHORS),
    "slice_max_pixels": Default(_QWEN_SLICE, OURS),
    "video_min_pixels": Default(128 * 32 * 32, AUTHORS),
    "video_max_pixels": Default(768 * 32 * 32, AUTHORS),
    "video_total_pixels": Default(10 * 768 * 32 * 32, AUTHORS),
    "max_tokens": Default(32768, OURS),
    "over_length": Default("error", OURS, ("error", "shorten", "keep_special")),
    "truncate_dim": Default(0, OURS),
    "dtype": Default("bfloat16", AUTHORS, ("float32", "bfloat16", "float16")),
    "padding_side": Default("right", AUTHORS, ("right", "left")),
}
_TOWERS: Mapping[str, Default] = {
    "instruction_slot": Default("drop", OURS, ("drop", "prefix", "field")),
    "volume_as": Default("pooled", PAPER, ("pooled",)),
    "max_slices": Default(64, PAPER),
    "fuse": Default("mean_of_unit", OURS, ("mean_of_unit", "mean_raw", "sum")),
    "empty_text": Default("kept", OURS, ("kept", "null")),
    "dtype": Default("float32", OURS, ("float32", "bfloat16")),
}

# By family: what it reads and what it does when nobody says otherwise (specification 10).
DEFAULTS: Mapping[str, Mapping[str, Default]] = {
    "qwen3-vl-embedding": _QWEN,
    "medemb": {
        **_QWEN,
        "append_eot": Default("auto", PAPER, ("auto", "always", "never")),
    },
    "siglip": {
        **_TOWERS,
        "preprocess": Default("hf", OURS, ("hf", "pad_square", "tf_bilinear")),
        "max_tokens": Default(64, AUTHORS),
    },
    "blip2": {
        **_TOWERS,
        "query_pool": Default("mean", OURS, ("mean", "first", "lavis768")),
        "max_tokens": Default(32, AUTHORS),
    },
    "medimageinsight": {**_TOWERS, "max_tokens": Default(77, AUTHORS)},
    "vlm2vec": {
        "instruction_slot": Default("prefix", AUTHORS, ("prefix", "drop")),
        "default_instruction": Default("", AUTHORS),
        "newline_style": Default("demo", OURS, ("demo", "mmeb", "joined")),
        "empty_text": Default("kept", AUTHORS, ("kept", "null")),
        "positions": Default("linear", AUTHORS, ("linear", "mrope")),
        "volume_as": Default("video", OURS, ("video", "images")),
        "video_wrap": Default("stripped", AUTHORS, ("stripped", "outer")),
        "max_slices": Default(64, PAPER),
        "min_pixels": Default(4 * 28 * 28, AUTHORS),
        "max_pixels": Default(1280 * 28 * 28, AUTHORS),
        "slice_max_pixels": Default(1280 * 28 * 28, AUTHORS),
        "resize_with": Default("pillow", AUTHORS, ("pillow", "torchvision")),
        "slice_shrink_pixels": Default(0, AUTHORS),
        "max_tokens": Default(32768, AUTHORS),
        "over_length": Default("error", OURS, ("error", "shorten")),
        "dtype": Default("bfloat16", AUTHORS, ("float32", "bfloat16", "float16")),
        "padding_side": Default("right", OURS, ("right", "left")),
    },
    "rzenembed": {
        "instruction_slot": Default("prefix", AUTHORS, ("prefix", "drop")),
        "default_instruction": Default("", OURS),
        "instruction_join": Default("blank", OURS, ("blank", "glued", "stripped")),
        "text_with_media": Default("keep", AUTHORS, ("keep", "drop")),
        "empty_text": Default("kept", AUTHORS, ("kept", "null")),
        "positions": Default("linear", AUTHORS, ("linear", "mrope")),
        "volume_as": Default("images", AUTHORS, ("images",)),
        "max_slices": Default(64, PAPER),
        "min_pixels": Default(256 * 28 * 28, AUTHORS),
        "max_pixels": Default(1280 * 28 * 28, AUTHORS),
        "slice_min_pixels": Default(160 * 28 * 28, AUTHORS),
        "slice_max_pixels": Default(180 * 28 * 28, AUTHORS),
        "max_tokens": Default(12288, OURS),
        "over_length": Default("error", OURS, ("error", "shorten")),
        "dtype": Default("bfloat16", AUTHORS, ("float32", "bfloat16", "float16")),
        "padding_side": Default("right", AUTHORS, ("right", "left")),
    },
    "sentence-transformers": {
        "instruction_slot": Default("prefix", OURS, ("prefix", "drop")),
        "volume_as": Default("pooled", OURS, ("pooled",)),
        "max_slices": Default(64, PAPER),
        "fuse": Default("mean_of_unit", OURS, ("mean_of_unit", "mean_raw", "sum")),
        "truncate_dim": Default(0, OURS),
        "dtype": Default("float32", OURS, ("float32", "bfloat16", "float16")),
    },
    "random": {"max_slices": Default(64, PAPER), "seed": Default(1, OURS)},
}

# What the benchmark authors' wrappers do otherwise (medheb_release.md, section 3).
_QWEN_RELEASE = {"max_tokens": 10240, "over_length": "keep_special", "dtype": "bfloat16"}
RELEASES: Mapping[str, Mapping[str, Any]] = {
    "qwen3-vl-embedding": _QWEN_RELEASE,
    "medemb": _QWEN_RELEASE,
    "siglip": {
        "instruction_slot": "field", "fuse": "mean_raw", "empty_text": "null", "dtype": "bfloat16",
    },
    "blip2": {
        "instruction_slot": "field", "fuse": "mean_of_unit", "query_pool": "mean",
        "max_slices": 32, "max_tokens": 64, "empty_text": "null", "dtype": "bfloat16",
    },
    "vlm2vec": {
        "newline_style": "joined", "empty_text": "null", "positions": "mrope",
        "video_wrap": "outer", "max_slices": 64, "max_pixels": 16384 * 28 * 28,
        "slice_max_pixels": 16384 * 28 * 28, "slice_shrink_pixels": 360 * 420,
        "resize_with": "torchvision", "dtype": "bfloat16", "padding_side": "left",
    },
    "rzenembed": {
        "default_instruction": "Represent the user's input.", "instruction_join": "stripped",
        "text_with_media": "drop", "empty_text": "null", "max_tokens": 32768, "dtype": "bfloat16",
    },
}  # fmt: skip
NO_RELEASE = "The benchmark's release has no wrapper for this family; its defaults are used."


def defaults_of(family: str) -> Mapping[str, Default]:
    """The settings a family reads.

    Raises:
        ModelError: no such family.
    """
    if family not in DEFAULTS:
        raise ModelError(f"There is no model family {family!r}; known are {', '.join(DEFAULTS)}.")
    return DEFAULTS[family]


def settle(
    family: str,
    layers: Mapping[str, Mapping[str, object] | None] | None = None,
    *,
    preset: str = DEFAULT_PRESET,
) -> tuple[Settings, tuple[Used, ...]]:
    """Lay settings over a family's defaults.

    Args:
        family: decides which settings there are.
        layers: origin to settings, later ones winning, for example ``{CARD: {...}, USER: {...}}``.
        preset: ``default``, or ``release``: the authors' wrappers, over the defaults and below
            the layers.

    Returns:
        The settings, and each one the family reads with its origin, in the schema's order.

    Raises:
        ModelError: a preset, name or value that this family does not know.
    """
    known = defaults_of(family)
    if preset not in PRESETS:
        raise ModelError(f"There is no preset {preset!r}; say one of {', '.join(PRESETS)}.")
    used = {name: Used(name, one.value, one.origin) for name, one in known.items()}
    over: dict[str, Mapping[str, object] | None] = {}
    if preset == RELEASE:
        over[RELEASE] = RELEASES.get(family, {})
    for origin, layer in {**over, **(layers or {})}.items():
        if layer is not None and not isinstance(layer, Mapping):
            raise ModelError(f"The settings {ORIGINS[origin]} are no object of names and values.")
        for name, value in (layer or {}).items():
            check(family, name, value)
            used[name] = Used(name, value, origin)
    values = Settings(**{name: one.value for name, one in used.items()})
    order = [one.name for one in fields(Settings) if one.name in used]
    return values, tuple(used[name] for name in order)


def check(family: str, name: str, value: object) -> None:
    """Hold one setting to its family, type and choices.

    Raises:
        ModelError: it does not fit; the message says what would.
    """
    known = defaults_of(family)
    if name not in known:
        raise ModelError(
            f"The setting {name!r} is not known to this model family; "
            f"it knows {', '.join(sorted(known))}."
        )
    kind = type(known[name].value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ModelError(f"The setting {name} must be of type {kind.__name__}, not {value!r}.")
    choices = known[name].choices
    if choices and value not in choices:
        raise ModelError(f"The setting {name} is one of {', '.join(choices)}, not {value!r}.")
    if isinstance(value, int) and value < 0:
        raise ModelError(f"The setting {name} cannot be negative, as {value} is.")
    if value == 0 and name in _AT_LEAST_ONE:
        raise ModelError(f"The setting {name} must be at least 1, not 0.")


def settings_of(family: str, **values: object) -> Settings:
    """A family's settings with some values of the caller's own."""
    return settle(family, {USER: values})[0]
