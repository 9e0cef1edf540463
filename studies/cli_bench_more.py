"""``triptych bench own``, ``plan`` and ``fetch``: own data, a run before it runs, open downloads.

Owns the words of these commands; the work is the jobs'.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from studies import cli_text
from studies.cli_build import built_text, pairs
from studies.cli_common import absolute, answer, failures, work

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def register(app: typer.Typer) -> None:
    """Add the commands to ``triptych bench``."""
    app.command(epilog="Example: triptych bench own cases.csv --data MedHEB --set label=diagnosis")(
        own
    )


def own(
    context: typer.Context,
    table: Annotated[
        str,
        typer.Argument(help="CSV, TSV, JSON, JSONL or .npz file, or the name of a collection."),
    ],
    data: Annotated[Path, typer.Option("--data", help="Data root, made if it is not there.")],
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
