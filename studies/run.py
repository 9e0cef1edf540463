"""The job that computes the benchmark: for each model load once, embed, rank, save task by task.

A run is a plan minus what is stored: stop it anywhere and start it again. Vectors come through
the cache on disk, so an item is embedded once however many tasks name it. The one module of the
benchmark near torch; refuses to average or to print.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from db.home import Home
from db.runs import (
    QueryRow,
    TaskResult,
    TaskResultRow,
    query_results,
    save_task_result,
    task_results,
)
from db.session import Store, open_store
from engine.cache import VectorCache
from engine.catalog import find_card
from engine.control import Control
from engine.encode import encode_items
from engine.encoder import Encoder
from engine.errors import EngineError, ModelError
from engine.memory import PixelMemory
from engine.models.load import load_encoder
from studies.contents import Contents, survey
from studies.errors import BadTaskFile, StudyError
from studies.forecast import Forecast, forecast
from studies.medheb.evaluate import evaluate, items_of
from studies.medheb.lines import write_lines
from studies.medheb.manifest import Manifest, write_manifest
from studies.medheb.outcome import Outcome, Ranked
from studies.medheb.pools import METRICS, Pools, build_pools, chance_shares
from studies.medheb.release import TaskData
from studies.medheb.scores import histogram, task_score
from studies.medheb.writer import file_sizes, result_files, result_folder, write_task
from studies.places import shipped_models
from studies.plan import Plan, item_count, plan_run, still_valid

RECORD = "encoder.json"  # beside the release's folders: how the model was loaded
KEEP_ORDERED = 10
KEEP_FAILURES = 200
MEASURE_FROM = 500  # contents to compute; fewer are done before a guess is worth anything


@dataclass
class Report:
    """What a run did, gathered as it goes."""

    computed: int = 0
    already: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, str]] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    items: dict[str, object] = field(default_factory=dict)
    forecasts: list[Forecast] = field(default_factory=list)


@dataclass(frozen=True)
class Run:
    """One call of the job."""

    home: Home
    store: Store
    plan: Plan
    arguments: dict[str, Any]
    control: Control
    report: Report
    cache: VectorCache
    memory: PixelMemory
    contents: Contents

    @property
    def planning(self) -> bool:
        """Only what would be done is wanted."""
        return bool(self.arguments.get("plan"))


class Share(Control):
    """A part of a larger progress: one task's embedding inside one model's run.

    Args:
        whole: told the steps.
        weight: how many of its steps this part is worth.
    """

    def __init__(self, whole: Control, weight: int) -> None:
        super().__init__(log=whole.say)
        self._whole = whole
        self._weight = weight
        self._given = 0
        self._phases = 0

    def begin(self, total: int, *, unit: str, phase: str) -> None:
        """Note a phase; the first, hashing files, is quick and worth no steps."""
        super().begin(total, unit=unit, phase=phase)
        self._phases += 1

    def check(self) -> None:
        """Raise ``Cancelled`` if the user asked to stop."""
        self._whole.check()

    def step(self, count: int = 1) -> None:
        """Pass on as many steps as this part's progress is worth, and never one back."""
        super().step(count)
        if self._phases < 2:
            return
        reached = self._weight * self._done // max(1, self._total)
        self._give(min(self._weight, reached))

    def finish(self) -> None:
        """Give what is left of the weight."""
        self._give(self._weight)

    def _give(self, reached: int) -> None:
        if reached > self._given:
            self._whole.step(reached - self._given)
            self._given = reached


def bench_job(home: Home, arguments: dict[str, Any], control: Control) -> dict[str, Any]:
    """Run models over the tasks of a data root.

    Args:
        home: where vectors, files and rows go.
        arguments: ``data`` (root), ``models`` (ids, hub ids or folders), and optionally
            ``tasks`` (patterns), ``device``, ``dtype``, ``retry`` (compute tasks with failed rows
            again) and ``plan`` (measure and say, compute nothing but the sample).
        control: asked between batches, told the progress of each model.

    Returns:
        Counts (``computed``, ``already``), ``missing`` tasks, ``failures`` of rows, ``refused``
        models and ``notes``, each with its reason; ``items`` (what is distinct over the run) and
        ``forecasts`` by model.

    Raises:
        StudyError: no task can be read, or no model can be loaded and nothing is stored.
        StoreError: the results cannot be kept.
        Cancelled: the user asked to stop; what is stored stays.
    """
    report = Report()
    asked = [name for name in arguments["models"] if name.strip()]
    if not asked:
        raise StudyError("No model was named. See which there are: triptych models list")
    names = _model_ids(home, asked, report)
    with open_store(home) as store:
        plan = plan_run(
            home,
            store,
            data=Path(arguments["data"]),
            models=tuple(names),
            tasks=arguments.get("tasks"),
            control=control,
        )
        if not plan.data:
            raise BadTaskFile(_nothing_to_read(plan))
        run = Run(
            home, store, plan, arguments, control, report, VectorCache(home.vectors),
            PixelMemory(), Contents(),
        )  # fmt: skip
        if not run.planning:
            found = Manifest(str(plan.root), plan.digest, plan.tasks, dict(plan.missing))
            write_manifest(home.runs, found)
        for model_id, name in names.items():
            _run_model(run, model_id, name)
    if not report.computed and not report.already and not report.said:
        raise StudyError(_nothing_done(report))
    return _document(plan, report)


