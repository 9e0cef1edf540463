"""How a result was computed, as the results page shows it: settings with who states them, counts.

Plain functions over what the runs stored; results from before there were records say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.presenters.model_facts import told
from app.shown import RecordShown, SettingShown
from engine.models.settings import DEFAULT_PRESET, ORIGINS
from studies.results import Results, TaskScore
from studies.results_record import Loaded, loaded

NO_RECORD = "This result was stored before settings were written with it. Run the task again."


def record_of_cell(title: str, cell: TaskScore) -> RecordShown:
    """One task of one model."""
    return _record(title, cell.record, cut_words(cell.shortened), "")


def record_of_model(results: Results, model: str, title: str) -> RecordShown:
    """One model over its tasks; where they were computed in several ways the most common one."""
    ways = [way for way in loaded(results) if way.model == model]
    if not ways:
        return _record(title, {}, "", "")
    way = max(ways, key=lambda one: one.tasks)
    cut = cut_words(way.shortened, f", in {way.tasks_cut} of {way.tasks} tasks")
    return _record(title, way.record, cut, _several(ways, way))


def record_line(shown: RecordShown) -> str:
    """A record in one line, for below a table."""
    facts = dict(shown.facts)
    if not facts:
        return f"{shown.title}: {shown.warning}"
    facts["Texts"] = facts["Texts"][:1].lower() + facts["Texts"][1:]
    kept = [facts[name] for name in ("Numbers", "Attention", "Texts", "Adapter") if name in facts]
    more = f" {shown.warning}" if shown.warning else ""
    return f"{shown.title}: {facts['Preset']} settings, {', '.join(kept)}.{more}"


def _several(ways: list[Loaded], way: Loaded) -> str:
    if len(ways) == 1:
        return ""
    total = sum(one.tasks for one in ways)
    return (
        f"Its tasks were computed in {len(ways)} ways, so its means mix them; shown is the way of "
        f"{way.tasks} of {total} tasks. Run all its tasks again in one way."
    )


def cut_words(shortened: int | None, where: str = "") -> str:
    """How many texts were cut to the model's length."""
    if shortened is None:
        return "Whether texts were cut was not counted"
    if not shortened:
        return "No text was cut"
    return f"{shortened:,} text{'s' if shortened > 1 else ''} cut to its length{where}"


def _record(title: str, record: Mapping[str, Any], cut: str, warning: str) -> RecordShown:
    if not record:
        return RecordShown(title, (), (), NO_RECORD)
    settings = tuple(
        SettingShown(
            str(one["name"]), told(one["value"]), str(one["origin"]),
            tip=f"{one['name']}: {ORIGINS.get(one['origin'], one['origin'])}",
        )
        for one in record.get("settings", ())
    )  # fmt: skip
    return RecordShown(title, tuple(_facts(record, cut)), settings, warning)


def _facts(record: Mapping[str, Any], cut: str) -> list[tuple[str, str]]:
    tensors = record.get("adapter_tensors")
    facts = [
        ("Preset", str(record.get("preset") or DEFAULT_PRESET)),
        ("Numbers", f"{record.get('dtype')} on {record.get('device')}"),
        ("Attention", str(record.get("attention") or "")),
        ("Texts", cut),
        ("End of text", str(record.get("end_of_text") or "")),
        ("Adapter", "" if tensors is None else f"{tensors} tensors merged"),
        ("Revision", str(record.get("revision") or "")),
        ("Weights", " + ".join(part[:16] for part in str(record.get("weights") or "").split("+"))),
        ("Libraries", ", ".join(record.get("libraries", ()))),
    ]
    return [(name, words) for name, words in facts if words]
