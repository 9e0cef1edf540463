"""``triptych study pack``, ``open``, ``status`` and ``merge``: a study goes out and comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from studies import cli_study_text as words
from studies import cli_text
from studies.cli_common import JsonOption, Options, absolute, answer, failures, say
from studies.errors import BadAnswers, BadRequest, BadStudy

WINDOW = "studies.cli.window"  # the key of ``context.meta`` that opens the window
PACK = ".triptych"
StudyArgument = Annotated[
    str | None, typer.Argument(help="Id, title or folder; the only study when left out.")
]

ShareOption = Annotated[
    str | None,
    typer.Option("--share", help="Instead: a PostgreSQL address for several raters at once."),
]
RoleOption = Annotated[
    str, typer.Option("--role", help="Role of the readers at --share, each with a login.")
]
LoginOption = Annotated[
    list[str] | None,
    typer.Option("--login", help="NAME=LOGIN: who alone may read under that name; repeatable."),
]


def register(app: typer.Typer) -> None:
    """Put the commands into the group."""
    app.command(
        epilog="Example: triptych study pack --rater 'Dr Lee' --out stick/   "
        "For a department: triptych study pack --share postgresql://coordinator@server/studies "
        "--role readers"
    )(pack)
    app.command(
        "open",
        epilog="Example: triptych study open Chest-Lee.triptych   "
        "By a double click from then on: triptych study open --associate",
    )(open_)
    app.command(epilog="Example: triptych study status")(status)
    app.command(epilog="Example: triptych study merge Chest-Lee.triptych-answers")(merge)


def pack(
    context: typer.Context,
    study: StudyArgument = None,
    rater: Annotated[
        list[str] | None, typer.Option("--rater", help="Name or code; repeatable, a file each.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder or file.")] = None,
    specialty: Annotated[str | None, typer.Option("--specialty", help="Of the rater.")] = None,
    years: Annotated[int | None, typer.Option("--years", help="Of experience.")] = None,
    modalities: Annotated[
        str | None, typer.Option("--modalities", help="Experience with them, in words.")
    ] = None,
    display: Annotated[
        str | None, typer.Option("--display", help="Statement on its calibration.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="The pack is lost: make another, refuse the old one.")
    ] = False,
    share: ShareOption = None,
    role: RoleOption = "",
    login: LoginOption = None,
    as_json: JsonOption = False,
) -> None:
    """Hand the study out: one file per rater, or a shared database."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        if bool(rater) == bool(share):
            raise typer.BadParameter("name a --rater, or the address to --share at")
        path = words.find_study(said.home, study)
        if share:
            answer(said, *_shared(path, share, role, login or []))
            return
        profile = {
            "specialty": specialty,
            "years": years,
            "modalities": modalities,
            "display": display,
        }
        answer(said, *_packed(path, rater or [], out or Path(), profile, again=again))


def _shared(path: Path, url: str, role: str, logins: list[str]) -> tuple[dict[str, Any], str]:
    from studies.preference.share import logins_of, share

    made = share(path, url, role=role, logins=logins_of(logins))
    text = (
        f"Shared. Raters open it with: triptych study open '{made.raters_url}'\n"
        f"Merge it with: triptych study merge '{made.url}'\n"
        "The password is taken from PGPASSWORD or ~/.pgpass and kept nowhere.\n"
        f"{made.privacy}"
    )
    document = {"url": made.url, "pack": made.pack_id, "own_logins": made.own_logins}
    return {**document, "raters_url": made.raters_url, "sentence": made.privacy}, text


def _packed(
    path: Path, raters: list[str], out: Path, profile: dict[str, Any], *, again: bool
) -> tuple[dict[str, Any], str]:
    from studies.preference.packs import make_pack
    from studies.preference.seating import folded, rater_name

    plain = [folded(rater_name(name)) for name in raters]
    twice = next((n for n, p in zip(raters, plain, strict=True) if plain.count(p) > 1), None)
    if twice is not None:
        raise BadRequest(f"{twice} is named more than once; name each rater once.")
    if len(raters) > 1 and not out.is_dir():
        raise BadRequest("For several raters --out is a folder that exists.")
    target = words.target(out, PACK)
    files: list[Path] = []
    try:
        for name in raters:
            files.append(make_pack(path, target, rater=name, again=again, **profile))
    finally:
        if len(files) < len(raters):  # those before are handed out all the same
            for made in files:
                say(f"Written before that: {made}")
    rows = [{"rater": n, "file": str(f)} for n, f in zip(raters, files, strict=True)]
    lines = [f"{row['rater']}: {row['file']}" for row in rows]
    lines.append("Each file is for that rater alone; it opens with: triptych study open FILE")
    return {"packs": rows}, "\n".join(lines)


