"""The card of a source dataset: whose it is, how to get it, which tasks it feeds, what is open.

A card is data plus one reader. Refuses settings that a source does not know; opens no file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.remote import Remote
from studies.errors import StudyError
from studies.medheb.builders.record import Fault, Record

ACCESS: Mapping[str, str] = {
    "open": "open: no account is needed",
    "registration": "registration: an account and consent to its terms",
    "challenge": "challenge: joining the challenge and its rules",
    "credentialed": "credentialed: an application, a course and a signed agreement",
}
Reader = Callable[[Path, Mapping[str, Any]], Iterator[Record | Fault]]
Finder = Callable[[Path, Mapping[str, Any]], Sequence[str]]


def nothing_found(folder: Path, settings: Mapping[str, Any]) -> Sequence[str]:
    """For sources that come in one edition only."""
    return ()


@dataclass(frozen=True)
class Choice:
    """A fact that nobody has confirmed, as a named setting that every result records.

    Attributes:
        name: of the setting.
        default: what is taken when nobody says otherwise.
        values: what it may be; empty for any value of the default's type.
        why: what is open, in one sentence.
        least: of a number; None for no bound.
        most: of a number; None for no bound.
    """

    name: str
    default: Any
    values: tuple[Any, ...]
    why: str
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class TaskPlan:
    """How a source's records become one task.

    Attributes:
        task: id in the registry.
        make: a key of ``studies.medheb.builders.rows.MAKERS``.
        options: which texts and volumes are query and target, by the maker's own words.
        serves: which records take part; None for all.
    """

    task: str
    make: str
    options: Mapping[str, str] = field(default_factory=dict)
    serves: Callable[[Record], bool] | None = None


@dataclass(frozen=True)
class SourceCard:
    """One source dataset.

    Attributes:
        id: short name, for ``bench build --source``.
        title: the dataset's own name.
        form: ``2d``, ``3d`` or ``text``.
        modality: in words.
        anatomy: one of the benchmark's regions, for its table by anatomy.
        access: a key of ``ACCESS``.
        licence: of the data, in words.
        url: where to read and apply.
        obtain: how a person gets the files, in words.
        expects: names below the folder of which at least one must be there (glob patterns).
        read: yields the records lazily.
        plans: the tasks it feeds.
        labels: its classes in words, in the order of its own codes; empty where it has none.
        settings: what is open about it.
        held_out: the benchmark keeps it out of training.
        aliases: other ids it goes by.
        files: addresses of an open source's files that stay, for ``bench fetch``; empty if none.
        found: sentences on which edition lies in the folder; they stay with every task.
        stable: names of its pictures tell all that their pixels depend on, so that other settings
            never have to write those anew that are there.
    """

    id: str
    title: str
    form: str
    modality: str
    anatomy: str
    access: str
    licence: str
    url: str
    obtain: str
    expects: tuple[str, ...]
    read: Reader
    plans: tuple[TaskPlan, ...]
    labels: tuple[str, ...] = ()
    settings: tuple[Choice, ...] = ()
    held_out: bool = False
    aliases: tuple[str, ...] = ()
    files: tuple[Remote, ...] = ()
    found: Finder = nothing_found
    stable: bool = False


# What every source can be told.
COMMON = (
    Choice(
        "cap", 1000, (), "most test rows per task; four of the authors' builders cap at 1,000",
        least=1,
    ),
    Choice("seed", 42, (), "of every sampling; the authors' builders use 42"),
    Choice(
        "test_share", 0.3, (), "share of the groups on the test side where no split is official",
        least=0.01, most=0.99,
    ),
    Choice(
        "label_pool",
        "source",
        ("source", "family", "fixed"),
        "candidates of label tasks: the source's own labels (what the release runs), those of all "
        "label tasks, or a fixed number",
    ),
    Choice("fixed_labels", 15, (), "how many labels the fixed pool holds", least=2),
)  # fmt: skip
KINDS = {int: "a whole number", float: "a number", bool: "yes or no", str: "a text"}


def settle(card: SourceCard, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of one build: defaults, and what was given laid over them.

    Raises:
        StudyError: a name or value that the source does not know.
    """
    return settled(card.id, (*COMMON, *card.settings), given)


def settled(name: str, choices: Sequence[Choice], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of choices: defaults, and what was given laid over them.

    Args:
        name: what the choices are of, for messages.
        choices: all that there are.
        given: name to value, text or of the default's type.

    Raises:
        StudyError: a name or value that is not among them.
    """
    known = {choice.name: choice for choice in choices}
    values = {choice.name: choice.default for choice in choices}
    for one, value in given.items():
        if one not in known:
            raise StudyError(f"{name} has no setting {one!r}; it knows {', '.join(sorted(known))}.")
        values[one] = _typed(known[one], value)
    return values


def _typed(choice: Choice, value: Any) -> Any:
    """A value of the default's type; text from the command line is turned into it."""
    kind = type(choice.default)
    try:
        if kind is bool and isinstance(value, str):
            typed: Any = {"yes": True, "true": True, "no": False, "false": False}[value.lower()]
        else:
            typed = kind(value)
    except (KeyError, TypeError, ValueError) as error:
        what = KINDS.get(kind, kind.__name__)
        raise StudyError(f"{choice.name} must be {what}, not {value!r}.") from error
    if choice.values and typed not in choice.values:
        raise StudyError(
            f"{choice.name} is one of {', '.join(map(str, choice.values))}, not {value!r}."
        )
    _bounded(choice, typed)
    return typed


def _bounded(choice: Choice, value: Any) -> None:
    """Refuse a number outside a setting's bounds, and one that is none (``nan``)."""
    low = -math.inf if choice.least is None else choice.least
    high = math.inf if choice.most is None else choice.most
    if isinstance(value, int | float) and not low <= value <= high:
        ends = (("at least", choice.least), ("at most", choice.most))
        told = " and ".join(f"{words} {end:g}" for words, end in ends if end is not None)
        raise StudyError(f"{choice.name} must be {told or 'a number'}, not {value}.")
