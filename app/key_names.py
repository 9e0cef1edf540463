"""From a key event to the name of a key, whatever the keyboard's alphabet.

Owns the reading of ``QKeyEvent``. Refuses to know what a key is for.
"""

from __future__ import annotations

import sys

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

_MODIFIERS = (
    Qt.Key.Key_Shift,
    Qt.Key.Key_Control,
    Qt.Key.Key_Meta,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_CapsLock,
    Qt.Key.Key_NumLock,
    Qt.Key.Key_ScrollLock,
)
_FIRST_NAMED = 0x01000000  # Qt's keys without a letter start here
_LAST_LATIN = 0x7E
# The letters' places on a keyboard, row by row: evdev codes plus 8 (X11 and Wayland), and
# the places that macOS numbers. Windows hands on the Latin letter itself.
_ROWS = (("qwertyuiop", 24), ("asdfghjkl", 38), ("zxcvbnm", 52))
_XKB = {start + n: letter for letters, start in _ROWS for n, letter in enumerate(letters)}
_MAC = dict(enumerate("asdfhgzxcv", 0)) | dict(enumerate("bqweryt", 11)) | {
    31: "o", 32: "u", 34: "i", 35: "p", 37: "l", 38: "j", 40: "k", 45: "n", 46: "m",
}  # fmt: skip


def key_name(event: QKeyEvent) -> str:
    """The name of the pressed key in Qt's portable words: ``Ctrl+Z``, ``PgUp``, ``+``, ``F``.

    A sign that needs Shift (``?``, ``+``) is named without it; the number pad counts as the
    row of digits. On a keyboard without Latin letters the place of the key decides, so that the
    commands lie where the English letter is printed. Empty for a modifier alone.
    """
    key = Qt.Key(event.key())
    if key in _MODIFIERS or key == Qt.Key.Key_unknown or event.key() == 0:
        return ""
    if key == Qt.Key.Key_Enter:
        key = Qt.Key.Key_Return
    if _LAST_LATIN < int(key) < _FIRST_NAMED:
        key = _latin(event, key)
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    held &= ~Qt.KeyboardModifier.GroupSwitchModifier
    letter = Qt.Key.Key_A <= key <= Qt.Key.Key_Z
    if int(key) < _FIRST_NAMED and not letter and key != Qt.Key.Key_Space:
        held &= ~Qt.KeyboardModifier.ShiftModifier
    combination = QKeyCombination(held, key)
    return QKeySequence(combination).toString(QKeySequence.SequenceFormat.PortableText)


def shown_name(name: str) -> str:
    """A key's name as this machine writes it (``⌘Z`` for ``Ctrl+Z`` on macOS)."""
    written = QKeySequence.fromString(name, QKeySequence.SequenceFormat.PortableText)
    words = written.toString(QKeySequence.SequenceFormat.NativeText) or name
    return words.replace("Return", "Enter")


def known_name(name: str) -> str:
    """A key's name in one spelling; empty for what is no key."""
    written = QKeySequence.fromString(name, QKeySequence.SequenceFormat.PortableText)
    if written.count() != 1 or written[0].key() == Qt.Key.Key_unknown:  # type: ignore[index]
        return ""
    return written.toString(QKeySequence.SequenceFormat.PortableText)


def _latin(event: QKeyEvent, key: Qt.Key) -> Qt.Key:
    """The Latin letter at the place of a key of another alphabet, else the key itself."""
    code, place = event.nativeVirtualKey(), event.nativeScanCode()
    if sys.platform == "win32":
        return Qt.Key(code) if ord("0") <= code <= ord("Z") else key
    letter = _MAC.get(code) if sys.platform == "darwin" else _XKB.get(place)
    return Qt.Key(ord(letter.upper())) if letter else key
