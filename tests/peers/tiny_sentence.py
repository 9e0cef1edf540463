"""Tiny sentence-transformers folders, saved by the library itself: texts only, CLIP, Qwen3-VL."""

from __future__ import annotations

import json
from pathlib import Path

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
from transformers import (
    BertConfig,
    BertModel,
    BertTokenizerFast,
    CLIPConfig,
    CLIPImageProcessor,
    CLIPModel,
    CLIPProcessor,
    CLIPTokenizer,
)

from engine.models.common import quiet
from tests.peers.weights import fill

WORDS = ("lung", "liver", "nodule", "mass", "left", "right", "find", "the", "null", "of", "mm")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,:;!?()[]</>|_-"


def make_bert(folder: Path) -> Path:
    """A BERT with mean pooling, a dense layer and unit length, 32 positions."""
    plain = folder.with_name(f"{folder.name}-plain")
    plain.mkdir(parents=True)
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*specials, *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    (plain / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=48, max_position_embeddings=32,
    )  # fmt: skip
    with quiet():
        fill(BertModel(config), 0).save_pretrained(plain)
        BertTokenizerFast(str(plain / "vocab.txt"), model_max_length=32).save_pretrained(plain)
        first = modules.Transformer(str(plain), max_seq_length=32)
        dense = fill(modules.Dense(32, 24), 1)
        parts = [first, modules.Pooling(32, "mean"), dense, modules.Normalize()]
        SentenceTransformer(modules=parts, device="cpu").save(str(folder), create_model_card=False)
    return folder


def make_clip(folder: Path) -> Path:
    """A CLIP whose vectors come raw, 77 positions, 28 px."""
    plain = folder.with_name(f"{folder.name}-plain")
    plain.mkdir(parents=True)
    letters = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS)]
    pieces = [*letters, "<|startoftext|>", "<|endoftext|>"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    (plain / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (plain / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    shared = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    ends = {"bos_token_id": len(letters), "eos_token_id": len(letters) + 1}
    config = CLIPConfig(
        text_config={**shared, **ends, "intermediate_size": 48, "vocab_size": len(pieces),
                     "max_position_embeddings": 77},
        vision_config={**shared, "intermediate_size": 48, "image_size": 28, "patch_size": 14},
        projection_dim=24,
    )  # fmt: skip
    with quiet():
        fill(CLIPModel(config), 0).save_pretrained(plain)
        tokenizer = CLIPTokenizer.from_pretrained(plain)
        tokenizer.model_max_length = 77
        images = CLIPImageProcessor(
            size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}
        )
        CLIPProcessor(images, tokenizer).save_pretrained(plain)
        model = SentenceTransformer(modules=[modules.Transformer(str(plain))], device="cpu")
        model.save(str(folder), create_model_card=False)
    return folder


def make_mixing(qwen: Path, folder: Path) -> Path:
    """The tiny Qwen3-VL-Embedding as the library would publish it: last token, unit length."""
    with quiet():
        asked = {"chat_template": {"add_generation_prompt": True}}
        first = modules.Transformer(str(qwen), processing_kwargs=asked)
        parts = [first, modules.Pooling(64, "lasttoken"), modules.Normalize()]
        SentenceTransformer(modules=parts, device="cpu").save(str(folder), create_model_card=False)
    return folder
