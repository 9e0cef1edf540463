"""Questions, reports and settings of the models page, in words. Plain functions, no Qt."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from app.presenters.model_facts import both_settings, stated_by_folder, told
from app.shown import ModelShown, SettingShown
from app.words import size
from db.home import Home
from engine.card import ModelCard
from engine.models.settings import NO_RELEASE, ORIGINS, RELEASES
from studies.places import weights_here


def download_question(shown: ModelShown, home: Home) -> str:
    """What a person should know before the first byte, in one sentence or three."""
    free = size(shutil.disk_usage(home.root).free)
    much = f"about {shown.size}" if shown.size else "a size that the hub tells first"
    at = f" at {shown.revision[:10]}" if shown.revision else ", the newest commit"
    begun = f" {shown.partial} have arrived and are taken up." if shown.partial else ""
    gate = f" {shown.gate}" if shown.gate else ""
    return (
        f"Download {shown.title}, {much}, from {shown.source}{at}? {free} free in {home.weights}. "
        f"Licence: {shown.licence}.{begun}{gate}"
    )


def remove_question(shown: ModelShown) -> str:
    """What goes and what stays."""
    if shown.partial:
        return f"Remove the {shown.partial} of {shown.title} that have arrived so far?"
    where = shown.place.partition(": ")[2]
    return (
        f"Remove the weights of {shown.title} ({shown.size}) from {where}? "
        "Results and vectors stay; the weights can be downloaded again."
    )


def forget_question(shown: ModelShown) -> str:
    """The same for a card of one's own."""
    return f"Remove the card '{shown.key}'? Its weights and results stay."


def ended_words(result: Mapping[str, Any]) -> str:
    """What a download or a removal did: the last thing it said, and what it left."""
    said = [str(one) for one in result.get("said", ())]
    return " ".join(said[-2:] if "freed" in result else said[-1:])


def check_words(result: Mapping[str, Any]) -> str:
    """What a check found: one line of the whole, one of each form."""
    forms = result.get("forms", ())
    record: Mapping[str, Any] = result.get("record") or {}
    where = [str(record.get(name) or "") for name in ("device", "dtype", "attention")]
    seconds = sum(float(form.get("seconds") or 0) for form in forms)
    pieces = [
        *filter(None, where),
        f"loaded in {float(result.get('load_seconds', 0)):.1f} s",
        f"{len(forms)} items in {seconds:.1f} s",
        f"{result.get('dim', 0)} numbers",
    ]
    if peak := result.get("peak_memory_mb"):
        pieces.append(f"peak {peak:,} MiB of {_owner(result)}")
    return "\n".join([", ".join(pieces), *(_form_words(form) for form in forms)])


def _owner(result: Mapping[str, Any]) -> str:
    of = str(result.get("peak_memory_of") or "process")
    return "the process" if of == "process" else of


def _form_words(form: Mapping[str, Any]) -> str:
    if form.get("refused"):
        return f"{form.get('form')}: refused. {form['refused']}"
    pieces = [f"{form.get('form')}:"]
    if (count := form.get("tokens")) is not None:
        pieces.append(f"{count:,} tokens,")
    pieces.append(f"{float(form.get('seconds') or 0):.2f} s")
    if form.get("shortened"):
        pieces.append("(text cut)")
    if form.get("finite") is False:
        pieces.append("NOT FINITE: try the number format float32")
    return " ".join(pieces)


def check_tone(result: Mapping[str, Any]) -> str:
    """Good, unless a form was refused or gave no finite vector."""
    forms = result.get("forms", ())
    bad = any(form.get("refused") or form.get("finite") is False for form in forms)
    return "warn" if bad else "good"


def settings_of_card(card: ModelCard, home: Home) -> tuple[SettingShown, ...]:
    """Every setting a model reads, who states it, and the release's value where there is one.

    Raises:
        ModelError: card or folder state what the family does not know.
    """
    folder = stated_by_folder(weights_here(card, home))
    has_release = card.family in RELEASES
    return tuple(
        SettingShown(
            ours.name,
            told(ours.value),
            ours.origin,
            told(theirs.value) if has_release else "",
            f"{ours.name}: {ORIGINS.get(ours.origin, ours.origin)}",
        )
        for ours, theirs in zip(*both_settings(card, folder), strict=True)
    )


def settings_note(card: ModelCard, rows: Sequence[SettingShown]) -> str:
    """What stands under the table of settings: its words, and how to have other values."""
    origins = dict.fromkeys(row.origin for row in rows)
    words = "; ".join(f"{origin}: {ORIGINS.get(origin, origin)}" for origin in origins)
    if card.family not in RELEASES:
        return f"{_first_up(words)}. {NO_RELEASE}"
    return (
        f"{_first_up(words)}. The release's values together are the model {card.plain_id}@release, "
        f"on the Benchmark page; one other value is {card.plain_id}@setting=value, on the command "
        "line."
    )


def _first_up(words: str) -> str:
    return words[:1].upper() + words[1:]
