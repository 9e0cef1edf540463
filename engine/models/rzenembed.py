"""RzenEmbed, which is Qwen2-VL under one fixed chat prompt (specification 8).

Owns the prompt and the two resizes of a picture; the rest is ``qwen2_vl``. Every slice is a
picture of its own. Refuses a tokenizer without the prompt's control tokens.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.errors import WeightsRefused
from engine.evidence.item import ModelInput
from engine.models.marks import clean, neutralise
from engine.models.qwen2_vl import FACTOR, Qwen2VLEncoder, Row, load_encoder
from engine.models.record import Loading
from engine.models.resize import MOST_ELONGATED, bicubic, rounded, smart_resize
from engine.models.settings import Settings

OPENING = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n"
CLOSING = "<|im_end|>\n<|im_start|>assistant\n<|endoftext|>"
PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"
CONTROL = (
    "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|endoftext|>",
)  # fmt: skip
NOTHING = "NULL"
FIRST_MIN, FIRST_MAX = 4 * FACTOR**2, 16384 * FACTOR**2
MARKERS = 2  # around a picture's tokens
TOKENS_AROUND = 24  # the turns, about
ENDING = "The prompt itself ends in one <|endoftext|>, as the authors write it."

Picture = NDArray[np.uint8]


def compose(item: ModelInput, settings: Settings, tokens: Collection[str]) -> Row:
    """Prompt and pixels of one item.

    Args:
        item: what to embed.
        settings: of this family.
        tokens: control tokens that a user's words must not contain.
    """
    pictures, listed = shown(item, settings)
    instruction, text = words(item, settings, tokens, alone=not pictures)
    return Row(
        head=OPENING + PICTURE * len(pictures) + instruction,
        text=text,
        tail=CLOSING,
        images=tuple(resize(one, settings, listed=listed) for one in pictures),
    )


def shown(item: ModelInput, settings: Settings) -> tuple[tuple[Picture, ...], bool]:
    """The pictures of an item, slices first, and whether the authors' call takes them as a list.

    They hand over one picture, or a list with limits of its own. There a list in a batch changes
    the limits of every picture in it; here an item alone decides on its own.
    """
    slices = tuple(one for volume in item.volumes for one in volume)
    images = item.images
    if slices and settings.text_with_media == "drop":
        images = ()
    return (*slices, *images), bool(slices) or len(images) > 1


def words(
    item: ModelInput, settings: Settings, tokens: Collection[str], *, alone: bool
) -> tuple[str, str]:
    """Instruction and text as they follow the pictures, look-alikes of control tokens broken up.

    Args:
        item: its pixels are not looked at.
        settings: of this family.
        tokens: control tokens.
        alone: the item has no picture.
    """
    text = neutralise("".join(clean(one, tokens) for one in item.texts), tokens)
    if not alone and settings.text_with_media == "drop":
        text = ""
    if alone and not text and settings.empty_text == "null":
        text = NOTHING
    instruction = _instruction(item, settings, tokens)
    if not (instruction and text):
        return instruction, text
    touching = not (instruction[-1].isspace() or text[0].isspace())
    # two harmless halves can make a control token where they meet
    whole = instruction + text
    if (touching and settings.instruction_join == "blank") or neutralise(whole, tokens) != whole:
        text = f" {text}"
    return instruction, text


def _instruction(item: ModelInput, settings: Settings, tokens: Collection[str]) -> str:
    if settings.instruction_slot == "drop":
        return ""
    given = clean(item.instruction or "", tokens) or settings.default_instruction
    return given.strip() if settings.instruction_join == "stripped" else given


def first_size(height: int, width: int) -> tuple[int, int]:
    """Size of a picture after the authors' own resize, which squashes one that is too long."""
    rows, columns = rounded(
        height, width, factor=FACTOR, min_pixels=FIRST_MIN, max_pixels=FIRST_MAX
    )
    return min(rows, MOST_ELONGATED * columns), min(columns, MOST_ELONGATED * rows)


def size(height: int, width: int, settings: Settings, *, listed: bool) -> tuple[int, int]:
    """Size of a picture after the processor's resize, the second."""
    least, most = settings.min_pixels, settings.max_pixels
    if listed:
        least, most = settings.slice_min_pixels, settings.slice_max_pixels
    first = first_size(height, width)
    return smart_resize(*first, factor=FACTOR, min_pixels=least, max_pixels=most)


def resize(picture: Picture, settings: Settings, *, listed: bool) -> Picture:
    """A picture [H, W, 3], uint8, after both resizes."""
    height, width = picture.shape[:2]
    once = bicubic(picture, *first_size(height, width))
    return bicubic(once, *size(height, width, settings, listed=listed))


def measure(item: ModelInput, settings: Settings) -> int:
    """Tokens of an item without its words."""
    pictures, listed = shown(item, settings)
    total = TOKENS_AROUND
    for one in pictures:
        height, width = one.shape[:2]
        rows, columns = size(height, width, settings, listed=listed)
        total += rows // FACTOR * (columns // FACTOR) + MARKERS
    return total


def load(order: Loading) -> Qwen2VLEncoder:
    """Load a model of this family.

    Raises:
        WeightsRefused: keys, shapes or files that do not fit.
    """
    encoder = load_encoder(order, compose=compose, measure=measure)
    known = encoder.pieces.tokenizer.get_added_vocab()
    missing = [token for token in CONTROL if token not in known]
    if missing:
        raise WeightsRefused(
            f"The tokenizer in {order.weights.folder.name} has no {', '.join(missing)}, of which "
            "this model's prompt is made. Fetch the whole folder of the model again."
        )
    encoder.record = replace(encoder.record, end_of_text=ENDING)
    return encoder
