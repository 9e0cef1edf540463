"""What the methods text asks of a study: counts, dates, protocol, raters, the gaps between repeats.

Owns the look into tables and facts. What is not in the log is a gap that stays visible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from studies.preference.analysis.schema import Analysis, Pair
from studies.preference.analysis.tables import Presented, StudyTables
from studies.preference.kit.words import counted
from studies.preference.lists import DIFFICULTY_WORDS
from studies.preference.sample import repeat_count


def gap(what: str) -> str:
    """A place for the author: ``____ (to be filled: ethics approval)``."""
    return f"____ (to be filled: {what})"


@dataclass(frozen=True)
class Told:
    """A study as an author would look things up in it.

    Attributes:
        tables: already without names.
        analysis: its numbers.
    """

    tables: StudyTables
    analysis: Analysis

    @property
    def pair(self) -> Pair:
        """The first pair: the tested model against the next."""
        return self.analysis.pairs[0]

    def fact(self, name: str, what: str = "") -> str:
        """A fact as text; a gap where it is not known."""
        found = self.tables.facts.get(name)
        return str(found) if found not in (None, "", [], {}) else gap(what or name)

    def forced(self) -> str:
        """What was given up by unblinding, after a blank; "" if nothing, or it is not known."""
        found = self.tables.facts.get("outstanding")
        return f" It was unblinded although {found}; this was forced." if found else ""

    def day(self, name: str, what: str) -> str:
        """The day of a time; a gap where it is not known."""
        found = self.tables.facts.get(name)
        return str(found)[:10] if found else gap(what)

    @property
    def protocol(self) -> Mapping[str, Any]:
        """How the study was read, empty where it was not stored."""
        found = self.tables.facts.get("protocol")
        return found if isinstance(found, Mapping) else {}

    def rule(self, name: str, what: str) -> str:
        """One choice of the protocol; a gap where it was not stored."""
        found = self.protocol.get(name)
        if found == "off":
            return "not asked"
        return str(found) if found not in (None, "") else gap(what)

    @property
    def tasks(self) -> int:
        """Tasks with items."""
        return len({one.task_id for one in self.tables.items if one.kind != "warmup"})

    @property
    def missing_tasks(self) -> tuple[str, ...]:
        """Tasks that gave no item."""
        return tuple(one for one in self._missing if ", row " not in one)

    @property
    def missing_queries(self) -> tuple[str, ...]:
        """Drawn queries that could not be read, as task and row."""
        return tuple(one for one in self._missing if ", row " in one)

    @property
    def _missing(self) -> tuple[str, ...]:
        found = self.tables.facts.get("missing")
        return tuple(map(str, found)) if isinstance(found, list | tuple) else ()

    @property
    def read(self) -> tuple[Presented, ...]:
        """Answered items, without practice and repeats."""
        return tuple(one for one in self.tables.presented if one.kind == "item" and one.answer)

    def identical(self) -> str:
        """What became of identical lists, as the protocol has it."""
        alike = self.tables.facts.get("identical") or self.protocol.get("identical")
        ties = self.analysis.flow.get("auto_ties", 0)
        if alike == "exclude":
            return "Queries whose lists were identical were left out before the drawing."
        if alike == "show":
            shown = [one for one in self.tables.items if one.overlap == "identical"]
            count = sum(one.kind == "item" for one in shown)
            return f"{counted(count, 'items')} had identical lists and were shown like any other."
        if not ties:
            return "No item had identical lists."
        verb = "was recorded as a tie" if ties == 1 else "were recorded as ties"
        return (
            f"{counted(ties, 'items')} with identical lists {verb}, never shown; shares are given "
            "with and without."
        )

    def mirrored(self) -> str:
        """Whether items ask the reverse of others; "" where no answer is known to be right."""
        if all(one.stratum == "unknown" for one in self.tables.items):
            return ""
        if not self.tables.facts.get("mirrored"):
            return "Whether items ask the reverse of others is not recorded."
        count = sum("mirrored" in one.flags for one in self.tables.items if one.kind == "item")
        told = "A query that asks the reverse of another item was passed over while its task had "
        told += "others; "
        if not count:
            return f"{told}no item was left whose query another shows with its right answer."
        verb = "was" if count == 1 else "were"
        return (
            f"{told}{counted(count, 'items')} whose query another shows with its right answer "
            f"{verb} left, flagged as mirrored."
        )

    def practice(self) -> str:
        """Whether raters practised."""
        if self.protocol.get("warmup") == 0:
            return "There were no practice items."
        number = self.rule("warmup", "number of")
        items = "practice item" if number == "1" else "practice items"
        return f"Each began with {number} {items}, left out of every number."

    def blocks(self) -> str:
        """In which blocks the items were read."""
        names = {"2d": "2D", "3d": "3D", "text": "text"}
        known = {one.form for one in self.tables.items if one.kind == "item"}
        found = [name for form, name in names.items() if form in known]
        if len(found) < 2:
            return f"All items were {found[0] if found else gap('kinds of evidence')}."
        return f"{', '.join(found[:-1])} and {found[-1]} were read in separate blocks."

    def rest(self) -> str:
        """When a pause was proposed; a rater may have asked for an earlier one."""
        if self.protocol.get("rest_minutes") == 0:
            return "The study proposed no pause."
        minutes = self.rule("rest_minutes", "how many")
        return f"A pause was proposed after {minutes} minutes at the latest."

    def pooling(self) -> str:
        """How several raters are put together; "" for one."""
        if len(self.analysis.raters) < 2:
            return ""
        return (
            "Ratings of all raters are pooled; Wilson intervals, sign tests, heterogeneity and "
            "Davidson's model take them as independent although several are of one item, so each "
            "rater's own numbers and the majority vote stand beside them (no majority counts as a "
            "tie). Tests that take ratings as independent reject too often where models are "
            "alike, so the sign test of the majority vote is the one to go by. The mean of the "
            "raters has an interval for other raters and other items "
            "(variance of Obuchowski and Rockette, 1995, covariances by task, quantile after "
            "Cochran, 1964). Tests of longer texts and look-alikes take one vote for each item, "
            "the slope on words has errors by item. "
        )

    def difficulty(self) -> str:
        """How difficulty was defined; says so where no rank was recorded."""
        known = [one for one in self.tables.items if one.kind != "warmup"]
        if all(one.stratum == "unknown" for one in known):
            return "Difficulty is not defined without gold answers."
        if not any(one.difficulty for one in known):
            return "Difficulty by the rank of the gold answer was not recorded with this study."
        return (
            "Difficulty was fixed before the reading by the rank of the gold answer in the whole "
            f"pool under the model that ranked it better ({DIFFICULTY_WORDS}), ties against it."
        )

    def forms(self) -> str:
        """Of the items drawn: ``2D 120, 3D 31, text 4``."""
        names = {"2d": "2D", "3d": "3D", "text": "text"}
        items = [one.form for one in self.tables.items if one.kind != "warmup"]
        parts = [f"{names[form]} {items.count(form)}" for form in names if form in items]
        return ", ".join(parts) or gap("kinds of evidence")

    def dates(self) -> str:
        """``on 2026-11-30`` or ``from 2026-11-30 to 2026-12-04``."""
        days = sorted(one.answered_utc[:10] for one in self.read if one.answered_utc)
        if not days:
            return f"on {gap('dates of the reading')}"
        return f"on {days[0]}" if days[0] == days[-1] else f"from {days[0]} to {days[-1]}"

    def lefts(self) -> str:
        """How often the first model of each pair stood left, as frozen; counts."""
        parts = []
        for pair in self.analysis.pairs:
            own = [
                one
                for one in self.tables.items
                if one.kind == "item" and (one.first, one.second) == (pair.first, pair.second)
            ]
            count = sum(one.left == one.first for one in own)
            parts.append(f"{pair.first} left in {count} of {len(own)} items")
        return ", ".join(parts)

    def hours(self) -> float | None:
        """Time of all raters from showing to answering, without idle time."""
        times = [one.answer_ms for one in self.tables.presented if one.answer_ms is not None]
        return sum(times) / 3_600_000 if times else None

    def median_seconds(self) -> str:
        """Median time to answer with its n."""
        times = [one.answer_ms for one in self.read if one.answer_ms is not None]
        if not times:
            return gap("time for an item")
        return f"{median(times) / 1000:.1f} s (median of {len(times)} readings)"

    def sittings(self) -> int:
        """Sessions in which something was answered."""
        return len({(one.rater, one.session_id) for one in self.read if one.session_id})

    def repeats(self) -> str:
        """How many repeats each rater's order holds, and how many were asked for; "" if none."""
        orders: dict[str, list[str]] = {}
        for one in self.tables.presented:
            if one.position is not None:
                orders.setdefault(one.rater, []).append(one.kind)
        found = sorted(kinds.count("repeat") for kinds in orders.values())
        if not found or not found[-1]:
            return ""
        few, many = found[0], found[-1]
        told = counted(many, "repeats") if few == many else f"{few} to {many} repeats"
        share = self.protocol.get("repeat_share")
        items = max(kinds.count("item") for kinds in orders.values())
        wanted = many if share is None else repeat_count(items, float(share))
        if few < wanted:
            told += f" ({wanted} were asked for; the blocks were too short for more)"
        return told

    def repeat_gaps(self) -> tuple[int, int] | None:
        """Smallest and median number of places between an item and its repeat."""
        first = {
            (one.rater, one.item_id): one.position
            for one in self.tables.presented
            if one.kind == "item" and one.position is not None
        }
        found = [
            one.position - first[one.rater, one.item_id]
            for one in self.tables.presented
            if one.kind == "repeat"
            and one.position is not None
            and (one.rater, one.item_id) in first
        ]
        return (min(found), round(median(found))) if found else None

    def raters(self) -> str:
        """Who read, in one sentence each."""
        if not self.tables.raters:
            return gap("who read, with what training")
        return " ".join(
            f"{one.name}: {one.specialty or gap('specialty')}, "
            f"{gap('years of experience') if one.years is None else f'{one.years} years'}, "
            f"experience with {one.modalities or gap('modalities')}, "
            f"display: {one.display or gap('display and its calibration')}."
            for one in self.tables.raters
        )

    def model(self, letter: str) -> str:
        """A model with version, as frozen."""
        title = self.tables.models.get(letter, letter)
        arms = self.tables.facts.get("models")
        arm = arms.get(letter) if isinstance(arms, Mapping) else None
        if not isinstance(arm, Mapping):
            return f"{title} ({gap('identifier, revision, weights')})"
        parts = [
            str(arm.get("model_id") or gap("identifier")),
            f"revision {arm['revision']}" if arm.get("revision") else gap("revision"),
            f"weights {arm['weights']}" if arm.get("weights") else gap("hash of the weights"),
        ]
        return f"{title} ({', '.join(parts)})"
