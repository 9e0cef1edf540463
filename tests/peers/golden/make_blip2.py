"""Makes ``blip2.json``: the features of LAVIS, the authors' library, on the tiny checkpoint.

LAVIS runs in an environment of its own (transformers 4.33, timm 0.4.12, fairscale, omegaconf,
iopath, pandas, torch). From the root of this project, in this order::

    python -m tests.peers.tiny_blip2 CHECKPOINT
    OTHER_PYTHON -m tests.peers.golden.make_blip2 REFERENCE_CHECKOUT CHECKPOINT

The authors' model, tokenizer call, feature extraction and picture processor run as they are. Ours
are the sizes, where their constructors fetch a published model, and the names of the weights: the
renaming by which transformers converted LAVIS, read backwards. Never run on real weights.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from PIL import Image
from safetensors.torch import load_file
from transformers import BertConfig, BertTokenizer

from tests.peers.blip2_cases import PAIRS, SIZES, TEXTS, shown
from tests.peers.weights import digest_of

LIBRARIES = ("transformers", "torch", "torchvision", "timm", "tokenizers", "pillow", "numpy")
OUTPUT = Path(__file__).with_name("blip2.json")
PACKAGES = ("", ".common", ".models", ".models.blip2_models", ".models.blip_models", ".processors")
CUT = 32
SHORT = (
    ("vision_model.embeddings.class_embedding", "visual_encoder.cls_token"),
    ("vision_model.embeddings.position_embedding", "visual_encoder.pos_embed"),
    ("vision_model.embeddings.patch_embedding", "visual_encoder.patch_embed.proj"),
    ("vision_model.post_layernorm", "ln_vision"),
    ("vision_model.encoder.layers", "visual_encoder.blocks"),
    (".layer_norm", ".norm"),
    (".self_attn.", ".attn."),
    (".projection.", ".proj."),
    ("qformer.layernorm", "Qformer.bert.embeddings.LayerNorm"),
    ("qformer.encoder", "Qformer.bert.encoder"),
    ("attention.attention", "attention.self"),
    ("embeddings.word_embeddings", "Qformer.bert.embeddings.word_embeddings"),
    ("embeddings.position_embeddings", "Qformer.bert.embeddings.position_embeddings"),
    ("vision_projection", "vision_proj"),
    ("text_projection", "text_proj"),
)


def authors(reference: Path) -> ModuleType:
    """Their module, without the packages' own imports of every other model and data set."""
    for name in PACKAGES:
        package = ModuleType(f"lavis{name}")
        package.__path__ = [str(reference.joinpath("lavis", *name.split(".")[1:]))]
        sys.modules[package.__name__] = package
    sys.modules["cv2"] = ModuleType("cv2")  # only for training
    for room, part in (
        ("models", "base_model.BaseModel"),
        ("processors", "base_processor.BaseProcessor"),
    ):
        module, name = part.split(".")
        made = importlib.import_module(f"lavis.{room}.{module}")
        setattr(sys.modules[f"lavis.{room}"], name, getattr(made, name))
    return importlib.import_module("lavis.models.blip2_models.blip2_image_text_matching")


