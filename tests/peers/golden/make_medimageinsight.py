"""Record what MedImageInsight's own code makes of the tiny checkpoint.

Run from the root of this repository, in an environment with the reference's requirements:

    python -m tests.peers.golden.make_medimageinsight PATH_OF_THE_REFERENCE_CHECKOUT

Their wrapper is called as their example calls it, with one difference: it never leaves the
training mode, in which whole branches of the picture tower are dropped at random; ``eval()`` is
called here. What it gives without is recorded too, as a wrong way.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from safetensors.numpy import load_file, save_file

from tests.peers import tiny_medimageinsight as tiny

PACKAGES = ("torch", "transformers", "tokenizers", "timm", "mup", "ftfy", "torchvision", "pillow")
CHECKPOINTS: dict[str, dict[str, object]] = {
    "square": {},
    "not square": {"IMAGE_ENCODER.IMAGE_SIZE": [72, 104]},
    "480": {"IMAGE_ENCODER.IMAGE_SIZE": [480, 480]},
    "bilinear": {"AUG.INTERPOLATION": "bilinear"},
    "crop": {"TEST.CENTER_CROP": True},
    "causal": {"LANG_ENCODER.AUTOGRESSIVE": True},
}
OLD_NAMES: dict[str, Callable[[str], str]] = {
    "DaViT names": tiny.davit_name,
    "old starts": tiny.old_name,
}


def reference(folder: Path, *, evaluate: bool = True) -> Any:
    """Their wrapper on a folder."""
    from medimageinsightmodel import MedImageInsight

    wrapper = MedImageInsight(
        model_dir=str(folder / tiny.ROOT),
        vision_model_name=Path(tiny.WEIGHTS).name,
        language_model_name="language_model.pth",
    )
    wrapper.load_model()
    if evaluate:
        wrapper.model.eval()
    return wrapper


def rounded(vector: np.ndarray) -> list[float]:
    """Eight significant digits."""
    return [float(f"{value:.8g}") for value in vector]


def see(wrapper: Any, pixels: np.ndarray | Image.Image) -> list[float]:
    """The vector of a picture, handed over as they want it: a PNG in base 64."""
    stream = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(stream, "PNG")
    text = base64.b64encode(stream.getvalue()).decode()
    return rounded(wrapper.encode(images=[text])["image_embeddings"][0])


def read(wrapper: Any, text: str) -> list[float]:
    """The vector of a text."""
    with torch.no_grad():
        return rounded(wrapper.encode(texts=[text])["text_embeddings"][0])


def mean(*vectors: Any) -> list[float]:
    """Unit vectors to one: their mean, made unit. They have no rule of their own."""
    whole = np.mean(np.asarray(vectors, np.float64), axis=0)
    return rounded(whole / np.linalg.norm(whole))


def slices(wrapper: Any, count: int) -> list[float]:
    """A volume, of which 64 slices are seen, at the whole part of even steps."""
    stack = tiny.volume(count)
    seen = np.linspace(0, count - 1, min(count, 64)).astype(int)
    return mean(*(see(wrapper, stack[number]) for number in seen))


def renamed(folder: Path, change: Callable[[str], str]) -> Path:
    """The checkpoint with its tensors under other names."""
    tiny.make_medimageinsight(folder)
    path = folder / tiny.ROOT / tiny.WEIGHTS
    save_file({change(name): tensor for name, tensor in load_file(path).items()}, path)
    return folder


def cases(scratch: Path) -> tuple[dict[str, str], dict[str, list[float]]]:
    """Digests of the checkpoints, and all vectors."""
    digests, found = {}, {}
    wrappers = {}
    for name, changes in CHECKPOINTS.items():
        folder = tiny.make_medimageinsight(scratch / name, **changes)
        digests[name], wrappers[name] = tiny.digest(folder), reference(folder)
    square = wrappers["square"]
    found |= {f"text, {name}": read(square, text) for name, text in tiny.TEXTS.items()}
    for name, shape in tiny.PICTURES.items():
        found[f"picture, {name}"] = see(square, tiny.picture(*shape))
    for name, (image, colours) in tiny.files().items():
        found[f"file, {name}"] = see(square, image if name == "grey" else colours)
    for name, text in tiny.BROKEN_UP.items():
        found[f"text, typed end, {name}"] = read(square, text)
        found[f"text, typed end obeyed, {name}"] = read(square, tiny.TYPED[name])
    found |= {f"volume, {name}": slices(square, count) for name, count in tiny.SLICES.items()}
    text, shape = tiny.MIXED
    parts = (f"text, {text}", f"picture, {shape}", "volume, 5 slices")
    found["text, picture and slices"] = mean(*(found[part] for part in parts))
    for name in ("not square", "480", "bilinear", "crop"):
        found[f"picture, {name}"] = see(wrappers[name], tiny.picture(*tiny.PICTURES["wide"]))
    found["text, causal"] = read(wrappers["causal"], tiny.words(63))
    for name, change in OLD_NAMES.items():
        wrapper = reference(renamed(scratch / name, change))
        found[f"picture, {name}"] = see(wrapper, tiny.picture(*tiny.PICTURES["wide"]))
    torch.manual_seed(0)
    training = reference(scratch / "square", evaluate=False)
    found["picture, training mode"] = see(training, tiny.picture(*tiny.PICTURES["wide"]))
    return digests, found


def main() -> None:
    """Write the goldens beside this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, help="of github.com/visual-layer/MedImageInsight")
    checkout = parser.parse_args().checkout.resolve()
    sys.path.insert(0, str(checkout))
    head = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        digests, found = cases(Path(scratch))
    content = {
        "code": f"visual-layer/MedImageInsight@{commit[:8]}",
        "environment": [f"{name} {version(name)}" for name in PACKAGES],
        "checkpoints": digests,
        "cases": found,
    }
    lines = json.dumps(content, indent=1).replace("\n   ", " ").replace("\n  ]", " ]")
    target = Path(__file__).with_name("medimageinsight.json")
    target.write_text(lines + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
