"""Made-up tables of studies for the tests of the kit: every kind of row, every kind of answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from studies.preference.analysis.rated import preferred_of
from studies.preference.analysis.tables import (
    Guess,
    ItemFacts,
    Presented,
    RaterFacts,
    StudyTables,
)
from studies.preference.kit.columns import PLACES
from studies.preference.lists import difficulty_of

ANSWERS = ("left", "right", "both", "neither", "cannot", "")
FAMILIES = (("I-I", "2d"), ("MB-VR", "3d"), ("T-T", "text"), ("I-Rep", "2d"))
STRATA = ("both", "only_a", "only_b", "neither")


def made(
    *,
    items: int = 90,
    models: int = 2,
    raters: int = 1,
    gold: str = "yes",
    seed: int = 5,
    ties: int = 4,
    known: str = "yes",
) -> StudyTables:
    """A study of ``items`` items over 14 tasks, read with repeats, guesses and some gaps.

    Args:
        known: ``no`` leaves out what earlier versions did not record.
    """
    rng = np.random.default_rng(seed)
    letters = "ABCDEFG"[:models]
    names = ["Reader X", 'Reader "\u00dc", Y', "Reader Z"][:raters]
    facts = [_recorded(_item(rng, n, letters, gold), n, known) for n in range(items)]
    auto = [_item(rng, items + place, letters, gold, kind="auto_tie") for place in range(ties)]
    warm = [_item(rng, items + ties, letters, gold, kind="warmup")]
    presented: list[Presented] = []
    guesses: list[Guess] = []
    for shift, name in enumerate(names):
        presented += _read(rng, name, shift, facts, warm)
        guesses += [_guess(rng, name, one) for one in facts[:12]]
    presented += [
        Presented(name, None, one.item_id, "auto_tie", "", "tie", "auto_tie", "auto_tie")
        for name in names
        for one in auto
    ]
    return StudyTables(
        study_id="study-1",
        title="Chest & neck, 50 % _2026_",
        hash="0123456789abcdef" * 4,
        models={letter: f"Model {letter}_1" for letter in letters},
        items=tuple(facts + auto + warm),
        presented=tuple(presented),
        guesses=tuple(guesses),
        raters=tuple(RaterFacts(name, "radiology", 7, "CT, MR", "calibrated") for name in names),
        seed=20261130 * 10**12 + 7,
        facts={"software": "0.1.0", "tasks": {"source/t0": 5}, "missing": ["source/gone"]},
    )


def _item(
    rng: np.random.Generator, place: int, letters: str, gold: str, *, kind: str = "item"
) -> ItemFacts:
    pairs = [(a, b) for n, a in enumerate(letters) for b in letters[n + 1 :]]
    first, second = pairs[place % len(pairs)]
    family, form = FAMILIES[place % 14 % len(FAMILIES)]
    stratum = STRATA[int(rng.integers(4))] if gold == "yes" else "unknown"
    right = {"both": (1, 1), "only_a": (1, 2), "only_b": (3, 1)}.get(stratum, (None, None))
    return ItemFacts(
        item_id=f"{int(rng.integers(2**40)):010x}",
        kind=kind,
        first=first,
        second=second,
        left="" if kind == "auto_tie" else (first, second)[int(rng.integers(2))],
        task_id=f"source/t{place % 14}",
        family=family,
        form=form,
        split=("id", "held-out")[place % 2],
        stratum=stratum,
        anatomy=("chest", "brain", "")[place % 3],
        row=place,
        gold_place_first=right[0],
        gold_place_second=right[1],
        shared=place % 3,
        overlap="identical" if kind == "auto_tie" else ("none", "some", "same_set")[place % 3],
        flags=("same_patient",) if place % 9 == 0 else (),
    )


def _recorded(one: ItemFacts, place: int, known: str) -> ItemFacts:
    """With words, look-alikes and ranks; drawn apart, so that all else stays as it was."""
    if known == "no":
        return one
    rng = np.random.default_rng(1000 + place)
    few, many = rng.integers(1, 90, 2)
    holders = ("none", "first", "second", "both")
    gold = one.stratum != "unknown"
    ranks = [int(r) for r in rng.geometric(0.15, 2)] if gold else [None, None]
    if gold and one.stratum != "neither":
        ranks[0 if one.stratum != "only_b" else 1] = 1
    return replace(
        one,
        words_first=(few / 2 if one.form == "text" else float(few) if place % 3 else 0.0),
        words_second=(few / 2 if place % 5 == 0 else float(many) if place % 3 else 0.0),
        near_query=str(rng.choice(holders, p=(0.5, 0.2, 0.2, 0.1))),
        same_patient=str(rng.choice((*holders, "unknown"), p=(0.4, 0.2, 0.1, 0.1, 0.2))),
        gold_rank_first=ranks[0],
        gold_rank_second=ranks[1],
        difficulty=difficulty_of(*ranks),
    )


def _read(
    rng: np.random.Generator,
    name: str,
    shift: int,
    facts: list[ItemFacts],
    warm: list[ItemFacts],
) -> list[Presented]:
    order = [(one, "warmup", False) for one in warm]
    order += [(facts[place], "item", False) for place in rng.permutation(len(facts))]
    order += [
        (facts[int(place)], "repeat", True)
        for place in rng.choice(len(facts), min(12, len(facts)), False)
    ]
    return [
        _presented(rng, name, shift, place, *entry) for place, entry in enumerate(order, start=1)
    ]


def _presented(
    rng: np.random.Generator,
    name: str,
    shift: int,
    position: int,
    one: ItemFacts,
    kind: str,
    swapped: bool,
) -> Presented:
    left = one.left if not swapped else (one.second if one.left == one.first else one.first)
    likes = np.array([0.40, 0.21, 0.17, 0.16, 0.03, 0.03])
    if left != one.first:
        likes[[0, 1]] = likes[[1, 0]] + (0.04, -0.04)
    answer = ANSWERS[int(rng.choice(6, p=likes / likes.sum()))]
    early = ANSWERS[int(rng.integers(4))] if rng.random() < 0.1 else answer
    meant = preferred_of(answer, left, first=one.first, second=one.second)
    before = preferred_of(early, left, first=one.first, second=one.second)
    useful = {place: int(rng.integers(3)) for place in PLACES} if rng.random() < 0.6 else {}
    return Presented(
        rater=name,
        position=position,
        item_id=one.item_id,
        kind=kind,
        left=left,
        answer=answer,
        preferred=meant,
        first_preferred=before,
        session_id=f"s{shift}",
        reason="picture quality" if answer == "cannot" else "",
        revisions=int(early != answer),
        confidence=int(rng.integers(1, 4)) if answer else None,
        usefulness=useful if answer else {},
        shown_utc="2026-11-30T10:00:00Z",
        answered_utc="2026-11-30T10:00:20Z" if answer else "",
        first_action_ms=900 if answer else None,
        answer_ms=int(rng.lognormal(9.5, 0.5)) if answer else None,
        idle_ms=0 if answer else None,
    )


def _guess(rng: np.random.Generator, name: str, one: ItemFacts) -> Guess:
    return Guess(name, one.item_id, one.left, ("left", "right", "unsure")[int(rng.integers(3))])