def renamed(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The checkpoint under the authors' names; one bias of three becomes theirs of two."""
    found = {}
    for name, tensor in weights.items():
        for ours, theirs in SHORT:
            name = name.replace(ours, theirs)
        if name.endswith("attn.qkv.bias"):
            third = len(tensor) // 3
            assert not tensor[third : 2 * third].any(), "their keys have no bias"
            found[name.replace("qkv.bias", "q_bias")] = tensor[:third]
            found[name.replace("qkv.bias", "v_bias")] = tensor[2 * third :]
        else:
            found[name] = tensor
    return found


def authors_model(module: ModuleType, checkpoint: Path) -> Any:
    """Their model at the checkpoint's sizes, every weight loaded."""
    config = json.loads((checkpoint / "config.json").read_text("utf-8"))
    seen, reads = config["vision_config"], config["qformer_config"]
    base = importlib.import_module("lavis.models.blip2_models.blip2")
    vit = importlib.import_module("lavis.models.eva_vit").VisionTransformer
    base.create_eva_vit_g = lambda size, *rest: vit(
        img_size=size,
        patch_size=seen["patch_size"],
        use_mean_pooling=False,
        embed_dim=seen["hidden_size"],
        depth=seen["num_hidden_layers"],
        num_heads=seen["num_attention_heads"],
        mlp_ratio=seen["intermediate_size"] / seen["hidden_size"],
        qkv_bias=True,
        norm_layer=partial(torch.nn.LayerNorm, eps=1e-6),
    )
    names = (
        "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "max_position_embeddings",
    )  # fmt: skip
    words = (checkpoint / "vocab.txt").read_text("utf-8").split()
    sizes = BertConfig(vocab_size=len(words), **{name: reads[name] for name in names})
    base.BertConfig.from_pretrained = lambda name: sizes
    base.BertLMHeadModel.from_pretrained = lambda name, config: base.BertLMHeadModel(config)
    fetch = BertTokenizer.from_pretrained
    base.BertTokenizer = ModuleType("tokenizer")
    base.BertTokenizer.from_pretrained = lambda name, **more: fetch(checkpoint, **more)
    model = module.Blip2ITM(
        img_size=seen["image_size"],
        num_query_token=config["num_query_tokens"],
        cross_attention_freq=reads["cross_attention_frequency"],
        embed_dim=config["image_text_hidden_size"],
        vit_precision="fp32",
        max_txt_len=CUT,
    )
    lost = model.load_state_dict(renamed(load_file(checkpoint / "model.safetensors")), strict=False)
    assert not lost.unexpected_keys, lost.unexpected_keys
    beyond = ("Qformer.cls.", "temp", "Qformer.bert.embeddings.position_ids")
    assert all(name.startswith(beyond) for name in lost.missing_keys), lost.missing_keys
    return model.eval()


def texts(model: Any) -> dict[str, list[float]]:
    """Texts in one batch: whole as ``extract_features`` reads them, and cut as for retrieval."""
    words = list(TEXTS.values())
    whole = model.extract_features({"text_input": words}, mode="text")
    short = model.tokenizer(
        words, padding=True, truncation=True, max_length=model.max_txt_len, return_tensors="pt"
    )
    cut = torch.nn.functional.normalize(model.text_proj(model.forward_text(short)), dim=-1)
    found = {}
    for row, name in enumerate(TEXTS):
        found[f"text, {name}"] = whole.text_embeds_proj[row, 0]
        found[f"text cut, {name}"] = cut[row]
    found["raw text, a report"] = whole.text_embeds[list(TEXTS).index("a report"), 0]
    return {name: digits(one) for name, one in found.items()}


def pictures(model: Any, prepare: Any) -> dict[str, list[float]]:
    """Pictures as ``extract_features`` sees them, and each with a text."""
    found = {}
    for name in SIZES:
        one = {"image": prepare(Image.fromarray(shown(name)))[None]}
        made = model.extract_features(one, mode="image")
        found[f"mean of queries, {name}"] = made.image_embeds_proj[0].mean(dim=0)
        if name == "wide":
            found["query 0, wide"] = made.image_embeds_proj[0, 0]
            found["raw query 0, wide"] = made.image_embeds[0, 0]
    for name, (picture, text) in PAIRS.items():
        both = {"image": prepare(Image.fromarray(shown(picture)))[None], "text_input": [text]}
        made = model.extract_features(both)
        found[f"multimodal, {name}"] = made.multimodal_embeds[0, 0]
        found[f"score, {name}"] = model(both, match_head="itc").flatten()
    return {name: digits(one) for name, one in found.items()}


def digits(numbers: torch.Tensor) -> list[float]:
    """Eight significant digits."""
    return [float(f"{number:.8g}") for number in numbers.tolist()]


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reference", type=Path)
    parser.add_argument("checkpoint", type=Path)
    asked = parser.parse_args()
    commit = subprocess.run(
        ["git", "-C", asked.reference, "rev-parse", "HEAD"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    model = authors_model(authors(asked.reference), asked.checkpoint)
    processors = importlib.import_module("lavis.processors.blip_processors")
    side = model.visual_encoder.image_size
    prepare = processors.BlipImageEvalProcessor(image_size=side)
    with torch.no_grad():
        cases = texts(model) | pictures(model, prepare)
    content = {
        "code": f"salesforce/LAVIS@{commit}",
        "environment": [f"{name} {version(name)}" for name in LIBRARIES],
        "checkpoint": digest_of(asked.checkpoint, also=("vocab.txt",)),
        "cases": cases,
    }
    OUTPUT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
