"""MedImageInsight once more in plain torch, straight from the tensors under their authors' names.

A second reference beside the goldens, with a switch for every way to get it wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

Tensors = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class Ways:
    """What may be done otherwise; the defaults are right.

    Attributes:
        eps: of the text tower's norms.
        gelu: ``quick`` or ``exact`` in the text tower.
        causal: a token sees those before it.
        masked: padding is not seen.
        pool: the ``first`` end token, or the ``last`` place, which holds one too.
        window: ``padded`` cells are seen as zeros, or ``cut`` windows see their own cells only.
        by_channel: the scale of attention over channels is by cells, or by channels.
        head_norm: the norm after the mean.
    """

    eps: float = 1e-12
    gelu: str = "quick"
    causal: bool = False
    masked: bool = True
    pool: str = "first"
    window: str = "padded"
    by_channel: bool = False
    head_norm: bool = True


RIGHT = Ways()


@dataclass(frozen=True)
class Plain:
    """The model.

    Attributes:
        tensors: by today's names in the authors' code.
        spec: ``IMAGE_ENCODER.SPEC`` of the configuration.
        text_heads: of the text tower.
        ways: of doing it.
    """

    tensors: Tensors
    spec: Mapping[str, list]
    text_heads: int
    ways: Ways = field(default=RIGHT)

    def _linear(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return x @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]

    def _norm(self, name: str, x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
        x = x - x.mean(-1, keepdim=True)
        x = x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)
        return x * self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def text(self, ids: list[int], *, length: int = 77) -> NDArray[np.float64]:
        """A unit vector of the ids of one text, control tokens included, padded here."""
        end, ways = ids[-1], self.ways
        padded = torch.tensor(ids + [end] * (length - len(ids)))
        seen = torch.ones(length, length, dtype=torch.bool)
        if ways.masked:
            seen &= (torch.arange(length) < len(ids))[None]
        if ways.causal:
            seen = seen.tril()
        x = self.tensors["lang_encoder.token_embedding.weight"][padded]
        x = x + self.tensors["lang_encoder.positional_embedding"]
        layers = 0
        while f"lang_encoder.resblocks.{layers}.ln_1.weight" in self.tensors:
            x = self._text_block(f"lang_encoder.resblocks.{layers}", x, seen)
            layers += 1
        x = self._norm("lang_encoder.ln_final", x, ways.eps)
        place = len(ids) - 1 if ways.pool == "first" else length - 1
        return _unit(x[place] @ self.tensors["lang_projection"])

    def _text_block(self, name: str, x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        inner = self._norm(f"{name}.ln_1", x, self.ways.eps)
        joint = inner @ self.tensors[f"{name}.attn.in_proj_weight"].T
        joint = joint + self.tensors[f"{name}.attn.in_proj_bias"]
        query, key, value = (
            part.view(len(x), self.text_heads, -1).transpose(0, 1) for part in joint.chunk(3, -1)
        )
        scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
        mixed = scores.masked_fill(~seen, -torch.inf).softmax(-1) @ value
        mixed = mixed.transpose(0, 1).reshape(x.shape)
        x = x + self._linear(f"{name}.attn.out_proj", mixed)
        wide = self._linear(f"{name}.mlp.c_fc", self._norm(f"{name}.ln_2", x, self.ways.eps))
        quick = self.ways.gelu == "quick"
        wide = wide * torch.sigmoid(1.702 * wide) if quick else functional.gelu(wide)
        return x + self._linear(f"{name}.mlp.c_proj", wide)

    def picture(self, pixels: torch.Tensor) -> NDArray[np.float64]:
        """A unit vector of one picture [3, H, W] in the model's scale."""
        x, name = pixels[None], "image_encoder"
        for stage in range(len(self.spec["DEPTHS"])):
            x = self._embed(stage, x)
            for depth in range(self.spec["DEPTHS"][stage]):
                block = f"{name}.blocks.{stage}.{depth}"
                x = self._block(f"{block}.spatial_block", "window_attn", x, stage)
                x = self._block(f"{block}.channel_block", "channel_attn", x, stage)
        x = x.flatten(2).mean(-1)
        if self.ways.head_norm:
            x = self._norm(f"{name}.norms", x)
        return _unit((x @ self.tensors["image_projection"])[0])

    def _embed(self, stage: int, x: torch.Tensor) -> torch.Tensor:
        name, first = f"image_encoder.convs.{stage}", self.spec["PATCH_PRENORM"][stage]
        if first:
            x = _last(lambda cells: self._norm(f"{name}.norm", cells), x)
        x = functional.conv2d(
            x,
            self.tensors[f"{name}.proj.weight"],
            self.tensors[f"{name}.proj.bias"],
            stride=self.spec["PATCH_STRIDE"][stage],
            padding=self.spec["PATCH_PADDING"][stage],
        )
        return x if first else _last(lambda cells: self._norm(f"{name}.norm", cells), x)

    def _block(self, name: str, kind: str, x: torch.Tensor, stage: int) -> torch.Tensor:
        attend = self._windows if kind == "window_attn" else self._channels
        x = x + self._deep(f"{name}.conv1.fn.dw", x)
        inner = _last(lambda cells: self._norm(f"{name}.{kind}.norm", cells), x)
        x = x + _last(lambda cells: attend(f"{name}.{kind}.fn", cells, stage), inner)
        x = x + self._deep(f"{name}.conv2.fn.dw", x)
        return x + _last(lambda cells: self._network(f"{name}.ffn", cells), x)

    def _deep(self, name: str, x: torch.Tensor) -> torch.Tensor:
        weight, bias = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]
        return functional.conv2d(x, weight, bias, padding=1, groups=x.shape[1])

    def _network(self, name: str, x: torch.Tensor) -> torch.Tensor:
        wide = self._linear(f"{name}.fn.net.fc1", self._norm(f"{name}.norm", x))
        return self._linear(f"{name}.fn.net.fc2", functional.gelu(wide))

    def _windows(self, name: str, x: torch.Tensor, stage: int) -> torch.Tensor:
        """Attention inside windows of cells [1, H, W, C]."""
        side, heads = self.spec["WINDOW_SIZE"], self.spec["NUM_HEADS"][stage]
        _, height, width, channels = x.shape
        found = torch.zeros_like(x)
        for top in range(0, height, side):
            for left in range(0, width, side):
                window = x[0, top : top + side, left : left + side]
                high, wide = window.shape[:2]
                if self.ways.window == "padded":
                    window = functional.pad(window, (0, 0, 0, side - wide, 0, side - high))
                joint = self._linear(f"{name}.qkv", window.reshape(-1, channels))
                query, key, value = (
                    part.view(len(joint), heads, -1).transpose(0, 1) for part in joint.chunk(3, -1)
                )
                scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
                mixed = (scores.softmax(-1) @ value).transpose(0, 1).reshape(window.shape)
                mixed = self._linear(f"{name}.proj", mixed)
                found[0, top : top + high, left : left + wide] = mixed[:high, :wide]
        return found

    def _channels(self, name: str, x: torch.Tensor, stage: int) -> torch.Tensor:
        """Attention between the channels of each group, over all cells [1, H, W, C]."""
        groups, channels = self.spec["NUM_GROUPS"][stage], x.shape[-1]
        joint = self._linear(f"{name}.qkv", x.reshape(-1, channels))
        query, key, value = (part.view(len(joint), groups, -1) for part in joint.chunk(3, -1))
        share = query.shape[-1] if self.ways.by_channel else len(joint)
        scores = torch.einsum("ngi,ngj->gij", query, key) / share**0.5
        mixed = torch.einsum("gij,ngj->ngi", scores.softmax(-1), value)
        return self._linear(f"{name}.proj", mixed.reshape(x.shape))


def _last(work: object, x: torch.Tensor) -> torch.Tensor:
    """Do something with the channels last."""
    assert callable(work)
    return work(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def _unit(vector: torch.Tensor) -> NDArray[np.float64]:
    whole = vector.double().numpy()
    return whole / np.linalg.norm(whole)
