"""Every command that has a key, as data, and the keys in force.

Owns the list, the defaults, what a person changed, and which two commands would clash. Refuses
to do a command: pages and pictures ask ``current().command_of(event, page)`` and act themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from PySide6.QtGui import QKeyEvent

from app.actions import COMMANDS as WINDOW
from app.actions import PAGES
from app.key_names import key_name, known_name, shown_name

# where a command counts: in the words of a person
PLACES = {
    "picture": "Pictures",
    "shared": "Viewer and Review",
    "viewer": "Viewer",
    "review": "Review",
    "results": "Results",
    "statistics": "An unblinded item",
    "window": "Everywhere",
}
_HEARD = {
    "picture": ("picture",),
    "viewer": ("viewer", "shared"),
    "review": ("review", "shared"),
    "results": ("results",),
    "statistics": ("statistics", "shared"),
    "window": ("window",),
}


@dataclass(frozen=True)
class Command:
    """One command.

    Attributes:
        id: stable name.
        text: what it does, in a few words.
        page: where it counts, one of ``PLACES``.
        default_keys: names of keys in Qt's portable words.
    """

    id: str
    text: str
    page: str
    default_keys: tuple[str, ...]


@dataclass(frozen=True)
class Clash:
    """Two commands on one key in one place."""

    key: str
    first: str
    second: str


def _commands(page: str, *lines: tuple[str, ...]) -> tuple[Command, ...]:
    return tuple(Command(id_, text, page, tuple(keys)) for id_, text, *keys in lines)


COMMANDS: tuple[Command, ...] = (
    *_commands(
        "picture",
        ("slice-up", "One slice back", "Up", "Left"),
        ("slice-down", "One slice on", "Down", "Right"),
        ("slice-up-10", "Ten slices back", "PgUp"),
        ("slice-down-10", "Ten slices on", "PgDown"),
        ("slice-first", "First slice", "Home"),
        ("slice-last", "Last slice", "End"),
        ("preset-1", "Window: soft tissue", "1"),
        ("preset-2", "Window: lung", "2"),
        ("preset-3", "Window: bone", "3"),
        ("preset-4", "Window: brain", "4"),
        ("preset-5", "Window: liver", "5"),
        ("window-full", "Window: full range", "8"),
        ("window-given", "Window: as the file asks; again for its next one", "9"),
        ("invert", "Invert", "I"),
        ("flip-h", "Flip left and right", "H"),
        ("flip-v", "Flip up and down", "V"),
        ("rotate-right", "Rotate right", "R"),
        ("rotate-left", "Rotate left", "L"),
        ("grey-wider", "Window: wider, less contrast", "Ctrl+Right"),
        ("grey-narrower", "Window: narrower, more contrast", "Ctrl+Left"),
        ("grey-brighter", "Window: brighter", "Ctrl+Up"),
        ("grey-darker", "Window: darker", "Ctrl+Down"),
        ("zoom-in", "Larger", "+", "="),
        ("zoom-out", "Smaller", "-"),
        ("pan-left", "Move to the left", "Alt+Left"),
        ("pan-right", "Move to the right", "Alt+Right"),
        ("pan-up", "Move up", "Alt+Up"),
        ("pan-down", "Move down", "Alt+Down"),
        ("fit", "Fit the frame; twice resets", "0"),
        ("actual-size", "One pixel on one pixel", "Z"),
        ("reset", "As first shown", "X"),
        ("cine", "Play or stop", "C"),
        ("next-time", "Next time point", "."),
        ("previous-time", "Time point before", ","),
        ("tool-window", "Tool: window", "W"),
        ("tool-distance", "Tool: distance", "D"),
        ("tool-angle", "Tool: angle", "A"),
        ("tool-roi", "Tool: region mean", "O"),
        ("tool-probe", "Tool: value of a pixel", "Q"),
        ("delete-measure", "Delete the chosen measure", "Del", "Backspace"),
        ("overlays", "Show or hide what is written over pictures", "S"),
    ),
    *_commands(
        "shared",
        ("maximise", "Enlarge the frame, or shrink it", "M"),
        ("back", "Return", "Esc"),
        ("link", "Link or unlink the pictures", "K"),
        ("help", "Show the keys", "?", "F1"),
    ),
    *_commands(
        "viewer",
        ("layout-1", "One frame", "F2"),
        ("layout-1x2", "Two frames", "F3"),
        ("layout-2x2", "Four frames", "F4"),
        ("layout-mpr", "Three planes", "F5"),
        ("next-series", "Next series", "N"),
        ("previous-series", "Series before", "P"),
        ("reference-lines", "Show or hide reference lines", "B"),
        ("model-view", "What the model saw, or the picture again", "E"),
        ("straighten", "Straighten a tilted series, or undo it", "T"),
        ("findings", "Report: findings", "F"),
        ("impression", "Report: impression", "J"),
        ("fold-series", "Show or hide the series", "F6"),
        ("fold-report", "Show or hide the report", "F7"),
        ("test-pattern", "Test pattern of the display", "F8"),
        ("open", "Open a folder", "Ctrl+O"),
        ("open-files", "Open files or archives", "Ctrl+Shift+O"),
    ),
    *_commands(
        "review",
        ("answer-left", "Left list is better", "F"),
        ("answer-right", "Right list is better", "J"),
        ("answer-both", "Both are useful", "T"),
        ("answer-neither", "Neither is useful", "N"),
        ("answer-cannot", "Cannot judge, with a reason", "G"),
        ("confirm", "Store the answer and go on", "Return"),
        ("undo", "Take the answer back, or return to the item before", "Ctrl+Z"),
        ("pause", "Pause", "P"),
        ("flip", "Hold: chosen frame in the place of the query", "Space"),
        ("select-left", "Choose the frame to the left", "Shift+Left"),
        ("select-right", "Choose the frame to the right", "Shift+Right"),
        ("select-up", "Choose the frame above", "Shift+Up"),
        ("select-down", "Choose the frame below", "Shift+Down"),
        ("text-up", "Text of the chosen frame: back", "Shift+PgUp"),
        ("text-down", "Text of the chosen frame: on", "Shift+PgDown"),
        ("confidence", "Confidence: next", "B"),
        ("confidence-1", "Confidence: low", "F2"),
        ("confidence-2", "Confidence: medium", "F3"),
        ("confidence-3", "Confidence: high", "F4"),
        ("usefulness", "Usefulness of the chosen candidate: next", "U"),
        ("usefulness-0", "Chosen candidate: not useful", "F5"),
        ("usefulness-1", "Chosen candidate: partly useful", "F6"),
        ("usefulness-2", "Chosen candidate: useful", "F7"),
        ("comment", "Write a comment", "E"),
    ),
    *_commands(
        "results",
        ("next-query", "Next query", "N"),
        ("previous-query", "Query before", "P"),
        ("next-filter", "Next choice of queries", "F"),
        ("fold-map", "Show or hide the heat map", "M"),
    ),
    *_commands(
        "statistics",
        ("next-item", "Next item", "N"),
        ("item-before", "Item before", "P"),
    ),
    *(Command(f"go-{one.id}", one.text, "window", (one.shortcut,)) for one in PAGES),
    *(Command(one.id, one.text, "window", (one.shortcut,)) for one in WINDOW),
)
# While rating nothing is measured: a measure would stand on one side alone.
NOT_RATING = frozenset(
    {"tool-window", "tool-distance", "tool-angle", "tool-roi", "tool-probe", "delete-measure"}
)
BY_ID: Mapping[str, Command] = MappingProxyType({command.id: command for command in COMMANDS})


# pages whose own commands never meet
_APART = frozenset({"viewer", "review", "results", "statistics"})


def overlap(first: str, second: str) -> bool:
    """True if commands of these two places can meet."""
    both = {first, second}
    if "results" in both:  # the page has no pictures that listen
        return both <= {"results", "window"}
    return len(both & _APART) < 2


def meet(first: Command, second: Command) -> bool:
    """True if one key for both would have to choose: nothing is measured while rating."""
    pages = {first.page, second.page}
    if "review" in pages and NOT_RATING & {first.id, second.id}:
        return False
    return overlap(first.page, second.page)


class KeyMap:
    """The keys in force; never changes, ``with_keys`` makes another one.

    Args:
        overrides: keys by command id, where a person chose others. Unknown ids and names that
            are no key are left out.
    """

    def __init__(self, overrides: Mapping[str, tuple[str, ...]] | None = None) -> None:
        kept = {}
        for id_, names in (overrides or {}).items():
            if id_ in BY_ID:
                kept[id_] = tuple(name for name in map(known_name, names) if name)
        self._changed = {id_: keys for id_, keys in kept.items() if keys != _default(id_)}
        self._places: dict[tuple[str, str], str] = {}
        for command in reversed(COMMANDS):  # the first of two clashing ones is heard
            for key in self.keys_of(command.id):
                self._places[(command.page, key)] = command.id

    @property
    def overrides(self) -> Mapping[str, tuple[str, ...]]:
        """What differs from the defaults."""
        return MappingProxyType(self._changed)

    def keys_of(self, id_: str) -> tuple[str, ...]:
        """Names of a command's keys."""
        return self._changed.get(id_, _default(id_))

    def command_of(self, event: QKeyEvent, page: str) -> str | None:
        """The command that a pressed key asks for in ``picture``, ``viewer`` or ``review``."""
        name = key_name(event)
        for place in _HEARD[page] if name else ():
            if (found := self._places.get((place, name))) is not None:
                return found
        return None

    def with_keys(self, id_: str, names: tuple[str, ...]) -> KeyMap:
        """The same with other keys for one command."""
        return KeyMap({**self._changed, id_: names})

    def with_default(self, id_: str) -> KeyMap:
        """The same with the command's first keys."""
        return KeyMap({one: keys for one, keys in self._changed.items() if one != id_})

    def users_of(self, name: str, id_: str) -> tuple[str, ...]:
        """The other commands that a key would reach where a command counts."""
        wanted, own = known_name(name), BY_ID[id_]
        return tuple(
            command.id
            for command in COMMANDS
            if command is not own and meet(command, own) and wanted in self.keys_of(command.id)
        )

    def conflicts(self) -> tuple[Clash, ...]:
        """Every pair of commands on one key that can meet."""
        return tuple(self._clashes())

    def to_text(self) -> str:
        """What differs from the defaults, for the settings; empty if nothing does."""
        return json.dumps(self._changed, ensure_ascii=False) if self._changed else ""

    @staticmethod
    def of_text(text: str) -> KeyMap:
        """What ``to_text`` wrote; the defaults for anything else."""
        try:
            kept = json.loads(text) if text else {}
        except (ValueError, RecursionError):
            kept = {}
        if not isinstance(kept, dict):
            kept = {}
        return KeyMap(
            {
                id_: tuple(name for name in names if isinstance(name, str))
                for id_, names in kept.items()
                if isinstance(names, list)
            }
        )

    def _clashes(self) -> Iterator[Clash]:
        for number, first in enumerate(COMMANDS):
            for second in COMMANDS[number + 1 :]:
                if meet(first, second):
                    for key in self.keys_of(first.id):
                        if key in self.keys_of(second.id):
                            yield Clash(key, first.id, second.id)


def _default(id_: str) -> tuple[str, ...]:
    return tuple(map(known_name, BY_ID[id_].default_keys))


_in_force = KeyMap()


def current() -> KeyMap:
    """The keys in force."""
    return _in_force


def first_key(id_: str) -> str:
    """A command's first key in force as this machine writes it; empty if it has none."""
    return next(map(shown_name, _in_force.keys_of(id_)), "")


def with_key(words: str, id_: str) -> str:
    """Words on a button with the command's key after them."""
    return f"{words}  {first_key(id_)}".rstrip()


def use(keymap: KeyMap) -> None:
    """Put other keys in force; the settings keep them."""
    global _in_force
    _in_force = keymap
