"""Tiny Qwen2-VL checkpoints for VLM2Vec and RzenEmbed: true architecture, real processor files.

Weights are written by name (``weights.fill``), so that a golden recorded elsewhere belongs to the
checkpoint made here. Two layouts: today's (``make_qwen2``) and that of the published repositories
(``as_published``): a flat ``config.json`` and the key names from before transformers 4.52.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from transformers.models.qwen2_vl import Qwen2VLConfig, Qwen2VLModel
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from engine.models.common import quiet
from tests.peers.tiny import SPECIALS
from tests.peers.weights import fill, values

LAYERS, WIDTH, INNER = 3, 64, 96
MERGES = (("i", "n"), ("Ġ", "t"), ("Ġ", "f"), ("Ġf", "in"), ("e", "n"), ("Ġ", "h"))
# How the family's tokenizer.json takes a text apart: single digits, words with what stands before.
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PIXELS = {"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 1280}
MODULES = {  # of one layer: rows and columns
    "self_attn.q_proj": (WIDTH, WIDTH), "self_attn.k_proj": (32, WIDTH),
    "self_attn.v_proj": (32, WIDTH), "self_attn.o_proj": (WIDTH, WIDTH),
    "mlp.gate_proj": (INNER, WIDTH), "mlp.up_proj": (INNER, WIDTH),
    "mlp.down_proj": (WIDTH, INNER),
}  # fmt: skip


def tokenizer_core() -> Tokenizer:
    """Byte-level BPE with a few merges and the family's control tokens."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = [*letters, *("".join(pair) for pair in MERGES)]
    core = Tokenizer(models.BPE(vocab={word: i for i, word in enumerate(words)}, merges=[*MERGES]))
    core.normalizer = normalizers.NFC()
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([AddedToken(token, normalized=False) for token in SPECIALS])
    return core


def tokenizer() -> PreTrainedTokenizerFast:
    """The same as transformers knows it."""
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer_core(),
        pad_token=SPECIALS[0],
        eos_token="<|im_end|>",
        extra_special_tokens=list(SPECIALS),
    )


def config() -> Qwen2VLConfig:
    """The configuration of specification 7.5."""
    ids = tokenizer_core().token_to_id
    return Qwen2VLConfig(
        text_config={
            "hidden_size": WIDTH, "intermediate_size": INNER, "num_hidden_layers": LAYERS,
            "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 280,
            "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
            "rope_parameters": {
                "rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 3, 3],
            },
            "bos_token_id": ids("<|endoftext|>"), "eos_token_id": ids("<|im_end|>"),
            "pad_token_id": ids("<|endoftext|>"),
        },
        vision_config={
            "depth": 2, "embed_dim": 32, "num_heads": 2, "hidden_size": WIDTH, "mlp_ratio": 4,
            "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2,
        },
        image_token_id=ids("<|image_pad|>"),
        video_token_id=ids("<|video_pad|>"),
        vision_start_token_id=ids("<|vision_start|>"),
        vision_end_token_id=ids("<|vision_end|>"),
        tie_word_embeddings=True,
    )  # fmt: skip


def model(seed: int = 0) -> Qwen2VLModel:
    """The tiny base, every weight by its name."""
    return fill(Qwen2VLModel(config()).eval(), seed)


def make_qwen2(folder: Path, *, seed: int = 0) -> Path:
    """Write a tiny Qwen2-VL in today's layout, with tokenizer and picture processor."""
    with quiet():
        model(seed).save_pretrained(folder)
        tokenizer().save_pretrained(folder)
        Qwen2VLImageProcessorPil(size=PIXELS).save_pretrained(folder)
    return folder


def as_published(folder: Path, *, seed: int = 0, head: bool = False) -> Path:
    """Write the same model as the repositories hold it: flat configuration, old key names.

    Args:
        folder: to write to, made here.
        seed: of the weights, as for ``make_qwen2``.
        head: with the language model's head, as a checkpoint has that ties no embeddings.
    """
    folder.mkdir(parents=True)
    weights = {
        name.replace("language_model.", "model.", 1): value.detach().contiguous()
        for name, value in model(seed).state_dict().items()
    }
    if head:
        weights["lm_head.weight"] = torch.from_numpy(values("lm_head.weight", (280, WIDTH), seed))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    write_processor(folder)
    (folder / "config.json").write_text(json.dumps(flat_config(tied=not head)), encoding="utf-8")
    return folder


