"""The prompt of Qwen3-VL-Embedding and MedEmb, character by character. Torch-free.

Owns turns, slots and placeholders (specification 2.2); knows nothing of pixels or tokens' ids.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field

from engine.evidence.item import ModelInput
from engine.models.marks import clean

IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"
VIDEO_OUTER = "<|vision_start|><|video_pad|><|vision_end|>"
VIDEO_STRIPPED = "<|video_pad|>"
END_OF_TEXT = "<|endoftext|>"
NOTHING = "NULL"


def _choice(default: str, *others: str) -> str:
    return field(default=default, metadata={"choices": (default, *others)})


@dataclass(frozen=True)
class QwenSettings:
    """Everything that changes a vector of this family (specification 10).

    Attributes:
        default_instruction: the system turn of an item without instruction.
        instruction_slot: ``system`` (the official slot), ``prefix`` of the user's text, ``drop``.
        append_eot: ``auto`` trusts the tokenizer, ``always`` ends every prompt with exactly one
            end-of-text token, ``never`` with none.
        volume_as: slices as one ``video`` or as ``images``.
        video_wrap: ``stripped`` (no outer vision markers, as in 4.57) or ``outer``.
        max_slices: most slices of a volume.
        min_pixels, max_pixels: area of a picture after its resize.
        slice_max_pixels: the same for a slice shown as a picture.
        video_min_pixels, video_max_pixels: area of a slice shown as video.
        video_total_pixels: area of all slices together, by which the former shrinks.
        max_tokens: longest sequence; a longer item is refused, never cut.
        truncate_dim: keep that many leading numbers of a vector (Matryoshka), 0 keeps all.
        padding_side: changes nothing but the last digits.
    """

    default_instruction: str = "Represent the user's input."
    instruction_slot: str = _choice("system", "prefix", "drop")
    append_eot: str = _choice("auto", "always", "never")
    volume_as: str = _choice("video", "images")
    video_wrap: str = _choice("stripped", "outer")
    max_slices: int = 64
    min_pixels: int = 4 * 32 * 32
    max_pixels: int = 1800 * 32 * 32
    slice_max_pixels: int = 256 * 32 * 32
    video_min_pixels: int = 128 * 32 * 32
    video_max_pixels: int = 768 * 32 * 32
    video_total_pixels: int = 10 * 768 * 32 * 32
    max_tokens: int = 32768
    truncate_dim: int = 0
    padding_side: str = _choice("right", "left")


def punctuate(instruction: str) -> str:
    """Strip an instruction and end it with a full stop unless it ends in punctuation."""
    stripped = instruction.strip()
    if stripped and not unicodedata.category(stripped[-1]).startswith("P"):
        return f"{stripped}."
    return stripped


def prompt(item: ModelInput, settings: QwenSettings, *, tokens: Collection[str]) -> str:
    """The whole templated string of one item, one placeholder per picture or volume.

    Args:
        item: its pixels are only counted.
        settings: slots and wraps.
        tokens: control tokens that a user's text must not contain.
    """
    instruction = punctuate(clean(item.instruction or "", tokens))
    prefix = instruction if settings.instruction_slot == "prefix" else ""
    system = instruction if settings.instruction_slot == "system" else ""
    return (
        f"<|im_start|>system\n{system or settings.default_instruction}<|im_end|>\n"
        f"<|im_start|>user\n{_content(item, settings, prefix, tokens)}<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def _content(item: ModelInput, settings: QwenSettings, prefix: str, tokens: Collection[str]) -> str:
    if not (item.texts or item.images or item.volumes):
        return f"{prefix} {NOTHING}" if prefix else NOTHING
    text = "".join(clean(text, tokens) for text in item.texts)
    if prefix:
        text = f"{prefix} {text}" if text else prefix
    return _volumes(item, settings) + IMAGE * len(item.images) + text


def _volumes(item: ModelInput, settings: QwenSettings) -> str:
    if settings.volume_as == "images":
        return IMAGE * sum(len(volume) for volume in item.volumes)
    wrap = VIDEO_STRIPPED if settings.video_wrap == "stripped" else VIDEO_OUTER
    return wrap * len(item.volumes)
