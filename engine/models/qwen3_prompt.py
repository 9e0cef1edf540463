"""The prompt of Qwen3-VL-Embedding and MedEmb, character by character. Torch-free.

Owns turns, slots and placeholders (specification 2.2); knows nothing of pixels or tokens' ids.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

from engine.evidence.item import ModelInput
from engine.models.marks import clean
from engine.models.settings import Settings

IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"
VIDEO_OUTER = "<|vision_start|><|video_pad|><|vision_end|>"
VIDEO_STRIPPED = "<|video_pad|>"
END_OF_TEXT = "<|endoftext|>"
NOTHING = "NULL"


def punctuate(instruction: str) -> str:
    """Strip an instruction and end it with a full stop unless it ends in punctuation."""
    stripped = instruction.strip()
    if stripped and not unicodedata.category(stripped[-1]).startswith("P"):
        return f"{stripped}."
    return stripped


def prompt(item: ModelInput, settings: Settings, *, tokens: Collection[str]) -> str:
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


def _content(item: ModelInput, settings: Settings, prefix: str, tokens: Collection[str]) -> str:
    if not (item.texts or item.images or item.volumes):
        return f"{prefix} {NOTHING}" if prefix else NOTHING
    text = "".join(clean(text, tokens) for text in item.texts)
    if prefix:
        text = f"{prefix} {text}" if text else prefix
    return _volumes(item, settings) + IMAGE * len(item.images) + text


def _volumes(item: ModelInput, settings: Settings) -> str:
    if settings.volume_as == "images":
        return IMAGE * sum(len(volume) for volume in item.volumes)
    wrap = VIDEO_STRIPPED if settings.video_wrap == "stripped" else VIDEO_OUTER
    return wrap * len(item.volumes)
