"""The files beside BLIP-2's weights: configuration, tokenizer, how pictures are prepared.

Tokenizer and picture processor are called separately: called as one, they put 32 ``<image>``
tokens before a text and take them off its length. Refuses files of another model: a smaller
picture would be read at wrong positions, a word beyond the table would crash.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from huggingface_hub.errors import StrictDataclassError
from numpy.typing import NDArray
from transformers import AutoImageProcessor
from transformers.models.bert import BertTokenizer
from transformers.models.blip.image_processing_pil_blip import BlipImageProcessorPil
from transformers.models.blip_2 import Blip2Config

from engine.errors import ModelError, WeightsRefused
from engine.models.common import quiet

MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
IMAGE = "<image>"
SHORTEST = 3  # [CLS], one word, [SEP]
_BROKEN = (OSError, ValueError, KeyError, TypeError, StrictDataclassError)


@dataclass(frozen=True)
class Blip2Processor:
    """The checkpoint's tokenizer and picture processor (Pillow backend).

    Attributes:
        tokenizer: uncased WordPiece.
        images: resizes to ``side`` by ``side`` pixels and normalises.
        length: most tokens of a text, ``[CLS]`` and ``[SEP]`` included.
        side: of a picture, in pixels.
        control: the tokenizer's control tokens.
        assumed: a sentence, if the folder does not say how pictures are prepared.
    """

    tokenizer: Any
    images: Any
    length: int
    side: int
    control: tuple[str, ...]
    assumed: str = ""

    def tokenise(self, texts: Sequence[str]) -> tuple[dict[str, torch.Tensor], list[bool]]:
        """``input_ids`` and ``attention_mask`` [N, L], L the longest, and which were cut."""
        made = self.tokenizer(
            list(texts),
            padding="longest",
            truncation=True,
            max_length=self.length,
            return_token_type_ids=False,
            return_tensors="pt",
        )
        return dict(made), [bool(one.overflowing) for one in made.encodings]

    def patch(self, picture: NDArray[np.uint8]) -> torch.Tensor:
        """A picture [H, W, 3], squashed to the square the model takes: [3, side, side]."""
        made = self.images(picture, input_data_format="channels_last", return_tensors="pt")
        return made["pixel_values"][0]


def load_processor(
    folder: Path, config: Blip2Config, *, max_tokens: int | None = None
) -> Blip2Processor:
    """Tokenizer and picture processor of a folder.

    Args:
        folder: the checkpoint.
        config: of the model, to which both must fit.
        max_tokens: texts are cut there, at the last position when left out.

    Raises:
        WeightsRefused: a file is missing, broken, or another model's.
        ModelError: ``max_tokens`` leaves no room for a word.
    """
    positions = int(config.qformer_config.max_position_embeddings)
    length = positions if max_tokens is None else min(max_tokens, positions)
    if length < SHORTEST:
        raise ModelError(f"The setting max_tokens must be at least {SHORTEST}, not {max_tokens}.")
    try:
        with quiet():
            tokenizer = BertTokenizer.from_pretrained(
                folder, local_files_only=True, padding_side="right", truncation_side="right"
            )
            images, assumed = _load_images(folder, int(config.vision_config.image_size))
    except (*_BROKEN, RuntimeError) as error:
        raise _refused(folder, str(error).split("\n")[0]) from error
    side = _checked_side(folder, images, config)
    _check_words(folder, tokenizer, int(config.qformer_config.vocab_size))
    control = tuple(tokenizer.get_added_vocab())
    return Blip2Processor(tokenizer, images, length, side, control, assumed)


def _refused(folder: Path, why: str) -> WeightsRefused:
    return WeightsRefused(
        f"The tokenizer or picture processor in {folder.name} cannot be used: {why} "
        "Fetch the whole folder of the model again."
    )


def _load_images(folder: Path, side: int) -> tuple[Any, str]:
    """The folder's picture processor, or LAVIS' own rule with a sentence that it was assumed."""
    if _describes_pictures(folder):
        return AutoImageProcessor.from_pretrained(
            folder, backend="pil", local_files_only=True, trust_remote_code=False
        ), ""  # fmt: skip
    size = {"height": side, "width": side}
    return BlipImageProcessorPil(size=size, image_mean=MEAN, image_std=STD), (
        f"{folder.name} does not say how pictures are prepared; they are squashed to {side} by "
        f"{side} pixels (bicubic) with CLIP's mean and deviation, as the authors' code does."
    )


def _describes_pictures(folder: Path) -> bool:
    if (folder / "preprocessor_config.json").is_file():
        return True
    both = folder / "processor_config.json"
    return both.is_file() and "image_processor" in json.loads(both.read_text(encoding="utf-8"))


def _checked_side(folder: Path, images: Any, config: Blip2Config) -> int:
    """The side of a picture; a smaller one than the model's would be read at wrong positions."""
    side = int(config.vision_config.image_size)
    height, width = images.size.get("height"), images.size.get("width")
    if (height, width) != (side, side):
        raise _refused(folder, f"it makes pictures of {height} by {width}, the model takes {side}.")
    return side


def _check_words(folder: Path, tokenizer: Any, rows: int) -> None:
    """Every word has a row in the Q-Former's table; only ``<image>`` lies beyond, never used."""
    words = tokenizer.get_vocab()
    beyond = sorted(word for word, number in words.items() if number >= rows and word != IMAGE)
    if beyond or len(words) < rows - 1:
        why = f"it knows {len(words)} words and the model {rows}."
        raise _refused(folder, f"{beyond[0]!r} is none of the model's words." if beyond else why)


def load_configuration(folder: Path) -> Blip2Config:
    """The model's configuration.

    Raises:
        WeightsRefused: it cannot be read, or is that of a BLIP-2 that only writes captions.
    """
    try:
        with quiet():
            config = Blip2Config.from_pretrained(folder, local_files_only=True)
    except _BROKEN as error:
        first = str(error).split("\n")[0]
        raise WeightsRefused(f"config.json in {folder.name} cannot be read: {first}") from error
    if not config.qformer_config.use_qformer_text_input:
        raise WeightsRefused(
            f"{folder.name} is a BLIP-2 that writes captions; its Q-Former reads no text. "
            "Use one for image-text retrieval, such as Salesforce/blip2-itm-vit-g."
        )
    return config
