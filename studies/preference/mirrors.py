"""Items that ask the reverse of another: query and right answer have changed places.

Tasks come in both directions (a CT for an MRI and an MRI for a CT, a picture for a word and a word
for a picture), so that one item may show a rater what answers the other. Owns the recognition, by
the evidence itself: the same files in the same frame and crop, or the same words. Refuses to look
at pixels: two files of one picture are two here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engine.evidence.item import Item
from studies.preference.lists import Comparison

MIRRORED = "mirrored"
Shown = tuple[object, ...]
Asked = tuple[Shown, Shown]


def asked_of(comparison: Comparison) -> Asked | None:
    """What is asked about and what is right, as evidence; a question beside a picture is no part.

    None where nothing is known to be right, and where a picture asks for itself.
    """
    if comparison.gold is None or comparison.gold_item is None:
        return None
    asked = _shown(comparison.query), _shown(comparison.gold_item)
    return None if asked[0] == asked[1] else asked


def _shown(item: Item) -> Shown:
    pictures = (*item.images, *(one.paths for one in item.volumes))
    return pictures or ((item.text or "").strip(),)


def shows_gold(comparison: Comparison) -> bool:
    """Whether the right answer is among the candidates of either list."""
    return comparison.gold in (*comparison.names_a, *comparison.names_b)


@dataclass
class Taken:
    """What was drawn so far: what was asked, and whether the right answer was shown beside it."""

    asked: dict[Asked, bool] = field(default_factory=dict)

    def add(self, comparison: Comparison) -> None:
        """Take one comparison into account."""
        asked = asked_of(comparison)
        if asked is not None:
            self.asked[asked] = self.asked.get(asked, False) or shows_gold(comparison)

    def meets(self, comparison: Comparison) -> bool:
        """Whether this and one that was taken would show what answers the other."""
        return self.told_of(comparison) or (self._reversed(comparison) and shows_gold(comparison))

    def told_of(self, comparison: Comparison) -> bool:
        """Whether one that was taken shows the query of this together with its right answer."""
        asked = asked_of(comparison)
        return asked is not None and self.asked.get(asked[::-1], False)

    def _reversed(self, comparison: Comparison) -> bool:
        asked = asked_of(comparison)
        return asked is not None and asked[::-1] in self.asked


def mirrored(comparisons: Mapping[str, Comparison]) -> frozenset[str]:
    """Names of the comparisons of which another shows query and right answer together."""
    taken = taken_of(comparisons.values())
    return frozenset(name for name, one in comparisons.items() if taken.told_of(one))


def taken_of(comparisons: Iterable[Comparison]) -> Taken:
    """All of these taken."""
    taken = Taken()
    for one in comparisons:
        taken.add(one)
    return taken
