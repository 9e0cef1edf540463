"""Reads the lists of two or more models out of stored benchmark results. Never reaches torch.

Owns the way from results to ``Material``. Refuses to rank: it takes the stored orders.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from db.home import Home
from db.runs import task_results
from db.session import open_store
from engine.catalog import ModelCard, find_card
from engine.control import Control
from engine.weights import MEMO, find_weights, weights_hash
from studies.errors import BadTaskFile, NoRun
from studies.medheb.anatomy import UNKNOWN, Group, load_groups
from studies.medheb.release import data_digest
from studies.medheb.tasks import load_tasks, match_tasks
from studies.places import shipped_models
from studies.preference.key import Arm
from studies.preference.lists import TOP, Comparison, Listed
from studies.preference.wish import LETTERS, Material, check_models
from studies.queries import ModelRanking, RankedQuery, task_queries


def read_material(
    home: Home,
    data: Path,
    models: Sequence[str],
    *,
    tasks: str | None = None,
    control: Control = Control(),
) -> Material:
    """Every query that all models answered, task by task.

    Args:
        home: holds the results.
        data: the data root of the run.
        models: ids, hub ids or folders, the tested one first.
        tasks: take only tasks whose id, release name or family fits one of these patterns.
        control: asked between tasks.

    Returns:
        The comparisons; tasks without any are named with the reason.

    Raises:
        UnknownModel: no such model.
        UnknownTask: a pattern fits no task.
        BadStudy: one model twice, or too few.
        NoRun: no task has results of all models.
    """
    cards = [find_card(name, cards_dir=home.cards) for name in models]
    check_models([card.id for card in cards])
    pairs = list(itertools.combinations(zip(LETTERS, cards, strict=False), 2))
    registry = load_tasks(data)
    chosen = match_tasks(registry, tasks)
    groups = load_groups(chosen, data)
    comparisons: dict[str, tuple[Comparison, ...]] = {}
    missing: dict[str, str] = {}
    control.begin(len(chosen), unit="tasks", phase="Reading results")
    for task in chosen:
        control.check()
        try:
            found = task_queries(home, data, task.id, [card.id for card in cards], TOP)
            where = _anatomy(groups[task.id])
            comparisons[task.id] = tuple(
                _comparison(one, *two, anatomy=where) for one in found for two in pairs
            )
        except (NoRun, BadTaskFile) as error:
            missing[task.id] = str(error)
        control.step()
    if not any(comparisons.values()):
        raise NoRun(
            f"No task of {data} has results of every model. Compute them first: "
            f"triptych bench run --data {data} --models {','.join(card.id for card in cards)}"
        )
    digest = data_digest(data, registry)
    arms = tuple(_arm(home, card, digest) for card in cards)
    return Material(arms, comparisons, missing)


def _comparison(
    one: RankedQuery,
    first: tuple[str, ModelCard],
    second: tuple[str, ModelCard],
    *,
    anatomy: str,
) -> Comparison:
    return Comparison(
        task_id=one.task.id,
        family=one.task.family,
        form=one.task.form,
        split=one.task.split,
        row=one.row,
        query=one.item,
        gold=one.gold.name,
        list_a=_listed(one.rankings[first[1].id]),
        list_b=_listed(one.rankings[second[1].id]),
        first=first[0],
        second=second[0],
        anatomy=anatomy,
        subject=one.group or None,
        rank_a=one.rankings[first[1].id].rank,
        rank_b=one.rankings[second[1].id].rank,
        gold_item=one.gold.item,
    )


def _anatomy(group: Group) -> str:
    return "" if group.anatomy == UNKNOWN else group.anatomy


def _listed(ranking: ModelRanking) -> tuple[Listed, ...]:
    return tuple(
        Listed(candidate.name, candidate.item, candidate.group or None)
        for candidate in ranking.top[:TOP]
    )


def _arm(home: Home, card: ModelCard, digest: str) -> Arm:
    with open_store(home) as store:
        rows = task_results(store, digest, model_id=card.id)
    fingerprints = sorted({row.fingerprint for row in rows})
    return Arm(
        model_id=card.id,
        title=card.title,
        revision=card.revision or "",
        weights=weights_of(home, card),
        fingerprint=",".join(fingerprints),
    )


def weights_of(home: Home, card: ModelCard) -> str:
    """The hash of the weights on this machine; "" where there are none (they were removed)."""
    place = find_weights(card, weights_dir=home.weights, shipped_dir=shipped_models())
    if place is None:
        return ""
    return weights_hash(place.folder, memo=home.weights / MEMO, family=card.family)
