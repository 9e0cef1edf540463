"""From a model's name to a loaded encoder. Torch-free itself: adapters are loaded by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from engine.catalog import RANDOM, ModelCard, find_card, require_loader
from engine.control import Control
from engine.device import INSTALL, Choice, choose_device, format_refused, import_torch
from engine.encoder import Encoder
from engine.errors import DeviceError, EngineMissing
from engine.fit import TIGHT, TOO_LARGE, judge, weight_bytes
from engine.hardware import device_memory
from engine.models.record import Loading
from engine.models.settings import CARD, FOLDER, USER, settle
from engine.weights import find_weights, resolve

OWN = ("app", "db", "engine", "studies", "resources")


def load_encoder(
    model: str,
    *,
    weights_dir: Path,
    shipped_dir: Path,
    cards_dir: Path | None = None,
    device: str = "auto",
    dtype: str = "auto",
    settings: Mapping[str, object] | None = None,
    control: Control = Control(),
) -> Encoder:
    """Load a model by card id, local folder or hub id.

    Args:
        model: what to load.
        weights_dir: downloaded weights, one folder per card id.
        shipped_dir: the models that come with the program.
        cards_dir: the user's own cards.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        dtype: ``auto``, ``float32``, ``bfloat16``, ``float16``.
        settings: laid over the card's and the folder's.
        control: is told what is happening.

    Raises:
        UnknownModel, NoAdapter, WeightsMissing, WeightsRefused, ModelError, DeviceError,
        EngineMissing: each a sentence for a person; weights larger than the device's memory are
        a ``DeviceError`` before they are loaded.
    """
    card = find_card(model, cards_dir=cards_dir)
    load = _loader(card)
    if card.family == RANDOM:
        return load(card, settings=settings, control=control)
    import_torch()
    place = find_weights(card, weights_dir=weights_dir, shipped_dir=shipped_dir)
    if place is not None:  # before gigabytes are hashed, by the smaller format
        _with_room(card, (place.folder,), choose_device(device, dtype=dtype), Control())
    weights = resolve(
        card, weights_dir=weights_dir, shipped_dir=shipped_dir, cards_dir=cards_dir, control=control
    )
    layers = {
        CARD: card.settings,
        FOLDER: weights.settings,
        USER: {**card.asked, **(settings or {})},
    }
    chosen, used = settle(card.family, layers, preset=card.preset)
    choice = choose_device(device, dtype=dtype, prefer=chosen.dtype)
    choice = _with_room(card, (weights.folder,), choice, control)
    control.check()
    try:
        return load(Loading(card, weights, choice, chosen, used, control))
    except MemoryError as error:
        raise DeviceError(
            f"{card.title}: the memory of {_where(choice)} ran out while it was loaded. Close what "
            "else uses it, or use --dtype bfloat16, a smaller model or another device."
        ) from error


def _where(choice: Choice) -> str:
    return "the processor" if choice.device == "cpu" else choice.device


def _with_room(
    card: ModelCard, folders: tuple[Path, ...], choice: Choice, control: Control
) -> Choice:
    """Hold the weights against the device's memory before anything is loaded.

    Raises:
        DeviceError: they cannot fit at all.
    """
    torch = import_torch()
    half = "" if format_refused(torch, choice.device, "bfloat16") else "bfloat16"
    fit = judge(
        weight_bytes(card, choice.dtype, folders),
        device_memory(torch, choice.device),
        dtype=choice.dtype,
        where=_where(choice),
        half=weight_bytes(card, half, folders) if half else 0,
    )
    if fit.state == TOO_LARGE:
        raise DeviceError(f"{card.title} cannot be loaded. {fit.words}")
    if fit.state != TIGHT:
        return choice
    control.say(f"{card.title}: {fit.words}")
    return replace(choice, reason=f"{choice.reason} {fit.words}")


def _loader(card: ModelCard) -> Callable[..., Encoder]:
    module, _, name = require_loader(card).partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        missing = (error.name or "a library").split(".")[0]
        if missing in OWN:
            raise
        raise EngineMissing(
            f"{card.title} needs {missing}, which is not installed here. Run: {INSTALL}"
        ) from error
