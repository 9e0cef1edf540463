"""``triptych models``: list, show, check, download, remove."""

from __future__ import annotations

from typing import Annotated

import typer

from studies import cli_models_text as words
from studies.cli_common import (
    DeviceOption,
    DtypeOption,
    JsonOption,
    answer,
    failures,
    model_words,
    work,
)
from studies.cli_text import merged
from studies.errors import BadRequest

app = typer.Typer(help="The models and their weights.", rich_markup_mode=None)
ModelArgument = Annotated[
    str, typer.Argument(help="Id, hub id or folder; may end in @release or @setting=value.")
]
PlainArgument = Annotated[str, typer.Argument(help="Id or hub id.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="name=value, a setting for this time; repeatable."),
]


@app.callback(invoke_without_command=True)
def models(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the models when no action is given."""
    context.obj = merged(context.obj, as_json)
    if context.invoked_subcommand is None:
        list_(context)


@app.command("list", epilog="Example: triptych models list")
def list_(context: typer.Context, as_json: JsonOption = False) -> None:
    """Every model, whether its weights are here, its licence."""
    said = merged(context.obj, as_json)
    with failures():
        cards = words.cards(said.home)
        answer(said, cards, words.card_table(cards))


@app.command(epilog="Example: triptych models show qwen3-vl-embedding-2b")
def show(context: typer.Context, model: ModelArgument, as_json: JsonOption = False) -> None:
    """One model: card, licence, files here, and every setting with who states it."""
    said = merged(context.obj, as_json)
    with failures():
        document = words.card_shown(said.home, model_words(said.home, model))
        answer(said, document, words.card_text(document))


@app.command(epilog="Example: triptych models check medemb-nano --set max_slices=32")
def check(
    context: typer.Context,
    model: ModelArgument,
    device: DeviceOption = "auto",
    dtype: DtypeOption = "auto",
    setting: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Load a model, embed one item of each form, and say what it took."""
    said = merged(context.obj, as_json)
    with failures():
        named = model_words(said.home, model, setting or ())
        arguments = {"model": named, "device": device, "dtype": dtype}
        document = work(said, "model-check", arguments)
        answer(said, document, words.checked(document))


@app.command(epilog="Example: triptych models download siglip-so400m-384")
def download(context: typer.Context, model: ModelArgument, as_json: JsonOption = False) -> None:
    """Fetch a model's weights from the hub; stop it anywhere, start it again, it goes on."""
    said = merged(context.obj, as_json)
    with failures():
        document = work(said, "model-download", {"model": model_words(said.home, model)})
        answer(said, document, words.downloaded(document))


@app.command(epilog="Example: triptych models remove siglip-so400m-384")
def remove(context: typer.Context, model: PlainArgument, as_json: JsonOption = False) -> None:
    """Delete what was downloaded for a model; folders of your own are left alone."""
    said = merged(context.obj, as_json)
    with failures():
        if "@" in model:
            raise BadRequest(f"Weights have no settings; say {model.split('@')[0]}.")
        document = work(said, "model-remove", {"model": model_words(said.home, model)})
        answer(said, document, "\n".join(document["said"]))
