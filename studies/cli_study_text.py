"""The words of ``triptych study``: which study is meant, and what is said of it.

Tells no model before unblinding and no preference ever: answers are counted, never which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from db.home import Home
from studies.cli_common import absolute, is_folder
from studies.cli_text import columns
from studies.errors import BadRequest, BadStudy, NoRun
from studies.preference.order_words import order_words

if TYPE_CHECKING:  # the command line starts without them
    from studies.preference.analysis.schema import Analysis
    from studies.preference.available import Available
    from studies.preference.merge import Merged
    from studies.preference.planner import StudyPlan
    from studies.preference.study import StudyInfo

NOT_RUN = "no finished run"
NONE_YET = "There is no study in this home yet. Make one: triptych study build --help"


def find_study(home: Home, name: str | None) -> Path:
    """A study's folder by id, title or path; the only one when no name is given.

    Raises:
        NoRun: there is none.
        BadStudy: the name fits none or several.
    """
    from studies.preference.study import list_studies

    if name and is_folder(Path(name)):
        return Path(absolute(Path(name)))
    infos = list_studies(home)
    if not infos:
        raise NoRun(NONE_YET)
    fitting = [info for info in infos if name in (None, info.id, info.title)]
    if len(fitting) == 1:
        return Path(fitting[0].path)
    raise _unclear(name, infos)


def _unclear(name: str | None, infos: Sequence[StudyInfo]) -> BadStudy:
    known = ", ".join(f"{info.id} ({_short(info.title)})" for info in infos)
    several = any(name == info.title for info in infos)
    what = "not just one study" if several else "no study"
    lead = "" if name is None else f"There is {what} {_short(name)!r} here. "
    return BadStudy(f"{lead}Say which study: {known}.")


def _short(title: str) -> str:
    return title if len(title) <= 60 else f"{title[:57]}..."


def is_file(file: Path) -> bool:
    """Whether there is such a file; words too long or too odd for a path are none."""
    try:
        return file.is_file()
    except (OSError, ValueError):
        return False


def target(out: Path, suffix: str) -> Path:
    """Where a file is to be written: a folder that is there, or a file of the right ending.

    Raises:
        BadRequest: neither; a folder that is missing would become a file nobody can open.
    """
    if not is_folder(out) and out.suffix.lower() != suffix:
        raise BadRequest(
            f"There is no folder {out}. Make it first, or name a file that ends in {suffix}."
        )
    return Path(absolute(out))


def find_place(home: Home, name: str | None) -> Path | str:
    """The same, or the address of a shared study as it was given."""
    from db.session import is_url

    return name if name and is_url(name) else find_study(home, name)


def built(document: dict[str, Any]) -> str:
    """What was built, with the hash that every export repeats."""
    lines = [
        f"Study built: {order_words(document['items'], 0, document.get('warmups', 0))}, sealed.",
        f"  hash {document['hash']}\n  in {document['path']}",
    ]
    if document.get("auto_ties"):
        ties = document["auto_ties"]
        lines.append(
            "  1 identical pair set aside as a tie"
            if ties == 1
            else f"  {ties} identical pairs set aside as ties"
        )
    lines += [f"  missing: {task}: {why}" for task, why in document.get("missing", {}).items()]
    lines += [f"  {note}" for note in document.get("notes", ())]
    return "\n".join([*lines, "Keep the passphrase: without it the key cannot be opened."])


def study_rows(home: Home, name: str | None) -> list[dict[str, Any]]:
    """State of each study; counts answers, never preferences.

    Raises:
        BadStudy: the name fits none.
    """
    from db.session import is_url
    from studies.preference.study import list_studies, open_study

    if name and is_url(name):
        with open_study(name) as study:
            return [{**study_row(study.info()), "path": study.location}]
    if name and is_folder(Path(name)):
        name = absolute(Path(name))
    infos = list_studies(home)
    found = [info for info in infos if name in (None, info.id, info.title, str(info.path))]
    if name and not found:
        raise _unclear(name, infos) if infos else NoRun(NONE_YET)
    return [study_row(info) for info in found]


def study_row(info: StudyInfo) -> dict[str, Any]:
    """State of one study."""
    return {
        "id": info.id,
        "title": info.title,
        "items": info.items,
        "answered": info.far[0],
        "places": info.far[1],
        "practice": info.practice,
        "reads": info.reads,
        "unblinded": info.unblinded,
        "hash": info.hash,
        "path": str(info.path),
        "fault": info.fault,
        "seat": info.seat,
        "raters": [{"rater": name, "answered": count} for name, count in info.raters],
        "packs": [
            {**asdict(pack), "raters": [{"rater": n, "answered": c} for n, c in pack.raters]}
            for pack in info.packs
        ],
    }


def study_table(rows: Sequence[dict[str, Any]]) -> str:
    """The studies as a table, with raters and packs below each."""
    if not rows:
        return NONE_YET
    cells = [("study", "title", "answered", "each reads", "state", "hash")]
    for row in rows:
        state = row["fault"] or ("unblinded" if row["unblinded"] else "sealed")
        state += f", pack of {row['seat']}" if row["seat"] else ""
        answered = _out(row) or f"{row['answered']} of {row['places']}"
        cells.append(
            (row["id"], _short(row["title"]), answered, row["reads"], state, row["hash"][:16])
        )
    return "\n".join([columns(cells), *(line for row in rows for line in _seats(row))])


def _out(row: Mapping[str, Any]) -> str:
    """With whom a study is of which nothing has come back; "" where answers are known."""
    handed = [pack for pack in row["packs"] if not pack["replaced"]]
    out = [pack["rater"] or "raters on a server" for pack in handed if not pack["returned_utc"]]
    if row["answered"] or not out or len(out) < len(handed):
        return ""
    return f"out with {out[0]}" if len(out) == 1 else f"out with {len(out)} raters"


def _seats(row: Mapping[str, Any]) -> list[str]:
    """Raters and packs of one study."""
    handed = {pack["rater"] for pack in row["packs"]}
    away = handed | {one["rater"] for pack in row["packs"] for one in pack["raters"]}
    lines = [
        f"{row['id']}: {one['rater']} reads here, {one['answered']} answered"
        for one in row["raters"]
        if one["rater"] not in away and not row["seat"]
    ]
    return lines + [f"{row['id']}: {_pack(pack)}" for pack in row["packs"]]


def _pack(pack: Mapping[str, Any]) -> str:
    who = f"shared at {pack['url']}" if pack["url"] else f"pack of {pack['rater']}"
    if pack["replaced"]:
        return f"{who} of {pack['handed_utc'][:10]} was replaced by a newer one"
    back = (
        f"{pack['answered']} of {pack['items']} answered, returned {pack['returned_utc'][:10]}"
        if pack["returned_utc"]
        else "nothing returned yet"
    )
    return f"{who}, handed out {pack['handed_utc'][:10]}, {back}"


def report(path: Path, *, form: str) -> Any:
    """The statistics of an unblinded study: a document for ``json``, else text."""
    from studies.preference.unblind import load_unblinded

    opened_key = load_unblinded(path)  # a blind study is refused before the statistics are loaded
    from studies.preference.analysis.analyse import analyse
    from studies.preference.analysis.gather import tables_of

    return report_words(analyse(tables_of(opened_key)), form=form)


def report_words(analysis: Analysis, *, form: str) -> Any:
    """An analysis as a document or as text."""
    from studies.preference.kit.report import to_json, to_markdown, to_text

    return {"json": to_json, "markdown": to_markdown, "text": to_text}[form](analysis)


def plan_text(plan: StudyPlan, there: Available | None) -> str:
    """The plan, what it is drawn from, and the sentence for the paper."""
    from studies.preference.planner_words import table

    parts = [table(plan)]
    if there is not None:
        parts.insert(0, _available(there))
    return "\n\n".join([*parts, f"For the paper:\n{plan.sentence}"])


def _available(there: Available) -> str:
    families = ", ".join(f"{name} {count}" for name, count in there.per("family").items())
    forms = ", ".join(f"{name} {count}" for name, count in there.per("form").items())
    lines = [
        f"{len(there.tasks)} of {there.total} tasks with {there.queries} queries "
        "that every model answered",
        f"  by family: {families or 'none'}",
        f"  by form: {forms or 'none'}",
    ]
    lines += [f"  {line}" for line in unfinished(there.unfinished)]
    lines += [f"  missing: {task}: {why}" for task, why in there.missing.items()]
    return "\n".join(lines)


def unfinished(models: Mapping[str, str]) -> list[str]:
    """Which models lack results, and the command that computes them."""
    lines = [f"{model}: {why}" for model, why in models.items()]
    unrun = [model for model, why in models.items() if why == NOT_RUN]
    if unrun:
        lines.append(f"Run first: triptych bench run --data DATA --models {','.join(unrun)}")
    return lines


def opened(row: Mapping[str, Any], place: str) -> str:
    """What was opened."""
    who = f" for {row['seat']}" if row["seat"] else ""
    state = "unblinded, takes no answers" if row["unblinded"] else f"{row['answered']} answered"
    return f"{row['title']}: {row['reads']}{who}; {state}\n  in {place}"


def merged(found: Sequence[Merged], refused: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """What a merge took and refused."""
    return {
        "merged": [asdict(one) for one in found],
        "refused": [{"source": source, "reason": why} for source, why in refused],
    }


def merged_text(document: Mapping[str, Any]) -> str:
    """The same in words."""
    lines = [f"{row['source']}: {row['sentence']}" for row in document["merged"]]
    return "\n".join(lines or ["Nothing was merged."])
