"""Where a model's weights lie on this machine, and which exactly they are.

Owns the places (a folder, the home, the hub's cache), what a download writes beside its files,
and the hash. Starts no transfer: what is missing is said with the command that fetches it.
Refuses pickled weights (``.bin``, ``.pt``): opening one runs code; only safetensors are read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.card import ModelCard
from engine.catalog import find_base
from engine.control import Control
from engine.detours import INDEX, refuse_detours
from engine.errors import UnknownModel, WeightsMissing, WeightsRefused
from engine.families import (
    ADAPTER_FILE,
    CONFIG_ENDINGS,
    CONFIG_FILE,
    DISGUISED,
    WANTED_BELOW,
    folder_settings,
)
from engine.hub import by_hand, cached, in_words, offline
from engine.meter import Meter
from engine.models.medimageinsight_files import find_parts, is_safetensors

PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
CONVERT = (
    "Opening a pickled file can run any code. On a machine you can spare, load it with "
    "transformers and call model.save_pretrained(folder, safe_serialization=True), then use that "
    "folder."
)
CONVERT_ADAPTER = (  # weights_only reads tensors and refuses everything else
    'Opening a pickled file can run any code. In that folder run: python -c "import torch, '
    "safetensors.torch as s; s.save_file(torch.load('adapter_model.bin', weights_only=True), "
    "'adapter_model.safetensors')\", which reads tensors alone."
)
ADAPTER_WEIGHTS = "adapter_model.safetensors"
CONFIGS = (
    CONFIG_FILE, ADAPTER_FILE, "tokenizer.json", "tokenizer_config.json", "vocab.json",
    "merges.txt", "special_tokens_map.json", "added_tokens.json", "preprocessor_config.json",
    "video_preprocessor_config.json", "processor_config.json", "spiece.model", "vocab.txt",
    INDEX,
)  # fmt: skip
SHARD = re.compile(r"-\d{5}-of-(\d{5})\.safetensors$")
MEMO = ".hashes.json"
LONG = 500_000_000  # bytes from which reading them is shown
PIECE = 1 << 20
RECORD = "triptych-download.json"  # beside the files of a download: what they are, whence


@dataclass(frozen=True)
class LocalWeights:
    """A model's files, all on this machine.

    Attributes:
        folder: the model, or the base of an adapter.
        adapter: the adapter's folder, None for a whole model.
        revision: the commit where it is known, or ``local``.
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


@dataclass(frozen=True)
class Place:
    """Where one card's own files lie, base not included.

    Attributes:
        folder: holds them.
        kind: ``shipped``, ``folder`` (the user's), ``home`` (copied into the weights folder),
            ``download`` (by this program) or ``cache`` (the hub's, by another program).
        revision: the commit where it is known, or ``local``.
    """

    folder: Path
    kind: str
    revision: str = "local"


def find_weights(card: ModelCard, *, weights_dir: Path, shipped_dir: Path) -> Place | None:
    """Where a card's files lie whole; None if nowhere. No network, no hash, no torch."""
    if card.folder is not None:
        folder = shipped_dir / card.folder  # an absolute folder stays itself
        kind = "folder" if Path(card.folder).is_absolute() else "shipped"
        return Place(folder, kind) if folder.is_dir() else None
    folder = weights_dir / card.plain_id
    if (record := read_record(folder)) is not None:
        right = card.revision in (None, record.get("revision"), record.get("asked"))
        if right and not missing_files(folder, record):
            return Place(folder, "download", str(record.get("revision") or "local"))
    elif complete(folder, family=card.family):
        return Place(folder, "home")
    found = cached(card)
    if found is not None and complete(found, family=card.family):
        return Place(found, "cache", found.name)
    return None


def read_record(folder: Path) -> dict[str, Any] | None:
    """What a download wrote beside its files; None where this program downloaded nothing."""
    try:
        content = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and isinstance(content.get("files"), list) else None


def growing_folder(folder: Path) -> Path:
    """The hidden folder in which a download grows until it is whole."""
    return folder.with_name(f".{folder.name}.part")


