"""MedImageInsight: a DaViT for pictures, a transformer for texts, one vector (specification 6).

The picture tower is transformers' Florence-2 vision backbone, the same architecture, then the mean
over its cells, a norm and a projection; the text tower is in ``medimageinsight_text``. Sizes come
from the folder's ``config.yaml``, weights from its safetensors file, every tensor placed exactly
once. None of the authors' code is run; the wrapper of the published mirror stays in training mode,
in which branches are dropped at random, and this one does not. Never run on the published weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import ftfy
import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from safetensors import SafetensorError, safe_open
from torch import nn
from transformers.models.florence2.configuration_florence2 import Florence2VisionConfig
from transformers.models.florence2.modeling_florence2 import Florence2VisionBackbone

from engine.device import fall_back
from engine.errors import WeightsRefused
from engine.models.common import fingerprint, memory_errors, quiet
from engine.models.medimageinsight_files import AGAIN, Parts, Sizes, find_parts, read_sizes
from engine.models.medimageinsight_keys import match
from engine.models.medimageinsight_text import ClipTexts, TextTower
from engine.models.record import Loading
from engine.models.towers import TowerEncoder, finish

PICTURES_AT_ONCE = 8  # 14,400 cells each in the first stage
# Attention over channels has as many numbers in a head as a picture has cells, which flash
# attention does not take.
ATTENTION = "sdpa"


class Model(nn.Module):
    """Both towers and their projections."""

    def __init__(self, sizes: Sizes, words: int) -> None:
        super().__init__()
        config = Florence2VisionConfig(**sizes.vision, attn_implementation=ATTENTION)
        width = int(config.embed_dim[-1])
        self.backbone = Florence2VisionBackbone(config)
        self.norms = nn.LayerNorm(width)
        self.image_projection = nn.Parameter(torch.zeros(width, sizes.dim))
        self.lang_encoder = TextTower(
            words,
            length=sizes.length,
            width=sizes.width,
            heads=sizes.heads,
            layers=sizes.layers,
            causal=sizes.causal,
        )
        self.lang_projection = nn.Parameter(torch.zeros(sizes.width, sizes.dim))

    def picture_vectors(self, pixels: torch.Tensor) -> torch.Tensor:
        """Raw vectors [N, D] of pictures [N, 3, H, W]."""
        cells = self.backbone(pixels.to(self.image_projection.dtype)).last_hidden_state
        return self.norms(cells.flatten(2).mean(dim=-1)) @ self.image_projection

    def text_vectors(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Raw vectors [N, D] of token ids [N, L] and their mask."""
        return self.lang_encoder(ids, mask) @ self.lang_projection


class MedImageInsightTowers:
    """See ``engine.models.towers.Towers``."""

    def __init__(self, model: Model, texts: ClipTexts, sizes: Sizes) -> None:
        self.module: nn.Module = model
        self.texts, self.sizes = texts, sizes
        self.dim, self.length, self.control = sizes.dim, texts.length, texts.control
        # the cells of the last stage but one, where most of the layers are
        stride = prod(sizes.vision["patch_stride"][:-1])
        height, width = sizes.picture
        self.patches = max(1, (height // stride) * (width // stride))

    def tokenise(self, texts: Sequence[str]) -> tuple[dict[str, torch.Tensor], list[bool]]:
        """Ids and mask, and which of the texts were cut."""
        return self.texts.tokenise(texts)

    def patch(self, picture: NDArray[np.uint8]) -> torch.Tensor:
        """A picture [H, W, 3] squashed to the model's size, in its colours' own scale."""
        height, width = self.sizes.picture
        way = Image.Resampling[self.sizes.interpolation]
        squashed = Image.fromarray(np.ascontiguousarray(picture)).resize((width, height), way)
        pixels = torch.from_numpy(np.array(squashed)).permute(2, 0, 1).float() / 255
        mean, std = (torch.tensor(one)[:, None, None] for one in (self.sizes.mean, self.sizes.std))
        return (pixels - mean) / std

    def text_vectors(self, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Raw vectors [N, D]."""
        model: Any = self.module
        return model.text_vectors(tensors["input_ids"], tensors["attention_mask"])

    def picture_vectors(self, pixels: torch.Tensor) -> torch.Tensor:
        """Raw vectors [N, D]."""
        model: Any = self.module
        return model.picture_vectors(pixels)


def load_model(parts: Parts, sizes: Sizes, words: int, *, dtype: torch.dtype) -> Model:
    """Both towers on the CPU, every tensor of the file placed exactly once.

    Raises:
        WeightsRefused: names or shapes that do not fit, or a damaged file.
    """
    with quiet(), torch.device("meta"):
        model = Model(sizes, words)
    places = model.state_dict()
    wanted = {name: tuple(tensor.shape) for name, tensor in places.items()}
    try:
        with safe_open(parts.weights, framework="pt", device="cpu") as file:
            names = list(file.keys())
            held = {name: tuple(file.get_slice(name).get_shape()) for name in names}
            source = match(held, wanted, file=parts.weights.name)
            tensors = {name: file.get_tensor(source[name]).to(dtype) for name in wanted}
    except (OSError, SafetensorError) as error:
        first = str(error).split("\n")[0]
        raise WeightsRefused(f"{parts.weights.name} cannot be read: {first} {AGAIN}") from error
    model.load_state_dict(tensors, strict=True, assign=True)
    return model.eval().requires_grad_(False)


def load_towers(
    folder: Path, *, length: int, dtype: torch.dtype = torch.float32
) -> MedImageInsightTowers:
    """Towers, tokenizer and sizes of a published folder, on the CPU.

    Args:
        folder: as published, or its dated subfolder.
        length: most tokens of a text, at most what the model has.
        dtype: number format of the weights.

    Raises:
        WeightsRefused: a part is missing or does not fit.
    """
    parts = find_parts(folder)
    sizes = read_sizes(parts.root)
    # two are the control tokens
    texts = ClipTexts(parts.tokenizer, length=min(max(length, 2), sizes.length))
    return MedImageInsightTowers(load_model(parts, sizes, texts.words, dtype=dtype), texts, sizes)


def load(order: Loading) -> TowerEncoder:
    """Load a model of this family.

    Raises:
        WeightsRefused: files, keys or shapes that do not fit.
    """
    weights, choice = order.weights, fall_back(order.choice, (ATTENTION,))
    if weights.adapter is not None:
        raise WeightsRefused(f"{order.card.title} is an adapter; this family is loaded whole.")
    with memory_errors():
        towers = load_towers(
            weights.folder, length=order.settings.max_tokens, dtype=getattr(torch, choice.dtype)
        )
        towers.module.to(choice.device)
    encoder = finish(
        replace(order, choice=choice),
        towers,
        settings=replace(order.settings, max_tokens=towers.length),
        notes=(f"Texts are mended and cut beyond {towers.length} tokens.",),
    )
    encoder.pictures_at_once = PICTURES_AT_ONCE
    version = f"ftfy {ftfy.__version__}"
    encoder.fingerprint = fingerprint({"model": encoder.fingerprint, "texts": version})
    encoder.record = replace(encoder.record, libraries=(*encoder.record.libraries, version))
    return encoder
