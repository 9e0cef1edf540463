"""Qwen3-VL-Embedding 2B and 8B, and MedEmb on top of them (specification 2).

Owns the batch, the pooling and the loaded encoder. Refuses texts over the model's length and
anything that would change the structure of a prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoImageProcessor, AutoTokenizer
from transformers.models.qwen3_vl import (
    Qwen3VLModel,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
)
from transformers.video_utils import VideoMetadata

from engine.errors import ItemRefused, WeightsRefused
from engine.evidence.item import ModelInput
from engine.models import qwen3_pixels as pixels
from engine.models.common import identify, load_strictly, memory_errors, quiet
from engine.models.lora import merge_adapter
from engine.models.qwen3_prompt import END_OF_TEXT, prompt
from engine.models.record import Loading, Record
from engine.models.settings import Settings

TOKENS_PER_PAIR = 9  # a timestamp and its two vision markers, about
TOKENS_AROUND = 30  # turns and the default instruction, about
SAMPLE = "Enlarged cardiac silhouette with small bilateral pleural effusions, no pneumothorax."
TURNS = {"<|im_start|>": 3, "<|im_end|>": 2}


def load_processor(folder: Path) -> Qwen3VLProcessor:
    """The checkpoint's tokenizer and picture processors, resizes switched off by the caller.

    Raises:
        WeightsRefused: a file of the processor is missing or broken.
    """
    try:
        with quiet():
            local = {"local_files_only": True, "trust_remote_code": False}
            tokenizer = AutoTokenizer.from_pretrained(folder, **local)
            images = AutoImageProcessor.from_pretrained(folder, backend="pil", **local)
            videos = Qwen3VLVideoProcessor.from_pretrained(folder, local_files_only=True)
            videos.cap_pixels_per_frame = False  # its own resize is never used
            return Qwen3VLProcessor(images, tokenizer, videos)
    except (OSError, ValueError, KeyError, TypeError) as error:
        first = str(error).split("\n")[0]
        raise WeightsRefused(
            f"The tokenizer or picture processor in {folder.name} cannot be loaded: {first} "
            "Fetch the whole folder of the model again."
        ) from error


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
    images, videos = _media(inputs, settings)
    metadata = [
        VideoMetadata(
            total_num_frames=len(video),
            fps=pixels.FRAMES_PER_SECOND,
            frames_indices=list(range(len(video))),
        )
        for video in videos
    ]
    made = processor(
        text=_prompts(processor, inputs, settings),
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
    _check_rows(processor, batch, settings)
    return batch


def _prompts(
    processor: Qwen3VLProcessor, inputs: Sequence[ModelInput], settings: Settings
) -> list[str]:
    tokens = list(processor.tokenizer.get_added_vocab())
    appended = settings.append_eot == "always" and not tokenizer_ends_text(processor)
    tail = END_OF_TEXT if appended else ""
    return [prompt(item, settings, tokens=tokens) + tail for item in inputs]


def _media(
    inputs: Sequence[ModelInput], settings: Settings
) -> tuple[list[NDArray[np.uint8]], list[torch.Tensor]]:
    images: list[NDArray[np.uint8]] = []
    videos: list[torch.Tensor] = []
    for item in inputs:
        for volume in item.volumes:
            if len(volume) > settings.max_slices:
                raise ItemRefused(
                    f"A volume of {len(volume)} slices was handed to a model that takes "
                    f"{settings.max_slices}; sample the slices first."
                )
            if settings.volume_as == "video":
                videos.append(pixels.resize_volume(volume, settings))
            else:
                images += [pixels.resize_image(one, settings, of_slice=True) for one in volume]
        images += [pixels.resize_image(one, settings) for one in item.images]
    return images, videos


def _check_rows(
    processor: Qwen3VLProcessor, batch: dict[str, torch.Tensor], settings: Settings
) -> None:
    lengths = batch["attention_mask"].sum(dim=1)
    longest = int(lengths.max())
    if longest > settings.max_tokens:
        raise ItemRefused(
            f"This item is {longest} tokens long and the model takes {settings.max_tokens}. "
            "Shorten its text or show fewer slices."
        )
    for token, count in TURNS.items():
        found = (batch["input_ids"] == processor.tokenizer.convert_tokens_to_ids(token)).sum(dim=1)
        if not bool((found == count).all()):
            raise ItemRefused(f"A text of this item would break the prompt at {token}.")
    end = processor.tokenizer.convert_tokens_to_ids(END_OF_TEXT)
    ends = ((batch["input_ids"] == end) & batch["attention_mask"].bool()).sum(dim=1)
    if int(ends.max()) > 1:
        raise ItemRefused("This item would hold more than one end-of-text token.")


def pool(
    model: Qwen3VLModel, batch: Mapping[str, torch.Tensor], *, truncate_dim: int = 0
) -> torch.Tensor:
    """Vectors of a batch, with gradients where the caller records them.

    The hidden state of the last attended token of the base model (2.3), found from the attention
    mask since the padding token can be a real last token.

    Returns:
        float32 tensor [B, D] of unit rows.
    """
    model.rope_deltas = None
    output = model(**batch, use_cache=False)
    mask = batch["attention_mask"]
    positions = torch.arange(mask.shape[1], device=mask.device)
    last = (positions * mask).argmax(dim=1)
    rows = torch.arange(mask.shape[0], device=mask.device)
    hidden_BD = output.last_hidden_state[rows, last].float()
    if truncate_dim:
        hidden_BD = hidden_BD[:, :truncate_dim]
    return torch.nn.functional.normalize(hidden_BD, dim=-1)


class Qwen3VLEncoder:
    """A loaded model of this family; see ``engine.encoder.Encoder``."""

    def __init__(
        self,
        model: Qwen3VLModel,
        processor: Qwen3VLProcessor,
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
        self.dim = settings.truncate_dim or int(model.config.text_config.hidden_size)
        self.max_slices = settings.max_slices
        self._letters_per_token = len(SAMPLE) / len(processor.tokenizer(SAMPLE)["input_ids"])

    def cost(self, item: ModelInput) -> int:
        """Estimate the length in tokens: pixels exactly, text by its characters."""
        letters = sum(len(text) for text in (*item.texts, item.instruction or ""))
        total = TOKENS_AROUND + int(letters / self._letters_per_token)
        for picture in item.images:
            height, width = picture.shape[:2]
            total += pixels.image_tokens(height, width, self.settings)
        for volume in item.volumes:
            total += self._volume_cost(volume)
        return total

    def _volume_cost(self, volume: NDArray[np.uint8]) -> int:
        count, height, width = volume.shape[:3]
        if self.settings.volume_as == "images":
            each = pixels.image_tokens(height, width, self.settings, of_slice=True)
            return count * (each + 2)
        timestamps = (count + 1) // pixels.PAIR * TOKENS_PER_PAIR
        return timestamps + pixels.video_tokens(count, height, width, self.settings)

    def encode(self, batch: Sequence[ModelInput]) -> NDArray[np.float32]:
        """Embed a batch; unit rows [B, D], float32."""
        with quiet(), memory_errors(), torch.inference_mode():
            tensors = build_batch(self.processor, batch, self.settings)
            on_device = {name: value.to(self.device) for name, value in tensors.items()}
            vectors = pool(self.model, on_device, truncate_dim=self.settings.truncate_dim)
            self.shortened = (False,) * len(batch)
            return vectors.cpu().numpy()


def load(order: Loading) -> Qwen3VLEncoder:
    """Load a model of this family; LoRA merged by hand where the weights are an adapter.

    Raises:
        WeightsRefused: keys, shapes or files that do not fit.
    """
    weights, choice = order.weights, order.choice
    processor = load_processor(weights.folder)
    chosen, told = _settle(order.settings, processor, family=order.card.family)
    notes, count = [told], None
    with memory_errors():
        model = load_strictly(
            Qwen3VLModel,
            weights.folder,
            dtype=getattr(torch, choice.dtype),
            allowed=("lm_head.weight",),
        )
        if weights.adapter is not None:
            count = merge_adapter(model, weights.adapter)
            notes.append(f"Merged {count} adapter tensors into {weights.folder.name}.")
        model = model.to(choice.device)
    limit = int(model.config.text_config.max_position_embeddings)
    chosen = replace(chosen, max_tokens=min(chosen.max_tokens, limit))
    for note in notes:
        order.control.say(note)
    digest, record = identify(order, settings=chosen, end_of_text=told, adapter_tensors=count)
    return Qwen3VLEncoder(
        model,
        processor,
        chosen,
        model_id=order.card.id,
        fingerprint=digest,
        device=choice.device,
        notes=(choice.reason, *notes),
        record=record,
    )


def _settle(
    settings: Settings, processor: Qwen3VLProcessor, *, family: str
) -> tuple[Settings, str]:
    """Decide on the end-of-text token (2.2) and say so."""
    if settings.append_eot != "auto":
        return settings, f"End-of-text token: {settings.append_eot}, as set."
    if tokenizer_ends_text(processor):
        return settings, "The tokenizer ends every text with <|endoftext|>."
    if family == "medemb":
        note = (
            "The tokenizer ends no text; one <|endoftext|> is appended, as MedEmb's paper has it."
        )
        return replace(settings, append_eot="always"), note
    return settings, "The tokenizer does not end a text with <|endoftext|>; nothing is appended."
