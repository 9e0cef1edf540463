"""Seconds of a task beside encoding, ours against ``mteb``: ``python -m tests.bench.harness``.

One synthetic retrieval task (texts, every query against every candidate, one positive each) with
one toy encoder on both sides, warm: the second run of each counts, and what the encoder itself
took is taken away. Ours is the whole job: reading the index, pools, cache, ranking, scores with
intervals, files and rows of the database. Then ranking and scoring alone at the size of the whole
benchmark, and one wide pool with its peak memory.

    python -m tests.bench.harness [--queries 1000] [--candidates 1000 10000] [--skip mteb wide]
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import studies.run
from db.home import Home
from db.session import open_store
from engine.control import Control
from engine.evidence.item import Item, ModelInput
from engine.models.random_encoder import RandomEncoder
from studies.medheb.evaluate import evaluate
from studies.medheb.outcome import Outcome
from studies.medheb.pools import build_pools
from studies.medheb.release import Candidate, TaskData
from studies.medheb.rows import Query
from studies.medheb.scores import histogram, release_metrics, task_score
from studies.medheb.tasks import Task, tasks_from_rows
from tests.studies.medheb_tree import task_row, write_index, write_registry

DIM = 256
MTEB = "mteb is not installed here. Run: pip install mteb"
PER_TASK = 1000  # rows of a task of the benchmark
WHOLE = 75_233  # queries of the whole benchmark
WIDE = (100_000, 4096)


class Toy:
    """A toy encoder: a vector by a text's hash, the same for a query and its positive.

    Attributes:
        seconds: spent inside so far.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._known: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows [N, DIM]."""
        started = time.perf_counter()
        rows = np.stack([self._vector(text) for text in texts])
        self.seconds += time.perf_counter() - started
        return rows

    def _vector(self, text: str) -> NDArray[np.float32]:
        if text not in self._known:
            seeds = [text, text.split()[-1]]  # the last word names the pair
            parts = [
                np.random.default_rng(
                    list(hashlib.sha256(seed.encode()).digest()[:8])
                ).standard_normal(DIM)
                for seed in seeds
            ]
            vector = parts[0] + 0.6 * parts[1]
            self._known[text] = (vector / np.linalg.norm(vector)).astype(np.float32)
        return self._known[text]


class Ours(RandomEncoder):
    """The toy as an encoder of ours."""

    def __init__(self, toy: Toy) -> None:
        super().__init__()
        self.dim = DIM
        self._toy = toy

    def encode(self, batch: Sequence[ModelInput]) -> NDArray[np.float32]:
        self.shortened = (False,) * len(batch)
        return self._toy.embed([one.texts[0] for one in batch])


def pairs(queries: int, candidates: int) -> tuple[list[str], list[str]]:
    """Texts that ask and texts that are found; the first of the latter belong to the former."""
    asks = [f"what is known of pair{n}" for n in range(queries)]
    return asks, [f"this is known of pair{n}" for n in range(candidates)]


def ours(queries: int, candidates: int) -> tuple[float, float]:
    """Seconds beside encoding and MRR@5 of the whole job."""
    asks, found = pairs(queries, candidates)
    rest = found[queries:]
    rows = [{"qry_inst": "", "qry_text": a, "tgt_text": [f]} for a, f in zip(asks, found)]  # noqa: B905
    rows[0]["tgt_text"] += rest
    with tempfile.TemporaryDirectory() as place:
        row = task_row("toy/t2t", "T-T", "text_qa", form="text", image_root="", eval_type="global")
        write_index(Path(place) / "data", row, rows)
        write_registry(Path(place) / "data", [row])
        toy = Toy()
        studies.run.load_encoder = lambda *_, **__: Ours(toy)  # type: ignore[assignment]
        arguments = {"data": str(Path(place) / "data"), "models": ["random"]}
        seconds = []
        for number in range(3):  # a home of its own each: nothing stored, everything imported
            home = Home(Path(place) / f"home{number}").make()
            with open_store(home):
                pass
            toy.seconds, started = 0.0, time.perf_counter()
            done = studies.run.bench_job(home, arguments, Control())
            seconds.append(time.perf_counter() - started - toy.seconds)
            score = next((home.runs / done["data_digest"]).rglob("*_score.json"))
        return min(seconds[1:]), 100 * float(json.loads(score.read_text("utf-8"))["mrr@5"])


def theirs(queries: int, candidates: int) -> tuple[float, float]:
    """Seconds beside encoding and MRR@5 of mteb's own evaluation of the same task."""
    mteb = importlib.import_module("mteb")
    task, model = peer_task(mteb, queries, candidates), peer_model(mteb)
    seconds = []
    for _ in range(3):
        model.toy.seconds, started = 0.0, time.perf_counter()
        scores = task.evaluate(model, split="test", encode_kwargs={"batch_size": 256})
        seconds.append(time.perf_counter() - started - model.toy.seconds)
    return min(seconds[1:]), 100 * float(scores["default"]["mrr_at_5"])


