"""Writes and reads results in the release's own files, one set per task and model.

``<task>_score.json`` (metrics 0..1), ``<task>_pred.jsonl`` (per query the ranked names) and
``<task>_info.jsonl`` (per query its candidates and the positive). Ours adds keys, changes none,
and writes no pickles: vectors live in the cache. Every file appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from studies.errors import NoRun
from studies.medheb.lines import write_lines
from studies.medheb.outcome import Outcome
from studies.medheb.release import TaskData
from studies.medheb.scores import release_metrics
from studies.medheb.tasks import Task

# Lower case, no dot at the end, no device of Windows: two models never share a folder anywhere.
_SAFE = re.compile(r"[a-z0-9]([a-z0-9._-]{0,78}[a-z0-9_-])?")
RESERVED = frozenset({"con", "prn", "aux", "nul"}) | {
    f"{device}{number}" for device in ("com", "lpt") for number in range(10)
}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Prediction:
    """One line of a ``_pred.jsonl``.

    Attributes:
        row: position in the index file, from 0.
        rank: of the positive.
        pool: number of candidates ranked.
        gold: name of the positive.
        names: ranked names, best first.
        scores: cosines of the first of them.
    """

    row: int
    rank: int
    pool: int
    gold: str
    names: tuple[str, ...]
    scores: tuple[float, ...]


def model_folder(model_id: str) -> str:
    """A folder's name for a model id that may hold slashes or anything else."""
    device = model_id.split(".")[0].lower() in RESERVED
    if _SAFE.fullmatch(model_id) and not device:
        return model_id
    mark = hashlib.sha256(model_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    name = f"{_UNSAFE.sub('_', model_id).strip('._-')[-60:]}-{mark}"
    return f"model-{name}" if device else name


def result_folder(runs: Path, data_digest: str, model_id: str, task: Task) -> Path:
    """Where the three files of a task lie."""
    return runs / data_digest / model_folder(model_id) / task.form


def result_files(folder: Path, task: Task) -> tuple[Path, Path, Path]:
    """The score, prediction and info files of a task."""
    names = ("_score.json", "_pred.jsonl", "_info.jsonl")
    score, predictions, info = (folder / f"{task.release_name}{name}" for name in names)
    return score, predictions, info


def file_sizes(folder: Path, task: Task) -> list[int]:
    """Bytes of the three files of a task, to be held against them later.

    Raises:
        OSError: one of them is not there.
    """
    return [path.stat().st_size for path in result_files(folder, task)]


def files_whole(folder: Path, task: Task, sizes: Sequence[int] | None) -> bool:
    """True if the three files are there and as long as they were written.

    Args:
        folder: where they lie.
        task: whose they are.
        sizes: of ``file_sizes``; None for results from before sizes were kept.
    """
    try:
        found = file_sizes(folder, task)
    except OSError:
        return False
    return sizes is None or found == list(sizes)


def write_task(folder: Path, data: TaskData, outcome: Outcome) -> None:
    """Write the three files of one task.

    Raises:
        NotWritable: the folder cannot be written.
        OSError: the disk is full.
    """
    score, predictions, info = result_files(folder, data.task)
    metrics = {
        **release_metrics(outcome.ranks),
        "num_pred": len(outcome.ranked),
        "num_data": data.rows,
    }
    write_lines(info, _info_lines(data, outcome))
    write_lines(predictions, _prediction_lines(outcome))
    write_lines(score, [json.dumps(metrics, indent=4)])


def write_rankings(folder: Path, task: Task, outcome: Outcome, counts: Sequence[int]) -> None:
    """Write the score file of results from elsewhere, and their rankings where there are any.

    Raises:
        NotWritable: the folder cannot be written.
        OSError: the disk is full.
    """
    score, predictions, _ = result_files(folder, task)
    ranks = [rank for rank, count in enumerate(counts, 1) for _ in range(count)]
    if outcome.ranked:
        ranks = outcome.ranks
        write_lines(predictions, _prediction_lines(outcome))
    else:
        predictions.unlink(missing_ok=True)
    metrics = {k: v for k, v in release_metrics(ranks).items() if outcome.ranked or "@10" not in k}
    write_lines(score, [json.dumps({**metrics, "num_pred": len(ranks)}, indent=4)])


def _info_lines(data: TaskData, outcome: Outcome) -> Iterator[str]:
    scored = {ranked.row for ranked in outcome.ranked}
    for query in data.queries:
        if query.row in scored:
            names = [candidate.name for candidate in query.candidates]
            yield _line({"cand_names": names, "label_name": query.gold, "row": query.row})


def _prediction_lines(outcome: Outcome) -> Iterator[str]:
    known: dict[str, str] = {}  # the same names come in every list: written as JSON once
    for ranked in outcome.ranked:
        for name in ranked.names:
            if name not in known:
                known[name] = _line(name)
        names = ", ".join([known[name] for name in ranked.names])
        rest = _line(
            {
                "label": [ranked.gold],
                "rel_scores": None,
                "row": ranked.row,
                "rank": ranked.rank,
                "pool": ranked.pool,
                "tied": ranked.tied,
                "scores": np.round(ranked.scores, 6).tolist(),
            }
        )
        yield f'{{"prediction": [{names}], {rest[1:]}'


def _line(document: Mapping[str, Any] | str) -> str:
    return json.dumps(document, ensure_ascii=True)


def read_predictions(folder: Path, task: Task) -> tuple[Prediction, ...]:
    """Read back a task's ranked queries.

    Raises:
        NoRun: the file is missing or damaged.
    """
    path = result_files(folder, task)[1]
    try:
        with path.open(encoding="utf-8") as stream:
            return tuple(_prediction(json.loads(line)) for line in stream)
    except FileNotFoundError as error:
        raise NoRun(f"{path}: these results are gone; run the task again.") from error
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise NoRun(f"{path}: damaged ({error}); delete it and run the task again.") from error


def _prediction(line: Mapping[str, Any]) -> Prediction:
    return Prediction(
        row=int(line["row"]),
        rank=int(line["rank"]),
        pool=int(line["pool"]),
        gold=str(line["label"][0]),
        names=tuple(line["prediction"]),
        scores=tuple(line["scores"]),
    )
