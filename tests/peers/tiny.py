"""Tiny checkpoints made on the spot: true architectures, true processors, random weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.qwen3_vl import (
    Qwen3VLConfig,
    Qwen3VLModel,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
)

from engine.models.common import quiet
from tests.peers.pictures import picture, volume

__all__ = [
    "SPECIALS", "as_published", "make_qwen", "picture", "qwen_config", "qwen_tokenizer", "shake",
    "volume", "write_settings",
]  # fmt: skip
SPECIALS = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
    "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
# The turns of the model's own template, written anew: media and texts in the order of the content.
TEMPLATE = (
    "{%- for message in messages -%}"
    "{{- '<|im_start|>' + message.role + '\n' -}}"
    "{%- if message.content is string -%}{{- message.content -}}{%- else -%}"
    "{%- for part in message.content -%}"
    "{%- if part.type == 'image' -%}{{- '<|vision_start|><|image_pad|><|vision_end|>' -}}"
    "{%- elif part.type == 'video' -%}{{- '<|vision_start|><|video_pad|><|vision_end|>' -}}"
    "{%- else -%}{{- part.text -}}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}"
    "{{- '<|im_end|>\n' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}"
)


def qwen_tokenizer(*, ends_text: bool) -> PreTrainedTokenizerFast:
    """Byte-level BPE without merges plus the family's control tokens."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE(vocab={letter: i for i, letter in enumerate(letters)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([AddedToken(token, normalized=False) for token in SPECIALS])
    if ends_text:
        end = SPECIALS[0]
        core.post_processor = processors.TemplateProcessing(
            single=f"$A {end}", pair=f"$A $B {end}", special_tokens=[(end, core.token_to_id(end))]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token=SPECIALS[0],
        eos_token="<|im_end|>",
        extra_special_tokens=list(SPECIALS),
    )


def qwen_config(tokenizer: Any, **text: Any) -> Qwen3VLConfig:
    """The configuration of specification 2.7."""
    ids = tokenizer.convert_tokens_to_ids
    return Qwen3VLConfig(
        text_config={
            "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
            "vocab_size": 280, "max_position_embeddings": 32768, "tie_word_embeddings": True,
            "rope_parameters": {
                "rope_type": "default", "rope_theta": 5e6,
                "mrope_section": [4, 2, 2], "mrope_interleaved": True,
            },
            "pad_token_id": ids("<|endoftext|>"), **text,
        },
        vision_config={
            "depth": 3, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2,
            "patch_size": 16, "out_hidden_size": 64, "deepstack_visual_indexes": [0, 1, 2],
        },
        image_token_id=ids("<|image_pad|>"),
        video_token_id=ids("<|video_pad|>"),
        vision_start_token_id=ids("<|vision_start|>"),
        vision_end_token_id=ids("<|vision_end|>"),
        tie_word_embeddings=True,
    )  # fmt: skip


def make_qwen(folder: Path, *, ends_text: bool = True, seed: int = 0) -> Path:
    """Write a tiny Qwen3-VL-Embedding checkpoint with its processor."""
    half = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    with quiet():
        tokenizer = qwen_tokenizer(ends_text=ends_text)
        processor = Qwen3VLProcessor(
            Qwen2VLImageProcessorPil(
                patch_size=16, size={"shortest_edge": 4096, "longest_edge": 1843200}, **half
            ),
            tokenizer,
            Qwen3VLVideoProcessor(**half),
            chat_template=TEMPLATE,
        )
        torch.manual_seed(seed)
        model = Qwen3VLModel(qwen_config(tokenizer)).eval()
        shake(model, seed)
        model.save_pretrained(folder)
        processor.save_pretrained(folder)
    return folder


def shake(model: torch.nn.Module, seed: int) -> None:
    """Make every weight matter: the default start leaves norms at one and biases at zero."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=generator))


def write_settings(folder: Path, **content: Any) -> None:
    """Write a ``triptych.json``."""
    (folder / "triptych.json").write_text(json.dumps(content), encoding="utf-8")


def as_published(source: Path, target: Path) -> Path:
    """The same checkpoint in the layout of the published repositories (before 5.x)."""
    shutil.copytree(source, target)
    core = json.loads((target / "tokenizer.json").read_text("utf-8"))
    keep = ("content", "lstrip", "normalized", "rstrip", "single_word", "special")
    half = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    sizes = {"patch_size": 16, "temporal_patch_size": 2, "merge_size": 2, **half}
    config = json.loads((target / "config.json").read_text("utf-8"))
    rope = config["text_config"].pop("rope_parameters")
    config["text_config"]["rope_theta"] = rope.pop("rope_theta")
    config["text_config"]["rope_scaling"] = rope
    files: dict[str, Any] = {
        "config.json": config,
        "vocab.json": core["model"]["vocab"],
        "tokenizer_config.json": {
            "tokenizer_class": "Qwen2Tokenizer", "bos_token": None, "unk_token": None,
            "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "errors": "replace",
            "add_prefix_space": False, "model_max_length": 262144,
            "additional_special_tokens": list(SPECIALS[1:]),
            "added_tokens_decoder": {
                str(token["id"]): {name: token[name] for name in keep}
                for token in core["added_tokens"]
            },
        },
        "preprocessor_config.json": {
            **sizes, "size": {"longest_edge": 16777216, "shortest_edge": 65536},
            "image_processor_type": "Qwen2VLImageProcessorFast",
            "processor_class": "Qwen3VLProcessor",
        },
        "video_preprocessor_config.json": {
            **sizes, "size": {"longest_edge": 25165824, "shortest_edge": 4096},
            "video_processor_type": "Qwen3VLVideoProcessor",
            "processor_class": "Qwen3VLProcessor",
        },
    }  # fmt: skip
    for name, content in files.items():
        (target / name).write_text(json.dumps(content), encoding="utf-8")
    (target / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    (target / "processor_config.json").unlink()
    return target
