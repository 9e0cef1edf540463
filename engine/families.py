"""The families of models: their names, what loads each, and how a folder tells its family.

A new family adds its name, its line in ``LOADERS`` and what its files are known by. Refuses to
guess: a folder that fits two families is an error that says how to name one. Reads small JSON
files only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import UnknownModel

QWEN, MEDEMB, SIGLIP, RANDOM = "qwen3-vl-embedding", "medemb", "siglip", "random"
BLIP2, MEDIMAGEINSIGHT, VLM2VEC, RZENEMBED = "blip2", "medimageinsight", "vlm2vec", "rzenembed"
SENTENCE = "sentence-transformers"
BASE = "base"  # what an adapter sits on; alone it is no embedding model
BROKEN = "unreadable"  # the family of a user's card that cannot be read
LOADERS: dict[str, str] = {
    QWEN: "engine.models.qwen3_vl:load",
    MEDEMB: "engine.models.qwen3_vl:load",
    SIGLIP: "engine.models.siglip:load",
    BLIP2: "engine.models.blip2:load",
    MEDIMAGEINSIGHT: "engine.models.medimageinsight:load",
    VLM2VEC: "engine.models.vlm2vec:load",
    RZENEMBED: "engine.models.rzenembed:load",
    SENTENCE: "engine.models.sentence:load",
    RANDOM: "engine.models.random_encoder:load",
}
SETTINGS_FILE, ADAPTER_FILE, CONFIG_FILE = "triptych.json", "adapter_config.json", "config.json"
MODULES_FILE = "modules.json"  # of sentence-transformers
LARGEST = 50_000_000  # bytes of a file that configures a model

# config.json's model_type where it tells one family, and where it tells only which are possible
MODEL_TYPES: dict[str, str] = {"qwen3_vl": QWEN, "siglip": SIGLIP, "blip-2": BLIP2}
SHARED_TYPES: Mapping[str, tuple[str, ...]] = {"qwen2_vl": (RZENEMBED, VLM2VEC)}
# the family of an adapter, by the model_type of its base or by words in the base's name
ADAPTERS: Mapping[str, str] = {"qwen3_vl": MEDEMB, "qwen2_vl": VLM2VEC}
BASE_NAMES: Mapping[str, str] = {"qwen3-vl": MEDEMB, "qwen2-vl": VLM2VEC}
# paths by which a folder without config.json is known
LAYOUTS: Mapping[str, str] = {"2024.09.27": MEDIMAGEINSIGHT, "vision_model": MEDIMAGEINSIGHT}
# words in a published name, the first that fits; among possible families they decide for a folder
NAMES: Mapping[str, str] = {
    "sentence-transformers/": SENTENCE,
    "medimageinsight": MEDIMAGEINSIGHT,
    "medemb": MEDEMB,
    "vlm2vec": VLM2VEC,
    "rzenembed": RZENEMBED,
    "siglip": SIGLIP,
    "blip2-itm": BLIP2,
    "qwen3-vl-embedding": QWEN,
}
# files wanted from a repository, as patterns of whole paths where the plain ones do not do
CONFIG_ENDINGS = (".json", ".jinja", ".txt", ".model", ".yaml", ".yml")
WANTED_BELOW: Mapping[str, tuple[str, ...]] = {
    MEDIMAGEINSIGHT: ("2024.09.27/*",),
    SENTENCE: ("*",),
}
UNWANTED = ("onnx/*", "openvino/*", "*/checkpoint-*", "checkpoint-*")
# a file of this family ends in .pt and holds safetensors; its first bytes are looked at
DISGUISED: Mapping[str, tuple[str, ...]] = {MEDIMAGEINSIGHT: (".pt",)}


def family_of_name(name: str) -> str | None:
    """The family that a published name tells, None if it tells none."""
    lower = name.lower()
    return next((family for word, family in NAMES.items() if word in lower), None)


def family_of(folder: Path) -> str:
    """The family of a model's folder: named in its ``triptych.json``, else told by its files.

    Raises:
        UnknownModel: no family, or several; the message says how to name one.
    """
    named = folder_settings(folder).get("family")
    if named is not None:
        if not isinstance(named, str) or named not in LOADERS:
            raise UnknownModel(
                f"{SETTINGS_FILE} of {folder.name} names the family {named!r}; "
                f"known are {', '.join(LOADERS)}."
            )
        return named
    possible = _possible(folder)
    told = family_of_name(folder.name)
    if len(possible) > 1 and told in possible:
        return told
    if len(possible) == 1:
        return MEDEMB if possible == (QWEN,) and told == MEDEMB else possible[0]
    raise UnknownModel(_unclear(folder, possible))


def _possible(folder: Path) -> tuple[str, ...]:
    """The families that the files allow, the surest sign first."""
    if (folder / ADAPTER_FILE).is_file():
        return _of_adapter(folder)
    kind = model_type(folder)
    if kind in MODEL_TYPES:
        return (MODEL_TYPES[kind],)
    if kind in SHARED_TYPES:
        return SHARED_TYPES[kind]
    for name, family in LAYOUTS.items():
        if (folder / name).exists():
            return (family,)
    return (SENTENCE,) if (folder / MODULES_FILE).is_file() else ()


def _of_adapter(folder: Path) -> tuple[str, ...]:
    """By the base: its folder if it is on this machine, else its name."""
    named = folder_settings(folder).get("base")
    named = str(named or read_object(folder / ADAPTER_FILE).get("base_model_name_or_path") or "")
    base = folder / named
    if named and base.is_dir() and model_type(base) in ADAPTERS:
        return (ADAPTERS[model_type(base)],)
    lower = named.lower().replace("_", "-")
    found = next((family for word, family in BASE_NAMES.items() if word in lower), None)
    return (found,) if found else tuple(ADAPTERS.values())


def _unclear(folder: Path, possible: tuple[str, ...]) -> str:
    known = possible or tuple(LOADERS)
    line = json.dumps({"family": known[0]})
    if possible:
        return (
            f"The files of {folder.name} fit several families ({', '.join(possible)}) and do not "
            f"tell which. Name one in {folder / SETTINGS_FILE}, for example: {line}"
        )
    return (
        f"The folder {folder.name} is not a model that can be loaded: it needs a {CONFIG_FILE} of "
        f"type {' or '.join((*MODEL_TYPES, *SHARED_TYPES))}, an {ADAPTER_FILE}, a {MODULES_FILE}, "
        f"or a {SETTINGS_FILE} naming one of the families {', '.join(LOADERS)}, as {line}."
    )


def model_type(folder: Path) -> str:
    """The ``model_type`` of a folder's ``config.json``, empty without one."""
    path = folder / CONFIG_FILE
    return str(read_object(path).get("model_type", "")) if path.is_file() else ""


def folder_settings(folder: Path) -> dict[str, Any]:
    """The content of a model folder's ``triptych.json``, empty if there is none.

    Raises:
        UnknownModel: the file is not a JSON object.
    """
    path = folder / SETTINGS_FILE
    return read_object(path) if path.is_file() else {}


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        UnknownModel: it cannot be read, or holds something else.
    """
    try:
        if path.stat().st_size > LARGEST or not path.is_file():
            raise ValueError("it is too large, or no file")
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UnknownModel(f"{path.name} cannot be read as JSON ({error}); mend it.") from error
    if not isinstance(content, dict):
        raise UnknownModel(f"{path.name} does not hold a JSON object; mend it.")
    return content
