"""What a study is asked to be and what it may be drawn from: plain frozen values, checked.

Refuses a title that names a model, an empty passphrase, and a model against itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from studies.errors import BadStudy, WrongPassphrase
from studies.preference.key import Arm
from studies.preference.lists import Comparison

IDENTICAL = ("auto-tie", "show", "exclude")


@dataclass(frozen=True)
class Material:
    """What a study may be drawn from.

    Attributes:
        arms: model A and model B.
        comparisons: task id to all its queries.
        missing: task id to why it has none.
    """

    arms: tuple[Arm, Arm]
    comparisons: Mapping[str, tuple[Comparison, ...]]
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wish:
    """What the coordinator asks for.

    Attributes:
        title: shown to raters; names no model.
        total: items wanted.
        seed: of the sample.
        passphrase: seals the key; kept nowhere.
        identical: what becomes of identical lists, one of ``IDENTICAL``.
    """

    title: str
    total: int
    seed: int
    passphrase: str
    identical: str = "auto-tie"


def check_wish(wish: Wish) -> None:
    """Refuse what cannot become a study, before anything is read."""
    if wish.identical not in IDENTICAL:
        raise BadStudy(f"Identical lists can be {', '.join(IDENTICAL)}, not {wish.identical!r}.")
    if wish.seed < 0:
        raise BadStudy(f"The seed must be 0 or more, not {wish.seed}; choose another.")
    if wish.total < 1:
        raise BadStudy("A study needs at least one item; give a larger total.")
    if not wish.title:
        raise BadStudy("A study needs a title; it is shown to raters and names no model.")
    if not wish.passphrase.strip():
        raise WrongPassphrase("A study needs a passphrase that is not empty; choose one.")


def check_arms(wish: Wish, material: Material) -> None:
    """Refuse one model twice, and a title that tells a model."""
    first, second = material.arms
    if first.model_id == second.model_id:
        raise BadStudy(f"{first.model_id} cannot be compared with itself; choose two models.")
    for arm in material.arms:
        for name in (arm.model_id, arm.title, arm.model_id.split("-")[0]):
            if len(name) >= 4 and name.casefold() in wish.title.casefold():
                raise BadStudy(
                    f"The title {wish.title!r} holds {name!r} and would tell raters a model. "
                    "Choose one that names none."
                )
