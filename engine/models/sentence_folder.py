"""A sentence-transformers folder: what it may name, and loading it without foreign code.

Owns the look at ``modules.json`` and beside it before the library sees the folder. Refuses modules
from outside the library, activations from outside ``torch.nn``, methods that are no feature call,
pickled weights, and weights that the folder lacks (the library would fill them at random).
"""

from __future__ import annotations

import importlib
import json
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from engine.detours import code_from_hub
from engine.errors import EngineMissing, WeightsRefused
from engine.models.common import memory_errors, quiet
from engine.models.record import Loading

LIBRARY = "sentence_transformers"
OLDEST = (5, 4)
PIP = 'pip install "sentence-transformers>=5.4"'
MODULES = "modules.json"
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_OWN = re.compile(rf"{LIBRARY}(\.\w+)+")
_ACTIVATION = re.compile(r"torch\.nn(\.\w+)+")
_METHOD = re.compile(r"forward|get_\w+_features|get_\w+_embeddings?")
_MISSING = re.compile(r"^(\S.*?)\s*\|\s*MISSING\b", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def import_library(title: str) -> Any:
    """The library.

    Args:
        title: of the model, for the message.

    Raises:
        EngineMissing: it is not installed, or too old.
    """
    try:
        with quiet():
            library = importlib.import_module(LIBRARY)
    except ImportError as error:
        raise EngineMissing(
            f"{title} needs sentence-transformers, which is not installed here. Run: {PIP}"
        ) from error
    found = tuple(int(part) for part in re.findall(r"\d+", str(library.__version__))[:2])
    if found < OLDEST:
        raise EngineMissing(
            f"{title} needs sentence-transformers 5.4 or later; {library.__version__} is "
            f"installed here. Run: {PIP}"
        )
    return library


def check_folder(folder: Path) -> None:
    """Hold a folder to what the library itself brings.

    Raises:
        WeightsRefused: it names code from elsewhere, or is not a whole model; the message says
            which file.
    """
    if not (folder / MODULES).is_file():
        raise WeightsRefused(
            f"{folder.name} holds no {MODULES}, so sentence-transformers would guess how to make "
            "one vector of it. Save it with the library's own save_pretrained first."
        )
    listed = _read(folder / MODULES)
    if not isinstance(listed, list) or not listed:
        raise WeightsRefused(f"{MODULES} of {folder.name} lists no modules; fetch it again.")
    for one in listed:
        kind, path = (one.get("type"), one.get("path")) if isinstance(one, dict) else (None, None)
        if not isinstance(kind, str) or not isinstance(path, str):
            raise WeightsRefused(f"{MODULES} of {folder.name} is damaged; fetch it again.")
        _refuse_foreign(folder, MODULES, kind)
        _check_module(folder, path)


def _check_module(folder: Path, path: str) -> None:
    place = (folder / path).resolve()
    if not place.is_relative_to(folder.resolve()) or not place.is_dir():
        # a module without files of its own may have no folder
        if Path(path).is_absolute() or ".." in Path(path).parts:
            raise WeightsRefused(f"{MODULES} of {folder.name} leads out of it, to {path!r}.")
        return
    pickles = sorted(one.name for one in place.iterdir() if one.suffix in PICKLES)
    if pickles and not any(place.glob("*.safetensors")):
        raise WeightsRefused(
            f"{folder.name} holds {path}/{pickles[0]}, a pickled file, and opening one can run any "
            "code. Save the model anew with safetensors, on a machine you can spare."
        )
    for config in sorted(place.glob("*config*.json")):
        _check_config(folder, config)


def _check_config(folder: Path, path: Path) -> None:
    content = _read(path)
    if not isinstance(content, dict):
        return
    name = path.relative_to(folder.resolve()).as_posix()
    if (code := code_from_hub(content)) is not None:
        raise WeightsRefused(
            f"{name} of {folder.name} names code on the hub ({code}); this program runs none. "
            "Take that entry out, the usual attention is used then."
        )
    activation = content.get("activation_function")
    if isinstance(activation, str) and "." in activation and not _ACTIVATION.fullmatch(activation):
        raise WeightsRefused(
            f"{name} of {folder.name} names {activation}; only torch.nn may be named there."
        )
    types = content.get("types")
    for kind in types.values() if isinstance(types, dict) else ():
        _refuse_foreign(folder, name, str(kind))
    if path.name == "wordembedding_config.json":
        _refuse_foreign(folder, name, str(content.get("tokenizer_class")))
    for one in (content.get("modality_config") or {}).values():
        method = one.get("method") if isinstance(one, dict) else None
        if not isinstance(method, str) or not _METHOD.fullmatch(method):
            raise WeightsRefused(f"{name} of {folder.name} calls {method!r}, no feature call.")


def _refuse_foreign(folder: Path, name: str, kind: str) -> None:
    if not _OWN.fullmatch(kind):
        raise WeightsRefused(
            f"{name} of {folder.name} names {kind}, code that does not come with "
            "sentence-transformers. This program runs no code from a model's folder; use a model "
            "made of the library's own modules."
        )


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise WeightsRefused(f"{path.name} cannot be read as JSON; fetch it again.") from error


def load_model(library: Any, order: Loading) -> Any:
    """The library's model on the device, from a folder that was checked.

    Raises:
        WeightsRefused: it cannot be loaded, or lacks weights.
    """
    folder, choice = order.weights.folder, order.choice
    options: dict[str, Any] = {"dtype": getattr(torch, choice.dtype), "use_safetensors": True}
    try:
        with quiet(), memory_errors(), _overheard() as lines:
            model = library.SentenceTransformer(
                str(folder),
                device=choice.device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs=options,
            )
            model = model.to(getattr(torch, choice.dtype)).eval()
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, AttributeError) as error:
        line = (str(error).strip() or type(error).__name__).split("\n")[0].rstrip(".")
        raise WeightsRefused(
            f"sentence-transformers cannot load {folder.name}: {line}. "
            "Fetch the folder again, or check that it is one whole model."
        ) from error
    except ImportError as error:
        raise EngineMissing(f"{order.card.title} needs a library: {error}") from error
    _refuse_missing(folder, "\n".join(lines), model)
    return model


def _refuse_missing(folder: Path, report: str, model: Any) -> None:
    """A pooler that no module reads may be missing: many checkpoints leave it out."""
    pooled = any(type(module).__name__ == "Pooling" for module in model)
    missing = [
        name for name in _MISSING.findall(report) if not (pooled and name.startswith("pooler."))
    ]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise WeightsRefused(
            f"The weights in {folder.name} do not fit its configuration (missing: "
            f"{', '.join(missing[:3])}{more}). Use the folder as its authors published it."
        )


@contextmanager
def _overheard() -> Iterator[list[str]]:
    """What transformers reports of weights while loading; it raises nothing by itself."""
    lines: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(_COLOUR.sub("", record.getMessage()))

    logger, listener = logging.getLogger("transformers.modeling_utils"), Listener(logging.WARNING)
    kept: Mapping[str, Any] = {"level": logger.level, "propagate": logger.propagate}
    logger.addHandler(listener)
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    try:
        yield lines
    finally:
        logger.removeHandler(listener)
        logger.setLevel(kept["level"])
        logger.propagate = kept["propagate"]
