"""A tiny BLIP-2 for image-text retrieval: true architecture and files, made the same everywhere.

The vocabulary holds ``[DEC]`` behind its words, as LAVIS adds it, and the processor adds
``<image>`` behind that, one past the last row of the Q-Former's table, as in the published model.
"""

from __future__ import annotations

import json
import string
import sys
from pathlib import Path
from typing import Any

from transformers.models.bert import BertTokenizer
from transformers.models.blip.image_processing_pil_blip import BlipImageProcessorPil
from transformers.models.blip_2 import Blip2Config, Blip2ForImageTextRetrieval, Blip2Processor

from engine.models.common import quiet
from tests.peers.weights import fill

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (
    "lung", "nodule", "of", "mm", "left", "right", "upper", "lobe", "liver", "mass", "no", "acute",
    "heart", "size", "normal", "find", "the", "which", "organ", "is", "it", "same", "patient",
    "image", "null", "report", "##al", "##ing", "cardio", "##pulmonary", "process",
)  # fmt: skip
MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
SEED, SPREAD = 52, 0.2


def vocabulary() -> list[str]:
    """BERT's control tokens, letters alone and inside words, marks, words."""
    letters = list(string.ascii_lowercase + string.digits)
    return [*SPECIALS, *letters, *(f"##{one}" for one in letters), *string.punctuation, *WORDS]


def tokenizer_of(folder: Path) -> Any:
    """Uncased WordPiece with ``[DEC]`` added, written as ``vocab.txt``."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "vocab.txt"
    path.write_text("".join(f"{word}\n" for word in vocabulary()), encoding="utf-8", newline="\n")
    tokenizer = BertTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"bos_token": "[DEC]"})
    return tokenizer


def config_of(words: int, *, image_size: int = 28) -> Blip2Config:
    """Two layers of vision, four of the Q-Former with every other one looking at the picture.

    Args:
        words: rows of the Q-Former's table, ``[DEC]`` included.
        image_size: side of a picture in pixels.
    """
    return Blip2Config(
        vision_config={
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
            "num_attention_heads": 4, "image_size": image_size, "patch_size": 14,
        },
        qformer_config={
            "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 4,
            "num_attention_heads": 2, "vocab_size": words, "use_qformer_text_input": True,
        },
        num_query_tokens=32,
        image_text_hidden_size=16,
        image_token_index=words,
    )  # fmt: skip


def make_blip2(folder: Path, *, image_size: int = 28, seed: int = SEED) -> Path:
    """Write the checkpoint with its tokenizer and picture processor, as this library saves them."""
    with quiet():
        tokenizer = tokenizer_of(folder)
        model = Blip2ForImageTextRetrieval(config_of(len(tokenizer), image_size=image_size))
        fill(model, seed, spread=SPREAD)
        _clear_key_bias(model)
        model.save_pretrained(folder)
        images = BlipImageProcessorPil(
            size={"height": image_size, "width": image_size}, image_mean=MEAN, image_std=STD
        )
        Blip2Processor(images, tokenizer, num_query_tokens=32).save_pretrained(folder)
    return folder


def _clear_key_bias(model: Blip2ForImageTextRetrieval) -> None:
    """The authors' vision tower has no bias on its keys; a conversion writes zeros there."""
    for layer in model.vision_model.encoder.layers:
        third = len(layer.self_attn.qkv.bias) // 3
        layer.self_attn.qkv.bias.data[third : 2 * third] = 0


def as_published(folder: Path) -> Path:
    """Turn the processor's files into those of the years before 5.x, the weights untouched."""
    for name in ("processor_config.json", "tokenizer.json"):
        (folder / name).unlink(missing_ok=True)
    words = len(vocabulary())
    keep = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
    added = {
        str(index): {"content": word, "special": True, **keep}
        for index, word in [*enumerate(SPECIALS), (words, "[DEC]"), (words + 1, "<image>")]
    }
    size = json.loads((folder / "config.json").read_text("utf-8"))["vision_config"]["image_size"]
    files: dict[str, Any] = {
        "tokenizer_config.json": {
            "tokenizer_class": "BertTokenizer", "do_lower_case": True, "bos_token": "[DEC]",
            "unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]",
            "cls_token": "[CLS]", "mask_token": "[MASK]", "model_max_length": 512,
            "strip_accents": None, "tokenize_chinese_chars": True, "do_basic_tokenize": True,
            "never_split": None, "processor_class": "Blip2Processor",
            "added_tokens_decoder": added,
        },
        "preprocessor_config.json": {
            "image_processor_type": "BlipImageProcessor", "processor_class": "Blip2Processor",
            "do_convert_rgb": True, "do_resize": True, "do_rescale": True, "do_normalize": True,
            "image_mean": MEAN, "image_std": STD, "resample": 3, "rescale_factor": 1 / 255,
            "size": {"height": size, "width": size},
        },
        "processor_config.json": {"num_query_tokens": 32, "processor_class": "Blip2Processor"},
    }  # fmt: skip
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    words_file = "".join(f"{word}\n" for word in vocabulary())
    (folder / "vocab.txt").write_text(words_file, encoding="utf-8", newline="\n")
    return folder


if __name__ == "__main__":
    make_blip2(Path(sys.argv[1]))
