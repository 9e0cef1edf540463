"""One model's card, and how a user's own card is read from a JSON file.

A card says what a model is, whose, under which terms and how it is loaded. A user's card names a
family, never code. Reads small files only; loads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import ModelError, UnknownModel
from engine.families import BROKEN, LOADERS, read_object
from engine.models.settings import CARD, PRESETS, settle

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
COMMIT = re.compile(r"[0-9a-f]{40}")
REVISION = re.compile(r"[\w.-]{1,80}")
CARD_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
FORMS = ("2d", "3d", "text")
BYTES: Mapping[str, int] = {"float32": 4, "bfloat16": 2, "float16": 2}
HUB_PAGE = "https://huggingface.co/"
# What a user's card may say, in the words of `triptych models show`.
FIELDS: Mapping[str, str] = {
    "family": f"required, one of {', '.join(LOADERS)}",
    "id": "short name: letters, digits, dots, hyphens, underscores; the file's name if left out",
    "title": "name for people",
    "folder": "the weights on this machine; a relative path starts at the card's file",
    "hub_id": "organisation/name on the hub, for `triptych models download ID`",
    "revision": "the commit there; left out, the newest is taken at the download and written down",
    "settings": "an object of settings, laid over the family's; each is checked",
    "preset": f"one of {', '.join(PRESETS)}",
    "base": "for an adapter: the card id, hub id or folder of the model it sits on",
    "dim": "length of a vector, 0 if it is read from the weights",
    "parameters": "how many numbers the weights hold; tells what fits the memory",
    "memory_mb": "memory for the weights in their own format, in MB of a million bytes",
    "forms": f"which it takes, of {', '.join(FORMS)}",
    "licence": "of the weights",
    "gated": "true if the publisher asks for consent before the download",
    "note": "what a user must know",
}
_KINDS: Mapping[str, type] = {
    "id": str, "title": str, "folder": str, "hub_id": str, "revision": str, "settings": dict,
    "preset": str, "base": str, "dim": int, "parameters": int, "memory_mb": int, "forms": list,
    "licence": str, "gated": bool, "note": str,
}  # fmt: skip
_NULLABLE = ("folder", "hub_id", "revision", "base")


@dataclass(frozen=True)
class ModelCard:
    """One model.

    Attributes:
        id: short name, used on the command line and in stored results.
        title: name for people.
        family: decides the adapter.
        loader: ``module:function``, None while there is no adapter.
        hub_id: where the weights are published, None if nowhere.
        revision: the pinned commit there, None where none is known.
        licence: of the weights.
        gated: the publisher asks for consent before the download.
        dim: length of a vector, 0 if it is read from the weights.
        forms: which of ``2d``, ``3d``, ``text`` it takes.
        memory_mb: memory for the weights in the model's own format on a graphics card.
        demo: trained on generated pictures, for showing the program.
        note: what a user must know, in words.
        folder: weights on this machine: below the shipped models, or absolute.
        settings: the card's own settings, laid over the family's.
        base: for an adapter, the card id, hub id or folder of the model it sits on.
        preset: ``default``, or ``release``: the benchmark authors' settings.
        variant: what the id says after the plain one, for example ``@release``.
        asked: the settings of the variant, laid over all others.
        parameters: how many numbers the weights hold, an adapter's base included; 0 if unknown.
    """

    id: str
    title: str
    family: str
    loader: str | None
    hub_id: str | None
    revision: str | None
    licence: str
    gated: bool
    dim: int
    forms: tuple[str, ...]
    memory_mb: int
    demo: bool
    note: str
    folder: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    base: str | None = None
    preset: str = "default"
    variant: str = ""
    asked: Mapping[str, object] = field(default_factory=dict)
    parameters: int = 0

    @property
    def plain_id(self) -> str:
        """The id without its variant: the folder of its weights, and its name in the paper."""
        return self.id.removesuffix(self.variant)

    @property
    def spoken(self) -> str:
        """What a person types to name this model, without its variant."""
        if self.hub_id and self.plain_id == self.hub_id.replace("/", "--"):
            return self.hub_id
        if self.pinned and self.plain_id.endswith(f"--{str(self.revision)[:12]}"):
            return f"{self.hub_id}@{self.revision}"
        return self.plain_id

    @property
    def pinned(self) -> bool:
        """Whether the revision is a commit, which never changes, and not a branch or a tag."""
        return self.revision is not None and COMMIT.fullmatch(self.revision) is not None

    @property
    def page(self) -> str | None:
        """The address of the page where the publisher states the terms; None if unpublished."""
        return f"{HUB_PAGE}{self.hub_id}" if self.hub_id else None

    def weight_bytes(self, dtype: str) -> int:
        """Memory for the weights in a number format, in bytes; 0 if nothing is known.

        Args:
            dtype: ``float32``, ``bfloat16`` or ``float16``.
        """
        if self.parameters:
            return self.parameters * BYTES[dtype]
        return self.memory_mb * 1_000_000


def read_card(path: Path) -> dict[str, Any]:
    """The fields of a user's card, checked, ready for ``ModelCard``.

    Raises:
        UnknownModel: it cannot be read or says something no card can say.
    """
    content = read_object(path)
    family = content.get("family")
    if not isinstance(family, str) or family not in LOADERS:
        raise UnknownModel(
            f"The card {path.name} needs a family, one of {', '.join(LOADERS)}, not {family!r}."
        )
    unknown = sorted(set(content) - set(FIELDS))
    if unknown:
        raise UnknownModel(
            f"The card {path.name} holds {', '.join(unknown)}, which no card has; "
            f"known are {', '.join(FIELDS)}."
        )
    values: dict[str, Any] = {"id": path.stem, "title": content.get("id", path.stem), **content}
    for name in values:
        _check_kind(path, name, values[name])
    _check_words(path, values)
    values["forms"] = tuple(values.get("forms", FORMS))
    if values.get("folder"):
        values["folder"] = _folder(path, values["folder"])
    return values


def _check_kind(path: Path, name: str, value: object) -> None:
    """Hold a user's card to the types that everybody relies on."""
    kind = _KINDS.get(name, str)
    if value is None and name in _NULLABLE:
        return
    wrong_number = kind is int and (isinstance(value, bool) or str(value).startswith("-"))
    if not isinstance(value, kind) or wrong_number:
        raise UnknownModel(
            f"The card {path.name}: {name} is {value!r}, wanted is: {FIELDS[name]}; mend it."
        )


