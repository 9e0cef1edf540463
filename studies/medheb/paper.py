"""The paper's published numbers, and when ours may stand beside them.

Owns reading ``paper_results.csv`` and the comparison of task sets. Refuses to compare in
silence: a column whose tasks differ from the paper's carries the reason.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from engine.catalog import CARDS
from studies.medheb.tasks import FAMILIES, OWN, Task, load_tasks
from studies.places import resources

# Which printed table holds a metric over families and splits.
TABLES = {"hit@1": "table4", "mrr@5": "table4", "hit@5": "table8"}
SPLIT_COLUMNS = ("ID", "Held-out", "All")
COLUMNS = FAMILIES + SPLIT_COLUMNS
ILAB = (
    "the paper's I-Lab pools are not those of any released file (own-label lists force Hit@5 "
    "above 36.4 %), so this column is not comparable"
)
MINIATURE = "triptych_mini.json"  # at the root of generated data
GENERATED = "the data are a generated miniature, so nothing here compares"
GUESSED_POOLS = ("labels:fixed", "labels:family")
GUESS = (
    "compared under {pool} pools, which would give numbers like the printed ones; that they are "
    "the paper's is a guess"
)


@dataclass(frozen=True)
class Published:
    """One printed number, in the table's own unit (percent, but for CV)."""

    table: str
    model: str
    metric: str
    column: str
    value: float


@dataclass(frozen=True)
class Comparison:
    """The paper beside a run.

    Attributes:
        rows: paper's model to column to metric to percent, in the paper's order.
        same_as: our model id to the paper's name, where both ran the same model.
        marks: column to the reason why it does not compare; absent where the tasks are the same.
    """

    rows: Mapping[str, Mapping[str, Mapping[str, float]]]
    same_as: Mapping[str, str]
    marks: Mapping[str, str]


@lru_cache(maxsize=1)
def load_paper() -> tuple[Published, ...]:
    """Every printed number."""
    path = resources() / "paper_results.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        return tuple(
            Published(r["table"], r["model"], r["metric"], r["column"], float(r["value"]))
            for r in csv.DictReader(stream)
        )


def printed(table: str, metric: str) -> dict[str, dict[str, float]]:
    """One table and metric: model to column to value."""
    found: dict[str, dict[str, float]] = {}
    for number in load_paper():
        if number.table == table and number.metric == metric:
            found.setdefault(number.model, {})[number.column] = number.value
    return found


def column_tasks(tasks: Collection[Task]) -> dict[str, frozenset[str]]:
    """The task ids that each column of the family table averages over; none of own data."""
    tasks = [task for task in tasks if task.split != OWN]
    groups = {family: {t.id for t in tasks if t.family == family} for family in FAMILIES}
    groups["ID"] = {t.id for t in tasks if t.split == "id"}
    groups["Held-out"] = {t.id for t in tasks if t.split == "held-out"}
    groups["All"] = {t.id for t in tasks}
    return {column: frozenset(ids) for column, ids in groups.items()}


def compare(
    ours: Collection[Task],
    models: Collection[str],
    *,
    pools: Mapping[str, str] = MappingProxyType({}),
    lost: Mapping[str, int] = MappingProxyType({}),
    generated: bool = False,
) -> Comparison:
    """Put the paper beside a run.

    Args:
        ours: the tasks that were scored.
        models: our model ids; one with a changed setting is no model of the paper.
        pools: task id to the recorded name of its pool.
        lost: task id to how many of its rows were not scored.
        generated: the data are the miniature; then no column compares.
    """
    theirs, mine = column_tasks(load_tasks()), column_tasks(ours)
    marks = {}
    for column in COLUMNS:
        if theirs[column] != mine[column]:
            both = len(theirs[column] & mine[column])
            marks[column] = (
                f"tasks: ours {len(mine[column])}, the paper's {len(theirs[column])}, "
                f"in common {both}"
            )
    marks.setdefault(
        "I-Lab", _label_mark({pools.get(t.id, "") for t in ours if t.family == "I-Lab"})
    )
    for column in COLUMNS:
        if shorter := _shorter([t for t in ours if t.id in mine[column]], lost):
            marks[column] = "; ".join(filter(None, (marks.get(column), shorter)))
    if generated:
        marks = dict.fromkeys(COLUMNS, GENERATED)
    names = list(printed("table4", "hit@1"))
    return Comparison(
        rows={name: _numbers(name) for name in names},
        same_as={
            m: n for m in models for n in names if "=" not in m and _key(_title(m)) == _key(n)
        },
        marks=marks,
    )


def _shorter(tasks: Collection[Task], lost: Mapping[str, int]) -> str:
    """What of the rows of some tasks is not in their scores; empty if all are."""
    rows = [lost[task.id] for task in tasks if lost.get(task.id)]
    cut = sum(task.row_limit is not None for task in tasks)
    parts = []
    if rows:
        parts.append(f"{sum(rows)} rows in {len(rows)} of the tasks were not scored")
    if cut:
        parts.append(f"{cut} of the tasks keep their first rows only (num_sample_per_subset)")
    return "; ".join(parts)


def _label_mark(pools: Collection[str]) -> str:
    guessed = len(pools) == 1 and all(pool in GUESSED_POOLS for pool in pools)
    return GUESS.format(pool=next(iter(pools))) if guessed else ILAB


def _numbers(model: str) -> dict[str, dict[str, float]]:
    numbers: dict[str, dict[str, float]] = {column: {} for column in COLUMNS}
    for metric, table in TABLES.items():
        for column, value in printed(table, metric).get(model, {}).items():
            numbers[column][metric] = value
    return numbers


def _title(model_id: str) -> str:
    plain = model_id.split("@")[0]
    return next((card.title for card in CARDS if card.id == plain), plain)


def _key(name: str) -> str:
    """Letters and digits only; the paper shortens Embedding to Embed."""
    return re.sub(r"[^a-z0-9]", "", name.lower()).replace("embedding", "embed")
