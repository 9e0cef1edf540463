"""Tiny SigLIP checkpoints in the published layout: true classes and files, weights by name.

The SentencePiece model is written piece by piece, not trained, so that no version of the library
can change an id. ``python -m tests.peers.tiny_siglip FOLDER [SIDE]`` writes one for a golden.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from sentencepiece import sentencepiece_model_pb2
from transformers.models.siglip import SiglipConfig, SiglipModel

from engine.models.common import quiet
from tests.peers.weights import fill

WORDS = (
    "lung", "liver", "heart", "knee", "brain", "nodule", "effusion", "mass", "tear", "opacity",
    "left", "right", "upper", "lobe", "of", "mm", "image", "find", "the", "no", "acute", "null",
)  # fmt: skip
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
NORMAL, UNKNOWN, CONTROL = 1, 2, 3
SPACE = "▁"


def sentencepiece_file(path: Path) -> Path:
    """A SentencePiece model whose first ids are those of SigLIP's: padding, end, unknown."""
    model = sentencepiece_model_pb2.ModelProto()
    pieces = [("<pad>", 0.0, CONTROL), ("</s>", 0.0, CONTROL), ("<unk>", 0.0, UNKNOWN)]
    pieces += [(SPACE + word, -3.0 - 0.01 * rank, NORMAL) for rank, word in enumerate(WORDS)]
    pieces += [(SPACE, -6.0, NORMAL)]
    pieces += [(letter, -8.0 - 0.01 * rank, NORMAL) for rank, letter in enumerate(LETTERS)]
    for piece, score, kind in pieces:
        model.pieces.add(piece=piece, score=score, type=kind)
    trainer, normal = model.trainer_spec, model.normalizer_spec
    trainer.model_type, trainer.vocab_size = 1, len(pieces)
    trainer.pad_id, trainer.eos_id, trainer.unk_id, trainer.bos_id = 0, 1, 2, -1
    normal.name, normal.add_dummy_prefix = "identity", True
    normal.remove_extra_whitespaces, normal.escape_whitespaces = True, True
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path


def _token(content: str) -> dict[str, Any]:
    return {
        "content": content, "lstrip": True, "normalized": False, "rstrip": True,
        "single_word": False, "special": True,
    }  # fmt: skip


def _files(side: int) -> dict[str, Any]:
    """The small files beside the weights, with the published values."""
    return {
        "preprocessor_config.json": {
            "do_normalize": True, "do_rescale": True, "do_resize": True, "image_mean": [0.5] * 3,
            "image_std": [0.5] * 3, "image_processor_type": "SiglipImageProcessor",
            "processor_class": "SiglipProcessor", "resample": 3, "rescale_factor": 1 / 255,
            "size": {"height": side, "width": side},
        },
        "tokenizer_config.json": {
            "added_tokens_decoder": {"1": _token("</s>"), "2": _token("<unk>")},
            "additional_special_tokens": [], "clean_up_tokenization_spaces": True,
            "do_lower_case": True, "eos_token": "</s>", "model_input_names": ["input_ids"],
            "model_max_length": 64, "pad_token": "</s>", "processor_class": "SiglipProcessor",
            "sp_model_kwargs": {}, "tokenizer_class": "SiglipTokenizer", "unk_token": "<unk>",
        },
        "special_tokens_map.json": {
            name: _token(token) for name, token in
            (("eos_token", "</s>"), ("pad_token", "</s>"), ("unk_token", "<unk>"))
        },
    }  # fmt: skip


def make_siglip(folder: Path, *, image_size: int = 28, seed: int = 0) -> Path:
    """Write a tiny SigLIP checkpoint with its tokenizer and picture processor."""
    folder.mkdir(parents=True, exist_ok=True)
    sentencepiece_file(folder / "spiece.model")
    shared = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4}
    shared["num_hidden_layers"] = 2
    config = SiglipConfig(
        text_config={**shared, "vocab_size": 3 + len(WORDS) + 1 + len(LETTERS)},
        vision_config={**shared, "image_size": image_size, "patch_size": 14},
    )
    with quiet():
        model = fill(SiglipModel(config).eval(), seed)
        model.save_pretrained(folder)
    for name, content in _files(image_size).items():
        (folder / name).write_text(json.dumps(content, indent=1), encoding="utf-8")
    return folder


if __name__ == "__main__":
    make_siglip(Path(sys.argv[1]), image_size=int((*sys.argv[2:], "28")[0]))
