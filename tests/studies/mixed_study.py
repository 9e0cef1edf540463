"""Studies whose answers follow the mixed ordinal model, and its likelihood by another hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from studies.preference.analysis.rated import Rated, rated
from studies.preference.analysis.readers import Reader
from studies.preference.analysis.simulate import World, simulated
from studies.preference.analysis.tables import Presented, StudyTables
from studies.preference.kit.extras import Extras
from studies.preference.kit.tabular import csv_files

Array = NDArray[np.float64]
TRUE = {"first over second": 0.5, "left side": 0.4, "half width of the tie": 0.6}
SDS = {"item": 0.8, "task": 0.6, "rater": 0.5}


def mixed_study(
    *, raters: int, items: int, tasks: int, seed: int, sds: Mapping[str, float] = SDS
) -> StudyTables:
    """A study of one form without gold, so that only the model of all is fitted."""
    world = World(items=items, tasks=tasks, strata={"unknown": 1.0}, guess_items=0)
    tables = simulated(world, [Reader(f"R{n + 1}") for n in range(raters)], seed)
    rng = np.random.default_rng(seed)
    effects: dict[tuple[str, str], float] = {}
    facts = {one.item_id: one for one in tables.items}

    def effect(kind: str, name: str) -> float:
        return effects.setdefault((kind, name), float(sds[kind] * rng.standard_normal()))

    def answered(row: Presented) -> Presented:
        item = facts[row.item_id]
        side = 0.5 if row.left == item.first else -0.5
        worth = TRUE["first over second"] + TRUE["left side"] * side + rng.logistic()
        worth += effect("item", row.item_id) + effect("task", item.task_id)
        worth += effect("rater", row.rater)
        width = TRUE["half width of the tie"]
        word = "first" if worth > width else "second" if worth < -width else "both"
        on_left = (word == "first") == (row.left == item.first)
        said = "both" if word == "both" else "left" if on_left else "right"
        return replace(row, answer=said, preferred=word, first_preferred=word)

    items_of = tuple(replace(one, form="2d") for one in tables.items)
    return replace(tables, items=items_of, presented=tuple(map(answered, tables.presented)))


def write_csv(tables: StudyTables, folder: Path) -> Path:
    """The CSV files of a kit."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in csv_files(tables, Extras(), {}, draws=10, rater=None).items():
        (folder / name).write_text(text, "utf-8")
    return folder


def design(rows: Sequence[Rated], terms: Sequence[str]) -> tuple[Array, Array, Array, Array]:
    """Answers 0 to 2 [N], sides [N], random effects acting on each row [N, Q], their term [Q]."""
    word = {"second": 0, "tie": 1, "first": 2}
    answer = np.array([word[one.word] for one in rows])
    side = np.array([0.5 if one.row.left == one.item.first else -0.5 for one in rows])
    names = {
        "item": [one.item.item_id for one in rows],
        "task": [one.item.task_id for one in rows],
        "rater": [one.row.rater for one in rows],
    }
    parts = [np.array(names[t])[:, None] == np.array(sorted(set(names[t])))[None] for t in terms]
    which = np.concatenate([np.full(part.shape[1], n) for n, part in enumerate(parts)])
    return answer, side, np.concatenate(parts, axis=1).astype(float), which


def laplace(tables: StudyTables, cuts: Array, side: float, sds: Mapping[str, float]) -> float:
    """Log likelihood of the cumulative logit model, random effects integrated out after Laplace."""
    answer, sides, acting, which = design(rated(tables), tuple(sds))
    scale = np.array(list(sds.values()))[which]
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    spread = acting * scale  # [N, Q]
    u = np.zeros(spread.shape[1])
    for _ in range(100):
        eta = side * sides + spread @ u
        above, below = expit(edges[answer + 1] - eta), expit(edges[answer] - eta)
        slope = above + below - 1  # of the log chance by eta, since f = F (1 - F)
        bend = above * (1 - above) + below * (1 - below)
        hessian = spread.T @ (bend[:, None] * spread) + np.eye(len(u))
        step = np.linalg.solve(hessian, spread.T @ slope - u)
        u = u + step
        if np.abs(step).max() < 1e-10:
            break
    return float(np.log(above - below).sum() - u @ u / 2 - np.linalg.slogdet(hessian)[1] / 2)
