"""What every adapter shares: strict loading, quiet libraries, fingerprints, the record.

Refuses weights with missing, unexpected or mis-shaped entries. Imports torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers.utils import logging as hf_logging

from engine.device import EAGER, FLASH, SDPA, fall_back
from engine.errors import WeightsRefused
from engine.models.record import Loading, Record
from engine.models.settings import Settings, Used

MEMORY_SIGNS = (
    "out of memory", "not enough memory", "can't allocate memory", "invalid buffer size",
    "status_alloc_failed",
)  # fmt: skip
# Raised when equal weights and settings come to give other vectors than before, so that no vector
# which an earlier version of the program kept is taken for a new one.
RULES = 3
_BROKEN = (OSError, ValueError, RuntimeError, KeyError, TypeError)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' log lines, progress bars and deprecation warnings out of the way."""
    level, bars = hf_logging.get_verbosity(), hf_logging.is_progress_bar_enabled()
    hf_logging.set_verbosity_error()
    hf_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        hf_logging.set_verbosity(level)
        if bars:
            hf_logging.enable_progress_bar()


@contextlib.contextmanager
def memory_errors() -> Iterator[None]:
    """Turn the devices' several out-of-memory errors into ``MemoryError``."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        _free()
        raise MemoryError(str(error).split("\n")[0]) from error
    except RuntimeError as error:
        if any(sign in str(error).lower() for sign in MEMORY_SIGNS):
            _free()
            raise MemoryError(str(error).split("\n")[0]) from error
        raise


def _free() -> None:
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()


def with_attention(order: Loading, model_class: Any) -> Loading:
    """The same order with an attention that a model's class takes, said in words.

    Args:
        order: what the loader was given.
        model_class: a transformers model class.
    """
    taken = {FLASH: "_supports_flash_attn", SDPA: "_supports_sdpa"}
    allowed = [word for word, name in taken.items() if getattr(model_class, name, False)]
    return replace(order, choice=fall_back(order.choice, (*allowed, EAGER)))


def load_strictly(
    model_class: Any,
    folder: Path,
    *,
    dtype: torch.dtype,
    allowed: tuple[str, ...] = (),
    attention: str | None = None,
) -> Any:
    """Load a model from a folder of safetensors, every key matched.

    Args:
        model_class: a transformers model class.
        folder: holds ``config.json`` and the weights.
        dtype: the number format, always given (the library's default follows the file).
        allowed: entries of the file that this class has no use for.
        attention: transformers' word for the implementation, None for its own choice.

    Raises:
        WeightsRefused: an entry missing, unexpected or of another shape, or a damaged file.
    """
    try:
        with quiet():
            model, info = model_class.from_pretrained(
                folder,
                dtype=dtype,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
                **({"attn_implementation": attention} if attention else {}),
            )
    except MemoryError:
        raise
    # an ImportError is that of a format (quantised, say) that needs a library of its own
    except (*_BROKEN, ImportError, SafetensorError, StrictDataclassError) as error:
        raise WeightsRefused(
            f"The weights in {folder.name} cannot be loaded: {_first_line(error)} "
            "Fetch the folder again, or check that it holds one whole model."
        ) from error
    _refuse_mismatch(folder, info, allowed)
    return model.eval()


class reading(contextlib.AbstractContextManager[None]):
    """Turn what a broken file makes a library raise into ``WeightsRefused``.

    Args:
        folder: where the files are.
        what: is read, for the message.

    Raises:
        WeightsRefused: a file is missing or broken.
    """

    def __init__(self, folder: Path, what: str) -> None:
        self.folder, self.what = folder, what

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Leave other errors as they are; the tokenizers library raises a bare ``Exception``."""
        broken = isinstance(error, (*_BROKEN, AttributeError, StrictDataclassError))
        if isinstance(error, Exception) and (broken or kind is Exception):
            raise WeightsRefused(
                f"The {self.what} in {self.folder.name} cannot be loaded: {_first_line(error)} "
                "Fetch the whole folder of the model again."
            ) from error


def _first_line(error: Exception) -> str:
    line = (str(error).strip() or type(error).__name__).split("\n")[0].rstrip(".")
    return f"{line}."


def _refuse_mismatch(folder: Path, info: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    problems = []
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        keys = [key if isinstance(key, str) else key[0] for key in info.get(kind) or ()]
        keys = sorted(key for key in keys if key not in allowed)
        if keys:
            more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
            problems.append(f"{kind.split('_')[0]}: {', '.join(keys[:3])}{more}")
    if problems:
        raise WeightsRefused(
            f"The weights in {folder.name} do not fit this model ({'; '.join(problems)}). "
            "Use the folder as its authors published it."
        )


def _libraries() -> tuple[str, ...]:
    """What reads texts, resizes pictures and computes, with versions."""
    first = (f"torch {torch.__version__}", f"transformers {transformers.__version__}")
    return (
        *first,
        *(f"{name} {version(name)}" for name in ("torchvision", "tokenizers", "pillow")),
    )


def fingerprint(parts: Mapping[str, object]) -> str:
    """Hex digest over everything that changes a vector, library versions included."""
    whole = {**parts, "rules": RULES, "libraries": _libraries()}
    text = json.dumps(whole, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def identify(
    order: Loading,
    *,
    settings: Settings | None = None,
    end_of_text: str | None = None,
    adapter_tensors: int | None = None,
    attention: str | None = None,
) -> tuple[str, Record]:
    """The fingerprint and the record of a model that was loaded.

    Args:
        order: what the loader was given.
        settings: as they ended up, where loading decided on some (the end-of-text token, say).
        end_of_text: the probe's answer in words.
        adapter_tensors: how many were merged.
        attention: the implementation in use, the choice's when left out.
    """
    settled = settings or order.settings
    used = tuple(
        one if getattr(settled, one.name) == one.value
        else Used(one.name, getattr(settled, one.name), one.origin)
        for one in order.used
    )  # fmt: skip
    choice, weights = order.choice, order.weights
    record = Record(
        family=order.card.family,
        preset=order.card.preset,
        settings=used,
        revision=weights.revision,
        weights="+".join(filter(None, (weights.digest, weights.adapter_digest))),
        device=choice.device,
        dtype=choice.dtype,
        attention=attention or choice.attention,
        end_of_text=end_of_text,
        adapter_tensors=adapter_tensors,
        libraries=_libraries(),
    )
    identity = weights.identity(order.card) | {
        "settings": {one.name: one.value for one in used},
        "dtype": choice.dtype,
        "attention": record.attention,
        "device": choice.device.split(":")[0],
    }
    return fingerprint(identity), record
