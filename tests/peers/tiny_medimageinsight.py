"""A tiny MedImageInsight in its authors' own layout, and the items it is held to its goldens with.

Needs neither the engine nor transformers, so that the script that makes the goldens writes the very
same folder in the authors' environment: names and shapes of every tensor stand here once more.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from PIL import Image
from safetensors.numpy import load_file, save_file
from tokenizers import pre_tokenizers

from tests.peers.weights import values

SEED, SPREAD = 64, 0.12
ROOT = "2024.09.27"
WEIGHTS = "vision_model/medimageinsigt-v1.0.0.pt"  # the spelling is theirs; safetensors inside
TOKENIZER = "language_model/clip_tokenizer_4.16.2"
START, END = "<|startoftext|>", "<|endoftext|>"
# one token each; and some whose merges meet others before they are done
WHOLE = (
    "lung", "nodule", "of", "mm", "in", "the", "left", "upper", "lobe", "no", "acute", "heart",
    "size", "normal", "mass", "liver", "patient", "finding", "find", "right", "lower", "report",
)  # fmt: skip
WORDS = (*WHOLE, "image", "effusion", "fibrosis", "chest", "radiograph")
CONFIG: dict[str, Any] = {
    "TASK": "UniCLTask",
    "VERBOSE": False,
    "IMAGE_ENCODER": {
        "NAME": "davit_v1", "NUM_CLASSES": 0, "IMAGE_SIZE": [96, 96],
        "LOAD_PRETRAINED": True, "PRETRAINED": "", "PRETRAINED_LAYERS": "*",
        "IMAGE_MEAN": [0.485, 0.456, 0.406], "IMAGE_STD": [0.229, 0.224, 0.225],
        "SPEC": {
            "DROP_RATE": 0.1, "DROP_PATH_RATE": 0.2,
            "PATCH_SIZE": [7, 3, 3, 3], "PATCH_STRIDE": [4, 2, 2, 2],
            "PATCH_PADDING": [3, 1, 1, 1], "PATCH_PRENORM": [False, True, True, True],
            "DIM_EMBED": [16, 32, 64, 128], "NUM_HEADS": [2, 4, 8, 16],
            "NUM_GROUPS": [2, 4, 8, 16], "DEPTHS": [1, 1, 2, 1], "WINDOW_SIZE": 12,
            "ENABLE_CHECKPOINT": False,
        },
    },
    "LANG_ENCODER": {
        "NAME": "transformer", "LOAD_PRETRAINED": False, "PRETRAINED": "",
        "PRETRAINED_LAYERS": "*", "TOKENIZER": "clip", "CONTEXT_LENGTH": 77, "WIDTH": 32,
        "HEADS": 4, "LAYERS": 2, "AUTOGRESSIVE": False,
    },
    "UNICL_MODEL": {
        "DIM_PROJECTION": 32, "GATHER_TENSORS": True, "LOAD_PRETRAINED": True, "PRETRAINED": "",
        "PRETRAINED_LAYERS": "*",
    },
    "AUG": {"INTERPOLATION": "bicubic"},
    "TEST": {"CENTER_CROP": False},
}  # fmt: skip


def config_of(**changes: object) -> dict[str, Any]:
    """The configuration with some entries changed, named like ``LANG_ENCODER.WIDTH``."""
    config = copy.deepcopy(CONFIG)
    for name, value in changes.items():
        *groups, last = name.split(".")
        place = config
        for group in groups:
            place = place[group]
        place[last] = value
    return config


def vocabulary() -> tuple[dict[str, int], list[str]]:
    """A CLIP vocabulary: bytes, bytes that end a word, merges, the two control tokens last."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges: dict[str, None] = {}
    for word in WORDS:
        pieces = [*word[:-1], f"{word[-1]}</w>"]
        while len(pieces) > 1:
            merges[f"{pieces[0]} {pieces[1]}"] = None
            pieces[:2] = [pieces[0] + pieces[1]]
    names = [*letters, *(f"{letter}</w>" for letter in letters)]
    names += [merge.replace(" ", "") for merge in merges]
    return {name: row for row, name in enumerate(dict.fromkeys([*names, START, END]))}, [*merges]


