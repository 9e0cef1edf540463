"""SigLIP and MedSigLIP: two towers, one vector (specification 3, 4 and 0.1).

A text is padded to the full length and attended without a mask, as the model was trained. Mixed
items are embedded field by field; slices and pictures are pooled to one field each first, so that
64 slices do not drown a text. Too long texts are cut by the tokenizer and counted.
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
from engine.models.common import identify, load_strictly, memory_errors, quiet
from engine.models.marks import clean
from engine.models.record import Loading, Record
from engine.models.settings import Settings

NOTHING = "NULL"


@dataclass(frozen=True)
class SiglipProcessor:
    """The checkpoint's tokenizer and picture processor (Pillow backend)."""

    tokenizer: Any
    images: Any
    length: int

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of a picture as the model sees it."""
        return int(self.images.size["height"]), int(self.images.size["width"])


def load_processor(folder: Path, *, length: int = 64) -> SiglipProcessor:
    """Tokenizer and picture processor of a folder.

    Args:
        folder: the checkpoint.
        length: tokens of a text, the model's ``max_position_embeddings``.

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
    return SiglipProcessor(tokenizer, images, length)


@dataclass(frozen=True)
class _Fields:
    """A batch taken apart: which text and picture belongs to which field, which to which item."""

    texts: list[str]
    text_fields: list[int]
    pictures: list[NDArray[np.uint8]]
    picture_fields: list[int]
    field_items: list[int]


def _take_apart(inputs: Sequence[ModelInput], settings: Settings, tokens: Sequence[str]) -> _Fields:
    fields = _Fields([], [], [], [], [])
    for number, item in enumerate(inputs):
        for text in _texts(item, settings, tokens):
            fields.text_fields.append(len(fields.field_items))
            fields.texts.append(text)
            fields.field_items.append(number)
        for group in (item.images, *item.volumes):
            if len(group):
                fields.picture_fields.extend([len(fields.field_items)] * len(group))
                fields.pictures.extend(group)
                fields.field_items.append(number)
    return fields


def _texts(item: ModelInput, settings: Settings, tokens: Sequence[str]) -> list[str]:
    """The text fields of an item: one, and one more for an instruction taken as a field."""
    text = " ".join(clean(text, tokens) for text in item.texts)
    instruction = clean(item.instruction or "", tokens).strip()
    if settings.instruction_slot == "prefix":
        text = f"{instruction} {text}".strip()
    found = [text] if text.strip() else []
    if settings.instruction_slot == "field" and instruction:
        found.append(instruction)
    if found or item.images or item.volumes:
        return found
    return [text if item.texts else NOTHING]


def build_batch(
    processor: SiglipProcessor, inputs: Sequence[ModelInput], settings: Settings
) -> dict[str, torch.Tensor]:
    """Tokenise and resize a batch, on the CPU.

    Returns:
        ``input_ids`` [T, 64] and ``text_field`` [T]; ``pixel_values`` [P, 3, H, W] and
        ``picture_field`` [P]; ``field_item`` [F]: a field's row in the batch; ``rows`` [B].
    """
    tokens = list(processor.tokenizer.get_added_vocab())
    fields = _take_apart(inputs, settings, tokens)
    batch = {"field_item": torch.tensor(fields.field_items), "rows": torch.arange(len(inputs))}
    if fields.texts:
        batch["text_field"] = torch.tensor(fields.text_fields)
        batch["input_ids"] = processor.tokenizer(
            fields.texts,
            padding="max_length",
            max_length=processor.length,
            truncation=True,
            return_tensors="pt",
        )["input_ids"]
    if fields.pictures:
        batch["picture_field"] = torch.tensor(fields.picture_fields)
        resize = PREPROCESS[settings.preprocess]
        batch["pixel_values"] = torch.cat([resize(processor, one) for one in fields.pictures])
    return batch


def _hf(processor: SiglipProcessor, picture: NDArray[np.uint8], **options: Any) -> torch.Tensor:
    made = processor.images(
        picture, input_data_format="channels_last", return_tensors="pt", **options
    )
    return made["pixel_values"]


def _pad_square(processor: SiglipProcessor, picture: NDArray[np.uint8]) -> torch.Tensor:
    height, width = picture.shape[:2]
    side = max(height, width)
    top, left = (side - height) // 2, (side - width) // 2
    square = np.zeros((side, side, 3), np.uint8)
    square[top : top + height, left : left + width] = picture
    return _hf(processor, square)


def _tf_bilinear(processor: SiglipProcessor, picture: NDArray[np.uint8]) -> torch.Tensor:
    stack = torch.from_numpy(np.ascontiguousarray(picture)).permute(2, 0, 1)[None].float()
    resized = torch.nn.functional.interpolate(
        stack, size=processor.size, mode="bilinear", align_corners=False, antialias=False
    )
    cut = resized[0].permute(1, 2, 0).to(torch.uint8).numpy()
    return _hf(processor, cut, do_resize=False)


