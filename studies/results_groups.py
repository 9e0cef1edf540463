"""Scores by region of the body and form, and by the length of what is to be found.

Owns which tasks a group holds and how many of them each model has; the means are macro means over
tasks as everywhere. Measures target lengths on the stored positives of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from db.home import Home
from db.runs import query_ranks
from db.session import open_store
from studies.medheb.anatomy import ANATOMY, TEXTS, UNKNOWN, Group, load_groups
from studies.medheb.lengths import Length, measure
from studies.medheb.pools import UNKNOWN_POOL
from studies.medheb.scores import Score, chance_score, macro_score
from studies.medheb.tasks import FORMS
from studies.results_sections import Section

if TYPE_CHECKING:
    from studies.results import Results, TaskLine

METRIC = "hit@1"


@dataclass(frozen=True)
class GroupScore:
    """A group of tasks under every model.

    Attributes:
        name: of the group.
        tasks: ids of its tasks with a score, by any model.
        of: how many tasks the registry has in it.
        models: model id to its mean over the tasks it has there.
        chance: exact, over ``tasks``; None where there is none.
    """

    name: tuple[str, ...]
    tasks: tuple[str, ...]
    of: int
    models: Mapping[str, Score]
    chance: Score | None


def groups_of(results: Results) -> dict[str, Group]:
    """The group of every task of a run; a table at the data root wins where it is still there."""
    return load_groups((line.task for line in results.tasks), root_of(results))


def root_of(results: Results) -> Path | None:
    """Where the data of a run lie, None if they are not there any more."""
    path = Path(results.root)
    return path if results.root and path.is_dir() else None


def score_group(name: tuple[str, ...], lines: Iterable[TaskLine], results: Results) -> GroupScore:
    """The means of one group."""
    every = tuple(lines)
    have = [line for line in every if line.missing is None]
    models = {}
    for one in results.models:
        counts = {t.task.id: t.scores[one.model].ranks for t in have if one.model in t.scores}
        if counts:
            models[one.model] = macro_score(counts)
    shares = {line.task.id: line.chance_ranks for line in have if line.pool != UNKNOWN_POOL}
    chance = chance_score(shares, {line.task.id: line.n for line in have}) if shares else None
    return GroupScore(name, tuple(line.task.id for line in have), len(every), models, chance)


def by_anatomy(results: Results) -> tuple[GroupScore, ...]:
    """Every region and form that the registry has, regions in the paper's order."""
    groups = groups_of(results)
    found = []
    for anatomy in (*ANATOMY, UNKNOWN):
        for form in FORMS:
            lines = [
                line
                for line in results.tasks
                if groups[line.task.id].anatomy == anatomy and line.task.form == form
            ]
            if lines:
                found.append(score_group((anatomy, form), lines, results))
    return tuple(found)


def by_target(results: Results) -> tuple[GroupScore, ...]:
    """Tasks whose targets are texts, by the kind of text."""
    groups = groups_of(results)
    found = []
    for kind in TEXTS:
        lines = [line for line in results.tasks if groups[line.task.id].target == kind]
        if lines:
            found.append(score_group((kind,), lines, results))
    return tuple(found)


def load_lengths(home: Home, results: Results) -> dict[str, Length]:
    """Mean length of the positives of every task whose targets are texts, measured on the run."""
    groups = groups_of(results)
    found = {}
    with open_store(home) as store:
        for line in results.tasks:
            if groups[line.task.id].target not in TEXTS or not line.scores:
                continue
            fullest = max(line.scores.values(), key=lambda cell: cell.n)
            golds = (gold for _, _, gold in query_ranks(store, fullest.result_id))
            length = measure(golds)
            if length is not None:
                found[line.task.id] = length
    return found


def anatomy_section(results: Results) -> Section:
    """The table by region and form."""
    groups = by_anatomy(results)
    models = [line.model for line in results.models]
    rows = [
        (f"{ANATOMY.get(g.name[0], g.name[0])}, {g.name[1]}", *_cells(g, models)) for g in groups
    ]
    return Section(
        name="anatomy",
        title="Hit@1 (%) by region of the body and form of evidence",
        head=("region, form", "tasks", "chance", *models),
        rows=tuple(rows),
        notes=(_PARTLY,) if _partly(groups) else (),
        document={"groups": [_document(g, ("anatomy", "form")) for g in groups]},
    )


_PARTLY = "k/n behind a score: it is a mean over k of the n tasks of its row that were scored."


def _partly(groups: Sequence[GroupScore]) -> bool:
    return any(score.tasks < len(g.tasks) for g in groups for score in g.models.values())


def target_section(results: Results, lengths: Mapping[str, Length]) -> Section:
    """The table by what is to be found, with the measured lengths."""
    groups = by_target(results)
    models = [line.model for line in results.models]
    rows = []
    for group in groups:
        words = _mean(lengths[t].words for t in group.tasks if t in lengths)
        cells = _cells(group, models)
        rows.append((group.name[0], cells[0], "" if words is None else f"{words:.1f}", *cells[1:]))
    found = {line.task.id: line for line in results.tasks if line.task.id in lengths}
    ordered = sorted(found, key=lambda task: lengths[task].words)
    return Section(
        name="targets",
        title="Hit@1 (%) by length of the target, for tasks whose targets are texts",
        head=("target", "tasks", "words", "chance", *models),
        rows=tuple(rows),
        notes=(
            "Words: mean over tasks of the mean number of words of the positives, as measured "
            "in this run.",
            *((_PARTLY,) if _partly(groups) else ()),
        ),
        document={
            "groups": [_document(group, ("target",)) for group in groups],
            "tasks": [_length_document(found[task], lengths[task]) for task in ordered],
        },
    )


def _mean(values: Iterable[float]) -> float | None:
    found = tuple(values)
    return sum(found) / len(found) if found else None


def _cells(group: GroupScore, models: Sequence[str]) -> tuple[str, ...]:
    have = len(group.tasks)
    count = str(group.of) if have == group.of else f"{have}/{group.of}"
    chance = "" if group.chance is None else f"{group.chance.values[METRIC]:.1f}"
    return (count, chance, *(_cell(group.models.get(model), have) for model in models))


def _cell(score: Score | None, have: int) -> str:
    if score is None:
        return ""
    value = f"{score.values[METRIC]:.1f}"
    return value if score.tasks == have else f"{value} {score.tasks}/{have}"


def _document(group: GroupScore, names: tuple[str, ...]) -> dict[str, Any]:
    return {
        **dict(zip(names, group.name, strict=True)),
        "of": group.of,
        "tasks": list(group.tasks),
        "chance": None if group.chance is None else group.chance.document(),
        "models": {model: score.document() for model, score in group.models.items()},
    }


def _length_document(line: TaskLine, length: Length) -> dict[str, Any]:
    return {
        "task": line.task.id,
        "words": round(length.words, 2),
        "characters": round(length.characters, 2),
        "texts": length.texts,
        "distinct": length.distinct,
        "hit@1": {m: round(cell.score.values[METRIC], 4) for m, cell in line.scores.items()},
    }