def _check_words(path: Path, values: Mapping[str, Any]) -> None:
    # the id names the folder of the weights, so it must not lead anywhere else
    if not CARD_ID.fullmatch(values["id"]):
        raise UnknownModel(
            f"The card {path.name}: the id {values['id']!r} must be letters, digits, dots, "
            "hyphens and underscores; mend it."
        )
    for name, pattern in (("hub_id", HUB_ID), ("revision", REVISION)):
        if values.get(name) is not None and not pattern.fullmatch(values[name]):
            raise UnknownModel(f"The card {path.name}: {name} is {values[name]!r}; mend it.")
    strange = sorted(set(map(str, values.get("forms", ()))) - set(FORMS))
    if strange:
        raise UnknownModel(
            f"The card {path.name}: forms are of {', '.join(FORMS)}, not {', '.join(strange)}."
        )
    try:
        preset = values.get("preset", PRESETS[0])
        settle(values["family"], {CARD: values.get("settings")}, preset=preset)
    except ModelError as error:
        raise UnknownModel(f"The card {path.name}: {error}") from error


def _folder(path: Path, folder: str) -> str:
    """An absolute path; a relative one starts at the card's file."""
    try:
        return str((path.parent / Path(folder).expanduser()).resolve())
    except (OSError, ValueError, RuntimeError) as error:
        raise UnknownModel(f"The card {path.name}: the folder {folder!r} cannot be.") from error


def broken(path: Path, reason: str) -> ModelCard:
    """A card that stands for one that cannot be read, so that it is listed with the reason."""
    return ModelCard(
        id=path.stem, title=path.stem, family=BROKEN, loader=None, hub_id=None, revision=None,
        licence="unknown", gated=False, dim=0, forms=FORMS, memory_mb=0, demo=False, note=reason,
    )  # fmt: skip
