"""What a whole run embeds, each content once: equal items found before anything is computed.

Owns the names of items by content (one look at each item in a run, however many tasks hold it) and
the counts of what repeats. Torch-free. Refuses nothing: what cannot be read is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.control import Control
from engine.errors import EvidenceError
from engine.evidence.item import Item
from engine.evidence.pixels import digest
from studies.medheb.evaluate import items_of
from studies.medheb.pools import build_pools
from studies.medheb.release import TaskData

FORMS = ("text", "picture", "volume")


class Contents:
    """Names items by content, each item once."""

    def __init__(self) -> None:
        self._names: dict[Item, str | EvidenceError] = {}

    def name(self, item: Item) -> str:
        """The item's content in 64 hex digits.

        Raises:
            EvidenceError: a file of it cannot be read.
        """
        known = self._names.get(item)
        if known is None:
            try:
                known = digest(item)
            except EvidenceError as error:
                known = error
            self._names[item] = known
        if isinstance(known, EvidenceError):
            raise known
        return known


@dataclass(frozen=True, eq=False)
class Survey:
    """The items of a run, counted.

    Attributes:
        tasks: that can be read.
        missing: that were asked for and cannot.
        items: queries and candidates, task by task.
        distinct: content to an item that has it, over the whole run.
        shared: contents that several tasks hold.
        both: contents that are a query and a candidate.
        texts: contents without picture that stand in several items.
        unread: items whose files cannot be read.
    """

    tasks: int
    missing: int
    items: int
    distinct: Mapping[str, Item]
    shared: int
    both: int
    texts: int
    unread: int

    def sentence(self) -> str:
        """The plan for a person, with what is saved."""
        kinds = [f"{count:,} {form}s" for form, count in by_form(self.distinct.values()).items()]
        saved = 1 - len(self.distinct) / self.items if self.items else 0.0
        missing = f", {self.missing} missing" if self.missing else ""
        return (
            f"{self.tasks} tasks{missing}; {self.items:,} items, {len(self.distinct):,} distinct "
            f"({', '.join(kinds) or 'none'}): {100 * saved:.0f} % less to embed. {self.shared:,} "
            f"are shared by tasks, {self.both:,} are queries and candidates, {self.texts:,} texts "
            "repeat."
        )

    def document(self) -> dict[str, object]:
        """The same as plain values."""
        return {
            "tasks": self.tasks, "missing": self.missing, "items": self.items,
            "distinct": len(self.distinct), "forms": by_form(self.distinct.values()),
            "shared": self.shared, "both": self.both, "texts": self.texts, "unread": self.unread,
        }  # fmt: skip


def form_of(item: Item) -> str:
    """Which of ``FORMS`` an item is, by what takes longest in it."""
    return "volume" if item.volumes else "picture" if item.images else "text"


def by_form(items: Iterable[Item]) -> dict[str, int]:
    """How many items there are of each form, of those that there are."""
    counts = dict.fromkeys(FORMS, 0)
    for item in items:
        counts[form_of(item)] += 1
    return {form: count for form, count in counts.items() if count}


def survey(
    data: Mapping[str, TaskData], contents: Contents, *, missing: int = 0,
    control: Control = Control(),
) -> Survey:  # fmt: skip
    """Look at every item of a run and find those that are equal.

    Args:
        data: the tasks, by id.
        contents: names them, and keeps the names for the run.
        missing: tasks that cannot be read.
        control: told the progress, asked whether to stop.
    """
    pools = {task: build_pools(one) for task, one in data.items()}
    items = {task: items_of(one, pools[task]) for task, one in data.items()}
    control.begin(sum(map(len, items.values())), unit="items", phase="Looking for equal items")
    distinct: dict[str, Item] = {}
    places: dict[str, set[str]] = {}  # content to tasks
    roles: dict[str, list[int]] = {}  # content to how often it asks and is asked for
    unread = 0
    for task, of in items.items():
        control.check()
        queries = len(data[task].queries)
        for place, item in enumerate(of):
            try:
                name = contents.name(item)
            except EvidenceError:
                unread += 1
                continue
            distinct.setdefault(name, item)
            places.setdefault(name, set()).add(task)
            roles.setdefault(name, [0, 0])[place >= queries] += 1
            if not place % 100:
                control.check()
        control.step(len(of))
    return Survey(
        tasks=len(data), missing=missing, items=sum(map(len, items.values())), distinct=distinct,
        shared=sum(len(tasks) > 1 for tasks in places.values()),
        both=sum(all(counts) for counts in roles.values()),
        texts=sum(form_of(distinct[n]) == "text" and sum(c) > 1 for n, c in roles.items()),
        unread=unread,
    )  # fmt: skip