def _model_ids(home: Home, names: list[str], report: Report) -> dict[str, str]:
    """Model id to the name it was asked by; unknown ones are reported."""
    known: dict[str, str] = {}
    for name in names:
        try:
            known.setdefault(find_card(name, cards_dir=home.cards).id, name)
        except ModelError as error:
            report.refused.append({"model": name, "reason": str(error)})
    return known


def _nothing_to_read(plan: Plan) -> str:
    first = next(iter(plan.missing.values()), "the task table is empty")
    return f"None of the tasks in {plan.root} can be read. The first says: {first}"


def _nothing_done(report: Report) -> str:
    reasons = [f"{row['model']}: {row['reason']}" for row in report.refused]
    reasons += [f"{row['model']}, {row['task']}: {row['reason']}" for row in report.failures[:5]]
    return "Nothing could be computed. " + " ".join(reasons)


def _run_model(run: Run, model_id: str, name: str) -> None:
    place = f"{run.plan.models.index(model_id) + 1} of {len(run.plan.models)}"
    run.control.begin(0, unit="items", phase=f"Loading {model_id} ({place})")
    run.control.check()
    try:
        encoder = _load(run, name)
        todo = _todo(run, model_id, encoder.fingerprint)
        run.report.already += len(run.plan.data) - len(todo)
        run.report.notes[model_id] = list(encoder.notes)
        _foresee(run, encoder, todo)
        total = sum(item_count(data) for data in todo)
        run.control.begin(total, unit="items", phase=f"{model_id} ({place})")
        for number, data in enumerate(todo if not run.planning else (), 1):
            run.control.check()
            name = f"{data.task.id} ({number} of {len(todo)})"
            run.control.begin_part(name, item_count(data))
            _run_task(run, model_id, encoder, data)
    except EngineError as error:
        run.report.refused.append({"model": model_id, "reason": str(error)})


def _foresee(run: Run, encoder: Encoder, todo: list[TaskData]) -> None:
    """Say what is distinct and how long it takes, before anything else is computed."""
    if not todo:
        if run.planning:
            _say(run, f"{encoder.model_id}: every task is computed already.")
        return
    missing = sum(task in run.plan.wanted for task in run.plan.missing)
    found = survey(
        {data.task.id: data for data in todo}, run.contents, missing=missing, control=run.control
    )
    if found.document() != run.report.items:
        _say(run, found.sentence())
        run.report.items = found.document()
    here = forecast(
        found.distinct, encoder, cache=run.cache, contents=run.contents, memory=run.memory,
        least=1 if run.planning else MEASURE_FROM, control=run.control,
    )  # fmt: skip
    run.report.forecasts.append(here)
    _say(run, here.sentence())


def _say(run: Run, sentence: str) -> None:
    run.control.say(sentence)
    run.report.said.append(sentence)


def _load(run: Run, name: str) -> Encoder:
    return load_encoder(
        name,
        weights_dir=run.home.weights,
        shipped_dir=shipped_models(),
        cards_dir=run.home.cards,
        device=run.arguments.get("device") or "auto",
        dtype=run.arguments.get("dtype") or "auto",
        control=run.control,
    )


def _todo(run: Run, model_id: str, fingerprint: str) -> list[TaskData]:
    """Tasks without a valid result of exactly this encoder, after taking over older ones."""
    rows = [r for r in task_results(run.store, model_id=model_id) if r.fingerprint == fingerprint]
    rows.sort(key=lambda row: row.data_digest == run.plan.digest)  # the data's own come last
    valid = {r.task_id: r for r in rows if still_valid(run.home, r, run.plan.data)}
    if run.arguments.get("retry"):
        valid = {task: row for task, row in valid.items() if not row.details["failed"]}
    for row in valid.values() if not run.planning else ():
        if row.data_digest != run.plan.digest:
            _take_over(run, row)
        for number, reason in row.details["failures"]:
            _note_failure(run, model_id, row.task_id, number, reason)
    return [data for task_id, data in run.plan.data.items() if task_id not in valid]


