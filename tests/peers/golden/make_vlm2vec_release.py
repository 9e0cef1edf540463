"""Makes ``vlm2vec_release.json``: VLM2Vec as the benchmark's wrapper runs it, on the tiny weights.

The wrapper (``src/models/vlm2vec_v2_embedding.py`` of ziz-797/MedEEEEMbed) could be read but not
checked out, so its steps are written out anew here: peft with renamed keys, transformers 4.57.1's
own processor, vision markers and with them three-axis positions, slices shrunk bilinearly,
left padding. From the root of this project, in an environment with transformers 4.57.1 and peft::

    python -m tests.peers.vlm2vec_tiny FOLDER
    OTHER_PYTHON -m tests.peers.golden.make_vlm2vec_release FOLDER

Weights stay float32, where the benchmark says bfloat16. Never run on real weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from PIL import Image
from safetensors.torch import load_file
from transformers import AutoProcessor, Qwen2VLForConditionalGeneration

from tests.peers.vlm2vec_cases import ADAPTER, BASE, RELEASE_CASES, Case
from tests.peers.weights import digest_of

LIBRARIES = ("transformers", "peft", "torch", "torchvision", "tokenizers", "pillow", "numpy")
OUTPUT = Path(__file__).with_name("vlm2vec_release.json")
WRAP = "<|vision_start|>{}<|vision_end|>"
SHRUNK = 360 * 420


def adapted(base: Path, adapter: Path) -> Any:
    """The base with the adapter's keys renamed to today's, every one of them used."""
    plain = Qwen2VLForConditionalGeneration.from_pretrained(base, dtype=torch.float32)
    model = get_peft_model(plain, LoraConfig.from_pretrained(adapter))
    renamed = {}
    for key, value in load_file(adapter / "adapter_model.safetensors").items():
        name = key.replace("model.model.layers.", "model.model.language_model.layers.", 1)
        renamed[f"{name.removesuffix('.weight')}.default.weight"] = value
    missing, unexpected = model.load_state_dict(renamed, strict=False)
    lost = [name for name in missing if "lora" in name]
    if lost or unexpected:
        raise SystemExit(f"{len(lost)} keys missing, {len(unexpected)} unexpected")
    return model.eval()


def small(pixels: Any) -> Image.Image:
    """One slice within the area."""
    picture = Image.fromarray(pixels)
    width, height = picture.size
    if width * height <= SHRUNK:
        return picture
    scale = (SHRUNK / (width * height)) ** 0.5
    size = max(1, int(width * scale)), max(1, int(height * scale))
    return picture.resize(size, Image.Resampling.BILINEAR)


def prompt(case: Case) -> str:
    """Markers, instruction and text, joined by blanks where they are there."""
    image, video = WRAP.format("<|image_pad|>"), WRAP.format("<|video_pad|>")
    marks = video if case.volumes else image * len(case.images)
    text = case.text or ("" if marks else "NULL")
    parts = (marks, (case.instruction or "").strip(), text)
    return " ".join(part for part in parts if part).strip()


def vectors(model: Any, processor: Any, cases: list[Case]) -> list[list[float]]:
    """Cases of one kind in one batch, eight digits."""
    media: dict[str, Any] = {}
    if cases[0].volumes:
        media["videos"] = [[small(one) for one in case.volumes[0]] for case in cases]
    elif cases[0].images:
        media["images"] = [[Image.fromarray(one) for one in case.images] for case in cases]
    made = processor(
        text=[prompt(case) for case in cases], return_tensors="pt", padding=True, **media
    )
    with torch.inference_mode():
        hidden = model.get_base_model().model(**made, return_dict=True).last_hidden_state
    mask = made["attention_mask"]
    last = mask.shape[1] - mask.flip(dims=[1]).argmax(dim=1) - 1
    found = torch.nn.functional.normalize(hidden[torch.arange(len(cases)), last], dim=-1)
    return [[float(f"{number:.8g}") for number in row] for row in found.tolist()]


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    model = adapted(folder / BASE, folder / ADAPTER)
    processor = AutoProcessor.from_pretrained(folder / ADAPTER, padding_side="left")
    texts = [case for case in RELEASE_CASES.values() if not (case.images or case.volumes)]
    found: dict[str, Any] = {
        "code": "written after ziz-797/MedEEEEMbed@ce9a3801ffd2ee85b59720f50227713accfd72bf",
        "environment": [
            *(f"{name} {version(name)}" for name in LIBRARIES),
            *(type(one).__name__ for one in (processor.image_processor, processor.video_processor)),
        ],
        "checkpoint": digest_of(folder / BASE, also=("vocab.json", "merges.txt")),
        "adapter digest": digest_of(folder / ADAPTER),
        "cases": {
            name: vectors(model, processor, [case])[0] for name, case in RELEASE_CASES.items()
        },
        "batch of texts": vectors(model, processor, texts),
    }
    OUTPUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{OUTPUT.name}: {len(found['cases'])} cases\n")


if __name__ == "__main__":
    main()
