"""Simulated studies: a world of tasks and items of known truth, read by simulated readers.

Owns the drawing of items and the making of ``StudyTables``; how a reader answers is in
``readers``. For tests of the statistics and for planning. Refuses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from studies.preference.analysis.rated import preferred_of
from studies.preference.analysis.readers import Reader, answers, guessed, times
from studies.preference.analysis.tables import (
    Guess,
    ItemFacts,
    Presented,
    RaterFacts,
    StudyTables,
)
from studies.preference.lists import difficulty_of
from studies.preference.sample import balanced, generator, reading_plan

STRATA: Mapping[str, float] = {"both": 0.35, "only_a": 0.2, "only_b": 0.1, "neither": 0.35}
RIGHT = {"only_a": 1.0, "only_b": -1.0}
FORMS = ("2d", "2d", "2d", "text", "3d")
FAMILIES = ("I-I", "I-T", "T-I", "T-T", "V-V")
ANATOMIES = ("chest", "brain", "abdomen")


@dataclass(frozen=True)
class World:
    """What is true.

    Attributes:
        items: to be read. tasks: they are shared out to, as equally as possible.
        worth: letter to the worth of the model; the first is the tested one.
        right: worth of having the right answer on top where the other has not.
        task_sd: scatter of the difference between tasks.
        item_sd: scatter of the difference between the items of a task.
        strata: name to its chance; ``unknown`` for a study without gold answers.
        auto_ties: identical lists, never shown.
        word_sd: scatter of a list's words within its task, in doublings; two families of five
            have texts as candidates.
    """

    items: int = 530
    tasks: int = 107
    worth: Mapping[str, float] = field(default_factory=lambda: {"A": 0.4, "B": 0.0})
    right: float = 1.2
    task_sd: float = 0.4
    item_sd: float = 0.5
    strata: Mapping[str, float] = field(default_factory=lambda: dict(STRATA))
    auto_ties: int = 0
    word_sd: float = 0.7
    repeat_share: float = 0.10
    repeat_gap: int = 20
    guess_items: int = 10

    def net(self, reader: Reader, first: str = "A", second: str = "B") -> float:
        """The net preference that this reader would show over endless tasks and items.

        Holds for readers that do not tire; a pull to the left cancels only roughly.
        """
        above, below = self.chances(reader, first, second)
        return above - below

    def chances(self, reader: Reader, first: str = "A", second: str = "B") -> tuple[float, float]:
        """How often this reader would prefer the first and the second model; see ``net``."""
        spread = sqrt(self.task_sd**2 + self.item_sd**2 + reader.noise**2)
        lean = reader.lean if first == next(iter(self.worth)) else 0.0
        found = [0.0, 0.0]
        for name, chance in self.strata.items():
            middle = self.worth[first] - self.worth[second] + self.right * RIGHT.get(name, 0.0)
            for pull in (reader.pull + lean, lean - reader.pull):
                above = norm.sf((reader.width - middle - pull) / spread)
                below = norm.cdf((-reader.width - middle - pull) / spread)
                found[0] += chance * float(above) / 2
                found[1] += chance * float(below) / 2
        lot = reader.careless / 4  # answers by lot are of four kinds
        return lot + found[0] * (1 - reader.careless), lot + found[1] * (1 - reader.careless)


@dataclass(frozen=True)
class Drawn:
    """Items with their truth: ``better`` is how much better the first model's list is."""

    facts: tuple[ItemFacts, ...]
    better: Mapping[str, float]