def peer_task(mteb: Any, queries: int, candidates: int) -> Any:
    """The synthetic task as mteb has tasks, already loaded."""
    datasets = importlib.import_module("datasets")
    base = importlib.import_module("mteb.abstasks.retrieval").AbsTaskRetrieval
    asks, found = pairs(queries, candidates)

    class Synthetic(base):  # type: ignore[misc, valid-type]
        metadata = mteb.TaskMetadata(
            name="SyntheticRetrieval", description="synthetic", type="Retrieval",
            dataset={"path": "none/none", "revision": "0"}, reference=None, category="t2t",
            modalities=["text"], eval_splits=["test"], eval_langs=["eng-Latn"],
            main_score="mrr_at_5", date=None, domains=None, task_subtypes=None, license=None,
            annotations_creators=None, dialect=None, sample_creation=None, bibtex_citation=None,
        )  # fmt: skip

    task = Synthetic()
    split = {
        "corpus": datasets.Dataset.from_dict(
            {"id": [f"d{n}" for n in range(candidates)], "title": [""] * candidates, "text": found}
        ),
        "queries": datasets.Dataset.from_dict(
            {"id": [f"q{n}" for n in range(queries)], "text": asks}
        ),
        "relevant_docs": {f"q{n}": {f"d{n}": 1} for n in range(queries)},
        "top_ranked": None,
    }
    task.dataset = {"default": {"test": split}}
    task.data_loaded = True
    return task


