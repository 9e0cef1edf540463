"""Walks everything a rater could read while rating, and looks for words that tell the arms apart.

Owns the list of channels: one function, ``readable``, yields (place, text) of all of them; a test
plants a word in each and checks that the walk finds it. Values that separate the arms without a
word are looked for by ``tests.app.separation``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from logging import LogRecord
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QObject,
    QSettings,
    Qt,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleInterface,
    QAction,
    QClipboard,
    QGuiApplication,
    QTextDocument,
)
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from db.home import Home
from studies.preference.leaks import find_words

GETTERS = (
    "text", "toPlainText", "toHtml", "placeholderText", "title", "currentText", "windowTitle",
    "windowIconText", "windowFilePath", "windowRole", "toolTip", "statusTip", "whatsThis",
    "accessibleName", "accessibleDescription", "objectName", "styleSheet", "format", "iconText",
    "prefix", "suffix", "specialValueText", "inputMask", "displayText",
)  # fmt: skip
MOST_ROWS = 400
ROLES = (
    Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.StatusTipRole, Qt.ItemDataRole.WhatsThisRole,
    Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole,
    *(Qt.ItemDataRole.UserRole + number for number in range(4)),
)  # fmt: skip
HEARD = (
    QAccessible.Text.Name, QAccessible.Text.Description, QAccessible.Text.Value,
    QAccessible.Text.Help, QAccessible.Text.Accelerator,
)  # fmt: skip
DEEPEST = 12


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
    *,
    held: Sequence[Path] = (),
    coordinator: bool = False,
) -> list[Find]:
    """Every channel, every word.

    Args:
        windows: top-level widgets on the screen.
        home: whose settings, state, logs, caches and folder names are read.
        study: the rater's study folder.
        records: log records since the rater sat down.
        words: what must not be there.
        held: files the rater was given: the pack, the answers to send back.
        coordinator: the home also holds results, weights and the sealed key, which name models
            by right; only what rating itself writes and shows is read then.
    """
    wanted = [word for word in words if word]
    found = [
        Find(place, word)
        for place, text in readable(windows, home, records, coordinator=coordinator)
        for word in wanted
        if word.casefold() in text.casefold()
    ]
    places = [study, *held] if coordinator else [home.root, *held]
    for place in places:
        found += [Find(f"disk: {leak.place}", leak.word) for leak in find_words(place, wanted)]
    return list(dict.fromkeys(found))


def readable(
    windows: Sequence[QWidget],
    home: Home,
    records: Iterable[LogRecord],
    *,
    coordinator: bool = False,
) -> Iterator[tuple[str, str]]:
    """All that can be read without opening a study file, as (place, text)."""
    yield from of_windows(windows)
    yield from of_clipboard()
    yield from of_application()
    yield from of_records(records)
    yield from of_temporary()
    yield from of_home(home, coordinator=coordinator)


def of_windows(windows: Sequence[QWidget]) -> Iterator[tuple[str, str]]:
    """Titles, texts, tooltips, names, properties, models, actions; what a screen reader hears."""
    for window in windows:
        for thing in (window, *window.findChildren(QObject)):
            yield from of_object(thing)
        yield from of_heard(QAccessible.queryAccessibleInterface(window))


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
    if isinstance(thing, QAction):
        yield f"{kind}.data", f"{thing.data()} {thing.shortcut().toString()}"
    if isinstance(thing, QTextDocument):
        yield f"{kind}.title", thing.metaInformation(QTextDocument.MetaInformation.DocumentTitle)
    if isinstance(thing, QWidget):
        for action in thing.actions():
            yield from of_object(action)
    if isinstance(thing, QAbstractItemModel):
        yield from of_model(thing, kind)
    model = getattr(thing, "model", None)
    if callable(model) and isinstance(model(), QAbstractItemModel):
        yield from of_model(model(), kind)


def of_heard(
    part: QAccessibleInterface | None, place: str = "heard", depth: int = 0
) -> Iterator[tuple[str, str]]:
    """The accessible tree: what a screen reader is told of each node, and of those below it."""
    if part is None or not part.isValid() or depth > DEEPEST:
        return
    for kind in HEARD:
        yield f"{place} as {kind.name}", part.text(kind)
    for number in range(min(MOST_ROWS, part.childCount())):
        yield from of_heard(part.child(number), place, depth + 1)


def of_model(
    model: QAbstractItemModel, kind: str, parent: QModelIndex | None = None, depth: int = 0
) -> Iterator[tuple[str, str]]:
    """The cells of a list, table, tree or combo box, with their heads."""
    above = QModelIndex() if parent is None else parent
    for column in range(_columns(model, above)):
        for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            head = model.headerData(column, Qt.Orientation.Horizontal, role)
            yield f"{kind} head {column}", str(head)
    for row in range(min(MOST_ROWS, model.rowCount(above))):
        for column in range(_columns(model, above)):
            cell = model.index(row, column, above)
            values: list[Any] = [cell.data(role) for role in ROLES]
            yield f"{kind} cell {row},{column}", " ".join(str(value) for value in values)
            if depth < DEEPEST and not isinstance(model, QAbstractListModel):
                yield from of_model(model, kind, cell, depth + 1)


def _columns(model: QAbstractItemModel, parent: QModelIndex) -> int:
    """Of a list one; there the binding hides the method."""
    return 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)


def of_clipboard() -> Iterator[tuple[str, str]]:
    """The clipboard, the selection and the search buffer, in every format they hold."""
    clipboard = QGuiApplication.clipboard()
    for mode in QClipboard.Mode:
        data = clipboard.mimeData(mode)
        if isinstance(data, QMimeData):
            for name in data.formats():
                content = bytes(data.data(name).data()).decode("utf-8", errors="replace")
                yield f"clipboard, {mode.name}, {name}", content


def of_application() -> Iterator[tuple[str, str]]:
    """What the desktop knows of the program: names, kept settings, recent files, the tray."""
    named = QGuiApplication.instance()
    assert named is not None
    yield "application", QGuiApplication.applicationDisplayName()
    yield "application", f"{named.applicationName()} {named.organizationName()}"
    kept = QSettings()
    for key in kept.allKeys():
        yield f"kept by the system: {key}", f"{key} {kept.value(key)}"
    for widget in QApplication.allWidgets():
        for child in widget.children():
            if isinstance(child, QSystemTrayIcon):
                yield "tray", child.toolTip()


def of_records(records: Iterable[LogRecord]) -> Iterator[tuple[str, str]]:
    """Log records with everything attached to them."""
    for record in records:
        yield f"log of {record.name}", f"{record.getMessage()} {record.__dict__}"


def of_temporary() -> Iterator[tuple[str, str]]:
    """Names and contents below the folder for temporary files."""
    yield from of_folder(Path(tempfile.gettempdir()), "temporary")


def of_home(home: Home, *, coordinator: bool) -> Iterator[tuple[str, str]]:
    """Names and contents of what a home keeps: settings, state, logs, caches, scratch.

    Of the coordinator's home only what rating writes: names and contents of settings, state (which
    holds the recent files), logs, thumbnails and scratch.
    """
    if not coordinator:
        for path in sorted(home.root.rglob("*")):
            yield "name of a file", str(path.relative_to(home.root))
    for path in (home.settings, home.state, home.root / "reading.json"):
        if path.is_file():
            yield f"content of {path.name}", path.read_text(encoding="utf-8", errors="replace")
    for folder in (home.logs, home.thumbnails, home.scratch):
        yield from of_folder(folder, folder.name)


def of_folder(folder: Path, kind: str) -> Iterator[tuple[str, str]]:
    """Names and contents below a folder."""
    for path in sorted(folder.rglob("*")):
        yield f"{kind}: name", path.name
        if path.is_file():
            yield f"{kind}: {path.name}", path.read_bytes().decode("utf-8", errors="replace")


def on_screen() -> list[QWidget]:
    """The top-level widgets that are visible."""
    return [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
