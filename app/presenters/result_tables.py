"""Results as the page's tables, heat map and query lists. Plain functions, no Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.shown import (
    HeatShown,
    QueryDetail,
    QueryShown,
    RankedShown,
    ScoreRow,
    ScoreShown,
    ScoreTable,
)
from db.runs import QueryRow
from engine.evidence.item import ImageRef, Item, VolumeRef
from studies.medheb.scores import Score
from studies.medheb.tasks import FAMILIES, load_tasks
from studies.queries import RankedQuery
from studies.results import ModelLine, Results, TaskLine, TaskScore

SPLITS = ("ID", "Held-out", "All")
METRIC_WORDS = {"hit@1": "Hit@1", "hit@5": "Hit@5", "mrr@5": "MRR@5"}


def score_shown(score: Score | None, metric: str, chance: Score | None) -> ScoreShown | None:
    """One score of a table under a metric; None where there is no task."""
    if score is None or metric not in score.values:
        return None
    level = None if chance is None else chance.values.get(metric)
    return ScoreShown(score.values[metric], score.interval.get(metric), score.tasks, level)


def table_of(
    results: Results, columns: Sequence[str], metric: str, titles: Mapping[str, str], *, paper: bool
) -> ScoreTable:
    """Chance, then every model, then the paper's where asked for."""
    heads = tuple(_head(results, column) for column in columns)
    rows = [_line(results.chance, columns, metric, results, key="", title="Chance")]
    rows += [
        _line(
            model,
            columns,
            metric,
            results,
            key=model.model,
            title=titles.get(model.model, model.model),
        )
        for model in results.models
    ]
    if paper:
        rows += _printed(results, columns, metric)
    return ScoreTable(heads, tuple(rows))


def _head(results: Results, column: str) -> str:
    have = results.chance.columns[column].tasks if column in results.chance.columns else 0
    of = results.of.get(column, have)
    return f"{column} ({have})" if have == of else f"{column} ({have}/{of})"


def _line(
    model: ModelLine, columns: Sequence[str], metric: str, results: Results, *, key: str, title: str
) -> ScoreRow:
    scores = tuple(
        score_shown(model.columns.get(column), metric, results.chance.columns.get(column))
        for column in columns
    )
    return ScoreRow(key, title, scores)


def _printed(results: Results, columns: Sequence[str], metric: str) -> list[ScoreRow]:
    comparison = results.paper()
    twins = {name: ours for ours, name in comparison.same_as.items()}
    rows = []
    for name, numbers in comparison.rows.items():
        values = [numbers.get(column, {}).get(metric) for column in columns]
        shown = tuple(None if value is None else ScoreShown(value) for value in values)
        twin = f" = {twins[name]}" if name in twins else ""
        rows.append(ScoreRow(f"paper {name}", f"{name}{twin} (paper)", shown, printed=True))
    return rows


def marks_of(results: Results) -> str:
    """Which columns may not be compared with the paper, and why."""
    marks = results.paper().marks
    if not marks:
        return ""
    if not {task.id for task in load_tasks()} & {line.task.id for line in results.tasks}:
        return "No task of this data is one of the paper's; its rows are no comparison."
    reasons: dict[str, list[str]] = {}
    for column, why in marks.items():
        reasons.setdefault(why, []).append(column)
    told = [f"{', '.join(names)}: {why}" for why, names in reasons.items()]
    return "Not comparable with the paper. " + "; ".join(told) + "."


def consistency_of(results: Results) -> list[tuple[str, str]]:
    """(model, CV of Hit@1 across the families); empty words where a family is missing."""
    return [
        (model.model, "–" if model.cv is None else f"{model.cv:.3f}") for model in results.models
    ]


def scored(results: Results, order: str = "family") -> list[TaskLine]:
    """Tasks with a score: family by family, or the hardest first."""
    lines = [line for line in results.tasks if line.missing is None]
    if order == "difficulty":
        return sorted(lines, key=lambda line: (_ease(line), line.task.id))
    return sorted(lines, key=lambda line: FAMILIES.index(line.task.family))


def _ease(line: TaskLine) -> float:
    """Mean Hit@1 over the models, the random floor left out where another ran."""
    hits = {model: cell.score.values["hit@1"] for model, cell in line.scores.items()}
    real = [hit for model, hit in hits.items() if not model.startswith("random")]
    return sum(real or hits.values()) / len(real or hits)


def heat_of(
    results: Results, metric: str, titles: Mapping[str, str], order: str = "family"
) -> HeatShown:
    """The heat map under a metric and an order of tasks."""
    lines = scored(results, order)
    models = [model.model for model in results.models]
    cells = tuple(
        tuple(
            line.scores[model].score.values[metric] if model in line.scores else None
            for model in models
        )
        for line in lines
    )
    return HeatShown(
        tasks=tuple(line.task.id for line in lines),
        groups=tuple(line.task.family for line in lines),
        models=tuple(titles.get(model, model) for model in models), cells=cells,
        chance=tuple(line.chance[metric] for line in lines),
        words=tuple(
            tuple(_told(line, model, metric, titles) for model in models) for line in lines
        ),
    )  # fmt: skip


