"""The model cards: what each model is, whose, under which terms, and how it is loaded.

Reading the catalogue imports nothing heavy. A card without adapter says so in words. A card from
a user names a family, never code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.errors import NoAdapter, UnknownModel
from engine.models.settings import check, defaults_of

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
FORMS = ("2d", "3d", "text")
QWEN, MEDEMB, SIGLIP, RANDOM = "qwen3-vl-embedding", "medemb", "siglip", "random"
BLIP2, MEDIMAGEINSIGHT, VLM2VEC, RZENEMBED = "blip2", "medimageinsight", "vlm2vec", "rzenembed"
SENTENCE = "sentence-transformers"
PRESET = "release"  # after an @: the settings of the benchmark authors' wrappers
BROKEN = "unreadable"  # the family of a user's card that cannot be read
LOADERS = {
    QWEN: "engine.models.qwen3_vl:load",
    MEDEMB: "engine.models.qwen3_vl:load",
    SIGLIP: "engine.models.siglip:load",
    RANDOM: "engine.models.random_encoder:load",
}
CARD_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
MODEL_TYPES = {"qwen3_vl": QWEN, "siglip": SIGLIP}
NO_ADAPTER = "No adapter yet: this version cannot load it."
DEMO = "Demo model, trained on generated pictures; no medical knowledge, never for patients."
SETTINGS_FILE, ADAPTER_FILE, CONFIG_FILE = "triptych.json", "adapter_config.json", "config.json"


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

    @property
    def plain_id(self) -> str:
        """The id without its variant: the folder of its weights, and its name in the paper."""
        return self.id.removesuffix(self.variant)


def _published(
    id: str,
    title: str,
    family: str,
    hub_id: str | None,
    revision: str | None,
    licence: str,
    dim: int,
    memory_mb: int,
    **more: Any,
) -> ModelCard:
    values: dict[str, Any] = {"gated": False, "forms": FORMS, "demo": False, "note": ""}
    if family not in LOADERS:
        values["note"] = NO_ADAPTER
    return ModelCard(
        id=id,
        title=title,
        family=family,
        loader=LOADERS.get(family),
        hub_id=hub_id,
        revision=revision,
        licence=licence,
        dim=dim,
        memory_mb=memory_mb,
        **(values | more),
    )


def _demo(id: str, title: str, family: str) -> ModelCard:
    return _published(
        id, title, family, None, None, "Apache-2.0", 128, 16, demo=True, note=DEMO, folder=id,
        settings={"dtype": "float32"},
    )  # fmt: skip


_FLOOR = ModelCard(
    id="random",
    title="Random",
    family=RANDOM,
    loader=LOADERS[RANDOM],
    hub_id=None,
    revision=None,
    licence="Apache-2.0",
    gated=False,
    dim=64,
    forms=FORMS,
    memory_mb=1,
    demo=False,
    note="Random vectors seeded by content: what chance looks like through the whole path.",
)
_UNPUBLISHED = "Weights not published when this was written; copy them into the weights folder."

# Revisions: those that MTEB pins. Paper: the ten models of its Table 4, in its order.
CARDS: tuple[ModelCard, ...] = (
    _published(
        "siglip-so400m-384", "SigLIP", SIGLIP, "google/siglip-so400m-patch14-384",
        "9fdffc58afc957d1a03a25b10dba0329ab15c2a3", "Apache-2.0", 1152, 3510,
    ),
    _published(
        "blip2-itm-vit-g", "BLIP-2", "blip2", "Salesforce/blip2-itm-vit-g", None, "MIT", 256, 4700,
    ),
    _published(
        "medsiglip-448", "MedSigLIP", SIGLIP, "google/medsiglip-448", None,
        "Health AI Developer Foundations terms", 1152, 3510, gated=True,
        note="Accept the terms on the model's page once; access follows at once.",
    ),
    _published(
        "medimageinsight", "MedImageInsight", "medimageinsight", "lion-ai/MedImageInsights",
        None, "MIT", 1024, 2460,
    ),
    _published(
        "vlm2vec-v2.0", "VLM2Vec-V2.0", "vlm2vec", "VLM2Vec/VLM2Vec-V2.0",
        "e39ff079b8275ef876d3656da8c0bddbff3c4dde", "Apache-2.0", 1536, 4400,
        base="Qwen/Qwen2-VL-2B-Instruct",
    ),
    _published(
        "rzenembed", "RzenEmbed", "rzenembed", "qihoo360/RzenEmbed",
        "ea95c339008f9639420fcb33ba2ba606ea94be78", "MIT", 3584, 16600,
    ),
    _published(
        "qwen3-vl-embedding-2b", "Qwen3-VL-Embedding-2B", QWEN, "Qwen/Qwen3-VL-Embedding-2B",
        "9f2f7e710d6d81056aa5c0a4f04764fec6bb7bda", "Apache-2.0", 2048, 4300,
    ),
    _published(
        "qwen3-vl-embedding-8b", "Qwen3-VL-Embedding-8B", QWEN, "Qwen/Qwen3-VL-Embedding-8B",
        "2c4565515e0f265c6511776e7193b22c0968ddc7", "Apache-2.0", 4096, 16300,
    ),
    _published(
        "medemb-2b", "MedEmb-2B", MEDEMB, None, None, "not stated", 2048, 4300,
        base="qwen3-vl-embedding-2b", note=_UNPUBLISHED,
    ),
    _published(
        "medemb-8b", "MedEmb-8B", MEDEMB, None, None, "not stated", 4096, 16300,
        base="qwen3-vl-embedding-8b", note=_UNPUBLISHED,
    ),
    _FLOOR,
    _demo("qwen3-vl-embedding-nano", "Qwen3-VL-Embedding nano (demo)", QWEN),
    _demo("medemb-nano", "MedEmb nano (demo)", MEDEMB),
    _demo("siglip-nano", "SigLIP nano (demo)", SIGLIP),
)  # fmt: skip


def model_cards(cards_dir: Path | None = None) -> tuple[ModelCard, ...]:
    """Every card: the paper's ten, the random floor, the three demo models, the user's own.

    A user's card that cannot be read is listed too, with the reason as its note and no loader, so
    that the others go on.
    """
    own = [] if cards_dir is None else sorted(cards_dir.glob("*.json"))
    return CARDS + tuple(_own_card(path) for path in own)


def find_card(model: str, *, cards_dir: Path | None = None) -> ModelCard:
    """The card of an id, a local folder, or a hub id ``organisation/name``.

    Any of them may end in ``@release``, the same model under the settings of the benchmark
    authors' wrappers, or in ``@setting=value``; several may follow each other. Each is a model
    with an id of its own in every result.

    Raises:
        UnknownModel: none of these; the message lists the ids.
        ModelError: a setting or value that the family does not know.
    """
    name, at, last = model.rpartition("@")
    if at and name and (last == PRESET or "=" in last):
        return _variant(find_card(name, cards_dir=cards_dir), last)
    cards = model_cards(cards_dir)
    for card in cards:
        if model in (card.id, card.hub_id):
            return card
    folder = _folder_named(model)
    if folder is not None:
        return _folder_card(folder)
    if HUB_ID.fullmatch(model):
        return _hub_card(model)
    raise UnknownModel(
        f"There is no model {model!r}: not a folder, not a hub id, and not one of "
        f"{', '.join(card.id for card in cards)}."
    )


def _variant(card: ModelCard, last: str) -> ModelCard:
    """The same model under another preset, or with one setting of another value."""
    changed: dict[str, Any] = {"preset": PRESET}
    if last != PRESET:
        name, _, text = last.partition("=")
        known = defaults_of(card.family).get(name)
        number = known is not None and isinstance(known.value, int) and text.isdecimal()
        value = int(text) if number else text
        check(card.family, name, value)
        changed = {"asked": {**card.asked, name: value}}
    return replace(
        card,
        id=f"{card.id}@{last}",
        title=f"{card.title} ({'release settings' if last == PRESET else last})",
        variant=f"{card.variant}@{last}",
        **changed,
    )


def _folder_named(model: str) -> Path | None:
    """The folder of that name; None if there is none, or if no folder can have such a name."""
    try:
        folder = Path(model).expanduser()
        return folder.resolve() if folder.is_dir() else None
    except (OSError, ValueError, RuntimeError):
        return None


def require_loader(card: ModelCard) -> str:
    """The loader of a card.

    Raises:
        NoAdapter: there is none yet.
        UnknownModel: the card itself cannot be read.
    """
    if card.family == BROKEN:
        raise UnknownModel(card.note)
    if card.loader is None:
        raise NoAdapter(
            f"{card.title} has a card but no adapter in this version, so it cannot be loaded. "
            "Choose another model."
        )
    return card.loader


def folder_settings(folder: Path) -> dict[str, Any]:
    """The content of a model folder's ``triptych.json``, empty if there is none.

    Raises:
        UnknownModel: the file is not a JSON object.
    """
    path = folder / SETTINGS_FILE
    return _read_object(path) if path.is_file() else {}


def _read_object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnknownModel(f"{path.name} cannot be read as JSON ({error}); mend it.") from error
    if not isinstance(content, dict):
        raise UnknownModel(f"{path.name} does not hold a JSON object; mend it.")
    return content


def _family_of(folder: Path) -> str:
    family = folder_settings(folder).get("family")
    if family is None and (folder / ADAPTER_FILE).is_file():
        return MEDEMB
    if family is None and (folder / CONFIG_FILE).is_file():
        family = MODEL_TYPES.get(_read_object(folder / CONFIG_FILE).get("model_type", ""))
    if family not in LOADERS:
        raise UnknownModel(
            f"The folder {folder.name} is not a model that can be loaded: it needs a "
            f"{CONFIG_FILE} of type {' or '.join(MODEL_TYPES)}, an {ADAPTER_FILE}, or a "
            f"{SETTINGS_FILE} naming one of the families {', '.join(LOADERS)}."
        )
    return str(family)


def _folder_card(folder: Path) -> ModelCard:
    family, extra = _family_of(folder), folder_settings(folder)
    return replace(
        _FLOOR,
        id=str(extra.get("id") or folder.name),
        title=str(extra.get("title") or folder.name),
        family=family,
        loader=LOADERS[family],
        licence="yours",
        dim=0,
        memory_mb=0,
        demo=bool(extra.get("demo")),
        note=DEMO if extra.get("demo") else "A folder on this machine.",
        folder=str(folder),
        base=extra.get("base"),
    )


def _hub_card(hub_id: str) -> ModelCard:
    """A card for a published model that the catalogue does not list, its family by its name."""
    name = hub_id.lower()
    family = next((one for one in (MEDEMB, SIGLIP, QWEN) if one in name), None)
    if family is None:
        raise UnknownModel(
            f"{hub_id} is not in the catalogue and its name tells no family. Download it and name "
            f"the folder, or write a card with one of the families {', '.join(LOADERS)}."
        )
    return replace(
        _FLOOR, id=hub_id.replace("/", "--"), title=hub_id, family=family, hub_id=hub_id,
        loader=LOADERS[family], licence="see its page", dim=0, memory_mb=0, note="Not pinned.",
    )  # fmt: skip


def _check_card(path: Path, values: Mapping[str, Any]) -> None:
    """Hold a user's card to the types that everybody relies on."""
    wanted = {"id": str, "title": str, "dim": int, "memory_mb": int, "settings": dict}
    for name, kind in wanted.items():
        if name in values and not isinstance(values[name], kind):
            raise UnknownModel(f"The card {path.name}: {name} is {values[name]!r}; mend it.")
    # the id names the folder of the weights, so it must not lead anywhere else
    if not CARD_ID.fullmatch(values["id"]):
        raise UnknownModel(
            f"The card {path.name}: the id {values['id']!r} must be letters, digits, dots, "
            "hyphens and underscores; mend it."
        )


def _own_card(path: Path) -> ModelCard:
    try:
        return _user_card(path)
    except UnknownModel as error:
        return replace(
            _FLOOR, id=path.stem, title=path.stem, family=BROKEN, loader=None, licence="unknown",
            dim=0, memory_mb=0, note=str(error),
        )  # fmt: skip


def _user_card(path: Path) -> ModelCard:
    content = _read_object(path)
    family = content.get("family")
    if family not in LOADERS:
        raise UnknownModel(
            f"The card {path.name} needs a family, one of {', '.join(LOADERS)}, not {family!r}."
        )
    known = set(ModelCard.__dataclass_fields__) - {"loader", "demo"}
    unknown = sorted(set(content) - known)
    if unknown:
        raise UnknownModel(f"The card {path.name} holds {', '.join(unknown)}, which no card has.")
    values: dict[str, Any] = {
        "id": path.stem, "title": path.stem, "licence": "yours", "note": "Your own card.",
        "dim": 0, "memory_mb": 0, **content,
    }  # fmt: skip
    if isinstance(values.get("forms"), list):
        values["forms"] = tuple(values["forms"])
    _check_card(path, values)
    return replace(_FLOOR, **(values | {"loader": LOADERS[family]}))
