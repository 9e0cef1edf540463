"""Tiny Qwen3-VL-Embedding checkpoints: true architecture, real tokenizer and processor files.

Weights are written by name (``weights.fill``), so that a golden recorded elsewhere belongs to the
checkpoint made here. Two layouts: today's (``make_qwen``) and that of the published repositories
(``as_published``), which the authors' own environment reads.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)
from transformers import PreTrainedTokenizerFast
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.qwen3_vl import (
    Qwen3VLConfig,
    Qwen3VLModel,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
)

from engine.models.common import quiet
from tests.peers.tiny import SPECIALS
from tests.peers.weights import fill

# Added tokens that the family's tokenizer does not call special.
PLAIN = ("<tool_call>", "</tool_call>", "<think>", "</think>")
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Words of which every beginning is a token, so that texts join up as they do in the true one.
WORDS = (
    "system", "user", "assistant", "Ġseconds", "ĠNo", "Ġthe", "Ġof", "Ġimage", "Ġfinding",
    "Which", "Find", "Ġorgan", "ĊĊ", ".Ċ", "ĠĠĠĠ", ".<", "ĠĊ",
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
HALF: dict[str, Any] = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}


def qwen_core(*, ends_text: bool) -> Tokenizer:
    """The family's own splitting and byte-level BPE, with a few merges and all control tokens."""
    known = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges: list[tuple[str, str]] = []
    for word in WORDS:
        for end in range(1, len(word)):
            if word[: end + 1] not in known:
                known.append(word[: end + 1])
                merges.append((word[:end], word[end]))
    vocabulary = {piece: number for number, piece in enumerate(known)}
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    core.normalizer = normalizers.NFC()
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([AddedToken(token, normalized=False) for token in SPECIALS])
    core.add_tokens([AddedToken(token, normalized=False, special=False) for token in PLAIN])
    if ends_text:
        end = SPECIALS[0]
        core.post_processor = processors.TemplateProcessing(
            single=f"$A {end}", pair=f"$A $B {end}", special_tokens=[(end, core.token_to_id(end))]
        )
    return core


def qwen_tokenizer(*, ends_text: bool) -> PreTrainedTokenizerFast:
    """The same as transformers knows it."""
    return PreTrainedTokenizerFast(
        tokenizer_object=qwen_core(ends_text=ends_text),
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
            "vocab_size": 384, "max_position_embeddings": 32768, "tie_word_embeddings": True,
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
    """Write a tiny checkpoint with its processor, the same on every machine."""
    with quiet():
        tokenizer = qwen_tokenizer(ends_text=ends_text)
        processor = Qwen3VLProcessor(
            Qwen2VLImageProcessorPil(
                patch_size=16, size={"shortest_edge": 4096, "longest_edge": 1843200}, **HALF
            ),
            tokenizer,
            Qwen3VLVideoProcessor(**HALF),
            chat_template=TEMPLATE,
        )
        model = fill(Qwen3VLModel(qwen_config(tokenizer)).eval(), seed)
        model.save_pretrained(folder)
        processor.save_pretrained(folder)
    return folder


def as_published(source: Path, target: Path) -> Path:
    """The same checkpoint in the layout of the published repositories (before 5.x)."""
    shutil.copytree(source, target)
    core = json.loads((target / "tokenizer.json").read_text("utf-8"))
    keep = ("content", "lstrip", "normalized", "rstrip", "single_word", "special")
    sizes = {"patch_size": 16, "temporal_patch_size": 2, "merge_size": 2, **HALF}
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
    merges = "".join(f"{' '.join(pair)}\n" for pair in core["model"]["merges"])
    (target / "merges.txt").write_text(f"#version: 0.2\n{merges}", encoding="utf-8")
    (target / "processor_config.json").unlink()
    return target


def make_both(folder: Path) -> Path:
    """``ends`` and ``open``, with and without an end-of-text token, as they are published."""
    for name in ("ends", "open"):
        plain = make_qwen(folder / f"{name}-new", ends_text=name == "ends")
        as_published(plain, folder / name)
    return folder


if __name__ == "__main__":
    make_both(Path(sys.argv[1]))
