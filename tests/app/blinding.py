"""Walks everything a rater could read while rating, and looks for words that tell the arms apart.

Owns the list of channels. Each channel is a function that yields (place, text); a test plants a
word in each of them and checks that the walk finds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from logging import LogRecord
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt
from PySide6.QtGui import QAccessible, QAction, QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from db.home import Home
from studies.preference.leaks import find_words

GETTERS = (
    "text", "toPlainText", "toHtml", "placeholderText", "title", "currentText", "windowTitle",
    "windowIconText", "windowFilePath", "windowRole", "toolTip", "statusTip", "whatsThis",
    "accessibleName", "accessibleDescription", "objectName", "styleSheet", "format",
)  # fmt: skip
MOST_ROWS = 200
ROLES = (
    Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.StatusTipRole,
    Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole,
    Qt.ItemDataRole.UserRole,
)  # fmt: skip


@dataclass(frozen=True)
class Find:
    """A word where it should not be."""

    place: str
    word: str


def find_leaks(
    windows: Sequence[QWidget],
    home: Home,
    study: Path,
    records: Iterable[LogRecord],
    words: Iterable[str],
) -> list[Find]:
    """Every channel, every word.

    Args:
        windows: top-level widgets on the screen.
        home: whose settings, state, logs and folder names are read.
        study: the rater's study folder.
        records: log records since the rater sat down.
        words: what must not be there.
    """
    wanted = [word for word in words if word]
    found = [
        Find(place, word)
        for place, text in (*of_windows(windows), *of_records(records), *of_home(home))
        for word in wanted
        if word.casefold() in text.casefold()
    ]
    found += [Find(f"study: {leak.place}", leak.word) for leak in find_words(study, wanted)]
    return found


def of_windows(windows: Sequence[QWidget]) -> Iterator[tuple[str, str]]:
    """Titles, texts, tooltips, names, properties, models, actions; what a screen reader hears."""
    for window in windows:
        for thing in (window, *window.findChildren(QObject)):
            yield from of_object(thing)
    yield "clipboard", QGuiApplication.clipboard().text()
    yield "application", QGuiApplication.applicationDisplayName()


def of_object(thing: QObject) -> Iterator[tuple[str, str]]:
    """Everything readable of one object."""
    kind = type(thing).__name__
    for getter in GETTERS:
        value = getattr(thing, getter, None)
        try:
            text = value() if callable(value) else ""
        except TypeError:
            continue
        if isinstance(text, str):
            yield f"{kind}.{getter}", text
    for name in thing.dynamicPropertyNames():
        key = bytes(name.data()).decode()
        try:
            yield f"{kind}.{key}", f"{key} {thing.property(key)}"
        except RuntimeError:  # one of Qt's own, of a type that Python cannot hold
            yield f"{kind}.{key}", key
    if isinstance(thing, QWidget | QAction):
        yield from of_accessible(thing, kind)
    model = getattr(thing, "model", None)
    if callable(model) and isinstance(model(), QAbstractItemModel):
        yield from of_model(model(), kind)


def of_accessible(thing: QObject, kind: str) -> Iterator[tuple[str, str]]:
    """What a screen reader is told."""
    heard = QAccessible.queryAccessibleInterface(thing)
    if heard is None or not heard.isValid():
        return
    for part in (QAccessible.Text.Name, QAccessible.Text.Description, QAccessible.Text.Value,
                 QAccessible.Text.Help):  # fmt: skip
        yield f"{kind} heard as {part.name}", heard.text(part)


def of_model(model: QAbstractItemModel, kind: str) -> Iterator[tuple[str, str]]:
    """The cells of a list or table."""
    for row in range(min(MOST_ROWS, model.rowCount(QModelIndex()))):
        column = 0
        while (cell := model.index(row, column)).isValid():
            values: list[Any] = [cell.data(role) for role in ROLES]
            yield f"{kind} cell {row},{column}", " ".join(str(value) for value in values)
            column += 1


def of_records(records: Iterable[LogRecord]) -> Iterator[tuple[str, str]]:
    """Log records with everything attached to them."""
    for record in records:
        yield f"log of {record.name}", f"{record.getMessage()} {record.__dict__}"


def of_home(home: Home) -> Iterator[tuple[str, str]]:
    """Settings, state and log files; names of all folders and files of the home."""
    for path in sorted(home.root.rglob("*")):
        yield "name of a file", str(path.relative_to(home.root))
    for path in (home.settings, home.state, *sorted(home.logs.glob("*"))):
        if path.is_file():
            yield f"content of {path.name}", path.read_text(encoding="utf-8", errors="replace")


def on_screen() -> list[QWidget]:
    """The top-level widgets that are visible."""
    return [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
