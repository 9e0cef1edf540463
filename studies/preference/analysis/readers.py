"""Simulated readers: how each of them answers one reading, for tables and for a real session.

A reader perceives how much better the list on the left is than the one on the right, with noise,
and calls a tie what is nearly equal. Owns their habits: a pull to the left, tiring, inattention,
recognising the model. Refuses to look at anything a real reader could not have an opinion on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.preference.sample import generator
from studies.preference.session import Details, Presentation

Array = NDArray[np.float64]
WORDS = np.array(["left", "right", "both", "neither"])
GUESSES = np.array(["left", "right", "unsure"])


@dataclass(frozen=True)
class Reader:
    """The habits of one reader.

    Attributes:
        noise: standard deviation of what is perceived, in the units of a list's worth.
        width: what is nearer than this is called a tie.
        pull: worth added to whatever stands on the left.
        lean: worth added to the tested model's list: a taste, in which raters differ.
        tiring: how much of ``width`` is added by the last item; times fall by as many log units.
        wordy: worth added to a list for each doubling of its words against the other list.
        careless: share of items answered by lot.
        knows: share of guesses in which the tested model is recognised.
        seconds: median time for an item at the beginning.
    """

    name: str
    noise: float = 1.0
    width: float = 0.6
    pull: float = 0.0
    lean: float = 0.0
    tiring: float = 0.0
    wordy: float = 0.0
    careless: float = 0.0
    knows: float = 0.0
    seconds: float = 20.0


READERS: Mapping[str, Reader] = {
    one.name: one
    for one in (
        Reader("unbiased"),
        Reader("left-biased", pull=0.5),
        Reader("length-biased", wordy=0.5),
        Reader("tiring", tiring=1.6),
        Reader("inattentive", careless=0.8, seconds=5.0),
        Reader("guessing", knows=0.8),
        Reader("expert", noise=0.0, width=0.0, seconds=30.0),
    )
}


@dataclass(frozen=True)
class Hidden:
    """What decides about one item.

    Attributes:
        better: how much better the list is that was frozen on the left.
        useful: whether a tie means that both are useful.
        tested_left: the tested model was frozen on the left.
        doublings: how often the words of the list on the right double to those on the left.
    """

    better: float
    useful: bool
    tested_left: bool
    doublings: float = 0.0


def answers(
    reader: Reader,
    better: Array,
    useful: NDArray[np.bool_],
    progress: Array,
    rng: np.random.Generator,
) -> NDArray[np.str_]:
    """One answer for each reading.

    Args:
        reader: who reads.
        better: how much better the left list is as shown [N].
        useful: whether a tie means both useful [N].
        progress: 0 for the first reading, 1 for the last [N].
        rng: draws.
    """
    n = len(better)
    seen = better + reader.pull + reader.noise * rng.standard_normal(n)
    width = reader.width * (1 + reader.tiring * progress)
    agreed = rng.random(n) < 0.8
    tie = np.where(useful == agreed, 2, 3)
    chosen = np.where(seen > width, 0, np.where(seen < -width, 1, tie))
    lot, by_lot = rng.integers(4, size=n), rng.random(n) < reader.careless
    found: NDArray[np.str_] = WORDS[np.where(by_lot, lot, chosen)]
    return found


def times(reader: Reader, progress: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Milliseconds to each answer [N]."""
    scatter = 0.4 * rng.standard_normal(len(progress))
    seconds = reader.seconds * np.exp(scatter - reader.tiring * progress)
    return (1000 * seconds).astype(np.int64)


def guessed(
    reader: Reader, tested_left: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.str_]:
    """One guess for each item: the tested model's side where it is known, else by lot."""
    n = len(tested_left)
    lot, known = rng.integers(3, size=n), rng.random(n) < reader.knows
    found: NDArray[np.str_] = GUESSES[np.where(known, np.where(tested_left, 0, 1), lot)]
    return found


def at_work(
    reader: Reader, hidden: Mapping[str, Hidden], seed: int
) -> Callable[[Presentation], tuple[str, Details]]:
    """A reader for a real session: takes what is on the screen, gives an answer and its times.

    Args:
        reader: who reads.
        hidden: item id to what decides about it, from the study's key.
        seed: of everything drawn.
    """
    rng = generator(seed, 0)

    def answer(shown: Presentation) -> tuple[str, Details]:
        item = hidden[shown.item_id]
        better = item.better + reader.wordy * item.doublings
        better += reader.lean if item.tested_left else -reader.lean
        better = -better if shown.kind == "repeat" else better
        progress = np.array([shown.position / max(1, shown.total)])
        word = answers(reader, np.array([better]), np.array([item.useful]), progress, rng)[0]
        spent = int(times(reader, progress, rng)[0])
        return str(word), Details(first_action_ms=spent // 3, answer_ms=spent, idle_ms=0)

    return answer


def at_guessing(
    reader: Reader, hidden: Mapping[str, Hidden], seed: int
) -> Callable[[Presentation], str]:
    """The same reader for the guesses at the end."""
    rng = generator(seed, 1)

    def guess(shown: Presentation) -> str:
        return str(guessed(reader, np.array([hidden[shown.item_id].tested_left]), rng)[0])

    return guess