def _take_over(run: Run, row: TaskResultRow) -> None:
    """Keep under the new digest what was computed before another task joined the data root."""
    task = run.plan.data[row.task_id].task
    old = result_folder(run.home.runs, row.data_digest, row.model_id, task)
    new = result_folder(run.home.runs, run.plan.digest, row.model_id, task)
    for source, target in zip(result_files(old, task), result_files(new, task), strict=True):
        write_lines(target, source.read_text(encoding="utf-8").splitlines())
    kept = {name: getattr(row, name) for name in TaskResult.__dataclass_fields__}
    result = replace(TaskResult(**kept), data_digest=run.plan.digest)
    save_task_result(run.store, result, query_results(run.store, row.id))


def _run_task(run: Run, model_id: str, encoder: Encoder, data: TaskData) -> None:
    """Embed, rank and save one task."""
    started = time.perf_counter()
    pools = build_pools(data)
    items = items_of(data, pools)
    share = Share(run.control, len(items))
    encoded = encode_items(
        items, encoder, cache=run.cache, control=share, memory=run.memory,
        name_of=run.contents.name,
    )  # fmt: skip
    outcome = evaluate(data, pools, encoded.vectors, encoded.failures)
    for row, reason in outcome.failures:
        _note_failure(run, model_id, data.task.id, row, reason)
    if outcome.ranked:
        folder = result_folder(run.home.runs, run.plan.digest, model_id, data.task)
        write_task(folder, data, outcome)
        _write_record(folder.parent / RECORD, encoder)
        details = {
            "record": encoder.record.as_dict(),
            "shortened": encoded.shortened,
            "file_bytes": file_sizes(folder, data.task),
        }
        result = _result(run, model_id, encoder, data, pools, outcome)
        result = replace(
            result,
            seconds=round(time.perf_counter() - started, 3),
            details={**result.details, **details},
        )
        save_task_result(run.store, result, [_query_row(one) for one in outcome.ranked])
        run.report.computed += 1
    share.finish()


def _write_record(path: Path, encoder: Encoder) -> None:
    text = json.dumps(encoder.record.as_dict(), indent=4)
    if not path.is_file() or path.read_text(encoding="utf-8").strip() != text:
        write_lines(path, [text])


def _note_failure(run: Run, model_id: str, task_id: str, row: int, reason: str) -> None:
    if len(run.report.failures) < KEEP_FAILURES:
        run.report.failures.append(
            {"model": model_id, "task": task_id, "row": row, "reason": reason}
        )


def _result(
    run: Run, model_id: str, encoder: Encoder, data: TaskData, pools: Pools, outcome: Outcome
) -> TaskResult:
    counts = histogram(outcome.ranks)
    score = task_score(counts, data.task.id)
    details = {
        "pool": pools.name,
        "candidates": len(pools.candidates),
        "rows": data.rows,
        "ranks": list(counts),
        "chance_ranks": list(chance_shares([one.pool for one in outcome.ranked])),
        "interval": {name: list(score.interval[name]) for name in METRICS},
        "ties": outcome.ties,
        "lost": outcome.lost,
        "failures": [list(failure) for failure in outcome.failures[:KEEP_FAILURES]],
        "failed": len(outcome.failures),
        "notes": list(data.notes),
        "encoder": list(encoder.notes),
    }
    return TaskResult(
        data_digest=run.plan.digest,
        task_digest=data.digest,
        task_id=data.task.id,
        model_id=model_id,
        fingerprint=encoder.fingerprint,
        family=data.task.family,
        form=data.task.form,
        split=data.task.split,
        n=len(outcome.ranked),
        chance=dict(outcome.chance),
        scores=dict(score.values),
        details=details,
    )


def _query_row(one: Ranked) -> QueryRow:
    return QueryRow(one.row, one.rank, one.pool, one.gold, one.names[:KEEP_ORDERED])


def _document(plan: Plan, report: Report) -> dict[str, Any]:
    order = {task.id: place for place, task in enumerate(plan.tasks)}
    missing = [
        {"task": task, "reason": reason}
        for task, reason in plan.missing.items()
        if task in plan.wanted
    ]
    return {
        "data_digest": plan.digest,
        "models": list(plan.models),
        "computed": report.computed,
        "already": report.already,
        "missing": missing,
        "failures": sorted(report.failures, key=lambda f: (order[f["task"]], f["row"])),
        "refused": report.refused,
        "notes": report.notes,
        "items": report.items,
        "said": report.said,
        "forecasts": [one.document() for one in report.forecasts],
        "saved": ("run",),
    }
