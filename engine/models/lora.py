"""LoRA and DoRA adapters merged by hand into a loaded model (specification 1.1).

Refuses an adapter of which one tensor finds no place, finds two, or is hit twice, and one that
holds nothing for a module it says it changes: the usual library drops old-layout adapters with a
warning, and the vectors are then silently the base's.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from engine.errors import WeightsMissing, WeightsRefused

CONFIG, TENSORS = "adapter_config.json", "adapter_model.safetensors"
_PART = re.compile(r"\.(lora_A|lora_B|lora_magnitude_vector)(?:\.default)?(?:\.weight)?$")
_DAMAGED = (
    ValueError, OSError, AttributeError, TypeError, RecursionError, re.error, SafetensorError,
)  # fmt: skip
_CHANGES_BASE = ("pissa", "olora", "loftq", "corda", "lora_ga")


@dataclass
class _Parts:
    """The tensors of one target module."""

    name: str
    found: dict[str, torch.Tensor] = field(default_factory=dict)


def merge_adapter(model: torch.nn.Module, folder: Path) -> int:
    """Merge the adapter in ``folder`` into ``model``, in float32, then cast back.

    Returns:
        How many adapter tensors were consumed; always all of them.

    Raises:
        WeightsMissing: a file of the adapter is not there.
        WeightsRefused: a tensor without a place, or a feature that is not supported.
    """
    config, tensors = _read(folder)
    _refuse_features(config, folder)
    weights = {
        name.removesuffix(".weight"): value
        for name, value in model.named_parameters()
        if name.endswith(".weight") and value.ndim == 2
    }
    targets: dict[str, str] = {}
    changed = False
    for parts in _group(tensors, folder).values():
        target = _find_target(parts.name, weights, folder)
        if target in targets:
            raise WeightsRefused(
                f"The adapter {folder.name} hits {target} twice "
                f"({targets[target]} and {parts.name}); it cannot be merged."
            )
        targets[target] = parts.name
        changed |= _merge_one(weights[target], parts, config, folder)
    _refuse_gaps(model, config, targets, folder)
    if not changed:
        raise WeightsRefused(f"The adapter {folder.name} changes nothing; it was never trained.")
    return len(tensors)


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    for name in (CONFIG, TENSORS):
        if not (folder / name).is_file():
            raise WeightsMissing(f"The adapter {folder.name} has no {name}; fetch it again.")
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        for pattern in _patterns(config):
            re.compile(pattern)
        return config, load_file(folder / TENSORS)
    except _DAMAGED as error:
        raise WeightsRefused(f"The adapter {folder.name} is damaged; fetch it again.") from error


def _patterns(config: Mapping[str, Any]) -> Iterator[str]:
    """Every regular expression of a configuration."""
    for name in ("rank_pattern", "alpha_pattern"):
        yield from config.get(name) or {}
    if isinstance(wanted := config.get("target_modules"), str):
        yield wanted


def _refuse_features(config: Mapping[str, Any], folder: Path) -> None:
    problems = [
        name
        for name in (
            "modules_to_save",
            "fan_in_fan_out",
            "lora_bias",
            "layer_replication",
            "trainable_token_indices",
            "target_parameters",
            "alora_invocation_tokens",
            "use_qalora",
            "megatron_config",
        )
        if config.get(name)
    ]
    if config.get("bias", "none") != "none":
        problems.append("bias")
    if str(config.get("peft_type", "LORA")).upper() != "LORA":
        problems.append(f"peft_type {config['peft_type']}")
    started = config.get("init_lora_weights")
    if isinstance(started, str) and started.lower().startswith(_CHANGES_BASE):
        problems.append(f"init_lora_weights {started}")
    if problems:
        raise WeightsRefused(
            f"The adapter {folder.name} uses {', '.join(problems)}, which is not supported here. "
            "Merge it with the tool that made it and use the merged folder."
        )


def _group(tensors: Mapping[str, torch.Tensor], folder: Path) -> dict[str, _Parts]:
    groups: dict[str, _Parts] = {}
    for key, tensor in tensors.items():
        match = _PART.search(key)
        if match is None:
            raise WeightsRefused(
                f"The adapter {folder.name} holds {key}, which no rule of LoRA or DoRA uses."
            )
        name = key[: match.start()].removeprefix("base_model.model.")
        parts = groups.setdefault(name, _Parts(name))
        if match[1] in parts.found:
            raise WeightsRefused(f"The adapter {folder.name} holds {match[1]} of {name} twice.")
        parts.found[match[1]] = tensor
    return groups


def _find_target(name: str, weights: Mapping[str, torch.Tensor], folder: Path) -> str:
    """The module of the model that an adapter key names, in any of the known layouts."""
    bare = name.removeprefix("model.")
    for candidate in (name, bare, f"language_model.{bare}"):
        if candidate in weights:
            return candidate
    pictures = "visual." in name
    pieces = name.split(".")
    for start in range(1, len(pieces) - 1):
        suffix = "." + ".".join(pieces[start:])
        hits = [
            known
            for known in weights
            if known.endswith(suffix) and known.startswith("visual.") == pictures
        ]
        if len(hits) == 1:
            return hits[0]
        if hits:
            break
    raise WeightsRefused(
        f"The adapter {folder.name} was made for a module {name} that this base does not have, "
        "or has more than once. Check that base and adapter belong together."
    )


def _refuse_gaps(
    model: torch.nn.Module, config: Mapping[str, Any], hit: Collection[str], folder: Path
) -> None:
    """Hold the adapter to its own ``target_modules``, where these alone decide."""
    wanted = config.get("target_modules")
    if not wanted or config.get("exclude_modules") or config.get("layers_to_transform") is not None:
        return
    linear = [name for name, one in model.named_modules() if isinstance(one, torch.nn.Linear)]
    gaps = [name for name in linear if _is_target(name, wanted) and name not in hit]
    if gaps:
        raise WeightsRefused(
            f"The adapter {folder.name} holds nothing for {len(gaps)} of the modules that its "
            f"configuration says it changes, {gaps[0]} for one. Fetch it again."
        )


def _is_target(name: str, wanted: str | Collection[str]) -> bool:
    """Whether ``target_modules`` names a module: a list of endings, or one regular expression."""
    if isinstance(wanted, str):
        if wanted == "all-linear":
            return True
        return any(re.fullmatch(wanted, spelled) for spelled in _spellings(name))
    return any(name == end or name.endswith(f".{end}") for end in wanted)


def _spellings(name: str) -> Iterator[str]:
    """A module's name as the layouts of specification 1.1 have it, the given one first."""
    bare = name.removeprefix("model.").removeprefix("language_model.")
    yield from dict.fromkeys(
        (name, f"model.{name}", bare, f"model.{bare}", f"language_model.{bare}",
         f"model.language_model.{bare}")
    )  # fmt: skip


