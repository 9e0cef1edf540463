"""Draws the sample and copies what it shows, in an order and under names that tell nothing.

Owns which query is compared under which pair of models, what becomes of identical lists, and the
warm-up items besides the sample. Evidence that cannot be read is named as missing and the next
query of the same task takes its place. A query that asks the reverse of another (``mirrors``) is
passed over while its task has others, else flagged. Refuses to give sides and to look at strata.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from engine.control import Control
from engine.errors import EvidenceError
from studies.preference.copying import Copied, Copies, Kept
from studies.preference.frozen import opaque_id
from studies.preference.lists import TOP, Comparison, Listed
from studies.preference.media import MediaPool
from studies.preference.mirrors import MIRRORED, Taken, mirrored
from studies.preference.overlap import Kin, flags_of, kin_of, overlap_of
from studies.preference.panels import Panel
from studies.preference.prompts import prompt_for
from studies.preference.sample import balanced, equal_shares, generator
from studies.preference.wish import Material, Pair, Wish, pairs_of

QUERY = None  # stands for the query among the names of candidates
NOTHING = Panel("text", (), "").to_json()
SHARES, LOTS, PAIRS, WARMUPS = range(4)  # streams of the sample's seed


@dataclass(frozen=True)
class Drawn:
    """One sampled comparison with its panels, before sides are given.

    Attributes:
        kind: ``item``, ``warmup`` or ``auto_tie``.
        query: its panel; empty of an automatic tie.
        list_a: panels of the first model's list.
        list_b: of the second model's.
        overlap: one of ``overlap.OVERLAPS``.
        flags: of ``overlap.FLAGS``, and ``mirrored``.
        kin: which list holds what is near the query.
    """

    item_id: str
    kind: str
    comparison: Comparison
    query: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    list_a: tuple[Mapping[str, Any], ...] = ()
    list_b: tuple[Mapping[str, Any], ...] = ()
    overlap: str = "identical"
    flags: tuple[str, ...] = ()
    kin: Kin = field(default_factory=Kin)

    @property
    def words(self) -> tuple[float | None, float | None]:
        """Median number of words of a candidate of each list as shown; None if never shown."""
        first, second = (
            [len(panel["text"].split()) for panel in listed]
            for listed in (self.list_a, self.list_b)
        )
        return (float(median(first)), float(median(second))) if first and second else (None, None)

    @property
    def prompt(self) -> str:
        """The task in the reader's words."""
        comparison = self.comparison
        return prompt_for(comparison.family, comparison.form, comparison.query.instruction)

    @property
    def texts(self) -> list[str]:
        """All that it lets a rater read."""
        panels = (self.query, *self.list_a, *self.list_b)
        return [self.prompt, *(panel["text"] for panel in panels)]


