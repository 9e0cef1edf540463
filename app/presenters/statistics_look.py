"""What is looked at on the Statistics page: an analysis, one pair of it, with or without the
identical lists. Owns the choice and the names that follow from it; computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.presenters.statistics_behind import behind
from app.shown_statistics import Behind
from studies.preference.analysis.schema import Analysis, Block, Pair, Table
from studies.preference.lists import strata_titles

FORMS = {"2d": "2D", "3d": "3D", "text": "Text"}


@dataclass(frozen=True)
class Look:
    """One way to look at an analysis.

    Attributes:
        ties: ``leave out`` or ``count``: identical lists as ties in the whole.
        practice: practice items, which the readers' own numbers leave out.
    """

    found: Analysis
    pair: Pair
    ties: str = "leave out"
    practice: int = 0

    @property
    def first(self) -> str:
        """Title of the pair's first model."""
        return self.pair.first_title

    @property
    def second(self) -> str:
        """Title of the second."""
        return self.pair.second_title

    @property
    def whole(self) -> Block:
        """All answers, with identical lists if they are to be counted."""
        return self.pair.with_auto_ties if self.ties == "count" else self.pair.overall

    @property
    def whole_behind(self) -> Behind:
        """The answers of ``whole``."""
        return self.all_behind(self.ties)

    def all_behind(self, ties: str) -> Behind:
        """All answers with or without identical lists."""
        if ties == "count":
            return behind("All, identical lists as ties", kind="item,auto_tie")
        return behind("All")

    def table(self, group: str) -> Table | None:
        """The table of one way to group, None where it has no answers."""
        return next((one for one in self.pair.tables if one.group == group), None)

    def title_of(self, block: Block) -> str:
        """A group's title with the models' names in place of letters."""
        strata = strata_titles(self.first, self.second)
        if block.group == "stratum":
            return strata.get(block.name, block.title)
        if block.group == "stratum_form":
            stratum, _, form = block.name.partition(":")
            return f"{strata.get(stratum, stratum)}, {FORMS.get(form, form)}"
        return block.title

    def behind_of(self, block: Block) -> Behind:
        """The answers of a group."""
        name = {"stratum_form": "cross"}.get(block.group, block.group)
        return behind(self.title_of(block), **{name: block.name})

    @property
    def has_gold(self) -> bool:
        """Whether any answer is about an item with a known right answer."""
        table = self.table("stratum")
        return table is not None and any(block.name != "unknown" for block in table.blocks)
