"""The numbers of an unblinded study: shares, intervals, sign test, overall and by stratum.

All formulas are SciPy's. Refuses a blind study, and a p-value below ten decided items.
Source: MedHEB section 5.6 and Figure 7; the paper counts ties as one class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy.stats import binomtest

from db.ratings import EntryRow
from studies.errors import StillBlind
from studies.preference.lists import STRATA, STRATUM_TITLES
from studies.preference.unblind import Unblinded

LEAST_FOR_P = 10
FORM_TITLES = {"2d": "2D", "3d": "3D", "text": "Text"}


@dataclass(frozen=True)
class Share:
    """A count out of n with its Wilson 95 % interval; all None when n is 0."""

    count: int
    n: int
    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Block:
    """One group of ratings.

    Attributes:
        name: ``all``, a stratum, a family or a form.
        title: for people.
        n: ratings in the group.
        a: A was preferred.
        b: B was preferred.
        tie: both useful, neither useful and automatic ties together.
        both: both useful.
        neither: neither useful.
        auto_tie: identical lists counted as ties.
        a_decided: A among those that preferred one.
        p: exact two-sided sign test on the decided, None below ten.
    """

    name: str
    title: str
    n: int
    a: Share
    b: Share
    tie: Share
    both: Share
    neither: Share
    auto_tie: Share
    a_decided: Share
    p: float | None


@dataclass(frozen=True)
class Counted:
    """One answer in force with its hidden side.

    Attributes:
        preferred: ``A``, ``B``, ``both``, ``neither`` or ``auto_tie``.
        side: ``left`` or ``right`` for a decided one, else "".
    """

    item_id: str
    rater: str
    preferred: str
    side: str
    stratum: str
    family: str
    form: str


@dataclass(frozen=True)
class Statistics:
    """Every number of the report.

    Attributes:
        model_a: title of A.
        model_b: title of B.
        overall: all items that were read.
        with_auto_ties: the same with identical lists counted as ties, once per rater.
        strata: by top-1 correctness, those with ratings.
        families: by family.
        forms: by form.
        left: left among the decided; a side bias shows here.
        left_p: its exact two-sided sign test.
        raters: names.
        items: items to be read.
        unanswered: places of the raters' orders without an answer in force.
        changed: answers taken back.
    """

    study_id: str
    title: str
    hash: str
    model_a: str
    model_b: str
    overall: Block
    with_auto_ties: Block
    strata: tuple[Block, ...]
    families: tuple[Block, ...]
    forms: tuple[Block, ...]
    left: Share
    left_p: float | None
    raters: tuple[str, ...]
    items: int
    auto_ties: int
    unanswered: int
    changed: int
    unblinded_utc: str
    reason: str
    software: str


def share(count: int, n: int) -> Share:
    """A share with its Wilson 95 % interval (Wilson 1927, without continuity correction)."""
    if n == 0:
        return Share(count, 0, None, None, None)
    interval = binomtest(count, n).proportion_ci(0.95, method="wilson")
    return Share(count, n, count / n, float(interval.low), float(interval.high))


def sign_test(first: int, second: int) -> float | None:
    """Exact two-sided sign test of equal chances; None below ten decided."""
    n = first + second
    return float(binomtest(first, n).pvalue) if n >= LEAST_FOR_P else None


def block(name: str, title: str, preferred: Sequence[str]) -> Block:
    """The numbers of one group, from what each rating preferred."""
    n = len(preferred)
    count = {word: sum(p == word for p in preferred) for word in set(preferred)}
    a, b = count.get("A", 0), count.get("B", 0)
    return Block(
        name=name,
        title=title,
        n=n,
        a=share(a, n),
        b=share(b, n),
        tie=share(n - a - b, n),
        both=share(count.get("both", 0), n),
        neither=share(count.get("neither", 0), n),
        auto_tie=share(count.get("auto_tie", 0), n),
        a_decided=share(a, a + b),
        p=sign_test(a, b),
    )


def summary(unblinded: Unblinded, *, rater: str | None = None) -> Statistics:
    """The statistics of a study.

    Args:
        unblinded: from ``unblind`` or ``load_unblinded``.
        rater: only this one; None pools all.

    Raises:
        StillBlind: the study was not unblinded.
    """
    if not unblinded.info.unblinded:
        raise StillBlind("This study is still blind; its statistics open with the key.")
    counted = count(unblinded, rater=rater)
    names = tuple(r.name for r in unblinded.raters if rater in (None, r.name))
    read = [one.preferred for one in counted]
    ties = ["auto_tie"] * (unblinded.info.auto_ties * len({one.rater for one in counted}))
    left, right = (sum(one.side == side for one in counted) for side in ("left", "right"))
    arms = unblinded.key.arms
    return Statistics(
        study_id=unblinded.info.id,
        title=unblinded.info.title,
        hash=unblinded.info.hash,
        model_a=arms["A"].title,
        model_b=arms["B"].title,
        overall=block("all", "All", read),
        with_auto_ties=block("all_with_auto_ties", "All, identical lists as ties", read + ties),
        strata=_groups(counted, STRATA, STRATUM_TITLES.__getitem__, lambda one: one.stratum),
        families=_groups(counted, _words(counted, "family"), str, lambda one: one.family),
        forms=_groups(counted, tuple(FORM_TITLES), FORM_TITLES.__getitem__, lambda one: one.form),
        left=share(left, left + right),
        left_p=sign_test(left, right),
        raters=names,
        items=unblinded.info.items,
        auto_ties=unblinded.info.auto_ties,
        unanswered=sum(p.rater in names for p in unblinded.presentations) - len(counted),
        changed=sum(e.action == "undo" and e.rater in names for e in unblinded.log),
        unblinded_utc=unblinded.at_utc,
        reason=unblinded.reason,
        software=unblinded.row.software,
    )


def count(unblinded: Unblinded, *, rater: str | None = None) -> tuple[Counted, ...]:
    """Every answer in force to an item (no warm-up, no repeat), with its hidden side."""
    standing: dict[tuple[str | None, int | None], EntryRow] = {}
    for entry in unblinded.log:
        if entry.action == "answer":
            standing[entry.rater, entry.position] = entry
        elif entry.action == "undo":
            standing.pop((entry.rater, entry.position), None)
    rows = [e for e in standing.values() if e.kind == "item" and rater in (None, e.rater)]
    return tuple(_counted(unblinded, entry) for entry in rows)


def preferred_of(answer: str, left: str, *, swapped: bool = False) -> str:
    """What an answer says about the models.

    Args:
        answer: ``left``, ``right``, ``both`` or ``neither``.
        left: the model frozen on the left, ``A`` or ``B``.
        swapped: the sides were exchanged when shown.
    """
    if answer not in ("left", "right"):
        return answer
    return left if (answer == "left") != swapped else "BA"[left == "B"]


def _counted(unblinded: Unblinded, entry: EntryRow) -> Counted:
    assert entry.item_id is not None
    assert entry.answer is not None
    hidden = unblinded.key.items[entry.item_id]
    return Counted(
        item_id=entry.item_id,
        rater=entry.rater or "",
        preferred=preferred_of(entry.answer, hidden.left),
        side=entry.answer if entry.answer in ("left", "right") else "",
        stratum=hidden.stratum,
        family=hidden.family,
        form=hidden.form,
    )


def _words(counted: Sequence[Counted], name: str) -> tuple[str, ...]:
    return tuple(sorted({str(getattr(one, name)) for one in counted}))


def _groups(
    counted: Sequence[Counted],
    names: Sequence[str],
    title: Callable[[str], str],
    of: Callable[[Counted], str],
) -> tuple[Block, ...]:
    blocks = []
    for name in names:
        preferred = [one.preferred for one in counted if of(one) == name]
        if preferred:
            blocks.append(block(name, title(name), preferred))
    return tuple(blocks)