def open_(
    context: typer.Context,
    study: Annotated[
        str | None, typer.Argument(help="Pack, address of a shared study, folder, id or title.")
    ] = None,
    rater: Annotated[str | None, typer.Option("--rater", help="Who reads.")] = None,
    associate: Annotated[
        bool, typer.Option("--associate", help="Let a double click open packs, for this user.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Open a study at its next item; without a display say what it is."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        if associate:
            _associate(said, as_document=study is None)
            if study is None:
                return
        code = open_place(said, study, rater=rater, window=context.meta[WINDOW])
        raise typer.Exit(code)


def open_place(
    said: Options, study: str | None, *, rater: str | None, window: Callable[..., int]
) -> int:
    """Open a pack, an address, a folder, an id or a title.

    Args:
        said: home and form of output.
        study: what to open.
        rater: who reads, None for whose pack it is or who is set.
        window: opens the window at a study; says so where there is no display.

    Returns:
        The window's exit code.

    Raises:
        BadPack, BadStudy, NoRun, StoreError: it cannot be opened; each names it.
    """
    from studies.preference.study import open_study

    place = _place(said, study)
    with open_study(place) as opened:
        info = opened.info()
        where = str(place) if isinstance(place, Path) else opened.location
    row = words.study_row(info)
    _take_rater(said, info.seat, rater)
    answer(said, {**row, "path": where}, words.opened(row, where))
    return window(study=str(place))


def _place(said: Options, study: str | None) -> Path | str:
    """Where the study lies; a pack is put into the home first."""
    from studies.preference.packs import open_pack

    file = Path(study) if study else None
    if file is not None and "://" not in str(study) and words.is_file(file):
        if file.name == "study.sqlite":
            return Path(absolute(file)).parent
        return open_pack(said.home.make(), Path(absolute(file)))
    if file is not None and file.suffix.lower() == PACK:
        raise BadStudy(f"There is no file {file}. Name the pack you were sent.")
    return words.find_place(said.home, study)


def _take_rater(said: Options, seat: str, rater: str | None) -> None:
    """Let the window greet whoever reads: the pack's rater, or the one that was named."""
    from db.settings import load_settings, save_settings
    from studies.preference.seating import rater_name

    if seat and rater and rater_name(rater) != seat:
        raise BadStudy(f"This pack was handed to {seat}; leave --rater out.")
    name = seat or (rater_name(rater) if rater else "")
    if name:
        file = said.home.make().settings
        save_settings(file, replace(load_settings(file), rater_name=name))


def _associate(said: Options, *, as_document: bool) -> None:
    from db.home import find_home
    from studies.association import associate

    usual = said.home.root == find_home(None).root
    done = associate(home=None if usual else said.home.root)
    if not as_document:
        say(done.sentence)
        return
    document = {"associated": done.done, "places": list(done.places), "sentence": done.sentence}
    answer(said, document, "\n".join([done.sentence, *done.places]))


def status(
    context: typer.Context, study: StudyArgument = None, as_json: JsonOption = False
) -> None:
    """How far each study, rater and pack is; never a preference count."""
    said = cli_text.merged(context.obj, as_json)
    with failures():
        rows = words.study_rows(said.home, study)
        answer(said, rows, words.study_table(rows))


def merge(
    context: typer.Context,
    answers: Annotated[
        list[str], typer.Argument(help="Files that came back, addresses of shared studies.")
    ],
    study: Annotated[
        str | None, typer.Option("--study", help="Id, title or folder; else the only one.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check what raters returned and keep what holds; the rest is refused by name."""
    from studies.preference.merge import merge as take

    said = cli_text.merged(context.obj, as_json)
    with failures():
        path = words.find_study(said.home, study)
        sources = [one if "://" in one else absolute(Path(one)) for one in answers]
        try:
            document = words.merged(take(path, sources), ())
        except BadAnswers as error:
            document = words.merged(error.merged, error.refused)  # type: ignore[arg-type]
        answer(said, document, words.merged_text(document))
        for row in document["refused"]:
            say(f"{row['source']}: {row['reason']}")
        if document["refused"]:
            raise typer.Exit(1)
