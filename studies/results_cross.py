"""Retrieval across two sources beside the paper's Table 6.

Owns finding that task in a run, its findings at the data root, and laying the scores out with and
without the finding that says the least of a disease, support devices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from db.home import Home
from studies.errors import BadTaskFile
from studies.medheb.cross_scores import MEASURES, RULES, SUPPORT, CrossScore, cross_scores
from studies.medheb.cross_source import POOL
from studies.medheb.paper import GENERATED, printed
from studies.medheb.release import TaskData, read_task
from studies.results_graded import predictions_of
from studies.results_groups import root_of
from studies.results_sections import Section

if TYPE_CHECKING:
    from studies.results import Results

COLUMN = "MIMIC-CXR to CheXpert-Plus"
HITS_ALONE = ("hit@1", "hit@5")
OPEN = (
    "The paper states neither its rule nor the length of its lists. Its Hit@5 of 0.90 beside an "
    "NDCG@10 of 0.65 is what lists of about ten and any finding in common give near chance."
)
HITS = {
    "half": "overlap of at least a half",
    "strict": "equal findings",
    "loose": "any finding in common",
}


def cross_section(home: Home, results: Results, *, paper: bool) -> Section | None:
    """The table; None where the run has no such task."""
    line = next((t for t in results.tasks if t.pool == POOL and t.missing is None), None)
    root = root_of(results)
    if line is None or root is None:
        return None
    try:
        data = read_task(line.task, root)
    except BadTaskFile:
        return None
    ranked = predictions_of(home, results.digest, line)
    settings = data.built.settings if data.built is not None else {}
    rule = str(settings.get("hit", "half"))
    every = {name: cross_scores(data, ranked.found, rule=name) for name in RULES}
    bare = cross_scores(data, ranked.found, rule=rule, without=(SUPPORT,))
    theirs = _theirs() if paper else {}
    gaps = {} if results.generated or not paper else _gaps(results, every[rule], theirs)
    rows = _rows(results, every, rule, bare, theirs, gaps)
    if not rows and ranked.lost:
        rows = (("no rankings left", *[""] * 6),)
    return Section(
        name="cross_source",
        title=f"{COLUMN}, relevance by shared findings",
        head=("model", "NDCG@5", "NDCG@10", "Hit@1", "Hit@5", "any@1", "any@5"),
        rows=rows,
        notes=(
            *_notes(data, rule, every[rule]),
            *(f"Left out: {why}" for why in ranked.lost),
            *([f"Caution: {GENERATED}."] if results.generated and paper else ()),
        ),
        document={
            "rule": rule,
            "rules": {name: _scores(found) for name, found in every.items()},
            "without_support_devices": _scores(bare),
            "lost": list(ranked.lost),
            **({"paper": theirs, "differences": gaps} if theirs else {}),
        },
    )


def _rows(
    results: Results,
    every: Mapping[str, Mapping[str, CrossScore]],
    rule: str,
    bare: Mapping[str, CrossScore],
    theirs: Mapping[str, Mapping[str, float]],
    gaps: Mapping[str, Mapping[str, float]],
) -> tuple[tuple[str, ...], ...]:
    """Ours, ours without devices, the paper's, and the differences."""
    order = ["chance", *(m.model for m in results.models)]
    rows = [
        (name, *_cells(every[rule][name]), *_cells(every["loose"][name], HITS_ALONE))
        for name in order
        if name in every[rule]
    ]
    rows += [(f"{name}, no devices", *_cells(bare[name]), "", "") for name in order if name in bare]
    rows += [
        (f"{name} (paper)", *(f"{row[m]:.3f}" for m in MEASURES), "", "")
        for name, row in theirs.items()
    ]
    rows += [
        (f"{name} minus paper", *(f"{gap[m]:+.3f}" for m in MEASURES), "", "")
        for name, gap in gaps.items()
    ]
    return tuple(rows)


def _theirs() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for measure in MEASURES:
        for model, row in printed("table6", measure).items():
            found.setdefault(model, {})[measure] = row[COLUMN]
    return found


def _gaps(
    results: Results, ours: Mapping[str, CrossScore], theirs: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Ours minus the paper's, for models that it printed."""
    twins = results.paper().same_as
    return {
        model: {m: round(ours[model].values[m] - theirs[name][m], 5) for m in MEASURES}
        for model, name in twins.items()
        if model in ours and name in theirs
    }


def _cells(score: CrossScore, measures: tuple[str, ...] = MEASURES) -> tuple[str, ...]:
    return tuple(f"{score.values[measure]:.3f}" for measure in measures)


def _notes(data: TaskData, rule: str, scores: Mapping[str, CrossScore]) -> list[str]:
    found = [f"Hit: {HITS[rule]}; any: {HITS['loose']}. {OPEN}"]
    if "chance" in scores:
        one = scores["chance"]
        found.append(f"{one.queries} queries, lists of {one.pool:.1f} candidates on average.")
    if data.built is not None:
        found += data.built.notes
    return found


def _scores(found: Mapping[str, CrossScore]) -> dict[str, Any]:
    return {
        model: {
            **{name: round(value, 5) for name, value in score.values.items()},
            "interval": {n: [round(end, 5) for end in span] for n, span in score.interval.items()},
            "queries": score.queries,
            "pool": score.pool,
        }
        for model, score in found.items()
    }
