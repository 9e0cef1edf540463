"""``triptych bench show``, ``compare``, ``export``, ``import`` and ``cross``: stored results.

Owns the words of these commands; numbers and layouts are ``studies.results``' and its neighbours'.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from db.home import Home
from studies import cli_build, cli_text
from studies.cli_common import JsonOption, absolute, answer, failures, say, work
from studies.errors import StudyError

if TYPE_CHECKING:
    from studies.exports.export import Exported
    from studies.results_stale import Stale

FORMATS = ("text", "json", "markdown", "latex", "csv")
StoredOption = Annotated[
    Path | None, typer.Option("--data", help="Data root; the newest run when left out.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to ``triptych bench``."""
    app.command(epilog="Example: triptych bench show --compare paper --format latex")(show)
    app.command(epilog="Example: triptych bench compare medemb-nano siglip-nano")(compare)
    app.command(epilog="Example: triptych bench export --to trec --out runs")(export)
    app.command(name="import", epilog="Example: triptych bench import results/8B --name MedEmb-8B")(
        take_in
    )
    app.command(
        epilog="Example: triptych bench cross --mimic mimic --chexpert chexpert --data cross"
    )(cross)


def show(
    context: typer.Context,
    data: StoredOption = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", help="paper: the published numbers, and ours minus them."),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="text, json, markdown, latex or csv")
    ] = "text",
    as_json: JsonOption = False,
) -> None:
    """Families, splits, CV, regions, target lengths, graded relevance, chance and intervals."""
    said = cli_text.merged(context.obj, as_json or form == "json")
    with failures():
        if form not in FORMATS:
            raise typer.BadParameter(f"--format is {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
        if compare not in (None, "paper"):
            raise StudyError(f"Nothing to compare with is called {compare!r}; known is: paper.")
        document, text = shown(said.home, data=data, form=form, paper=compare == "paper")
        answer(said, document, text)


def shown(home: Home, *, data: Path | None, form: str, paper: bool) -> tuple[dict[str, Any], str]:
    """The document of a run with every further table, and its text in one of ``FORMATS``.

    Raises:
        NoRun: nothing was run yet.
    """
    from studies import results as stored
    from studies.results_csv import to_csv
    from studies.results_latex import to_latex
    from studies.results_more import further_sections
    from studies.results_stale import checked

    found = checked(home, stored.load_results(home, data=Path(absolute(data)) if data else None))
    sections = further_sections(home, found, paper=paper)
    document = stored.to_json(found, compare_paper=paper, sections=sections)
    if form == "csv":
        if found.stale is not None and found.stale.tasks:
            say(found.stale.sentence)  # the table has no place for sentences
        return document, to_csv(found, compare_paper=paper)
    writers = {"markdown": stored.to_markdown, "latex": to_latex}
    write = writers.get(form, stored.to_text)
    return document, write(found, compare_paper=paper, sections=sections)


def compare(
    context: typer.Context,
    first: Annotated[str, typer.Argument(help="Id of a model that was run.")],
    second: Annotated[str, typer.Argument(help="Id of another.")],
    data: StoredOption = None,
    metric: Annotated[str, typer.Option("--metric", help="hit@1, hit@5 or mrr@5")] = "hit@1",
    form: Annotated[str, typer.Option("--format", help="text, json, markdown or latex")] = "text",
    as_json: JsonOption = False,
) -> None:
    """Two models over the same queries: differences with intervals and Holm's correction."""
    from studies.medheb.pools import METRICS
    from studies.results import load_results
    from studies.results_compare import compare_models, pair_document, pair_sections
    from studies.results_sections import section_latex, section_markdown, section_text

    said = cli_text.merged(context.obj, as_json or form == "json")
    with failures():
        if metric not in METRICS:
            raise typer.BadParameter(f"--metric is one of {', '.join(METRICS)}")
        layouts = {
            "text": section_text,
            "json": section_text,
            "markdown": section_markdown,
            "latex": section_latex,
        }
        if form not in layouts:
            raise typer.BadParameter(f"--format is one of {', '.join(layouts)}")
        found = load_results(said.home, data=Path(absolute(data)) if data else None)
        pair = compare_models(said.home, found, first, second, metric=metric)
        text = "\n\n".join(layouts[form](section) for section in pair_sections(pair))
        answer(said, pair_document(pair), text)


def export(
    context: typer.Context,
    to: Annotated[str, typer.Option("--to", help="trec, mteb or csv")],
    out: Annotated[Path, typer.Option("--out", help="Folder, made if it is not there.")],
    data: StoredOption = None,
    models: Annotated[
        str | None, typer.Option("--models", help="Ids by commas; all when left out.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write runs and judgements (TREC), result files (MTEB), or every number as one table."""
    from studies.exports.export import export_results
    from studies.results import load_results
    from studies.results_stale import checked

    said = cli_text.merged(context.obj, as_json)
    with failures():
        names = [name.strip() for name in (models or "").split(",") if name.strip()]
        found = load_results(said.home, data=Path(absolute(data)) if data else None)
        target = Path(absolute(out))
        written = export_results(said.home, found, to, target, models=names)
        answer(said, *exported(target, written, checked(said.home, found).stale))
        if written.left_out:
            raise typer.Exit(1)


def exported(target: Path, written: Exported, stale: Stale | None) -> tuple[dict[str, Any], str]:
    """What was written, what was left out, and what is of other files than lie there now."""
    files = [path.relative_to(target).as_posix() for path in written.files]
    lines = [f"{len(files)} files in {target}"]
    lines += [f"left out: {why}" for why in written.left_out]
    lines += [stale.sentence] if stale is not None and stale.tasks else []
    document = {"out": str(target), "files": files, "left_out": list(written.left_out)}
    return {**document, "stale": stale.document() if stale is not None else []}, "\n".join(lines)


def take_in(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Holds one model's _score.json, _pred.jsonl.")],
    name: Annotated[str, typer.Option("--name", help="What the tables call the model.")],
    data: StoredOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put results of the benchmark authors' program beside ours, marked as imported."""
    from studies.results_import import import_results

    said = cli_text.merged(context.obj, as_json)
    with failures():
        root = Path(absolute(data)) if data else None
        document = import_results(said.home.make(), Path(absolute(folder)), name, data=root)
        answer(said, document, imported_text(document))
        if document["refused"]:
            raise typer.Exit(1)


def imported_text(document: dict[str, Any]) -> str:
    """What was imported, what was not, and how stated averages compare."""
    tasks = document["tasks"]
    bare = sum(not one["per_query"] for one in tasks.values())
    place = document["data"]["root"] or "a set of its own"
    lines = [f"{document['model']}: {len(tasks)} tasks imported, beside the results of {place}"]
    if bare:
        lines.append(f"{bare} of them as scores alone: no queries to open, no paired differences.")
    lines += [f"  {task}: {note}" for task, one in tasks.items() for note in one["notes"]]
    if document["before"]:
        lines.append(f"{len(document['before'])} tasks stay from an earlier import of that name")
    lines += [f"refused: {one['reason']}" for one in document["refused"]]
    if document["unknown"]:
        names = document["unknown"]
        lines.append(f"{len(names)} files of no task here, the first is {names[0]}")
    for column, one in document["stated"].items():
        ours = "nothing" if one["from_files"] is None else f"{one['from_files']:.2f}"
        lines.append(
            f"{column}: stated {one['stated']:.2f}, {ours} over {one['tasks']} of {one['of']} tasks"
        )
    return "\n".join(lines)


def cross(
    context: typer.Context,
    mimic: Annotated[Path, typer.Option("--mimic", help="Folder of MIMIC-CXR, which asks.")],
    chexpert: Annotated[Path, typer.Option("--chexpert", help="Folder of CheXpert-Plus.")],
    data: Annotated[Path, typer.Option("--data", help="A folder of its own for the task.")],
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE: queries, pool, seed, uncertain, hit."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make the graded task across two sources; run and show it like any data root."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        arguments = {
            "queries": absolute(mimic),
            "candidates": absolute(chexpert),
            "data": absolute(data),
            "settings": cli_build.pairs(setting or ()),
        }
        document = work(said, "bench-cross", arguments)
        lines = [f"{document['rows']} queries in {document['data']}", *document["notes"]]
        lines += [f"{one['where']}: {one['reason']}" for one in document["faults"][:20]]
        answer(said, document, "\n".join(lines))
