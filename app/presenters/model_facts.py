"""What the catalogue and this machine say about each model, in words. Never loads one.

Reads files' names and headers only. What the devices are is known from the job ``machine``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.presenters.machine import Machine
from app.shown import FitShown, ModelShown
from app.words import size
from db.home import Home
from engine.card import ModelCard
from engine.catalog import BROKEN, CARDS, PRESET, RANDOM, model_cards
from engine.download import WHERE
from engine.errors import ModelError, UnknownModel
from engine.families import folder_settings
from engine.fit import FITS, TIGHT, TOO_LARGE, Fit, gigabytes, judge, weight_bytes
from engine.hardware import Memory
from engine.models.settings import CARD, FOLDER, USER, Used, settle
from studies.places import Here, weights_here

FORM_WORDS = {"2d": "2D", "3d": "3D", "text": "text"}
MEGABYTE = 1_000_000
FORMATS = ("float32", "bfloat16")
TONES = {FITS: "good", TIGHT: "warn", TOO_LARGE: "error"}
IN_SETTINGS = "the number format bfloat16 in Settings"
OWN_IDS = frozenset(card.id for card in CARDS)


def models_shown(
    home: Home, device: str = "auto", *, dtype: str = "auto", machine: Machine | None = None
) -> tuple[ModelShown, ...]:
    """Every model, those that can be used first.

    Args:
        home: where weights and cards lie.
        device: the device of the settings.
        dtype: the number format of the settings.
        machine: what is known of the devices.
    """
    known = machine or Machine()
    found = [_shown(card, home, known, device, dtype) for card in model_cards(home.cards)]
    return tuple(sorted(found, key=lambda shown: not shown.usable))


def _shown(card: ModelCard, home: Home, machine: Machine, device: str, dtype: str) -> ModelShown:
    here = _nothing(card) if card.family == BROKEN else weights_here(card, home)
    folders = _folders(here)
    on_chosen = machine.device(device)
    fit = fit_on(card, on_chosen, dtype, folders) if on_chosen else None
    fits = None if fit is None or fit.state not in TONES else fit.state != TOO_LARGE
    return ModelShown(
        key=card.id, title=card.title, family=card.family, licence=card.licence,
        gated=card.gated, size=_size(card, here), dim=card.dim,
        forms=", ".join(FORM_WORDS.get(form, form) for form in card.forms), on_disk=here.whole,
        has_adapter=card.loader is not None, demo=card.demo, note=card.note, fits=fits,
        why=_why(card, here, fit=fit, device=device),
        state=_state(card, here, fits=fits),
        revision=card.revision or "", source=card.hub_id or "",
        memory=_memory(card, folders),
        devices=tuple(fit_shown(card, one, dtype, folders) for one in machine.devices()),
        gate="" if here.whole else gate_words(card), page=card.page or "",
        place=_place_words(card, here, home), release=release_words(card, stated_by_folder(here)),
        partial=size(here.half) if here.half else "",
        can_download=bool(card.hub_id and card.loader and not here.whole),
        can_remove=here.removable,
        own=card.id not in OWN_IDS, broken=card.family == BROKEN,
    )  # fmt: skip


def _nothing(card: ModelCard) -> Here:
    return Here(None, missing=card.note)


def _size(card: ModelCard, here: Here) -> str:
    """Bytes of the files here, else what the card says of them; empty for next to nothing."""
    count = here.size or card.memory_mb * MEGABYTE
    return size(count) if count > MEGABYTE else ""


def _folders(here: Here) -> tuple[Path, ...]:
    """The folder whose numbers end in memory: of a merged adapter its base."""
    place = here.base_place if here.base is not None else here.place
    return () if place is None else (place.folder,)


def dtype_on(card: ModelCard, device: Mapping[str, Any], asked: str) -> str:
    """The number format that a model would compute in on a device."""
    if asked != "auto":
        return asked
    if not str(device["device"]).startswith("cuda"):
        return "float32"
    layers = {CARD: card.settings}
    prefer = str(settle(card.family, layers, preset=card.preset)[0].dtype)
    return "float32" if device["formats"].get(prefer) else prefer


def fit_on(
    card: ModelCard, device: Mapping[str, Any], asked: str, folders: tuple[Path, ...]
) -> Fit:
    """Whether a model fits a device in the number format it would compute in."""
    if card.family == RANDOM:
        return Fit(FITS, 0, "It holds no weights.")
    if card.family == BROKEN:
        return Fit("", 0, "")
    dtype = dtype_on(card, device, asked)
    total, free = device["memory_total"], device["memory_free"]
    memory = None if total is None else Memory(total, free)
    half = 0 if device["formats"].get("bfloat16") else weight_bytes(card, "bfloat16", folders)
    need = weight_bytes(card, dtype, folders)
    return judge(need, memory, dtype=dtype, where=str(device["name"]).lower(), half=half)


def fit_shown(
    card: ModelCard, device: Mapping[str, Any], asked: str, folders: tuple[Path, ...]
) -> FitShown:
    """The same as a line of the card."""
    fit = fit_on(card, device, asked, folders)
    name, dtype = str(device["name"]), ""
    if fit.need:
        dtype = f", {gigabytes(fit.need)} as {dtype_on(card, device, asked)}"
    tip = fit.words.replace("--dtype bfloat16", IN_SETTINGS)
    if fit.state == FITS:
        return FitShown("good", f"{name}: fits{dtype}", tip)
    if fit.state == TIGHT:
        return FitShown("warn", f"{name}: tight{dtype}, {_free(device)} free", tip)
    if fit.state == TOO_LARGE:
        line = f"{name}: does not fit{dtype}, it has {gigabytes(device['memory_total'])}"
        return FitShown("error", line + _half_fits(card, device, asked, folders), tip)
    return FitShown("quiet", f"{name}: whether it fits is not known", tip)


def _free(device: Mapping[str, Any]) -> str:
    return gigabytes(device["memory_free"])


def _half_fits(
    card: ModelCard, device: Mapping[str, Any], asked: str, folders: tuple[Path, ...]
) -> str:
    """The way out that needs no other machine."""
    if dtype_on(card, device, asked) != "float32" or device["formats"].get("bfloat16"):
        return ""
    half = weight_bytes(card, "bfloat16", folders)
    fits = half <= device["memory_total"]
    return f". As bfloat16 ({gigabytes(half)}) it would: choose it in Settings" if fits else ""


def _memory(card: ModelCard, folders: tuple[Path, ...]) -> str:
    """Sizes of the weights in memory, by number format."""
    sizes = [(weight_bytes(card, dtype, folders), dtype) for dtype in FORMATS]
    if card.family in (RANDOM, BROKEN) or not all(count for count, _ in sizes):
        return ""
    if sizes[0][0] == sizes[1][0]:  # only the size of the published files is known
        return f"In memory about {gigabytes(sizes[0][0])}"
    return "In memory " + ", ".join(f"{gigabytes(count)} as {dtype}" for count, dtype in sizes)


def _why(card: ModelCard, here: Here, *, fit: Fit | None, device: str) -> str:
    if card.family == BROKEN:
        return card.note
    if card.loader is None:
        return "no adapter in this version"
    words = f"{device} is not on this machine" if fit is None else fit.words
    words = words.replace("--dtype bfloat16", IN_SETTINGS)
    return words if here.whole else f"{_sentence(here.missing)} {words}"


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:].rstrip(".") + "."


def _state(card: ModelCard, here: Here, *, fits: bool | None) -> str:
    if card.family == BROKEN:
        return "card broken"
    if card.loader is None:
        return "no adapter yet"
    if fits is False:
        return "too large here"
    return "ready" if here.whole else "not on disk"


def gate_words(card: ModelCard) -> str:
    """What a person must do before a gated model can be fetched; empty where nothing."""
    if not card.gated:
        return ""
    return (
        f"Gated: open {card.page}, accept the terms there, run `hf auth login` once, then download."
    )


def _place_words(card: ModelCard, here: Here, home: Home) -> str:
    """Where the weights lie, what is missing of an adapter, or where to copy them."""
    if here.place is None and card.hub_id is None and card.loader and here.missing:
        return f"Copy the folder its authors gave you to {card.folder or home.weights / card.id}"
    if here.place is None:
        return ""
    words = f"{WHERE.get(here.place.kind, here.place.kind)}: {here.place.folder}"
    return (words[:1].upper() + words[1:]) + (f"; {here.missing}" if here.missing else "")


def stated_by_folder(here: Here) -> dict[str, Any]:
    """The settings in the ``triptych.json`` of a model's folders; none where it cannot be read."""
    found: dict[str, Any] = {}
    for place in (here.base_place, here.place):
        try:
            told = folder_settings(place.folder).get("settings") if place else None
        except UnknownModel:
            told = None
        found |= told if isinstance(told, dict) else {}
    return found


