"""Qwen2-VL as an encoder: what VLM2Vec and RzenEmbed share (specification 7 and 8).

Owns the tokenizer and pixel patches, the strict load, positions, pooling and the encoder class; a
family brings the composition of one item. Refuses placeholders without a picture, items over the
length, and weights that do not fit. Pictures come in at the model's size (``resize``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoImageProcessor, AutoTokenizer
from transformers.models.qwen2_vl import Qwen2VLModel

from engine.errors import ItemRefused, WeightsRefused
from engine.evidence.item import ModelInput
from engine.models.common import (
    identify,
    load_strictly,
    memory_errors,
    quiet,
    with_attention,
)
from engine.models.lora import merge_adapter
from engine.models.record import Loading, Record
from engine.models.settings import Settings
from engine.weights import LocalWeights

IMAGE, VIDEO = "<|image_pad|>", "<|video_pad|>"
FACTOR = 28  # patch 14, merged 2 by 2
PAIR = 2  # slices per temporal patch
HEADS = ("lm_head.weight",)  # of a whole checkpoint; an embedding has no use for it
SAMPLE = "Enlarged cardiac silhouette with small bilateral pleural effusions, no pneumothorax."


@dataclass(frozen=True, eq=False)
class Row:
    """One item, composed: its prompt in three parts and its pixels at the model's size.

    Attributes:
        head: placeholders and instruction, never cut; one placeholder per picture or video.
        text: what may be cut, from its end, where the item is too long.
        tail: what closes the prompt, never cut.
        images: arrays [H, W, 3], uint8, in the order of their placeholders.
        videos: arrays [T, H, W, 3], uint8, any T.
    """

    head: str
    text: str = ""
    tail: str = ""
    images: tuple[NDArray[np.uint8], ...] = ()
    videos: tuple[NDArray[np.uint8], ...] = ()


Compose = Callable[[ModelInput, Settings, Collection[str]], Row]
Measure = Callable[[ModelInput, Settings], int]


@dataclass(frozen=True, eq=False)
class Pieces:
    """A checkpoint's tokenizer and what its picture processor does to a pixel.

    Attributes:
        tokenizer: of the checkpoint.
        levels: [3, 256], float32: each 8-bit level of each channel, rescaled and normalised.
        patch: side of a patch in pixels.
        merge: patches per token along a side.
        image: id of the picture's placeholder.
        video: id of the video's placeholder.
    """

    tokenizer: Any
    levels: NDArray[np.float32]
    patch: int
    merge: int
    image: int
    video: int


def load_pieces(folder: Path) -> Pieces:
    """Tokenizer and picture processor of a folder, the latter as Pillow and numpy run it.

    Raises:
        WeightsRefused: a file is missing or broken.
    """
    try:
        with quiet():
            local = {"local_files_only": True, "trust_remote_code": False}
            tokenizer = AutoTokenizer.from_pretrained(folder, **local)
            pictures = AutoImageProcessor.from_pretrained(folder, backend="pil", **local)
        image, video = tokenizer.convert_tokens_to_ids([IMAGE, VIDEO])
        levels = _levels(pictures.rescale_factor, pictures.image_mean, pictures.image_std)
        pieces = Pieces(
            tokenizer, levels, int(pictures.patch_size), int(pictures.merge_size), image, video
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        first = str(error).split("\n")[0]
        raise WeightsRefused(
            f"The tokenizer or picture processor in {folder.name} cannot be loaded: {first} "
            "Fetch the whole folder of the model again."
        ) from error
    if pieces.patch * pieces.merge != FACTOR or pictures.temporal_patch_size != PAIR:
        raise WeightsRefused(f"{folder.name} patches its pictures otherwise than Qwen2-VL does.")
    return pieces


def processor_folder(weights: LocalWeights) -> Path:
    """The adapter's own folder where it holds tokenizer and picture processor, else the base's."""
    adapter = weights.adapter
    wanted = ("tokenizer_config.json", "preprocessor_config.json")
    if adapter is not None and all((adapter / name).is_file() for name in wanted):
        return adapter
    return weights.folder


def _levels(rescale: float, mean: Sequence[float], std: Sequence[float]) -> NDArray[np.float32]:
    levels = (np.arange(256, dtype=np.float64) * rescale).astype(np.float32)
    middle, spread = (np.asarray(one, np.float32)[:, None] for one in (mean, std))
    return ((levels - middle) / spread).astype(np.float32)


def patch(pieces: Pieces, frames: NDArray[np.uint8]) -> tuple[torch.Tensor, tuple[int, int, int]]:
    """Frames [T, H, W, 3] as rows of patches; the last frame is repeated to a whole pair.

    Returns:
        float32 [t * h * w, 3 * 2 * 14 * 14], and (t, h, w) in patches.
    """
    if len(frames) % PAIR:
        frames = np.concatenate([frames, frames[-1:]])
    side, merge = pieces.patch, pieces.merge
    t, h, w = len(frames) // PAIR, frames.shape[1] // side, frames.shape[2] // side
    values = np.stack([pieces.levels[c][frames[..., c]] for c in range(3)], axis=1)
    blocks = values.reshape(t, PAIR, 3, h // merge, merge, side, w // merge, merge, side)
    rows = blocks.transpose(0, 3, 6, 4, 7, 2, 1, 5, 8).reshape(t * h * w, -1)
    return torch.from_numpy(rows), (t, h, w)


def tokens_of(shape: tuple[int, ...]) -> int:
    """Tokens of a picture [H, W, 3] or a video [T, H, W, 3] at the model's size."""
    count = 1 if len(shape) == 3 else (shape[0] + 1) // PAIR
    return count * (shape[-3] // FACTOR) * (shape[-2] // FACTOR)


def build_batch(
    pieces: Pieces, rows: Sequence[Row], settings: Settings
) -> tuple[dict[str, torch.Tensor], tuple[bool, ...]]:
    """Tokenise and patch composed items, on the CPU, padded.

    Returns:
        What ``Qwen2VLModel`` is called with: ``input_ids``, ``attention_mask`` [B, L], pixels
        and grids where there are any, and either ``position_ids`` [3, B, L] (``linear``) or
        ``mm_token_type_ids`` [B, L] (``mrope``). Beside it, per item, whether its text was cut.

    Raises:
        ItemRefused: an item is over the length or its text breaks the prompt.
    """
    made = [_tokenise(pieces, row, settings) for row in rows]
    batch = _pad(pieces, [ids for ids, _ in made], left=settings.padding_side == "left")
    ids = batch["input_ids"]
    if settings.positions == "linear":
        batch["position_ids"] = linear_positions(batch["attention_mask"])
    else:
        kinds = (ids == pieces.image).int() + 2 * (ids == pieces.video).int()
        batch["mm_token_type_ids"] = kinds * batch["attention_mask"].int()
    images = [patch(pieces, image[None]) for row in rows for image in row.images]
    videos = [patch(pieces, video) for row in rows for video in row.videos]
    for media, name, grid in (
        (images, "pixel_values", "image_grid_thw"),
        (videos, "pixel_values_videos", "video_grid_thw"),
    ):
        if media:
            batch[name] = torch.cat([values for values, _ in media])
            batch[grid] = torch.tensor([thw for _, thw in media])
    return batch, tuple(cut for _, cut in made)


def _tokenise(pieces: Pieces, row: Row, settings: Settings) -> tuple[list[int], bool]:
    """Token ids of one item, placeholders repeated once per token of their picture."""
    whole = row.head + row.text + row.tail
    # a prompt of these families holds all its control tokens itself
    made = pieces.tokenizer(
        whole, add_special_tokens=False, return_offsets_mapping=True, truncation=False
    )
    ids: list[int] = made["input_ids"]
    counts = {
        pieces.image: [tokens_of(image.shape) for image in row.images],
        pieces.video: [tokens_of(video.shape) for video in row.videos],
    }
    if any(ids.count(token) != len(sizes) for token, sizes in counts.items()):
        raise ItemRefused("A text of this item would break the prompt: it holds a placeholder.")
    pixels = sum(map(sum, counts.values()))
    over = len(ids) + pixels - sum(map(len, counts.values())) - settings.max_tokens
    if over > 0:
        ids = _shorten(ids, made["offset_mapping"], row, over, pixels, settings)
    sizes = {token: iter(one) for token, one in counts.items()}
    return [
        token for one in ids for token in ([one] * next(sizes[one]) if one in sizes else [one])
    ], over > 0


def _shorten(
    ids: list[int],
    offsets: Sequence[tuple[int, int]],
    row: Row,
    over: int,
    pixels: int,
    settings: Settings,
) -> list[int]:
    """The ids without the last ``over`` of those that stand for the item's text."""
    first, last = len(row.head), len(row.head) + len(row.text)
    text = [i for i, (start, end) in enumerate(offsets) if first <= start < end <= last]
    if settings.over_length == "error" or len(text) < over:
        held = f", {pixels} of them for pictures" if pixels else ""
        raise ItemRefused(
            f"This item is {settings.max_tokens + over} tokens long{held}, and the model takes "
            f"{settings.max_tokens}. Shorten its text or show fewer slices."
        )
    whole = offsets[text[-over]][0]  # a character of several tokens goes as a whole
    gone = {i for i in text if offsets[i][0] >= whole}
    return [token for i, token in enumerate(ids) if i not in gone]


def _pad(pieces: Pieces, rows: Sequence[list[int]], *, left: bool) -> dict[str, torch.Tensor]:
    longest = max(map(len, rows))
    filler = pieces.tokenizer.pad_token_id or 0
    ids = torch.full((len(rows), longest), filler, dtype=torch.long)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for i, row in enumerate(rows):
        place = slice(longest - len(row), longest) if left else slice(0, len(row))
        ids[i, place] = torch.tensor(row, dtype=torch.long)
        mask[i, place] = 1
    return {"input_ids": ids, "attention_mask": mask}


def linear_positions(mask: torch.Tensor) -> torch.Tensor:
    """Positions 0, 1, 2, ... of the attended tokens, equal on the three axes.

    The models were trained on these: their code found no picture in the ids and built no others.
    Padding gets 1, as there.

    Args:
        mask: [B, L], 1 where a token counts.

    Returns:
        [3, B, L].
    """
    positions = (mask.cumsum(dim=-1) - 1).masked_fill(mask == 0, 1)
    return positions.expand(3, *mask.shape)


def pool(model: Qwen2VLModel, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Unit vectors [B, D], float32: the last hidden state of each last attended token.

    Found from the attention mask, since the padding token can be a real last token.
    """
    model.rope_deltas = None
    hidden_BLD = model(**batch, use_cache=False).last_hidden_state
    mask = batch["attention_mask"]
    last = (torch.arange(mask.shape[1], device=mask.device) * mask).argmax(dim=1)
    rows = torch.arange(mask.shape[0], device=mask.device)
    return torch.nn.functional.normalize(hidden_BLD[rows, last].float(), dim=-1)


def check_slices(item: ModelInput, settings: Settings) -> None:
    """Hold volumes to the number of slices the model takes.

    Raises:
        ItemRefused: more; slices are sampled where volumes are read, never cut here.
    """
    for volume in item.volumes:
        if len(volume) > settings.max_slices:
            raise ItemRefused(
                f"A volume of {len(volume)} slices was handed to a model that takes "
                f"{settings.max_slices}; sample the slices first."
            )


def load_model(order: Loading) -> tuple[Qwen2VLModel, int | None]:
    """The base model on its device, an adapter merged into it.

    Old checkpoints (before transformers 4.52: other key names, a flat ``config.json``, the head
    of the language model with them) load to the same model.

    Returns:
        The model, and how many tensors of an adapter were merged, None without one.

    Raises:
        WeightsRefused: keys, shapes or files that do not fit.
    """
    weights, choice = order.weights, order.choice
    count = None
    with memory_errors():
        model = load_strictly(
            Qwen2VLModel,
            weights.folder,
            dtype=getattr(torch, choice.dtype),
            allowed=HEADS,
            attention=choice.attention,
        )
        if weights.adapter is not None:
            count = merge_adapter(model, weights.adapter)
        return model.to(choice.device), count


def load_encoder(order: Loading, *, compose: Compose, measure: Measure) -> Qwen2VLEncoder:
    """Load a family of this architecture.

    Args:
        order: what the family's loader was given.
        compose: makes prompt and pixels of one item.
        measure: tokens of an item's pictures, without resizing them.

    Raises:
        WeightsRefused: keys, shapes or files that do not fit.
    """
    order = with_attention(order, Qwen2VLModel)
    pieces = load_pieces(processor_folder(order.weights))
    model, count = load_model(order)
    if (model.config.image_token_id, model.config.video_token_id) != (pieces.image, pieces.video):
        raise WeightsRefused(
            f"The tokenizer in {order.weights.folder.name} numbers the placeholders of pictures "
            "otherwise than the model; they do not belong together. Fetch the folder again."
        )
    notes = [order.choice.reason]
    if count is not None:
        notes.append(f"Merged {count} adapter tensors into {order.weights.folder.name}.")
        order.control.say(notes[-1])
    limit = int(model.config.text_config.max_position_embeddings)
    settings = replace(order.settings, max_tokens=min(order.settings.max_tokens, limit))
    digest, record = identify(order, settings=settings, adapter_tensors=count)
    return Qwen2VLEncoder(
        model, pieces, settings, compose=compose, measure=measure, model_id=order.card.id,
        device=order.choice.device, fingerprint=digest, record=record, notes=tuple(notes),
    )  # fmt: skip


class Qwen2VLEncoder:
    """A loaded model of this architecture; see ``engine.encoder.Encoder``."""

    def __init__(
        self,
        model: Qwen2VLModel,
        pieces: Pieces,
        settings: Settings,
        *,
        compose: Compose,
        measure: Measure,
        model_id: str,
        device: str,
        fingerprint: str,
        record: Record,
        notes: tuple[str, ...],
    ) -> None:
        self.model, self.pieces, self.settings = model, pieces, settings
        self.model_id, self.device, self.fingerprint = model_id, device, fingerprint
        self.record: Record = record
        self.notes = notes
        self.dim = int(model.config.text_config.hidden_size)
        self.max_slices = settings.max_slices
        self.shortened: tuple[bool, ...] = ()
        self._compose, self._measure = compose, measure
        self._tokens = tuple(pieces.tokenizer.get_added_vocab())
        self._letters_per_token = len(SAMPLE) / len(pieces.tokenizer(SAMPLE)["input_ids"])

    def cost(self, item: ModelInput) -> int:
        """Estimate the length in tokens: pixels exactly, text by its characters."""
        letters = sum(len(text) for text in (*item.texts, item.instruction or ""))
        return 1 + self._measure(item, self.settings) + int(letters / self._letters_per_token)

    def batch(self, items: Sequence[ModelInput]) -> dict[str, torch.Tensor]:
        """What the model is called with, on the CPU; remembers whose text was cut."""
        for item in items:
            check_slices(item, self.settings)
        rows = [self._compose(item, self.settings, self._tokens) for item in items]
        tensors, self.shortened = build_batch(self.pieces, rows, self.settings)
        return tensors

    def same(self, item: ModelInput) -> tuple[str, bool] | None:
        """Not known: items are told apart by their content."""
        return None

    def encode(self, batch: Sequence[ModelInput]) -> NDArray[np.float32]:
        """Embed a batch; unit rows [B, D], float32."""
        with quiet(), memory_errors(), torch.inference_mode():
            tensors = self.batch(batch)
            on_device = {name: value.to(self.device) for name, value in tensors.items()}
            return pool(self.model, on_device).cpu().numpy()
