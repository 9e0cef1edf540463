"""The numbers of one group of ratings, and the tables of all groups with their one test each.

Owns which groups there are and their order. Refuses a p-value below ten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median

from studies.preference.analysis.bootstrap import Draws, intervals
from studies.preference.analysis.counts import holm, share, sign_test
from studies.preference.analysis.heterogeneity import heterogeneity
from studies.preference.analysis.rated import Rated, pooled
from studies.preference.analysis.schema import Block, Table
from studies.preference.lists import DIFFICULTY_TITLES, strata_titles

FORMS = {"2d": "2D", "3d": "3D", "text": "Text"}
OVERLAPS = {
    "none": "No candidate in common",
    "some": "Some candidates in common",
    "near_duplicate": "Near-duplicate candidates",
    "same_set": "Same candidates, another order",
    "identical": "Identical lists",
}


def block(group: str, name: str, title: str, rows: Sequence[Rated], how: Draws) -> Block:
    """The numbers of one group, n = 0 included."""
    n, items = len(rows), len({one.item.item_id for one in rows})
    count = Counter(one.preferred for one in rows)
    first, second = count["first"], count["second"]
    net, bca, of_tasks = intervals(
        [(one.item.task_id, one.item.item_id, float(one.sign)) for one in rows],
        how,
        unit="items" if n == items else "ratings",
    )
    times = [one.row.answer_ms for one in rows if one.row.answer_ms is not None]
    return Block(
        group=group,
        name=name,
        title=title,
        n=n,
        items=items,
        tasks=len({one.item.task_id for one in rows}),
        first=share(first, n),
        second=share(second, n),
        tie=share(n - first - second, n),
        both=share(count["both"], n),
        neither=share(count["neither"], n),
        auto_tie=share(count["auto_tie"], n),
        first_decided=share(first, first + second),
        sign=sign_test(first, second, note=pooled(rows)),
        net=net,
        net_bca=bca,
        median_ms=float(median(times)) if times else None,
        net_tasks=of_tasks,
    )


def tables(rows: Sequence[Rated], first: str, second: str, how: Draws) -> tuple[Table, ...]:
    """Every table that has ratings, each with its heterogeneity test and Holm."""
    strata = strata_titles(first, second)
    splits = {"id": "In distribution", "held-out": "Held out"}
    forms = _cross(rows, strata)
    made = (
        _table("stratum", "By top-1 correctness", rows, lambda o: o.item.stratum, strata, how),
        _table("family", "By family", rows, lambda o: o.item.family, {}, how),
        _table("form", "By form", rows, lambda o: o.item.form, FORMS, how),
        _table("split", "By split", rows, lambda o: o.item.split, splits, how),
        _table("anatomy", "By anatomy", rows, lambda o: o.item.anatomy, {}, how),
        _table(
            *("difficulty", "By difficulty", rows, lambda o: o.item.difficulty),
            *(DIFFICULTY_TITLES, how),
        ),
        _table("overlap", "By overlap of the lists", rows, lambda o: o.item.overlap, OVERLAPS, how),
        _table("stratum_form", "By top-1 correctness and form", rows, _cell, forms, how),
        _table("task", "By task", rows, lambda o: o.item.task_id, {}, how),
        _table("rater", "By rater", rows, lambda o: o.row.rater, {}, how),
    )
    return tuple(one for one in made if one.blocks)


def _cell(one: Rated) -> str:
    return f"{one.item.stratum}:{one.item.form}"


def _cross(rows: Sequence[Rated], strata: Mapping[str, str]) -> dict[str, str]:
    return {
        f"{stratum}:{form}": f"{strata[stratum]}, {FORMS[form]}"
        for stratum in strata
        for form in FORMS
    }


def _table(
    group: str,
    title: str,
    rows: Sequence[Rated],
    of: Callable[[Rated], str],
    titles: Mapping[str, str],
    how: Draws,
) -> Table:
    members: dict[str, list[Rated]] = {}
    for one in rows:
        members.setdefault(of(one), []).append(one)
    known = [name for name in titles if name in members]
    names = [*known, *sorted(name for name in members if name and name not in titles)]
    made = [block(group, name, titles.get(name, name), members[name], how) for name in names]
    test = heterogeneity([members[n] for n in names], how.numbers)
    if test is not None and test.p is not None:
        notes = (test.note, pooled(rows))
        test = replace(test, note="; ".join(part for part in notes if part))
    return Table(group, title, holm(made), test)
