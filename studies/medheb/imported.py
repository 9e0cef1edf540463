"""Reads result folders of the benchmark's authors: ``_score.json`` and ``_pred.jsonl`` files.

Owns finding the files of one model wherever they lie below a folder, the ranks in them, and the
counts that scores alone still tell. Understands both namings of their averages (ALL without and
ALL+OOD with the held-out tasks, or the paper's ID and All). Refuses a folder with two models;
pickles beside the files are never opened.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.errors import BadTaskFile
from studies.medheb.outcome import KEEP_NAMES, Ranked
from studies.medheb.scores import histogram
from studies.medheb.tasks import Task

SCORE, PREDICTIONS = "_score.json", "_pred.jsonl"
TABLES = (".tsv", ".csv")
_DAMAGE = (OSError, ValueError, TypeError, AttributeError, RecursionError, OverflowError)
WHOLE = {"all+ood", "all_ood", "all-ood"}
MOST = 1_000_000  # queries of a task; more is no score file
NEAR = 12  # how far rounded scores may lead the count at rank 5 astray
HELD_OUT = {"ood", "held-out", "held-out-source", "heldout"}


@dataclass(frozen=True)
class Imported:
    """One task of a result folder.

    Attributes:
        task: its registry row.
        files: that were read, relative to the folder.
        ranked: the queries as ranked; empty where there are scores alone.
        counts: positives at rank 1 to 5 and beyond.
        exact: the counts follow from the files; False where rounded scores left a choice.
        notes: what does not fit together.
    """

    task: Task
    files: tuple[str, ...]
    ranked: tuple[Ranked, ...]
    counts: tuple[int, ...]
    exact: bool
    notes: tuple[str, ...] = ()


def find_results(folder: Path, tasks: Iterable[Task]) -> tuple[dict[Task, list[Path]], list[str]]:
    """The result files of each task below a folder, and the names that no task has.

    Raises:
        BadTaskFile: there is no such folder, no result file in it, or a task's file twice.
    """
    if not folder.is_dir():
        raise BadTaskFile(f"{folder}: there is no such folder.")
    known = {task.release_name: task for task in tasks}
    found: dict[Task, list[Path]] = {}
    strangers: list[str] = []
    for ending in (SCORE, PREDICTIONS):
        for path in sorted(folder.rglob(f"*{ending}")):
            task = known.get(path.name.removesuffix(ending))
            if task is None:
                strangers.append(path.name)
            else:
                found.setdefault(task, []).append(path)
    if not found and not strangers:
        raise BadTaskFile(f"{folder} holds no file that ends in {SCORE} or {PREDICTIONS}.")
    for task, paths in found.items():
        names = [path.name for path in paths]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise BadTaskFile(
                f"{folder} holds {twice} twice, so results of several models ({task.id}); give "
                "the folder of one."
            )
    return found, sorted(strangers)


def read_imported(task: Task, paths: Sequence[Path], folder: Path) -> Imported:
    """One task from its files.

    Raises:
        BadTaskFile: a file is damaged, or says nothing that can be counted.
    """
    by_ending = {
        ending: p for p in paths for ending in (SCORE, PREDICTIONS) if p.name.endswith(ending)
    }
    ranked = _read_ranked(by_ending[PREDICTIONS]) if PREDICTIONS in by_ending else ()
    scores = _read_scores(by_ending[SCORE]) if SCORE in by_ending else {}
    files = tuple(path.relative_to(folder).as_posix() for path in paths)
    if ranked:
        counts = histogram([one.rank for one in ranked])
        return Imported(task, files, ranked, counts, True, tuple(_disagreements(counts, scores)))
    if not scores:
        raise BadTaskFile(f"{paths[0]}: it holds no queries.")
    counts, exact = counts_of(scores, paths[0])
    return Imported(task, files, (), counts, exact)


def _read_ranked(path: Path) -> tuple[Ranked, ...]:
    try:
        with path.open(encoding="utf-8-sig") as stream:
            lines = [json.loads(line) for line in stream if line.strip()]
        return tuple(_ranked(number, line) for number, line in enumerate(lines))
    except (*_DAMAGE, KeyError, IndexError) as error:
        raise BadTaskFile(f"{path}: no rankings can be read in it ({error}).") from error


def _ranked(number: int, line: Mapping[str, Any]) -> Ranked:
    """One line; rows follow the index file where the line does not name its own."""
    labels = line["label"] if isinstance(line["label"], list) else [line["label"]]
    names = tuple(map(str, line["prediction"]))
    gold = str(labels[0])
    wanted = {str(label) for label in labels}
    place = next((place for place, name in enumerate(names) if name in wanted), len(names))
    rank = place + 1
    if place == len(names):  # cut lists: the line may still know
        rank = max(rank, int(line.get("rank") or 0))
    return Ranked(
        row=int(line.get("row", number)),
        gold=gold,
        rank=rank,
        names=names[:KEEP_NAMES],
        scores=(),
        pool=max(len(names), rank, int(line.get("pool") or 0)),
        tied=bool(line.get("tied")),
    )


def _read_scores(path: Path) -> dict[str, float]:
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
        numbers = {
            str(name): float(value)
            for name, value in document.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
    except _DAMAGE as error:
        raise BadTaskFile(f"{path}: no scores can be read in it ({error}).") from error
    return numbers


def counts_of(scores: Mapping[str, float], path: Path) -> tuple[tuple[int, ...], bool]:
    """How many positives stood at rank 1 to 5 and beyond, from scores alone.

    Hit@1 and Hit@5 are counts over the number of queries; MRR@5 and, where it is there, NDCG@5
    leave one set of whole numbers between them.

    Returns:
        The six counts, and whether they give the scores back to nine digits.

    Raises:
        BadTaskFile: a score or the number of queries is missing, or they contradict each other.
    """
    total = scores.get("num_pred", scores.get("num_data", 0))
    total = round(total) if 0 < total <= MOST else 0
    try:
        first, five, mrr = (scores[name] for name in ("hit@1", "hit@5", "mrr@5"))
    except KeyError as error:
        raise BadTaskFile(f"{path}: {error.args[0]} is missing.") from error
    if total < 1 or not 0 <= first <= mrr + 1e-9 or not mrr <= five + 1e-9 <= 1 + 2e-9:
        raise BadTaskFile(f"{path}: its scores contradict each other, or num_pred is missing.")
    best, within = round(first * total), round(five * total)
    wanted = 60 * (
        mrr * total - best
    )  # thirty for rank 2, twenty for 3, fifteen for 4, twelve for 5
    ndcg = scores.get("ndcg_linear@5")
    middle = _second_to_fifth(within - best, wanted, None if ndcg is None else ndcg * total - best)
    counts = (best, *middle, total - within)
    again = (best + sum(n / rank for rank, n in enumerate(middle, 2))) / total
    return counts, abs(again - mrr) < 1e-9 and ndcg is not None


def _second_to_fifth(total: int, wanted: float, ndcg: float | None) -> tuple[int, int, int, int]:
    """Counts at ranks 2 to 5 that sum to ``total`` and come nearest to both sums.

    For each count at rank 4 the others follow from three equations; without NDCG from two, and
    then a few at rank 4 are enough, since every solution has the same scores.
    """
    if ndcg is None:
        fourth, fifth = np.ogrid[: min(total, 3) + 1, : total + 1]
    else:
        fourth = np.arange(total + 1)[:, None]
        fifth = _fifth(total, wanted, ndcg, fourth) + np.arange(-NEAR, NEAR + 1)
    second = np.rint((wanted - 20 * total + 5 * fourth + 8 * fifth) / 10)
    third = total - second - fourth - fifth
    missed = np.abs(30 * second + 20 * third + 15 * fourth + 12 * fifth - wanted)
    if ndcg is not None:
        counts = zip((2, 3, 4, 5), (second, third, fourth, fifth), strict=True)
        missed = missed + np.abs(sum(n / np.log2(rank + 1) for rank, n in counts) - ndcg)
    missed = np.where((second < 0) | (third < 0) | (fifth < 0), np.inf, missed)
    place = np.unravel_index(np.argmin(missed), missed.shape)
    found = (np.broadcast_to(each, missed.shape)[place] for each in (second, third, fourth, fifth))
    two, three, four, five = map(int, found)
    return two, three, four, five


def _fifth(
    total: int, wanted: float, ndcg: float, fourth: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The count at rank 5 that NDCG asks for, given that at rank 4."""
    gain = {rank: 1 / np.log2(rank + 1) for rank in (2, 3, 4, 5)}
    second = (wanted - 20 * total + 5 * fourth) / 10  # plus 0.8 of the fifth
    third = total - fourth - second  # minus 1.8 of the fifth
    slope = 0.8 * gain[2] - 1.8 * gain[3] + gain[5]
    rest = ndcg - gain[2] * second - gain[3] * third - gain[4] * fourth
    found: NDArray[np.float64] = np.clip(np.rint(rest / slope), -NEAR, total + NEAR)
    return found


