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
SHORTEST = 8  # characters of a new study's passphrase, as in the wizard
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
PlanFileOption = Annotated[
    Path | None, typer.Option("--out", help="Write the plan too, for: study build --plan FILE")
]
PlanOption = Annotated[
    Path | None,
    typer.Option("--plan", help="File of study plan --out: its numbers hold, and are frozen."),
]
QueriesOption = Annotated[
    str | None,
    typer.Option("--queries", help="Of a collection: how many to ask about, or a file of them."),
]
OthersOption = Annotated[
    bool, typer.Option("--other-patients", help="Of a collection: list no other of the patient.")
]
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
# option of ``build`` to what a plan says of it, where the option is not given
PLANNED = {"total": "total", "warmup": "warmup", "repeats": "repeat_share",
           "rest": "session_minutes"}  # fmt: skip
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
    app.command(
        epilog="Example: triptych study build --data MedHEB --models medemb-2b,siglip --plan "
        "plan.json   Without gold answers: triptych study build --collection Chest --models "
        "medemb-2b,siglip --queries 200 --other-patients"
    )(build)


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


def _of_new_study(secret: str) -> str:
    """Refuse what is guessed too easily; an old study's passphrase is taken as it is.

    Raises:
        BadRequest: too short.
    """
    if len(secret) < SHORTEST:
        raise BadRequest(f"Choose a passphrase of at least {SHORTEST} characters.")
    return secret


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
    out: PlanFileOption = None,
    form: FormatOption = "text",
    as_json: JsonOption = False,
) -> None:
    """Sample size, power, sessions, hours and the sentence for the paper."""
    said = cli_text.merged(context.obj, as_json or form == "json")
    if form not in ("text", "json"):
        raise typer.BadParameter("--format is text or json")
    with failures():
        wish = _wish(context.params, len(_listed(models)))
        _plan(said, wish, _available(said, data, models, tasks), out)


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


def _plan(said: Options, wish: PlanWish, there: Available | None, out: Path | None) -> None:
    """Say what there is even where nothing can be drawn from it."""
    from studies.preference.available import fitted
    from studies.preference.planned import write_plan
    from studies.preference.planner import plan as work_out

    if there is not None and not there.tasks:
        for line in words.unfinished(there.unfinished):
            say(line)
    made = work_out(wish if there is None else fitted(wish, there))
    document = {**made.to_json(), "available": there.to_json() if there else None}
    if out is not None:
        _refuse_other_file(Path(absolute(out)))
        file = write_plan(made, Path(absolute(out)))
        say(f"Written to {file}; freeze it with: triptych study build --plan {file}")
    answer(said, document, words.plan_text(made, there))


def _refuse_other_file(file: Path) -> None:
    """Leave alone what is no plan.

    Raises:
        BadRequest: something else is there.
    """
    from studies.preference.planned import read_plan

    if not words.is_file(file):
        return
    try:
        read_plan(file)
    except BadRequest:
        raise BadRequest(
            f"{file} holds something else and is not overwritten. Name another with --out."
        ) from None


def _available(
    said: Options, data: Path | None, models: str | None, tasks: str | None
) -> Available | None:
    from studies.preference.available import available

    if data is None and tasks is None:
        return None
    if data is None or not models:
        raise BadRequest("Name both the data and the models: --data ROOT --models A,B.")
    root = _root(data)
    return available(said.home.make(), root, named(models), tasks=tasks)


def _root(data: Path) -> Path:
    """A data root as any folder understands it.

    Raises:
        BadRequest: there is no such folder.
    """
    if not is_folder(data):
        raise BadRequest(f"There is no folder {data}; --data is the root that the runs were on.")
    return Path(absolute(data))


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
    queries: QueriesOption = None,
    other_patients: OthersOption = False,
    models: ModelsOption = None,
    plan: PlanOption = None,
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
        arguments = _source(said, context.params)
        arguments |= {"models": _models(models, a, b), **_planned(context, plan)}
        if plan is None and not _chosen(context, "total") and "queries" in arguments:
            arguments["total"] = min(total, len(arguments["queries"]))  # each is asked once
        arguments["passphrase"] = _of_new_study(passphrase(secret, confirm=True))
        document = work(said, "study-build", arguments)
        answer(said, document, words.built(document))


def _source(said: Options, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a study is built from: data, or some of a collection."""
    data, collection, queries = given["data"], given["collection"], given["queries"]
    if (data is None) == (collection is None):
        raise typer.BadParameter("name one of --data and --collection")
    if data is not None:
        if queries is not None or given["other_patients"]:
            raise typer.BadParameter("--queries and --other-patients go with --collection")
        return {"data": str(_root(data)), "collection": None}
    found: dict[str, Any] = {"data": None, "collection": collection}
    if given["other_patients"]:
        found["other_patients"] = True
    if queries is not None:
        from studies.preference.asked_about import asked_about

        named = queries if queries.strip().isdecimal() else absolute(Path(queries))
        found["queries"] = asked_about(said.home, collection, named, seed=given["seed"])
    return found


def _planned(context: typer.Context, file: Path | None) -> dict[str, Any]:
    """Sample and protocol as the options say; what they leave out is as it was planned."""
    given = dict(context.params)
    found: dict[str, Any] = {}
    if file is not None:
        from studies.preference.planned import plan_document, read_plan

        made = read_plan(Path(absolute(file)))
        found["planned"] = plan_document(made)
        for option, name in PLANNED.items():
            if not _chosen(context, option):
                value = getattr(made.wish, name)
                given[option] = round(value) if option == "rest" else value
    found |= {name: given[name] for name in ("tasks", "total", "seed", "title")}
    found["protocol"] = {choice: given[name] for name, choice in PROTOCOL.items()}
    return found


def _chosen(context: typer.Context, option: str) -> bool:
    """Whether somebody gave an option, rather than leaving it at its usual value."""
    source = context.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


def _models(models: str | None, a: str | None, b: str | None) -> list[str]:
    """The models, by ``--models`` or by the two options from before there were more."""
    listed = models or ",".join(one for one in (a, b) if one)
    if len(_listed(listed)) < 2:
        raise typer.BadParameter("name two models or more: --models A,B")
    return named(listed)