def simulated(world: World, readers: Sequence[Reader], seed: int) -> StudyTables:
    """A whole study, read to its end.

    Args:
        world: what is true.
        readers: each reads every item; two of one name are told apart by a number.
        seed: of everything drawn.
    """
    drawn = draw(world, seed)
    presented: list[Presented] = []
    guesses: list[Guess] = []
    names = []
    for place, reader in enumerate(readers):
        twins = [one.name for one in readers].count(reader.name) > 1
        names.append(f"{reader.name} {place + 1}" if twins else reader.name)
        rng = generator(seed, 1, place)
        presented += _read(drawn, reader, names[-1], world, rng)
        guesses += _guess(drawn, reader, names[-1], world, rng)
    return StudyTables(
        study_id=f"simulated-{seed}",
        title="Simulated study",
        hash="",
        models={letter: f"Model {letter}" for letter in world.worth},
        items=drawn.facts,
        presented=tuple(presented),
        guesses=tuple(guesses),
        raters=tuple(RaterFacts(name, "simulated") for name in names),
        seed=seed,
    )


def draw(world: World, seed: int) -> Drawn:
    """Items, strata, sides balanced within stratum, family and form, and the truth."""
    rng = generator(seed, 0)
    n = world.items + world.auto_ties
    task = np.arange(n) * world.tasks // max(1, n)
    of_task = world.task_sd * rng.standard_normal(world.tasks)
    strata = _strata(world, n, rng)
    pairs = balanced(list(strata), list(combinations(world.worth, 2)), rng)
    cells = [(strata[i], int(task[i]) % len(FAMILIES), pairs[i]) for i in range(world.items)]
    sides = (*balanced(cells, [0, 1], rng), *[0] * world.auto_ties)
    scatter = world.item_sd * rng.standard_normal(n)
    words, rng = _words(world, n, task, generator(seed, 2)), generator(seed, 3)
    facts, better = [], {}
    for i in range(n):
        kind = "item" if i < world.items else "auto_tie"
        stratum = (
            strata[i]
            if kind == "item"
            else {"only_a": "both", "only_b": "neither"}.get(strata[i], strata[i])
        )
        one = _item(i, int(task[i]), kind, pairs[i], sides[i], stratum)
        facts.append(_recorded(one, words[i], rng))
        lead = world.worth[one.first] - world.worth[one.second]
        shift = world.right * RIGHT.get(stratum, 0.0)
        better[one.item_id] = float(lead + shift + of_task[task[i]] + scatter[i])
    return Drawn(tuple(facts), better)


