"""Runs and judgements in the formats of TREC, for any evaluation program.

Owns the ids of queries (``q`` and the row) and candidates (``d`` and a number, the same for every
model of a task), because names are texts and paths with blanks in them; ``docs`` lists which is
which. Scores of a run fall strictly, so that no program's own rule for ties decides: the cosine is
kept in its order, not in its value. A run holds the candidates whose names are stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from db.home import Home
from studies.medheb.lines import write_lines
from studies.medheb.writer import Prediction, model_folder
from studies.results_graded import predictions_of

if TYPE_CHECKING:
    from studies.results import Results

RUNS, JUDGED, DOCS = "runs", "qrels", "docs"


def export_trec(
    home: Home, results: Results, models: Sequence[str], out: Path
) -> tuple[list[Path], list[str]]:
    """Write one run per model and task, one file of judgements and one of names per task.

    Args:
        home: where rankings are stored.
        results: of one data root.
        models: ids of its models; tasks without rankings of a model have no run of it.
        out: folder, made if it is not there.

    Returns:
        Every file written, and a sentence for every run whose rankings cannot be read.

    Raises:
        NotWritable: the folder cannot be written.
    """
    written: list[Path] = []
    lost: list[str] = []
    for line in results.tasks:
        ranked = predictions_of(home, results.digest, line, models)
        lost += ranked.lost
        if ranked.found:
            written += _task(line.task.release_name, ranked.found, out)
    return written, lost


def _task(name: str, ranked: Mapping[str, Sequence[Prediction]], out: Path) -> list[Path]:
    every = [line for lines in ranked.values() for line in lines]
    numbers: dict[str, str] = {}
    for line in every:
        for candidate in (line.gold, *line.names):
            numbers.setdefault(candidate, f"d{len(numbers) + 1}")
    files = {
        out / JUDGED / f"{name}.qrels": _judged(every, numbers),
        out / DOCS / f"{name}.tsv": (
            f"{number}\t{json.dumps(text, ensure_ascii=False)}" for text, number in numbers.items()
        ),
    }
    for model, lines in ranked.items():
        files[out / RUNS / model_folder(model) / f"{name}.run"] = _run(lines, numbers, model)
    for path, content in files.items():
        write_lines(path, content)
    return list(files)


def _judged(lines: Iterable[Prediction], numbers: Mapping[str, str]) -> Iterator[str]:
    golds = {line.row: line.gold for line in lines}
    for row in sorted(golds):
        yield f"q{row} 0 {numbers[golds[row]]} 1"


def _run(lines: Iterable[Prediction], numbers: Mapping[str, str], model: str) -> Iterator[str]:
    tag = model_folder(model)
    for line in lines:
        names = tuple(dict.fromkeys(line.names))
        for place, name in enumerate(names):
            yield f"q{line.row} Q0 {numbers[name]} {place + 1} {len(names) - place} {tag}"