def _merge_one(
    weight: torch.Tensor, parts: _Parts, config: Mapping[str, Any], folder: Path
) -> bool:
    rank, scale = _scale(parts.name, config)
    low, high = parts.found.get("lora_A"), parts.found.get("lora_B")
    magnitude = parts.found.get("lora_magnitude_vector")
    fits = (
        low is not None
        and high is not None
        and low.shape == (rank, weight.shape[1])
        and high.shape == (weight.shape[0], rank)
        and (magnitude is not None) == bool(config.get("use_dora"))
        and (magnitude is None or magnitude.numel() == weight.shape[0])
    )
    if not fits or low is None or high is None:
        raise WeightsRefused(
            f"The adapter {folder.name} does not fit {parts.name}: its parts are missing or of "
            f"another shape than {weight.shape[0]} x {rank} x {weight.shape[1]}."
        )
    with torch.no_grad():
        merged = weight.float() + scale * (high.float() @ low.float()).to(weight.device)
        if magnitude is not None:
            norms = merged.norm(dim=1)
            merged = merged * (magnitude.float().flatten().to(weight.device) / norms)[:, None]
        if not bool(torch.isfinite(merged).all()):
            raise WeightsRefused(
                f"The adapter {folder.name} makes {parts.name} no finite number; fetch it again."
            )
        changed = not torch.equal(merged, weight.float())
        weight.copy_(merged)
    return changed


def _scale(name: str, config: Mapping[str, Any]) -> tuple[int, float]:
    rank = int(_pattern(config.get("rank_pattern"), name, config.get("r", 8)))
    alpha = float(_pattern(config.get("alpha_pattern"), name, config.get("lora_alpha", 8)))
    return rank, alpha / (math.sqrt(rank) if config.get("use_rslora") else rank)


def _pattern(patterns: Mapping[str, Any] | None, name: str, default: Any) -> Any:
    """The first pattern's value that names the module, in whatever layout it was written for."""
    for pattern, value in (patterns or {}).items():
        whole = re.compile(rf"(?:.*\.)?(?:{pattern})$")
        if any(whole.match(spelled) for spelled in _spellings(name)):
            return value
    return default