@dataclass
class Drawing:
    """One sample being drawn.

    Args:
        wish: what was asked for.
        pool: takes media.
        missing: task, or task and row, to why it gave nothing; grows.
        control: asked between items.
    """

    wish: Wish
    pool: MediaPool
    missing: dict[str, str]
    control: Control
    excluded: int = 0
    waiting: dict[str, list[Row]] = field(default_factory=dict)
    taken: Taken = field(default_factory=Taken)

    def __post_init__(self) -> None:
        self.copies = Copies(self.pool)

    def run(self, material: Material) -> list[Drawn]:
        """Sample by task and copy what the sampled queries show, then the warm-up items."""
        pairs = pairs_of(material.arms)
        self._line_up(self._usable(material))
        total = min(self.wish.total, sum(map(len, self.waiting.values())))
        self.control.begin(total, unit="items", phase="Copying")
        drawn: list[Drawn] = []
        turn = 0
        while len(drawn) < total and any(self.waiting.values()):
            # a second turn where a task ran out of queries that can be read: others fill in
            places = self._places(total - len(drawn), pairs, turn)
            found = list(self._copied(places))
            # what took the place of others counts from here on: within the turn its order is free
            for one in found:
                self.taken.add(one.comparison)
            drawn += found
            turn += 1
        return _flagged([*drawn, *self._warmups(pairs)])

    def _copied(self, places: list[tuple[Row, Pair]]) -> Iterator[Drawn]:
        """What can be read of the places and of the queries behind them."""
        # not from the seed: whoever knows it must not be able to tell tasks by their order
        secrets.SystemRandom().shuffle(places)
        for row, pair in places:
            self.control.check()
            found = self._readable(row, pair, kind="item")
            if found is not None:
                yield found
                self.control.step()

    def _usable(self, material: Material) -> dict[str, list[Row]]:
        """The queries of each wanted task; tasks that have none are named."""
        usable: dict[str, list[Row]] = {}
        for task, listed in material.comparisons.items():
            rows = _rows(listed)
            if self.wish.protocol.identical == "exclude":
                kept = [one for one in rows if any(map(_differs, one.values()))]
                self.excluded += len(rows) - len(kept)
                rows = kept
            if rows:
                usable[task] = rows
            else:
                self.missing.setdefault(task, "It has no query with two lists to compare.")
        return usable

    def _line_up(self, usable: Mapping[str, list[Row]]) -> None:
        """The queries of each task in the order of the lot."""
        lots = generator(self.wish.seed, LOTS)
        for task in sorted(usable):
            order = lots.permutation(len(usable[task]))
            self.waiting[task] = [usable[task][place] for place in order]

    def _places(self, count: int, pairs: Sequence[Pair], turn: int) -> list[tuple[Row, Pair]]:
        """Which query is shown under which pair: equal shares, pairs balanced in each task."""
        seed = self.wish.seed
        caps = {task: len(rows) for task, rows in self.waiting.items()}
        shares = equal_shares(caps, count, generator(seed, SHARES, turn))
        cells = [task for task in sorted(caps) for _ in range(shares[task])]
        given = balanced(cells, list(pairs), generator(seed, PAIRS, turn))
        chosen: list[tuple[Row, Pair]] = []
        for task, pair in zip(cells, given, strict=True):
            row = self._next(task, pair)
            if row is not None:
                self.taken.add(row[pair])
                chosen.append((row, pair))
        return chosen

    def _next(self, task: str, pair: Pair) -> Row | None:
        """Take the next query of a task that this pair does not answer alike.

        First of those that are not the reverse of one taken, then of all, then any.
        """
        waiting = self.waiting[task]
        alike = self.wish.protocol.identical == "exclude"
        fit = [n for n, row in enumerate(waiting) if not alike or _differs(row[pair])]
        free = (n for n in fit if not self.taken.meets(waiting[n][pair]))
        place = next(free, fit[0] if fit else 0)
        return waiting.pop(place) if waiting else None

    def _readable(self, row: Row | None, pair: Pair, *, kind: str) -> Drawn | None:
        """A query, or the next of its task that can be read; the others are named as missing."""
        while row is not None:
            comparison = row[pair]
            try:
                found = self._copy(comparison, kind)
            except EvidenceError as error:
                self.missing[f"{comparison.task_id}, row {comparison.row}"] = str(error)
                found = None
            if found is not None:
                return found
            row = self._next(comparison.task_id, pair)
        return None

    def _copy(self, comparison: Comparison, kind: str) -> Drawn | None:
        """Read one comparison and keep it; None for one whose identical lists are left out."""
        alike = self.wish.protocol.identical
        item_id = opaque_id()
        if not _differs(comparison) and kind == "item" and alike == "auto-tie":
            return Drawn(item_id, "auto_tie", comparison)
        query, found = self._read(comparison)
        looks = {name: one.look for name, one in found.items()}
        lists = [[looks[name] for name in n] for n in (comparison.names_a, comparison.names_b)]
        overlap, flags = overlap_of(*lists), flags_of(query.look, looks)
        if overlap == "identical" and (kind == "warmup" or alike != "show"):
            self.excluded += alike == "exclude" and kind == "item"
            left_out = kind == "warmup" or alike == "exclude"
            return None if left_out else Drawn(item_id, "auto_tie", comparison, flags=flags)
        panels = self._keep(comparison, query, found)
        return Drawn(
            item_id=item_id,
            kind=kind,
            comparison=comparison,
            query=panels[QUERY],
            list_a=tuple(panels[name] for name in comparison.names_a),
            list_b=tuple(panels[name] for name in comparison.names_b),
            overlap=overlap,
            flags=flags,
            kin=kin_of(query.look, *lists),
        )

    def _read(self, comparison: Comparison) -> tuple[Copied | Kept, dict[str, Copied | Kept]]:
        """Query and candidates, encoded; one in both lists is read once."""
        query = self.copies.read(comparison.query, comparison.subject)
        both = _both(comparison).items()
        return query, {name: self.copies.read(one.item, one.subject) for name, one in both}

    def _keep(
        self, comparison: Comparison, query: Copied | Kept, found: Mapping[str, Copied | Kept]
    ) -> dict[str | None, Mapping[str, Any]]:
        """Write media of query and both lists in an order that tells nothing."""
        both = _both(comparison)
        todo: list[str | None] = [QUERY, *sorted(both)]
        secrets.SystemRandom().shuffle(todo)
        panels: dict[str | None, Mapping[str, Any]] = {}
        for name in todo:
            if name is None:
                panels[name] = self.copies.keep(comparison.query, comparison.subject, query)
            else:
                one = both[name]
                panels[name] = self.copies.keep(one.item, one.subject, found[name])
        return panels

    def _warmups(self, pairs: Sequence[Pair]) -> Iterator[Drawn]:
        """Practice items besides the sample, of tasks of different forms by turns."""
        lots = generator(self.wish.seed, WARMUPS)
        forms: dict[str, list[str]] = {}
        for task in (sorted(self.waiting)[place] for place in lots.permutation(len(self.waiting))):
            if self.waiting[task]:
                form = next(iter(self.waiting[task][0].values())).form
                forms.setdefault(form, []).append(task)
        turns = [sorted(forms)[place] for place in lots.permutation(len(forms))]
        left = self.wish.protocol.warmup
        while left and turns:
            form = turns.pop(0)
            task = forms[form].pop(0)
            pair = pairs[left % len(pairs)]
            found = self._readable(self._next(task, pair), pair, kind="warmup")
            if found is not None:
                left -= 1
                self.taken.add(found.comparison)
                yield found
            if self.waiting[task]:
                forms[form].append(task)
            if forms[form]:
                turns.append(form)


Row = Mapping[Pair, Comparison]


def _flagged(drawn: list[Drawn]) -> list[Drawn]:
    """Those flagged whose query another item shows together with their right answer."""
    shown = {one.item_id: one.comparison for one in drawn if one.kind != "auto_tie"}
    told = mirrored(shown)
    return [
        replace(one, flags=(*one.flags, MIRRORED)) if one.item_id in told else one for one in drawn
    ]


def _rows(listed: Sequence[Comparison]) -> list[Row]:
    """The comparisons of each query by their pair, in the order of the task."""
    rows: dict[int, dict[Pair, Comparison]] = {}
    for one in listed:
        rows.setdefault(one.row, {})[one.first, one.second] = one
    return list(rows.values())


def _both(comparison: Comparison) -> dict[str, Listed]:
    """The candidates of both lists by name; one in both is there once."""
    return {one.name: one for one in (*comparison.list_a, *comparison.list_b)}


def _differs(comparison: Comparison) -> bool:
    """Whether the lists name different candidates, or in another order."""
    return comparison.names_a[:TOP] != comparison.names_b[:TOP]
