"""MedImageInsight's folder as its authors published it: where its parts lie, and its sizes.

Owns the layout (``config.yaml``, ``vision_model/``, ``language_model/``, at the top or in one
dated subfolder) and the reading of ``config.yaml``. The weights are a safetensors file under the
name ``.pt``: this is believed only by its first bytes. Refuses pickles, pointers of Git LFS, and
what the published configuration switches off and this adapter never had to do (specification 6).
Torch-free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from engine.errors import WeightsRefused

CONFIG, WEIGHTS, LANGUAGE = "config.yaml", "vision_model", "language_model"
KINDS = (".safetensors", ".pt")
LONGEST_HEADER = 100_000_000  # bytes; the format's own limit
AGAIN = "Fetch the whole folder of the model again."
CONVERT = (
    "Opening a pickle can run any code. On a machine you can spare, read it with "
    "torch.load(path, weights_only=True) and write its tensors with "
    "safetensors.torch.save_file(tensors, path) under the same name, then use that folder."
)


@dataclass(frozen=True)
class Parts:
    """The parts of a published folder.

    Attributes:
        root: holds ``config.yaml``.
        weights: the safetensors file of both towers.
        tokenizer: the folder of the CLIP tokenizer.
    """

    root: Path
    weights: Path
    tokenizer: Path


@dataclass(frozen=True)
class Sizes:
    """What ``config.yaml`` says of the architecture.

    Attributes:
        picture: height and width of a picture as the model sees it, in pixels.
        mean: of each colour, on the scale 0 to 1.
        std: of each colour.
        interpolation: Pillow's word for the resize, in capitals.
        vision: the picture tower in the words of transformers' Florence-2 configuration.
        length: most tokens of a text.
        width: of the text tower.
        heads: of the text tower.
        layers: of the text tower.
        causal: a token of a text sees only those before it; the published model is not causal.
        dim: length of a vector.
    """

    picture: tuple[int, int]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    interpolation: str
    vision: Mapping[str, Any]
    length: int
    width: int
    heads: int
    layers: int
    causal: bool
    dim: int


def find_root(folder: Path) -> Path | None:
    """The folder that holds ``config.yaml`` beside ``vision_model``: this one, or the one below.

    Of several subfolders the last by name is taken: the authors name them by date.
    """
    below = sorted((one for one in folder.iterdir() if one.is_dir()), reverse=True)
    for one in (folder, *below):
        if (one / CONFIG).is_file() and (one / WEIGHTS).is_dir():
            return one
    return None


def find_parts(folder: Path) -> Parts:
    """Where everything lies.

    Raises:
        WeightsRefused: a part is missing, there are several of one, or the weights are pickled.
    """
    root = find_root(folder)
    if root is None:
        raise WeightsRefused(
            f"{folder.name} is no folder of MedImageInsight: {CONFIG} and {WEIGHTS}/ are missing, "
            f"also one folder below. {AGAIN}"
        )
    files = [path for path in sorted((root / WEIGHTS).iterdir()) if path.suffix in KINDS]
    weights = _only(files, f"weights in {root.name}/{WEIGHTS} ({' or '.join(KINDS)})")
    check_weights(weights)
    folders = sorted(path.parent for path in (root / LANGUAGE).glob("*/vocab.json"))
    return Parts(root, weights, _only(folders, f"tokenizer in {root.name}/{LANGUAGE}"))


def _only(found: Sequence[Path], what: str) -> Path:
    if len(found) == 1:
        return found[0]
    if found:
        names = " and ".join(path.name for path in found[:3])
        raise WeightsRefused(f"There are several {what}: {names}. Keep the one that is meant.")
    raise WeightsRefused(f"There are no {what}. {AGAIN}")


def check_weights(path: Path) -> None:
    """Hold a file to the safetensors format by its first bytes, whatever its name.

    Raises:
        WeightsRefused: it is a pickle, a pointer, or cut off.
    """
    with path.open("rb") as stream:
        start = stream.read(9)
    if is_safetensors(start, path.stat().st_size):
        return
    if start.startswith((b"PK\x03\x04", b"\x80")):
        raise WeightsRefused(
            f"{path.name} is a pickled file; the published one is a safetensors file under this "
            f"name. {CONVERT}"
        )
    if start.startswith(b"version "):
        raise WeightsRefused(
            f"{path.name} is only a pointer of Git LFS, not the weights themselves. {AGAIN}"
        )
    raise WeightsRefused(f"{path.name} is no safetensors file, or it is cut off. {AGAIN}")


def is_safetensors(start: bytes, size: int) -> bool:
    """Whether nine first bytes open a safetensors file of that many bytes."""
    header = int.from_bytes(start[:8], "little")
    return start[8:9] == b"{" and 0 < header <= min(LONGEST_HEADER, size - 8)


def read_sizes(root: Path) -> Sizes:
    """The architecture that ``config.yaml`` describes.

    Raises:
        WeightsRefused: it cannot be read, lacks an entry, or asks for what no published version
            does.
    """
    path = root / CONFIG
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        _refuse_other(config, path)
        return _sizes(config)
    except (OSError, UnicodeDecodeError, RecursionError, yaml.YAMLError) as error:
        raise WeightsRefused(f"{path.name} cannot be read ({_line(error)}). {AGAIN}") from error
    except KeyError as error:
        raise WeightsRefused(f"{path.name} lacks the entry {error}. {AGAIN}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise WeightsRefused(
            f"{path.name} does not describe the model as published ({_line(error)}). {AGAIN}"
        ) from error


def _line(error: Exception) -> str:
    return (str(error) or type(error).__name__).split("\n")[0]


def _refuse_other(config: Mapping[str, Any], path: Path) -> None:
    """Options of the authors' code that change the arithmetic and are off as published."""
    image, spec = config["IMAGE_ENCODER"], config["IMAGE_ENCODER"]["SPEC"]
    language = config["LANG_ENCODER"]
    standard = (part.get("STANDPARAM", True) for part in (config["UNICL_MODEL"], language, spec))
    asked = {
        "IMAGE_ENCODER.NAME": image["NAME"] == "davit_v1",
        "LANG_ENCODER.NAME": language["NAME"] == "transformer",
        "LANG_ENCODER.TOKENIZER": language["TOKENIZER"] == "clip",
        "STANDPARAM": all(standard),
        "CONV_AT_ATTN": spec.get("CONV_AT_ATTN", True),
        "CONV_AT_FFN": spec.get("CONV_AT_FFN", True),
        "DYNAMIC_SCALE": spec.get("DYNAMIC_SCALE", True),
        "TEST.CENTER_CROP": not (config.get("TEST") or {}).get("CENTER_CROP", False),
    }
    other = [name for name, usual in asked.items() if not usual]
    if other:
        raise WeightsRefused(
            f"{path.name} sets {', '.join(other)} otherwise than the published model; this adapter "
            "does not know that variant. Use the folder as its authors published it."
        )