def peer_model(mteb: Any) -> Any:
    """The toy as mteb has encoders."""
    base = importlib.import_module("mteb.models.abs_encoder").AbsEncoder

    class Peer(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            self.toy = Toy()
            self.mteb_model_meta = None

        def encode(self, inputs: Any, **_: Any) -> NDArray[np.float32]:
            rows = [self.toy.embed([t.strip() for t in batch["text"]]) for batch in inputs]
            return np.concatenate(rows)

        def similarity(self, one: Any, other: Any) -> Any:
            return torch.as_tensor(one) @ torch.as_tensor(other).T

    torch = importlib.import_module("torch")
    return Peer()


def made(queries: int, candidates: int, *, local: bool, rng: np.random.Generator) -> TaskData:
    """A task in memory: lists of their own, or one pool."""
    row = task_row("toy/t2t", "T-T", "text_qa", eval_type="local" if local else "global")
    (task,) = tasks_from_rows([row])
    known = [Candidate(f"c{n}", Item(text=f"c{n}")) for n in range(candidates)]
    if local:
        chosen = rng.integers(0, candidates, (queries, 20))
        lists = [tuple(dict.fromkeys(known[int(n)] for n in row)) for row in chosen]
    else:
        lists = [(known[n % candidates],) for n in range(queries)]
        lists[0] = (known[0], *known[1:])
    asked = tuple(
        Query(n, Item(text=f"q{n}"), of, of[0].name) for n, of in enumerate(lists)
    )  # fmt: skip
    return _data(task, asked)


def _data(task: Task, queries: tuple[Query, ...]) -> TaskData:
    return TaskData(task, Path("toy.json"), len(queries), queries, (), 0, (), "")


def scored(data: TaskData, vectors: NDArray[np.float32]) -> Outcome:
    """Rank a task and score it, as a run does."""
    outcome = evaluate(data, build_pools(data), vectors, {})
    task_score(histogram(outcome.ranks), data.task.id)
    release_metrics(outcome.ranks)
    return outcome


def unit_rows(count: int, width: int, rng: np.random.Generator) -> NDArray[np.float32]:
    rows = rng.standard_normal((count, width), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def whole(width: int = 2048) -> str:
    """Ranking and scoring of as many queries as the benchmark has, in tasks of its kinds."""
    rng = np.random.default_rng(0)
    seconds, left, number = 0.0, WHOLE, 0
    while left > 0:
        queries = min(PER_TASK, left)
        data = made(queries, PER_TASK, local=number % 3 == 0, rng=rng)
        vectors = unit_rows(queries + len(build_pools(data).candidates), width, rng)
        started = time.perf_counter()
        scored(data, vectors)
        seconds += time.perf_counter() - started
        left, number = left - queries, number + 1
    return (
        f"ranking and scoring of {WHOLE:,} queries in {number} tasks, pools of 20 and of "
        f"{PER_TASK:,}, width {width}: {seconds:.1f} s\n"
    )


def wide(queries: int = PER_TASK) -> str:
    """One pool of 100,000 candidates: seconds, and memory beyond the vectors themselves."""
    candidates, width = WIDE
    rng = np.random.default_rng(0)
    data = made(queries, candidates, local=False, rng=rng)
    vectors = np.empty((queries + candidates, width), np.float32)
    for start in range(0, len(vectors), 4096):
        part = vectors[start : start + 4096]
        part[:] = unit_rows(len(part), width, rng)
    before = peak()
    started = time.perf_counter()
    scored(data, vectors)
    spent = time.perf_counter() - started
    return (
        f"a pool of {candidates:,} x {width} ({vectors.nbytes / 1e9:.2f} GB of vectors), "
        f"{queries:,} queries: {spent:.1f} s, peak {(peak() - before) / 1e9:.2f} GB beyond them\n"
    )


def peak() -> int:
    """The most memory of this process so far, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def compared(queries: int, candidates: int) -> str:
    """Ours beside mteb's, as text."""
    mine, score = ours(queries, candidates)
    head = f"{queries:,} queries x {candidates:,} candidates, seconds beside encoding, warm"
    line = f"{head}: ours {mine:.2f} (MRR@5 {score:.2f})"
    try:
        peer, other = theirs(queries, candidates)
    except ImportError as error:
        return f"{line}. {MTEB} ({error})\n"
    assert abs(score - other) < 0.01, f"the same task scores {score} and {other}"
    return f"{line}, mteb {peer:.2f} (MRR@5 {other:.2f}), ratio {peer / mine:.1f}\n"


def alone(name: str) -> str:
    """A part in a process of its own, so that its peak is its own."""
    command = [sys.executable, "-m", "tests.bench.harness", "--part", name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def lines(queries: int, candidates: Sequence[int], skip: Sequence[str]) -> Iterator[str]:
    """The report, line by line."""
    parts: dict[str, Callable[[], str]] = {
        "mteb": lambda: "".join(compared(queries, count) for count in candidates),
        "whole": whole,
        "wide": lambda: alone("wide"),
    }
    for name, part in parts.items():
        if name not in skip:
            yield part()


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description="Seconds beside encoding, ours against mteb.")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--candidates", type=int, nargs="*", default=[PER_TASK, 10 * PER_TASK])
    parser.add_argument("--skip", nargs="*", default=[], choices=["mteb", "whole", "wide"])
    parser.add_argument("--part", choices=["wide"], help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    if chosen.part:
        sys.stdout.write(wide())
        return
    for line in lines(chosen.queries, chosen.candidates, chosen.skip):
        sys.stdout.write(line)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
