"""What a study is asked to be and what it may be drawn from: plain frozen values, checked.

Refuses a title or a plan that names a model, an empty passphrase, and a model against itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from studies.errors import BadStudy, WrongPassphrase
from studies.preference.key import Arm
from studies.preference.lists import Comparison
from studies.preference.planned import check_models_planned, frozen_plan
from studies.preference.planner import StudyPlan
from studies.preference.protocol import Protocol, check_protocol

LETTERS = "ABCDEFGHIJKLMNOP"
MOST_MODELS = 6
Pair = tuple[str, str]


@dataclass(frozen=True)
class Material:
    """What a study may be drawn from.

    Attributes:
        arms: model A, model B and so on; A is the tested one.
        comparisons: task id to all its comparisons; with more than two models one for each pair
            of models and each query.
        missing: task id to why it has none.
        notes: what else a coordinator should know.
    """

    arms: tuple[Arm, ...]
    comparisons: Mapping[str, tuple[Comparison, ...]]
    missing: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wish:
    """What the coordinator asks for.

    Attributes:
        title: shown to raters; names no model.
        total: items wanted.
        seed: of the sample.
        passphrase: seals the key; kept nowhere.
        protocol: how it is read.
        tasks: patterns that the tasks were chosen by (``*/i2i,notes/*``), None for all.
        planned: how large it was planned and why; None where nobody planned.
    """

    title: str
    total: int
    seed: int
    passphrase: str
    protocol: Protocol = field(default_factory=Protocol)
    tasks: str | None = None
    planned: StudyPlan | None = None


@dataclass(frozen=True)
class Search:
    """How a collection is searched for a study without gold answers.

    Attributes:
        queries: ids of the collection's objects to ask about; none means all of it.
        other_patients: nothing of the query's own patient or study is listed.
        device: where the models run.
        dtype: number format of the models.
    """

    queries: Sequence[int] = ()
    other_patients: bool = False
    device: str = "auto"
    dtype: str = "auto"


def check_wish(wish: Wish) -> None:
    """Refuse what cannot become a study, before anything is read."""
    check_protocol(wish.protocol)
    if wish.seed < 0:
        raise BadStudy(f"The seed must be 0 or more, not {wish.seed}; choose another.")
    if wish.total < 1:
        raise BadStudy("A study needs at least one item; give a larger total.")
    if not wish.title:
        raise BadStudy("A study needs a title; it is shown to raters and names no model.")
    if not wish.passphrase.strip():
        raise WrongPassphrase("A study needs a passphrase that is not empty; choose one.")


def check_arms(wish: Wish, material: Material) -> None:
    """Refuse one model twice, too few or too many, and a title or a plan that tells a model."""
    check_models([arm.model_id for arm in material.arms])
    check_models_planned(wish.planned, len(material.arms))
    planned = "" if wish.planned is None else str(frozen_plan(wish.planned)).casefold()
    for arm in material.arms:
        check_title(wish.title, arm.model_id, arm.title)
        for name in (arm.model_id, arm.title):
            if len(name) >= 4 and name.casefold() in planned:
                raise BadStudy(
                    f"The plan holds {name!r} and would tell raters a model. Build without the "
                    "plan, or give the model another name."
                )


def check_title(title: str, model_id: str, model_title: str) -> None:
    """Refuse a title that tells a model.

    Raises:
        BadStudy: says which name it holds.
    """
    for name in (model_id, model_title, model_id.split("-")[0]):
        if len(name) >= 4 and name.casefold() in title.casefold():
            raise BadStudy(
                f"The title {title!r} holds {name!r} and would tell raters a model. "
                "Choose one that names none."
            )


def check_models(ids: Sequence[str]) -> None:
    """Refuse a number of models that makes no study, and one model twice."""
    twice = next((name for name in ids if list(ids).count(name) > 1), None)
    if twice is not None:
        raise BadStudy(f"{twice} cannot be compared with itself; choose different models.")
    if not 2 <= len(ids) <= MOST_MODELS:
        raise BadStudy(f"A study compares 2 to {MOST_MODELS} models, not {len(ids)}; choose them.")


def pairs_of(arms: Sequence[object]) -> tuple[Pair, ...]:
    """Every pair of letters, the earlier one first."""
    return tuple(itertools.combinations(LETTERS[: len(arms)], 2))