def write_tokenizer(folder: Path) -> int:
    """The four files of the published tokenizer; returns the number of tokens."""
    folder.mkdir(parents=True)
    words, merges = vocabulary()
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True}
    marks = {
        "bos_token": {"content": START, **plain},
        "eos_token": {"content": END, **plain},
        "unk_token": {"content": END, **plain},
    }
    _write_json(folder / "vocab.json", words)
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")
    _write_json(folder / "special_tokens_map.json", {**marks, "pad_token": END})
    typed = {name: {**mark, "__type": "AddedToken"} for name, mark in marks.items()}
    rest = {
        "errors": "replace", "pad_token": END, "add_prefix_space": False, "do_lower_case": True,
        "name_or_path": "openai/clip-vit-base-patch32", "model_max_length": 77,
        "tokenizer_class": "CLIPTokenizer",
    }  # fmt: skip
    _write_json(folder / "tokenizer_config.json", {**typed, **rest})
    return len(words)


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def shapes(config: Mapping[str, Any], words: int) -> dict[str, tuple[int, ...]]:
    """Every tensor of the authors' model, by today's name in their code."""
    language, dim = config["LANG_ENCODER"], config["UNICL_MODEL"]["DIM_PROJECTION"]
    image, width = config["IMAGE_ENCODER"]["SPEC"]["DIM_EMBED"][-1], language["WIDTH"]
    found: dict[str, tuple[int, ...]] = {
        "logit_scale": (),
        "lang_projection": (width, dim),
        "image_projection": (image, dim),
        "lang_encoder.positional_embedding": (language["CONTEXT_LENGTH"], width),
        "lang_encoder.token_embedding.weight": (words, width),
        **_pair("lang_encoder.ln_final", width),
        **_pair("image_encoder.norms", image),
    }
    for layer in range(language["LAYERS"]):
        found |= _text_block(f"lang_encoder.resblocks.{layer}", width)
    return found | _davit(config["IMAGE_ENCODER"]["SPEC"])


