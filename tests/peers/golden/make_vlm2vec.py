"""Makes ``vlm2vec.json``: the vectors of VLM2Vec's authors' code on the tiny base and adapter.

Their code wants transformers 4.52.3 and peft, so it runs in an environment of its own (with torch,
torchvision, Pillow, accelerate). From the root of this project::

    python -m tests.peers.vlm2vec_tiny FOLDER
    OTHER_PYTHON -m tests.peers.golden.make_vlm2vec REFERENCE_CHECKOUT FOLDER

Their processor, prompt function, batch function, model, adapter loading and pooling run as they
are. Three things are not theirs, all put in place while they run: weights stay float32 where they
say bfloat16, attention is ``sdpa`` where they say flash attention, and the other models that their
modules import are empty stand-ins. Never run on real weights.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from PIL import Image

from tests.peers.vlm2vec_cases import ADAPTER, BASE, BATCH, CASES, KINDS, MARKED, PROBES, Case
from tests.peers.weights import digest_of

LIBRARIES = ("transformers", "peft", "torch", "tokenizers", "pillow", "numpy")
OUTPUT = Path(__file__).with_name("vlm2vec.json")
OTHERS = (
    "src.model.baseline_backbone",
    "src.model.vlm_backbone.qwen2_vl_tokenselection",
    "src.model.vlm_backbone.qwen2_5_vl",
)


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Empty modules for the other models, any name in them an empty class."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.startswith(OTHERS):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> ModuleType:
        module = ModuleType(spec.name)
        module.__getattr__ = lambda name: type(name, (), {})  # type: ignore[method-assign]
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


class Authors:
    """Their modules, and one of their models at a time."""

    def __init__(self, checkout: Path) -> None:
        sys.meta_path.insert(0, StandIns())
        sys.path.insert(0, str(checkout))
        self.arguments = importlib.import_module("src.arguments")
        self.steps = importlib.import_module("src.model.processor")
        self.models = importlib.import_module("src.model.model")
        theirs = self.models.backbone2model[self.steps.QWEN2_VL]

        class Plain(theirs):  # type: ignore[misc, valid-type]
            """Their model in float32 and without flash attention."""

            @classmethod
            def from_pretrained(cls, name: str, *, config: Any, **options: Any) -> Any:
                config._attn_implementation = "sdpa"
                config.vision_config._attn_implementation = "sdpa"
                options["torch_dtype"] = torch.float32
                return theirs.from_pretrained(name, config=config, **options)

        self.models.backbone2model[self.steps.QWEN2_VL] = Plain

    def load(self, name: Path, *, adapter: Path | None = None, lora: bool = True) -> None:
        """Their model and processor; ``adapter`` is their ``checkpoint_path``."""
        chosen = self.arguments.ModelArguments(
            model_name=str(name), checkpoint_path=str(adapter) if adapter else None,
            pooling="last", normalize=True, model_backbone="qwen2_vl", lora=lora,
        )  # fmt: skip
        self.processor = self.steps.load_processor(chosen, self.arguments.DataArguments())
        self.model = self.models.MMEBModel.load(chosen).float().eval()

    def prompt(self, case: Case, *, marked: bool = False) -> str:
        """What their function, or their evaluation's few lines around it, make of a case."""
        image, video = (tokens[self.steps.QWEN2_VL] for tokens in (
            self.steps.VLM_IMAGE_TOKENS, self.steps.VLM_VIDEO_TOKENS
        ))  # fmt: skip
        if case == Case():
            return "  "  # as their collator has it
        if case.instruction is None and not (case.images or case.volumes):
            return case.text or ""
        said = case.instruction or ""
        if case.mmeb and not case.images:
            return f"{said} {case.text}\n"
        made = self.steps.process_input_text(
            "\n" + said.strip() if case.mmeb else said,
            self.steps.QWEN2_VL,
            text=case.text,
            add_image_token=bool(case.images),
            add_video_token=bool(case.volumes) and not case.images,
        )
        if case.mmeb:
            made = made.replace(" \n", "\n") + "\n"
        marks = video * len(case.volumes) + image * len(case.images)
        first = image if case.images else video if case.volumes else ""
        if marked:
            wrap = "<|vision_start|>{}<|vision_end|>"
            marks = wrap.format(video) * len(case.volumes) + wrap.format(image) * len(case.images)
        return marks + made[len(first) :]

    def vectors(self, cases: Sequence[Case]) -> list[list[float]]:
        """Their batch function and model."""
        media = [[Image.fromarray(one) for one in (*case.images, *sum(case.volumes, ()))] or None
                 for case in cases]  # fmt: skip
        texts = [self.prompt(case) for case in cases]
        made = self.steps.Qwen2_VL_process_fn({"text": texts, "images": media}, self.processor)
        return self.run({name: made[name] for name in made if name not in ("texts", "images")})

    def vector(self, case: Case, *, marked: bool = False) -> list[float]:
        """One case; through their processor alone where their batch function takes it not."""
        several = len(case.volumes) > 1 or (case.volumes and case.images)
        if not (several or marked):
            return self.vectors((case,))[0]
        made = self.processor(
            text=[self.prompt(case, marked=marked)],
            images=[Image.fromarray(one) for one in case.images] or None,
            videos=[[Image.fromarray(one) for one in volume] for volume in case.volumes] or None,
            return_tensors="pt",
        )
        inputs = dict(made)
        if marked:
            return self.run(self.positioned(inputs))[0]
        return self.run(self.alone(inputs))[0]

    def alone(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """One item as their demonstration hands it to the model."""
        names = ("pixel_values", "image_grid_thw", "pixel_values_videos", "video_grid_thw")
        return {
            name: value.unsqueeze(0) if name in names else value for name, value in inputs.items()
        }

    def positioned(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """The same with the positions their routine finds, grids given as it wants them."""
        inner = self.inner()
        inner.rope_deltas = None
        positions, _ = inner.get_rope_index(
            inputs["input_ids"], inputs.get("image_grid_thw"), inputs.get("video_grid_thw"),
            inputs["attention_mask"],
        )  # fmt: skip
        return self.alone(inputs) | {"position_ids": positions}

    def inner(self) -> Any:
        """Their model below the adapter."""
        encoder = self.model.encoder
        return encoder.get_base_model() if hasattr(encoder, "get_base_model") else encoder

    def run(self, inputs: dict[str, Any]) -> list[list[float]]:
        with torch.inference_mode():
            found = self.model(qry=inputs)["qry_reps"]
        return [[float(f"{number:.8g}") for number in row] for row in found.tolist()]


def padded(authors: Authors, side: str) -> list[list[float]]:
    """One mixed batch with the padding on one side, no positions remembered."""
    authors.processor.tokenizer.padding_side = side
    authors.inner().rope_deltas = None
    return authors.vectors([CASES[name] for name in BATCH])


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reference", type=Path)
    parser.add_argument("folder", type=Path)
    places = parser.parse_args()
    base, adapter = places.folder / BASE, places.folder / ADAPTER
    authors = Authors(places.reference)
    commit = subprocess.run(
        ["git", "-C", str(places.reference), "rev-parse", "HEAD"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    authors.load(adapter)  # as their demonstration: the adapter's folder is the model's name
    found: dict[str, Any] = {
        "code": f"TIGER-AI-Lab/VLM2Vec@{commit}",
        "environment": [f"{name} {version(name)}" for name in LIBRARIES],
        "checkpoint": digest_of(base, also=("vocab.json", "merges.txt")),
        "adapter digests": {name: digest_of(places.folder / name) for name in (ADAPTER, *KINDS)},
        "cases": {name: authors.vector(case) for name, case in CASES.items()},
        "batches": {side: padded(authors, side) for side in ("left", "right")},
        "marked": {name: authors.vector(CASES[name], marked=True) for name in MARKED},
    }
    authors.load(base, adapter=adapter)  # as their script for a base and a checkpoint
    found["base and checkpoint"] = {name: authors.vector(CASES[name]) for name in PROBES}
    authors.load(base, lora=False)
    found["base alone"] = {name: authors.vector(CASES[name]) for name in PROBES}
    found["adapters"] = {}
    for kind in KINDS:
        authors.load(base, adapter=places.folder / kind)
        found["adapters"][kind] = authors.vector(CASES["text"])
    OUTPUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{OUTPUT.name}: {len(found['cases'])} cases\n")


if __name__ == "__main__":
    main()
