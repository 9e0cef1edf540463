"""Which raters of a shared study could have read each other's answers with a database browser.

Owns what is said of it at merging and verifying, and what the coordinator's log keeps of it for
the kit. Refuses to name a login: raters are named, and who shared one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from db import study_items
from db.chain import EntryRow
from db.server_rights import logins_of
from db.session import Store

Group = tuple[str, ...]


@dataclass(frozen=True)
class InSight:
    """Who could have read others.

    Attributes:
        together: raters who read with one login, by login.
        as_owner: raters who read with the rights of the study's owner where others had logins of
            their own; they could have read everybody.
    """

    together: tuple[Group, ...] = ()
    as_owner: Group = ()

    @property
    def words(self) -> str:
        """That in sentences, each after a blank; "" if nobody could."""
        told = [
            f" {', '.join(names)} read there with one login, so each could see the others' answers."
            for names in self.together
        ]
        if self.as_owner:
            told.append(
                f" {', '.join(self.as_owner)} read there with the rights of the study's owner, so "
                "could see everybody's answers."
            )
        return "".join(told)

    def to_json(self) -> dict[str, Any]:
        """As the log keeps it."""
        return {"together": list(map(list, self.together)), "as_owner": list(self.as_owner)}


def in_sight(store: Store) -> InSight:
    """Who of a shared copy could have read others, for its owner."""
    logins = logins_of(store)
    of_login: dict[str, list[str]] = {}
    for row in study_items.raters(store):
        of_login.setdefault((logins or {}).get(row.name, ""), []).append(row.name)
    as_owner = of_login.pop("", []) if logins is not None and len(of_login) > 1 else []
    groups = [tuple(names) for _, names in sorted(of_login.items()) if len(names) > 1]
    return InSight(tuple(groups), tuple(as_owner))


def seen_in(log: Iterable[EntryRow]) -> dict[str, Any]:
    """What the coordinator's log says of it, over all merges of shared copies.

    Returns:
        Empty where nothing shared was merged; else ``recorded`` (no for logs of versions before),
        ``together`` and ``as_owner``, names as in the log.
    """
    merged = [row for row in log if row.action == "merge" and not row.rater]
    if not merged:
        return {}
    kept = [row.viewer_state for row in merged if row.viewer_state is not None]
    groups = {frozenset(one) for state in kept for one in state.get("together", ())}
    widest = [one for one in groups if not any(one < other for other in groups)]
    return {
        "recorded": len(kept) == len(merged),
        "together": sorted(map(sorted, widest)),
        "as_owner": sorted({name for state in kept for name in state.get("as_owner", ())}),
    }


def renamed(fact: object, code: Mapping[str, str]) -> object:
    """``seen_in`` with what stands for the names; names that have nothing are left out."""
    if not isinstance(fact, Mapping) or not code:
        return fact

    def of(names: Iterable[str]) -> list[str]:
        return sorted(code[name] for name in names if name in code)

    groups = [of(names) for names in fact.get("together", ())]
    told = {"together": [one for one in groups if len(one) > 1]}
    return {**fact, **told, "as_owner": of(fact.get("as_owner", ()))}
