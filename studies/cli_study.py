"""``triptych study``: the life of a blinded preference study, each step also in the window."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from studies import cli_text
from studies.cli_common import JsonOption, Options, absolute, answer, failures, is_folder, work
from studies.errors import StudyError

app = typer.Typer(help="Blinded preference studies.", rich_markup_mode=None)
StudyArgument = Annotated[
    str | None, typer.Argument(help="Id, title or folder; the only study when left out.")
]
PASSPHRASE = "TRIPTYCH_PASSPHRASE"
PassphraseOption = Annotated[
    str | None,
    typer.Option("--passphrase", envvar=PASSPHRASE, help="The coordinator's; asked when left out."),
]


def _passphrase(given: str | None, *, confirm: bool) -> str:
    if given:
        return given
    if not os.isatty(0):
        raise StudyError(f"A passphrase is needed: --passphrase or the variable {PASSPHRASE}.")
    asked: str = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm, err=True)
    return asked


@app.command(epilog="Example: triptych study build --data MedHEB --a medemb-2b --b siglip")
def build(
    context: typer.Context,
    data: Annotated[Path, typer.Option("--data", help="Data root of a finished run.")],
    a: Annotated[str, typer.Option("--a", help="First model.")],
    b: Annotated[str, typer.Option("--b", help="Second model.")],
    total: Annotated[int, typer.Option("--total", min=1, help="How many items.")] = 530,
    seed: Annotated[int, typer.Option("--seed", help="Seed of sample, sides and order.")] = 1,
    title: Annotated[str, typer.Option("--title", help="Name without any model in it.")] = "Study",
    passphrase: PassphraseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sample queries, freeze and hash the items, encrypt the key."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        arguments = {
            "data": absolute(data),
            "model_a": absolute(Path(a)) if is_folder(Path(a)) else a,
            "model_b": absolute(Path(b)) if is_folder(Path(b)) else b,
            "total": total,
            "seed": seed,
            "title": title,
            "passphrase": _passphrase(passphrase, confirm=True),
        }
        document = work(said, "study-build", arguments)
        answer(said, document, cli_text.built(document))


@app.command(epilog="Example: triptych study status")
def status(
    context: typer.Context, study: StudyArgument = None, as_json: JsonOption = False
) -> None:
    """How far each study is; never a preference count."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        rows = cli_text.study_rows(said.home, study)
        answer(said, rows, cli_text.study_table(rows))


@app.command(epilog="Example: triptych study verify")
def verify(
    context: typer.Context, study: StudyArgument = None, as_json: JsonOption = False
) -> None:
    """Check the frozen items, media, key and the chain of ratings against their hashes."""
    from studies.preference.verify import verify as check

    said = cli_text.merged(context.obj, as_json)
    with failures():
        faults = check(_find(said, study))
        document = {"verified": not faults, "faults": list(faults)}
        answer(
            said, document, "Verified: nothing was altered." if not faults else "\n".join(faults)
        )
        if faults:
            raise typer.Exit(1)


@app.command(epilog="Example: triptych study unblind --reason 'reading finished'")
def unblind(
    context: typer.Context,
    study: StudyArgument = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; it is stored.")] = "",
    passphrase: PassphraseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open the key. Afterwards ratings for the study are refused."""
    from studies.preference.unblind import unblind as open_key

    said = cli_text.merged(context.obj, as_json)
    with failures():
        if not reason.strip():
            raise typer.BadParameter("unblinding needs a --reason; it is stored with the time")
        path = _find(said, study)
        open_key(path, _passphrase(passphrase, confirm=False), reason)
        document = cli_text.report(path, form="json")
        answer(said, document, cli_text.report(path, form="text"))


@app.command(epilog="Example: triptych study report --format markdown")
def report(
    context: typer.Context,
    study: StudyArgument = None,
    form: Annotated[str, typer.Option("--format", help="text, json or markdown")] = "text",
    as_json: JsonOption = False,
) -> None:
    """Shares of A, B and tie with intervals, overall and by stratum; after unblinding."""
    said = cli_text.merged(context.obj, as_json or form == "json")
    with failures():
        if form not in ("text", "json", "markdown"):
            raise typer.BadParameter("--format is text, json or markdown")
        path = _find(said, study)
        document = cli_text.report(path, form="json") if said.json else None
        answer(said, document, "" if said.json else cli_text.report(path, form=form))


@app.command(epilog="Example: triptych study export --out paper/")
def export(
    context: typer.Context,
    study: StudyArgument = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder; the home's exports when left out.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write ratings, items, dictionary, summary and figures (CSV, JSON, PNG, SVG, PDF)."""
    from studies.preference.export import export as write

    said = cli_text.merged(context.obj, as_json)
    with failures():
        path = _find(said, study)
        folder = Path(absolute(out or said.home.exports / path.name))
        written = [str(file) for file in write(path, folder)]
        answer(said, {"files": written}, "\n".join(written))


def _find(said: Options, study: str | None) -> Path:
    return cli_text.find_study(said.home, study)