def _pair(name: str, *weight: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": weight, f"{name}.bias": weight[:1]}


def _text_block(name: str, width: int) -> dict[str, tuple[int, ...]]:
    return {
        f"{name}.attn.in_proj_weight": (3 * width, width),
        f"{name}.attn.in_proj_bias": (3 * width,),
        **_pair(f"{name}.attn.out_proj", width, width),
        **_pair(f"{name}.ln_1", width),
        **_pair(f"{name}.ln_2", width),
        **_pair(f"{name}.mlp.c_fc", 4 * width, width),
        **_pair(f"{name}.mlp.c_proj", width, 4 * width),
    }


def _davit(spec: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    before = 3
    for stage, width in enumerate(spec["DIM_EMBED"]):
        size, first = spec["PATCH_SIZE"][stage], spec["PATCH_PRENORM"][stage]
        found |= _pair(f"image_encoder.convs.{stage}.proj", width, before, size, size)
        found |= _pair(f"image_encoder.convs.{stage}.norm", before if first else width)
        for depth in range(spec["DEPTHS"][stage]):
            for kind, attention in (("spatial", "window"), ("channel", "channel")):
                name = f"image_encoder.blocks.{stage}.{depth}.{kind}_block"
                found |= _davit_block(name, attention, width)
        before = width
    return found


def _davit_block(name: str, attention: str, width: int) -> dict[str, tuple[int, ...]]:
    return {
        **_pair(f"{name}.conv1.fn.dw", width, 1, 3, 3),
        **_pair(f"{name}.{attention}_attn.norm", width),
        **_pair(f"{name}.{attention}_attn.fn.qkv", 3 * width, width),
        **_pair(f"{name}.{attention}_attn.fn.proj", width, width),
        **_pair(f"{name}.conv2.fn.dw", width, 1, 3, 3),
        **_pair(f"{name}.ffn.norm", width),
        **_pair(f"{name}.ffn.fn.net.fc1", 4 * width, width),
        **_pair(f"{name}.ffn.fn.net.fc2", width, 4 * width),
    }


def make_medimageinsight(folder: Path, *, seed: int = SEED, **changes: object) -> Path:
    """Write the published layout with tiny sizes: ``2024.09.27/`` and all that is below it.

    Args:
        folder: is made.
        seed: of the weights.
        changes: entries of ``config.yaml``, named like ``IMAGE_ENCODER.IMAGE_SIZE``.
    """
    config, root = config_of(**changes), folder / ROOT
    words = write_tokenizer(root / TOKENIZER)
    (root / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (root / WEIGHTS).parent.mkdir()
    tensors = {
        name: np.ascontiguousarray(values(name, shape, seed, spread=SPREAD))
        for name, shape in shapes(config, words).items()
    }
    save_file(tensors, root / WEIGHTS)
    return folder


def digest(folder: Path) -> str:
    """Hex digest (16 letters) over the tensors, the vocabulary and the configuration."""
    root, whole = folder / ROOT, hashlib.sha256()
    for name, tensor in sorted(load_file(root / WEIGHTS).items()):
        whole.update(f"{name}:{tensor.shape}:{tensor.dtype}\n".encode() + tensor.tobytes())
    for name in ("vocab.json", "merges.txt"):
        whole.update((root / TOKENIZER / name).read_bytes())
    config = yaml.safe_load((root / "config.yaml").read_text("utf-8"))
    whole.update(json.dumps(config, sort_keys=True).encode())
    return whole.hexdigest()[:16]


DAVIT_PARTS = {
    "conv1.fn.dw": "cpe.0.proj", "conv2.fn.dw": "cpe.1.proj", "ffn.norm": "norm2",
    "ffn.fn.net": "mlp", "window_attn.norm": "norm1", "channel_attn.norm": "norm1",
    "window_attn.fn": "attn", "channel_attn.fn": "attn",
}  # fmt: skip


def davit_name(name: str) -> str:
    """A name of today's in DaViT's own repository."""
    name = name.replace("image_encoder.convs.", "image_encoder.conv_embeds.")
    name = name.replace("image_encoder.blocks.", "image_encoder.main_blocks.")
    name = name.replace(".spatial_block.", ".0.").replace(".channel_block.", ".1.")
    for today, old in DAVIT_PARTS.items():
        name = name.replace(f".{today}.", f".{old}.")
    return name


def old_name(name: str) -> str:
    """A name of today's under the older starts."""
    if name in ("image_projection", "lang_projection"):
        return {"image": "vision_projection", "lang": "text_projection"}[name.split("_")[0]]
    return name.replace("image_encoder.", "visual.", 1).replace("lang_encoder.", "text.", 1)


def picture(height: int, width: int, seed: int = 0) -> NDArray[np.uint8]:
    """A picture [H, W, 3] of whole numbers only, the same on every machine."""
    rows, columns = np.mgrid[0:height, 0:width]
    folds = np.abs((rows * (3 + seed % 5) + columns * (2 + seed % 3)) % 256 - 128)
    noise = np.random.default_rng([seed, height, width]).integers(0, 100, (height, width, 3))
    return np.clip(folds[..., None] + noise, 0, 255).astype(np.uint8)


def volume(count: int, height: int = 40, width: int = 30) -> NDArray[np.uint8]:
    """Slices [S, H, W, 3]."""
    return np.stack([picture(height, width, number) for number in range(count)])


def files() -> dict[str, tuple[Image.Image, NDArray[np.uint8]]]:
    """Pictures as they lie on disk, each with the colours [H, W, 3] it stands for."""
    colours = picture(60, 44, 3)
    grey, rows = colours[..., 0], colours[..., 1] % 64
    table = picture(64, 1, 5)[:, 0]
    palette = Image.fromarray(rows)
    palette.putpalette(table.tobytes())
    alpha = np.where(np.arange(44) < 20, 0, 255).astype(np.uint8) + np.zeros((60, 1), np.uint8)
    return {
        "grey": (Image.fromarray(grey), np.dstack([grey] * 3)),
        "palette": (palette, table[rows]),
        "RGBA": (
            Image.fromarray(np.dstack([colours, alpha])),
            np.where(alpha[..., None] == 0, 255, colours).astype(np.uint8),
        ),
    }


def words(count: int) -> str:
    """A text of that many tokens."""
    return " ".join(WHOLE[number * 7 % len(WHOLE)] for number in range(count))


TEXTS: dict[str, str] = {
    "no token": "",
    "one token": "lung",
    **{f"{count} tokens": words(count) for count in (63, 64, 75, 76, 77, 78, 200)},
    "capitals": "LUNG Nodule of 3 MM",
    "words of no merge": "Pneumothorax, bilateral: 12.5x7 cm!",
    "white space": "  lung\t nodule\r\n\n of\u00a0 3   mm ",
    "curled quotes": "the patient\u2019s \u201cheart\u201d isn\u2019t normal",
    "ligature and full width": "\ufb01brosis \uff2c\uff35\uff2e\uff27",
    "accents": "R\u00f6ntgen, e\u0301panchement, \u039f\u0394\u039f\u03a3, \u0130STANBUL",
    "other scripts": "\u80ba\u7ed3\u8282 \u043b\u0451\u0433\u043a\u0438\u0435 \U0001fac1 3\u00b2",
    "broken encoding": "effusion \u00e2\u20ac\u201c 3\u00c2\u00b0, caf\u00c3\u00a9",
    "escaped": "liver &lt; 3 mm &amp; lung",
    "control characters": "lung\u0000 nodule\u200b of\ufeff 3\u2028mm",
}
PICTURES: dict[str, tuple[int, int]] = {
    "the model's own size": (96, 96),
    "wide": (50, 300),
    "tall": (200, 90),
    "tiny": (3, 5),
    "large": (512, 480),
}
TYPED = {"lower": f"lung{END} mass", "capitals": f"lung {END.upper()} mass"}
BROKEN_UP = {"lower": "lung< |endoftext|> mass", "capitals": "lung < |endoftext|> mass"}
MIXED = ("63 tokens", "tall")  # a text, a picture, and the volume of five slices
SLICES = {"5 slices": 5, "64 slices": 64, "100 slices": 100}
