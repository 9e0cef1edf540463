"""Decides for the keys page: which key a command may take, swaps, resets, and what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app import keys
from app.key_names import known_name, shown_name
from app.keys import BY_ID, COMMANDS, PLACES, KeyMap
from app.presenters.base import Presenter
from app.services import Services
from app.shown import KeyShown
from db.errors import StoreError

ORIGIN = "settings page"
# Tab walks through a page and Escape leaves it; without them a keyboard reader is caught.
KEPT_FREE = {
    "Tab": "Tab goes from part to part of a page",
    "Backtab": "Shift+Tab goes back from part to part of a page",
    "Shift+Backtab": "Shift+Tab goes back from part to part of a page",
    "Shift+Tab": "Shift+Tab goes back from part to part of a page",
}


def all_keys(keymap: KeyMap | None = None) -> tuple[KeyShown, ...]:
    """Every command with its place and keys; a clash is named on both lines."""
    keymap = keymap or keys.current()
    against: dict[str, list[str]] = {}
    for clash in keymap.conflicts():
        against.setdefault(clash.first, []).append(BY_ID[clash.second].text)
        against.setdefault(clash.second, []).append(BY_ID[clash.first].text)
    return tuple(
        KeyShown(
            command=command.text,
            page=PLACES[command.page],
            keys=words_of(keymap.keys_of(command.id)),
            conflict=", ".join(against.get(command.id, ())),
            id=command.id,
            changed=command.id in keymap.overrides,
        )
        for command in COMMANDS
    )


def words_of(names: Sequence[str]) -> str:
    """Names of keys as this machine writes them."""
    return "   ".join(shown_name(name) for name in names) or "none"


class KeysPresenter(Presenter):
    """Changes one key at a time; the keys in force are those of the settings.

    Args:
        view: ``app.views.settings_keys.KeysView`` or a fake.
        services: the program's objects.
    """

    def __init__(self, view: Any, services: Services) -> None:
        super().__init__(view, services)
        self._asked: tuple[str, str, bool] | None = None
        view.key_pressed.connect(self.change)
        view.swap_agreed.connect(self.swap)
        view.swap_refused.connect(self.leave)
        view.reset_wanted.connect(self.reset)
        view.reset_all_wanted.connect(self.reset_all)

    def shown(self, argument: Any = None) -> None:
        """List the keys."""
        self._asked = None
        self.view.show_keys(all_keys(self._keymap()))

    def change(self, id_: str, name: str, add: bool) -> None:
        """A key was pressed for a command: in place of its keys, or beside them."""
        self._asked = None
        name = known_name(name)
        if id_ not in BY_ID or not name:
            return
        if name in KEPT_FREE:
            self.view.show_state(f"{KEPT_FREE[name]}; it stays free.", tone="error")
            return
        users = list(self._keymap().users_of(name, id_))
        if users:
            self._ask(id_, name, add, users)
            return
        self._keep(self._with(id_, name, add=add), f"{_title(id_)}: {shown_name(name)}")

    def swap(self) -> None:
        """The other command takes the keys that this one gives up."""
        if self._asked is None:
            return
        (id_, name, add), self._asked = self._asked, None
        users = self._keymap().users_of(name, id_)
        changed = self._swapped(id_, name, add=add)
        clashes = changed.conflicts()
        if clashes:
            first, second = BY_ID[clashes[0].first], BY_ID[clashes[0].second]
            self.view.show_state(
                f"That would put {first.text} and {second.text} on "
                f"{shown_name(clashes[0].key)}. Choose another key.",
                tone="error",
            )
            return
        given = set(changed.keys_of(users[0])) - set(self._keymap().keys_of(users[0]))
        how = "swapped with" if given else "taken from"
        self._keep(changed, f"{_title(id_)}: {shown_name(name)}; {how} {_title(users[0])}")

    def leave(self) -> None:
        """Nothing is changed."""
        self._asked = None
        self.view.show_state("Nothing was changed.")

    def reset(self, id_: str) -> None:
        """The command's first keys again, unless another one holds them now."""
        changed = self._keymap().with_default(id_)
        clashes = [clash for clash in changed.conflicts() if id_ in (clash.first, clash.second)]
        if clashes:
            other = clashes[0].second if clashes[0].first == id_ else clashes[0].first
            self.view.show_state(
                f"{shown_name(clashes[0].key)} is now {_title(other)} "
                f"({PLACES[BY_ID[other].page]}). Change or reset that one first.",
                tone="error",
            )
            return
        self._keep(changed, f"{_title(id_)}: {words_of(changed.keys_of(id_))}")

    def reset_all(self) -> None:
        """Every command's first keys."""
        self._keep(KeyMap(), "All keys are the first ones again.")

    def _keymap(self) -> KeyMap:
        return KeyMap.of_text(self.services.settings.current.key_overrides)

    def _with(self, id_: str, name: str, *, add: bool) -> KeyMap:
        before = self._keymap()
        names = (*before.keys_of(id_), name) if add else (name,)
        return before.with_keys(id_, tuple(dict.fromkeys(names)))

    def _swapped(self, id_: str, name: str, *, add: bool) -> KeyMap:
        """The key for one command, and for its users what they may take in turn.

        One without another key takes the key that is given up, unless that one would clash there
        with a third command: then it is left without a key.
        """
        before, changed = self._keymap(), self._with(id_, name, add=add)
        given = () if add else tuple(key for key in before.keys_of(id_) if key != name)
        for user in before.users_of(name, id_):
            rest = tuple(key for key in before.keys_of(user) if key != name)
            free = [key for key in given[:1] if not set(changed.users_of(key, user)) - {id_}]
            changed = changed.with_keys(user, rest or tuple(free))
        return changed

    def _ask(self, id_: str, name: str, add: bool, users: list[str]) -> None:
        self._asked = (id_, name, add)
        used = " and ".join(f"{_title(one)} ({PLACES[BY_ID[one].page]})" for one in users)
        what = "Take it away from there?"
        if len(users) == 1 and self._keymap().keys_of(users[0]) == (name,):
            what = f"Take it away from there, so that {_title(users[0])} has no key?"
            if taken := self._swapped(id_, name, add=add).keys_of(users[0]):
                what = f"Swap them, so that {_title(users[0])} takes {shown_name(taken[0])}?"
        self.view.ask_swap(f"{shown_name(name)} is {used}. {what}")

    def _keep(self, keymap: KeyMap, sentence: str) -> None:
        settings = replace(self.services.settings.current, key_overrides=keymap.to_text())
        try:
            self.services.settings.save(settings, origin=ORIGIN)
        except StoreError as error:
            self.view.show_state(str(error), tone="error")
            return
        self.view.show_keys(all_keys(keymap))
        self.view.show_state(sentence, tone="good")


def _title(id_: str) -> str:
    return f"\u201c{BY_ID[id_].text}\u201d"
