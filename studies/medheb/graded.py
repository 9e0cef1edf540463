"""How much a candidate is worth that is not the positive but kin to it.

Owns the table of graded relevance (``graded.toml``; one at a data root wins over the one that
ships) and the gain between two classes or two sets of findings. Refuses a table that it does not
understand, with the entry; ranks nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studies.errors import BadTaskFile
from studies.places import resources

TABLE = "graded.toml"
RELATIONS = ("Severity", "Laterality", "Diagnosis", "Cell/tissue")
CREDITS = ("tree", "ordinal", "steps")
BETWEEN = "|"  # findings of one picture, in one label


@dataclass(frozen=True)
class Gains:
    """What kinship in a tree is worth."""

    same: float = 1.0
    parent: float = 0.5
    grandparent: float = 0.25


@dataclass(frozen=True)
class Scale:
    """The graded relevance of one source.

    Attributes:
        source: id of the source.
        relation: one of ``RELATIONS``.
        tasks: ids of the tasks that are graded.
        credit: one of ``CREDITS``.
        tree: class to its parent and, where it has one, its grandparent; keys as ``key`` makes.
        levels: classes in order, keys as ``key`` makes; empty for a tree.
        steps: worth of 0, 1, 2, ... levels apart, for ``steps``.
        paired: queries of classes without any kin are left out.
        gains: of the tree.
    """

    source: str
    relation: str
    tasks: tuple[str, ...]
    credit: str
    tree: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    levels: tuple[str, ...] = ()
    steps: tuple[float, ...] = ()
    paired: bool = False
    gains: Gains = Gains()

    @property
    def classes(self) -> tuple[str, ...]:
        """Every class that the table places, as ``key`` writes it."""
        return self.levels or tuple(self.tree)

    def asks(self, label: str) -> bool:
        """Whether a query of this class takes part."""
        own = key(label)
        if own not in self.classes:
            return False
        return not self.paired or any(
            self.gain(label, other) > 0 for other in self.classes if other != own
        )

    def gain(self, query: str, candidate: str) -> float:
        """Worth of a candidate's class to a query of another.

        Raises:
            KeyError: the table does not place one of them.
        """
        first, second = key(query), key(candidate)
        if not self.levels:
            return self._kin(first, second)
        try:
            apart = abs(self.levels.index(first) - self.levels.index(second))
        except ValueError as error:
            raise KeyError(str(error)) from error
        if self.credit == "steps":
            return self.steps[apart] if apart < len(self.steps) else 0.0
        return max(0.0, 1 - apart / (len(self.levels) - 1))

    def _kin(self, first: str, second: str) -> float:
        one, other = self.tree[first], self.tree[second]
        if first == second:
            return self.gains.same
        if one[0] == other[0]:
            return self.gains.parent
        both = len(one) > 1 and len(other) > 1
        return self.gains.grandparent if both and one[1] == other[1] else 0.0


def key(label: str) -> str:
    """A class name by its letters and digits alone."""
    return re.sub(r"[^a-z0-9]", "", label.lower())


def jaccard(first: Collection[str], second: Collection[str]) -> float:
    """Shared over all members of two sets, 0 where both are empty."""
    one, other = set(first), set(second)
    every = one | other
    return len(one & other) / len(every) if every else 0.0


def as_set(label: str) -> frozenset[str]:
    """The findings that a label holds."""
    return frozenset(part for part in label.split(BETWEEN) if part)


def load_scales(root: Path | None = None, *, unused: bool = False) -> tuple[Scale, ...]:
    """The table in force.

    Args:
        root: a data root that may hold a table of its own.
        unused: also the entries that are switched off.

    Raises:
        BadTaskFile: it cannot be read, or an entry makes no sense.
    """
    own = root / TABLE if root is not None else None
    path = own if own is not None and own.is_file() else resources() / TABLE
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        gains = Gains(**{name: float(value) for name, value in document["gain"].items()})
        entries = document["source"]
        trees = {entry["id"]: _tree(entry) for entry in entries if "tree" in entry}
        return tuple(
            _scale(entry, gains, trees) for entry in entries if unused or entry.get("use", True)
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadTaskFile(
            f"{path}: the table of graded relevance is not right ({error})."
        ) from error


def _tree(entry: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    found = {key(name): tuple(map(str, above)) for name, above in entry["tree"].items()}
    for name, above in found.items():
        if not 1 <= len(above) <= 2:
            raise ValueError(f"{entry['id']}: {name} needs a parent and at most a grandparent")
    return found


def _scale(
    entry: Mapping[str, Any], gains: Gains, trees: Mapping[str, Mapping[str, tuple[str, ...]]]
) -> Scale:
    scale = Scale(
        source=str(entry["id"]),
        relation=str(entry["relation"]),
        tasks=tuple(map(str, entry["tasks"])),
        credit=str(entry["credit"]),
        tree=trees.get(entry.get("same_tree_as", entry["id"]), {}),
        levels=tuple(map(key, entry.get("levels", ()))),
        steps=tuple(map(float, entry.get("steps", ()))),
        paired=bool(entry.get("paired", False)),
        gains=gains,
    )
    if scale.relation not in RELATIONS or scale.credit not in CREDITS:
        raise ValueError(f"{scale.source}: no such relation or credit")
    wanted = scale.tree if scale.credit == "tree" else len(scale.levels) > 1
    if not wanted or (scale.credit == "steps" and not scale.steps):
        raise ValueError(f"{scale.source}: {scale.credit} lacks its tree, levels or steps")
    return scale
