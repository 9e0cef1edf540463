"""Tiny adapters of MedEmb's kind, the same on every machine, in the layouts that exist.

Imported by ``golden/make_medemb.py`` as well, so nothing of the engine may be imported here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import save_file

from tests.peers.weights import values

RANK, ALPHA = 8, 32
LAYERS = 4
KEY = "base_model.model."
# Where a module of the language model, and one of the picture tower, stands in a key.
LAYOUTS = {
    "ForConditionalGeneration": ("model.language_model.", "model.visual."),
    "bare model": ("language_model.", "visual."),
    "before transformers 4.52": ("model.", "visual."),
}
NAMES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "qkv")
CASES = ("text", "image and text", "two images", "5 slices")


def modules() -> Iterator[tuple[str, str, int, int]]:
    """Part of the model, name below it, rows and columns, of every module that is changed."""
    shapes = {
        "self_attn.q_proj": (64, 64), "self_attn.k_proj": (32, 64), "self_attn.v_proj": (32, 64),
        "self_attn.o_proj": (64, 64), "mlp.gate_proj": (96, 64), "mlp.up_proj": (96, 64),
        "mlp.down_proj": (64, 96),
    }  # fmt: skip
    for layer in range(LAYERS):
        for name, (rows, columns) in shapes.items():
            yield "language", f"layers.{layer}.{name}", rows, columns
    yield "pictures", "blocks.1.attn.qkv", 96, 32
    yield "pictures", "blocks.0.attn.qkv", 96, 32
    yield "pictures", "blocks.2.attn.qkv", 96, 32


def write_adapter(folder: Path, *, layout: str, dora: bool = False, base: str = "") -> Path:
    """Write LoRA, or DoRA, tensors and their configuration."""
    heads = dict(zip(("language", "pictures"), LAYOUTS[layout], strict=True))
    tensors = {}
    for part, name, rows, columns in modules():
        key = f"{KEY}{heads[part]}{name}"
        shapes = {"lora_A.weight": (RANK, columns), "lora_B.weight": (rows, RANK)}
        for end, shape in shapes.items():
            numbers = values(f"{part}.{name}.{end}", shape, 5, spread=0.05)
            tensors[f"{key}.{end}"] = torch.from_numpy(numbers)
        if dora:
            numbers = values(f"{part}.{name}.magnitude", (rows,), 5, spread=0.2) + 0.7
            tensors[f"{key}.lora_magnitude_vector"] = torch.from_numpy(numbers)
    folder.mkdir(parents=True)
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {
        "peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "use_dora": dora, "bias": "none",
        "target_modules": list(NAMES), "base_model_name_or_path": base, "lora_dropout": 0.0,
    }  # fmt: skip
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder
