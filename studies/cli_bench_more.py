"""``triptych bench own``, ``plan`` and ``fetch``: own data, a run before it runs, open downloads.

Owns the words of these commands; the work is the jobs'.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from db.home import Home, find_home
from engine.hub import in_words
from studies import cli_text
from studies.cli_build import built_text, pairs
from studies.cli_common import (
    DataOption,
    DeviceOption,
    DtypeOption,
    JsonOption,
    MadeOption,
    TasksOption,
    absolute,
    answer,
    failures,
    model_words,
    say,
    work,
)
from studies.cli_models import SetOption


def register(app: typer.Typer) -> None:
    """Add the commands to ``triptych bench``."""
    app.command(epilog="Example: triptych bench own cases.csv --data MedHEB --set label=diagnosis")(
        own
    )
    app.command(epilog="Example: triptych bench fetch bloodmnist --to sources --yes")(fetch)
    app.command(epilog="Example: triptych bench plan --data MedHEB --models medemb-nano")(plan)


def own(
    context: typer.Context,
    table: Annotated[
        str,
        typer.Argument(help="CSV, TSV, JSON, JSONL or .npz file, or the name of a collection."),
    ],
    data: MadeOption,
    name: Annotated[
        str | None, typer.Option("--name", help="Of its tasks: own/NAME/...; its file's otherwise.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="NAME=VALUE: a column (label=diagnosis), words=0:normal,..., cap, seed."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make tasks of your own data, beside the benchmark's: run and scored like all others."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        is_file = Path(table).is_file()
        arguments = {
            "table": absolute(Path(table)) if is_file else table,
            "data": absolute(data),
            "name": name,
            "settings": pairs(setting or ()),
        }
        document = work(said, "bench-own", arguments)
        answer(said, document, own_text(document))
        if not any(one["rows"] for one in document["tasks"].values()):
            raise typer.Exit(1)


def own_text(document: Mapping[str, Any]) -> str:
    """What was recognised and made, and how to run it."""
    pattern = f"{document['source']}/*"
    lines = [document["columns"]] if document["columns"] else []
    lines.append(built_text(document))
    lines.append(
        f"Run them: triptych bench run --data {document['data']} --models MODEL --tasks '{pattern}'"
    )
    return "\n".join(lines)


def plan(
    context: typer.Context,
    data: DataOption,
    models: Annotated[str, typer.Option("--models", help="Ids, hub ids or folders, by commas.")],
    tasks: TasksOption = None,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "auto",
    setting: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a run would do and how long it takes, measured on a few items of each form."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        arguments = {
            "data": absolute(data),
            "models": named_models(said.home, models, setting or ()),
            "tasks": tasks,
            "device": device,
            "dtype": dtype,
            "plan": True,
        }
        document = work(said, "bench", arguments)
        answer(said, document, plan_text(document))
        if document["refused"]:
            raise typer.Exit(1)


def fetch(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="Id of an open source: triptych bench sources.")],
    to: Annotated[Path, typer.Option("--to", help="Gets a folder of the source's name.")],
    files: Annotated[
        list[str] | None,
        typer.Option("--files", help="Pattern of files in place of the usual ones; repeatable."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Fetch; size, licence and page are told before.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Fetch an open source's official files; others are only told where to apply for."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        arguments = {
            "source": source,
            "folder": absolute(to),
            "files": list(files or ()),
            "yes": yes,
        }
        document = work(said, "bench-fetch", arguments)
        if not yes and not document["whole"] and not said.json and sys.stdin.isatty():
            for sentence in document["said"]:
                say(sentence)
            arguments["yes"] = typer.confirm("Fetch it?")
            document = work(said, "bench-fetch", arguments)
        answer(said, document, fetch_text(document))
        if not document["whole"]:
            raise typer.Exit(1)


def fetch_text(document: Mapping[str, Any]) -> str:
    """What was told, and what is here now."""
    folder, source = document["folder"], document["source"]
    if document["whole"]:
        done = f"Everything is here, {in_words(document['fetched'])} fetched now."
        build = f"Build: triptych bench build --source {source} --from {folder} --data MedHEB"
        return "\n".join([*document["said"], done, build])
    free = f"{in_words(document['free'])} are free there."
    return "\n".join([*document["said"], free, "Nothing was fetched. To fetch it add --yes."])


def plan_text(document: Mapping[str, Any]) -> str:
    """The plan: items, time and disk by model, what is missing."""
    lines = list(document["said"])
    names = [one["task"] for one in document["missing"]]
    lines += [f"Missing, {len(names)} tasks: {', '.join(names)}"] if names else []
    lines += [f"refused: {one['model']}: {one['reason']}" for one in document["refused"]]
    return "\n".join(lines)


def named_models(home: Home, models: str, settings: Sequence[str]) -> list[str]:
    """Models by commas as the worker understands them."""
    names = [name.strip() for name in models.split(",") if name.strip()]
    return [model_words(home, name, settings) for name in names]


def retry_command(home: Home, arguments: Mapping[str, Any], done: Mapping[str, Any]) -> str:
    """The exact command that computes again what failed; empty where nothing did."""
    tasks = dict.fromkeys(one["task"] for one in done["failures"])
    models = dict.fromkeys(one["model"] for one in done["failures"])
    refused = {one["model"] for one in done["refused"]}
    again = [m for m in arguments["models"] if m in models or m in refused]
    if not again:
        again = arguments["models"] if tasks else []
    if not again:
        return ""
    pattern = ",".join(tasks) if tasks and not refused else arguments["tasks"]
    words = ["triptych"] + (["--home", str(home.root)] if home.root != find_home(None).root else [])
    words += ["bench", "run", "--data", arguments["data"], "--models", ",".join(again)]
    words += ["--tasks", pattern] if pattern else []
    for name in ("device", "dtype"):
        words += [f"--{name}", arguments[name]] if arguments[name] != "auto" else []
    return shlex.join([*words, *(["--retry-failed"] if tasks else [])])
