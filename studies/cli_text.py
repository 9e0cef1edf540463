"""The words of the command line: documents in, readable text out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from db.home import Home
from studies.cli_common import Options, absolute, expanded

MANY = 4  # items from which a count is told
# in cli.md's words; what they ask for is in engine.evidence.identity.risks
WARNINGS = {
    "burned_in_text": "burned-in text possible",
    "head": "may show a face: deface it before it leaves this place",
    "head_unknown": "the file does not say which part of the body it shows: it may show a face",
}


def merged(said: Options, as_json: bool) -> Options:
    """``--json`` may stand before or after the command."""
    return Options(said.home, said.json or as_json)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as text columns, two blanks between them."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))] if rows else []
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def probe(words: str) -> tuple[int, ...]:
    """Read ``z,y,x``.

    Raises:
        typer.BadParameter: not three whole numbers with commas between.
    """
    try:
        z, y, x = (int(word) for word in words.split(","))
        return z, y, x
    except ValueError:
        raise typer.BadParameter(f"--probe wants z,y,x in whole numbers, not {words!r}") from None


def deidentify_options() -> str:
    """The options of ``import --deidentify-to``, with what each does."""
    from engine.evidence.identity.profile import OPTIONS

    return "; ".join(f"{option.name} ({option.words})" for option in OPTIONS)


def checked_options(options: Sequence[str], *, folder: Path | None) -> list[str]:
    """The options of de-identification.

    Raises:
        typer.BadParameter: there is no folder for copies, no such option, or two contradict.
    """
    from engine.evidence.identity.profile import checked as check

    if options and folder is None:
        raise typer.BadParameter("--option says how copies are de-identified; add --deidentify-to")
    try:
        check(frozenset(options))
    except ValueError as error:
        raise typer.BadParameter(f"--option: {error}") from None
    return list(options)


def described(paths: Sequence[Path], *, probes: Sequence[Any], with_text: bool) -> list[Any]:
    """One document per item found below the paths; warnings stand among its notes."""
    from engine.evidence.open import find_evidence
    from engine.evidence.show import describe

    documents = []
    for evidence in find_evidence([expanded(path) for path in paths]):
        document = describe(evidence, probes=probes, with_text=with_text)
        warned = [WARNINGS.get(word, word) for word in evidence.warnings]
        document["notes"] = list(dict.fromkeys([*document["notes"], *warned]))
        documents.append(document)
    return documents


def shown(documents: Sequence[dict[str, Any]]) -> str:
    """A few lines per item, and how many there are of each kind where they are many."""
    told = "\n\n".join(_one(document) for document in documents)
    if len(documents) < MANY:
        return told
    counts = Counter(document["kind"] for document in documents)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    return f"{told}\n\n{len(documents)} found: {kinds}"


def _one(document: dict[str, Any]) -> str:
    if document["error"]:
        error = document["error"]
        lines = [document["path"], f"  cannot be read ({error['code']}): {error['message']}"]
        return "\n".join([*lines, *_notes(document)])
    source = document.get("source") or {}
    words = [document[key] for key in ("kind", "form", "modality", "dtype") if document[key]]
    lines = [document["path"], "  " + ", ".join(map(str, [*words, source.get("object") or ""]))]
    lines[1] = lines[1].removesuffix(", ")
    if document.get("shape"):
        lines.append(f"  shape {' x '.join(map(str, document['shape']))}")
    if document.get("mean") is not None:
        lines.append(
            f"  min {document['min']:g}, max {document['max']:g}, mean {document['mean']:g}"
        )
    if document.get("window"):
        center, width = document["window"]
        lines.append(f"  window {center:g} / {width:g} ({document['window_source']})")
    if document.get("spacing_mm"):
        spacing = " x ".join("?" if mm is None else f"{mm:g}" for mm in document["spacing_mm"])
        lines.append(f"  spacing {spacing} mm, orientation {document['orientation'] or 'unknown'}")
    lines += [f"  at {probe['at']}: {probe['value']}" for probe in document.get("probes") or []]
    lines += _notes(document)
    if document.get("text"):
        lines += [f"  | {line}" for line in str(document["text"]).splitlines()]
    return "\n".join(lines)


def _notes(document: dict[str, Any]) -> list[str]:
    """Notes, and what has to be looked at with a mark that cannot be missed."""
    warned = set(WARNINGS.values())
    return [
        f"  ! {note}" if note in warned else f"  note: {note}"
        for note in document.get("notes") or []
    ]


def imported(document: dict[str, Any]) -> str:
    """What an import took, skipped and left out, and what became of copies."""
    count = document["left_out_count"]
    lines = [
        f"{document['collection']}: {document['added']} added, {document['unchanged']} unchanged, "
        f"{count} left out"
    ]
    lines += _copied(document.get("deidentified"))
    if count > 1:
        lines += [f"  {many} x {reason}" for reason, many in document["reasons"].items()]
    lines += [f"  {row['path']}: {row['reason']}" for row in document["left_out"]]
    if count > len(document["left_out"]):
        lines.append(f"  and {count - len(document['left_out'])} more for the same reasons")
    return "\n".join(lines)


def _copied(copies: dict[str, Any] | None) -> list[str]:
    """What was de-identified, and what no header can tell."""
    if copies is None:
        return []
    kept = ", ".join(copies["options"]) or "no options"
    lines = [
        f"  de-identified copies in {copies['folder']}: {copies['written']} written, "
        f"{copies['known']} from before (Basic Profile; {kept})",
        f"  {copies['sentence']}",
    ]
    return lines + [f"  ! {row['count']} x {row['sentence']}" for row in copies["warnings"]]


def neighbour_table(document: dict[str, Any]) -> str:
    """Neighbours with their scores."""
    rows = [("rank", "score", "form", "patient", "evidence")]
    for rank, hit in enumerate(document["neighbours"], start=1):
        kin = "same study" if hit["same_study"] else "same" if hit["same_patient"] else ""
        rows.append((str(rank), f"{hit['score']:.4f}", hit["form"] or "", kin, hit["path"]))
    lines = [f"{document['model']} in {document['collection']}, cosine:", columns(rows)]
    lines += [f"left out: {row['path']}: {row['reason']}" for row in document["left_out"]]
    return "\n".join(lines)


def results(
    home: Home, *, data: Path | None, form: str, paper: bool, first: Sequence[str] = ()
) -> tuple[dict[str, Any], str]:
    """The benchmark document and its text.

    Args:
        home: where it was run.
        data: folder of the benchmark; the last one when None.
        form: ``text`` or ``markdown``.
        paper: beside the published numbers.
        first: models that the text lists before the others, in this order.

    Raises:
        NoRun: nothing was run yet.
    """
    from studies import results as stored
    from studies.results_stale import checked

    found = checked(home, stored.load_results(home, data=Path(absolute(data)) if data else None))
    document = stored.to_json(found, compare_paper=paper)
    if form == "markdown":
        return document, stored.to_markdown(found, compare_paper=paper)
    places = {model: place for place, model in enumerate(first)}
    lines = sorted(found.models, key=lambda line: places.get(line.model, len(places)))
    found = replace(found, models=tuple(lines))
    return document, stored.to_text(found, compare_paper=paper)


def run_footer(done: dict[str, Any], again: str = "") -> str:
    """What a run could not do, named, and the command that tries it again."""
    lines = [f"\nmissing: {row['task']}: {row['reason']}" for row in done.get("missing", [])]
    lines += [
        f"\nfailed: {row['task']} row {row['row']}: {row['reason']}"
        for row in done.get("failures", [])
    ]
    lines += [f"\nrefused: {row['model']}: {row['reason']}" for row in done.get("refused", [])]
    lines += [f"\nTry again: {again}"] if again else []
    return "".join(lines)


def demo(said: Options, document: dict[str, Any]) -> str:
    """The demo's table and what to do next."""
    from studies.demo_run import PASSPHRASE

    _, table = results(said.home, data=said.home.demo, form="text", paper=False)
    study = document["study"]
    return (
        f"{table}\n\nBlinded study of {study['items']} items ready, hash {study['hash'][:16]}..., "
        f"in {study['path']}\nDone in {document['seconds']} s. The models here are small demo "
        "models trained on generated pictures.\n"
        f"Rate it: triptych --home {said.home.root}   "
        f"Then: triptych --home {said.home.root} study unblind --reason done "
        f"--passphrase {PASSPHRASE}"
    )