def missing_files(folder: Path, record: Mapping[str, Any]) -> list[str]:
    """Files of a download that are gone or of another size."""
    return [
        str(file["path"])
        for file in record["files"]
        if not _has_size(folder / str(file["path"]), int(file["size"]))
    ]


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def complete(folder: Path, *, family: str = "") -> bool:
    """Whether a folder holds all files that its index names; pickles count, they are refused."""
    if (folder / ADAPTER_FILE).is_file():
        return (folder / ADAPTER_WEIGHTS).is_file() or _pickled(folder)
    if not folder.is_dir():
        return False
    if family in WANTED_BELOW:
        return any(True for _ in weight_files(folder, family=family))
    if not (folder / CONFIG_FILE).is_file():
        return False
    index = folder / INDEX
    if index.is_file():
        try:
            names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return False
        return all((folder / name).is_file() for name in names)
    files = [path.name for path in folder.glob("*.safetensors")]
    counts = [int(found[1]) for name in files if (found := SHARD.search(name))]
    return (len(counts) >= max(counts) if counts else bool(files)) or _pickled(folder)


def _pickled(folder: Path) -> bool:
    return any(path.suffix in PICKLES for path in folder.iterdir())


def weight_files(folder: Path, *, family: str = "") -> Iterator[Path]:
    """The safetensors files of a model; below the top only where its family keeps them there."""
    if family not in WANTED_BELOW:
        yield from folder.glob("*.safetensors")
        return
    yield from folder.rglob("*.safetensors")
    for ending in DISGUISED.get(family, ()):
        yield from (path for path in folder.rglob(f"*{ending}") if _opens(path))


def _opens(path: Path) -> bool:
    """Whether a file's first bytes are those of safetensors."""
    try:
        with path.open("rb") as stream:
            return is_safetensors(stream.read(9), path.stat().st_size)
    except OSError:
        return False


def resolve(
    card: ModelCard,
    *,
    weights_dir: Path,
    shipped_dir: Path,
    cards_dir: Path | None = None,
    control: Control = Control(),
) -> LocalWeights:
    """Find the weights of a card, and of the base it sits on, and hash them.

    Raises:
        WeightsMissing: not on this machine; the message says what to do.
        WeightsRefused: there, but pickled or incomplete.
    """
    place = find_weights(card, weights_dir=weights_dir, shipped_dir=shipped_dir)
    if place is None:
        raise WeightsMissing(how_to_get(card, weights_dir=weights_dir, shipped_dir=shipped_dir))
    folder, memo = place.folder, weights_dir / MEMO
    extra = folder_settings(folder)
    settings = extra.get("settings") or {}
    _refuse_pickles(folder, card.family)
    refuse_detours(folder, card.family)
    control.check()
    try:
        digest = weights_hash(folder, memo=memo, family=card.family, control=control)
    except OSError as error:  # a link to a file that is gone, for one
        raise WeightsMissing(
            f"A file of {folder.name} cannot be read ({error}); fetch the whole folder again."
        ) from error
    if not (folder / ADAPTER_FILE).is_file():
        return LocalWeights(folder, None, place.revision, digest, settings=settings)
    base = resolve(
        base_card(card, folder, cards_dir=cards_dir),
        weights_dir=weights_dir,
        shipped_dir=shipped_dir,
        cards_dir=cards_dir,
        control=control,
    )
    return LocalWeights(
        base.folder,
        folder,
        f"{base.revision}+{place.revision}",
        base.digest,
        digest,
        settings={**base.settings, **settings},
    )


def how_to_get(card: ModelCard, *, weights_dir: Path, shipped_dir: Path) -> str:
    """What a person does to have a card's weights here."""
    folder = weights_dir / card.plain_id
    if card.folder is not None:
        return (
            f"The weights of {card.title} are not at {shipped_dir / card.folder}. "
            "Install the program again, or mend the card."
        )
    if card.hub_id is None:
        return (
            f"The weights of {card.title} are not on this machine and not published. Copy the "
            f"folder its authors gave you (merged, or adapter) to {folder}."
        )
    about = f", about {in_words(card.memory_mb * 1_000_000)}" if card.memory_mb else ""
    gate = f" Accept the terms at {card.page} first." if card.gated else ""
    off = " HF_HUB_OFFLINE switches the hub off; unset it first." if offline() else ""
    return (
        f"The weights of {card.title} are not on this machine{about}. Nothing is downloaded "
        f"unasked; run: triptych models download {card.spoken}, or use the page Models.{gate}"
        f"{off} {by_hand(card, folder)}"
    )


