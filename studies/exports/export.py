"""``bench export``: what of a run goes where, by the name of a format.

Owns the list of formats and which models are written. Refuses a format or a model that is not
there with those that are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from db.home import Home
from studies.errors import BadRequest, NoRun
from studies.exports.mteb import export_mteb
from studies.exports.trec import export_trec
from studies.medheb.lines import write_lines
from studies.results import Results
from studies.results_csv import to_csv

TABLE = "medheb.csv"
Written = tuple[list[Path], list[str]]


@dataclass(frozen=True)
class Exported:
    """What an export did.

    Attributes:
        files: every one written.
        left_out: sentences about results that could not be read; the rest is written.
    """

    files: tuple[Path, ...]
    left_out: tuple[str, ...]


def _csv(home: Home, results: Results, models: Sequence[str], out: Path) -> Written:
    """Our own table, every model of the run in it."""
    path = out / TABLE
    write_lines(path, to_csv(results, compare_paper=True).rstrip("\n").split("\n"))
    return [path], []


def _mteb(home: Home, results: Results, models: Sequence[str], out: Path) -> Written:
    return export_mteb(home, results, models, out), []


FORMATS: dict[str, Callable[[Home, Results, Sequence[str], Path], Written]] = {
    "trec": export_trec,
    "mteb": _mteb,
    "csv": _csv,
}


def export_results(
    home: Home, results: Results, to: str, out: Path, *, models: Sequence[str] = ()
) -> Exported:
    """Write a run in one format.

    Args:
        home: where queries and rankings are stored.
        results: of one data root.
        to: a key of ``FORMATS``.
        out: folder, made if it is not there.
        models: ids; all of the run when empty.

    Raises:
        BadRequest: no such format.
        NoRun: no such model, or nothing of them can be written so.
        NotWritable: the folder cannot be written.
    """
    if to not in FORMATS:
        raise BadRequest(f"--to is one of {', '.join(FORMATS)}, not {to!r}.")
    known = [line.model for line in results.models]
    for model in models:
        if model not in known:
            raise NoRun(f"{model} has no result here; there are: {', '.join(known)}.")
    written, left_out = FORMATS[to](home, results, tuple(models) or tuple(known), out)
    if not written:
        raise NoRun(" ".join([f"No queries are stored that can be written as {to}.", *left_out]))
    return Exported(tuple(written), tuple(left_out))
