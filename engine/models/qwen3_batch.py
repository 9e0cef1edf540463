"""The batch of Qwen3-VL-Embedding and MedEmb: prompts and pixels as the tensors a model takes.

Owns the processor, the order of pixels and the check of every row. Refuses texts over the model's
length and anything that would change the structure of a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoImageProcessor, AutoTokenizer
from transformers.models.qwen3_vl import Qwen3VLProcessor, Qwen3VLVideoProcessor
from transformers.video_utils import VideoMetadata

from engine.errors import ItemRefused, WeightsRefused
from engine.evidence.item import ModelInput
from engine.models import qwen3_length as length
from engine.models import qwen3_pixels as pixels
from engine.models.common import quiet, reading
from engine.models.qwen3_prompt import (
    END_OF_TEXT,
    OURS,
    PICTURE,
    SLICE,
    VIDEO,
    Piece,
    joined,
    pieces,
)
from engine.models.settings import Settings

TIME = re.compile(r"<[\d.]+ seconds>")
KEEP_SPECIAL = "keep_special"
TURN = re.compile(r"<\|im_start\|>|<\|im_end\|>|<\|endoftext\|>")


def load_processor(folder: Path, *, words: Path | None = None) -> Qwen3VLProcessor:
    """The checkpoint's tokenizer and picture processors, resizes switched off by the caller.

    Args:
        folder: of the model.
        words: where the tokenizer is, if it is another folder.

    Raises:
        WeightsRefused: a file of the processor is missing or broken.
    """
    words = words or folder
    local = {"local_files_only": True, "trust_remote_code": False}
    with quiet(), reading(words, "tokenizer or picture processor"):
        tokenizer = AutoTokenizer.from_pretrained(words, **local)
        images = AutoImageProcessor.from_pretrained(folder, backend="pil", **local)
        videos = Qwen3VLVideoProcessor.from_pretrained(folder, local_files_only=True)
        videos.cap_pixels_per_frame = False  # its own resize is never used
        made = Qwen3VLProcessor(images, tokenizer, videos)
    if not tokenizer.is_fast or {_factor(images), _factor(videos)} != {pixels.FACTOR}:
        raise WeightsRefused(
            f"The tokenizer or picture processor in {words.name} is not one of this family: it "
            "needs a tokenizer.json and patches of 16 pixels, merged 2 by 2."
        )
    return made


def _factor(processor: Any) -> int:
    """Pixels along the side of a token."""
    return int(processor.patch_size * processor.merge_size)


def check_vocabulary(processor: Qwen3VLProcessor, config: Any, *, name: str) -> None:
    """Hold a tokenizer to the model it speaks to.

    Args:
        processor: with the tokenizer.
        config: of a ``Qwen3VLModel``.
        name: of the tokenizer's folder, for the message.

    Raises:
        WeightsRefused: it numbers the control tokens otherwise, or has more tokens.
    """
    tokenizer = processor.tokenizer
    wanted = {
        "<|image_pad|>": config.image_token_id,
        "<|video_pad|>": config.video_token_id,
        "<|vision_start|>": config.vision_start_token_id,
        "<|vision_end|>": config.vision_end_token_id,
    }
    strange = [
        token
        for token, number in wanted.items()
        if tokenizer.convert_tokens_to_ids(token) != number
    ]
    known = set(tokenizer.get_added_vocab())
    strange += [
        token for token in ("<|im_start|>", "<|im_end|>", END_OF_TEXT) if token not in known
    ]
    if strange or len(tokenizer) > config.text_config.vocab_size:
        raise WeightsRefused(
            f"The tokenizer in {name} does not belong to this model: "
            f"{', '.join(strange) or 'its vocabulary'} does not fit. Fetch the whole folder again."
        )


def tokenizer_ends_text(processor: Qwen3VLProcessor) -> bool:
    """Whether the checkpoint's tokenizer ends every text with the end-of-text token.

    Raises:
        WeightsRefused: it would do so twice.
    """
    end = processor.tokenizer.convert_tokens_to_ids(END_OF_TEXT)
    ids = processor.tokenizer("x")["input_ids"]
    if ids[-2:] == [end, end]:
        raise WeightsRefused("The tokenizer ends a text twice; its tokenizer.json is not usable.")
    return ids[-1] == end


@dataclass(frozen=True, eq=False)
class Laid:
    """One item as it will be read: its prompt, and the pixels in the order of the prompt."""

    item: ModelInput
    pieces: tuple[Piece, ...]
    shortened: bool


def lay(processor: Qwen3VLProcessor, item: ModelInput, settings: Settings) -> Laid:
    """Write the prompt of one item and hold it to the model's length.

    Raises:
        ItemRefused: too long, or more slices than the model takes.
    """
    for volume in item.volumes:
        if not len(volume):
            raise ItemRefused("A volume of this item has no slices.")
        if len(volume) > settings.max_slices:
            raise ItemRefused(
                f"A volume of {len(volume)} slices was handed to a model that takes "
                f"{settings.max_slices}; sample the slices first."
            )
    appended = settings.append_eot == "always" and not tokenizer_ends_text(processor)
    parts = pieces(
        item,
        settings,
        tokens=list(processor.tokenizer.get_added_vocab()),
        tail=END_OF_TEXT if appended else "",
    )
    measure: dict[str, Any] = {
        "tokenizer": processor.tokenizer,
        "special": settings.append_eot != "never",
        "limit": settings.max_tokens,
    }

    def shape_of(piece: Piece) -> length.Shape | None:
        return _shape(piece, item, settings)

    if settings.over_length == KEEP_SPECIAL:
        return Laid(item, parts, length.over(parts, shape_of, **measure))
    shorten = settings.over_length == "shorten"
    fitted = length.fit(parts, shape_of, shorten=shorten, **measure)
    return Laid(item, fitted.pieces, fitted.shortened)


def _shape(piece: Piece, item: ModelInput, settings: Settings) -> length.Shape | None:
    if piece.role == VIDEO:
        volume = item.volumes[piece.place]
        seconds = pixels.timestamps(len(volume))
        count, height, width = volume.shape[:3]
        total = pixels.video_tokens(count, height, width, settings)
        return length.Shape(total // len(seconds), seconds)
    if piece.role not in (PICTURE, SLICE):
        return None
    height, width = _picture(piece, item).shape[:2]
    of_slice = piece.role == SLICE
    return length.Shape(pixels.image_tokens(height, width, settings, of_slice=of_slice))


def _picture(piece: Piece, item: ModelInput) -> NDArray[np.uint8]:
    if piece.role == PICTURE:
        return item.images[piece.place]
    return item.volumes[piece.place][piece.slice]


def build_batch(
    processor: Qwen3VLProcessor, inputs: Sequence[ModelInput], settings: Settings
) -> dict[str, torch.Tensor]:
    """Tokenise and patch a batch, on the CPU, padded.

    Returns:
        ``input_ids``, ``attention_mask``, ``mm_token_type_ids`` [B, L] and, where the batch has
        any, ``pixel_values``, ``image_grid_thw``, ``pixel_values_videos``, ``video_grid_thw``.

    Raises:
        ItemRefused: an item is over the model's length or breaks the prompt.
    """
    return batch_of(processor, [lay(processor, item, settings) for item in inputs], settings)


def batch_of(
    processor: Qwen3VLProcessor, laid: Sequence[Laid], settings: Settings
) -> dict[str, torch.Tensor]:
    """The same of items whose prompts are written."""
    for one in laid:
        _check_places(one)
    images, videos = _media(laid, settings)
    metadata = [
        VideoMetadata(
            total_num_frames=len(video),
            fps=pixels.FRAMES_PER_SECOND,
            frames_indices=list(range(len(video))),
        )
        for video in videos
    ]
    made = processor(
        text=[joined(one.pieces) for one in laid],
        images=images or None,
        videos=videos or None,
        video_metadata=metadata or None,
        do_resize=False,
        do_sample_frames=False,
        add_special_tokens=settings.append_eot != "never",
        padding=True,
        padding_side=settings.padding_side,
        truncation=False,
        return_tensors="pt",
    )
    batch = {name: value for name, value in made.items() if isinstance(value, torch.Tensor)}
    if settings.over_length == KEEP_SPECIAL and any(one.shortened for one in laid):
        batch |= _without_rest(processor, batch, settings)
    _check_rows(processor, batch, laid, settings)
    return batch


def _without_rest(
    processor: Qwen3VLProcessor, batch: Mapping[str, torch.Tensor], settings: Settings
) -> dict[str, torch.Tensor]:
    """Rows without the tokens that the release would leave out, padded anew."""
    added = processor.tokenizer.added_tokens_decoder
    special = {number for number, token in added.items() if token.special}
    kept = []
    for ids, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True):
        places = mask.nonzero().flatten()
        kept.append(places[length.kept_places(ids[places].tolist(), special, settings.max_tokens)])
    widest = max(len(places) for places in kept)
    made = {}
    pads = {
        "input_ids": processor.tokenizer.pad_token_id,
        "attention_mask": 0,
        "mm_token_type_ids": 0,
    }
    for name, pad in pads.items():
        rows = batch[name].new_full((len(kept), widest), pad)
        for row, places in enumerate(kept):
            start = widest - len(places) if settings.padding_side == "left" else 0
            rows[row, start : start + len(places)] = batch[name][row, places]
        made[name] = rows
    return made


def _check_places(one: Laid) -> None:
    """Each placeholder of the string must be one of ours, since the processor fills them all."""
    text = joined(one.pieces)
    videos = sum(piece.role == VIDEO for piece in one.pieces)
    pictures = sum(piece.role in (PICTURE, SLICE) for piece in one.pieces)
    found = (text.count(length.IMAGE_PAD), text.count(length.VIDEO_PAD))
    if found != (pictures, videos):
        raise ItemRefused(
            f"This item would break the prompt: it claims {found[0]} pictures and {found[1]} "
            f"videos, and has {pictures} and {videos}."
        )


def _media(
    laid: Sequence[Laid], settings: Settings
) -> tuple[list[NDArray[np.uint8]], list[torch.Tensor]]:
    """Pictures and videos, each in the order of their placeholders."""
    images: list[NDArray[np.uint8]] = []
    videos: list[torch.Tensor] = []
    for one in laid:
        for piece in one.pieces:
            if piece.role == VIDEO:
                videos.append(pixels.resize_volume(one.item.volumes[piece.place], settings))
            elif piece.role in (PICTURE, SLICE):
                shown, of_slice = _picture(piece, one.item), piece.role == SLICE
                images.append(pixels.resize_image(shown, settings, of_slice=of_slice))
    return images, videos


def _check_rows(
    processor: Qwen3VLProcessor,
    batch: Mapping[str, torch.Tensor],
    laid: Sequence[Laid],
    settings: Settings,
) -> None:
    """Hold every row to its control tokens: these, this often, in this order, and no other."""
    ids_of = processor.tokenizer.get_added_vocab()
    # a small tokenizer may hold the times of the slices as tokens of their own (the demo's do)
    names = {number: name for name, number in ids_of.items() if not TIME.fullmatch(name)}
    ends = _ends_text(processor, settings)
    for row, one in enumerate(laid):
        ids = batch["input_ids"][row][batch["attention_mask"][row].bool()].tolist()
        if len(ids) > settings.max_tokens and settings.over_length != KEEP_SPECIAL:
            raise length.too_long(len(ids), settings.max_tokens)
        found = [names[number] for number in ids if number in names]
        wanted = _control_tokens(one, settings)
        wanted += [END_OF_TEXT] if ends else []
        if found != wanted:
            raise ItemRefused(_strange(found, wanted))


def _control_tokens(one: Laid, settings: Settings) -> list[str]:
    """The control tokens of an item's prompt, one after the other, as they must come out."""
    wanted: list[str] = []
    for piece in one.pieces:
        shape = _shape(piece, one.item, settings)
        if shape is not None:
            wanted += length.control_tokens(piece, shape)
        elif piece.role == OURS:
            wanted += TURN.findall(piece.text)
    return wanted


def _ends_text(processor: Qwen3VLProcessor, settings: Settings) -> bool:
    """Whether the tokenizer itself will end the prompt."""
    return settings.append_eot != "never" and tokenizer_ends_text(processor)


def _strange(found: Sequence[str], wanted: Sequence[str]) -> str:
    """The first control token that is out of place, in words."""
    for one, other in zip_longest(found, wanted):
        if one != other:
            return (
                f"This item would break the prompt: {one or 'nothing'} stands where "
                f"{other or 'nothing'} belongs. Take control tokens out of its text and out of "
                "the default instruction."
            )
    return "This item would break the prompt."
