"""``triptych bench figures``: figures 4, 5, 6 and 8 of any run as files.

Owns the words of the command; the drawing is ``studies.figures``'.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from db.failures import translated
from studies import cli_text
from studies.cli_common import JsonOption, absolute, answer, failures
from studies.results import load_results


def register(app: typer.Typer) -> None:
    """Add the command to ``triptych bench``."""
    app.command(epilog="Example: triptych bench figures --out figures --format svg,pdf")(figures)


def figures(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", help="Folder for the files, made if needed.")],
    data: Annotated[
        Path | None, typer.Option("--data", help="Data root; the newest run when left out.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="Of svg, pdf, png, by commas.")
    ] = "svg,pdf,png",
    models: Annotated[
        str | None, typer.Option("--models", help="Ids by commas; the best four when left out.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw difficulty, anatomy, profiles and target length: figures 4, 5, 6 and 8."""
    # matplotlib takes half a second; only this command needs it
    from studies.figures.catalogue import ask, write

    said = cli_text.merged(context.obj, as_json)
    with failures():
        results = load_results(said.home, data)
        asked = ask(said.home, results, _words(models or ""))
        folder = Path(absolute(out))
        with translated(folder):
            folder.mkdir(parents=True, exist_ok=True)
        made = [str(path) for path in write(asked, folder, _words(form))]
        answer(said, {"models": list(asked.models), "files": made}, "\n".join(made))


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
