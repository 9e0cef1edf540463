"""Agreement of a rater with their own repeats, of raters with each other, and the majority vote.

Owns the pairing of readings. Answers are first, second, tie. Refuses to count an item that was
read once.
Source: GRRAS 2011; Gwet 2008 on why raw agreement, kappa and AC1 stand together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from studies.preference.analysis import coefficients
from studies.preference.analysis.counts import share, sign_test
from studies.preference.analysis.rated import WORDS, Rated, rated, raters_of
from studies.preference.analysis.schema import Agreement, Estimate, Repeats
from studies.preference.analysis.tables import StudyTables

Pairs = Sequence[tuple[str, str]]


def repeats(tables: StudyTables, *, rater: str | None = None) -> tuple[Repeats, ...]:
    """Swapped repeats of each rater who was given any, and of all together for several."""
    given = [r.rater for r in tables.presented if r.kind == "repeat" and rater in (None, r.rater)]
    names = tuple(dict.fromkeys(given))
    found = {name: _readings(tables, name) for name in names}
    made = [_repeats(name, pairs) for name, pairs in found.items()]
    if len(names) > 1:
        made.append(_repeats("all raters", [one for pairs in found.values() for one in pairs]))
    return tuple(made)


def _readings(tables: StudyTables, rater: str) -> list[tuple[str, str]]:
    """(first reading, repeat) of every item judged both times."""
    first = {one.item.item_id: one.word for one in rated(tables, rater=rater)}
    again = rated(tables, rater=rater, kinds=("repeat",))
    return [(first[o.item.item_id], o.word) for o in again if o.item.item_id in first]


def _repeats(rater: str, pairs: Pairs) -> Repeats:
    n = len(pairs)
    towards = {"first": 1, "tie": 0, "second": -1}
    moves = [towards[after] - towards[before] for before, after in pairs]
    return Repeats(
        rater=rater,
        n=n,
        same=share(sum(before == after for before, after in pairs), n),
        flipped=share(sum({before, after} == {"first", "second"} for before, after in pairs), n),
        to_tie=share(sum(b != "tie" and a == "tie" for b, a in pairs), n),
        from_tie=share(sum(b == "tie" and a != "tie" for b, a in pairs), n),
        agreement=agreement(f"repeats of {rater}", pairs, alpha=None),
        drift=sign_test(
            sum(move > 0 for move in moves),
            sum(move < 0 for move in moves),
            name="drift between readings, exact sign test",
        ),
    )


def between(rows: Sequence[Rated]) -> tuple[Agreement, ...]:
    """Each two raters, and all of them where there are more than two."""
    names = raters_of(rows)
    words = {(one.row.rater, one.item.item_id): one.word for one in rows}
    items = tuple(dict.fromkeys(one.item.item_id for one in rows))
    made = []
    for left, right in combinations(names, 2):
        both = [i for i in items if (left, i) in words and (right, i) in words]
        pairs = [(words[left, i], words[right, i]) for i in both]
        made.append(agreement(f"{left} and {right}", pairs, alpha="nominal"))
    if len(names) > 2:
        made.append(_of_all(names, items, words))
    return tuple(made)


def agreement(name: str, pairs: Pairs, *, alpha: str | None) -> Agreement:
    """Raw agreement (Wilson), Cohen's kappa and AC1 of two readings of the same items."""
    n = len(pairs)
    table = np.zeros((3, 3), dtype=np.int64)
    for before, after in pairs:
        table[WORDS.index(before), WORDS.index(after)] += 1
    counts = _counts([list(pair) for pair in pairs])
    same = share(int(np.trace(table)), n)
    return Agreement(
        name=name,
        n=n,
        raw=Estimate(same.share, same.low, same.high, n, "items", "Wilson"),
        kappa=_cohen(table),
        ac1=coefficients.ac1(counts),
        alpha=coefficients.alpha(counts) if alpha else None,
        words=WORDS,
        table=tuple(tuple(int(cell) for cell in row) for row in table),
    )


def _of_all(
    names: Sequence[str], items: Sequence[str], words: dict[tuple[str, str], str]
) -> Agreement:
    read = [[words[name, i] for name in names if (name, i) in words] for i in items]
    counts = _counts(read)
    return Agreement(
        name="all raters",
        n=int((counts.sum(axis=1) >= 2).sum()),
        raw=coefficients.raw(counts),
        kappa=coefficients.fleiss(counts),
        ac1=coefficients.ac1(counts),
        alpha=coefficients.alpha(counts),
        words=WORDS,
        table=None,
    )


def _counts(read: Sequence[Sequence[str]]) -> coefficients.Counts:
    rows = [[words.count(word) for word in WORDS] for words in map(list, read)]
    return np.array(rows, dtype=np.float64).reshape(-1, len(WORDS))


def _cohen(table: NDArray[np.int64]) -> Estimate:
    """Cohen's kappa with its asymptotic interval (statsmodels)."""
    from statsmodels.stats.inter_rater import cohens_kappa

    n, method = int(table.sum()), "Cohen, asymptotic"
    if n == 0:
        return Estimate(None, None, None, 0, "items", method, "nothing was read twice")
    chance = float(table.sum(axis=0) @ table.sum(axis=1)) / n**2
    if chance == 1:
        return Estimate(None, None, None, n, "items", method, "every answer the same")
    if np.trace(table) == n:
        return Estimate(1.0, None, None, n, "items", method, coefficients.SAME)
    with np.errstate(invalid="ignore", divide="ignore"):  # a z-value that is not asked for
        found = cohens_kappa(table)
    if not found.kappa_upp - found.kappa_low > 1e-6:  # nothing, or the root of less than nothing
        note = "one of the two gave one answer only: no interval"
        return Estimate(float(found.kappa), None, None, n, "items", method, note)
    low, high = max(-1.0, float(found.kappa_low)), min(1.0, float(found.kappa_upp))
    return Estimate(float(found.kappa), low, high, n, "items", method)


def majority(rows: Sequence[Rated]) -> tuple[Rated, ...]:
    """One vote for each item: what more than half of its raters said, else a tie."""
    votes: dict[str, list[Rated]] = {}
    for one in rows:
        votes.setdefault(one.item.item_id, []).append(one)
    made = []
    for cast in votes.values():
        row = replace(cast[0].row, rater="majority", answer_ms=None)
        made.append(replace(cast[0], row=row, preferred=_winner([o.preferred for o in cast])))
    return tuple(made)


def _winner(cast: Sequence[str]) -> str:
    word, count = Counter(w if w in ("first", "second") else "tie" for w in cast).most_common(1)[0]
    if 2 * count <= len(cast):
        return "split"
    if word != "tie":
        return word
    both, neither = cast.count("both"), cast.count("neither")
    return "split" if both == neither else "both" if both > neither else "neither"
