"""Two references for SigLIP that share nothing with the adapter but the checkpoint.

``Plain`` calls transformers' model one text or picture at a time, as the authors' cards do.
``Written`` is the architecture written out in numpy, float64, from the paper's and card's facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
import transformers
from PIL import Image
from safetensors.numpy import load_file
from transformers import AutoImageProcessor
from transformers.models.siglip import SiglipModel, SiglipTokenizer

from engine.evidence.item import ModelInput
from engine.models.common import quiet

TRANSFORMERS = f"transformers {transformers.__version__}, one at a time"
WRITTEN = "the architecture written in numpy, float64"
RELEASE = "plain loop of the release's rule"


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def mean(*vectors: np.ndarray) -> np.ndarray:
    return unit(np.mean(vectors, axis=0))


class Plain:
    """transformers and nothing else."""

    def __init__(self, folder: Path) -> None:
        with quiet():
            self.model = SiglipModel.from_pretrained(folder, dtype=torch.float32).eval()
            self.tokenizer = SiglipTokenizer.from_pretrained(folder)
            self.images = AutoImageProcessor.from_pretrained(folder, backend="pil")

    def raw_text(self, text: str, *, padding: str = "max_length", mask: bool = False) -> np.ndarray:
        """The text tower's vector; a longer text beside it gives ``longest`` a length."""
        made = self.tokenizer(
            [text, "lung mass " * 6],
            padding=padding,
            max_length=64,
            truncation=True,
            return_tensors="pt",
        )
        options = {"attention_mask": made["input_ids"] != 1} if mask else {}
        with torch.no_grad():
            found = self.model.get_text_features(input_ids=made["input_ids"], **options)
        return found.pooler_output[0].numpy()

    def raw_image(self, pixels: np.ndarray, **options: object) -> np.ndarray:
        with torch.no_grad():
            made = self.images(Image.fromarray(pixels), return_tensors="pt", **options)
            found = self.model.get_image_features(pixel_values=made["pixel_values"])
        return found.pooler_output[0].numpy()

    def text(self, text: str, *, padding: str = "max_length", mask: bool = False) -> np.ndarray:
        return unit(self.raw_text(text, padding=padding, mask=mask))

    def image(self, pixels: np.ndarray, **options: object) -> np.ndarray:
        return unit(self.raw_image(pixels, **options))

    def item(self, item: ModelInput) -> np.ndarray:
        """One item as the paper has it: fields unit, slices and pictures pooled first."""
        fields = [self.text(" ".join(item.texts))] if any(item.texts) else []
        if item.images:
            fields.append(mean(*map(self.image, item.images)))
        fields += [mean(*map(self.image, one)) for one in item.volumes]
        return mean(*fields)

    def release(self, item: ModelInput) -> np.ndarray:
        """One item as the benchmark's wrapper has it (medheb_release.md 3)."""
        parts = []
        frames = [one for stack in (item.images, *item.volumes) for one in stack]
        if frames:
            parts.append(np.mean([self.raw_image(one) for one in frames], axis=0))
        for text in (" ".join(item.texts), item.instruction):
            if text:
                parts.append(self.raw_text(text))
        if not parts:
            parts.append(self.raw_text("NULL"))
        return unit(np.mean(parts, axis=0))


class Written:
    """SigLIP's two towers in numpy; heads of width 8, sigmoid loss and its scalars unused."""

    def __init__(self, folder: Path, *, heads: int = 4, layers: int = 2, patch: int = 14) -> None:
        found = load_file(folder / "model.safetensors")
        self.weights = {name: value.astype(np.float64) for name, value in found.items()}
        self.heads, self.layers, self.patch = heads, layers, patch
        with quiet():
            self.tokenizer = SiglipTokenizer.from_pretrained(folder)
        count = self.weights["vision_model.embeddings.position_embedding.weight"].shape[0]
        self.grid = round(count**0.5)

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-6)
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attend(self, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        q, k, v = (one.reshape(len(one), self.heads, -1).swapaxes(0, 1) for one in (q, k, v))
        scores = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
        share = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = share / share.sum(-1, keepdims=True) @ v
        return mixed.swapaxes(0, 1).reshape(mixed.shape[1], -1)

    def mlp(self, x: np.ndarray, name: str) -> np.ndarray:
        h = self.linear(x, f"{name}.fc1")
        h = 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)))
        return self.linear(h, f"{name}.fc2")

    def blocks(self, x: np.ndarray, tower: str) -> np.ndarray:
        for number in range(self.layers):
            name = f"{tower}.encoder.layers.{number}"
            h = self.norm(x, f"{name}.layer_norm1")
            q, k, v = (self.linear(h, f"{name}.self_attn.{part}_proj") for part in "qkv")
            x = x + self.linear(self.attend(q, k, v), f"{name}.self_attn.out_proj")
            x = x + self.mlp(self.norm(x, f"{name}.layer_norm2"), f"{name}.mlp")
        return x

    def text(self, text: str) -> np.ndarray:
        ids = self.tokenizer(text, padding="max_length", max_length=64, truncation=True)
        x = self.weights["text_model.embeddings.token_embedding.weight"][ids["input_ids"]]
        x = x + self.weights["text_model.embeddings.position_embedding.weight"]
        x = self.norm(self.blocks(x, "text_model"), "text_model.final_layer_norm")
        return unit(self.linear(x[-1], "text_model.head"))

    def image(self, pixels: np.ndarray, *, side: int) -> np.ndarray:
        """Squashed with Pillow's bicubic to ``side``, then cut into whole patches."""
        shown = Image.fromarray(pixels).resize((side, side), Image.Resampling.BICUBIC)
        grid, patch = self.grid, self.patch
        x = (np.asarray(shown) / 255 - 0.5) / 0.5
        x = x[: grid * patch, : grid * patch].reshape(grid, patch, grid, patch, 3)
        x = x.transpose(0, 2, 4, 1, 3).reshape(grid * grid, -1)
        kernel = self.weights["vision_model.embeddings.patch_embedding.weight"]
        x = x @ kernel.reshape(len(kernel), -1).T
        x = x + self.weights["vision_model.embeddings.patch_embedding.bias"]
        x = x + self.weights["vision_model.embeddings.position_embedding.weight"]
        x = self.norm(self.blocks(x, "vision_model"), "vision_model.post_layernorm")
        return unit(self.pooled(x))

    def pooled(self, x: np.ndarray) -> np.ndarray:
        """The learned query of the picture tower, [D]."""
        weights: Mapping[str, np.ndarray] = self.weights
        name = "vision_model.head"
        into = zip(
            np.split(weights[f"{name}.attention.in_proj_weight"], 3),
            np.split(weights[f"{name}.attention.in_proj_bias"], 3),
            strict=True,
        )
        (wq, bq), (wk, bk), (wv, bv) = into
        mixed = self.attend(weights[f"{name}.probe"][0] @ wq.T + bq, x @ wk.T + bk, x @ wv.T + bv)
        h = self.linear(mixed, f"{name}.attention.out_proj")
        return (h + self.mlp(self.norm(h, f"{name}.layernorm"), f"{name}.mlp"))[0]
