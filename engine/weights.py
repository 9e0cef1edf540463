"""Where a model's weights lie on this machine, and which exactly they are.

Owns folders, downloads at the pinned revision, and the hash. Refuses pickled weights
(``.bin``, ``.pt``): opening one runs code; only safetensors are read.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.catalog import (
    ADAPTER_FILE,
    CONFIG_FILE,
    ModelCard,
    find_base,
    folder_settings,
)
from engine.control import Control
from engine.device import INSTALL
from engine.errors import EngineMissing, UnknownModel, WeightsMissing, WeightsRefused

PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
WANTED = ("*.safetensors", "*.json", "*.jinja", "*.txt", "*.model")
CONFIGS = (
    CONFIG_FILE, ADAPTER_FILE, "tokenizer.json", "tokenizer_config.json", "vocab.json",
    "merges.txt", "special_tokens_map.json", "added_tokens.json", "preprocessor_config.json",
    "video_preprocessor_config.json", "processor_config.json", "spiece.model",
    "model.safetensors.index.json",
)  # fmt: skip
MEMO = ".hashes.json"


@dataclass(frozen=True)
class LocalWeights:
    """A model's files, all on this machine.

    Attributes:
        folder: the model, or the base of an adapter.
        adapter: the adapter's folder, None for a whole model.
        revision: the pinned commit, or ``local``.
        digest: hash over the files of ``folder`` that change a vector.
        adapter_digest: the same for the adapter, empty without one.
        settings: from the folder's ``triptych.json``.
    """

    folder: Path
    adapter: Path | None
    revision: str
    digest: str
    adapter_digest: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)

    def identity(self, card: ModelCard) -> dict[str, object]:
        """What of the weights and the card goes into a fingerprint."""
        return {
            "model": card.plain_id,
            "family": card.family,
            "revision": self.revision,
            "weights": self.digest,
            "adapter": self.adapter_digest,
        }


def resolve(
    card: ModelCard,
    *,
    weights_dir: Path,
    shipped_dir: Path,
    cards_dir: Path | None = None,
    control: Control = Control(),
) -> LocalWeights:
    """Find, or download, the weights of a card.

    Raises:
        WeightsMissing: not on this machine and not to be had; the message says what to do.
        WeightsRefused: there, but pickled or incomplete.
        EngineMissing: a download is needed and ``huggingface_hub`` is not installed.
    """
    folder = _folder_of(card, weights_dir=weights_dir, shipped_dir=shipped_dir, control=control)
    revision = card.revision or "local"
    memo = weights_dir / MEMO
    extra = folder_settings(folder)
    settings = extra.get("settings") or {}
    if not (folder / ADAPTER_FILE).is_file():
        _refuse_pickles(folder)
        digest = weights_hash(folder, memo=memo)
        return LocalWeights(folder, None, revision, digest, settings=settings)
    base = resolve(
        _base_card(card, folder, extra, cards_dir=cards_dir),
        weights_dir=weights_dir,
        shipped_dir=shipped_dir,
        cards_dir=cards_dir,
        control=control,
    )
    _refuse_pickles(folder)
    return LocalWeights(
        base.folder,
        folder,
        f"{base.revision}+{revision}",
        base.digest,
        weights_hash(folder, memo=memo),
        settings={**base.settings, **settings},
    )


def _folder_of(card: ModelCard, *, weights_dir: Path, shipped_dir: Path, control: Control) -> Path:
    if card.folder is not None:
        folder = shipped_dir / card.folder  # an absolute folder stays itself
        if not folder.is_dir():
            raise WeightsMissing(
                f"The weights of {card.title} are not at {folder}. "
                "Install the program again, or mend the card."
            )
        return folder
    folder = weights_dir / card.plain_id
    if _complete(folder):
        return folder
    if card.hub_id is None:
        raise WeightsMissing(
            f"The weights of {card.title} are not on this machine and not published. Copy the "
            f"folder its authors gave you (merged, or adapter) to {folder}."
        )
    return _download(card, folder, control)


def _complete(folder: Path) -> bool:
    """Whether a folder holds all files that its index names."""
    if (folder / ADAPTER_FILE).is_file():
        return (folder / "adapter_model.safetensors").is_file() or _pickled(folder)
    if not (folder / CONFIG_FILE).is_file():
        return False
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        except (OSError, ValueError, KeyError, AttributeError):
            return False
        return all((folder / name).is_file() for name in names)
    return any(folder.glob("*.safetensors")) or _pickled(folder)


def _pickled(folder: Path) -> bool:
    return any(path.suffix in PICKLES for path in folder.iterdir())


def _download(card: ModelCard, folder: Path, control: Control) -> Path:
    pinned = f" --revision {card.revision}" if card.revision else ""
    by_hand = (
        f"On a machine with network run: hf download {card.hub_id}{pinned} "
        f"and copy the folder to {folder}."
    )
    try:
        hub = importlib.import_module("huggingface_hub")
        errors = importlib.import_module("huggingface_hub.errors")
    except ImportError as error:
        raise EngineMissing(f"A download needs huggingface_hub. Run: {INSTALL}") from error
    if (cached := _in_hub_cache(card, hub, errors)) is not None:
        return cached
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise WeightsMissing(f"{card.title} is not on this machine and the hub is off. {by_hand}")
    control.say(f"Downloading {card.title} (about {card.memory_mb / 1000:.1f} GB) to {folder}.")
    try:
        hub.snapshot_download(
            card.hub_id, revision=card.revision, local_dir=folder, allow_patterns=list(WANTED)
        )
    except errors.GatedRepoError as error:
        raise WeightsMissing(
            f"{card.title} is published under terms you must accept first: open the page of "
            f"{card.hub_id}, accept, run `hf auth login`, and try again. {by_hand}"
        ) from error
    except (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, OSError) as error:
        raise WeightsMissing(
            f"{card.title} could not be downloaded ({type(error).__name__}). {by_hand}"
        ) from error
    return folder


def _in_hub_cache(card: ModelCard, hub: Any, errors: Any) -> Path | None:
    """The folder of an earlier download by any program, if it is whole."""
    try:
        found = hub.snapshot_download(
            card.hub_id,
            revision=card.revision,
            local_files_only=True,
            allow_patterns=list(WANTED),
        )
    except (errors.LocalEntryNotFoundError, errors.HfHubHTTPError, OSError, ValueError):
        return None
    return Path(found) if _complete(Path(found)) else None


def _base_card(
    card: ModelCard, folder: Path, extra: Mapping[str, Any], *, cards_dir: Path | None
) -> ModelCard:
    """The model an adapter sits on: named by its card, its settings file, or its own config."""
    try:
        config = json.loads((folder / ADAPTER_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsRefused(f"{ADAPTER_FILE} of {folder.name} cannot be read.") from error
    named = [extra.get("base"), card.base, config.get("base_model_name_or_path")]
    for name in filter(None, named):
        beside = folder / str(name)
        try:
            return find_base(str(beside) if beside.is_dir() else str(name), cards_dir=cards_dir)
        except UnknownModel:
            continue
    raise WeightsMissing(
        f"The adapter {folder.name} sits on a base that is not known here "
        f"({', '.join(str(name) for name in filter(None, named)) or 'none named'}). "
        'Name it in its triptych.json: {"base": "qwen3-vl-embedding-2b"}.'
    )


def _refuse_pickles(folder: Path) -> None:
    if any(folder.glob("*.safetensors")):
        return
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix in PICKLES)
    if pickles:
        raise WeightsRefused(
            f"{folder.name} holds {pickles[0]}, a pickled file, and opening one can run any code. "
            "On a machine you can spare, load it with transformers and call "
            "model.save_pretrained(folder, safe_serialization=True), then use that folder."
        )
    raise WeightsMissing(f"{folder.name} holds no safetensors; fetch the whole folder again.")


def weights_hash(folder: Path, *, memo: Path | None = None) -> str:
    """Hex digest over every file of a model folder that changes a vector.

    Args:
        folder: the model.
        memo: a file that remembers hashes by path, size and time, since 16 GB take a minute.
    """
    files = sorted(folder.glob("*.safetensors"), key=lambda path: path.name)
    files += [folder / name for name in CONFIGS if (folder / name).is_file()]
    known = _read_memo(memo)
    whole, fresh = hashlib.sha256(), dict(known)
    for path in files:
        facts = path.stat()
        key = f"{path.resolve()}|{facts.st_size}|{facts.st_mtime_ns}"
        fresh[key] = known.get(key) or _hash_file(path)
        whole.update(f"{path.name}:{fresh[key]}\n".encode())
    if fresh != known:
        _write_memo(memo, fresh)
    return whole.hexdigest()


def _hash_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read_memo(memo: Path | None) -> dict[str, str]:
    try:
        content = json.loads(memo.read_text(encoding="utf-8")) if memo else {}
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write_memo(memo: Path | None, content: Mapping[str, str]) -> None:
    """Keep the memo if it can be kept; it only saves time."""
    if memo is None or not memo.parent.is_dir():
        return
    part = memo.with_name(f"{memo.name}.{os.getpid()}")
    try:
        part.write_text(json.dumps(content, indent=0), encoding="utf-8")
        part.replace(memo)
    except OSError:
        part.unlink(missing_ok=True)