PREPROCESS: Mapping[str, Callable[[SiglipProcessor, NDArray[np.uint8]], torch.Tensor]] = {
    "hf": _hf,
    "pad_square": _pad_square,
    "tf_bilinear": _tf_bilinear,
}


def pool(
    model: SiglipModel,
    batch: Mapping[str, torch.Tensor],
    *,
    fuse: str = "mean_of_unit",
    pictures_at_once: int = 64,
) -> torch.Tensor:
    """Vectors of a batch, with gradients where the caller records them.

    Returns:
        float32 tensor [B, D] of unit rows.
    """
    fields = len(batch["field_item"])
    parts, owners = [], []
    if "input_ids" in batch:
        parts.append(model.get_text_features(input_ids=batch["input_ids"]).pooler_output)
        owners.append(batch["text_field"])
    if "pixel_values" in batch:
        for chunk in batch["pixel_values"].to(model.dtype).split(pictures_at_once):
            parts.append(model.get_image_features(pixel_values=chunk).pooler_output)
        owners.append(batch["picture_field"])
    vectors_ND, owner_N = torch.cat(parts).float(), torch.cat(owners)
    unit = fuse == "mean_of_unit"
    field_FD = _mean(vectors_ND, owner_N, fields, unit=unit)
    item_BD = _mean(field_FD, batch["field_item"], len(batch["rows"]), unit=unit)
    return torch.nn.functional.normalize(item_BD, dim=-1)


def _mean(vectors: torch.Tensor, owners: torch.Tensor, count: int, *, unit: bool) -> torch.Tensor:
    """Mean of the vectors of each owner, each made unit before if ``unit``."""
    if unit:
        vectors = torch.nn.functional.normalize(vectors, dim=-1)
    total = vectors.new_zeros(count, vectors.shape[1]).index_add(0, owners, vectors)
    return total / torch.bincount(owners, minlength=count).clamp(min=1)[:, None]


class SiglipEncoder:
    """A loaded model of this family; see ``engine.encoder.Encoder``."""

    def __init__(
        self,
        model: SiglipModel,
        processor: SiglipProcessor,
        settings: Settings,
        *,
        model_id: str,
        fingerprint: str,
        device: str,
        notes: tuple[str, ...],
        record: Record,
    ) -> None:
        self.record: Record = record
        self.shortened: tuple[bool, ...] = ()
        self.model, self.processor, self.settings = model, processor, settings
        self.model_id, self.fingerprint, self.notes = model_id, fingerprint, notes
        self.device = device
        self.dim = int(model.config.text_config.projection_size)
        self.max_slices = settings.max_slices
        patch = int(model.config.vision_config.patch_size)
        height, width = processor.size
        self._patches = (height // patch) * (width // patch)

    def cost(self, item: ModelInput) -> int:
        """Tokens of the text tower plus patches of every picture."""
        pictures = len(item.images) + sum(len(volume) for volume in item.volumes)
        return (self.processor.length if item.texts else 1) + self._patches * pictures

    def encode(self, batch: Sequence[ModelInput]) -> NDArray[np.float32]:
        """Embed a batch; unit rows [B, D], float32."""
        with quiet(), memory_errors(), torch.inference_mode():
            tensors = build_batch(self.processor, batch, self.settings)
            on_device = {name: value.to(self.device) for name, value in tensors.items()}
            vectors = pool(self.model, on_device, fuse=self.settings.fuse).cpu().numpy()
            self.shortened = tuple(self._is_cut(item) for item in batch)
        return vectors

    def _is_cut(self, item: ModelInput) -> bool:
        tokenizer, length = self.processor.tokenizer, self.processor.length
        texts = _texts(item, self.settings, ())
        return any(
            len(text) > length and len(tokenizer(text)["input_ids"]) > length for text in texts
        )


def load(order: Loading) -> SiglipEncoder:
    """Load a model of this family.

    Raises:
        WeightsRefused: keys, shapes or files that do not fit.
    """
    weights, choice = order.weights, order.choice
    if weights.adapter is not None:
        raise WeightsRefused(f"{order.card.title} is an adapter; this family is loaded whole.")
    with memory_errors():
        model = load_strictly(SiglipModel, weights.folder, dtype=getattr(torch, choice.dtype))
        model = model.to(choice.device)
    length = int(model.config.text_config.max_position_embeddings)
    settings = replace(order.settings, max_tokens=min(order.settings.max_tokens, length))
    digest, record = identify(order, settings=settings)
    return SiglipEncoder(
        model,
        load_processor(weights.folder, length=settings.max_tokens),
        settings,
        model_id=order.card.id,
        fingerprint=digest,
        device=choice.device,
        notes=(choice.reason, f"Texts are padded to {settings.max_tokens} tokens and cut beyond."),
        record=record,
    )
