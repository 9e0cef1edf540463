"""Models in the words of the command line: cards, settings with who states them, checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from db.home import Home
from engine.card import BYTES, FIELDS, ModelCard
from engine.catalog import find_card, model_cards
from engine.errors import ModelError
from engine.families import BROKEN, folder_settings
from engine.hub import in_words, offline
from engine.models.settings import CARD, DEFAULTS, FOLDER, ORIGINS, PRESETS, RELEASES, USER, settle
from studies.cli_text import columns
from studies.places import Here, weights_here

DEMO_LABEL = "demo model, trained on generated pictures"
MOST_FILES = 8  # shown by name
OFFLINE = "the hub is switched off by HF_HUB_OFFLINE"


def card_document(card: ModelCard, home: Home) -> dict[str, Any]:
    """A card as plain values, with whether it can be used here."""
    here = weights_here(card, home)
    return {
        "id": card.id,
        "title": card.title,
        "family": card.family,
        "licence": card.licence,
        "gated": card.gated,
        "dim": card.dim,
        "memory_mb": card.memory_mb,
        "parameters": card.parameters,
        "hub_id": card.hub_id,
        "revision": card.revision,
        "page": card.page,
        "base": card.base,
        "demo": card.demo,
        "adapter": card.loader is not None,
        "on_disk": here.whole,
        "half": here.half,
        "missing": here.missing,
        "note": card.note,
    }


def cards(home: Home) -> list[dict[str, Any]]:
    """Every model card."""
    return [card_document(card, home) for card in model_cards(home.cards)]


def card_table(documents: Sequence[dict[str, Any]]) -> str:
    """The cards as a table; a card that cannot be read says why below it."""
    rows = [("model", "dim", "memory", "on disk", "loads", "licence", "note")]
    for card in documents:
        note = DEMO_LABEL if card["demo"] else card["note"]
        rows.append(
            (
                card["id"],
                str(card["dim"] or ""),
                f"{card['memory_mb']} MB" if card["memory_mb"] else "",
                "yes" if card["on_disk"] else "half" if card["half"] else "no",
                "yes" if card["adapter"] else "no",
                card["licence"] + (", gated" if card["gated"] else ""),
                note.split(". ")[0],
            )
        )
    broken = [f"! {card['note']}" for card in documents if card["family"] == BROKEN]
    return "\n".join([columns(rows), *broken])


def card_shown(home: Home, model: str) -> dict[str, Any]:
    """A card with its files here, memory by number format, and settings under each preset.

    Raises:
        UnknownModel: there is no such model.
    """
    card = find_card(model, cards_dir=home.cards)
    here = weights_here(card, home)
    document = card_document(card, home)
    document |= {
        "preset": card.preset,
        "forms": list(card.forms),
        "memory_bytes": {name: card.weight_bytes(name) for name in BYTES},
        "folder": str(here.place.folder) if here.place else None,
        "place": here.place.kind if here.place else None,
        "here_revision": here.place.revision if here.place else None,
        "base_folder": str(here.base_place.folder) if here.base_place else None,
        "bytes_here": here.size,
        "files": _files(here),
        "removable": here.removable,
        "settings": _settings(card, here),
        "release": card.family in RELEASES,
        "own": (home.cards / f"{card.plain_id}.json").is_file() or card.family == BROKEN,
    }
    return document


def _files(here: Here) -> list[dict[str, Any]]:
    """Path and size of every file here, those of a base too; none that is hidden."""
    found: list[dict[str, Any]] = []
    for place in (here.place, here.base_place):
        if place is None:
            continue
        for path in sorted(place.folder.rglob("*")):
            inside = path.relative_to(place.folder).parts
            if path.is_file() and not any(part.startswith(".") for part in inside):
                found.append({"path": str(path), "size": path.stat().st_size})
    return found


def _file_lines(document: Mapping[str, Any]) -> list[str]:
    files = sorted(document["files"], key=lambda file: -file["size"])
    rows = [(f"  {in_words(file['size'])}", file["path"]) for file in files[:MOST_FILES]]
    more = len(files) - MOST_FILES
    rest = [f"  and {more} smaller files"] if more > 0 else []
    return [columns(rows), *rest] if rows else []


def _settings(card: ModelCard, here: Here) -> list[dict[str, Any]]:
    """Each setting with its value and who states it, under every preset."""
    if card.family not in DEFAULTS:
        return []
    folder: Mapping[str, object] = {}
    if here.place is not None:
        try:
            folder = folder_settings(here.place.folder).get("settings") or {}
        except ModelError:  # said when the model is loaded
            folder = {}
    layers = {CARD: card.settings, FOLDER: folder, USER: card.asked}
    rows: dict[str, dict[str, Any]] = {}
    for preset in PRESETS:
        for one in settle(card.family, layers, preset=preset)[1]:
            row = rows.setdefault(one.name, {"name": one.name})
            row[preset] = one.value
            row[f"{preset}_origin"] = one.origin
    for name, row in rows.items():
        row["choices"] = list(DEFAULTS[card.family][name].choices)
    return list(rows.values())


def card_text(document: dict[str, Any]) -> str:
    """A card as lines."""
    facts = [
        ("model", f"{document['id']} ({document['title']})"),
        ("family", document["family"] + ("" if document["adapter"] else ", cannot be loaded")),
        ("licence", document["licence"]),
        ("gate", "the publisher asks for consent: open the page, accept" * document["gated"]),
        ("page", document["page"] or ""),
        ("revision", document["revision"] or "not pinned" * bool(document["hub_id"])),
        ("base", document["base"] or ""),
        ("dim", str(document["dim"] or "")),
        ("forms", ", ".join(document["forms"])),
        ("parameters", f"{document['parameters']:,}" if document["parameters"] else ""),
        ("weights", _memory(document)),
        ("here", _here(document)),
        ("note", DEMO_LABEL if document["demo"] else document["note"]),
    ]
    lines = [f"{name:10}  {text}" for name, text in facts if text]
    lines += _file_lines(document)
    return "\n".join([*lines, *_setting_lines(document), *_field_lines(document)])


def _memory(document: Mapping[str, Any]) -> str:
    formats = document["memory_bytes"]
    if not any(formats.values()):
        return ""
    if not document["parameters"]:
        return f"{in_words(document['memory_mb'] * 1_000_000)} in their own format"
    return ", ".join(f"{in_words(size)} as {name}" for name, size in formats.items())


def _here(document: Mapping[str, Any]) -> str:
    if document["missing"]:
        half = f"; {in_words(document['half'])} of a download that is not whole"
        words = document["missing"] + half * bool(document["half"])
        if (document["hub_id"] and document["place"] is None) or document["base"]:
            words += f". Fetch it: triptych models download {document['id'].split('@')[0]}"
        return words + (f" ({OFFLINE})" if offline() else "")
    if document["folder"] is None:
        return "needs no files"
    return (
        f"{in_words(document['bytes_here'])} in {document['folder']} ({document['place']}, "
        f"{document['here_revision']})"
        + (f" and {document['base_folder']}" if document["base_folder"] else "")
    )


def _setting_lines(document: Mapping[str, Any]) -> list[str]:
    rows = [("setting", "value", "who states it", "release preset", "who states it", "choices")]
    for one in document["settings"]:
        rows.append(
            (
                one["name"],
                _value(one["default"]),
                ORIGINS[one["default_origin"]],
                _value(one["release"]) if document["release"] else "",
                ORIGINS[one["release_origin"]] if one["default"] != one["release"] else "",
                ", ".join(one["choices"]),
            )
        )
    if len(rows) == 1:
        return []
    used = f"Settings; this name loads the preset {document['preset']}:"
    return ["", used, columns(rows)]


def _value(value: object) -> str:
    return f'"{value}"' if value == "" or (isinstance(value, str) and " " in value) else str(value)


def _field_lines(document: Mapping[str, Any]) -> list[str]:
    """What a card file can say, for those who write one."""
    if not document["own"]:
        return []
    return ["", "A card file can say:", columns([(name, text) for name, text in FIELDS.items()])]


def checked(document: dict[str, Any]) -> str:
    """What a model check measured."""
    record = document["record"]
    peak = f"{document['peak_memory_mb']} MB ({document['peak_memory_of']})"
    facts = [
        ("vector", f"{document['dim']} numbers"),
        ("device", f"{record['device']}, {record['dtype']}"),
        ("attention", record["attention"]),
        ("revision", record["revision"]),
        ("preset", record["preset"]),
        ("EOT probe", record["end_of_text"] or ""),
        ("adapter", _tensors(record["adapter_tensors"])),
        ("loaded in", f"{document['load_seconds']} s"),
        ("peak", peak if document["peak_memory_mb"] is not None else "not told by this system"),
        ("libraries", ", ".join(record["libraries"])),
    ]
    lines = [document["model"], *(f"  {name:10}  {text}" for name, text in facts if text)]
    set_here = [one for one in record["settings"] if one["origin"] in (USER, CARD, FOLDER)]
    lines += [f"  {one['name']} = {one['value']}, {ORIGINS[one['origin']]}" for one in set_here]
    rows = [("form", "tokens", "seconds", "norm", "")]
    for form in document["forms"]:
        if form["refused"]:
            rows.append((form["form"], "", "", "", f"refused: {form['refused']}"))
            continue
        numbers = (str(form[key]) for key in ("tokens", "seconds", "norm"))
        rows.append((form["form"], *numbers, "text cut" if form["shortened"] else ""))
    return "\n".join([*lines, *[f"  {note}" for note in document["notes"]], columns(rows)])


def _tensors(count: int | None) -> str:
    return "" if count is None else f"{count} tensors merged, each exactly once"


def downloaded(document: Mapping[str, Any]) -> str:
    """What a download brought."""
    if not document["size"]:
        return "\n".join(document["said"])
    return (
        f"{document['model']} is here: {in_words(document['size'])} "
        f"({in_words(document['fetched'])} came over the network), commit "
        f"{document['revision']}, in {document['folder']}.\n"
        f"Check it: triptych models check {document.get('spoken') or document['model']}"
    )
