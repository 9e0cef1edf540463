"""The same numbers sooner on a processor. Owns two replaced methods and one memory.

``transformers`` attends picture by picture in a loop and embeds patches by a convolution whose
kernel is its stride; on a CPU, pictures of one size in one call and a matrix product take about
two thirds of the time of a training step. The adapter's two resizes of a slice are remembered,
since training shows the same slices again and again. Only training uses this; tests compare.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from transformers.models.qwen3_vl.modeling_qwen3_vl import apply_rotary_pos_emb_vision

from engine.models import qwen3_pixels as pixels
from engine.models.settings import Settings


def quicken(model: nn.Module) -> None:
    """Replace the methods on this Qwen3-VL model only; other models are left as they are."""
    visual = getattr(model, "visual", None)
    if visual is None:
        return
    visual.patch_embed.forward = partial(_embed_patches, visual.patch_embed)
    for block in visual.blocks:
        block.attn.forward = partial(_attend, block.attn)


@contextlib.contextmanager
def remembered_slices() -> Iterator[None]:
    """Resize every different slice once while this lasts; the numbers are the adapter's own."""
    resize, memory = pixels.resize_volume, {}

    def resize_volume(volume: NDArray[np.uint8], settings: Settings) -> Tensor:
        height, width = volume.shape[1:3]
        size = pixels.video_size(len(volume), height, width, settings)
        if size != pixels.video_size(1, height, width, settings):  # depends on their number
            return resize(volume, settings)
        slices = [*volume, *([volume[-1]] if len(volume) % pixels.PAIR else [])]
        kept = []
        for one in slices:
            key = (hashlib.blake2b(one.tobytes(), digest_size=16).digest(), one.shape, size)
            if key not in memory:
                memory[key] = resize(one[None], settings)[0].to(torch.uint8)
            kept.append(memory[key])
        return torch.stack(kept).float()

    pixels.resize_volume = resize_volume
    try:
        yield
    finally:
        pixels.resize_volume = resize


def _embed_patches(embed: Any, patches_NP: Tensor) -> Tensor:
    weight_DP = embed.proj.weight.flatten(start_dim=1)
    return functional.linear(patches_NP.to(weight_DP.dtype), weight_DP, embed.proj.bias)


def _attend(
    attention: Any,
    hidden_ND: Tensor,
    cu_seqlens: Tensor,
    position_embeddings: tuple[Tensor, Tensor],
    **_: object,
) -> Tensor:
    """Attention within each picture, pictures of one length in one call."""
    count = len(hidden_ND)
    packed = attention.qkv(hidden_ND).reshape(count, 3, attention.num_heads, -1)
    query, key, value = packed.unbind(1)
    query, key = apply_rotary_pos_emb_vision(query, key, *position_embeddings)
    starts, lengths = cu_seqlens[:-1], cu_seqlens.diff()
    kinds = lengths.unique().tolist()
    parts, orders = [], []
    for length in kinds:
        order_GL = starts[lengths == length][:, None] + torch.arange(length)
        whole = len(kinds) == 1
        q, k, v = (
            (part if whole else part[order_GL.flatten()])
            .reshape(len(order_GL), length, attention.num_heads, -1)
            .transpose(1, 2)
            for part in (query, key, value)
        )
        mixed = functional.scaled_dot_product_attention(q, k, v, scale=attention.scaling)
        parts.append(mixed.transpose(1, 2).reshape(len(order_GL) * length, -1))
        orders.append(order_GL.flatten())
    joined = torch.cat(parts)
    if len(kinds) > 1:
        joined = joined[torch.cat(orders).argsort()]
    return attention.proj(joined)