def _told(line: TaskLine, model: str, metric: str, titles: Mapping[str, str]) -> str:
    """A cell of the heat map as one sentence."""
    named = f"{line.task.id} ({line.task.family}) · {titles.get(model, model)}: "
    cell = line.scores.get(model)
    if cell is None:
        return f"{named}not computed"
    low, high = cell.score.interval[metric]
    return (
        f"{named}{METRIC_WORDS[metric]} {cell.score.values[metric]:.1f} % ({low:.1f}–{high:.1f}), "
        f"n = {cell.n:,}, chance {cell.chance[metric]:.1f} %"
    )


def note_of(results: Results) -> str:
    """One line about what the numbers are."""
    done = len(results.tasks) - len(results.missing)
    of = f" of {len(results.tasks)}" if results.missing else ""
    return f"{done}{of} tasks, {len(results.models)} models"


def cell_words(line: TaskLine, cell: TaskScore, metric: str) -> str:
    """A cell in words: score with interval, chance, pool, what was not scored."""
    low, high = cell.score.interval[metric]
    told = (
        f"{cell.n} queries · {METRIC_WORDS[metric]} {cell.score.values[metric]:.1f} % "
        f"({low:.1f}–{high:.1f}) · chance {cell.chance[metric]:.1f} % · pool {line.pool}"
    )
    if cell.ties:
        told += f" · {cell.ties} ties, counted against"
    if cell.failed:
        first = f": row {cell.failures[0][0]}, {cell.failures[0][1]}" if cell.failures else ""
        told += f" · {cell.failed} not scored{first}"
    return told


# -- queries


def item_words(item: Item) -> str:
    """What an item asks or shows, in one line."""
    if item.text and (text := " ".join(item.text.replace("<image>", " ").split())):
        return text
    places = [ref.path for ref in item.images] + [ref.paths[0] for ref in item.volumes]
    if not places:
        return "(empty)"
    name = places[0].parent.name if item.volumes else places[0].name
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{name}{more}"


def item_picture(item: Item) -> ImageRef | VolumeRef | None:
    """The reference whose thumbnail stands for an item."""
    return item.images[0] if item.images else item.volumes[0] if item.volumes else None


def query_shown(query: RankedQuery, model: str, beside: str = "") -> QueryShown:
    """A query in the list, also with its rank under a second model."""
    ranking = query.rankings[model]
    top = ranking.top[0] if ranking.top else None
    return QueryShown(
        str(query.row),
        item_words(query.item),
        ranking.rank,
        query.pool,
        item_words(top.item) if top else "",
        top.score if top else None,
        query.rankings[beside].rank if beside else None,
    )


def stored_query(row: QueryRow, rank_b: int | None = None) -> QueryShown:
    """A query when only its stored ranking is there."""
    first = row.ordered[0] if row.ordered else ""
    return QueryShown(str(row.row), f"gold: {row.gold}", row.rank, row.pool, first, rank_b=rank_b)


def stored_queries(rows: Sequence[QueryRow], beside: Sequence[QueryRow] | None) -> list[QueryShown]:
    """Stored rankings of one model, or those queries that a second one ranked too."""
    if beside is None:
        return [stored_query(row) for row in rows]
    ranks = {row.row: row.rank for row in beside}
    return [stored_query(row, ranks[row.row]) for row in rows if row.row in ranks]


def ordered(queries: Sequence[QueryShown], *, failures_first: bool) -> list[QueryShown]:
    """Worst rank first, or by row."""
    if failures_first:
        return sorted(queries, key=lambda query: (-query.rank, int(query.key)))
    return sorted(queries, key=lambda query: int(query.key))


def query_detail(
    query: RankedQuery, models: Sequence[str], titles: Mapping[str, str]
) -> QueryDetail:
    """A query opened under one or two models; picture keys are ``q`` for the query, ``c<place>``
    and ``d<place>`` for the candidates of the first and the second.
    """
    first, second = models[0], models[1] if len(models) > 1 else ""
    ranking = query.rankings[first]
    text = " ".join((query.item.text or "").replace("<image>", " ").split())
    return QueryDetail(
        title=f"Row {query.row} · the right one is at rank {ranking.rank} of {query.pool}"
        + (f" and at rank {query.rankings[second].rank}" if second else ""),
        instruction=query.item.instruction or "", text=text,
        picture="q" if item_picture(query.item) else "", rank=ranking.rank, pool=query.pool,
        candidates=_ranked(query, first, "c"),
        model=f"{titles[first]} · rank {ranking.rank}" if second else "",
        model_b=f"{titles[second]} · rank {query.rankings[second].rank}" if second else "",
        candidates_b=_ranked(query, second, "d") if second else (),
    )  # fmt: skip


def _ranked(query: RankedQuery, model: str, letter: str) -> tuple[RankedShown, ...]:
    return tuple(
        RankedShown(candidate.name, candidate.place, item_words(candidate.item),
                    candidate.name if candidate.item.text else "", candidate.score,
                    f"{letter}{candidate.place}" if item_picture(candidate.item) else "",
                    candidate.is_gold)
        for candidate in query.rankings[model].top)  # fmt: skip
