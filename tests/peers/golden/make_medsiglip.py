"""Record MedSigLIP's golden with Google's own serving code.

    python -m tests.peers.tiny_siglip TINY 448           (the project's environment)
    python -m tests.peers.golden.make_medsiglip CHECKOUT TINY GOLDEN.json      (the scratch one)

CHECKOUT is Google-Health/medsiglip; the scratch environment has transformers 4.51.3 as its
``serving/requirements.txt`` pins, with absl-py. Their predictor pads and scales pictures and cuts
texts, their Triton wrapper runs the model. The readers of DICOM stores and buckets, and cloud
logging, are replaced by empty stand-ins: no vector passes through them.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import types
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import torch
import transformers

from tests.peers.siglip_cases import PICTURES, TEXTS
from tests.peers.weights import digest_of

COMMIT = "56b1447e925bb2307a680c1f82d3e34655627208"
AWAY = (
    *(f"data_accessors.{name}" for name in (
        "dicom_generic", "dicom_wsi", "gcs_generic", "http_image", "inline_bytes", "inline_text",
        "local_file_handlers", "utils",
    )),
    "serving.serving_framework", "serving.logging_lib.cloud_logging_client",
)  # fmt: skip


class _AnyClass(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _AnyClass(name, (_Anything,), {})


class _Anything(metaclass=_AnyClass):
    def __init__(self, *given: Any, **named: Any) -> None: ...

    def __class_getitem__(cls, item: Any) -> Any:
        return cls


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        return getattr(_Anything, name)


class _StandIns(MetaPathFinder, Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: Any = None
    ) -> ModuleSpec | None:
        if any(name == one or name.startswith(f"{one}.") for one in AWAY):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        module = _Module(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None: ...


def load_theirs(checkout: Path, tiny: Path) -> tuple[Any, Any]:
    """Their predictor module, and their wrapped model with the tiny weights."""
    sys.meta_path.insert(0, _StandIns())
    sys.path.insert(0, str(checkout / "python"))
    predictor = importlib.import_module("serving.predictor")
    importlib.import_module("absl.flags").FLAGS(["golden"])
    predictor.config_utils.config_directory = lambda: str(tiny)
    os.environ["MODEL_ID"] = str(tiny)
    served = checkout / "python/serving/model_repository/default/1/model.py"
    return predictor, runpy.run_path(str(served))["SiglipWrapper"]().eval()


def main(checkout: Path, tiny: Path, target: Path) -> None:
    """Write the golden."""
    predictor, model = load_theirs(checkout, tiny)
    image_iter, text_iter = predictor._InputImageIter([]), predictor._InputTextIter([])
    tokens = [text_iter._pre_process(text)["input_ids"] for text in TEXTS.values()]
    pixels = [image_iter._pre_process(one)["pixel_values"][0] for one in PICTURES.values()]
    with torch.no_grad():
        text, image, *_ = model(
            torch.cat([torch.as_tensor(one) for one in tokens]),
            torch.stack([torch.as_tensor(one) for one in pixels]),
        )
    rows = zip((*TEXTS, *PICTURES), [*text.tolist(), *image.tolist()], strict=True)
    content = {
        "code": f"Google-Health/medsiglip@{COMMIT}, python/serving",
        "environment": [f"transformers {transformers.__version__}", f"torch {torch.__version__}"],
        "checkpoint": digest_of(tiny, also=("spiece.model",)),
        "ids": {name: one.tolist()[0] for name, one in zip(TEXTS, tokens, strict=True)},
        "cases": {name: [round(value, 8) for value in row] for name, row in rows},
    }
    target.write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
