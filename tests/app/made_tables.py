"""Made-up tables of unblinded studies for the Statistics page: large, small, odd."""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.preference.analysis.tables import (
    Guess,
    ItemFacts,
    Presented,
    RaterFacts,
    StudyTables,
)
from studies.preference.lists import difficulty_of

FAMILIES = ("I-I", "MB-VR", "I-Lab", "I-Rep", "T-I", "VQA", "VG", "T-T")
FORMS = ("2d", "2d", "3d", "text")
ANATOMY = ("chest", "abdomen", "head", "")
STRATA = ("both", "only_a", "only_b", "neither", "only_a", "both", "only_a")  # unequal
OVERLAPS = ("none", "some", "some", "same_set")
NAMES = {"A": "MedEmb 2B", "B": "SigLIP so400m", "C": "BiomedCLIP"}
FACTS = {
    "unblinded_utc": "2026-11-30T12:00:00+00:00",
    "reason": "All readers have finished.",
    "missing": ["Open-i/report"],
    "identical": "auto-tie",
}


def item(n: int, *, pair: tuple[str, str], tasks: int, gold: bool, kind: str) -> ItemFacts:
    stratum = STRATA[(n * 5 + n // 5) % 7] if gold else "unknown"
    task = n % tasks
    places = {"both": (1, 1), "only_a": (1, 3), "only_b": (2, 1), "neither": (None, 2)}
    first, second = places.get(stratum, (None, None))
    return ItemFacts(
        item_id=f"i{n:04}",
        kind=kind,
        first=pair[0],
        second=pair[1],
        left="" if kind == "auto_tie" else pair[n % 2],
        task_id=f"{FAMILIES[task % 8]}/task-{task:03}",
        family=FAMILIES[task % 8],
        form=FORMS[task % 4],
        split="id" if task % 3 else "held-out",
        stratum="both" if kind == "auto_tie" and gold else stratum,
        anatomy=ANATOMY[task % 4],
        row=n,
        gold_place_first=first,
        gold_place_second=second,
        overlap="identical" if kind == "auto_tie" else OVERLAPS[n % 4],
        **(recorded(n, form=FORMS[task % 4], gold=gold) if kind == "item" else {}),
    )


def recorded(n: int, *, form: str, gold: bool) -> dict[str, Any]:
    """What is counted when a study is built."""
    ranks = (1 + n * 7 % 13, 1 + n * 5 % 23)
    return {
        "words_first": 20.0 + n * 11 % 70 if form != "2d" else 0.0,
        "words_second": 20.0 + n * 17 % 70 if form != "2d" else 0.0,
        "near_query": ("none", "first", "second", "none", "both")[n % 5],
        "same_patient": ("unknown", "none", "first", "second")[n % 4],
        "gold_rank_first": ranks[0] if gold else None,
        "gold_rank_second": ranks[1] if gold else None,
        "difficulty": difficulty_of(*ranks) if gold else "",
    }


def presented(
    one: ItemFacts,
    rater: str,
    position: int | None,
    answer: str,
    *,
    kind: str,
    left: str,
    **more: int,
) -> Presented:
    right = one.second if left == one.first else one.first
    word = answer
    if answer in ("left", "right"):
        word = "first" if (left if answer == "left" else right) == one.first else "second"
    return Presented(
        rater, position, one.item_id, kind, left, answer, word,
        first_preferred=("both" if more.get("revisions") else word),
        reason="pictures do not load" if answer == "cannot" else "",
        revisions=more.get("revisions", 0), confidence=more.get("confidence"),
        usefulness={"left1": 2, "right1": 1} if more.get("useful") else {},
        answered_utc="2026-11-30T09:15:00+00:00", answer_ms=more.get("ms"),
    )  # fmt: skip


def made(
    items: int = 60,
    *,
    tasks: int = 12,
    raters: tuple[str, ...] = ("AB",),
    models: int = 2,
    auto: int = 4,
    gold: bool = True,
    repeats: float = 0.1,
    guesses: int = 10,
    only: str = "",
    seed: int = 3,
    useful: bool = True,
) -> StudyTables:
    """A study that was read by somebody who prefers A, a little more on the left.

    Args:
        only: every answer is this one; empty draws them.
    """
    random = np.random.default_rng(seed)
    letters = tuple(NAMES)[:models]
    pairs = [(a, b) for n, a in enumerate(letters) for b in letters[n + 1 :]]
    facts = [
        item(n, pair=pairs[n % len(pairs)], tasks=tasks, gold=gold,
             kind="auto_tie" if n >= items else "item")
        for n in range(items + auto)
    ]  # fmt: skip
    rows: list[Presented] = []
    for rater in raters:
        rows += _read(facts[:items], rater, random, only=only, repeats=repeats, useful=useful)
    rows += [
        Presented(rater, None, one.item_id, "auto_tie", "", "tie", "auto_tie", "auto_tie")
        for rater in raters
        for one in facts[items:]
    ]
    told = tuple(
        Guess(rater, one.item_id, one.left, str(random.choice(["left", "right", "unsure"])))
        for rater in raters
        for one in facts[:items][:guesses]
    )
    return StudyTables(
        "s-0815", "Chest 2026", "ab" * 32, {x: NAMES[x] for x in letters}, tuple(facts),
        tuple(rows), told, tuple(RaterFacts(name, "radiology", 9) for name in raters), 5, FACTS,
    )  # fmt: skip


def _read(
    facts: list[ItemFacts],
    rater: str,
    random: np.random.Generator,
    *,
    only: str,
    repeats: float,
    useful: bool,
) -> list[Presented]:
    order = [*random.permutation(len(facts))]
    again = order[: round(repeats * len(facts))]
    places = [(facts[n], "item") for n in order] + [(facts[n], "repeat") for n in again]
    rows = []
    for position, (one, kind) in enumerate(places, start=1):
        swapped = kind == "repeat"
        other = one.second if one.left == one.first else one.first
        left = other if swapped else one.left
        liking = (
            0.36
            + 0.10 * (left == one.first)
            + 0.08 * (one.stratum == "only_a") * (left == one.first)
        )
        chances = np.array([liking, 0.66 - liking, 0.2, 0.12, 0.02])
        answer = only or str(
            random.choice(["left", "right", "both", "neither", "cannot"], p=chances / chances.sum())
        )
        slow = 0.3 if one.form == "3d" else 0.0
        rows.append(
            presented(
                one, rater, position, answer, kind=kind, left=left,
                revisions=int(position % 17 == 0), confidence=1 + position % 3,
                useful=int(useful), ms=int(random.lognormal(9.4 + slow, 0.4)),
            )
        )  # fmt: skip
    return rows
