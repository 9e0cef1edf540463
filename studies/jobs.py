"""The list of jobs a worker can do: names to loaders, as strings so that reading it is cheap.

A job is ``def job(home: Home, arguments: dict, control: Control) -> dict``. It stores its rows
itself, in short transactions, raises an EngineError, StudyError or StoreError for an expected
failure, and returns what JSON can hold.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from db.home import Home
from engine.control import Control
from studies.errors import StudyError

Job = Callable[[Home, dict[str, Any], Control], dict[str, Any]]

JOBS: dict[str, str] = {
    # evidence into a collection: {"paths": [str], "collection": str, "deidentify_to"?: str,
    #  "options"?: [str]}
    "import": "studies.collection:import_job",
    # nearest neighbours: {"path": str, "collection": str, "model": str, "k": int, "device"?,
    #  "other_patients"?: bool}
    "neighbours": "studies.neighbours:neighbours_job",
    # a benchmark run: {"data": str, "models": [str], "tasks": str|None, "device"?, "dtype"?}
    "bench": "studies.run:bench_job",
    # a source's official files into tasks: {"source": str, "folder": str, "data": str,
    #  "tasks"?: str, "settings"?: {str: value}}
    "bench-build": "studies.medheb.builders.job:build_job",
    # the graded task across two sources: {"queries": str, "candidates": str, "data": str,
    #  "settings"?: {str: value}}
    "bench-cross": "studies.medheb.cross_source:cross_job",
    # generated data in every source's layout, built: {"data": str, "sources"?: [str]}
    "bench-mini": "studies.medheb.mini.job:mini_job",
    # a table or collection of one's own into tasks: {"table": str, "data": str, "name"?: str,
    #  "settings"?: {str: value}}
    "bench-own": "studies.medheb.own:own_job",
    # the files of an open source: {"source": str, "folder": str, "yes"?: bool, "files"?: [str]}
    "bench-fetch": "studies.fetch_source:fetch_job",
    # the whole demo into the home: evidence, collection, benchmark, blinded study: {"fresh"?: bool}
    "demo": "studies.demo_run:demo_run_job",
    # the demo evidence alone: {"out": str}
    "demo-evidence": "studies.demo.build:demo_job",
    # a preference study, from results ("data") or from a collection: {"data"?: str,
    #  "collection"?: str, "models": [str, ...], "total": int, "seed": int, "title": str,
    #  "passphrase": str, "tasks"?: str, "protocol"?: {...}, "other_patients"?: bool,
    #  "queries"?: [int], "planned"?: {"wish": {...}, ...}, "device"?, "dtype"?}
    "study-build": "studies.preference.build:build_job",
    # load a model and embed one item per form: {"model": str, "device"?, "dtype"?}
    "model-check": "studies.check_model:check_job",
    # fetch a model's weights from the hub, its base too, progress in bytes: {"model": str}
    "model-download": "studies.model_weights:download_job",
    # delete what was downloaded for a model: {"model": str}
    "model-remove": "studies.model_weights:remove_job",
    # devices, memory, number formats, attention and libraries of this machine: {}
    "machine": "studies.machine:machine_job",
}


def load_job(kind: str) -> Job:
    """Import the function behind a job's name.

    Raises:
        StudyError: there is no such job.
    """
    if kind not in JOBS:
        raise StudyError(f"There is no job {kind!r}; known are {', '.join(sorted(JOBS))}.")
    module, _, name = JOBS[kind].partition(":")
    job: Job = getattr(importlib.import_module(module), name)
    return job