def _disagreements(counts: Sequence[int], scores: Mapping[str, float]) -> Iterable[str]:
    total = sum(counts)
    hits = {"hit@1": counts[0] / total, "hit@5": sum(counts[:5]) / total}
    for name, value in hits.items():
        if name in scores and abs(scores[name] - value) > 5e-4:
            yield f"the score file says {name} {scores[name]:.4f}, its rankings {value:.4f}"


def stated_means(folder: Path) -> dict[str, float]:
    """Averages that summary tables in a folder state, under the paper's names, in percent.

    The authors' scripts call the mean over the tasks of training sources ALL and that over all
    tasks ALL+OOD; the paper calls them ID and All.
    """
    found: dict[str, float] = {}
    for path in sorted(p for p in folder.iterdir() if p.suffix.lower() in TABLES):
        try:
            with path.open(encoding="utf-8-sig", newline="") as stream:
                rows = list(csv.reader(stream, delimiter="\t" if path.suffix == ".tsv" else ","))
        except (OSError, UnicodeDecodeError, csv.Error):
            continue
        found |= _stated(rows)
    return found


def _stated(rows: Sequence[Sequence[str]]) -> dict[str, float]:
    """Averages of one table, whose names head its columns or its rows."""
    pairs: list[tuple[str, str]] = []
    if len(rows) == 2:
        pairs = list(zip(rows[0], rows[1], strict=False))
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    column = head.index("hit@1") if "hit@1" in head else -1
    pairs += [(cell, row[column]) for row in rows if len(row) > max(column, 1) for cell in row]
    names = named_as_in_paper([name for name, _ in pairs])
    found = {}
    for name, text in pairs:
        try:
            if name in names:
                found[names[name]] = float(text)
        except ValueError:
            continue
    return found


def named_as_in_paper(names: Iterable[str]) -> dict[str, str]:
    """Names of averages as they stand in a file to the paper's; ALL alone could be either."""
    known = {name.strip().lower(): name for name in names}
    if WHOLE & known.keys():
        meant = {"all": "ID", **dict.fromkeys(WHOLE, "All")}
    elif "id" in known:
        meant = {"id": "ID", "all": "All"}
    else:
        meant = {}
    meant |= dict.fromkeys(HELD_OUT, "Held-out")
    return {known[low]: paper for low, paper in meant.items() if low in known}
