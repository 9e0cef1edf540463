"""``triptych bench sources``, ``build`` and ``mini``: tasks out of official downloads.

Owns the words of these commands; the work is ``studies.medheb.builders.job``'s and the miniature's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from studies import cli_text
from studies.cli_common import JsonOption, MadeOption, TasksOption, absolute, answer, failures, work
from studies.medheb.builders.card import ACCESS, COMMON, SourceCard
from studies.medheb.builders.catalogue import source_card, source_cards

SHOWN_FAULTS = 20


def register(app: typer.Typer) -> None:
    """Add the commands to ``triptych bench``."""
    app.command(epilog="Example: triptych bench sources kvasir")(sources)
    app.command(
        epilog="Example: triptych bench build --source kvasir --from kvasir-v2 --data MedHEB"
    )(build)
    app.command(epilog="Example: triptych bench mini --data mini")(mini)


def sources(
    context: typer.Context,
    source: Annotated[str | None, typer.Argument(help="Id of a source, for all about it.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the sources of the benchmark: access, licence, where to apply, which tasks they feed."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        if source is None:
            cards = [card_document(card) for card in source_cards()]
            answer(said, cards, _table(cards))
        else:
            document = card_document(source_card(source))
            answer(said, document, _card(document))


def build(
    context: typer.Context,
    source: Annotated[str, typer.Option("--source", help="Id of a source: bench sources.")],
    folder: Annotated[Path, typer.Option("--from", help="Folder of its official files.")],
    data: MadeOption,
    tasks: TasksOption = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE of the source, repeatable.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a source's task files in the release layout from its official download."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        arguments = {
            "source": source,
            "folder": absolute(folder),
            "data": absolute(data),
            "tasks": tasks,
            "settings": pairs(setting or ()),
        }
        document = work(said, "bench-build", arguments)
        answer(said, document, built_text(document))
        if not any(one["rows"] for one in document["tasks"].values()):
            raise typer.Exit(1)


def mini(
    context: typer.Context,
    data: MadeOption,
    only: Annotated[
        str | None, typer.Option("--sources", help="Ids by commas; all when left out.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a miniature MedHEB: generated data in every source's layout, built into all tasks."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        names = [name.strip() for name in only.split(",") if name.strip()] if only else None
        document = work(said, "bench-mini", {"data": absolute(data), "sources": names})
        answer(said, document, mini_text(document))
        if document["missing"]:
            raise typer.Exit(1)


def pairs(words: Sequence[str]) -> dict[str, str]:
    """``NAME=VALUE`` words as a mapping.

    Raises:
        typer.BadParameter: a word without an equals sign.
    """
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"--set takes NAME=VALUE, not {word!r}")
        found[name.strip()] = value.strip()
    return found


def card_document(card: SourceCard) -> dict[str, Any]:
    """A source as plain values."""
    return {
        "id": card.id,
        "title": card.title,
        "form": card.form,
        "modality": card.modality,
        "anatomy": card.anatomy,
        "access": card.access,
        "licence": card.licence,
        "url": card.url,
        "obtain": card.obtain,
        "held_out": card.held_out,
        "tasks": [plan.task for plan in card.plans],
        "labels": list(card.labels),
        "settings": [
            {"name": c.name, "default": c.default, "values": list(c.values), "why": c.why}
            for c in (*card.settings, *COMMON)
        ],
    }


def _table(cards: Sequence[Mapping[str, Any]]) -> str:
    rows = [("source", "form", "access", "tasks", "title")]
    rows += [
        (card["id"], card["form"], card["access"], str(len(card["tasks"])), card["title"])
        for card in cards
    ]
    tasks = sum(len(card["tasks"]) for card in cards)
    return f"{cli_text.columns(rows)}\n{len(cards)} sources, {tasks} tasks"


def _card(card: Mapping[str, Any]) -> str:
    held = "; held out of training" if card["held_out"] else ""
    lines = [
        f"{card['title']} ({card['id']}): {card['form']}, {card['modality']}{held}",
        f"Access: {ACCESS[card['access']]}",
        f"Licence: {card['licence']}",
        f"Page: {card['url']}",
        f"Files: {card['obtain']}",
        f"Tasks: {', '.join(card['tasks'])}",
        "Settings (--set NAME=VALUE):",
    ]
    for one in card["settings"]:
        choices = f" of {', '.join(map(str, one['values']))}" if one["values"] else ""
        lines.append(f"  {one['name']} = {one['default']}{choices}: {one['why']}")
    return "\n".join(lines)


def built_text(document: Mapping[str, Any]) -> str:
    """What a build made and left out."""
    lines = [f"{document['source']}: {document['records']} records read, into {document['data']}"]
    rows = [("task", "rows", "pool", "not placed")]
    for task, one in document["tasks"].items():
        rows.append((task, str(one["rows"]), one["pool"], str(one["faulty"])))
    lines.append(cli_text.columns(rows))
    for task, one in document["tasks"].items():
        lines += [f"  {task}: {note}" for note in one["notes"]]
        lines += [f"  {task}: {f['where']}: {f['reason']}" for f in one["faults"][:SHOWN_FAULTS]]
    if document["faulty"]:
        lines.append(f"{document['faulty']} entries could not be read:")
        lines += [f"  {f['where']}: {f['reason']}" for f in document["faults"][:SHOWN_FAULTS]]
    return "\n".join(lines)


def mini_text(document: Mapping[str, Any]) -> str:
    """What the miniature holds and lacks."""
    ready = document["tasks"]
    lines = [f"{len(ready)} tasks ready in {document['data']}"]
    for task, reason in document["missing"].items():
        lines.append(f"  missing: {task}: {reason}")
    return "\n".join(lines)
