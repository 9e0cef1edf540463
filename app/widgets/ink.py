"""Colours and lengths for widgets that paint themselves. Takes them from the theme, owns none."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtGui import QColor

from app import theme

INK = {
    "ground": theme.GROUND, "panel": theme.PANEL, "raised": theme.RAISED, "line": theme.LINE,
    "picture": theme.PICTURE, "text": theme.TEXT, "quiet": theme.QUIET,
    "disabled": theme.DISABLED, "accent": theme.ACCENT, "warn": theme.WARN,
    "error": theme.ERROR, "good": theme.GOOD,
}  # fmt: skip


def ink(name: str) -> QColor:
    """A token's colour."""
    return QColor(INK[name])


def series(index: int) -> QColor:
    """The colour of the n-th series of a plot; the set repeats."""
    return QColor(theme.PLOT_COLORS[index % len(theme.PLOT_COLORS)])


def px(length: int) -> int:
    """A length that holds text, in pixels at the text scale in force."""
    return round(length * theme.theme.scale.percent / 100)


_held: list[tuple[Callable[[], QObject | None], str, int]] = []


def hold(call: Callable[[int], object], length: int) -> None:
    """Call a widget's setter with ``px(length)`` now and after every change of the text scale.

    Args:
        call: a bound method of a Qt object, for example ``self.search.setFixedWidth``.
        length: at 100 %.
    """
    if not _held:
        theme.theme.scaled.connect(_scale)
    owner: QObject = call.__self__  # type: ignore[attr-defined]
    # A part that Qt made (a header) has no other Python object that would outlive this call.
    made_by_qt = owner.parent() is not None
    kept: Callable[[], QObject | None] = (lambda: owner) if made_by_qt else weakref.ref(owner)
    _held.append((kept, call.__name__, length))
    call(px(length))


def _scale() -> None:
    living = []
    for owner, name, length in _held:
        widget = owner()
        if widget is not None and shiboken6.isValid(widget):
            getattr(widget, name)(px(length))
            living.append((owner, name, length))
    _held[:] = living or _held[:1]
