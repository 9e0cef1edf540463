"""``triptych bench``: run tasks in the release layout and show the tables."""

from __future__ import annotations

from typing import Annotated

import typer

from studies import (
    cli_bench_figures,
    cli_bench_more,
    cli_bench_results,
    cli_build,
    cli_text,
)
from studies.cli_bench_more import named_models, retry_command
from studies.cli_common import (
    DataOption,
    DeviceOption,
    DtypeOption,
    JsonOption,
    TasksOption,
    absolute,
    answer,
    failures,
    work,
)
from studies.cli_models import SetOption

app = typer.Typer(help="The MedHEB benchmark.", rich_markup_mode=None)
cli_build.register(app)
cli_bench_figures.register(app)
cli_bench_results.register(app)
cli_bench_more.register(app)


@app.command(epilog="Example: triptych bench run --data MedHEB --models medemb-nano,random")
def run(
    context: typer.Context,
    data: DataOption,
    models: Annotated[
        str,
        typer.Option(
            "--models",
            help="Ids, hub ids or folders, by commas. MODEL@release repeats the benchmark "
            "authors' settings, MODEL@setting=value changes one; each is a model of its own.",
        ),
    ],
    tasks: TasksOption = None,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "auto",
    setting: SetOption = None,
    retry: Annotated[
        bool, typer.Option("--retry-failed", help="Compute tasks with failed rows again.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run tasks; stop it anywhere, start it again, nothing is computed twice."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        named = named_models(said.home, models, setting or ())
        arguments = {
            "data": absolute(data),
            "models": named,
            "tasks": tasks,
            "device": device,
            "dtype": dtype,
            "retry": retry,
        }
        done = work(said, "bench", arguments)
        document, text = cli_text.results(
            said.home, data=data, form="text", paper=False, first=named
        )
        again = retry_command(said.home, arguments, done)
        document = {**document, "run": {**done, "retry": again}}
        answer(said, document, text + cli_text.run_footer(done, again))
        if done.get("missing") or done.get("failures") or done.get("refused"):
            raise typer.Exit(1)
