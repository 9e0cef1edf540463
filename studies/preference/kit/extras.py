"""What the kit tells besides the tables of the statistics: viewer state, lists, plan, protocol.

Owns what is taken from an unblinded study for publication, and what is left out: free text and
names of candidates unless asked for, paths always.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from studies.preference.protocol import OTHER, REASONS
from studies.preference.unblind import Unblinded

FORMULA = ("=", "+", "-", "@", "\t", "\r")
_PATH = re.compile(
    r"(?<![\w:/.])(?:[A-Za-z]:[\\/]|\\\\|/(?=[^\s/]+/)|~/|file:/+)[^\s'\"<>|,;)]*", re.IGNORECASE
)


@dataclass(frozen=True)
class Shown:
    """What is stored beside an answer and not analysed."""

    viewer_state: Mapping[str, Any] | None = None
    software: str = ""
    comment: str = ""


@dataclass(frozen=True)
class Lists:
    """Candidates of one item, best first, by model letter; ``gold`` is one of them or elsewhere."""

    by_model: Mapping[str, tuple[str, ...]]
    gold: str | None


@dataclass(frozen=True)
class Extras:
    """Everything beside the tables.

    Attributes:
        shown: (rater, position) to what lies beside the answer in force.
        prompts: item id to the task as read.
        lists: item id to candidates; opaque codes unless names were asked for.
        study: path of words to a plain value, as study.csv holds it.
        comments: ``"include"`` where comments were asked for.
    """

    shown: Mapping[tuple[str, int], Shown] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, Lists] = field(default_factory=dict)
    study: Mapping[str, object] = field(default_factory=dict)
    comments: str = "leave out"


def without_paths(text: str) -> str:
    """Text in which a path of a machine is three dots."""
    return _PATH.sub("...", text)


def as_cell(text: str) -> str:
    """Somebody's own words so that no spreadsheet takes them for a formula and runs it."""
    return f"'{text}" if text.startswith(FORMULA) else text


def as_typed(cell: str) -> str:
    """The words that ``as_cell`` made a cell of."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def reason_words(reason: str, *, comments: str) -> str:
    """A chosen reason as it is, words of one's own only when comments are asked for."""
    said = reason.strip()
    if not said or comments == "include":
        return as_cell(said)
    return next((known for known in REASONS if said.startswith(known)), OTHER)


def code_of(name: str, nonce: str) -> str:
    """An opaque code of a candidate, the same wherever it stands in this study."""
    return (
        "c" + hashlib.sha256(f"{nonce}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    )


def flat(document: Any, name: str = "") -> dict[str, object]:
    """A document as paths to plain values; members of lists stand by number from 1."""
    if isinstance(document, Mapping):
        pairs = [(str(key), value) for key, value in document.items()]
    elif isinstance(document, list | tuple):
        pairs = [(str(place), value) for place, value in enumerate(document, 1)]
    else:
        return {name: clean(document)}
    found: dict[str, object] = {}
    for key, value in pairs:
        found.update(flat(value, f"{name}/{key}" if name else key))
    return found


def clean(document: Any) -> Any:
    """The same document without paths of a machine in its texts."""
    if isinstance(document, Mapping):
        return {without_paths(str(key)): clean(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [clean(value) for value in document]
    return without_paths(document) if isinstance(document, str) else document


def extras_of(
    unblinded: Unblinded,
    codes: Mapping[str, str],
    *,
    candidates: str = "codes",
    comments: str = "leave out",
) -> Extras:
    """What an unblinded study tells besides its tables.

    Args:
        unblinded: with its whole log.
        codes: rater's name to what stands for it.
        candidates: ``"names"`` gives candidates by name; names are file names in most tasks.
        comments: ``"include"`` takes comments along.
    """
    return Extras(
        shown=_shown(unblinded, codes, comments=comments),
        prompts={item.item_id: as_cell(without_paths(item.prompt)) for item in unblinded.items},
        lists=_lists(unblinded, candidates=candidates),
        study=_study(unblinded),
        comments=comments,
    )


def _shown(
    unblinded: Unblinded, codes: Mapping[str, str], *, comments: str
) -> dict[tuple[str, int], Shown]:
    found: dict[tuple[str, int], Shown] = {}
    for entry in unblinded.log:
        if entry.action not in ("answer", "undo") or entry.position is None:
            continue
        rater = entry.rater or ""
        place = (codes.get(rater, rater), entry.position)
        found.pop(place, None)
        if entry.action == "answer":
            comment = as_cell(entry.comment or "") if comments == "include" else ""
            found[place] = Shown(clean(entry.viewer_state), entry.software or "", comment)
    return found


def _lists(unblinded: Unblinded, *, candidates: str) -> dict[str, Lists]:
    key = unblinded.key

    def told(name: str) -> str:
        return name if candidates == "names" else code_of(name, key.nonce)

    found = {}
    for item_id, hidden in key.items.items():
        first, second = getattr(hidden, "first", "A"), getattr(hidden, "second", "B")
        names = {first: hidden.names_a, second: hidden.names_b}
        found[item_id] = Lists(
            {letter: tuple(map(told, listed)) for letter, listed in names.items()},
            None if hidden.gold is None else told(hidden.gold),
        )
    return found


def _study(unblinded: Unblinded) -> dict[str, object]:
    """What the models are, one fact a row; the rest of how the study came about is in facts."""
    return flat({"models": {letter: vars(arm) for letter, arm in unblinded.key.arms.items()}})
