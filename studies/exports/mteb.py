"""Results as MTEB keeps them: one JSON per model and task, in its folders.

Owns the names of scores there. Values are shares, 0..1; the main score is Hit@1, as MTEB has it for
retrieval with one positive. The task names are the release's, which MTEB's own registry need not
know; ``mteb_version`` stays empty, since that program computed nothing here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from db.home import Home
from db.runs import query_ranks
from db.session import Store, open_store
from studies.medheb.lines import write_lines
from studies.medheb.scores import release_metrics
from studies.medheb.writer import model_folder

if TYPE_CHECKING:
    from studies.results import Results, TaskLine, TaskScore

NAMES = {
    "hit": "hit_rate_at", "ndcg_linear": "ndcg_at", "precision": "precision_at",
    "recall": "recall_at", "map": "map_at", "mrr": "mrr_at",
}  # fmt: skip
META = "model_meta.json"
# every key that MTEB wants of a model; what is unknown stays empty
UNKNOWN = (
    "release_date", "languages", "n_parameters", "memory_usage_mb", "max_tokens", "embed_dim",
    "license", "open_weights", "public_training_code", "public_training_data",
    "use_instructions", "training_datasets",
)  # fmt: skip


def export_mteb(home: Home, results: Results, models: Sequence[str], out: Path) -> list[Path]:
    """Write ``MODEL/REVISION/TASK.json`` for every model and task with stored queries.

    Args:
        home: where the queries are stored.
        results: of one data root.
        models: ids of its models.
        out: folder, made if it is not there.

    Returns:
        Every file written.

    Raises:
        NotWritable: the folder cannot be written.
    """
    written = []
    with open_store(home) as store:
        for model in models:
            cells = {t.task.id: (t, t.scores[model]) for t in results.tasks if model in t.scores}
            if not cells:
                continue
            revision = _revision(cell for _, cell in cells.values())
            folder = out / model_folder(model) / revision
            for line, cell in cells.values():
                path = folder / f"{line.task.release_name}.json"
                write_lines(path, [_json(_task(store, results, line, cell))])
                written.append(path)
            write_lines(folder / META, [_json(_meta(model, revision))])
            written.append(folder / META)
    return written


def _revision(cells: Any) -> str:
    """The commit or hash of the weights, where the run recorded one."""
    for cell in cells:
        found = cell.record.get("revision")
        if found:
            return model_folder(str(found))
    return "no_revision_available"


def _task(store: Store, results: Results, line: TaskLine, cell: TaskScore) -> dict[str, Any]:
    ranks = np.array([rank for _, rank, _ in query_ranks(store, cell.result_id)], np.intp)
    scores = _scores(release_metrics(ranks)) if len(ranks) else _bare(cell.score.values)
    return {
        "dataset_revision": results.digest,
        "task_name": line.task.release_name,
        "mteb_version": None,
        "scores": {"test": [{**scores, "hf_subset": "default", "languages": ["eng-Latn"]}]},
        "evaluation_time": cell.seconds,
        "kg_co2_emissions": None,
    }


def _scores(metrics: Mapping[str, float]) -> dict[str, float]:
    found = {}
    for name, value in metrics.items():
        metric, _, k = name.partition("@")
        if metric in NAMES:
            found[f"{NAMES[metric]}_{k}"] = round(value, 6)
    return {**found, "main_score": found["hit_rate_at_1"]}


def _bare(values: Mapping[str, float]) -> dict[str, float]:
    """What imported scores alone tell, from percent."""
    found = {
        f"{NAMES[metric]}_{k}": round(value / 100, 6)
        for name, value in values.items()
        for metric, _, k in (name.partition("@"),)
    }
    return {**found, "main_score": found["hit_rate_at_1"]}


def _meta(model: str, revision: str) -> dict[str, Any]:
    return {
        **dict.fromkeys(UNKNOWN),
        "name": model.replace("@", "--")
        if "/" in model
        else f"triptych/{model.replace('@', '--')}",
        "revision": revision,
        "similarity_fn_name": "cosine",
        "framework": [],
        "loader": None,
    }


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)
