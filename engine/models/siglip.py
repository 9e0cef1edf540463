"""SigLIP and MedSigLIP: two towers of one class (specification 3 and 4).

A text is cut to ``max_tokens``, padded to the model's full length and attended without a mask, as
the model was trained; its vector is read at the last position. A picture is squashed to a square
unless the settings say otherwise. Items are taken apart and joined by ``engine.models.towers``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoImageProcessor
from transformers.models.siglip import SiglipModel, SiglipTokenizer

from engine.errors import WeightsRefused
from engine.evidence.item import ModelInput
from engine.models import towers
from engine.models.common import load_strictly, memory_errors, quiet, with_attention
from engine.models.record import Loading
from engine.models.settings import Settings

CPU_PICTURES_AT_ONCE = 8  # a processor gains nothing from more


@dataclass(frozen=True)
class SiglipProcessor:
    """The checkpoint's tokenizer and picture processor (Pillow backend).

    Attributes:
        tokenizer: SentencePiece.
        images: resizes, rescales, normalises.
        length: every text is padded to it, the model's ``max_position_embeddings``.
        max_tokens: a text is cut to it, its end token included; at most ``length``.
        preprocess: a key of ``PREPROCESS``.
    """

    tokenizer: Any
    images: Any
    length: int = 64
    max_tokens: int = 64
    preprocess: str = "hf"

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of a picture as the model sees it."""
        return int(self.images.size["height"]), int(self.images.size["width"])

    @property
    def control(self) -> Sequence[str]:
        """The tokenizer's control tokens."""
        return list(self.tokenizer.get_added_vocab())

    def tokenise(self, texts: Sequence[str]) -> tuple[dict[str, torch.Tensor], list[bool]]:
        """``input_ids`` [N, length], the end token and its twin, the padding, at the end."""
        rows = self.tokenizer(list(texts), truncation=True, max_length=self.max_tokens)["input_ids"]
        pad = int(self.tokenizer.pad_token_id)
        padded = [row + [pad] * (self.length - len(row)) for row in rows]
        cut = [self._is_cut(text, row) for text, row in zip(texts, rows, strict=True)]
        return {"input_ids": torch.tensor(padded)}, cut

    def _is_cut(self, text: str, row: Sequence[int]) -> bool:
        full = len(row) == self.max_tokens
        return full and len(self.tokenizer(text)["input_ids"]) > self.max_tokens

    def patch(self, picture: NDArray[np.uint8]) -> torch.Tensor:
        """A picture [H, W, 3] as float32 [3, h, w] around 0."""
        return PREPROCESS[self.preprocess](self, picture)


def load_processor(
    folder: Path, *, length: int = 64, max_tokens: int | None = None, preprocess: str = "hf"
) -> SiglipProcessor:
    """Tokenizer and picture processor of a folder.

    Args:
        folder: the checkpoint.
        length: positions of the text tower.
        max_tokens: texts are cut there, ``length`` when left out.
        preprocess: a key of ``PREPROCESS``.

    Raises:
        WeightsRefused: a file is missing or broken.
    """
    try:
        with quiet():
            tokenizer = SiglipTokenizer.from_pretrained(folder, local_files_only=True)
            images = AutoImageProcessor.from_pretrained(
                folder, backend="pil", local_files_only=True, trust_remote_code=False
            )
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        first = str(error).split("\n")[0]
        raise WeightsRefused(
            f"The tokenizer or picture processor in {folder.name} cannot be loaded: {first} "
            "Fetch the whole folder of the model again."
        ) from error
    most = max(1, min(max_tokens or length, length))
    return SiglipProcessor(tokenizer, images, length, most, preprocess)


def _hf(processor: SiglipProcessor, picture: NDArray[np.uint8], **options: Any) -> torch.Tensor:
    made = processor.images(
        picture, input_data_format="channels_last", return_tensors="pt", **options
    )
    return made["pixel_values"][0]


def _pad_square(processor: SiglipProcessor, picture: NDArray[np.uint8]) -> torch.Tensor:
    height, width = picture.shape[:2]
    side = max(height, width)
    top, left = (side - height) // 2, (side - width) // 2
    square = np.zeros((side, side, 3), np.uint8)
    square[top : top + height, left : left + width] = picture
    return _hf(processor, square)


def _tf_bilinear(processor: SiglipProcessor, picture: NDArray[np.uint8]) -> torch.Tensor:
    """As ``tf.image.resize`` does it without antialias, digit by digit, then cut to 8 bit."""
    height, width = processor.size
    top, bottom, down = _between(picture.shape[0], height)
    left, right, along = _between(picture.shape[1], width)
    upper = _blend(picture[top][:, left], picture[top][:, right], along[None, :, None])
    lower = _blend(picture[bottom][:, left], picture[bottom][:, right], along[None, :, None])
    cut = _blend(upper, lower, down[:, None, None]).astype(np.uint8)
    return _hf(processor, cut, do_resize=False)


