"""Whether raters could have read each other's answers, as the methods and GRRAS ask.

Owns the sentence. What the log does not hold is said to be not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

from studies.preference.kit.told import Told


def independence(told: Told) -> str:
    """Who shared a login of a server; "" where nothing was read on one."""
    fact = told.tables.facts.get("in_sight")
    if not isinstance(fact, Mapping) or not fact:
        return ""
    parts = [f"{_listed(names)} read with one login" for names in fact.get("together", ())]
    if owners := fact.get("as_owner", ()):
        parts.append(f"{_listed(owners)} with the rights of the study's owner")
    if parts:
        found = (
            f"Of those who read on a server, {', '.join(parts)}, and so could have read others' "
            "answers with a database browser; the program showed none."
        )
    elif fact.get("recorded"):
        found = "Raters on a server had logins of their own, each shown its own answers alone."
    else:
        found = ""
    if not fact.get("recorded"):
        found += " Whether raters on a server shared a login at every time is not recorded."
    return found.strip()


def _listed(names: list[str]) -> str:
    """``R1, R2 and R3``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
