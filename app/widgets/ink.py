"""Colours and lengths for widgets that paint themselves. Takes them from the theme, owns none."""

from __future__ import annotations

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
