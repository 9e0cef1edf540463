"""Qwen3-VL-Embedding 2B and 8B, and MedEmb on top of them (specification 2).

Owns loading, the pooling and the loaded encoder. Refuses weights that do not fit, and whatever
``engine.models.qwen3_batch`` refuses of an item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.models.qwen3_vl import Qwen3VLModel, Qwen3VLProcessor

from engine.errors import ModelError
from engine.evidence.item import ModelInput
from engine.models import qwen3_pixels as pixels
from engine.models.common import (
    identify,
    load_strictly,
    memory_errors,
    quiet,
    with_attention,
)
from engine.models.lora import merge_adapter
from engine.models.qwen3_batch import (
    KEEP_SPECIAL,
    batch_of,
    build_batch,
    check_vocabulary,
    lay,
    load_processor,
    tokenizer_ends_text,
)
from engine.models.record import Loading, Record
from engine.models.settings import Settings
from engine.weights import LocalWeights

__all__ = [
    "Qwen3VLEncoder",
    "build_batch",
    "load",
    "load_processor",
    "pool",
    "tokenizer_ends_text",
]

TOKENS_PER_PAIR = 9  # a timestamp and its two vision markers, about
TOKENS_AROUND = 30  # turns and the default instruction, about
SAMPLE = "Enlarged cardiac silhouette with small bilateral pleural effusions, no pneumothorax."


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
        self._bytes_per_token = len(SAMPLE) / len(processor.tokenizer(SAMPLE)["input_ids"])

    def cost(self, item: ModelInput) -> int:
        """Estimate the length in tokens: pixels exactly, text by its bytes."""
        words = "".join((*item.texts, item.instruction or ""))
        size = len(words.encode("utf-8", "surrogatepass"))
        total = TOKENS_AROUND + int(size / self._bytes_per_token)
        for picture in item.images:
            height, width = picture.shape[:2]
            total += pixels.image_tokens(height, width, self.settings)
        for volume in item.volumes:
            total += self._volume_cost(volume)
        if self.settings.over_length == KEEP_SPECIAL:
            return total
        return min(total, self.settings.max_tokens)  # longer ones are cut, or refused unread

    def _volume_cost(self, volume: NDArray[np.uint8]) -> int:
        count, height, width = volume.shape[:3]
        if self.settings.volume_as == "images":
            each = pixels.image_tokens(height, width, self.settings, of_slice=True)
            return count * (each + 2)
        timestamps = (count + 1) // pixels.PAIR * TOKENS_PER_PAIR
        return timestamps + pixels.video_tokens(count, height, width, self.settings)

    def same(self, item: ModelInput) -> tuple[str, bool] | None:
        """Not known: items are told apart by their content."""
        return None

    def encode(self, batch: Sequence[ModelInput]) -> NDArray[np.float32]:
        """Embed a batch; unit rows [B, D], float32."""
        with quiet(), memory_errors(), torch.inference_mode():
            laid = [lay(self.processor, item, self.settings) for item in batch]
            tensors = batch_of(self.processor, laid, self.settings)
            on_device = {name: value.to(self.device) for name, value in tensors.items()}
            vectors = pool(self.model, on_device, truncate_dim=self.settings.truncate_dim)
            self.shortened = tuple(one.shortened for one in laid)
            return vectors.cpu().numpy()


def load(order: Loading) -> Qwen3VLEncoder:
    """Load a model of this family; LoRA merged by hand where the weights are an adapter.

    Raises:
        WeightsRefused: keys, shapes or files that do not fit.
    """
    order = with_attention(order, Qwen3VLModel)
    weights, choice = order.weights, order.choice
    words = _words(weights)
    processor = load_processor(weights.folder, words=words)
    chosen, told = _settle(order.settings, processor, family=order.card.family)
    notes, count = [told], None
    with memory_errors():
        model = load_strictly(
            Qwen3VLModel,
            weights.folder,
            dtype=getattr(torch, choice.dtype),
            allowed=("lm_head.weight",),
            attention=choice.attention,
        )
        check_vocabulary(processor, model.config, name=words.name)
        if weights.adapter is not None:
            count = merge_adapter(model, weights.adapter)
            notes.append(f"Merged {count} adapter tensors into {weights.folder.name}.")
        if words != weights.folder:
            notes.append("The tokenizer is the one that came with the adapter.")
        model = model.to(choice.device)
    chosen = _within(chosen, model)
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


def _words(weights: LocalWeights) -> Path:
    """Where the tokenizer is: with the adapter if that brings one, else with the base."""
    adapter = weights.adapter
    own = adapter is not None and (adapter / "tokenizer.json").is_file()
    return adapter if adapter is not None and own else weights.folder


def _within(settings: Settings, model: Qwen3VLModel) -> Settings:
    """Hold lengths to what the model has."""
    config = model.config.text_config
    if settings.truncate_dim > config.hidden_size:
        raise ModelError(
            f"The setting truncate_dim asks for {settings.truncate_dim} numbers and this model's "
            f"vectors have {config.hidden_size}. Say at most that, or 0 for all."
        )
    return replace(settings, max_tokens=min(settings.max_tokens, config.max_position_embeddings))


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