def _between(count: int, wanted: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]:
    """For each of the wanted pixels its two neighbours in a row, and how far it is from the first.

    Half-pixel centres, computed in float32 as TensorFlow does: a value just below a whole number
    is cut to another grey.
    """
    half, scale = np.float32(0.5), np.float32(count) / np.float32(wanted)
    at = (np.arange(wanted, dtype=np.float32) + half) * scale - half
    first = np.floor(at)
    before = np.maximum(first, 0).astype(int)
    after = np.minimum(np.ceil(at), count - 1).astype(int)
    return before, after, at - first


def _blend(one: NDArray[Any], other: NDArray[Any], share: NDArray[np.float32]) -> NDArray[Any]:
    one = one.astype(np.float32)
    return one + (other.astype(np.float32) - one) * share


PREPROCESS: Mapping[str, Callable[[SiglipProcessor, NDArray[np.uint8]], torch.Tensor]] = {
    "hf": _hf,
    "pad_square": _pad_square,
    "tf_bilinear": _tf_bilinear,
}


class _Heads:
    """The model's two heads."""

    def __init__(self, model: SiglipModel) -> None:
        self.module: torch.nn.Module = model

    def text_vectors(self, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Vectors [N, D], read at the last position; no mask."""
        return self.module.get_text_features(input_ids=tensors["input_ids"]).pooler_output  # type: ignore[operator]

    def picture_vectors(self, pixels: torch.Tensor) -> torch.Tensor:
        """Vectors [N, D] of the attention-pool head."""
        pixels = pixels.to(self.module.dtype)  # type: ignore[arg-type]
        return self.module.get_image_features(pixel_values=pixels).pooler_output  # type: ignore[operator]


class SiglipTowers(_Heads):
    """See ``engine.models.towers.Towers``."""

    def __init__(self, model: SiglipModel, processor: SiglipProcessor) -> None:
        super().__init__(model)
        self.processor = processor
        self.control = processor.control
        self.dim = int(model.config.text_config.projection_size)
        self.length = processor.length
        patch = int(model.config.vision_config.patch_size)
        height, width = processor.size
        self.patches = (height // patch) * (width // patch)

    def tokenise(self, texts: Sequence[str]) -> tuple[dict[str, torch.Tensor], list[bool]]:
        """The processor's."""
        return self.processor.tokenise(texts)

    def patch(self, picture: NDArray[np.uint8]) -> torch.Tensor:
        """The processor's."""
        return self.processor.patch(picture)


class SiglipEncoder(towers.TowerEncoder):
    """A loaded model of this family, which can be trained through ``build_batch`` and ``pool``."""

    towers: SiglipTowers

    @property
    def processor(self) -> SiglipProcessor:
        """What ``build_batch`` takes."""
        return self.towers.processor


def build_batch(
    processor: SiglipProcessor, inputs: Sequence[ModelInput], settings: Settings
) -> dict[str, torch.Tensor]:
    """``towers.build_batch``, by the name under which a model is trained."""
    return towers.build_batch(processor, inputs, settings)


def pool(
    model: SiglipModel, batch: Mapping[str, torch.Tensor], *, fuse: str = "mean_of_unit"
) -> torch.Tensor:
    """``towers.pool`` of a model; unit rows [B, D] with gradients."""
    return towers.pool(_Heads(model), batch, fuse=fuse)


def load(order: Loading) -> towers.TowerEncoder:
    """Load a model of this family.

    Raises:
        WeightsRefused: keys, shapes or files that do not fit.
    """
    order = with_attention(order, SiglipModel)
    weights, choice = order.weights, order.choice
    if weights.adapter is not None:
        raise WeightsRefused(f"{order.card.title} is an adapter; this family is loaded whole.")
    with memory_errors():
        model = load_strictly(
            SiglipModel,
            weights.folder,
            dtype=getattr(torch, choice.dtype),
            attention=choice.attention,
        )
        model = model.to(choice.device)
    length = int(model.config.text_config.max_position_embeddings)
    asked = order.settings
    processor = load_processor(
        weights.folder, length=length, max_tokens=asked.max_tokens, preprocess=asked.preprocess
    )
    most = processor.max_tokens
    encoder = towers.finish(
        order,
        SiglipTowers(model, processor),
        settings=replace(asked, max_tokens=most),
        notes=(f"Texts are cut at {most} tokens and padded to {length}.",),
        kind=SiglipEncoder,
    )
    if choice.device == "cpu":
        encoder.pictures_at_once = CPU_PICTURES_AT_ONCE
    return encoder
