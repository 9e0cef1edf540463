"""``triptych study plan`` and ``build``: how large a study must be, and making one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studies import cli_study_text as words
from studies import cli_text
from studies.cli_common import (
    JsonOption,
    Options,
    TasksOption,
    absolute,
    answer,
    failures,
    is_folder,
    say,
    work,
)
from studies.errors import BadRequest, StudyError

if TYPE_CHECKING:
    from studies.preference.available import Available
    from studies.preference.planner import PlanWish

PASSPHRASE = "TRIPTYCH_PASSPHRASE"
PassphraseOption = Annotated[
    str | None,
    typer.Option("--passphrase", envvar=PASSPHRASE, help="The coordinator's; asked when left out."),
]
ModelsOption = Annotated[
    str | None, typer.Option("--models", help="Two or more by commas, the tested one first.")
]
RootOption = Annotated[Path | None, typer.Option("--data", help="Data root of finished runs.")]
ShareOption = Annotated[
    float, typer.Option("--share", help="Expected share for the tested model of the decided.")
]
TiesOption = Annotated[float, typer.Option("--ties", help="Expected share of ties of all.")]
IccOption = Annotated[float, typer.Option("--icc", help="Intraclass correlation within a task.")]
CountOption = Annotated[int, typer.Option("--tasks-count", help="Tasks, where no data are named.")]
ReadersOption = Annotated[int, typer.Option("--readers", help="Raters who read every item.")]
PowerOption = Annotated[float, typer.Option("--power", help="Wanted power.")]
AlphaOption = Annotated[float, typer.Option("--alpha", help="Two-sided level.")]
MinutesOption = Annotated[
    str | None, typer.Option("--minutes", help="Minutes per item: 0.5, or 2d=0.5,3d=4,text=1.")
]
SessionOption = Annotated[float, typer.Option("--session", help="Minutes before a pause.")]
RepeatsOption = Annotated[float, typer.Option("--repeats", help="Share of items repeated.")]
WarmupOption = Annotated[int, typer.Option("--warmup", help="Practice items.")]
FormatOption = Annotated[str, typer.Option("--format", help="json or text")]
TotalOption = Annotated[int, typer.Option("--total", help="How many items.")]
CollectionOption = Annotated[
    str | None,
    typer.Option("--collection", help="Instead of data: a collection, without gold answers."),
]
FirstOption = Annotated[str | None, typer.Option("--a", help="First model.", hidden=True)]
SecondOption = Annotated[str | None, typer.Option("--b", help="Second model.", hidden=True)]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of sample, sides and order.")]
TitleOption = Annotated[str, typer.Option("--title", help="Name without any model in it.")]
IdenticalOption = Annotated[
    str, typer.Option("--identical", help="Identical lists: auto-tie, show or exclude.")
]
GapOption = Annotated[
    int, typer.Option("--repeat-gap", help="Items between an item and its repeat.")
]
RestOption = Annotated[int, typer.Option("--rest", help="Minutes before a pause; 0 never.")]
GuessesOption = Annotated[
    int, typer.Option("--guesses", help="Items of the blinding guess at the end.")
]
ConfidenceOption = Annotated[str, typer.Option("--confidence", help="off or optional")]
UsefulnessOption = Annotated[str, typer.Option("--usefulness", help="off or optional")]
CommentsOption = Annotated[str, typer.Option("--comments", help="off or optional")]
# option of ``build`` to the choice of the protocol it sets
PROTOCOL = {
    "identical": "identical",
    "warmup": "warmup",
    "repeats": "repeat_share",
    "repeat_gap": "repeat_gap",
    "rest": "rest_minutes",
    "guesses": "guess_items",
    "confidence": "confidence",
    "usefulness": "usefulness",
    "comments": "comments",
}


def register(app: typer.Typer) -> None:
    """Put the commands into the group."""
    app.command(
        epilog="Example: triptych study plan --data MedHEB --models medemb-2b,siglip --share 0.6   "
        "Without data: triptych study plan --tasks-count 107 --ties 0.28 --icc 0.05"
    )(plan)
    app.command(epilog="Example: triptych study build --data MedHEB --models medemb-2b,siglip")(
        build
    )


def passphrase(given: str | None, *, confirm: bool) -> str:
    """The coordinator's passphrase: as given, or asked for.

    Raises:
        StudyError: there is nobody to ask.
    """
    if given:
        return given
    if not os.isatty(0):
        raise StudyError(f"A passphrase is needed: --passphrase or the variable {PASSPHRASE}.")
    asked: str = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm, err=True)
    return asked


def plan(
    context: typer.Context,
    data: RootOption = None,
    models: ModelsOption = None,
    tasks: TasksOption = None,
    total: TotalOption = 530,
    share: ShareOption = 0.60,
    ties: TiesOption = 0.28,
    icc: IccOption = 0.05,
    tasks_count: CountOption = 107,
    readers: ReadersOption = 1,
    power: PowerOption = 0.80,
    alpha: AlphaOption = 0.05,
    minutes: MinutesOption = None,
    repeats: RepeatsOption = 0.10,
    warmup: WarmupOption = 3,
    session: SessionOption = 45,
    form: FormatOption = "text",
    as_json: JsonOption = False,
) -> None:
    """Sample size, power, sessions, hours and the sentence for the paper."""
    said = cli_text.merged(context.obj, as_json or form == "json")
    if form not in ("text", "json"):
        raise typer.BadParameter("--format is text or json")
    with failures():
        wish = _wish(context.params, len(_listed(models)))
        _plan(said, wish, _available(said, data, models, tasks))


def _wish(given: Mapping[str, Any], models: int) -> PlanWish:
    """What the options ask for."""
    from studies.preference.planner import PlanWish

    same = ("total", "share", "ties", "icc", "readers", "power", "alpha", "warmup")
    return PlanWish(
        **{name: given[name] for name in same},
        tasks=given["tasks_count"],
        models=max(models, 2),
        seconds=_seconds(given["minutes"]),
        repeat_share=given["repeats"],
        session_minutes=given["session"],
    )


def _plan(said: Options, wish: PlanWish, there: Available | None) -> None:
    """Say what there is even where nothing can be drawn from it."""
    from studies.preference.available import fitted
    from studies.preference.planner import plan as work_out

    if there is not None and not there.tasks:
        for model, why in there.unfinished.items():
            say(f"{model}: {why}")
    made = work_out(wish if there is None else fitted(wish, there))
    document = {**made.to_json(), "available": there.to_json() if there else None}
    answer(said, document, words.plan_text(made, there))


def _available(
    said: Options, data: Path | None, models: str | None, tasks: str | None
) -> Available | None:
    from studies.preference.available import available

    if data is None and tasks is None:
        return None
    if data is None or not models:
        raise BadRequest("Name both the data and the models: --data ROOT --models A,B.")
    root = Path(absolute(data))
    return available(said.home.make(), root, named(models), tasks=tasks)


def named(models: str) -> list[str]:
    """Models as any folder understands them."""
    return [absolute(Path(one)) if is_folder(Path(one)) else one for one in _listed(models)]


def _listed(models: str | None) -> list[str]:
    return [one.strip() for one in (models or "").split(",") if one.strip()]


def _seconds(minutes: str | None) -> dict[str, float]:
    """Seconds for an item of each form.

    Raises:
        BadRequest: not a number, or not a form.
    """
    from studies.preference.planner import SECONDS

    seconds = dict(SECONDS)
    for part in (minutes or "").split(","):
        form, sign, number = part.strip().rpartition("=")
        if not part.strip():
            continue
        try:
            value = 60 * float(number)
        except ValueError:
            raise BadRequest(f"--minutes wants numbers, not {part.strip()!r}.") from None
        if sign and form not in seconds:
            raise BadRequest(f"--minutes knows {', '.join(seconds)}, not {form!r}.")
        seconds.update({form: value} if sign else dict.fromkeys(seconds, value))
    return seconds


def build(
    context: typer.Context,
    data: RootOption = None,
    collection: CollectionOption = None,
    models: ModelsOption = None,
    a: FirstOption = None,
    b: SecondOption = None,
    tasks: TasksOption = None,
    total: TotalOption = 530,
    seed: SeedOption = 1,
    title: TitleOption = "Study",
    identical: IdenticalOption = "auto-tie",
    warmup: WarmupOption = 3,
    repeats: RepeatsOption = 0.10,
    repeat_gap: GapOption = 20,
    rest: RestOption = 45,
    guesses: GuessesOption = 10,
    confidence: ConfidenceOption = "optional",
    usefulness: UsefulnessOption = "off",
    comments: CommentsOption = "optional",
    secret: PassphraseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sample queries, freeze and hash the items, encrypt the key."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        if (data is None) == (collection is None):
            raise typer.BadParameter("name one of --data and --collection")
        arguments: dict[str, Any] = {
            "data": absolute(data) if data else None,
            "collection": collection,
            "models": _models(models, a, b),
            **{name: context.params[name] for name in ("tasks", "total", "seed", "title")},
            "protocol": {choice: context.params[name] for name, choice in PROTOCOL.items()},
            "passphrase": passphrase(secret, confirm=True),
        }
        document = work(said, "study-build", arguments)
        answer(said, document, words.built(document))


def _models(models: str | None, a: str | None, b: str | None) -> list[str]:
    """The models, by ``--models`` or by the two options from before there were more."""
    listed = models or ",".join(one for one in (a, b) if one)
    if len(_listed(listed)) < 2:
        raise typer.BadParameter("name two models or more: --models A,B")
    return named(listed)
