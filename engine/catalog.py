"""The list of models: the paper's ten, the demo's, the user's own; and how a name finds its card.

Reading the catalogue imports nothing heavy. A card without adapter says so in words. What a card
is stands in ``engine.card``, the families and their loaders in ``engine.families``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.card import (
    CARD_ID,
    COMMIT,
    FIELDS,
    FORMS,
    HUB_ID,
    ModelCard,
    broken,
    read_card,
)
from engine.errors import NoAdapter, UnknownModel
from engine.families import (
    ADAPTER_FILE,
    BASE,
    BLIP2,
    BROKEN,
    CONFIG_FILE,
    LOADERS,
    MEDEMB,
    MEDIMAGEINSIGHT,
    MODEL_TYPES,
    QWEN,
    RANDOM,
    RZENEMBED,
    SENTENCE,
    SETTINGS_FILE,
    SIGLIP,
    VLM2VEC,
    family_of,
    family_of_name,
    folder_settings,
)
from engine.models.settings import check, defaults_of

__all__ = [
    "ADAPTER_FILE", "BASE", "BASES", "BLIP2", "BROKEN", "CARDS", "CONFIG_FILE", "DEMO", "LOADERS",
    "MEDEMB", "MEDIMAGEINSIGHT", "MODEL_TYPES", "PRESET", "QWEN", "RANDOM", "RZENEMBED",
    "SENTENCE", "SETTINGS_FILE", "SIGLIP", "VLM2VEC", "ModelCard", "find_base", "find_card",
    "folder_settings", "model_cards", "require_loader",
]  # fmt: skip

PRESET = "release"  # after an @: the settings of the benchmark authors' wrappers
NO_ADAPTER = "No adapter yet: this version cannot load it."
DEMO = "Demo model, trained on generated pictures; no medical knowledge, never for patients."


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
    if family not in LOADERS and family != BASE:
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

# Revisions: those that MTEB pins, else the newest when this was written, as others pin it; none
# was found for MedImageInsight. Parameters: counted in the files, those of MedSigLIP and BLIP-2
# by the architecture, of MedImageInsight by the files' size. Paper: the ten models of its
# Table 4, in its order.
CARDS: tuple[ModelCard, ...] = (
    _published(
        "siglip-so400m-384", "SigLIP", SIGLIP, "google/siglip-so400m-patch14-384",
        "9fdffc58afc957d1a03a25b10dba0329ab15c2a3", "Apache-2.0", 1152, 3510,
        parameters=877_960_498,
    ),
    _published(
        "blip2-itm-vit-g", "BLIP-2", BLIP2, "Salesforce/blip2-itm-vit-g",
        "520bf73fd0ef6ccce791cd3f06908040aef2d8cc", "MIT", 256, 4690, parameters=1_172_032_258,
    ),
    _published(
        "medsiglip-448", "MedSigLIP", SIGLIP, "google/medsiglip-448",
        "9cea28a1a1195f665105faa6e8544c112fd960a4", "Health AI Developer Foundations terms",
        1152, 3510, gated=True, parameters=878_300_338,
        note="Accept the terms on the model's page once; access follows at once.",
    ),
    _published(
        "medimageinsight", "MedImageInsight", MEDIMAGEINSIGHT, "lion-ai/MedImageInsights",
        None, "MIT", 1024, 2460, parameters=615_000_000,
    ),
    _published(
        "vlm2vec-v2.0", "VLM2Vec-V2.0", VLM2VEC, "VLM2Vec/VLM2Vec-V2.0",
        "e39ff079b8275ef876d3656da8c0bddbff3c4dde", "Apache-2.0", 1536, 4420,
        base="Qwen/Qwen2-VL-2B-Instruct", parameters=2_208_985_600,
    ),
    _published(
        "rzenembed", "RzenEmbed", RZENEMBED, "qihoo360/RzenEmbed",
        "ea95c339008f9639420fcb33ba2ba606ea94be78", "MIT", 3584, 16600,
        parameters=8_291_375_616,
    ),
    _published(
        "qwen3-vl-embedding-2b", "Qwen3-VL-Embedding-2B", QWEN, "Qwen/Qwen3-VL-Embedding-2B",
        "9f2f7e710d6d81056aa5c0a4f04764fec6bb7bda", "Apache-2.0", 2048, 4300,
        parameters=2_127_532_032,
    ),
    _published(
        "qwen3-vl-embedding-8b", "Qwen3-VL-Embedding-8B", QWEN, "Qwen/Qwen3-VL-Embedding-8B",
        "2c4565515e0f265c6511776e7193b22c0968ddc7", "Apache-2.0", 4096, 16300,
        parameters=8_144_793_840,
    ),
    _published(
        "medemb-2b", "MedEmb-2B", MEDEMB, None, None, "not stated", 2048, 4300,
        base="qwen3-vl-embedding-2b", note=_UNPUBLISHED, parameters=2_127_532_032,
    ),
    _published(
        "medemb-8b", "MedEmb-8B", MEDEMB, None, None, "not stated", 4096, 16300,
        base="qwen3-vl-embedding-8b", note=_UNPUBLISHED, parameters=8_144_793_840,
    ),
    _FLOOR,
    _demo("qwen3-vl-embedding-nano", "Qwen3-VL-Embedding nano (demo)", QWEN),
    _demo("medemb-nano", "MedEmb nano (demo)", MEDEMB),
    _demo("siglip-nano", "SigLIP nano (demo)", SIGLIP),
)  # fmt: skip

# What adapters sit on: downloaded with them, found by id and hub id, in no list of models.
BASES: tuple[ModelCard, ...] = (
    _published(
        "qwen2-vl-2b-instruct", "Qwen2-VL-2B-Instruct", BASE, "Qwen/Qwen2-VL-2B-Instruct",
        "895c3a49bc3fa70a340399125c650a463535e71c", "Apache-2.0", 1536, 4420,
        parameters=2_208_985_600,
        note="The base of VLM2Vec-V2.0; alone it is no embedding model.",
    ),
)  # fmt: skip
_BARE = replace(
    _FLOOR, family=BASE, loader=None, licence="see its page", dim=0, memory_mb=0,
    note="The base of an adapter; alone it is no embedding model.",
)  # fmt: skip


def model_cards(cards_dir: Path | None = None) -> tuple[ModelCard, ...]:
    """Every card: the paper's ten, the random floor, the three demo models, the user's own.

    A user's card that cannot be read is listed too, with the reason as its note and no loader, so
    that the others go on.
    """
    own: list[ModelCard] = []
    taken = {card.id for card in CARDS + BASES}
    for path in [] if cards_dir is None else sorted(cards_dir.glob("*.json")):
        card = _own_card(path, taken)
        taken.add(card.id)
        own.append(card)
    return CARDS + tuple(own)


def find_card(model: str, *, cards_dir: Path | None = None) -> ModelCard:
    """The card of an id, a local folder, or a hub id ``organisation/name``.

    Any of them may end in ``@release``, the same model under the settings of the benchmark
    authors' wrappers, or in ``@setting=value``; several may follow each other. Each is a model
    with an id of its own in every result. A hub id may end in ``@`` and a commit.

    Raises:
        UnknownModel: none of these; the message lists the ids.
        ModelError: a setting or value that the family does not know.
    """
    if not model.strip():
        raise UnknownModel("No model was named. See which there are: triptych models list")
    name, at, last = model.rpartition("@")
    if at and name and (last == PRESET or "=" in last):
        return _variant(find_card(name, cards_dir=cards_dir), last)
    cards = model_cards(cards_dir)
    for card in cards + BASES:
        if model in (card.id, card.hub_id):
            return card
    folder = _folder_named(model)
    if folder is not None:
        return _folder_card(folder)
    if HUB_ID.fullmatch(model):
        return _hub_card(model)
    spelled = model.replace("--", "/", 1)  # as in the name of its folder and in results
    if "/" not in model and HUB_ID.fullmatch(spelled) and family_of_name(spelled) is not None:
        return find_card(spelled, cards_dir=cards_dir)
    if at and HUB_ID.fullmatch(name) and COMMIT.fullmatch(last):
        card = find_card(name, cards_dir=cards_dir)
        return card if card.revision == last else _at_commit(card, last)
    raise UnknownModel(
        f"There is no model {model!r}: not a folder, not a hub id, and not one of "
        f"{', '.join(card.id for card in cards)}."
    )


def find_base(model: str, *, cards_dir: Path | None = None) -> ModelCard:
    """The card of what an adapter sits on; its name need not tell a family.

    Raises:
        UnknownModel: neither a card nor a folder nor a hub id.
    """
    try:
        return find_card(model, cards_dir=cards_dir)
    except UnknownModel:
        folder = _folder_named(model)
        if folder is not None and (folder / CONFIG_FILE).is_file():
            return replace(_BARE, id=folder.name, title=folder.name, folder=str(folder))
        if folder is None and HUB_ID.fullmatch(model):
            return replace(_BARE, id=model.replace("/", "--"), title=model, hub_id=model)
        raise


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


def _at_commit(card: ModelCard, commit: str) -> ModelCard:
    """The same published model at another commit, with a folder of its own."""
    return replace(
        card, id=f"{card.id}--{commit[:12]}", title=f"{card.title} at {commit[:12]}",
        revision=commit,
    )  # fmt: skip


def _folder_named(model: str) -> Path | None:
    """The folder of that name; None if there is none, or if no folder can have such a name."""
    if not model:
        return None
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


def _folder_card(folder: Path) -> ModelCard:
    family, extra = family_of(folder), folder_settings(folder)
    named = {name: extra.get(name) for name in ("id", "title", "base")}
    strange = [name for name, one in named.items() if not isinstance(one, str | None)]
    if named["id"] and not strange and not CARD_ID.fullmatch(named["id"]):
        strange = ["id"]
    if strange:
        raise UnknownModel(
            f"{SETTINGS_FILE} of {folder.name}: {strange[0]} is {named[strange[0]]!r}; wanted is: "
            f"{FIELDS[strange[0]]}; mend it."
        )
    return replace(
        _FLOOR,
        id=str(extra.get("id") or folder.name),
        title=str(extra.get("title") or folder.name),
        family=family,
        loader=LOADERS.get(family),
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
    family = family_of_name(hub_id)
    if family is None:
        raise UnknownModel(
            f"{hub_id} is not in the catalogue and its name tells no family. Write a card: a file "
            f'NAME.json in the folder cards of the home with {{"family": "{SENTENCE}", "hub_id": '
            f'"{hub_id}"}}; the families are {", ".join(LOADERS)}.'
        )
    return replace(
        _FLOOR, id=hub_id.replace("/", "--"), title=hub_id, family=family, hub_id=hub_id,
        loader=LOADERS.get(family), licence="see its page", dim=0, memory_mb=0,
        note="Not pinned: the newest commit is taken at the download and written down.",
    )  # fmt: skip


def _own_card(path: Path, taken: set[str]) -> ModelCard:
    """A user's card; one that cannot be read or whose id is taken keeps the reason."""
    try:
        values = {"licence": "yours", "note": "Your own card.", **read_card(path)}
    except UnknownModel as error:
        return _spare(broken(path, str(error)), taken)
    if values["id"] in taken:
        reason = f"The card {path.name}: the id {values['id']!r} is taken; give it another."
        return _spare(broken(path, reason), taken)
    return replace(
        _FLOOR, **({"dim": 0, "memory_mb": 0} | values | {"loader": LOADERS[values["family"]]})
    )


def _spare(card: ModelCard, taken: set[str]) -> ModelCard:
    """The same under an id that nobody has."""
    return card if card.id not in taken else replace(card, id=f"{card.id}.json")