def _sizes(config: Mapping[str, Any]) -> Sizes:
    image, language = config["IMAGE_ENCODER"], config["LANG_ENCODER"]
    width, height = (int(side) for side in image["IMAGE_SIZE"])
    interpolation = str((config.get("AUG") or {}).get("INTERPOLATION", "bicubic")).upper()
    if interpolation not in ("BICUBIC", "BILINEAR", "NEAREST"):
        raise ValueError(f"AUG.INTERPOLATION is {interpolation}")
    return Sizes(
        picture=(height, width),
        mean=tuple(float(value) for value in image["IMAGE_MEAN"]),
        std=tuple(float(value) for value in image["IMAGE_STD"]),
        interpolation=interpolation,
        vision=_vision(image["SPEC"]),
        length=int(language["CONTEXT_LENGTH"]),
        width=int(language["WIDTH"]),
        heads=int(language["HEADS"]),
        layers=int(language["LAYERS"]),
        causal=bool(language.get("AUTOGRESSIVE", True)),  # their spelling, and their default
        dim=int(config["UNICL_MODEL"]["DIM_PROJECTION"]),
    )


def _vision(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Their names to those of ``Florence2VisionConfig``."""
    lists = {
        "depths": "DEPTHS", "embed_dim": "DIM_EMBED", "num_heads": "NUM_HEADS",
        "num_groups": "NUM_GROUPS", "patch_size": "PATCH_SIZE", "patch_stride": "PATCH_STRIDE",
        "patch_padding": "PATCH_PADDING",
    }  # fmt: skip
    found: dict[str, Any] = {ours: [int(one) for one in spec[name]] for ours, name in lists.items()}
    found["patch_prenorm"] = [bool(one) for one in spec["PATCH_PRENORM"]]
    if len({len(values) for values in found.values()}) != 1:
        raise ValueError("SPEC has not one value for each stage")
    return found | {"window_size": int(spec.get("WINDOW_SIZE", 7)), "drop_path_rate": 0.0}
