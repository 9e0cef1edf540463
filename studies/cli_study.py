"""``triptych study``: the life of a blinded preference study, each step also in the window."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from studies import cli_study_hand, cli_study_make, cli_text
from studies import cli_study_text as words
from studies.cli_common import JsonOption, absolute, answer, failures, say
from studies.cli_study_hand import StudyArgument
from studies.cli_study_make import PassphraseOption, passphrase
from studies.errors import BadRequest, StudyError

app = typer.Typer(help="Blinded preference studies.", rich_markup_mode=None)
cli_study_make.register(app)
cli_study_hand.register(app)
FORMS = ("text", "json", "markdown")
PlaceArgument = Annotated[
    str | None,
    typer.Argument(help="Id, title, folder or address; the only study when left out."),
]


@app.command(
    epilog="Example: triptych study verify   Where it is shared: "
    "triptych study verify postgresql://coordinator@server/studies?schema=..."
)
def verify(
    context: typer.Context, study: PlaceArgument = None, as_json: JsonOption = False
) -> None:
    """Check the frozen items, media, key, the chain of ratings and what raters returned."""
    from studies.preference.verify import remarks
    from studies.preference.verify import verify as check

    said = cli_text.merged(context.obj, as_json)
    with failures():
        place = words.find_place(said.home, study)
        faults = check(place)
        known = () if faults else remarks(place)
        document = {"verified": not faults, "faults": list(faults), "remarks": list(known)}
        lines = list(faults) or ["Verified: nothing was altered.", *known]
        answer(said, document, "\n".join(lines))
        if faults:
            raise typer.Exit(1)


@app.command(epilog="Example: triptych study unblind --reason 'reading finished'")
def unblind(
    context: typer.Context,
    study: StudyArgument = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; it is stored.")] = "",
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Even if answers are out or there are none."),
    ] = False,
    secret: PassphraseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open the key. Afterwards ratings and answers for the study are refused."""
    from studies.preference.unblind import unblind as open_key

    said = cli_text.merged(context.obj, as_json)
    with failures():
        if not reason.strip():
            raise typer.BadParameter("unblinding needs a --reason; it is stored with the time")
        path = words.find_study(said.home, study)
        _refuse_outstanding(path, anyway=anyway)
        before = _unblinded_before(path)
        opened = open_key(path, passphrase(secret, confirm=False), reason)
        for remark in (*before, *opened.remarks):
            say(remark)
        answer(said, *_reported(words.report, path, wanted="json" if said.json else "text"))


def _unblinded_before(path: Path) -> tuple[str, ...]:
    """That doing it again changes nothing, where it was done."""
    from db.ratings import unblinding
    from studies.preference.study import open_study

    with open_study(path) as study:
        entry = unblinding(study.store)
    if entry is None:
        return ()
    day, why = entry.at_utc[:10], entry.note or ""
    return (f"This study was unblinded on {day} ({why}); that time and reason stay.",)


def _refuse_outstanding(path: Path, *, anyway: bool) -> None:
    """Answers that are still out would be lost for good.

    Raises:
        StudyError: names the packs that are not back, or back in part; nobody has answered.
    """
    from studies.preference.study import open_study

    with open_study(path) as study:
        info = study.info()
    handed = [one for one in info.packs if not one.replaced and not info.unblinded]
    out = [one.rater or one.url for one in handed if not one.returned_utc]
    part = [
        f"{one.rater or one.url} ({one.answered} of {one.items})"
        for one in handed
        if one.returned_utc and one.answered < one.items
    ]
    told = [f"Not back yet: {', '.join(out)}."] if out else []
    told += [f"Back in part: {', '.join(part)}."] if part else []
    if told and not anyway:
        raise StudyError(
            f"{' '.join(told)} After unblinding their answers are refused. "
            "Merge them first, or give them up with --anyway."
        )
    if not info.answered and not info.unblinded and not anyway:
        raise StudyError(
            "Nobody has answered anything, and after unblinding nobody can. Go on with --anyway."
        )


@app.command(
    epilog="Example: triptych study report --format markdown   "
    "From exported tables alone: triptych study report --from paper/"
)
def report(
    context: typer.Context,
    study: StudyArgument = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Folder of exported tables, in place of a study.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="text, json or markdown")] = "text",
    as_json: JsonOption = False,
) -> None:
    """Every statistic with n and interval, overall and by stratum; after unblinding."""
    from studies.preference.kit.reading import report_from

    said = cli_text.merged(context.obj, as_json or form == "json")
    if form not in FORMS:
        raise typer.BadParameter("--format is text, json or markdown")
    if source is not None and study is not None:
        raise typer.BadParameter("choose one of a study and --from")
    wanted = "json" if said.json else form
    with failures():
        if source is not None:
            found = report_from(Path(absolute(source)))
            answer(said, *_reported(words.report_words, found, wanted=wanted))
            return
        path = words.find_study(said.home, study)
        answer(said, *_reported(words.report, path, wanted=wanted))


def _reported(write: Any, what: Any, *, wanted: str) -> tuple[Any, str]:
    """The document or the text of a report; only the one that is asked for is made."""
    told = write(what, form=wanted)
    return (told, "") if wanted == "json" else (None, str(told))


@app.command(
    epilog="Example: triptych study export --out paper/   "
    "A rater's answers as one signed file: triptych study export --answers --out stick/"
)
def export(
    context: typer.Context,
    study: StudyArgument = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder; the home's exports when left out.")
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Of a pack, before unblinding: the answers to return.")
    ] = False,
    comments: Annotated[
        bool, typer.Option("--comments", help="Write the raters' free text too.")
    ] = False,
    names: Annotated[
        bool, typer.Option("--names", help="Give raters by name, not as R1, R2.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the kit of an unblinded study, or the answers of a rater's pack."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        path = words.find_study(said.home, study)
        written = (
            _returned(path, out or Path())
            if answers
            else _published(
                path, out or said.home.exports / path.name, comments=comments, names=names
            )
        )
        files = [str(file) for file in written]
        answer(said, {"files": files}, "\n".join(files))


def _returned(path: Path, out: Path) -> tuple[Path, ...]:
    from studies.preference.packs import ANSWERS_SUFFIX, return_answers

    return (return_answers(path, words.target(out, ANSWERS_SUFFIX)),)


def _published(path: Path, out: Path, *, comments: bool, names: bool) -> tuple[Path, ...]:
    from studies.preference.kit.keeping import look, remarks
    from studies.preference.unblind import load_unblinded

    if out.is_file():
        raise BadRequest(f"{out} is a file; --out wants a folder for the kit.")
    # a blind study and a folder of others are refused before the statistics are loaded
    look(Path(absolute(out)), load_unblinded(path).row.hash)
    from studies.preference.kit.publish import publish

    say("Computing every number and drawing the figures; this takes up to a minute.")
    written = publish(
        path,
        Path(absolute(out)),
        comments="include" if comments else "leave out",
        names="names" if names else "codes",
    )
    for remark in remarks(written):
        say(remark)
    return written
