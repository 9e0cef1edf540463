"""What lies in a nano's folder besides its weights: configs, settings, card. Owns their content.

The architectures are the true ones of ``transformers``, only narrow and shallow. Weights are kept
as float16 and computed with as float32: every float16 number is a float32 number, so loading is
exact. Refuses folders over the size that may be shipped.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import torch
from safetensors import safe_open
from sentencepiece import SentencePieceProcessor
from tokenizers import Tokenizer
from transformers import Qwen3VLConfig, Qwen3VLModel, SiglipConfig, SiglipModel

from engine.models.common import quiet
from studies.demo.nano.make_tokenizers import write_qwen_processor, write_siglip_processor

SIDE = 96
WIDTH = 128
SPREAD = 0.06  # of the first weights: near 1 / sqrt(width), so that inputs tell apart at once
MOST_BYTES = 8_000_000
# Areas that bring pictures and slices of nearly square shape to 96 x 96 (9216) by the adapter's
# own rules: a little below, so that rounding never takes the next multiple of 32, and up to
# 96 x 128 above.
QWEN_SETTINGS = {
    "min_pixels": 9_000,
    "max_pixels": 12_288,
    "slice_max_pixels": 12_288,
    "video_min_pixels": 9_000,
    "video_max_pixels": 12_288,
    "max_tokens": 4_096,
}
TITLES = {
    "qwen3-vl-embedding-nano": "Qwen3-VL-Embedding nano (demo)",
    "medemb-nano": "MedEmb nano (demo)",
    "siglip-nano": "SigLIP nano (demo)",
}
FAMILIES = {
    "qwen3-vl-embedding-nano": "qwen3-vl-embedding",
    "medemb-nano": "medemb",
    "siglip-nano": "siglip",
}
LABEL = "Demo model, trained on generated pictures; no medical knowledge, never for patients."


def qwen_config(tokenizer: Tokenizer) -> Qwen3VLConfig:
    """A Qwen3-VL of about 1.8 million parameters."""
    text = {
        "vocab_size": _rounded(tokenizer.get_vocab_size()),
        "hidden_size": WIDTH,
        "intermediate_size": 384,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "max_position_embeddings": 4096,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10_000.0,
            "mrope_section": [6, 5, 5],
            "mrope_interleaved": True,
        },
        "tie_word_embeddings": True,
        "initializer_range": SPREAD,
    }
    vision = {
        "depth": 4,
        "hidden_size": 96,
        "intermediate_size": 192,
        "num_heads": 4,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "out_hidden_size": WIDTH,
        "num_position_embeddings": (SIDE // 16) ** 2,
        "deepstack_visual_indexes": [1],
        "initializer_range": SPREAD,
    }
    names = {
        "image_token_id": "<|image_pad|>",
        "video_token_id": "<|video_pad|>",
        "vision_start_token_id": "<|vision_start|>",
        "vision_end_token_id": "<|vision_end|>",
    }
    ids = {name: tokenizer.token_to_id(token) for name, token in names.items()}
    return Qwen3VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=True, **ids)


def siglip_config(vocabulary: int) -> SiglipConfig:
    """A SigLIP of about 1.8 million parameters in two towers."""
    shared = {
        "hidden_size": WIDTH,
        "intermediate_size": 384,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
    }
    text = shared | {
        "vocab_size": _rounded(vocabulary),
        "max_position_embeddings": 64,
        "pad_token_id": 1,
        "eos_token_id": 1,
        "bos_token_id": None,
    }
    return SiglipConfig(
        text_config=text, vision_config=shared | {"image_size": SIDE, "patch_size": 16}
    )


def new_qwen_folder(folder: Path, tokenizer: Tokenizer, *, seed: int) -> None:
    """Write a Qwen3-VL nano with random weights."""
    write_qwen_processor(folder, tokenizer, pixels=SIDE * SIDE)
    torch.manual_seed(seed)
    save_weights(Qwen3VLModel(qwen_config(tokenizer)), folder)
    write_settings(folder)


def new_siglip_folder(folder: Path, pieces: bytes, *, seed: int) -> None:
    """Write a SigLIP nano with random weights."""
    write_siglip_processor(folder, pieces, side=SIDE)
    vocabulary = SentencePieceProcessor(model_proto=pieces).get_piece_size()
    torch.manual_seed(seed)
    save_weights(SiglipModel(siglip_config(vocabulary)), folder)
    write_settings(folder)


def save_weights(model: torch.nn.Module, folder: Path) -> None:
    """Write ``config.json`` and ``model.safetensors`` in float16; the model itself is unchanged."""
    state = {name: value.detach().half() for name, value in model.state_dict().items()}
    with quiet():
        model.save_pretrained(folder, state_dict=state)  # type: ignore[operator]
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for part in (config, config["text_config"], config["vision_config"]):
        part["dtype"] = "float16"
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def write_settings(folder: Path) -> None:
    """Write ``triptych.json``: family, title, label and what differs from the family."""
    family = FAMILIES[folder.name]
    document = {
        "id": folder.name,
        "title": TITLES[folder.name],
        "family": family,
        "demo": True,
        "note": LABEL,
        "settings": {} if family == "siglip" else QWEN_SETTINGS,
    }
    path = folder / "triptych.json"
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _rounded(vocabulary: int) -> int:
    """The next multiple of 64."""
    return -(-vocabulary // 64) * 64


def parameter_count(folder: Path) -> int:
    """Numbers in the weights of a model folder."""
    with safe_open(folder / "model.safetensors", framework="pt") as weights:
        return sum(weights.get_tensor(name).numel() for name in weights.keys())  # noqa: SIM118


def weights_digest(folder: Path) -> str:
    """SHA-256 of the weights file."""
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def folder_bytes(folder: Path) -> int:
    """Size of everything in a model folder."""
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