def base_card(card: ModelCard, folder: Path, *, cards_dir: Path | None) -> ModelCard:
    """The model an adapter sits on: named by its settings file, its card, or its own config.

    Raises:
        WeightsRefused: the adapter's config cannot be read.
        WeightsMissing: nothing known here is named.
    """
    try:
        config = json.loads((folder / ADAPTER_FILE).read_text(encoding="utf-8"))
        own = config.get("base_model_name_or_path")
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise WeightsRefused(f"{ADAPTER_FILE} of {folder.name} cannot be read.") from error
    named = [folder_settings(folder).get("base"), card.base, own]
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


def _refuse_pickles(folder: Path, family: str) -> None:
    if any(True for _ in weight_files(folder, family=family)):
        return
    if family in DISGUISED:
        find_parts(folder)  # says in its own words what is wrong with the file
    pickles = sorted(path.name for path in folder.rglob("*") if path.suffix in PICKLES)
    if pickles:
        way = CONVERT_ADAPTER if (folder / ADAPTER_FILE).is_file() else CONVERT
        raise WeightsRefused(f"{folder.name} holds {pickles[0]}, and no safetensors. {way}")
    raise WeightsMissing(f"{folder.name} holds no safetensors; fetch the whole folder again.")


def weights_hash(
    folder: Path, *, memo: Path | None = None, family: str = "", control: Control = Control()
) -> str:
    """Hex digest over every file of a model folder that changes a vector.

    Args:
        folder: the model.
        memo: a file that remembers hashes by path, size and time, since 16 GB take a minute.
        family: decides whether files below the top belong to the model.
        control: told the bytes where there are many, asked whether to stop.
    """
    known = _read_memo(memo)
    keys = {path: memo_key(path) for path in _hashed(folder, family)}
    size = sum(path.stat().st_size for path, key in keys.items() if key not in known)
    meter = Meter(control, silent=size < LONG)
    if size >= LONG:
        control.begin(size, unit="bytes", phase="Reading the weights once")
    whole, fresh = hashlib.sha256(), dict(known)
    for path, key in keys.items():
        fresh[key] = known.get(key) or _hash_file(path, meter)
        whole.update(f"{path.relative_to(folder).as_posix()}:{fresh[key]}\n".encode())
    meter.flush()
    if fresh != known:
        _write_memo(memo, fresh)
    return whole.hexdigest()


def _hashed(folder: Path, family: str) -> list[Path]:
    """Weights, then what configures them, each in order."""
    files = sorted(weight_files(folder, family=family), key=lambda path: path.as_posix())
    if family not in WANTED_BELOW:
        return files + [folder / name for name in CONFIGS if (folder / name).is_file()]
    below = (path for path in folder.rglob("*") if path.suffix in CONFIG_ENDINGS)
    return files + sorted(
        path for path in below if path.is_file() and path.name != RECORD and _shown(path, folder)
    )


def _shown(path: Path, folder: Path) -> bool:
    """False below a hidden folder, such as the one the hub's own program leaves behind."""
    return not any(part.startswith(".") for part in path.relative_to(folder).parts)


def memo_key(path: Path) -> str:
    """What a file's hash is remembered by."""
    facts = path.stat()
    return f"{path.resolve()}|{facts.st_size}|{facts.st_mtime_ns}"


def remember_hashes(memo: Path, hashes: Mapping[str, str]) -> None:
    """Keep hashes that are known from a download, by ``memo_key``."""
    _write_memo(memo, {**_read_memo(memo), **hashes})


def _hash_file(path: Path, meter: Meter) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(PIECE):
            digest.update(piece)
            meter.add(len(piece))
    return digest.hexdigest()


def _read_memo(memo: Path | None) -> dict[str, str]:
    try:
        content = json.loads(memo.read_text(encoding="utf-8")) if memo else {}
    except (OSError, ValueError, RecursionError):
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
