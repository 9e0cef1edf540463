"""How each model of a table was loaded: its settings, who states them, and what was cut.

Owns gathering the records that the runs stored and putting them into words. Says when a model's
tasks were computed in more than one way, since their mean is then of no one model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.models.settings import DEFAULT_PRESET, ORIGINS

if TYPE_CHECKING:
    from studies.results import Results

# What may differ between tasks of one model without changing what the model is.
_NOT_THE_MODEL = ("device",)


@dataclass(frozen=True)
class Loaded:
    """One way a model was loaded.

    Attributes:
        model: its id.
        record: plain values, see ``engine.models.record.Record``.
        tasks: how many tasks it computed.
        shortened: distinct items whose text was cut, summed over those tasks.
        tasks_cut: in how many of them there were any.
    """

    model: str
    record: Mapping[str, Any]
    tasks: int
    shortened: int
    tasks_cut: int

    def by_origin(self) -> dict[str, list[tuple[str, Any]]]:
        """Who states a value to the settings stated so, in the schema's order."""
        found: dict[str, list[tuple[str, Any]]] = {}
        for one in self.record.get("settings", ()):
            found.setdefault(one["origin"], []).append((one["name"], one["value"]))
        return found


def loaded(results: Results) -> tuple[Loaded, ...]:
    """Every way a model was loaded, models in the table's order; rows without a record left out."""
    found = []
    for line in results.models:
        ways: dict[str, list[Any]] = {}
        for task in results.tasks:
            cell = task.scores.get(line.model)
            if cell is not None and cell.record:
                ways.setdefault(_way(cell.record), []).append(cell)
        for cells in ways.values():
            cut = [cell.shortened or 0 for cell in cells]
            found.append(
                Loaded(line.model, cells[0].record, len(cells), sum(cut), sum(map(bool, cut)))
            )
    return tuple(found)


def _way(record: Mapping[str, Any]) -> str:
    kept = {name: value for name, value in record.items() if name not in _NOT_THE_MODEL}
    return json.dumps(kept, sort_keys=True, default=str)


def document(ways: Sequence[Loaded]) -> dict[str, list[dict[str, Any]]]:
    """Model id to its records with counts, as plain values."""
    found: dict[str, list[dict[str, Any]]] = {}
    for way in ways:
        extra = {
            "tasks": way.tasks,
            "shortened": way.shortened,
            "tasks_shortened": way.tasks_cut,
        }
        found.setdefault(way.model, []).append({**way.record, **extra})
    return found


def sentences(ways: Sequence[Loaded]) -> Iterable[str]:
    """The remarks under a table: a warning per mixed model, then one paragraph per way."""
    yield from cautions(ways)
    for way in ways:
        yield sentence(way)


def cautions(ways: Sequence[Loaded]) -> Iterable[str]:
    """A warning for each model whose tasks were computed in several ways."""
    models = [way.model for way in ways]
    for model in dict.fromkeys(models):
        if models.count(model) > 1:
            yield (
                f"Caution: the tasks of {model} were computed in {models.count(model)} ways "
                "(settings, weights or libraries differ), so its means mix them. Run all its tasks "
                "again in one way."
            )


def sentence(way: Loaded) -> str:
    """One way as a paragraph: preset, format, settings by who states them, counts."""
    record = way.record
    preset = record.get("preset", DEFAULT_PRESET)
    parts = [f"{way.model}: {preset} settings, {record.get('dtype')} on {record.get('device')}"]
    for origin, pairs in way.by_origin().items():
        listed = ", ".join(f"{name} {_word(value)}" for name, value in pairs)
        parts.append(f"{ORIGINS.get(origin, origin)}: {listed}")
    if record.get("end_of_text"):
        parts.append(str(record["end_of_text"]).rstrip("."))
    if record.get("adapter_tensors") is not None:
        parts.append(f"{record['adapter_tensors']} adapter tensors merged")
    if way.shortened:
        parts.append(f"{way.shortened} texts cut to its length, in {way.tasks_cut} tasks")
    return "; ".join(parts) + "."


def _word(value: Any) -> str:
    return repr(value) if isinstance(value, str) and (" " in value or not value) else str(value)