def flat_config(*, tied: bool = True) -> dict[str, Any]:
    """``config.json`` of transformers 4.46, texts' values on the top level."""
    modern = config()
    text, vision = modern.text_config, modern.vision_config
    shared = (
        "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "vocab_size", "max_position_embeddings", "rms_norm_eps",
        "bos_token_id", "eos_token_id", "hidden_act", "initializer_range", "attention_dropout",
    )  # fmt: skip
    seen = ("depth", "embed_dim", "num_heads", "hidden_size", "mlp_ratio", "patch_size",
            "spatial_merge_size", "temporal_patch_size")  # fmt: skip
    tokens = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    return {
        "architectures": ["Qwen2VLForConditionalGeneration"],
        "model_type": "qwen2_vl",
        **{name: getattr(text, name) for name in shared},
        **{name: getattr(modern, name) for name in tokens},
        "rope_theta": 1000000.0,
        "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
        "sliding_window": 32768,
        "max_window_layers": LAYERS,
        "use_sliding_window": False,
        "tie_word_embeddings": tied,
        "torch_dtype": "float32",
        "transformers_version": "4.46.0",
        "use_cache": True,
        "vision_config": {
            "in_chans": 3, "model_type": "qwen2_vl", "spatial_patch_size": 14,
            **{name: getattr(vision, name) for name in seen},
        },
    }  # fmt: skip


def write_processor(folder: Path) -> None:
    """Tokenizer and picture processor files as the repositories hold them."""
    core = tokenizer_core()
    core.save(str(folder / "tokenizer.json"))
    content = json.loads(core.to_str())
    keep = ("content", "lstrip", "normalized", "rstrip", "single_word", "special")
    files: dict[str, Any] = {
        "vocab.json": content["model"]["vocab"],
        "tokenizer_config.json": {
            "tokenizer_class": "Qwen2Tokenizer", "bos_token": None, "unk_token": None,
            "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "errors": "replace",
            "add_prefix_space": False, "model_max_length": 32768, "padding_side": "left",
            "split_special_tokens": False, "clean_up_tokenization_spaces": False,
            "additional_special_tokens": list(SPECIALS[1:]),
            "added_tokens_decoder": {
                str(token["id"]): {name: token[name] for name in keep}
                for token in content["added_tokens"]
            },
        },
        "preprocessor_config.json": {
            "min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14,
            "temporal_patch_size": 2, "merge_size": 2,
            "image_mean": [0.48145466, 0.4578275, 0.40821073],
            "image_std": [0.26862954, 0.26130258, 0.27577711],
            "image_processor_type": "Qwen2VLImageProcessor",
            "processor_class": "Qwen2VLProcessor",
        },
    }  # fmt: skip
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    merges = "\n".join(" ".join(pair) for pair in MERGES)
    (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}\n", encoding="utf-8")


def make_adapter(
    folder: Path,
    base: Path | str,
    *,
    prefix: str = "base_model.model.model.layers.",
    magnitude: str = ".lora_magnitude_vector",
    suffix: str = ".weight",
    rank: int = 4,
    ranks: Mapping[str, int] | None = None,
    dora: bool = True,
    seed: int = 1,
    modules: tuple[str, ...] = tuple(MODULES),
    **more: Any,
) -> Path:
    """Write a LoRA or DoRA adapter on the tiny base, its keys in the layout asked for.

    Args:
        folder: to write to.
        base: named in the adapter's configuration.
        prefix: of the keys, in front of the layer's number.
        magnitude: how the magnitude vectors' keys end.
        suffix: how the other keys end.
        rank: of every module that ``ranks`` does not name by the end of its key.
        ranks: end of a key to rank; the configuration's own patterns come with ``more``.
        dora: with magnitude vectors.
        seed: of the numbers, which depend on module and part alone, not on the layout.
        modules: those of every layer that are changed.
        **more: laid over the configuration.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, torch.Tensor] = {}
    for layer in range(LAYERS):
        for module in modules:
            rows, columns = MODULES[module]
            name, key = f"{layer}.{module}", f"{prefix}{layer}.{module}"
            ends = (one for end, one in (ranks or {}).items() if key.endswith(end))
            thin = next(ends, rank)
            low = values(f"{name}.A", (thin, columns), seed)
            high = values(f"{name}.B", (rows, thin), seed)
            tensors[f"{key}.lora_A{suffix}"] = torch.from_numpy(low)
            tensors[f"{key}.lora_B{suffix}"] = torch.from_numpy(high)
            if dora:
                norms = np.abs(values(f"{name}.m", (rows,), seed, spread=0.2)) + np.float32(0.5)
                tensors[f"{key}{magnitude}"] = torch.from_numpy(norms)
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    content = {
        "base_model_name_or_path": str(base), "bias": "none", "fan_in_fan_out": False,
        "inference_mode": True, "init_lora_weights": "gaussian", "lora_alpha": 4 * rank,
        "lora_dropout": 0.1, "modules_to_save": None, "peft_type": "LORA", "r": rank,
        "target_modules": [*(name.split(".")[-1] for name in modules), "qkv_proj", "out_proj"],
        "task_type": None, "use_dora": dora, "use_rslora": False, "rank_pattern": {},
        "alpha_pattern": {}, **more,
    }  # fmt: skip
    (folder / "adapter_config.json").write_text(json.dumps(content), encoding="utf-8")
    return folder