def _words(
    world: World, n: int, task: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Median words of both lists of each item [n, 2]; tasks differ, which says nothing of sides."""
    level = 5 + 0.7 * rng.standard_normal(world.tasks)
    found = 2 ** (level[task][:, None] + world.word_sd * rng.standard_normal((n, 2)))
    return np.maximum(1.0, np.round(found))


def _recorded(one: ItemFacts, words: NDArray[np.float64], rng: np.random.Generator) -> ItemFacts:
    """With the facts that no reader of another habit looks at: words, look-alikes, ranks."""
    near = str(rng.choice(["none", "first", "second", "both"], p=[0.7, 0.13, 0.13, 0.04]))
    ranks = [int(rank) for rank in 1 + rng.geometric(0.1, size=2)]
    if one.stratum in ("both", "only_a"):
        ranks[0] = 1
    if one.stratum in ("both", "only_b"):
        ranks[1] = 1
    known = [None, None] if one.stratum == "unknown" else ranks
    texts = one.family.endswith("-T")
    return replace(
        one,
        words_first=float(words[0]) if texts else 0.0,
        words_second=float(words[1]) if texts else 0.0,
        near_query="" if one.kind == "auto_tie" else near,
        same_patient="" if one.kind == "auto_tie" else "unknown",
        gold_rank_first=known[0],
        gold_rank_second=known[1],
        difficulty=difficulty_of(*known),
    )


def _strata(world: World, n: int, rng: np.random.Generator) -> tuple[str, ...]:
    names = list(world.strata)
    chances = np.array([world.strata[name] for name in names])
    return tuple(names[which] for which in rng.choice(len(names), size=n, p=chances))


def _item(
    number: int, task: int, kind: str, pair: tuple[str, str], side: int, stratum: str
) -> ItemFacts:
    places = {"both": (1, 1), "only_a": (1, 2), "only_b": (2, 1), "neither": (2, 3)}
    gold = places.get(stratum, (None, None))
    auto = kind == "auto_tie"
    return ItemFacts(
        item_id=f"item-{number:05}",
        kind=kind,
        first=pair[0],
        second=pair[1],
        left="" if auto else pair[side],
        task_id=f"task-{task:03}",
        family=FAMILIES[task % len(FAMILIES)],
        form=FORMS[task % len(FORMS)],
        split="held-out" if task % 2 else "id",
        stratum=stratum,
        anatomy=ANATOMIES[task % len(ANATOMIES)],
        row=number,
        gold_place_first=gold[0],
        gold_place_second=gold[0] if auto else gold[1],
        shared=3 if auto else number % 3,
        overlap="identical" if auto else "some" if number % 3 else "none",
    )


def _read(
    drawn: Drawn, reader: Reader, name: str, world: World, rng: np.random.Generator
) -> list[Presented]:
    items = {one.item_id: one for one in drawn.facts}
    shown: dict[str, list[str]] = {}
    for one in drawn.facts:
        if one.kind == "item":
            shown.setdefault(one.form, []).append(one.item_id)
    plan = reading_plan(
        shown,
        warmups=(),
        repeat_share=world.repeat_share,
        repeat_gap=world.repeat_gap,
        rng=rng,
    )
    lefts = [_left(items[item_id], swapped=swapped) for item_id, _, swapped in plan]
    better = np.array(
        [
            (drawn.better[item_id] + _taste(items[item_id], reader, world))
            * (1 if left == items[item_id].first else -1)
            for (item_id, _, _), left in zip(plan, lefts, strict=True)
        ]
    )
    useful = np.array([items[item_id].stratum != "neither" for item_id, _, _ in plan], dtype=bool)
    progress = np.linspace(0, 1, len(plan))
    words, spent = answers(reader, better, useful, progress, rng), times(reader, progress, rng)
    rows = [
        _row(name, place, items[item_id], kind, left, str(word), int(ms))
        for place, ((item_id, kind, _), left, word, ms) in enumerate(
            zip(plan, lefts, words, spent, strict=True), start=1
        )
    ]
    auto = [one.item_id for one in drawn.facts if one.kind == "auto_tie"]
    ties = ("auto_tie", "", "tie", "auto_tie", "auto_tie")
    return rows + [Presented(name, None, item_id, *ties) for item_id in auto if rows]


def _taste(item: ItemFacts, reader: Reader, world: World) -> float:
    """What the reader adds to the first list: for the tested model, and for more words."""
    lean = reader.lean if item.first == next(iter(world.worth)) else 0.0
    return lean + reader.wordy * (item.doublings or 0.0)


def _left(item: ItemFacts, *, swapped: bool) -> str:
    other = item.second if item.left == item.first else item.first
    return other if swapped else item.left


def _row(
    rater: str, place: int, item: ItemFacts, kind: str, left: str, answer: str, spent: int
) -> Presented:
    meant = preferred_of(answer, left, first=item.first, second=item.second)
    return Presented(
        rater=rater,
        position=place,
        item_id=item.item_id,
        kind=kind,
        left=left,
        answer=answer,
        preferred=meant,
        first_preferred=meant,
        session_id="simulated",
        first_action_ms=spent // 3,
        answer_ms=spent,
        idle_ms=0,
    )


def _guess(
    drawn: Drawn, reader: Reader, name: str, world: World, rng: np.random.Generator
) -> list[Guess]:
    tested = next(iter(world.worth))
    asked = [one for one in drawn.facts if one.kind == "item" and tested in (one.first, one.second)]
    chosen = [asked[place] for place in rng.permutation(len(asked))[: world.guess_items]]
    side: NDArray[np.bool_] = np.array([one.left == tested for one in chosen], dtype=bool)
    found = guessed(reader, side, rng)
    return [
        Guess(name, one.item_id, one.left, str(word))
        for one, word in zip(chosen, found, strict=True)
    ]