def release_words(card: ModelCard, folder: Mapping[str, Any]) -> str:
    """In one line what the release's settings change for a model; empty where nothing changes."""
    if card.family == BROKEN or card.preset != "default":
        return ""
    try:
        pairs = zip(*both_settings(card, folder), strict=True)
    except ModelError:  # a folder that states what its family does not know; loading says so
        return ""
    changed = [
        f"{ours.name} {told(ours.value)} → {told(theirs.value)}"
        for ours, theirs in pairs
        if ours.value != theirs.value
    ]
    return ", ".join(changed)


def both_settings(
    card: ModelCard, folder: Mapping[str, Any]
) -> tuple[tuple[Used, ...], tuple[Used, ...]]:
    """Each setting of a model as it is used, and under the release preset.

    Args:
        card: of the model.
        folder: the settings that the weights' folder states.
    """
    layers = {CARD: card.settings, FOLDER: folder, USER: card.asked}
    ours = settle(card.family, layers, preset=card.preset)[1]
    return ours, settle(card.family, layers, preset=PRESET)[1]


def told(value: object) -> str:
    """A setting's value as it is shown."""
    if isinstance(value, str):
        return f"'{value}'" if " " in value else value or "(none)"
    return f"{value:,}" if isinstance(value, int) else str(value)


def with_release(models: Iterable[ModelShown]) -> tuple[ModelShown, ...]:
    """Each usable model, followed by itself under the release's settings where they differ."""
    found: list[ModelShown] = []
    for model in models:
        found.append(model)
        if model.usable and model.release:
            title = f"{model.title}, release settings"
            found.append(
                replace(model, key=f"{model.key}@{PRESET}", title=title, variant_of=model.key)
            )
    return tuple(found)
