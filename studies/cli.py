"""The command line: words to jobs. Computes nothing itself; every heavy thing runs in the worker.

``--json`` prints one JSON document on standard output and nothing else there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from studies import cli_bench, cli_models, cli_study, cli_study_hand, cli_text
from studies.cli_common import (
    DeviceOption,
    JsonOption,
    Options,
    absolute,
    answer,
    failures,
    model_words,
    options,
    say,
    work,
)
from studies.cli_paths import OPENER, PathGroup

app = typer.Typer(
    name="triptych",
    cls=PathGroup,
    help="Open medical evidence, compute the MedHEB benchmark, rate two models blind.",
    epilog="Example: triptych demo --no-window",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(cli_bench.app, name="bench")
app.add_typer(cli_models.app, name="models")
app.add_typer(cli_study.app, name="study")

HomeOption = Annotated[
    Path | None, typer.Option("--home", help="Folder that holds everything this program keeps.")
]
TempOption = Annotated[
    bool, typer.Option("--temp-home", help="Use a new home that is deleted at the end.")
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"triptych {version('triptych')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def window(
    context: typer.Context,
    home: HomeOption = None,
    temp_home: TempOption = False,
    as_json: JsonOption = False,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Open the window when no command is given; with files or folders, open it on them."""
    context.obj = options(home=home, temp_home=temp_home, as_json=as_json)
    context.meta[OPENER] = lambda paths: open_paths(context.obj, paths)
    context.meta[cli_study_hand.WINDOW] = lambda **more: open_window(context.obj, **more)
    if context.invoked_subcommand is None:
        with failures():
            raise typer.Exit(open_window(context.obj))


def has_display() -> bool:
    """Whether a window can be shown: always but on a Unix without a display."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_window(
    said: Options, *, study: str | None = None, paths: Sequence[Path] = ()
) -> int:  # fmt: skip
    """Open the window, or say that there is no display."""
    if not has_display():
        say(
            "No display is set, so no window opens. "
            "Start it where there is one, or use the commands: triptych show PATH, triptych --help"
        )
        return 0
    # Looked up by name: the layer above is reached only here, where a window is asked for.
    import importlib

    main_module = importlib.import_module("app.main")
    code: int = main_module.run(said.home.make(), open_study=study, open_paths=tuple(paths))
    return code


def open_paths(said: Options, paths: Sequence[Path]) -> int:
    """Open a rater's pack at its next item, other files and folders in the Viewer."""
    pack = next((path for path in paths if path.suffix.lower() == cli_study_hand.PACK), None)
    if pack is None:
        return open_window(said, paths=paths)
    return cli_study_hand.open_place(
        said, str(pack), rater=None, window=lambda **more: open_window(said, **more)
    )


@app.command(epilog="Example: triptych demo --no-window --json")
def demo(
    context: typer.Context,
    no_window: Annotated[bool, typer.Option("--no-window", help="Do not open the window.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Fill the home with the embedded demo, run its benchmark, build a blinded study, open it."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        document = work(said, "demo", {})
        answer(said, document, cli_text.demo(said, document))
        if not no_window:
            raise typer.Exit(open_window(said, study=document["study"]["path"]))


@app.command(epilog="Example: triptych show scan/ --json --probe 0,64,64")
def show(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Files or folders.")],
    probe: Annotated[
        list[str] | None, typer.Option("--probe", help="z,y,x of a value to print; repeatable.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the text of reports.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what each file or folder is, read by the same readers as everything else."""
    said = cli_text.merged(context.obj, as_json)
    probes = [cli_text.probe(words) for words in probe or []]
    with failures():
        documents = cli_text.described(paths, probes=probes, with_text=text)
        answer(said, documents, cli_text.shown(documents))
        if not documents:
            say(f"Nothing was found in {', '.join(str(path) for path in paths)}.")
        if not documents or any(document["error"] for document in documents):
            raise typer.Exit(1)


@app.command(
    "import",
    epilog="Example: triptych import ~/scans --collection Chest   "
    "With copies that name nobody: triptych import ~/scans --collection Chest "
    "--deidentify-to ~/clean --option retain-patient --option retain-modified-dates",
)
def import_(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(help="Files, folders (taken recursively), zip archives, DICOMDIR."),
    ],
    collection: Annotated[str, typer.Option("--collection", help="Name of the collection.")],
    deidentify_to: Annotated[
        Path | None,
        typer.Option(
            "--deidentify-to",
            help="Write de-identified copies there (PS3.15 Basic Profile) and index those. "
            "DICOM only; pixels are not treated.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help=f"Of PS3.15, repeatable: {cli_text.deidentify_options()}."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Index evidence into a collection; known and unchanged files are skipped."""
    said = cli_text.merged(context.obj, as_json)
    kept = cli_text.checked_options(option or [], folder=deidentify_to)
    named = [absolute(path) for path in paths]
    with failures():
        arguments = {
            "paths": named,
            "collection": collection,
            "deidentify_to": absolute(deidentify_to) if deidentify_to else None,
            "options": kept,
        }
        document = work(said, "import", arguments)
        answer(said, document, cli_text.imported(document))
        left = {row["path"] for row in document["left_out"]}
        if not left.isdisjoint(named):  # asked for by name, and not taken
            raise typer.Exit(1)


@app.command(epilog="Example: triptych neighbours case.dcm --collection Demo --model medemb-nano")
def neighbours(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="The study to start from.")],
    collection: Annotated[str, typer.Option("--collection", help="Where to look.")],
    model: Annotated[str, typer.Option("--model", help="Id, hub id or folder.")],
    k: Annotated[int, typer.Option("--k", min=1, help="How many.")] = 10,
    other_patients: Annotated[
        bool,
        typer.Option("--other-patients", help="Leave out what is of the same patient or study."),
    ] = False,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Nearest neighbours of a study in a collection, with cosine scores."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        arguments: dict[str, Any] = {
            "model": model_words(said.home, model),
            "path": absolute(path),
            "collection": collection,
            "k": k,
            "other_patients": other_patients,
            "device": device,
        }
        document = work(said, "neighbours", arguments)
        answer(said, document, cli_text.neighbour_table(document))


@app.command(epilog="Example: triptych doctor")
def doctor(context: typer.Context, as_json: JsonOption = False) -> None:
    """Say what is missing on this machine and the line that mends it."""
    from studies import doctor as checks

    said = cli_text.merged(context.obj, as_json)
    with failures():
        found = checks.examine(said.home)
        answer(said, [finding.as_dict() for finding in found], checks.table(found))
        if any(finding.state == "fault" for finding in found):
            raise typer.Exit(1)


def main() -> None:
    """Entry point of the ``triptych`` command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    app()


if __name__ == "__main__":
    main()
